"""Kernels and their arguments."""
