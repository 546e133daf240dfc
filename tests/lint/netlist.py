"""A flat netlist of a generated design, and the combinational paths through it: those without a register."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from fgpu.tools.yosys import run_yosys

__all__ = ["Netlist"]

_BITWISE = {"$not", "$and", "$or", "$xor", "$xnor", "$pos", "$buf", "$mux", "$pmux", "$bwmux"}
"""Cells whose output bit n depends on bit n of their inputs (modulo the output's width), and on all of S."""
_WIDE = {
    "$neg", "$add", "$sub", "$mul", "$div", "$mod", "$divfloor", "$modfloor", "$shl", "$shr", "$sshl", "$sshr",
    "$shift", "$shiftx", "$eq", "$ne", "$eqx", "$nex", "$lt", "$le", "$gt", "$ge", "$logic_not", "$logic_and",
    "$logic_or", "$reduce_and", "$reduce_or", "$reduce_xor", "$reduce_xnor", "$reduce_bool", "$macc", "$alu", "$bmux",
    "$demux",
}
_REGISTERS = {"$dff", "$dffe", "$sdff", "$sdffe", "$sdffce"}
_SILENT = {"$memwr", "$memwr_v2", "$meminit", "$meminit_v2", "$scopeinfo", "$print", "$check"}
_INPUTS = {"$memrd", "$memrd_v2"}       # read ports without a clock


class Netlist:
    """Of the module ``top``, with all that is in it; ``language`` as Yosys reads it: ``verilog`` or ``rtlil``.

    Raises ValueError for a cell that nobody has thought of.
    """

    def __init__(self, text: str, top: str, language: str = "verilog") -> None:
        script = [f"read_{language} design", f"hierarchy -check -top {top}", "proc", "flatten", "opt_clean",
                  "write_json design.json"]
        module = json.loads(run_yosys(script, {"design": text}, "design.json"))["modules"][top]
        self._ports: dict[str, Any] = module["ports"]
        self._names: dict[int, str] = {}
        for name, net in module["netnames"].items():
            for place, bit in enumerate(net["bits"]):
                # Of several names the one that people gave.
                if bit not in self._names or (not net["hide_name"] and "$" in self._names[bit]):
                    self._names[bit] = name if len(net["bits"]) == 1 else f"{name}[{place}]"
        self._next: dict[int, list[int]] = defaultdict(list)
        for name, cell in module["cells"].items():
            for source, target in self._arcs(name, cell):
                self._next[source].append(target)

    @staticmethod
    def _arcs(name: str, cell: dict[str, Any]) -> Iterator[tuple[int, int]]:
        """From which bits of its inputs a cell's outputs follow in the same cycle."""
        kind, pins = cell["type"], cell["connections"]
        if kind in _REGISTERS or kind in _SILENT:
            return
        if kind in _INPUTS:
            if int(cell["parameters"]["CLK_ENABLE"], 2):
                return
            yield from ((source, target) for source in pins["ADDR"] for target in pins["DATA"])
        elif kind in _BITWISE:
            out = pins["Y"]
            for pin in ("A", "B"):
                for place, source in enumerate(pins.get(pin, [])):
                    if place < len(out) or kind == "$pmux":
                        yield source, out[place % len(out)]
                # The last bit of a signed operand is all further ones.
                if pin in pins and len(pins[pin]) < len(out):
                    yield from ((pins[pin][-1], target) for target in out[len(pins[pin]):])
            yield from ((source, target) for source in pins.get("S", []) for target in out)
        elif kind in _WIDE:
            yield from ((source, target) for pin, bits in pins.items() if pin != "Y" for source in bits
                        for target in pins["Y"])
        else:
            raise ValueError(f"{name} is a {kind}, of which it is not known what depends on what")

    def paths(self, inputs: Callable[[str], object],
              outputs: Callable[[str], object]) -> dict[tuple[str, str], list[str]]:
        """For each input and output port with a combinational path between: the names of nets along a shortest."""
        ends = {bit: name for name, port in self._ports.items() if port["direction"] == "output" and outputs(name)
                for bit in port["bits"]}
        found: dict[tuple[str, str], list[str]] = {}
        for name, port in self._ports.items():
            if port["direction"] != "input" or not inputs(name):
                continue
            before: dict[int, int | None] = {bit: None for bit in port["bits"] if isinstance(bit, int)}
            queue = deque(before)
            while queue:
                bit = queue.popleft()
                if bit in ends and (name, ends[bit]) not in found:
                    found[name, ends[bit]] = self._named(bit, before)
                for target in self._next[bit]:
                    if target not in before:
                        before[target] = bit
                        queue.append(target)
        return found

    def _named(self, bit: int | None, before: dict[int, int | None]) -> list[str]:
        names: list[str] = []
        while bit is not None:
            names.append(self._names.get(bit, f"net {bit}"))
            bit = before[bit]
        return names[::-1]
