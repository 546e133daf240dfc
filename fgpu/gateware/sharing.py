"""Modules that are written once and instantiated wherever the design has them."""

import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Elaboratable, Instance, Module, ResetSignal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

__all__ = ["add_shared", "convert"]


class _ModuleLibrary:
    """The platform of a conversion: the signatures of what became modules of their own, by name."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._signatures: dict[str, wiring.Signature] = {}
        self._unwritten: deque[tuple[str, wiring.Component]] = deque()

    def instance(self, name: str, make: Callable[[], wiring.Component], path: str) -> tuple[Any, Instance]:
        """An interface like that of the component, and the instance to which it leads."""
        if name not in self._signatures:
            component = make()
            self._signatures[name] = component.signature
            self._unwritten.append((name, component))
        signature = self._signatures[name]
        interface = signature.create(path=(path,))
        # Named as rtlil.convert names them.
        ports = {
            f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, place))}": Value.cast(value)
            for place, member, value in signature.flatten(interface)
        }
        return interface, Instance(self._full(name), i_clk=ClockSignal(), i_rst=ResetSignal(), **ports)

    def modules(self) -> Iterator[str]:
        """RTLIL of the modules; writing one may bring others."""
        while self._unwritten:
            name, component = self._unwritten.popleft()
            text = rtlil.convert(component, name=self._full(name), platform=self, emit_src=False)
            yield text.replace("attribute \\top 1\n", "", 1)

    def _full(self, name: str) -> str:
        return f"{self._prefix}.{name}"


def add_shared(m: Module, instance: str, platform: object, name: str, make: Callable[[], wiring.Component]) -> Any:
    """Add a component to ``m`` as submodule ``instance``; the component, or an interface like it.

    Where a design is written out by :func:`convert`, all submodules of the same ``name`` are instances of one module,
    that of the component which ``make`` returned first: those of one name must be alike, clocked, and nothing but
    their ports may be touched. So a core of eight compute units takes hardly longer to write, to read and to compile
    than one of a single unit. Elsewhere, as in Amaranth's simulator, each is a component of its own.
    """
    if isinstance(platform, _ModuleLibrary):
        interface, m.submodules[instance] = platform.instance(name, make, instance)
        return interface
    component = make()
    m.submodules[instance] = component
    return component


def convert(top: Elaboratable, name: str, ports: Any = None) -> str:
    """RTLIL of a design, without source locations; the names of all its modules begin with ``name``."""
    library = _ModuleLibrary(name)
    with _no_garbage_collection():
        text: str = rtlil.convert(top, name=name, platform=library, ports=ports, emit_src=False)
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
