"""The hardware configuration: one immutable, validated object (dissertation, table 3.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

from .errors import ConfigError
from .isa import INSTRUCTIONS, REGISTER_COUNT, Instruction, Opcode, Space, Unit

__all__ = [
    "ATOMICS", "AXI_IDS", "BANKS", "BANK_WORDS", "DIMENSIONS", "DIMENSION_BITS", "DIVERGENCE", "FLOAT_OPS",
    "KERNEL_SLOTS", "LOCAL_BASE", "LOCAL_NULL", "LOCAL_ROW_BYTES", "PARAMETERS_MAX", "PE_COUNT",
    "PHASES", "PHASE_BITS", "PRESETS", "WAVEFRONTS", "WAVEFRONT_BITS", "WAVEFRONT_SIZE", "WORK_GROUP_MAX", "Config",
    "check_config",
]


def _log2(power: int) -> int:
    """Of a power of two: Amaranth's ``exact_log2`` comes with all of Amaranth, in a quarter of a second."""
    return power.bit_length() - 1


PE_COUNT: Final = 8
"""Processing elements of a compute unit."""
PHASES: Final = 8
"""Cycles for which an instruction of a full wavefront occupies the compute vector."""
WAVEFRONT_SIZE: Final = PE_COUNT * PHASES
"""Work-items of a wavefront."""
WAVEFRONTS: Final = 8
"""Wavefronts that a compute unit holds."""
WAVEFRONT_BITS: Final = _log2(WAVEFRONTS)
"""Bits of the number of a wavefront, in its compute unit or in its work-group."""
PHASE_BITS: Final = _log2(PHASES)
"""Bits of the number of a phase."""
DIMENSIONS: Final = 3
"""Most dimensions of an index space."""
DIMENSION_BITS: Final = 2
"""Bits of the number of a dimension."""
WORK_GROUP_MAX: Final = WAVEFRONTS * WAVEFRONT_SIZE
"""Work-items of the largest work-group."""
BANKS: Final = 4
"""Banks of a compute unit's register file."""
BANK_WORDS: Final = WAVEFRONTS * PHASES // BANKS * REGISTER_COUNT
"""Registers, each of eight work-items, in such a bank."""
LOCAL_ROW_BYTES: Final = 32
"""Bytes of a row of local memory: a word of each of its eight banks."""
LOCAL_NULL: Final = 1 << 15
"""Byte of a work-group's local memory that has the address 0, where no variable may begin."""
LOCAL_BASE: Final = (1 << 32) - LOCAL_NULL
"""Address of the first byte of a work-group's local memory, as its programs see it: ``li`` reaches all that are in
64 KiB from there. The hardware takes addresses modulo the size."""
AXI_IDS: Final = 64
"""Ids of an AXI4 data port: lines on their way between cache and memory."""
KERNEL_SLOTS: Final = 16
"""Kernel descriptors in LRAM."""
PARAMETERS_MAX: Final = 16
"""Words of parameters in a kernel descriptor."""

ATOMICS: Final = frozenset({"add", "max", "min", "umax", "umin", "and", "or", "xor", "xchg", "cmpxchg"})
"""Atomic operations that hardware can have (``max`` and ``min`` signed)."""
FLOAT_OPS: Final = frozenset(row.mnemonic for row in INSTRUCTIONS if row.unit is Unit.FLOAT)
"""Floating-point operations that hardware can have, by their mnemonics."""
DIVERGENCE: Final = ("stack", "min_pc", "implicit", "ipdom", "tokens", "counters")
"""Schemes by which work-items of a wavefront part and meet (docs/divergence.md)."""
ANNOTATED: Final = frozenset({"ipdom", "tokens", "counters"})
"""Those whose programs say where (the instruction ``meet``)."""

_ALL = "all"
_FLOAT_LANES = (1, 2, 4, PE_COUNT)
_KIB = 1024
_SETS_MIN = 16
_FEW_UNITS = 2
_ROWS_OF_FEW_UNITS = 32
_MANY_TAG_MANAGERS = 8
_RETIREMENTS = 8
_SLICE_KIB = 16
_SLICE_TAG_MANAGERS = 4
_PORT_TAG_MANAGERS = 8
_SLICES_OF_MANY_UNITS = 4
_WAKE_MARGIN = 16
_WAKE_UNIT = 64


def check_config(config: object) -> None:
    """Raise :class:`~fgpu.errors.ConfigError` for an argument that is no :class:`Config`."""
    if not isinstance(config, Config):
        raise ConfigError(f"config must be a Config, not {config!r}; Config.preset(name) makes one of a name")


def _one_of(config: "Config", name: str, allowed: tuple[Any, ...]) -> None:
    value = getattr(config, name)
    if type(value) is not type(allowed[0]) or value not in allowed:
        raise ConfigError(f"{name} must be one of {_listed(allowed)}, not {value!r}")


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _operations(name: str, value: object, allowed: frozenset[str]) -> frozenset[str]:
    """The operations that a collection or a text with commas names, none where that is empty; ``all`` stands for
    those that are allowed."""
    if isinstance(value, str):
        value = _parts(value)
    if not isinstance(value, Iterable):
        raise ConfigError(f"{name} must be names of operations, as {{{min(allowed)!r}}} or 'all', not {value!r}")
    found = list(value)
    unknown = [item for item in found if not isinstance(item, str) or item not in allowed | {_ALL}]
    if unknown:
        raise ConfigError(f"{name} must be of {_listed(tuple(sorted(allowed)))} or {_ALL!r}, "
                          f"not {_listed(tuple(sorted(unknown, key=str)))}")
    return allowed if _ALL in found else frozenset(found)


def _lanes(value: object, built: frozenset[str]) -> frozenset[str]:
    """Texts 'operation:lanes' from a mapping or from such texts, without operations on all lanes."""
    if isinstance(value, Mapping):
        value = [f"{operation}:{lanes}" for operation, lanes in value.items()]
    elif isinstance(value, str):
        value = _parts(value)
    if not isinstance(value, Iterable):
        raise ConfigError(f"float_lanes must be lanes of operations, as {{'fdiv': 1}} or 'fdiv:1', not {value!r}")
    found: dict[str, int] = {}
    for item in value:
        operation, _, lanes = str(item).partition(":")
        if operation not in built:
            raise ConfigError(f"float_lanes must be of operations in float_ops, which are "
                              f"{_listed(tuple(sorted(built))) or 'none (choose some, or all)'}, not {operation!r}")
        if lanes not in map(str, _FLOAT_LANES):
            raise ConfigError(f"float_lanes must give {operation!r} lanes of {_listed(_FLOAT_LANES)}, not {lanes!r}")
        if found.setdefault(operation, int(lanes)) != int(lanes):
            raise ConfigError(f"float_lanes must give {operation!r} one number of lanes, not {found[operation]} and "
                              f"{lanes}")
    return frozenset(f"{operation}:{lanes}" for operation, lanes in found.items() if lanes != PE_COUNT)


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, values))


@dataclass(frozen=True, kw_only=True)
class Config:
    """Parameters of one FGPU. Raises :class:`~fgpu.errors.ConfigError` when built with impossible ones.

    The names follow table 3.2 of the dissertation; ``replace(**changes)`` derives a new configuration.
    """

    compute_units: int = 1
    """Compute units: 1, 2, 4, 8."""
    axi_ports: int = 1
    """AXI4 data ports: 1, 2, 4. Each has one slice of the cache, or several."""
    axi_data_width: int = 64
    """Bits of an AXI4 data beat: 32, 64."""
    sub_integer_stores: bool = True
    """Build ``sb`` and ``sh``; without them they are illegal instructions."""
    cram_size: int = 16
    """KiB of code RAM: 1, 2, 4, 8, 16, 32, 64 (256 instructions a KiB)."""
    atomics: frozenset[str] = frozenset()
    """Atomic operations in hardware, of :data:`ATOMICS`, or 'all'.

    Any collection of names becomes a frozenset.
    """
    float_ops: frozenset[str] = frozenset()
    """Floating-point operations in hardware, of :data:`FLOAT_OPS`, or 'all'.

    Any collection of names becomes a frozenset.
    """
    float_subnormals: bool = True
    """Hardware's floats go down to subnormals; without, those are zeros of the same sign, as operands and results."""
    float_lanes: frozenset[str] = frozenset()
    """Lanes that have a floating-point operation, 1, 2, 4 or 8, as 'fdiv:1'; 8 where none are given. On fewer lanes
    a wavefront's results take as many cycles more.

    A mapping, as ``{"fdiv": 1}``, becomes a frozenset of texts.
    """
    scratchpad_size: int = 32
    """KiB of scratchpad a compute unit: 0, 8, 16, 32; 32 gives each work-item 16 words."""
    scratchpad_check: bool = False
    """Stop a kernel that leaves its work-items' regions of the scratchpad; costs an adder a PE."""
    local_memory: int = 0
    """KiB of local memory a compute unit: 0, 8, 16, 32, 64. With 0, compiled programs keep it in global memory."""
    cu_stations: int = 64
    """Row accesses that a compute unit's memory controller keeps in flight: 16, 24 .. 64."""
    cache_size: int = 0
    """KiB of the central cache, all slices together: 4, 8, 16, 32, 64, 128. 0: 16 for each slice."""
    cache_slices: int = 0
    """Parts of the cache that work at the same time, each on lines of its own: 1, 2, 4, 8; as many on each AXI port.
    0: one for each port, but with 8 compute units at least four."""
    address_hash: str = "xor"
    """How lines choose slices and sets: 'xor', by sums of address bits, so that those a power of two apart do not
    meet in one; 'identity', by the lowest bits."""
    cache_line: int = 128
    """Bytes of a cache line, and of an AXI read burst: 64, 128."""
    cache_banks: int = 8
    """32-bit words that the cache reads or writes in one cycle (a *row*): 1, 2, 4, 8."""
    cache_ways: int = 2
    """Associativity of the cache: 1 (direct-mapped), 2, 4."""
    global_stations: int = 64
    """Requests that a slice of the cache holds while the tags run ahead of the data: 32, 64."""
    tag_managers: int = 0
    """Cache lines that a slice of the cache has on their way from memory, at most: 1, 2, 4, 8, 16. 0: four; from four
    compute units on at least eight for each AXI port."""
    cache_conscious: bool = True
    """Load for one wavefront at a time while wavefronts take each other's lines out of the cache."""
    link_stack_depth: int = 16
    """Entries of a wavefront's link and enable stacks: 8, 16, 32. Divergence needs 6, each nested call 1."""
    divergence: str = "stack"
    """How diverged work-items part and meet: a scheme of :data:`DIVERGENCE`."""
    statistics: bool = False
    """Add the ``probe`` ports from which simulators count events; never changes timing."""

    def __post_init__(self) -> None:
        _one_of(self, "compute_units", (1, 2, 4, 8))
        _one_of(self, "axi_ports", (1, 2, 4))
        _one_of(self, "axi_data_width", (32, 64))
        _one_of(self, "sub_integer_stores", (False, True))
        _one_of(self, "float_subnormals", (False, True))
        _one_of(self, "cram_size", (1, 2, 4, 8, 16, 32, 64))
        _one_of(self, "scratchpad_size", (0, 8, 16, 32))
        _one_of(self, "scratchpad_check", (False, True))
        _one_of(self, "local_memory", (0, 8, 16, 32, 64))
        _one_of(self, "cu_stations", tuple(range(16, 72, 8)))
        _one_of(self, "cache_size", (0, 4, 8, 16, 32, 64, 128))
        _one_of(self, "cache_slices", (0, 1, 2, 4, 8))
        _one_of(self, "address_hash", ("xor", "identity"))
        _one_of(self, "cache_line", (64, 128))
        _one_of(self, "cache_banks", (1, 2, 4, 8))
        _one_of(self, "cache_ways", (1, 2, 4))
        _one_of(self, "global_stations", (32, 64))
        _one_of(self, "tag_managers", (0, 1, 2, 4, 8, 16))
        _one_of(self, "cache_conscious", (False, True))
        _one_of(self, "link_stack_depth", (8, 16, 32))
        _one_of(self, "divergence", DIVERGENCE)
        _one_of(self, "statistics", (False, True))
        for name, allowed in (("atomics", ATOMICS), ("float_ops", FLOAT_OPS)):
            object.__setattr__(self, name, _operations(name, getattr(self, name), allowed))
        object.__setattr__(self, "float_lanes", _lanes(self.float_lanes, self.float_ops))
        if "cmpxchg" in self.atomics and self.cache_banks < 2:
            raise ConfigError("atomics with 'cmpxchg' need cache_banks of 2, 4, 8, not "
                              f"{self.cache_banks!r}: a request carries two words")

        if self.cache_slices % self.axi_ports:
            raise ConfigError(f"cache_slices must be a multiple of axi_ports={self.axi_ports}, "
                              f"not {self.cache_slices}")
        most = AXI_IDS // self.port_slices // 2
        if self.slice_tag_managers > most:
            raise ConfigError(f"tag_managers must be at most {most} with {self.port_slices} slices of the cache on "
                              f"an AXI port, which has ids for {AXI_IDS} lines on their way in both directions, "
                              f"not {self.tag_managers}")

        if self.cache_sets < _SETS_MIN:
            least = _SETS_MIN * self.cache_ways * self.slices * self.cache_line // _KIB
            name = f"cache_slices={self.slices}" if self.cache_slices else f"axi_ports={self.axi_ports}"
            raise ConfigError(f"cache_size must be at least {least} with {name}, "
                              f"cache_ways={self.cache_ways} and cache_line={self.cache_line}, not {self.cache_size}")

    def lacks(self, instruction: Instruction) -> str | None:
        """What this configuration lacks to execute an instruction, and the parameter that adds it; None if nothing.

        Decoder, functional engine, compiler and checks of programs all ask here.
        """
        if instruction.opcode is Opcode.MEET:
            return None if self.divergence in ANNOTATED else "places to meet (divergence='ipdom')"
        if instruction.unit is Unit.FLOAT and instruction.mnemonic not in self.float_ops:
            return f"floating point in hardware (float_ops={{'{instruction.mnemonic}'}})"
        if instruction.space is Space.LOCAL:
            return None if self.local_memory else "local memory (local_memory=32)"
        if instruction.atomic is not None and instruction.atomic not in self.atomics:
            return f"atomics in hardware (atomics={{'{instruction.atomic}'}})"
        if instruction.is_store and instruction.scale < 2 and not self.sub_integer_stores:
            return "stores of 8 and 16 bits (sub_integer_stores=True)"
        if instruction.space is Space.SCRATCHPAD and not self.scratchpad_words:
            return "a scratchpad (scratchpad_size=32)"
        return None

    # -- derived numbers ------------------------------------------------------------------------

    @cached_property
    def narrow_floats(self) -> dict[str, int]:
        """The floating-point operations that fewer than all lanes have, and how many have them."""
        pairs = (text.split(":") for text in sorted(self.float_lanes))
        return {operation: int(lanes) for operation, lanes in pairs}

    @property
    def cram_words(self) -> int:
        """Instructions that fit in the code RAM."""
        return self.cram_size * _KIB // 4

    @property
    def scratchpad_words(self) -> int:
        """Scratchpad words of one work-item (a power of two, or 0)."""
        return self.scratchpad_size * _KIB // 4 // (WAVEFRONTS * WAVEFRONT_SIZE)

    @property
    def pc_bits(self) -> int:
        """Bits of an instruction address (a word index)."""
        return _log2(self.cram_words)

    @property
    def line_words(self) -> int:
        """32-bit words of a cache line."""
        return self.cache_line // 4

    @property
    def line_rows(self) -> int:
        """Rows of a cache line; a row is what the cache reads or writes in one cycle."""
        return self.line_words // self.cache_banks

    @property
    def row_words(self) -> int:
        """32-bit words of a row."""
        return self.cache_banks

    @property
    def line_offset_bits(self) -> int:
        """Bits of a byte offset in a cache line."""
        return _log2(self.cache_line)

    @property
    def line_address_bits(self) -> int:
        """Bits of a line address: a byte address without its offset in the line."""
        return 32 - self.line_offset_bits

    @property
    def cache_lines(self) -> int:
        """Lines of the cache."""
        return self.cache_kib * _KIB // self.cache_line

    @property
    def slices(self) -> int:
        """Slices of the cache."""
        return self.cache_slices or max(self.axi_ports, self.compute_units // 8 * _SLICES_OF_MANY_UNITS)

    @property
    def cache_kib(self) -> int:
        """KiB of the cache."""
        return self.cache_size or _SLICE_KIB * self.slices

    @property
    def slice_bits(self) -> int:
        """Bits of the number of a cache slice; the lower ones are the number of its AXI port."""
        return _log2(self.slices)

    @property
    def port_slices(self) -> int:
        """Cache slices that share an AXI port."""
        return self.slices // self.axi_ports

    @property
    def slice_lines(self) -> int:
        """Lines of a cache slice."""
        return self.cache_lines // self.slices

    @property
    def cache_sets(self) -> int:
        """Sets of a cache slice: each has ``cache_ways`` places for lines."""
        return self.slice_lines // self.cache_ways

    @property
    def slice_tag_managers(self) -> int:
        """Tag managers of a cache slice."""
        if self.tag_managers or self.has_few_units:
            return self.tag_managers or _SLICE_TAG_MANAGERS
        return max(_SLICE_TAG_MANAGERS, _PORT_TAG_MANAGERS // self.port_slices)

    @property
    def has_few_units(self) -> bool:
        """One or two compute units: less waits in their cache, and less long."""
        return self.compute_units <= _FEW_UNITS

    @property
    def slice_write_rows(self) -> int:
        """Rows of stores that wait in a cache slice for its data stage."""
        return (_ROWS_OF_FEW_UNITS if self.has_few_units else self.global_stations) - 1

    @property
    def slice_retirements(self) -> int:
        """Tag managers of a cache slice beside those, which look after early write-backs only."""
        few = self.slice_tag_managers < _MANY_TAG_MANAGERS
        return min(_RETIREMENTS if few else 2 * _RETIREMENTS, AXI_IDS // self.port_slices // 2)

    @property
    def axi_words(self) -> int:
        """32-bit words of an AXI beat."""
        return self.axi_data_width // 32

    @property
    def burst_beats(self) -> int:
        """Beats of an AXI burst (one cache line)."""
        return self.line_words // self.axi_words

    @property
    def wake_cycles(self) -> int:
        """Cycles after a reset until registers and cache are clear; a kernel that is started before waits for that.

        Whole turns of all that turns by itself (issue slots, the wavefronts' line), so that simulators which wait for
        so long count the same cycles as if there were nothing to wait for.
        """
        longest = max(BANK_WORDS, self.slice_lines * self.line_rows) + _WAKE_MARGIN
        return -(-longest // _WAKE_UNIT) * _WAKE_UNIT

    @cached_property
    def key(self) -> str:
        """A short text that is equal exactly for equal configurations; fit for a file name."""
        values = (getattr(self, field.name) for field in fields(self))
        return "-".join(v if isinstance(v, str) else "+".join(sorted(v)) if isinstance(v, frozenset) else str(int(v))
                        for v in values)

    @classmethod
    def from_key(cls, key: str) -> "Config":
        """The configuration that has this :attr:`key`. Raises ``ValueError`` for texts of other versions."""
        values, defaults = key.split("-"), cls()
        if len(values) != len(fields(cls)):
            raise ValueError(f"{len(values)} parameters instead of {len(fields(cls))}")
        given: dict[str, Any] = {}
        for field, text in zip(fields(cls), values, strict=True):
            default = getattr(defaults, field.name)
            given[field.name] = (text if isinstance(default, str) else
                                 frozenset(text.split("+")) - {""} if isinstance(default, frozenset) else
                                 type(default)(int(text)))
        return cls(**given)

    def replace(self, **changes: Any) -> "Config":
        """A copy with some parameters changed, validated again."""
        return replace(self, **changes)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "Config":
        """A named preset of :data:`PRESETS`, with optional changes."""
        if name not in PRESETS:
            raise ConfigError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}")
        return PRESETS[name].replace(**changes)


PRESETS: dict[str, Config] = {
    "tiny": Config(cram_size=4, scratchpad_size=0, cache_size=4, cache_banks=4, cache_ways=1, cu_stations=16,
                   global_stations=32, tag_managers=2, cache_conscious=False),
    "basic": Config(),
    "full": Config(compute_units=8, atomics=ATOMICS),
    "float": Config(float_ops=FLOAT_OPS),
    "float-small": Config(float_ops=FLOAT_OPS, float_lanes=frozenset({
        "fdiv:1", "fsqrt:1", "fptosi:2", "fptoui:2", "itofp:2", "uitofp:2"})),
    "reference": Config(cache_banks=4, cache_ways=1, cu_stations=32, tag_managers=2, address_hash="identity",
                        cache_conscious=False),
}
"""tiny: the smallest core; basic: the default; full: 8 CUs and all atomics; float: the default with all
floating-point units; float-small: those that are rarely used on fewer lanes; reference: the parameters with which the
reference design was measured on one compute unit."""
