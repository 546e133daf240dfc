"""What may be seen of the passes: functions as text before and after them, and whether their IR keeps its rules."""

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fgpu.errors import CompileError

from .backend.mir import MachineFunction
from .backend.printer import print_machine_function
from .ir.module import Function
from .ir.printer import print_function
from .ir.verifier import InvalidIRError, verify
from .passes import Context, Fact, Observer, Pass, Phase
from .pipeline import PASSES

__all__ = ["ALL", "Printer", "Verifier", "default_observers", "list_passes", "pass_names"]

ALL = "all"
"""Every pass."""
_VERIFY = "FGPU_VERIFY_IR"
"""The environment variable that lets the compiler check its IR after every pass: the tests set it."""


def list_passes() -> str:
    """The passes in their order, by phase, with what each does."""
    width = max(len(step.name) for step in PASSES)
    lines = []
    for phase in Phase:
        lines += [f"{phase.value}:", *(f"  {step.name:{width}}  {step.summary}" for step in PASSES
                                       if step.phase is phase), ""]
    return "\n".join(lines[:-1]) + "\n"


def pass_names(names: Iterable[str]) -> frozenset[str]:
    """The passes that ``names`` are, ``all`` being all of them; an unknown name is a
    :class:`~fgpu.errors.CompileError` that tells those like it."""
    known, wanted = dict.fromkeys(step.name for step in PASSES), list(names)
    for name in wanted:
        if name != ALL and name not in known:
            like = difflib.get_close_matches(name, known)
            raise CompileError(f"there is no pass {name!r}; " + (
                f"the most alike: {', '.join(like)} (--list-passes prints all)" if like else
                f"the passes are {', '.join(known)}, and all for every one"))
    return frozenset(known if ALL in wanted else wanted)


class Printer:
    """Gives ``write`` the text of functions ``before`` and ``after`` the passes of these names.

    What is tried and given up is printed, too: the heading tells the plan, and the order of the operations.
    """

    def __init__(self, write: Callable[[str], object], before: Iterable[str] = (), after: Iterable[str] = ()) -> None:
        self._write = write
        self._before, self._after = pass_names(before), pass_names(after)

    def before(self, step: Pass, function: Any, context: Context) -> None:
        """Print ``function`` if it was asked for before ``step``."""
        if step.name in self._before:
            self._print(f"before {step.name}", step, function, context)

    def after(self, step: Pass, function: Any, context: Context) -> None:
        """Print ``function`` if it was asked for after ``step``."""
        if step.name in self._after:
            self._print(f"after {step.name}", step, function, context)

    def _print(self, when: str, step: Pass, function: Any, context: Context) -> None:
        order = f", order of {context.order.value}" if step.phase in (Phase.SCHEDULE, Phase.ALLOCATE) else ""
        text = print_machine_function(function) if isinstance(function, MachineFunction) else print_function(function)
        self._write(f"; {when}: {function.name} ({context.variant}{context.plan}{order})\n{text}\n")


def _content(function: Function) -> tuple[object, ...]:
    """What the rules of the IR are about, to compare."""
    return (function.name, tuple(function.parameters), function.result, tuple(
        (block.name, tuple((i, i.op, i.name, i.type, tuple(i.operands), tuple(i.types), tuple(i.blocks))
                           for i in block.instructions))
        for block in function.blocks.values()))


class Verifier:
    """Raises :class:`~fgpu.compiler.ir.verifier.InvalidIRError` after the pass that breaks a rule of the IR.

    Of what is not legal only after instruction selection, which refuses what nobody supports in words of its own.
    """

    def __init__(self) -> None:
        self._illegal: dict[str, InvalidIRError] = {}
        self._seen: tuple[object, ...] = ()

    def before(self, step: Pass, function: Any, context: Context) -> None:
        """What comes in, the pass before has left."""

    def after(self, step: Pass, function: Any, context: Context) -> None:
        """Check the IR that ``step`` left."""
        if step.phase.is_ir:
            seen = _content(function)
            if seen != self._seen:      # most passes find nothing to do in most functions
                verify(function, context.module)
                self._seen = seen
        elif Fact.SSA in step.leaves and function.name in self._illegal:
            raise self._illegal[function.name]
        if Fact.LEGAL in step.leaves:
            self._illegal.pop(function.name, None)
            try:
                verify(function, context.module, legal=True)
            except InvalidIRError as error:
                self._illegal[function.name] = error


def default_observers() -> Sequence[Observer]:
    """Those of every compilation: none, unless the environment says that the IR is to be checked."""
    return [Verifier()] if os.environ.get(_VERIFY) else []
