"""Switches become chains of comparisons."""

from ..ir.builder import Builder
from ..ir.module import Block, Function, Instruction, Op
from ..ir.values import BOOL

__all__ = ["expand_switches"]


def expand_switches(function: Function) -> None:
    """Turn every switch into a chain of comparisons."""
    builder = Builder(function)
    for block in list(function.blocks.values()):
        if block.terminator.op is Op.SWITCH:
            _expand_switch(function, block, builder)


def _expand_switch(function: Function, block: Block, builder: Builder) -> None:
    switch = block.instructions.pop()
    builder.start(switch)
    value, *cases = switch.operands
    default, *targets = switch.blocks
    arrivals = {name: function.blocks[name] for name in dict.fromkeys(switch.blocks)}
    sources: dict[str, list[str]] = {name: [] for name in arrivals}
    here = block
    if not cases:
        here.instructions.append(Instruction(Op.BR, blocks=[default], location=switch.location))
        sources[default].append(here.name)
    for number, (case, target) in enumerate(zip(cases, targets, strict=True)):
        last = number == len(cases) - 1
        following = Block(default) if last else Block(builder.name(f"{block.name}.case"))
        builder.made = here.instructions
        test = builder.icmp("eq", value, case, switch.types[0])
        builder.append(Instruction(Op.CONDBR, operands=[test], types=[BOOL], blocks=[target, following.name]))
        sources[target].append(here.name)
        if last:
            sources[default].append(here.name)
        else:
            function.blocks[following.name] = following
        here = following
    for name, arrival in arrivals.items():
        for phi in arrival.phis:
            incoming = [(v, b) for v, b in zip(phi.operands, phi.blocks, strict=True) if b != block.name]
            from_switch = next(v for v, b in zip(phi.operands, phi.blocks, strict=True) if b == block.name)
            incoming += [(from_switch, source) for source in dict.fromkeys(sources[name])]
            phi.operands = [v for v, _ in incoming]
            phi.blocks = [b for _, b in incoming]
            phi.types = [phi.type] * len(incoming)
