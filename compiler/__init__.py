"""OpenCL C to FGPU: compiler, assembler, disassembler and the program images that they make.

Folders are stages, in this order: ``frontend`` (clang, and the reader of its LLVM IR), ``ir``, ``legalize``,
``optimize``, ``select``, ``backend``. ``pipeline`` lists the passes, ``fitting`` searches for what fits the hardware,
``linker`` puts kernels and subroutines together, ``kernels`` makes the image of it; ``units`` compiles sources
separately and links them first. ``assembler`` is for programs in assembly,
``runtime_library`` has the routines for what the machine has no instruction for. See ``docs/compiler.md``.
"""

from .assembler.assembler import assemble
from .assembler.disassembler import disassemble
from .assembler.source import Sources
from .bound_kernel import BoundKernel
from .compile import compile_opencl
from .image import Image, Kernel, Parameter
from .ir.module import Location

__all__ = [
    "BoundKernel", "Image", "Kernel", "Location", "Parameter", "Sources", "assemble", "compile_opencl", "disassemble",
]
