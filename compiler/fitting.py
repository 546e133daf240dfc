"""The search for a way to compile a kernel that has room in the scratchpad and in the code RAM.

What is tried, each a :class:`~fgpu.compiler.passes.Plan`: tables and private variables in the scratchpad, then the
tables in global memory, then the variables, too, in a frame, and last, where the source was compiled to few
instructions already, subroutines that use the frame. For each function of it, the orders of its operations; with a
frame, its growth until the registers that find no place have one there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fgpu.config import Config
from fgpu.errors import CapacityError, EncodingError

from .backend.mir import COLOURS, FRAME_POINTER, Callee, Pseudo
from .ir.module import Function, Instruction, Module
from .legalize.inline_calls import hands_private_on
from .legalize.tables import LOCAL_WORDS, reads_tables
from .linker import Linker, Mark
from .orders import Allocated, NoRoomError, Room, TooLargeError
from .passes import Context, Observer, Phase, Plan
from .pipeline import DIVERGENCE, run_phase
from .refusals import check_callee
from .runtime_library.routines import PREFIX, is_called, routine
from .select.frame import FRAME_BEGIN, has_variables

__all__ = ["Compiled", "Fitting"]

_MANY = 1 << 16
_EMPTY = Module({}, {}, {})


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
    split meet again. Beyond ``most`` words there is no use in going on. ``is_short``: the source will be compiled to
    no fewer instructions.
    """

    def __init__(self, config: Config, linker: Linker, reconverges: bool, most: int,
                 observers: Sequence[Observer] = (), variant: str = "", is_short: bool = True) -> None:
        self.config = config
        self.linker = linker
        self.reconverges = reconverges
        self.most = most
        self.observers = observers
        self.variant = variant
        self.is_short = is_short
        self.left_plans_out = False
        """Whether more plans would be tried if the source were known to be short."""
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
        before, words, is_too_long = self.linker.mark(), 0, False
        self._room.check_hope(kernel)
        for plan in self._plans(kernel, module):
            if is_too_long and plan.has_frame and not plan.has_calls:
                continue        # where tables are makes little difference
            try:
                return self._by(plan, kernel, module, before)
            except NoRoomError as error:
                words = error.words
                is_too_long |= plan.has_frame and not words
        room, size = self.config.scratchpad_words, self.config.scratchpad_size
        raise kernel.error(f"kernel {kernel.name!r} needs {words} words of the scratchpad for each work-item; "
                           f"there are {room} (scratchpad_size={size})", kind=CapacityError)

    def _plans(self, kernel: Function, module: Module) -> Iterator[Plan]:
        most = min(self.config.scratchpad_words, LOCAL_WORDS)
        for has_frame, has_calls in ((False, False), (True, False), (True, True)):
            if has_calls and not self._may_have_calls(kernel, module):
                return
            has_tables = bool(most) and reads_tables(kernel, module, has_frame)
            yield Plan(most, has_frame, has_calls)
            if has_tables:
                yield Plan(0, has_frame, has_calls)

    def _may_have_calls(self, kernel: Function, module: Module) -> bool:
        """Whether there are plans with subroutines that use the frame."""
        if not hands_private_on(kernel, module):
            return False
        self.left_plans_out |= not self.is_short
        return self.is_short

    def _by(self, plan: Plan, source: Function, module: Module, before: Mark) -> Compiled:
        """Compile the kernel ``source`` by ``plan`` into what was ``before``; raises :class:`NoRoomError` if
        another should be tried."""
        def is_useless(name: str, callee: Callee) -> bool:
            """Whether code of other kernels does not suit this plan."""
            if name.startswith(PREFIX):
                return plan.has_frame and FRAME_POINTER in callee.clobbers
            return plan.has_frame != bool(callee.frame)

        self.linker.roll_back(before)
        self.linker.forget(is_useless)
        kernel = source.copy()
        try:
            compiled = self._compile(kernel, self._context(module, plan, (kernel.name,)))
        except (TooLargeError, EncodingError) as error:
            if self._may_have_calls(source, module):
                has_hope = not plan.has_calls
            else:       # variables may take fewer instructions in a frame
                is_final = plan.has_frame or isinstance(error, EncodingError) or error.is_final
                have_moved = plan.table_words < self.config.scratchpad_words
                has_hope = not is_final and (have_moved or has_variables(kernel))
            if not has_hope:
                raise
            raise NoRoomError(0) from None
        is_too_long = len(self.linker.words) > self.config.cram_words
        if is_too_long and not plan.has_calls and self._may_have_calls(source, module):
            raise NoRoomError(0)
        if compiled.scratchpad > self.config.scratchpad_words:
            raise NoRoomError(compiled.scratchpad)
        return compiled

    def _context(self, module: Module, plan: Plan, under_way: tuple[str, ...],
                 registers: Sequence[int] = COLOURS, frame_begin: int = FRAME_BEGIN) -> Context:
        return Context(self.config, module, plan, self.linker.data, self.reconverges, self.observers, self.variant,
                       under_way, self._bodies.setdefault(plan, {}), self.linker.formats, registers=registers,
                       frame_begin=frame_begin)

    # -- functions ---------------------------------------------------------------------------------------

    def _compile(self, function: Function, context: Context) -> Compiled:
        """Compile ``function``, and before it what it calls. In a frame its variables lie behind theirs."""
        run_phase(Phase.INLINE, function, context)
        self._room.check_hope(function)
        if context.plan.has_frame:
            callees = self._linked(function, context, context.module.functions)
            context.frame_begin = max([context.frame_begin, *(callee.frame for callee in callees.values())])
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
        if function.frame is not None:
            written.discard(FRAME_POINTER)      # which has the same address after as before
        depth = max((op.callee.depth - (op.opcode is Pseudo.JUMP) for block in machine.blocks.values()
                     for op in block.ops if op.callee is not None), default=0)
        return Compiled(entry, best.scratchpad, frozenset(written), tuple(context.hidden), function.frame or 0, depth,
                        function.local_bytes, any(block.has_barrier for block in machine.blocks.values()),
                        context.warnings)

    def _allocated(self, function: Function, context: Context) -> Allocated:
        """``function`` with what it calls in the program."""
        context.callees = callees = self._linked(function, context)
        self._check_depth(function, callees)
        if function.frame is None:
            return self._room.in_best_order(function, context)
        function.frame = max([function.frame, *(callee.frame for callee in callees.values())])
        return self._room.in_frame(function, context)

    # -- subroutines -------------------------------------------------------------------------------------

    def _linked(self, function: Function, context: Context,
                names: Collection[str] | None = None) -> Mapping[str, Callee]:
        """What ``function`` calls, of these ``names`` if they are given, compiled into the program."""
        found = {}
        for call in [i for i in function.instructions() if i.op == "call" and (names is None or i.callee in names)]:
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
        plan, registers = context.plan, context.registers
        if plan.has_frame:
            registers = tuple(register for register in COLOURS if register != FRAME_POINTER)
            if module is _EMPTY:        # which the library's routines do not use
                plan = Plan(plan.table_words)
        # What was made of a part of the function does not know where its variables are.
        begin = FRAME_BEGIN if function.frame is None else function.frame
        compiled = self._compile(body, self._context(module, plan, (*context.under_way, name), registers, begin))
        below = [known[i.callee] for i in body.instructions() if i.op == "call" and i.callee in known]
        effects = any(i.op in ("store", "load") or (i.op == "call" and i.callee.startswith("_Z"))
                      for i in body.instructions())
        return self.linker.define(name, compiled.entry, len(body.parameters), compiled.clobbers,
                                  not effects and all(callee.is_pure for callee in below), compiled.scratchpad,
                                  1 + compiled.depth, compiled.frame)

    def _check_depth(self, function: Function, callees: Mapping[str, Callee]) -> None:
        depth = max((callee.depth for callee in callees.values()), default=0)
        room = self.config.link_stack_depth - DIVERGENCE
        if depth > room:
            raise function.error(f"calls nest {depth} deep in {function.name!r}; "
                                 f"link_stack_depth={self.config.link_stack_depth} leaves room for {room}",
                                 kind=CapacityError)
