"""Passes that improve legal IR."""
