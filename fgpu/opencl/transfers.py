"""What moves the content of memory objects."""
