"""Instruction selection: from IR to machine operations on virtual registers."""
