"""OpenCL C to FGPU: compiler, assembler, disassembler and the program images that they make.

What :func:`compile_opencl` does, and where:

========================  ===========================================================================
``frontend``              clang turns the source, with ``opencl.h`` before it, into optimized LLVM IR
``reader, ir``            the IR as objects, read with llvmlite (``types``, ``constants``, ``metadata``)
``scalarize, tables``     vectors become scalars, constant tables private arrays
``floats``                floating point as words, with instructions or with routines
``loops, expand``         cheaper loop exits; division, switches and the like in simpler operations or by
                          ``routines``: our own library, in OpenCL C (``library/``); small ones are
                          inlined (``inline``), large ones subroutines
``lower``                 instruction selection, to virtual registers in SSA form (``mir``), with
                          ``builder``, ``conditions``, ``memory``, ``calls``; refusals with reasons
``optimize``              common subexpressions, loop invariants, dead code
``destruct, allocate``    out of SSA form; registers by graph colouring, spills to the scratchpad
``emit``                  order of the blocks, branches, words
``program``               all of these for each kernel, and for each subroutine when it is first called
========================  ===========================================================================
"""

from .assembler import assemble
from .compile import compile_opencl
from .disassembler import disassemble
from .image import Image, Kernel, Parameter

__all__ = ["Image", "Kernel", "Parameter", "assemble", "compile_opencl", "disassemble"]
