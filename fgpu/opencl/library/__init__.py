"""The C library that an ICD loader opens: one trampoline for each function of the API, made from the table."""

from typing import Final

__all__ = ["ICD", "LIBRARY"]

LIBRARY: Final = "libfgpu-opencl.so"
"""The library's file. Loaders may find it in several places; a process uses the first."""
ICD: Final = "fgpu.icd"
"""The file that tells loaders of it."""
