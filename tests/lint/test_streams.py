"""Streams between units: no ready follows its own valid in the same cycle, and no valid its own ready.

So a unit may wait for its neighbour without the neighbour waiting for it, and no path goes through both in one cycle.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from amaranth.hdl import Fragment, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.board.system import System, SystemParameters
from fgpu.config import ATOMICS, Config
from fgpu.gateware.sharing import convert

from .netlist import Netlist


def units(design: wiring.Component) -> list[wiring.Component]:
    """One component of each class and signature in ``design``, itself too."""
    found: dict[tuple[type, str], wiring.Component] = {}

    def walk(fragment: Any) -> None:
        for origin in fragment.origins or ():
            if isinstance(origin, wiring.Component):
                found.setdefault((type(origin), repr(origin.signature)), origin)
        for subfragment, *_ in fragment.subfragments:
            walk(subfragment)

    walk(Fragment.get(design, None))
    return list(found.values())


def streams(signature: wiring.Signature, path: tuple[str, ...] = ()) -> Iterator[tuple[str, bool]]:
    """The name of each stream, or array of them, and whether the component gives it."""
    for name, member in signature.members.items():
        if not member.is_signature:
            continue
        if isinstance(member.signature, stream.Signature):
            yield "__".join([*path, name]), member.flow is Out
        else:
            for inner, given in streams(member.signature, (*path, name)):
                yield inner, given == (member.flow is Out)


def circles(unit: wiring.Component) -> list[str]:
    """The ways within ``unit`` from a stream's question to its answer, as the names of nets."""
    named = list(streams(unit.signature))
    if not named:
        return []
    ports = {}
    for path, member, value in unit.signature.flatten(unit):
        if isinstance(Value.cast(value), Signal):       # an answer that is constant is not
            direction = PortDirection.Input if member.flow is In else PortDirection.Output
            ports["__".join(map(str, path))] = Value.cast(value), direction
    netlist = Netlist(convert(unit, "unit", ports), "unit", "rtlil")
    found = []
    for name, given in named:
        asks, answers = ("ready", "valid") if given else ("valid", "ready")
        question, answer = (re.compile(rf"({name}(?:__\d+)*)__{end}").fullmatch for end in (asks, answers))
        for (start, end), path in netlist.paths(question, answer).items():
            if start.removesuffix(asks) == end.removesuffix(answers):
                found.append(f"{type(unit).__name__}: {' > '.join(path)}")
    return found


@pytest.mark.ci
@pytest.mark.parametrize("config", [
    Config.preset("tiny"),
    Config(compute_units=2, axi_ports=2, cache_slices=4, local_memory=32, atomics=ATOMICS,
           float_ops=frozenset({"fadd", "fdiv"}))],
    ids=["tiny", "everything"])
def test_no_answer_follows_its_own_question(config: Config) -> None:
    board = System(SystemParameters(clock=50_000_000, memory_bytes=1 << 20, config=config))
    found = [circle for unit in units(board) for circle in circles(unit)]
    assert not found, "\n".join(found)


class Impatient(wiring.Component):
    """Takes where something comes; gives where somebody takes, of an array only."""

    patient: In(stream.Signature(2))
    input: In(stream.Signature(2))
    outputs: Out(stream.Signature(2)).array(2)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = Signal()
        m.d.sync += held.eq(self.patient.valid & self.patient.ready)
        m.d.comb += [
            self.patient.ready.eq(~held & ~self.input.valid),
            self.input.ready.eq(self.input.valid & ~held),
            self.outputs[0].valid.eq(held & self.outputs[1].ready),
            self.outputs[1].valid.eq(held | self.outputs[1].ready),
        ]
        return m


def test_circles_are_found() -> None:
    """A request that waits for that of another stream is none."""
    assert circles(Impatient()) == [
        "Impatient: input__valid > input__ready", "Impatient: outputs__1__ready > outputs__1__valid"]
