"""The control interface as a list, for descriptions of it in other languages: IP-XACT, C, PYNQ's hand-off."""

from dataclasses import dataclass
from typing import Any, Final

from amaranth.lib import data

from .address_map import (
    CODE_BASE,
    CRAM_BASE,
    CRAM_WINDOW_WORDS,
    LRAM_BASE,
    LRAM_WORDS,
    READABLE,
    WRITABLE,
    ControlRegister,
    Interrupts,
    control_address_bits,
    register_address,
)
from .config import Config
from .fault import Fault

__all__ = ["Field", "Words", "control_bytes", "control_words"]


@dataclass(frozen=True)
class Field:
    """Some bits of a word."""

    name: str
    offset: int
    width: int


@dataclass(frozen=True)
class Words:
    """A register, or a memory of several words."""

    name: str
    address: int
    """Of its first byte."""
    count: int
    readable: bool
    writable: bool
    what: str
    fields: tuple[Field, ...] = ()

    @property
    def access(self) -> str:
        """As IP-XACT calls it."""
        return "read-write" if self.readable and self.writable else "read-only" if self.readable else "write-only"


_REGISTERS: Final[dict[ControlRegister, str]] = {
    ControlRegister.STATUS: "bit i rises when the kernel of slot i has finished",
    ControlRegister.START: "bit i starts the kernel of slot i and clears its status bit",
    ControlRegister.CLEAN_CACHE: "bit i: the cache is written back before the kernel of slot i counts as finished",
    ControlRegister.INITIALIZE: "bit i: the local ids are computed anew for the kernel of slot i",
    ControlRegister.FAULT: "why a kernel was stopped, or 0; any write clears it",
    ControlRegister.ABORT: "bit i stops the kernel of slot i",
    ControlRegister.INTERRUPT_ENABLE: "the interrupts for which irq is high",
    ControlRegister.INTERRUPT_STATUS: "the interrupts that have happened; a write clears the bits that are 1 in it",
}


def _fields(layout: Any) -> tuple[Field, ...]:
    return tuple(Field(name, field.offset, field.width) for name, field in data.Layout.cast(layout)
                 if not name.startswith("_"))


def _register_fields(register: ControlRegister) -> tuple[Field, ...]:
    if register is ControlRegister.FAULT:
        return _fields(Fault)
    if register in (ControlRegister.INTERRUPT_ENABLE, ControlRegister.INTERRUPT_STATUS):
        return tuple(Field(str(each.name).lower(), each.value.bit_length() - 1, 1) for each in Interrupts)
    return ()


def control_bytes(config: Config) -> int:
    """Bytes of the control interface's addresses."""
    return 1 << control_address_bits(config.cram_words)


def control_words(config: Config) -> list[Words]:
    """All that the host can reach (``docs/control-interface.md``), in the order of the addresses."""
    window = min(config.cram_words, CRAM_WINDOW_WORDS)
    found = [
        Words("LRAM", LRAM_BASE, LRAM_WORDS, True, True, "kernel descriptors, 32 words each"),
        Words("CRAM", CRAM_BASE, window, True, True, "instructions"),
        *(Words(each.name, register_address(each), 1, each in READABLE, each in WRITABLE, _REGISTERS[each],
                _register_fields(each)) for each in ControlRegister),
    ]
    if config.cram_words > window:
        found.append(Words("CODE", CODE_BASE, config.cram_words, True, True, "all instructions"))
    return found
