"""What a board's design has besides the FGPU: the host's bridge, the way to memory, pins, clock and bitstream."""
