"""Verilog of a whole FGPU, with the port names that board designs and test benches expect."""

import os
from collections.abc import Callable
from pathlib import Path

from amaranth.back import rtlil, verilog
from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from .config import Config
from .errors import ConfigError, ToolError

__all__ = ["ports", "to_verilog", "write_verilog"]

# What Yosys' Verilog writer does everywhere, by design: it leaves extension and truncation to the language's
# rules, gives registers an initial value and an assignment, and declares every signal of the source. Warnings
# that can mean a fault (latches, several drivers, loops, undriven or unconnected signals) stay on.
_STYLE = ["CASEOVERLAP", "DECLFILENAME", "PROCASSINIT", "UNUSEDSIGNAL", "WIDTHEXPAND", "WIDTHTRUNC"]
_INTERNAL_ATTRIBUTES = ["generator", "top", "src", "init", "amaranth.hierarchy", "amaranth.decoding"]

Factory = Callable[[Config], wiring.Component]


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
    """A component whose ports are all signals: fields of structures get signals of their own."""

    def __init__(self, component: wiring.Component) -> None:
        self.component = component
        self.ports: dict[str, tuple[Signal, PortDirection]] = {}
        self._fields: list[tuple[Signal, Value]] = []
        for name, (value, direction) in ports(component).items():
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


def _core(config: Config) -> wiring.Component:
    # The whole core takes long to import, and most who import this module bring their own.
    from .core import FGPU

    component: wiring.Component = FGPU(config)
    return component


def to_verilog(config: Config, *, name: str = "fgpu", core: Factory = _core) -> str:
    """The text of one self-contained Verilog file with ``name`` as its top module.

    ``core`` builds the component; it is another than the FGPU only in tests.
    """
    component = core(config)
    top: Elaboratable = component
    flat = ports(component)
    if not all(isinstance(value, Signal) for value, _ in flat.values()):
        top = _Top(component)
        flat = top.ports
    pragmas = "".join(f"/* verilator lint_off {style} */\n" for style in _STYLE)
    # Source locations would name paths of this machine, and triple the size of the text.
    return pragmas + _write(rtlil.convert(top, name=name, ports=flat, emit_src=False))


def _write(text: str) -> str:
    """Verilog of RTLIL, without the ``always @*`` of :mod:`amaranth.back.verilog`.

    Where such a block only assigns constants, a simulator that follows the standard never runs it:
    Verilator reads zeros there (YosysHQ/yosys#2271). As multiplexers and assignments there are none.
    """
    remove = " ".join(f"-remove {name}" for name in _INTERNAL_ATTRIBUTES)
    script = [
        f"read_rtlil <<rtlil\n{text}\nrtlil", "proc -norom", "opt_expr -fine", "memory_collect", "opt_clean",
        f"attrmap {remove}", f"attrmap -modattr {remove}", "write_verilog -norename",
    ]
    try:
        yosys = verilog.find_yosys(lambda found: found >= (0, 40))
        result: str = yosys.run(["-q", "-"], "\n".join(script), ignore_warnings=True)
    except verilog.YosysError as error:
        raise ToolError(f"Yosys cannot write the Verilog: {error}") from error
    return result


def write_verilog(config: Config, path: Path | str, *, name: str = "fgpu", core: Factory = _core) -> Path:
    """Write the Verilog of an FGPU to ``path``, whole or not at all."""
    path = Path(path)
    if not name.isidentifier() or not name.isascii():
        raise ConfigError(f"{name!r} is no name for a Verilog module")
    text = to_verilog(config, name=name, core=core)
    partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            partial.write_text(text, encoding="ascii")
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
    return path
