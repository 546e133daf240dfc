"""Assembly text to words and back."""
