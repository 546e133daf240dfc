"""What C++ is told of the structures, numbers and kinds that it shares with Python: ``abi.h`` and ``binding.h``.

Both are written where something is compiled, from what Python uses itself.
"""

import ctypes
import inspect
from collections.abc import Iterable, Iterator, Sequence
from ctypes import Array, Structure
from enum import Enum
from typing import Any

from . import abi, ports

__all__ = ["abi_header", "binding_header", "enumeration", "structures"]


def abi_header() -> str:
    """``abi.h``: constants, enumerations and structures of :mod:`.abi` and :mod:`.ports`, their layout asserted."""
    constants = {"PORTS": ports.PORTS, "COMPUTE_UNITS": ports.COMPUTE_UNITS, "EVENTS": ports.EVENTS,
                 "SLICES": ports.SLICES, **abi.CONSTANTS}
    lines = [
        "// Written by sim/testbench/header.py.", "#pragma once", "#include <cstddef>", "#include <cstdint>",
        "namespace fgpu {",
        *(f"constexpr unsigned {name} = {value};" for name, value in constants.items()),
        *(enumeration(kind) for kind in abi.ENUMERATIONS),
        *structures([ports.PortsOut, ports.PortsIn, *abi.STRUCTURES]),
    ]
    return "\n".join([*lines, "}", ""])


def enumeration(kind: type[Enum]) -> str:
    """The declaration of an enumeration."""
    return f"enum {kind.__name__} : uint32_t {{ {', '.join(f'{each.name} = {each.value}' for each in kind)} }};"


def structures(kinds: Iterable[Any]) -> Iterator[str]:
    """The declarations of structures and of those that are parts of them; their layout is asserted."""
    seen: set[str] = set()
    for kind in kinds:
        yield from _declared(kind, seen)


def _declared(structure: Any, seen: set[str]) -> Iterator[str]:
    """A structure behind those that are parts of it."""
    if structure.__name__ in seen:
        return
    seen.add(structure.__name__)
    name, members = structure.__name__, []
    for member, kind in structure._fields_:
        element, length = (kind._type_, f"[{kind._length_}]") if issubclass(kind, Array) else (kind, "")
        if issubclass(element, Structure):
            yield from _declared(element, seen)
        members.append(f"    {_c_type(element)} {member}{length};")
    yield from (f"// {line}" for line in inspect.cleandoc(structure.__doc__).splitlines())
    yield from (f"struct {name} {{", *members, "};")
    yield f"static_assert(sizeof({name}) == {ctypes.sizeof(structure)});"
    yield from (f"static_assert(offsetof({name}, {member}) == {getattr(structure, member).offset});"
                for member, _ in structure._fields_)


def _c_type(kind: Any) -> str:
    if issubclass(kind, Structure):
        return str(kind.__name__)
    if kind is ctypes.c_char:
        return "char"
    if kind is ctypes.c_void_p:
        return "uint8_t *"
    return f"{'' if kind is ctypes.c_int32 else 'u'}int{8 * ctypes.sizeof(kind)}_t"


def binding_header(widths: dict[str, int], events: Sequence[str], *, trace: bool) -> str:
    """``binding.h``: C++ that copies Verilator's outputs to ``PortsOut``, and ``PortsIn`` to its inputs.

    ``widths`` are those of the model's ports. ``events`` names the cache's events, one for each slice.
    """
    outputs = [leaf for leaf in ports.leaves(ports.PortsOut) if leaf.port in widths]
    sample = []
    for guard, group in _guarded(outputs):
        copies = [_copied(leaf, widths[leaf.port]) for leaf in group]
        sample += [f"if (top.{guard}) {{", *(f"    {copy}" for copy in copies), "}"] if guard else copies
    bits: list[list[str]] = [[] for _ in range(ports.EVENTS // 64)]
    for event in dict.fromkeys(events):     # the bits of an event are in one of the integers
        word, shift = divmod(events.index(event), 64)
        bits[word].append(f"uint64_t(top.cache_probe_{event}) << {shift}")
    sample += [f"out.events[{word}] = {' | '.join(some) or '0'};" for word, some in enumerate(bits)]
    drive = [f"top.{leaf.port} = in.{leaf.member};" for leaf in ports.leaves(ports.PortsIn) if leaf.port in widths]

    def function(head: str, body: list[str]) -> str:
        return f"static inline void {head} {{\n" + "".join(f"    {line}\n" for line in body) + "}\n"

    return "\n".join([
        "#pragma once", "#include <cstring>", '#include "Vfgpu.h"',
        '#include "verilated_vcd_c.h"' if trace else "", '#include "abi.h"',
        function("sample(Vfgpu &top, fgpu::PortsOut &out)", sample),
        function("drive(Vfgpu &top, const fgpu::PortsIn &in)", drive)])


def _guarded(outputs: Iterable[ports.Leaf]) -> Iterator[tuple[str, list[ports.Leaf]]]:
    """Leaves that need a copy only while a port is not 0, by that port: most cycles have no access."""
    groups: dict[str, list[ports.Leaf]] = {}
    for leaf in outputs:
        unit, _, field = leaf.port.partition("_")
        guard = ""
        if unit.startswith("access") and field not in ("valid", "starts"):
            guard = f"{unit}_starts" if field == "offsets" else f"{unit}_valid"
        if unit.startswith(("log", "lines")) and field != "valid":
            guard = f"{unit}_valid"
        groups.setdefault(guard, []).append(leaf)
    yield from groups.items()


def _copied(leaf: ports.Leaf, width: int) -> str:
    # Wide ports are 32-bit words, in the order in which both sides keep them on little-endian machines.
    if width > 64:
        return f"std::memcpy(out.{leaf.member}, top.{leaf.port}.data(), sizeof out.{leaf.member});"
    return f"out.{leaf.member} = top.{leaf.port};"
