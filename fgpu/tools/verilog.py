"""Verilog of a whole FGPU, with the port names that board designs and test benches expect."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from ..config import Config
from ..errors import ConfigError, ToolError
from ..files import write_atomically
from ..gateware.sharing import convert
from ..probe import OBSERVED
from .interfaces import interface_attributes
from .yosys import run_yosys

__all__ = ["COMPUTE_UNIT", "ports", "to_verilog", "unit_ports", "verilog_text", "write_float_units", "write_verilog"]

_PLAIN_CELLS = ("logic_not", "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "shl", "shr", "shift", "shiftx")
_INTERNAL_ATTRIBUTES = ["generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"]

_INITIAL_VALUE = re.compile(r"^(  reg (?:signed )?(?:\[\d+:\d+\] )?)(\\\S+ |\w+)( = \S+;)$", re.MULTILINE)

Factory = Callable[[Config], wiring.Component]

COMPUTE_UNIT = "cu"
"""The shared module of compute units."""


def ports(component: wiring.Component) -> dict[str, tuple[Value, PortDirection]]:
    """The ports of ``component`` under flat names, in the order of its signature.

    ``s_axi.awaddr`` becomes ``s_axi_awaddr``, ``m_axi[0].araddr`` becomes ``m0_axi_araddr`` and the field
    ``bucket`` of the structure ``probe[0]`` becomes ``probe0_bucket``. Only values of such fields are not
    signals, so without probes the result can be given to :func:`amaranth.back.verilog.convert`.
    """
    flat: dict[str, tuple[Value, PortDirection]] = {}
    for path, member, value in component.signature.flatten(component):
        direction = PortDirection.Input if member.flow is In else PortDirection.Output
        name = _name(path)
        if isinstance(value, data.View):
            for field, _ in data.Layout.cast(value.shape()):
                flat[f"{name}_{field}"] = Value.cast(value[field]), direction
        else:
            flat[name] = Value.cast(value), direction
    return flat


def _name(path: tuple[str | int, ...]) -> str:
    """``("m_axi", 0, "araddr")`` is ``m0_axi_araddr``: an index belongs behind the first word."""
    words: list[str] = []
    for part in path:
        if isinstance(part, int):
            first, *rest = words[-1].split("_", 1)
            words[-1] = "_".join([f"{first}{part}", *rest]) if words[-1] == "m_axi" else f"{words[-1]}{part}"
        else:
            words.append(part)
    return "_".join(words)


class _Top(Elaboratable):
    """A component whose ``ports`` are all signals: fields of structures get signals of their own."""

    def __init__(self, component: wiring.Component, flat: Mapping[str, tuple[Value, PortDirection]]) -> None:
        self.component = component
        self.ports: dict[str, tuple[Signal, PortDirection]] = {}
        self._fields: list[tuple[Signal, Value]] = []
        for name, (value, direction) in flat.items():
            if not isinstance(value, Signal):
                if direction is PortDirection.Input:
                    raise ValueError(f"input {name} is part of a structure; use plain signals for inputs")
                field = Signal(value.shape(), name=name)
                self._fields.append((field, value))
                value = field
            self.ports[name] = value, direction

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = self.component
        for field, value in self._fields:
            m.d.comb += field.eq(value)
        return m


def unit_ports(unit: wiring.Component) -> dict[str, tuple[Value, PortDirection]]:
    """The ports of a compute unit that is apart, one for each field of what is :data:`~fgpu.probe.OBSERVED`.

    There is one underscore between the parts of a name: Verilator writes two as ``___05F``.
    """
    flat: dict[str, tuple[Value, PortDirection]] = {}
    for path, member, value in unit.signature.flatten(unit):
        direction = PortDirection.Input if member.flow is In else PortDirection.Output
        if path[0] in OBSERVED:
            flat |= {f"{path[0]}_{field}": (Value.cast(value[field]), direction)
                     for field, _ in data.Layout.cast(value.shape())}
        else:
            flat["_".join(map(str, path))] = Value.cast(value), direction
    return flat


def _unit(component: wiring.Component) -> tuple[Elaboratable, dict[str, tuple[Signal, PortDirection]]]:
    top = _Top(component, unit_ports(component))
    return top, top.ports


def _core(config: Config) -> wiring.Component:
    # The whole core takes long to import, and most who import this module bring their own.
    from ..core import FGPU

    component: wiring.Component = FGPU(config)
    return component


def to_verilog(config: Config, *, name: str = "fgpu", core: Factory = _core, initial: bool = True,
               apart: bool = False, gated: bool = False) -> str:
    """The text of one self-contained Verilog file with ``name`` as its top module.

    ``core`` builds the component; it is another than the FGPU only in tests. ``initial``: see :func:`verilog_text`.
    ``apart``: compute units are not in it; a module ``<name>.cu`` with :func:`unit_ports` stands beside it. The top
    has ports for them, ``cu0_requests_valid`` and so on, and does not hand out what of them is
    :data:`~fgpu.probe.OBSERVED`. ``gated``: for a simulator only; what is at rest has no clock
    (:func:`~fgpu.gateware.sharing.add_shared`).
    """
    component = core(config)
    top: Elaboratable = component
    flat = ports(component)
    if apart:
        observed = re.compile(rf"({'|'.join(OBSERVED)})\d+_")
        flat = {name: port for name, port in flat.items() if not observed.match(name)}
    if not all(isinstance(value, Signal) for value, _ in flat.values()):
        top = _Top(component, flat)
        flat = top.ports
    attributes = {f"{name}/w:{port}": each for port, each in interface_attributes(["clk", "rst", *flat]).items()}
    # Source locations would name paths of this machine, and triple the size of the text.
    text = convert(top, name, flat, apart={COMPUTE_UNIT: _unit} if apart else {}, gated=gated)
    return verilog_text(text, initial=initial, attributes=attributes)


def verilog_text(text: str, *, initial: bool = True, attributes: Mapping[str, Mapping[str, str]] = {}) -> str:
    """Verilog of RTLIL, in constructs that linters and simulators take as they are.

    There are no ``always @*`` blocks, as :mod:`amaranth.back.verilog` writes them: where one only assigns
    constants, a simulator that follows the standard never runs it (YosysHQ/yosys#2271). Nor are there
    brackets in names, which Yosys' own technology mapping takes for bits.

    Registers and memories have initial values, as they have in FPGAs, unless ``initial`` is false: for simulations in
    which they come up with anything. ``attributes`` are given to what Yosys selects by their keys.
    """
    text = re.sub(r"\\\S+", lambda name: name[0].replace("[", "__").replace("]", ""), text)
    remove = " ".join(f"-remove {name}" for name in [*_INTERNAL_ATTRIBUTES, *([] if initial else ["init"])])
    cells = " ".join(f"t:${cell}" for cell in _PLAIN_CELLS)
    plain = (Path(__file__).parent / "plain.v").read_text(encoding="utf-8")
    script = [
        "read_rtlil design.il", *([] if initial else ["delete t:$meminit_v2"]),
        "proc -norom", "opt_expr -fine", "memory_collect", "opt_clean",
        "pmuxtree", f"techmap -map plain.v {cells}", "opt_clean",
        f"attrmap {remove}", f"attrmap -modattr {remove}",
        *(f'setattr -set {key} "{value}" {what}' for what, each in attributes.items() for key, value in each.items()),
        "write_verilog -norename design.v",
    ]
    written = run_yosys(script, {"design.il": text, "plain.v": plain}, "design.v")
    # Linters warn of initial values in declarations, since they look like those of variables.
    return _INITIAL_VALUE.sub(r"\1\2;\n  initial \2\3", written)


def write_verilog(config: Config, path: Path | str, *, name: str = "fgpu", core: Factory = _core,
                  initial: bool = True, apart: bool = False, gated: bool = False) -> Path:
    """Write :func:`to_verilog` of an FGPU to ``path``, whole or not at all."""
    text = to_verilog(config, name=_checked(name), core=core, initial=initial, apart=apart, gated=gated)
    return _write(text, path)


def _checked(name: str) -> str:
    if not name.isidentifier() or not name.isascii():
        raise ConfigError(f"{name!r} is no name for a Verilog module")
    return name


def _write(text: str, path: Path | str) -> Path:
    path = Path(path)
    try:
        write_atomically(path, text)
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def write_float_units(config: Config, path: Path | str, *, name: str = "floats") -> Path:
    """Write the Verilog of a compute unit's floating-point units by themselves, as module ``name``.

    Its ports are those of the module ``floats`` of each compute unit, whose place it may take: cores that differ only
    in ``float_ops`` and ``float_subnormals`` differ only in that module.
    Raises :class:`~fgpu.errors.ConfigError` if ``config`` has no such units.
    """
    from ..cu.float.units import FloatUnits

    if not config.float_ops:
        raise ConfigError("float_ops is empty: there are no floating-point units to write; choose some, or the "
                          "preset float")
    return _write(verilog_text(convert(FloatUnits(config), _checked(name))), path)
