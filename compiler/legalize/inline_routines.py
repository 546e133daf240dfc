"""Routines of the runtime library that are repeated where they are called, rather than being subroutines."""

from collections import Counter

from ..ir.inline import inline_calls
from ..ir.module import Function, Instruction, Op
from ..runtime_library.routines import is_called, routine

__all__ = ["inline_routines"]


def inline_routines(function: Function) -> None:
    """Inline the calls of routines that are short, or that few places call."""
    uses = Counter(i.callee for i in function.instructions() if i.op is Op.CALL)

    def body_of(call: Instruction) -> Function | None:
        callee = routine(call.callee)
        return None if callee is None or is_called(callee, uses[call.callee]) else callee

    inline_calls(function, body_of)
