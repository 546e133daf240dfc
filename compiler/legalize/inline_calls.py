"""Which functions of a program cannot be subroutines: their calls become their bodies."""

from collections.abc import Sequence

from fgpu.config import Config

from ..ir.inline import inline_calls
from ..ir.module import Function, Instruction, Module
from ..ir.values import Type
from ..refusals import check_callee
from ..select.frame import touches_private
from ..work_groups import has_barrier
from .local_memory import locks, uses_local_variables
from .printf import prints
from .struct_arguments import copy_arguments
from .tables import reads_memory_tables
from .work_dim import asks_for_dimensions

__all__ = ["inline_by_signature"]

_LONG_BITS = 64


def inline_by_signature(function: Function, module: Module, config: Config, words: int, under_way: Sequence[str],
                        bodies: dict[str, Function | None], has_frame: bool = False,
                        inlined: frozenset[str] = frozenset(), room: int = 0) -> None:
    """Inline the calls of those functions of ``module`` that cannot be subroutines, and of those in ``inlined``.

    A subroutine takes ``words`` words at most, returns one or two, and needs nothing that only kernels are told, nor
    does what is inlined into it: no tables but of ``room`` words in the scratchpad, no variables of a work-group, no
    lock that atomic operations in local memory need on hardware of ``config``, and no private memory if the kernel
    ``has_frame``. It has no barrier, where the parts of a wavefront meet: those that
    were not called with the others would be missing.
    ``under_way`` are the functions that lead to this one. ``bodies`` has what was found out about others with the
    same ``has_frame``, ``inlined`` and ``room``: what to inline, or None.
    """
    def body_of(call: Instruction) -> Function | None:
        callee = module.functions.get(call.callee)
        if callee is None:
            return None
        check_callee(function, call, callee, under_way)
        if callee.name not in bodies:
            body = callee.copy()
            inline_by_signature(body, module, config, words, [*under_way, callee.name], bodies, has_frame, inlined,
                                room)
            is_subroutine = callee.name not in inlined and _fits_registers(body, words) \
                and not asks_for_dimensions(body) and not has_barrier(body) and not prints(body) \
                and not uses_local_variables(body, module.local_variables) \
                and not locks(body, module, config) \
                and not reads_memory_tables(body, module.variables, room) \
                and not (has_frame and touches_private(body))
            if not is_subroutine:
                copy_arguments(call, body)
            bodies[callee.name] = None if is_subroutine else body
        return bodies[callee.name]

    inline_calls(function, body_of, keeps_lines=True)


def _fits_registers(callee: Function, words: int) -> bool:
    sizes = [-(-type.size // 4) for _, type in callee.parameters]
    scalars = all(_is_scalar(type) for _, type in callee.parameters)
    return scalars and sum(sizes) <= words and (callee.result.kind == "void" or _is_scalar(callee.result))


def _is_scalar(type: Type) -> bool:
    is_private = type.kind == "ptr" and type.space == 0
    return (type.is_word and not is_private) or (type.kind in ("int", "float") and type.bits == _LONG_BITS)
