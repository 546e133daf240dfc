"""The search for the order of a function's operations that costs least, within the room that there is for it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fgpu.config import Config

from .backend.liveness import live_out
from .backend.mir import MachineFunction
from .backend.pressure import least_spilled
from .ir.module import Function, Instruction, Op
from .passes import Context, Order, Phase
from .pipeline import run_phase
from .select.frame import set_frame_size

__all__ = ["Allocated", "NoRoomError", "Room", "TooLargeError"]

_WORD_BYTES = 4
_FRAME_STEP = 4
"""Words by which frames grow."""
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


class NoRoomError(Exception):
    """The tables and variables of a kernel, and what it calls, need so many ``words`` of the scratchpad: too many."""

    def __init__(self, words: int) -> None:
        super().__init__(f"{words} words")
        self.words = words


class _WorseError(Exception):
    """Another order of the operations is better."""


@dataclass(frozen=True)
class Allocated:
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
        self.found: list[Allocated] = []
        self.failed: list[NoRoomError | TooLargeError] = []

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
        except (NoRoomError, TooLargeError) as error:
            self.failed.append(error)
        except _WorseError:
            return
        else:
            self.found.append(Allocated(machine, context.scratchpad, context.order))

    def best(self) -> Allocated:
        """The one that costs least. Raises why there is none."""
        if not self.found:
            # In another plan there may be room in the scratchpad.
            raise next((error for error in self.failed if isinstance(error, NoRoomError)), self.failed[0])
        orders = tuple(Order)
        return min(self.found, key=lambda made: (made.cost, orders.index(made.order)))


@dataclass(frozen=True)
class Room:
    """What there is room for: in ``config``'s core, in a program that has ``words`` already, and of which more than
    ``most`` are of no use."""

    config: Config
    words: int
    most: int

    def check_hope(self, function: Function) -> None:
        """Refuse a function of so many operations on words that no plan makes few enough instructions of them."""
        operations = sum(_words(i) for i in function.instructions() if i.op not in _FREE)
        if operations > _HOPELESS * self.config.cram_words:
            raise TooLargeError(operations // 2, is_final=True)

    def in_frame(self, function: Function, context: Context) -> Allocated:
        """``function`` where registers may be kept in its frame, which grows until there is room for them."""
        assert function.frame is not None
        context.frame_words = function.frame // _WORD_BYTES
        best = self.in_best_order(function, context)
        room = self.config.scratchpad_words
        function.frame += -(-max(0, best.scratchpad - room) // _FRAME_STEP) * _FRAME_STEP * _WORD_BYTES
        set_frame_size(best.machine, function.frame)
        return replace(best, scratchpad=min(best.scratchpad, room))

    def in_best_order(self, function: Function, context: Context) -> Allocated:
        """``function`` in the order that spills least and takes fewest instructions. The first wins where they are
        equal, and few registers need not live where nothing spills.

        Orders that spill for certain are tried last, those that may spill least first: the others seldom come to an
        end then.
        """
        search = _Search(self._check_room(context))
        selected = self._selected(function, context)
        live = live_out(selected)
        available = len(context.registers)
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

    def _selected(self, function: Function, context: Context) -> MachineFunction:
        machine: MachineFunction = run_phase(Phase.SELECT, function, context)
        least = _instructions(machine)
        if least > self.config.cram_words or self.words + least > self.most:
            # At once, as registers for so much take minutes.
            raise TooLargeError(self.words + least, is_final=least > _HOPELESS * self.config.cram_words)
        if (function.is_kernel or context.plan.has_frame) and machine.private_words > self.config.scratchpad_words:
            raise NoRoomError(machine.private_words)
        return machine

    def _check_room(self, context: Context) -> Callable[[MachineFunction, int, int], None]:
        """What ends an allocation of registers for which there is no room, as soon as it is known: it gets the
        function, the words of scratchpad and the instructions that it needs at least."""
        most = min(self.config.cram_words, self.most - self.words)

        def check(machine: MachineFunction, words: int, least: int) -> None:
            if machine.is_kernel and not context.plan.has_frame and words > self.config.scratchpad_words:
                raise NoRoomError(words)
            if least > most:
                raise TooLargeError(self.words + least, is_final=True)
        return check
