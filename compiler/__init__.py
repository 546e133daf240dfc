"""OpenCL C to FGPU: compiler, assembler, disassembler and the program images that they make."""

from .image import Image, Kernel, Parameter

__all__ = ["Image", "Kernel", "Parameter"]
