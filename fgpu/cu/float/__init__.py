"""Floating point in hardware: one module of all units of a compute unit (section 7.4)."""
