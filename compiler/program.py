"""The words of a program: kernels, and the routines and functions that they call."""

import pickle
from collections.abc import Callable, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass

from fgpu.config import Config

from .backend.allocate import COLOURS, SPARE, allocate
from .backend.emit import emit, jump_to_last_calls, skip_empty_blocks
from .backend.mir import ARGUMENTS, Callee, MachineFunction, Pseudo
from .backend.optimize import optimize
from .backend.out_of_ssa import destruct
from .backend.reconvergence import gather
from .backend.schedule import overlap, shorten_lives
from .backend.uniformity import find_splits
from .backend.unify_exits import leave_together
from .ir.module import Function, Instruction, Location, Module
from .legalize.expand import expand, expand_switches
from .legalize.float_classes import expand_float_classes
from .legalize.floats import expand_floats, floats_as_words
from .legalize.inline_calls import inline_by_signature
from .legalize.memcpy import expand_copies
from .legalize.overflow import expand_overflow
from .legalize.scalarize import scalarize
from .legalize.struct_arguments import split_structs
from .legalize.tables import LOCAL_WORDS, DataSegment, localize_tables, reads_tables
from .legalize.unaligned import split_unaligned
from .legalize.wide_integers import split_wide_integers
from .legalize.work_dim import ask_for_dimensions
from .optimize.induction_variables import compare_counters_for_equality, count_once, merge_counters
from .optimize.mulhi import high_products
from .optimize.unrolled_loops import enter_unrolled_loops_late
from .refusals import check_callee
from .runtime_library.routines import PREFIX, is_called, routine
from .select.frame import has_variables, make_frame, private_in_frame
from .select.isel import lower

__all__ = ["Compiled", "Program", "TooLargeError"]

_MANY = 2
_WORD_BYTES = 4
_FRAME_STEP = 4
"""Words by which frames grow."""
_EMPTY = Module({}, {}, {})
_DIVERGENCE = 6
"""Entries of the link stack that branches of a wavefront may need (see Config.link_stack_depth)."""

_Order = Callable[[MachineFunction], object]
_State = tuple[int, DataSegment, list[int], dict[str, Callee]]


def _as_it_is(function: MachineFunction) -> None:
    """The order in which clang leaves the operations."""


_ORDERS: tuple[_Order, ...] = (overlap, _as_it_is, shorten_lives)
"""Orders of the operations to try: first the one in which loads and results overlap, last that in which few registers
live."""


class TooLargeError(Exception):
    """The program will not fit the code RAM, whatever becomes of it: it has ``least`` words or more."""

    def __init__(self, least: int) -> None:
        super().__init__(f"at least {least} words")
        self.least = least


class _NoRoomError(Exception):
    """The tables and variables of a kernel, and what it calls, need so many ``words`` of the scratchpad: too many."""

    def __init__(self, words: int) -> None:
        super().__init__(f"{words} words")
        self.words = words


class _CrowdedError(Exception):
    """A kernel with a frame calls functions that leave it no register, or that need more scratchpad than there is."""

    def __init__(self, names: Set[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


@dataclass(frozen=True)
class Compiled:
    """A function in the program: its first word, the scratchpad words from 0 on that it needs, the registers that it
    writes, the parameters that it has beyond those of its source, by name, the bytes of its frame, and the return
    addresses of calls that it needs at once."""

    entry: int
    scratchpad: int
    clobbers: frozenset[int]
    hidden: tuple[str, ...]
    frame: int = 0
    depth: int = 0


class Program:
    """Collects ``words``. A routine is added before the first kernel that calls it; ``gathers`` lets work-items that
    parted in a kernel meet again. Beyond ``most`` words there is no use in going on."""

    def __init__(self, config: Config, gathers: bool, most: int) -> None:
        self.config = config
        self.gathers = gathers
        self.most = most
        self.words: list[int] = []
        self.lines: dict[int, Location] = {}
        """Where in the source the words are, of those that are somewhere."""
        self.data = DataSegment()
        self._entries: list[int] = []
        self._callees: dict[str, Callee] = {}
        self._under_way: list[str] = []
        self._available: Sequence[int] = COLOURS    # the registers of routines
        self._table_words = 0       # of the scratchpad, for the tables of a function
        self._bodies: dict[tuple[bool, frozenset[str], int], dict[str, Function | None]] = {}

    def start_source(self) -> None:
        """What follows is another program, which shares the library's routines only."""
        self._callees = {name: callee for name, callee in self._callees.items() if name.startswith(PREFIX)}
        self.data.start_source()
        self._bodies.clear()

    def add(self, function: Function, module: Module) -> Compiled:
        """Compile the kernel ``function``. What the scratchpad has no room for is in global memory: first its tables,
        then its variables, and the registers that find no place."""
        before, source = deepcopy((len(self.words), self.data, self._entries, self._callees)), pickle.dumps(function)
        tables = [min(self.config.scratchpad_words, LOCAL_WORDS)]
        if tables[0] and reads_tables(function, module):
            tables.append(0)
        for has_frame in (False, True):
            for self._table_words in tables:
                try:
                    return self._attempt(source, module, before, has_frame)
                except _NoRoomError as error:
                    words = error.words
        room, size = self.config.scratchpad_words, self.config.scratchpad_size
        raise function.error(f"kernel {function.name!r} needs {words} words of the scratchpad for each work-item; "
                             f"there are {room} (scratchpad_size={size})")

    def _attempt(self, source: bytes, module: Module, before: _State, has_frame: bool,
                 inlined: frozenset[str] = frozenset()) -> Compiled:
        """Compile the kernel of which ``source`` has a copy into what was ``before``; raises :class:`_NoRoomError` if
        something else should be tried."""
        self._under_way.clear()
        self._available = COLOURS
        length, self.data, self._entries, self._callees = deepcopy(before)
        del self.words[length:]
        self.lines = {word: line for word, line in self.lines.items() if word < length}
        if has_frame:
            self._available = COLOURS[:-1]
            self._callees = {name: callee for name, callee in self._callees.items() if SPARE not in callee.clobbers}
        kernel = pickle.loads(source)
        try:
            compiled = self._add(kernel, module, has_frame, inlined)
        except _CrowdedError as error:
            return self._attempt(source, module, before, has_frame, inlined | error.names)
        except TooLargeError:
            have_moved = self._table_words < self.config.scratchpad_words
            if has_frame or not (have_moved or has_variables(kernel)):
                raise
            raise _NoRoomError(0) from None     # variables may take fewer instructions in a frame
        if compiled.scratchpad > self.config.scratchpad_words:
            raise _NoRoomError(compiled.scratchpad)
        return compiled

    def _add(self, function: Function, module: Module, has_frame: bool = False,
             inlined: frozenset[str] = frozenset()) -> Compiled:
        """Compile ``function``. One that has a frame needs a register for its address, and calls nothing that takes
        that, too, or more of the scratchpad than there is: those must be ``inlined``."""
        self._under_way.append(function.name)
        bodies = self._bodies.setdefault((has_frame, inlined, self._table_words), {})
        inline_by_signature(function, module, len(ARGUMENTS), self._under_way, bodies, has_frame, inlined,
                            self._table_words)
        if has_frame:
            private_in_frame(function)
        expand_overflow(function)
        expand_copies(function, module.variables)
        floats_as_words(function)
        split_structs(function)
        hidden: list[str | None] = [make_frame(function)] if has_frame else []
        scalarize(function)
        hidden += [localize_tables(function, module.variables, self.data, self._table_words),
                   ask_for_dimensions(function)]
        enter_unrolled_loops_late(function)
        merge_counters(function)
        compare_counters_for_equality(function)
        count_once(function)
        high_products(function)
        expand_switches(function)
        expand_float_classes(function)
        expand_floats(function, self.config.float_ops, self.config.float_subnormals)
        split_wide_integers(function)
        split_unaligned(function)
        expand(function)
        callees = self._linked(function, module)
        crowding = {name for name, callee in callees.items() if name in module.functions and name not in inlined
                    and (SPARE in callee.clobbers or callee.scratchpad > self.config.scratchpad_words)}
        if has_frame and crowding:
            raise _CrowdedError(crowding)
        self._check_depth(function, callees)
        allocated = self._best_in_frame if has_frame else self._best
        machine, scratchpad = allocated(function, module, callees)
        if not function.is_kernel:
            jump_to_last_calls(machine)
        elif self.gathers:
            skip_empty_blocks(machine)
            gather(machine, self.config.link_stack_depth - _DIVERGENCE)
        entry = len(self.words)
        self.words += emit(machine, entry, self._entries, self.lines)
        written = {register for block in machine.blocks.values() for op in block.ops
                   for register in (op.dst, *op.clobbers) if register is not None}
        depth = max((op.callee.depth - (op.opcode is Pseudo.JUMP) for block in machine.blocks.values()
                     for op in block.ops if op.callee is not None), default=0)
        self._under_way.pop()
        return Compiled(entry, scratchpad, frozenset(written), tuple(name for name in hidden if name is not None),
                        function.frame or 0, depth)

    def _best(self, function: Function, module: Module,
              callees: Mapping[str, Callee]) -> tuple[MachineFunction, int]:
        """``function`` in registers and the scratchpad, of which it needs so many words."""
        machine, scratchpad, _ = self._in_best_order(function, module, callees)
        return machine, scratchpad

    def _in_best_order(self, function: Function, module: Module, callees: Mapping[str, Callee],
                       frame_words: int | None = None,
                       orders: Sequence[_Order] = _ORDERS) -> tuple[MachineFunction, int, _Order]:
        """``function`` in the order that spills least and takes fewest instructions, the words that it needs and that
        order. The first wins where they are equal, and few registers need not live where nothing spills. Registers
        may be kept in the frame from word ``frame_words`` on, if there is one."""
        found: list[tuple[MachineFunction, int, _Order]] = []
        for order in orders:
            if order is shorten_lives and any(words == machine.private_words for machine, words, _ in found):
                break
            machine = self._lowered(function, module, callees)
            if function.is_kernel and machine.private_words > self.config.scratchpad_words:
                raise _NoRoomError(machine.private_words)
            if order(machine) is False and len(orders) > 1:
                continue        # as it is without
            destruct(machine)
            if frame_words is None:
                words = allocate(machine, available=COLOURS if function.is_kernel else self._available)
            else:
                words = allocate(machine, self.config.scratchpad_words, frame_words)
            found.append((machine, words, order))
        return min(found, key=lambda made: (made[1], sum(len(block.ops) for block in made[0].blocks.values())))

    def _lowered(self, function: Function, module: Module, callees: Mapping[str, Callee]) -> MachineFunction:
        machine = lower(function, module, self.config, callees)
        optimize(machine)
        find_splits(machine)
        if function.is_kernel and self.gathers:
            leave_together(machine)
        least = sum(op.is_instruction for b in machine.blocks.values() for op in b.ops)
        if least > self.config.cram_words or len(self.words) + least > self.most:
            raise TooLargeError(len(self.words) + least)    # at once, as registers for so much take minutes
        return machine

    def _best_in_frame(self, function: Function, module: Module,
                       callees: Mapping[str, Callee]) -> tuple[MachineFunction, int]:
        """The same where registers may be kept in the frame, which grows until there is room for them."""
        assert function.frame is not None
        variables, words, orders, room = function.frame, 0, _ORDERS, self.config.scratchpad_words
        while True:
            function.frame = variables + words * _WORD_BYTES
            machine, needed, order = self._in_best_order(function, module, callees, variables // _WORD_BYTES, orders)
            orders = (order,)
            if needed - room <= words:
                return machine, min(needed, room)
            words = -(-(needed - room) // _FRAME_STEP) * _FRAME_STEP

    def _linked(self, function: Function, module: Module) -> Mapping[str, Callee]:
        """What ``function`` calls, compiled into the program."""
        found = {}
        for call in [i for i in function.instructions() if i.op == "call"]:
            callee = self._link(function, call, module)
            if callee is not None:
                found[call.detail] = callee
        return found

    def _link(self, function: Function, call: Instruction, module: Module) -> Callee | None:
        """The function that ``call`` calls, compiled when it is first called."""
        name = call.detail
        if name in self._callees:
            return self._callees[name]
        own, body = module, module.functions.get(name)
        if body is not None:
            check_callee(function, call, body, self._under_way)
        else:
            own, body = _EMPTY, routine(name)
            if body is None or not is_called(body, _MANY):
                return None
        body = deepcopy(body)
        compiled = self._add(body, own)
        below = [self._callees[i.detail] for i in body.instructions() if i.op == "call" and i.detail in self._callees]
        effects = any(i.op in ("store", "load") or (i.op == "call" and i.detail.startswith("_Z"))
                      for i in body.instructions())
        self._callees[name] = Callee(len(self._entries), len(body.parameters), compiled.clobbers,
                                     not effects and all(callee.is_pure for callee in below), compiled.scratchpad,
                                     1 + compiled.depth)
        self._entries.append(compiled.entry)
        return self._callees[name]

    def _check_depth(self, function: Function, callees: Mapping[str, Callee]) -> None:
        depth = max((callee.depth for callee in callees.values()), default=0)
        room = self.config.link_stack_depth - _DIVERGENCE
        if depth > room:
            raise function.error(f"calls nest {depth} deep in {function.name!r}; "
                                 f"link_stack_depth={self.config.link_stack_depth} leaves room for {room}")
