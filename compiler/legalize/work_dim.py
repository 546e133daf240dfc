"""get_work_dim(): the hardware does not know it, so the host tells the kernel in a parameter."""

from ..ir.inline import substitute
from ..ir.module import Function
from ..ir.values import WORD, Local, Value

__all__ = ["ask_for_dimensions", "asks_for_dimensions"]

_NAME = "_Z12get_work_dimv"
_PARAMETER = "work_dim"


def asks_for_dimensions(function: Function) -> bool:
    """Whether ``function`` calls get_work_dim()."""
    return any(i.callee == _NAME for i in function.instructions())


def ask_for_dimensions(function: Function) -> str | None:
    """Replace the calls of get_work_dim() by a new parameter, whose name is returned if there are any."""
    if not asks_for_dimensions(function):
        return None
    function.parameters.append((_PARAMETER, WORD))
    results: dict[str, Value] = {i.name: Local(_PARAMETER) for i in function.instructions()
                                 if i.callee == _NAME}
    for block in function.blocks.values():
        block.instructions = [i for i in block.instructions if i.callee != _NAME]
    substitute(function.instructions(), results)
    return _PARAMETER
