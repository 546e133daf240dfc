"""Passes that turn what clang leaves into IR that the machine has instructions for."""
