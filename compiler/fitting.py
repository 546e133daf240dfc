"""The search for a way to compile a kernel that has room in the scratchpad and in the code RAM.

What is tried, each a :class:`~fgpu.compiler.passes.Plan`: tables and private variables in the scratchpad, then the
tables in global memory, then the variables, too, in a frame. For each function of it, the orders of its operations;
with a frame, its growth until the registers that find no place have one there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from fgpu.config import Config
from fgpu.errors import EncodingError

from .backend.allocate import COLOURS, SPARE
from .backend.liveness import live_out
from .backend.mir import Callee, MachineFunction, Pseudo
from .backend.pressure import least_spilled
from .ir.module import Function, Instruction, Module, Op
from .legalize.tables import LOCAL_WORDS, reads_tables
from .linker import Linker, Mark
from .passes import Context, Observer, Order, Phase, Plan
from .pipeline import DIVERGENCE, run_phase
from .refusals import check_callee
from .runtime_library.routines import PREFIX, is_called, routine
from .select.frame import has_variables, set_frame_size

__all__ = ["Compiled", "Fitting", "TooLargeError"]

_MANY = 2
_WORD_BYTES = 4
_FRAME_STEP = 4
"""Words by which frames grow."""
_EMPTY = Module({}, {}, {})
_HOPELESS = 4
"""Code RAMs of operations that no plan makes fit one."""
_FREE = frozenset({Op.PHI, Op.BR, Op.BITCAST, Op.FREEZE, Op.GETELEMENTPTR, Op.TRUNC, Op.ZEXT, Op.SEXT, Op.ALLOCA,
                   Op.INSERTELEMENT, Op.EXTRACTELEMENT, Op.SHUFFLEVECTOR})
"""What often becomes no instruction."""


class TooLargeError(Exception):
    """The program will not fit the code RAM, whatever becomes of it: it has ``least`` words or more. No other plan
    would help if that ``is_final``."""

    def __init__(self, least: int, is_final: bool = False) -> None:
        super().__init__(f"at least {least} words")
        self.least = least
        self.is_final = is_final


class _NoRoomError(Exception):
    """The tables and variables of a kernel, and what it calls, need so many ``words`` of the scratchpad: too many."""

    def __init__(self, words: int) -> None:
        super().__init__(f"{words} words")
        self.words = words


class _WorseError(Exception):
    """Another order of the operations is better."""


class _CrowdedError(Exception):
    """A kernel with a frame calls functions that leave it no register, or that need more scratchpad than there is."""

    def __init__(self, names: Set[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


@dataclass(frozen=True)
class Compiled:
    """A function in the program: its first word, the scratchpad words from 0 on that it needs, the registers that it
    writes, the parameters that it has beyond those of its source, by name, the bytes of its frame, the return
    addresses of calls that it needs at once, the bytes of its variables in local memory, whether it has
    barriers, and what the user should know."""

    entry: int
    scratchpad: int
    clobbers: frozenset[int]
    hidden: tuple[str, ...]
    frame: int = 0
    depth: int = 0
    local_bytes: int = 0
    has_barrier: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Allocated:
    """A function in one order of its operations, and the words of the scratchpad that it needs."""

    machine: MachineFunction
    scratchpad: int
    order: Order

    @property
    def cost(self) -> tuple[int, int]:
        return self.scratchpad, sum(len(block.ops) for block in self.machine.blocks.values())


def _words(i: Instruction) -> int:
    """Of what it makes, or works on."""
    type = i.type if i.type.kind != "void" or not i.types else i.types[0]
    return max(1, type.size // _WORD_BYTES)


def _instructions(machine: MachineFunction) -> int:
    """How many it has at least."""
    return sum(op.is_instruction for block in machine.blocks.values() for op in block.ops)


class _Search:
    """Allocates the registers of a function in several orders of its operations. ``check`` gets it with the words of
    scratchpad and the instructions that it needs at least; what that raises ends an order."""

    def __init__(self, check: Callable[[MachineFunction, int, int], None]) -> None:
        self.check = check
        self.found: list[_Allocated] = []
        self.failed: list[_NoRoomError | TooLargeError] = []

    def allocate(self, machine: MachineFunction, context: Context, words: int = 0) -> None:
        """Try the order of ``context``, which needs so many ``words`` of scratchpad or more."""
        def after_spilling(machine: MachineFunction, words: int) -> None:
            least = _instructions(machine)
            self.check(machine, words, least)
            if any((words, least) > made.cost for made in self.found):
                raise _WorseError

        context.after_spilling = after_spilling
        try:
            after_spilling(machine, words)
            run_phase(Phase.ALLOCATE, machine, context)
        except (_NoRoomError, TooLargeError) as error:
            self.failed.append(error)
        except _WorseError:
            return
        else:
            self.found.append(_Allocated(machine, context.scratchpad, context.order))

    def best(self) -> _Allocated:
        """The one that costs least. Raises why there is none."""
        if not self.found:
            # In another plan there may be room in the scratchpad.
            raise next((error for error in self.failed if isinstance(error, _NoRoomError)), self.failed[0])
        orders = tuple(Order)
        return min(self.found, key=lambda made: (made.cost, orders.index(made.order)))


class Fitting:
    """Compiles kernels, and what they call, into the program of ``linker``.

    A subroutine is there before the first kernel that calls it. ``reconverges``: work-items that a branch of a kernel
    split meet again. Beyond ``most`` words there is no use in going on.
    """

    def __init__(self, config: Config, linker: Linker, reconverges: bool, most: int,
                 observers: Sequence[Observer] = (), variant: str = "") -> None:
        self.config = config
        self.linker = linker
        self.reconverges = reconverges
        self.most = most
        self.observers = observers
        self.variant = variant
        self.outlined = False
        """Whether there was room for a kernel only when what it repeats had become subroutines."""
        self._bodies: dict[Plan, dict[str, Function | None]] = {}

    def start_source(self) -> None:
        """What follows is another program, which shares the library's routines only."""
        self.linker.start_source([name for name in self.linker.callees if name.startswith(PREFIX)])
        self._bodies.clear()

    # -- plans -------------------------------------------------------------------------------------------

    def add(self, kernel: Function, module: Module) -> Compiled:
        """Compile ``kernel`` by the first plan for which there is room. What the scratchpad has no room for is in
        global memory: first its tables, then its variables, and the registers that find no place."""
        before, words = self.linker.mark(), 0
        self._check_hope(kernel)
        for plan in self._plans(kernel, module):
            try:
                return self._by(plan, kernel, module, before)
            except _NoRoomError as error:
                words = error.words
        room, size = self.config.scratchpad_words, self.config.scratchpad_size
        raise kernel.error(f"kernel {kernel.name!r} needs {words} words of the scratchpad for each work-item; "
                           f"there are {room} (scratchpad_size={size})")

    def _plans(self, kernel: Function, module: Module) -> Iterator[Plan]:
        tables = [min(self.config.scratchpad_words, LOCAL_WORDS)]
        if tables[0] and reads_tables(kernel, module):
            tables.append(0)
        for has_frame in (False, True):
            for words in tables:
                yield Plan(words, has_frame)

    def _by(self, plan: Plan, source: Function, module: Module, before: Mark) -> Compiled:
        """Compile the kernel ``source`` by ``plan`` into what was ``before``; raises :class:`_NoRoomError` if
        another should be tried. What crowds a kernel with a frame is inlined."""
        while True:
            self.linker.roll_back(before)
            if plan.has_frame:
                self.linker.forget_callers_of(SPARE)
            kernel = source.copy()
            try:
                compiled = self._compile(kernel, self._context(module, plan, (kernel.name,)))
            except _CrowdedError as error:
                plan = replace(plan, inlined=plan.inlined | error.names)
                continue
            except TooLargeError as error:
                have_moved = plan.table_words < self.config.scratchpad_words
                if error.is_final or plan.has_frame or not (have_moved or has_variables(kernel)):
                    raise
                raise _NoRoomError(0) from None     # variables may take fewer instructions in a frame
            if compiled.scratchpad > self.config.scratchpad_words:
                raise _NoRoomError(compiled.scratchpad)
            return compiled

    def _context(self, module: Module, plan: Plan, under_way: tuple[str, ...],
                 registers: Sequence[int] = COLOURS) -> Context:
        return Context(self.config, module, plan, self.linker.data, self.reconverges, self.observers, self.variant,
                       under_way, self._bodies.setdefault(plan, {}), self.linker.formats, registers=registers)

    # -- functions ---------------------------------------------------------------------------------------

    def _compile(self, function: Function, context: Context) -> Compiled:
        """Compile ``function``. One that has a frame needs a register for its address, and calls nothing that takes
        that, too, or more of the scratchpad than there is: those must be inlined."""
        run_phase(Phase.INLINE, function, context)
        self._check_hope(function)
        run_phase(Phase.LEGALIZE, function, context)
        self._check_hope(function)
        before, frame = self.linker.mark(), function.frame
        try:
            compiled = self._placed(function, context)
        except (TooLargeError, EncodingError):
            if not self._outlines(function, context):
                raise
        else:
            if len(self.linker.words) <= self.config.cram_words or not self._outlines(function, context):
                return compiled
        self.linker.roll_back(before)
        function.frame = frame
        return self._placed(function, context)

    def _outlines(self, function: Function, context: Context) -> bool:
        """Let what ``function`` does several times be subroutines; returns whether there are any."""
        run_phase(Phase.OUTLINE, function, context)
        self.outlined |= context.outlined
        return context.outlined

    def _placed(self, function: Function, context: Context) -> Compiled:
        """Make words of the program of ``function``, which is legal."""
        best = self._allocated(function, context)
        machine = best.machine
        run_phase(Phase.FINISH, machine, context)
        entry = self.linker.place(machine)
        written = {register for block in machine.blocks.values() for op in block.ops
                   for register in (op.dst, *op.clobbers) if register is not None}
        depth = max((op.callee.depth - (op.opcode is Pseudo.JUMP) for block in machine.blocks.values()
                     for op in block.ops if op.callee is not None), default=0)
        return Compiled(entry, best.scratchpad, frozenset(written), tuple(context.hidden), function.frame or 0, depth,
                        function.local_bytes, any(block.has_barrier for block in machine.blocks.values()),
                        context.warnings)

    def _allocated(self, function: Function, context: Context) -> _Allocated:
        """``function`` with what it calls in the program."""
        plan = context.plan
        context.callees = callees = self._linked(function, context)
        crowding = {name for name, callee in callees.items()
                    if name in context.module.functions and name not in plan.inlined
                    and (SPARE in callee.clobbers or callee.scratchpad > self.config.scratchpad_words)}
        if plan.has_frame and crowding:
            raise _CrowdedError(crowding)
        self._check_depth(function, callees)
        return self._in_frame(function, context) if plan.has_frame else self._in_best_order(function, context)

    def _in_frame(self, function: Function, context: Context) -> _Allocated:
        """``function`` where registers may be kept in its frame, which grows until there is room for them."""
        assert function.frame is not None
        context.frame_words = function.frame // _WORD_BYTES
        best = self._in_best_order(function, context)
        room = self.config.scratchpad_words
        function.frame += -(-max(0, best.scratchpad - room) // _FRAME_STEP) * _FRAME_STEP * _WORD_BYTES
        set_frame_size(best.machine, function.frame)
        return replace(best, scratchpad=min(best.scratchpad, room))

    def _in_best_order(self, function: Function, context: Context) -> _Allocated:
        """``function`` in the order that spills least and takes fewest instructions. The first wins where they are
        equal, and few registers need not live where nothing spills.

        Orders that spill for certain are tried last, those that may spill least first: the others seldom come to an
        end then.
        """
        search = _Search(self._check_room(context))
        selected = self._selected(function, context)
        live = live_out(selected)
        available = len(COLOURS if context.plan.has_frame else context.registers)
        spilling: list[tuple[int, Order, MachineFunction]] = []
        for order in Order:
            if order is Order.PRESSURE and any(made.scratchpad == selected.private_words for made in search.found):
                break
            machine = selected.copy()
            context.order = order
            unscheduled = [list(block.ops) for block in machine.blocks.values()]
            run_phase(Phase.SCHEDULE, machine, context)
            if order is Order.LATENCY and unscheduled == [block.ops for block in machine.blocks.values()]:
                continue        # the source's order, which comes next
            if (spilled := least_spilled(machine, live, available)) > 0:
                spilling.append((selected.private_words + spilled, order, machine))
            else:
                search.allocate(machine, context)
        for words, order, machine in sorted(spilling, key=lambda item: item[0]):
            context.order = order
            search.allocate(machine, context, words)
        return search.best()

    def _check_room(self, context: Context) -> Callable[[MachineFunction, int, int], None]:
        """What ends an allocation of registers for which there is no room, as soon as it is known: it gets the
        function, the words of scratchpad and the instructions that it needs at least."""
        most = min(self.config.cram_words, self.most - len(self.linker.words))

        def check(machine: MachineFunction, words: int, least: int) -> None:
            if machine.is_kernel and not context.plan.has_frame and words > self.config.scratchpad_words:
                raise _NoRoomError(words)
            if least > most:
                raise TooLargeError(len(self.linker.words) + least, is_final=True)
        return check

    def _check_hope(self, function: Function) -> None:
        """Refuse a function of so many operations on words that no plan makes few enough instructions of them."""
        operations = sum(_words(i) for i in function.instructions() if i.op not in _FREE)
        if operations > _HOPELESS * self.config.cram_words:
            raise TooLargeError(operations // 2, is_final=True)

    def _selected(self, function: Function, context: Context) -> MachineFunction:
        machine: MachineFunction = run_phase(Phase.SELECT, function, context)
        words = len(self.linker.words)
        least = _instructions(machine)
        if least > self.config.cram_words or words + least > self.most:
            # At once, as registers for so much take minutes.
            raise TooLargeError(words + least, is_final=least > _HOPELESS * self.config.cram_words)
        if function.is_kernel and machine.private_words > self.config.scratchpad_words:
            raise _NoRoomError(machine.private_words)
        return machine

    # -- subroutines -------------------------------------------------------------------------------------

    def _linked(self, function: Function, context: Context) -> Mapping[str, Callee]:
        """What ``function`` calls, compiled into the program."""
        found = {}
        for call in [i for i in function.instructions() if i.op == "call"]:
            callee = self._link(function, call, context)
            if callee is not None:
                found[call.callee] = callee
        return found

    def _link(self, function: Function, call: Instruction, context: Context) -> Callee | None:
        """The function that ``call`` calls, compiled when it is first called."""
        name, known = call.callee, self.linker.callees
        if name in known:
            return known[name]
        module, body = context.module, context.module.functions.get(name)
        if body is not None:
            check_callee(function, call, body, context.under_way)
        else:
            module, body = _EMPTY, routine(name)
            if body is None or not is_called(body, _MANY):
                return None
        body = body.copy()
        # What a kernel with a frame calls leaves it the register for the frame's address.
        registers = COLOURS[:-1] if context.plan.has_frame else context.registers
        compiled = self._compile(body, self._context(module, Plan(context.plan.table_words),
                                                     (*context.under_way, name), registers))
        below = [known[i.callee] for i in body.instructions() if i.op == "call" and i.callee in known]
        effects = any(i.op in ("store", "load") or (i.op == "call" and i.callee.startswith("_Z"))
                      for i in body.instructions())
        return self.linker.define(name, compiled.entry, len(body.parameters), compiled.clobbers,
                                  not effects and all(callee.is_pure for callee in below), compiled.scratchpad,
                                  1 + compiled.depth)

    def _check_depth(self, function: Function, callees: Mapping[str, Callee]) -> None:
        depth = max((callee.depth for callee in callees.values()), default=0)
        room = self.config.link_stack_depth - DIVERGENCE
        if depth > room:
            raise function.error(f"calls nest {depth} deep in {function.name!r}; "
                                 f"link_stack_depth={self.config.link_stack_depth} leaves room for {room}")
