"""Where in the source each instruction of the IR is, those included of which clang does not say."""

from ..ir.cfg import Flow
from ..ir.module import Function, Instruction, Location

__all__ = ["source_locations"]


def source_locations(function: Function, flow: Flow) -> dict[Instruction, Location]:
    """The locations of all instructions of ``function``.

    What has none is where the instruction before it in its block is, or the one after it, or what leads to the block.
    """
    found: dict[Instruction, Location] = {}
    at_ends: dict[str, Location] = {}
    for name in flow.order:
        instructions = function.blocks[name].instructions
        before = at_ends.get(flow.idom.get(name, ""), function.location)
        here = next((i.location for i in instructions if i.location is not None), before)
        for instruction in instructions:
            found[instruction] = here = instruction.location or here
        at_ends[name] = here
    return found
