"""The compiler's own library: routines in OpenCL C for what the machine has no instruction for."""

import pickle
import re
from functools import cache
from pathlib import Path

from fgpu.store import kept_bytes

from ..frontend.bitcode import compiler_version
from ..frontend.clang import builtins, compile_to_bitcode, read_ir
from ..ir.module import Function
from ..line_table import OWN

__all__ = ["PREFIX", "is_called", "routine"]

PREFIX = "fgpu_"
"""What the names of routines start with."""
_DEFINITION = re.compile(rf"^[^\s#/].*?\b({PREFIX}\w+)\((?!.*;$)", re.M)
_INLINED_UP_TO = 30
"""Operations of a routine that is inlined, but where that takes a program's room: a call and its moves, and what it
keeps from being shared with its surroundings, cost about a fifth of that."""
_REPEATED_UP_TO = 2048
"""Operations of all its bodies in a program, beyond which such a routine is called after all; if it has"""
_CALLED_FROM = 12
"""operations or more: fewer are not worth a call."""
_INTEGER, _WIDE = "integer.cl", ("long", "double")
"""Files: of routines that are always inlined, and what the names begin with of those on integers of 64 bits."""
_LIBRARY = Path(__file__).parent


@cache
def _places() -> dict[str, str]:
    """The file of each routine."""
    return {name: path.name for path in _LIBRARY.glob("*.cl")
            for name in _DEFINITION.findall(path.read_text(encoding="utf-8"))}


@cache
def _file(name: str) -> dict[str, Function]:
    """The routines of a file, read once for each version of the compiler."""
    functions: dict[str, Function] = pickle.loads(
        kept_bytes("routines", f"{compiler_version()}-{name}", lambda: pickle.dumps(_compiled(name))))
    return functions


def _compiled(name: str) -> dict[str, Function]:
    # At -O2 clang would put 64-bit multiplications back in for ours.
    source = (_LIBRARY / name).read_text(encoding="utf-8")
    return read_ir(compile_to_bitcode(source, f"{OWN}/{_LIBRARY.name}/{name}", [f"-I{_LIBRARY}"], "-O1", builtins(),
                                      is_library=True).code).functions


def routine(name: str) -> Function | None:
    """The routine called ``name``, if there is one; its file is compiled when the first is asked for."""
    file = _places().get(name)
    return None if file is None else _file(file)[name]


def is_called(callee: Function, uses: int) -> bool:
    """Whether ``callee``, which stands at ``uses`` places, is a subroutine there; else its body is repeated.

    A subroutine with branches joins again the work-items that it divides. The integer routines have no branches
    that could divide them.
    """
    file = _places()[callee.name]
    if file.startswith(_WIDE):
        return True
    if file == _INTEGER:
        return False
    size = sum(1 for _ in callee.instructions())
    return len(callee.blocks) > 1 or (uses > 1 and size > _INLINED_UP_TO) \
        or (size >= _CALLED_FROM and uses * size > _REPEATED_UP_TO)
