"""The words of a program: kernels, and the routines that they call."""

from copy import deepcopy

from fgpu.config import Config

from .allocate import allocate
from .destruct import destruct
from .emit import emit
from .expand import expand
from .floats import expand_floats, floats_as_words
from .ir import Function, Module
from .loops import compare_counters_for_equality
from .lower import lower
from .mir import Callee
from .optimize import optimize
from .routines import is_called, routine
from .scalarize import scalarize
from .tables import localize_tables

__all__ = ["Program"]

_MANY = 2


class Program:
    """Collects ``words``. A routine is added before the first kernel that calls it."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.words: list[int] = []
        self._entries: list[int] = []
        self._routines: dict[str, Callee] = {}

    def add(self, function: Function, module: Module) -> tuple[int, int]:
        """Compile ``function``; returns the index of its first word and its words of scratchpad."""
        entry, scratchpad, _ = self._add(function, module)
        return entry, scratchpad

    def _add(self, function: Function, module: Module) -> tuple[int, int, frozenset[int]]:
        floats_as_words(function)
        scalarize(function)
        localize_tables(function, module.variables)
        compare_counters_for_equality(function)
        expand_floats(function, self.config.float_ops)
        expand(function)
        machine = lower(function, module, self.config, self._link)
        optimize(machine)
        destruct(machine)
        scratchpad = allocate(machine)
        entry = len(self.words)
        self.words += emit(machine, entry, self._entries)
        written = {register for block in machine.blocks.values() for op in block.ops
                   for register in (op.dst, *op.clobbers) if register is not None}
        return entry, scratchpad, frozenset(written)

    def _link(self, name: str) -> Callee | None:
        """The routine ``name``, compiled when it is first called."""
        if name not in self._routines:
            callee = routine(name)
            if callee is None or not is_called(callee, _MANY):
                return None
            entry, scratchpad, clobbers = self._add(deepcopy(callee), Module({}, {}, {}))
            assert scratchpad == 0, f"{name} does without the scratchpad"
            self._routines[name] = Callee(len(self._entries), len(callee.parameters), clobbers)
            self._entries.append(entry)
        return self._routines[name]
