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

__all__ = ["hands_private_on", "inline_by_signature"]

_LONG_BITS = 64


def inline_by_signature(function: Function, module: Module, config: Config, words: int, under_way: Sequence[str],
                        bodies: dict[str, Function | None], has_frame: bool = False, has_calls: bool = False,
                        room: int = 0) -> None:
    """Inline the calls of those functions of ``module`` that cannot be subroutines.

    A subroutine takes ``words`` words at most, returns one or two, and needs nothing that only kernels are told, nor
    does what is inlined into it: no tables but of ``room`` words in the scratchpad, no variables of a work-group, and
    no lock that atomic operations in local memory need on hardware of ``config``. It is given no pointers to private
    memory: in the scratchpad each function has a layout of its own. If private memory is in a frame (``has_frame``),
    it uses none at all, or with ``has_calls`` as it likes: it takes less time inlined, but more words. It has no
    barrier, where the parts of a wavefront meet: those that were not called with the others would be missing.
    ``under_way`` are the functions that lead to this one. ``bodies`` has what was found out about others with the
    same ``has_frame``, ``has_calls`` and ``room``: what to inline, or None.
    """
    def body_of(call: Instruction) -> Function | None:
        callee = module.functions.get(call.callee)
        if callee is None:
            return None
        check_callee(function, call, callee, under_way)
        if callee.name not in bodies:
            body = callee.copy()
            inline_by_signature(body, module, config, words, [*under_way, callee.name], bodies, has_frame, has_calls,
                                room)
            is_subroutine = _fits_registers(body, words, has_calls) \
                and not asks_for_dimensions(body) and not has_barrier(body) and not prints(body) \
                and not uses_local_variables(body, module.local_variables) \
                and not locks(body, module, config) \
                and not reads_memory_tables(body, module.variables, room, has_frame) \
                and (has_calls or not has_frame or not touches_private(body))
            if not is_subroutine:
                copy_arguments(call, body)
            bodies[callee.name] = None if is_subroutine else body
        return bodies[callee.name]

    inline_calls(function, body_of, keeps_lines=True)


def hands_private_on(function: Function, module: Module) -> bool:
    """Whether ``function`` of ``module``, or what it calls, gives pointers to private memory to functions."""
    return any(type.is_private for callee in module.reached_from(function) if callee is not function
               for type in (callee.result, *(type for _, type in callee.parameters)))


def _fits_registers(callee: Function, words: int, has_calls: bool) -> bool:
    types = [type for _, type in callee.parameters]
    sizes = [-(-type.size // 4) for type in types]
    return sum(sizes) <= words and all(
        _is_scalar(type) and not type.is_by_value and (has_calls or not type.is_private)
        for type in (*types, *([] if callee.result.kind == "void" else [callee.result])))


def _is_scalar(type: Type) -> bool:
    return type.is_word or (type.kind in ("int", "float") and type.bits == _LONG_BITS)
