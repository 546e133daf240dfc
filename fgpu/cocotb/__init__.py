"""An FGPU in a cocotb bench."""
