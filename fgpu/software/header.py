"""``fgpu_registers.h``: what C programs know of the control interface, written from what the hardware is made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from amaranth.lib import data

from fgpu.address_map import (
    CODE_BASE,
    CRAM_BASE,
    CRAM_WINDOW_WORDS,
    DESCRIPTOR_WORDS,
    LRAM_BASE,
    ControlRegister,
    DescriptorWord,
    EntryWord,
    Interrupts,
    ShapeWord,
    SizeWord,
    register_address,
)
from fgpu.config import DIMENSIONS, KERNEL_SLOTS, PARAMETERS_MAX, WAVEFRONT_SIZE, WORK_GROUP_MAX
from fgpu.fault import Fault, FaultCause

__all__ = ["library_files", "registers_header"]

_HERE: Final = Path(__file__).parent
_LIBRARY: Final = ("libfgpu.h", "libfgpu.c")


def library_files() -> dict[str, str]:
    """The library's files by their names."""
    return {"fgpu_registers.h": registers_header(),
            **{name: (_HERE / name).read_text(encoding="utf-8") for name in _LIBRARY}}


def registers_header() -> str:
    """The text of ``fgpu_registers.h``."""
    defined = [
        "", "/* Byte addresses. */",
        *_numbers({"LRAM_BASE": LRAM_BASE, "CRAM_BASE": CRAM_BASE, "CODE_BASE": CODE_BASE}),
        *_numbers({each.name: register_address(each) for each in ControlRegister}),
        "", "/* Sizes: words of a descriptor, of code at CRAM_BASE (more of it is at CODE_BASE), and so on. */",
        *_numbers({"DESCRIPTOR_WORDS": DESCRIPTOR_WORDS, "CRAM_WINDOW_WORDS": CRAM_WINDOW_WORDS,
                   "SLOTS": KERNEL_SLOTS, "PARAMETERS_MAX": PARAMETERS_MAX, "DIMENSIONS": DIMENSIONS,
                   "WAVEFRONT_SIZE": WAVEFRONT_SIZE, "WORK_GROUP_MAX": WORK_GROUP_MAX}),
        "", "/* Words of a descriptor; those of dimensions 1 and 2 follow. */",
        *_numbers({f"WORD_{each.name}": each.value for each in DescriptorWord}),
        "", "/* Fields of words 0, 7, 11 and of FAULT: lowest bit and width. */",
        *_fields("ENTRY", EntryWord), *_fields("SHAPE", ShapeWord), *_fields("SIZE", SizeWord),
        *_fields("FAULT", Fault),
        "", "/* Why a kernel was stopped: FGPU_FAULT_CAUSE. */",
        *_numbers({f"CAUSE_{each.name}": each.value for each in FaultCause}),
        "", "/* Bits of INTERRUPT_ENABLE and INTERRUPT_STATUS. */",
        *_numbers({f"INTERRUPT_{each.name}": each.value for each in Interrupts}),
    ]
    return "\n".join(["/* Written by fgpu from its address map. */", "#ifndef FGPU_REGISTERS_H",
                      "#define FGPU_REGISTERS_H", *defined, "", "#endif", ""])


def _numbers(values: dict[str, int]) -> Iterator[str]:
    for name, value in values.items():
        yield f"#define FGPU_{name} 0x{value:X}u"


def _fields(word: str, layout: Any) -> Iterator[str]:
    for name, field in data.Layout.cast(layout):
        if not name.startswith("_"):
            element = field.shape
            is_array = isinstance(element, data.ArrayLayout)
            width = data.Layout.cast(element)[0].width if is_array else field.width
            yield f"#define FGPU_{word}_{name.upper()}_AT {field.offset}u"
            yield f"#define FGPU_{word}_{name.upper()}_BITS {width}u"
