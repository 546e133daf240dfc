"""Memory objects."""
