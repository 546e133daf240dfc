"""Modules that are written once and instantiated wherever the design has them."""

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Fragment,
    Instance,
    Module,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

__all__ = ["Apart", "add_shared", "convert"]

Apart = Callable[[wiring.Component], tuple[Elaboratable, Any]]
"""What is written for a module that is apart, and the ports of that: see :func:`convert`."""


class _ModuleLibrary:
    """The platform of a conversion: the signatures of what became modules of their own, by name."""

    def __init__(self, prefix: str, apart: Mapping[str, Apart], gated: bool) -> None:
        self.gated = gated
        self.open: dict[str, tuple[Value, PortDirection]] = {}
        """Ports that the design needs where instances of what is apart would be."""
        self._prefix = prefix
        self._apart = apart
        self._signatures: dict[str, wiring.Signature] = {}
        self._unwritten: deque[tuple[str, wiring.Component]] = deque()

    def instance(self, name: str, make: Callable[[], wiring.Component], path: str,
                 clock: Value) -> tuple[Any, Elaboratable]:
        """An interface like that of the component, and the instance to which it leads."""
        if name not in self._signatures:
            component = make()
            self._signatures[name] = component.signature
            self._unwritten.append((name, component))
        signature = self._signatures[name]
        interface = signature.create(path=(path,))
        if name in self._apart:
            for place, member, value in signature.flatten(interface):
                direction = PortDirection.Output if member.flow is In else PortDirection.Input
                self.open["_".join(map(str, (path, *place)))] = Value.cast(value), direction
            return interface, Module()
        # Named as rtlil.convert names them.
        ports = {
            f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, place))}": Value.cast(value)
            for place, member, value in signature.flatten(interface)
        }
        return interface, Instance(self._full(name), i_clk=clock, i_rst=ResetSignal(), **ports)

    def modules(self) -> Iterator[str]:
        """RTLIL of the modules; writing one may bring others."""
        while self._unwritten:
            name, component = self._unwritten.popleft()
            top, ports = self._apart[name](component) if name in self._apart else (component, None)
            text = rtlil.convert(top, name=self._full(name), platform=self, ports=ports, emit_src=False)
            yield text.replace("attribute \\top 1\n", "", 1)

    def _full(self, name: str) -> str:
        return f"{self._prefix}.{name}"


def add_shared(m: Module, instance: str, platform: object, name: str, make: Callable[[], wiring.Component], *,
               runs: Callable[[Module], Value] | None = None) -> Any:
    """Add a component to ``m`` as submodule ``instance``; the component, or an interface like it.

    Where a design is written out by :func:`convert`, all submodules of the same ``name`` are instances of one module,
    that of the component which ``make`` returned first: those of one name must be alike, clocked, and nothing but
    their ports may be touched. So a core of eight compute units takes hardly longer to write, to read and to compile
    than one of a single unit. Elsewhere, as in Amaranth's simulator, each is a component of its own.

    ``runs`` adds to ``m`` what is low, by registers alone, while nobody would see it if the component's clock stood
    still. In designs that are gated the clock then does: what is at rest costs a simulator nothing.
    """
    if isinstance(platform, _ModuleLibrary):
        clock = ClockSignal() if runs is None or not platform.gated else _gated_clock(m, instance, runs(m))
        interface, m.submodules[instance] = platform.instance(name, make, instance, clock)
        return interface
    component = make()
    m.submodules[instance] = component
    return component


def _gated_clock(m: Module, name: str, runs: Value) -> Signal:
    """The clock while ``runs`` was high when the clock fell; it has no edge by the end of ``runs`` itself."""
    fall = ClockDomain(f"{name}_fall", clk_edge="neg", reset_less=True, local=True)
    m.domains += fall
    enable = Signal(name=f"{name}_enable")
    clock = Signal(name=f"{name}_clk")
    m.d.comb += [fall.clk.eq(ClockSignal()), clock.eq(ClockSignal() & enable)]
    m.d[fall.name] += enable.eq(runs)
    return clock


def convert(top: Elaboratable, name: str, ports: Any = None, *, apart: Mapping[str, Apart] = {},
            gated: bool = False) -> str:
    """RTLIL of a design, without source locations; the names of all its modules begin with ``name``.

    ``apart`` names shared modules of which there are no instances: in place of ``cu0`` the design, whose ``ports``
    must then be given, has ports ``cu0_requests_valid`` and so on. What the function there returns is written as
    their module, with the ports that it says. ``gated``: see :func:`add_shared`.
    """
    library = _ModuleLibrary(name, apart, gated)
    with _no_garbage_collection():
        # Which ports there are beside those given is known once it is elaborated.
        fragment = Fragment.get(top, library) if apart else top
        text: str = rtlil.convert(fragment, name=name, platform=library, emit_src=False,
                                  ports={**ports, **library.open} if apart else ports)
        return text + "".join(library.modules())


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A netlist is millions of objects that live to its end; looking for garbage among them took half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
