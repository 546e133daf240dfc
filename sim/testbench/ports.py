"""The ports of an FGPU as C structures: from the signatures of the core, for every configuration alike.

``PortsOut`` is what the hardware drives in a cycle, ``PortsIn`` what the test bench drives. Members have the names
of the signatures' members, and each is the smallest integer that holds it; those of AXI's address channels are
structures of their own. Engines find the port of a member, and its place, by :func:`leaves`.
"""

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import Array, Structure, c_uint8, c_uint16, c_uint32, c_uint64
from typing import Any, Final, NamedTuple

from amaranth.hdl import Shape
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.address_map import CONTROL_ADDRESS_BITS_MAX
from fgpu.axi.signatures import AXI4LiteSignature, AXI4Signature
from fgpu.cache.log import LineLog
from fgpu.config import KERNEL_SLOTS
from fgpu.cu.log import UnitLog
from fgpu.probe import AccessProbe, ComputeUnitProbe

__all__ = [
    "COMPUTE_UNITS", "EVENTS", "PORTS", "SLICES", "AccessOut", "AxiAddress", "AxiIn", "AxiOut", "Leaf", "LineOut",
    "LiteIn", "LiteOut", "LogOut", "PortsIn", "PortsOut", "ProbeOut", "leaves",
]

PORTS: Final = 4            # most AXI4 ports
COMPUTE_UNITS: Final = 8    # most compute units
SLICES: Final = 8           # most slices of the cache
EVENTS: Final = 128         # most kinds of cache events, of all slices

_INTEGERS: Any = (c_uint8, c_uint16, c_uint32, c_uint64)


def _kind(shape: Any) -> Any:
    """The type of a member: an array if its elements fill integers, else one integer."""
    if isinstance(shape, type) and issubclass(shape, Structure | Array):
        return shape
    if isinstance(shape, data.ArrayLayout):
        width = Shape.cast(shape.elem_shape).width
        if width in (8, 16, 32, 64):
            return _kind(width) * shape.length
    width = Shape.cast(shape).width
    return next(kind for kind in _INTEGERS if width <= 8 * ctypes.sizeof(kind))


def _structure(name: str, text: str, members: Mapping[str, Any]) -> Any:
    """A structure with the largest members first, so that there are no gaps."""
    fields = [(member, _kind(shape)) for member, shape in members.items()]
    fields.sort(key=lambda field: -ctypes.alignment(field[1]))
    return type(name, (Structure,), {"_fields_": fields, "__doc__": text, "__module__": __name__})


def _driven(signature: wiring.Signature, flow: Any) -> dict[str, Any]:
    return {name: member.shape for name, member in signature.members.items() if member.flow is flow}


def _fields(struct: Any) -> dict[str, Any]:
    return {name: field.shape for name, field in data.Layout.cast(struct)}


_AXI, _LITE = AXI4Signature(data_width=64), AXI4LiteSignature(address_width=CONTROL_ADDRESS_BITS_MAX)
_AXI_OUT, _AXI_IN = _driven(_AXI, Out), _driven(_AXI, In)
_ADDRESS = {name[2:]: shape for name, shape in _AXI_OUT.items() if name.startswith("aw")}

AxiAddress: Any = _structure("AxiAddress", "The AW or AR channel of an AXI4 port.", _ADDRESS)
AxiOut: Any = _structure("AxiOut", "What the core drives at an AXI4 port.", {
    "aw": AxiAddress, "ar": AxiAddress,
    **{name: shape for name, shape in _AXI_OUT.items() if name[:2] not in ("aw", "ar")}})
AxiIn: Any = _structure("AxiIn", "What memory drives at an AXI4 port.", _AXI_IN)
# The core has the other side of the control interface.
LiteOut: Any = _structure("LiteOut", "What the core drives at the control interface.", _driven(_LITE, In))
LiteIn: Any = _structure("LiteIn", "What the host drives at the control interface.", _driven(_LITE, Out))
ProbeOut: Any = _structure("ProbeOut", "ComputeUnitProbe of fgpu/probe.py.", _fields(ComputeUnitProbe))
AccessOut: Any = _structure("AccessOut", "AccessProbe of fgpu/probe.py.", _fields(AccessProbe))
LogOut: Any = _structure("LogOut", "UnitLog of fgpu/cu/log.py.", _fields(UnitLog))
LineOut: Any = _structure("LineOut", "LineLog of fgpu/cache/log.py.", _fields(LineLog))
PortsOut: Any = _structure("PortsOut", "What the core drives in one cycle, and a bit for each event of the cache.", {
    "axi": AxiOut * PORTS, "events": data.ArrayLayout(64, EVENTS // 64), "probe": ProbeOut * COMPUTE_UNITS,
    "access": AccessOut * COMPUTE_UNITS, "log": LogOut * COMPUTE_UNITS, "lines": LineOut * SLICES,
    "lite": LiteOut, "kernel_status": KERNEL_SLOTS})
PortsIn: Any = _structure("PortsIn", "What the test bench drives.", {"axi": AxiIn * PORTS, "lite": LiteIn})


class Leaf(NamedTuple):
    """An integer, or an array of integers, in ``PortsOut`` or ``PortsIn``."""

    port: str
    """As :func:`fgpu.tools.verilog.ports` names it; ``events`` is made of several."""
    member: str
    """Where it is, in Python's and C's notation: ``axi[0].ar.addr``."""
    offset: int
    """In bytes."""
    size: int


def leaves(structure: Any) -> Iterator[Leaf]:
    """All leaves of ``PortsOut`` or ``PortsIn``, in the order of their offsets."""
    for member, offset, size in _leaves(structure):
        group, _, rest = member.replace("[", "").replace("]", "").partition(".")
        if group.startswith("axi"):
            port = f"m{group[3:]}_axi_{rest.replace('.', '')}"
        elif group == "lite":
            port = f"s_axi_{rest}"
        else:
            port = f"{group}_{rest}" if rest else group
        yield Leaf(port, member, offset, size)


def _leaves(structure: Any) -> Iterator[tuple[str, int, int]]:
    for name, kind in structure._fields_:
        offset, many = getattr(structure, name).offset, issubclass(kind, Array) and issubclass(kind._type_, Structure)
        element = kind._type_ if many else kind
        for index in range(kind._length_ if many else 1):
            member, at = f"{name}[{index}]" if many else name, offset + index * ctypes.sizeof(element)
            if issubclass(element, Structure):
                yield from ((f"{member}.{inner}", at + more, size) for inner, more, size in _leaves(element))
            else:
                yield member, at, ctypes.sizeof(element)
