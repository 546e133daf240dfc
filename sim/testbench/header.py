"""What C++ is told of the structures, numbers and kinds that it shares with Python: ``abi.h`` and ``binding.h``.

Both are written where something is compiled, from what Python uses itself.
"""

import ctypes
import inspect
from collections.abc import Iterable, Iterator, Sequence
from ctypes import Array, Structure
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fgpu.probe import OBSERVED, Bucket

from . import abi, ports

__all__ = ["Split", "abi_header", "binding_header", "enumeration", "structures"]

_LASTING = ("probe_bucket", "probe_states", "probe_pcs")
"""What the test bench looks at in each cycle; at the rest of what is observed of a compute unit only"""
_HAPPENS = ("probe_issue", "probe_local_phase", "probe_local_conflict", "access_valid", "access_starts", "log_valid")
"""while one of these is not 0, or the bucket is ``ISSUE``."""


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
    yield from (f"// {line}" for line in inspect.cleandoc(structure.__doc__ or "").splitlines())
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


@dataclass(frozen=True)
class Split:
    """Compute units that are models of their own, ``Vcu``, beside a ``Vfgpu`` that has ports for them."""

    units: int
    driven: Sequence[str]
    """Their outputs that the core has as inputs, ``cu0_<name>``."""
    given: Sequence[str]
    """Their inputs."""
    period: int
    """Cycles after which the state of one that does nothing returns."""


def binding_header(widths: dict[str, int], events: Sequence[str], *, trace: bool, split: Split | None = None) -> str:
    """``binding.h``: a class ``Design``; C++ that copies its outputs to ``PortsOut``, and ``PortsIn`` to its inputs.

    ``widths`` are those of the model's ports. ``events`` names the cache's events, one for each slice.
    """
    port = _port if split is None else _port_split
    outputs = [leaf for leaf in ports.leaves(ports.PortsOut) if leaf.port in widths]
    sample = []
    for guard, group in _guarded(outputs):
        copies = [_copied(leaf, port(leaf.port), widths[leaf.port]) for leaf in group]
        sample += [f"if ({port(guard)}) {{", *(f"    {copy}" for copy in copies), "}"] if guard else copies
    bits: list[list[str]] = [[] for _ in range(ports.EVENTS // 64)]
    for event in dict.fromkeys(events):     # the bits of an event are in one of the integers
        word, shift = divmod(events.index(event), 64)
        bits[word].append(f"uint64_t({port(f'cache_probe_{event}')}) << {shift}")
    sample += [f"out.events[{word}] = {' | '.join(some) or '0'};" for word, some in enumerate(bits)]
    drive = [f"{port(leaf.port)} = in.{leaf.member};" for leaf in ports.leaves(ports.PortsIn) if leaf.port in widths]
    return "\n".join([
        "#pragma once", "#include <cstring>", '#include "Vfgpu.h"',
        '#include "verilated_vcd_c.h"' if trace else "", '#include "abi.h"',
        *(['#include "whole.h"', "using Design = fgpu::Whole<Vfgpu>;"] if split is None else _split(split)),
        *_function("inline void sample(const Design &top, fgpu::PortsOut &out)", sample),
        *_function("inline void drive(Design &top, const fgpu::PortsIn &in)", drive), ""])


def _function(head: str, body: Iterable[str]) -> Iterator[str]:
    yield from (f"static {head} {{", *(f"    {line}" for line in body), "}")


def _parts_of(port: str) -> tuple[str, str, str]:
    """Of ``probe0_issue``: ``probe``, ``0`` and, as a compute unit by itself names it, ``probe_issue``."""
    group, _, field = port.partition("_")
    kind = group.rstrip("0123456789")
    return kind, group[len(kind):], f"{kind}_{field}"


def _port(name: str) -> str:
    return f"top.core.{name}"


def _port_split(name: str) -> str:
    kind, number, field = _parts_of(name)
    return f"top.unit({number}).{field}" if kind in OBSERVED else _port(name)


def _split(split: Split) -> Iterator[str]:
    """``Design`` in parts, and the binding that split.h wants."""
    yield from ("#include <type_traits>", '#include "Vcu.h"', '#include "Vcu___024root.h"', '#include "split.h"',
                "struct Binding {", f"static constexpr unsigned UNITS = {split.units};",
                f"static constexpr unsigned PERIOD = {split.period};")

    def each(head: str, line: str, members: Sequence[str], joined: str) -> Iterator[str]:
        cases = [f"case {number}: return {joined.join(line.format(n=number, port=port) for port in members)};"
                 for number in range(split.units)]
        yield from _function(f"bool {head}", ["switch (number) {", *cases, "}", "return false;"])

    yield from each("take(unsigned number, Vfgpu &core, const Vcu &unit)",
                    "fgpu::copy(core.cu{n}_{port}, unit.{port})", split.driven, " | ")
    yield from each("give(unsigned number, const Vfgpu &core, Vcu &unit)",
                    "fgpu::copy(unit.{port}, core.cu{n}_{port})", split.given, " | ")
    yield from each("is_given(unsigned number, const Vfgpu &core, const Vcu &unit)",
                    "fgpu::is_equal(unit.{port}, core.cu{n}_{port})", split.given, " && ")
    yield from ("struct Seen {", *(f"    std::decay_t<decltype(Vcu::{port})> {port};" for port in _LASTING), "};")
    happens = " || ".join([*(f"unit.{port}" for port in _HAPPENS), f"unit.probe_bucket == {Bucket.ISSUE.value}"])
    changes = " | ".join(f"fgpu::copy(seen.{port}, unit.{port})" for port in _LASTING)
    yield from _function("bool see(const Vcu &unit, Seen &seen)", [f"return ({changes}) || {happens};"])
    yield from ("};", "using Design = fgpu::Split<Vfgpu, Vcu, Vcu___024root, Binding>;")


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


def _copied(leaf: ports.Leaf, port: str, width: int) -> str:
    # Wide ports are 32-bit words, in the order in which both sides keep them on little-endian machines.
    if width > 64:
        return f"std::memcpy(out.{leaf.member}, {port}.data(), sizeof out.{leaf.member});"
    return f"out.{leaf.member} = {port};"
