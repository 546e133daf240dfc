"""OpenCL C to FGPU: compiler, assembler, disassembler and the program images that they make.

What :func:`compile_opencl` does, and where:

========================  ===========================================================================
``cache``                 what was compiled before comes from disk
``kernels``               the kernels of a program, their parameters, and whether they fit
``frontend``              clang turns the source, with ``opencl.h`` before it, into optimized LLVM IR, and
                          links the built-in functions that it calls: ``builtins/``, compiled by ``bitcode``
``reader, ir``            the IR as objects, read with llvmlite (``types``, ``constants``, ``expressions``,
                          ``metadata``)
``subroutines, copies``   calls that cannot be subroutines become bodies, copies of memory loads and stores
``by_value, scalarize``   structs and vectors become words and scalars
``tables, dimensions``    constant tables in the scratchpad or the image's data; get_work_dim()
``floats``                floating point as words, with instructions or with routines (``float_classes``)
``wide, words``           integers of more than 32 bits become words
``unrolled, loops``       where unrolled loops begin; one counter for each loop, and cheaper exits
``expand``                division, switches and the like in simpler operations or by
                          ``routines``: our own library, in OpenCL C (``library/``); small ones are
                          inlined (``inline``), large ones subroutines
``lower``                 instruction selection, to virtual registers in SSA form (``mir``), with
                          ``builder``, ``conditions``, ``memory``, ``private`` (with ``private_layout``),
                          ``frame`` (with ``frame_memory``), ``calls``; refusals with reasons
``optimize``              common subexpressions, loop invariants, dead code
``schedule``              fewer registers at once, in functions that would spill
``destruct, allocate``    out of SSA form; registers by graph colouring, spills to the scratchpad
``divergence``            which branches may split wavefronts; ``gather`` lets work-items meet again, for which
                          ``exits`` makes one way out of a loop of those behind such a branch
``emit``                  order of the blocks, branches, words
``program``               all of these for each kernel, and for each subroutine when it is first called
========================  ===========================================================================
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
