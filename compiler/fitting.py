"""The search for a way to compile a kernel that has room in the scratchpad and in the code RAM.

What is tried, each a :class:`~fgpu.compiler.passes.Plan`: tables and private variables in the scratchpad, then the
tables in global memory, then the variables, too, in a frame. For each function of it, the orders of its operations;
with a frame, its growth until the registers that find no place have one there.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from fgpu.config import Config
from fgpu.errors import CapacityError, EncodingError

from .backend.allocate import COLOURS, SPARE
from .backend.mir import Callee, Pseudo
from .ir.module import Function, Instruction, Module
from .legalize.tables import LOCAL_WORDS, reads_tables
from .linker import Linker, Mark
from .orders import Allocated, NoRoomError, Room, TooLargeError
from .passes import Context, Observer, Phase, Plan
from .pipeline import DIVERGENCE, run_phase
from .refusals import check_callee
from .runtime_library.routines import PREFIX, is_called, routine
from .select.frame import has_variables

__all__ = ["Compiled", "Fitting"]

_MANY = 2
_EMPTY = Module({}, {}, {})


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

    @property
    def _room(self) -> Room:
        """What is left for another function."""
        return Room(self.config, len(self.linker.words), self.most)

    # -- plans -------------------------------------------------------------------------------------------

    def add(self, kernel: Function, module: Module) -> Compiled:
        """Compile ``kernel`` by the first plan for which there is room. What the scratchpad has no room for is in
        global memory: first its tables, then its variables, and the registers that find no place."""
        before, words = self.linker.mark(), 0
        self._room.check_hope(kernel)
        for plan in self._plans(kernel, module):
            try:
                return self._by(plan, kernel, module, before)
            except NoRoomError as error:
                words = error.words
        room, size = self.config.scratchpad_words, self.config.scratchpad_size
        raise kernel.error(f"kernel {kernel.name!r} needs {words} words of the scratchpad for each work-item; "
                           f"there are {room} (scratchpad_size={size})", kind=CapacityError)

    def _plans(self, kernel: Function, module: Module) -> Iterator[Plan]:
        tables = [min(self.config.scratchpad_words, LOCAL_WORDS)]
        if tables[0] and reads_tables(kernel, module):
            tables.append(0)
        for has_frame in (False, True):
            for words in tables:
                yield Plan(words, has_frame)

    def _by(self, plan: Plan, source: Function, module: Module, before: Mark) -> Compiled:
        """Compile the kernel ``source`` by ``plan`` into what was ``before``; raises :class:`NoRoomError` if
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
                raise NoRoomError(0) from None     # variables may take fewer instructions in a frame
            if compiled.scratchpad > self.config.scratchpad_words:
                raise NoRoomError(compiled.scratchpad)
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
        self._room.check_hope(function)
        run_phase(Phase.LEGALIZE, function, context)
        self._room.check_hope(function)
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

    def _allocated(self, function: Function, context: Context) -> Allocated:
        """``function`` with what it calls in the program."""
        plan = context.plan
        context.callees = callees = self._linked(function, context)
        crowding = {name for name, callee in callees.items()
                    if name in context.module.functions and name not in plan.inlined
                    and (SPARE in callee.clobbers or callee.scratchpad > self.config.scratchpad_words)}
        if plan.has_frame and crowding:
            raise _CrowdedError(crowding)
        self._check_depth(function, callees)
        allocate = self._room.in_frame if plan.has_frame else self._room.in_best_order
        return allocate(function, context)

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
                                 f"link_stack_depth={self.config.link_stack_depth} leaves room for {room}",
                                 kind=CapacityError)
