"""``python -m fgpu``: the same as ``fgpu``."""

from .cli import main

main(prog_name="fgpu")
