"""The state of work-items that run together, and what the instructions do to it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fgpu.address_map import DescriptorWord
from fgpu.config import DIMENSIONS, WAVEFRONT_SIZE, Config
from fgpu.isa import REGISTER_COUNT, Format, Unit
from fgpu.sim.accesses import AccessCheck, name_work_item, outside_memory
from fgpu.sim.dispatch import Dispatch
from fgpu.sim.memory import GlobalMemory

from .atomics import atomic
from .local_ids import local_ids
from .operations import CONDITIONS, Operand, Words
from .program import Program, Step
from .wavefronts import FULL_MASK, lanes_to_masks, masks_to_lanes

__all__ = ["Selection", "WorkGroups", "WorkItems"]

_NO_WORDS = np.zeros(1, dtype=np.uint32)


@dataclass(frozen=True)
class Selection:
    """The enabled work-items of some wavefronts: a slice where possible, as that costs no copies."""

    items: slice | np.ndarray
    count: int

    @classmethod
    def of(cls, wavefronts: np.ndarray, masks: np.ndarray) -> "Selection":
        """Those of ``wavefronts`` (ascending) that their ``masks`` enable."""
        first, last = int(wavefronts[0]), int(wavefronts[-1])
        full = bool((masks == FULL_MASK).all())
        if full and last - first + 1 == len(wavefronts):
            return cls(slice(first * WAVEFRONT_SIZE, (last + 1) * WAVEFRONT_SIZE), len(wavefronts) * WAVEFRONT_SIZE)
        items = (wavefronts[:, np.newaxis] * WAVEFRONT_SIZE + np.arange(WAVEFRONT_SIZE)).ravel()
        if not full:
            items = items[masks_to_lanes(masks)]
        return cls(items, len(items))


class WorkGroups:
    """Consecutive work-groups of a launch, and where their work-items are in the index space."""

    def __init__(self, descriptor: Dispatch, first: int, count: int) -> None:
        self.descriptor = descriptor
        self.first_wavefront = first * descriptor.wavefronts
        self.wavefronts = count * descriptor.wavefronts
        lanes = np.arange(descriptor.wavefronts * WAVEFRONT_SIZE)
        self.masks = np.tile(lanes_to_masks(lanes < descriptor.work_items), count)
        self._local_ids = local_ids(descriptor.extents, descriptor.dimensions, descriptor.wavefronts)
        self.count = count
        self._groups = np.repeat(np.arange(first, first + count), len(lanes))

    @cached_property
    def places(self) -> np.ndarray:
        """For each work-item the number of its work-group among these."""
        return self._groups - self._groups[0]

    def local_id(self, dimension: int) -> Words:
        """Position in the work-group."""
        if dimension >= self.descriptor.dimensions:
            return np.zeros(len(self._groups), dtype=np.uint32)
        return np.tile(self._local_ids[dimension], self.count)

    def group_id(self, dimension: int) -> Words:
        """Position of the work-group."""
        groups = self.descriptor.work_groups
        return (self._groups // math.prod(groups[:dimension]) % groups[dimension]).astype(np.uint32)

    def name(self, item: int) -> str:
        """A work-item by its global ids, for messages."""
        extents, origins, every = self.descriptor.extents, self.descriptor.origins, range(self.descriptor.dimensions)
        offsets = [int(self.group_id(index)[item]) * extents[index] + origins[index] for index in every]
        return name_work_item(self.descriptor, offsets, [int(self.local_id(index)[item]) for index in every])


class WorkItems:
    """Registers, scratchpads, local memory and runtime values of the work-items of some work-groups.

    Registers and memories start as zero; the hardware's hold what was there before.
    """

    def __init__(self, groups: WorkGroups, program: Program, memory: GlobalMemory, descriptor: Sequence[int],
                 config: Config, check: AccessCheck | None = None) -> None:
        self._check = check
        self._groups = groups
        self._program = program
        self._memory = memory
        self._half_words = memory.bytes.view("<u2")
        self._words = descriptor
        self._count = groups.wavefronts * WAVEFRONT_SIZE
        self._registers = np.zeros((REGISTER_COUNT, self._count), dtype=np.uint32)
        self._scratchpad_words = config.scratchpad_words
        self._local_bytes = config.local_memory * 1024
        self._runtime: dict[tuple[str, int], Operand] = {}

    # -- one instruction ------------------------------------------------------------------------

    def execute(self, step: Step, selection: Selection) -> None:
        """Execute an instruction that is no branch, call or return."""
        row, operands, items = step.row, step.operands, selection.items
        operation = self._program.operations.get(row.mnemonic)
        if operation is not None:
            if operands.rd:
                registers = self._registers
                second = step.immediate if step.has_immediate else registers[operands.rt][items]
                old = registers[operands.rd][items] if row.reads_rd or row.unit is Unit.MOVE else _NO_WORDS
                registers[operands.rd][items] = operation(registers[operands.rs][items], second, old)
        elif row.is_load:
            self._write(step, items, self._load(step, items))
        elif row.is_store:
            self._store(step, items)
        elif step.is_local:
            self._access_local(step, items)
        elif row.atomic is not None:
            indices = self._offsets(step, items) >> np.uint32(2)
            self._write(step, items, self._atomic(step, items, self._memory.words, indices))
        elif row.unit is Unit.RUNTIME:
            value = self._runtime_value(row.mnemonic, operands.imm)
            self._write(step, items, value[items] if isinstance(value, np.ndarray) else value)
        else:
            index = self._scratchpad_index(step, items)
            if row.writes_rd:
                self._write(step, items, self._scratchpad[index])
            else:
                self._scratchpad[index] = self._registers[operands.rd][items]

    def _write(self, step: Step, items: slice | np.ndarray, value: Operand) -> None:
        if step.operands.rd:
            self._registers[step.operands.rd][items] = value

    def condition(self, step: Step, selection: Selection) -> np.ndarray:
        """Whether each selected work-item takes a branch."""
        registers, operands, items = self._registers, step.operands, selection.items
        return CONDITIONS[step.row.mnemonic](registers[operands.rd][items], registers[operands.rs][items])

    def taken_masks(self, condition: np.ndarray, selection: Selection, wavefronts: np.ndarray) -> np.ndarray:
        """Masks of the work-items for which ``condition`` holds, one for each of ``wavefronts``."""
        if isinstance(selection.items, slice):
            return lanes_to_masks(condition)
        lanes = np.zeros(self._count, dtype=bool)
        lanes[selection.items] = condition
        return lanes_to_masks(lanes)[wavefronts]

    # -- global memory --------------------------------------------------------------------------

    def _addresses(self, step: Step, items: slice | np.ndarray) -> np.ndarray:
        operands, row, registers = step.operands, step.row, self._registers
        if row.format is Format.RD_PARAMETER_INDEX:
            return self._runtime_value("lp", operands.imm) + (registers[operands.rs][items] << np.uint32(row.scale))
        base, index = (operands.rt, operands.rs) if row.atomic is None else (operands.rs, operands.rt)
        addresses = registers[base][items]
        if row.format is not Format.RD_RS_RT:   # cmpxchg has no index
            addresses = addresses + (registers[index][items] << np.uint32(row.scale))
        return addresses

    def _offsets(self, step: Step, items: slice | np.ndarray) -> np.ndarray:
        """Byte offsets in global memory."""
        addresses = self._addresses(step, items)
        if self._check is not None:
            self._check_accesses(step, items, addresses, self._check)
        offsets = addresses - np.uint32(self._memory.base)
        if int(offsets.max()) >= self._memory.size:
            self._refuse(step, items, addresses, int((offsets >= self._memory.size).argmax()))
        return offsets

    def _check_accesses(self, step: Step, items: slice | np.ndarray, addresses: np.ndarray,
                        check: AccessCheck) -> None:
        at = check.first_refused(addresses, step.row)
        if at is not None:
            item = items.start + at if isinstance(items, slice) else int(items[at])
            raise check.error(self._program.places, step.pc, int(addresses[at]), self._groups.name(item))

    def _refuse(self, step: Step, items: slice | np.ndarray, addresses: np.ndarray, at: int) -> None:
        item = items.start + at if isinstance(items, slice) else int(items[at])
        raise outside_memory(self._program.places, step.pc, int(addresses[at]), self._groups.name(item), self._memory)

    def _load(self, step: Step, items: slice | np.ndarray) -> Words:
        return self._memory.words[self._offsets(step, items) >> np.uint32(2)]

    def _store(self, step: Step, items: slice | np.ndarray) -> None:
        """Store; where several work-items write the same bytes, the last one wins."""
        offsets = self._offsets(step, items)
        value = self._registers[step.operands.rd][items]
        if step.row.scale == 2:
            self._memory.words[offsets >> np.uint32(2)] = value
        elif step.row.scale == 1:
            self._half_words[offsets >> np.uint32(1)] = value.astype(np.uint16)
        else:
            self._memory.bytes[offsets] = value.astype(np.uint8)

    def _atomic(self, step: Step, items: slice | np.ndarray, words: Words, indices: np.ndarray) -> Words:
        """The old words; within a wavefront the lowest work-item goes first."""
        registers, operands = self._registers, step.operands
        assert step.row.atomic is not None
        return atomic(step.row.atomic, words, indices, registers[operands.rd][items], registers[operands.rt][items])

    # -- local memory ---------------------------------------------------------------------------

    @cached_property
    def _local(self) -> np.ndarray:
        """Bytes of local memory, one work-group's after the other's; each has as many as the hardware has for all."""
        return np.zeros(self._groups.count * self._local_bytes, dtype=np.uint8)

    @cached_property
    def _local_starts(self) -> np.ndarray:
        """For each work-item the first byte of its work-group's."""
        return self._groups.places * self._local_bytes

    def _access_local(self, step: Step, items: slice | np.ndarray) -> None:
        addresses = self._addresses(step, items)
        if self._check is not None:
            self._check_accesses(step, items, addresses, self._check)
        offsets = (addresses & np.uint32(self._local_bytes - 1)) + self._local_starts[items]
        row, words = step.row, self._local.view("<u4")
        if row.atomic is not None:
            self._write(step, items, self._atomic(step, items, words, offsets >> 2))
        elif row.writes_rd:
            self._write(step, items, words[offsets >> 2])
        else:
            value = self._registers[step.operands.rd][items]
            self._local.view(f"<u{1 << row.scale}")[offsets >> row.scale] = value   # the lower bits of it

    # -- scratchpads ----------------------------------------------------------------------------

    @cached_property
    def _scratchpad(self) -> np.ndarray:
        """Word i of all work-items, then word i + 1."""
        return np.zeros(self._scratchpad_words * self._count, dtype=np.uint32)

    def _scratchpad_index(self, step: Step, items: slice | np.ndarray) -> np.ndarray:
        word = (self._registers[step.operands.rs][items] + step.immediate) & np.uint32(self._scratchpad_words - 1)
        item = np.arange(items.start, items.stop) if isinstance(items, slice) else items
        return word * np.intp(self._count) + item

    # -- runtime memory -------------------------------------------------------------------------

    def _runtime_value(self, mnemonic: str, index: int) -> Operand:
        """What the instructions of the runtime memory read."""
        key = mnemonic, index
        if key not in self._runtime:
            self._runtime[key] = self._runtime_value_computed(mnemonic, index)
        return self._runtime[key]

    def _runtime_value_computed(self, mnemonic: str, index: int) -> Operand:
        if mnemonic == "gid":
            return self._runtime_value("lid", index) + self._runtime_value("wgoff", index)
        if mnemonic == "lp":
            return np.uint32(self._words[DescriptorWord.PARAMETERS + index])
        if index == DIMENSIONS and mnemonic == "wgoff" and self._groups.descriptor.place:
            return self._groups.places.astype(np.uint32)
        if index >= DIMENSIONS:
            return np.uint32(0)
        local_size = np.uint32(self._groups.descriptor.steps[index])
        match mnemonic:
            case "size":
                return np.uint32(self._words[DescriptorWord.GLOBAL_SIZE + index])
            case "wgsize":
                return local_size
            case "lid":
                return self._groups.local_id(index)
            case "wgid":
                return self._groups.group_id(index)
            case _:
                assert mnemonic == "wgoff"
                offset = np.uint32(self._words[DescriptorWord.GLOBAL_OFFSET + index])
                return self._groups.group_id(index) * local_size + offset
