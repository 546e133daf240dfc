"""OpenCL C to FGPU: compiler, assembler, disassembler and the program images that they make."""

from .assembler import assemble
from .compile import compile_opencl
from .disassembler import disassemble
from .image import Image, Kernel, Parameter

__all__ = ["Image", "Kernel", "Parameter", "assemble", "compile_opencl", "disassemble"]
