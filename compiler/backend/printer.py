"""Machine IR as text.

``%40`` is a virtual register and ``r5`` a physical one. Operands are as in assembly text, but that what an operation
writes stands before it, and the old value of a tied destination comes last. What follows ``;`` says nothing::

    kernel @k scratchpad 2 {
    ^entry:
      %33 = lp 0
      %34 = const 7
      go ^loop
    ^loop:
      %35 = phi ^entry r0, ^loop %36
      %36 = addi %35, 1
      sw %36, %33[%35]
      bne %36, %34, ^loop divergent
      ret
    }
"""

import json
import re
from collections.abc import Iterator

from fgpu.isa import REGISTER_COUNT, Format, by_opcode

from ..assembler.syntax import OPERANDS
from .mir import MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["print_machine_function", "print_op"]

_NAME = re.compile(r"[\w.$]+")


def _name(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


def _register(number: int) -> str:
    return f"r{number}" if number < REGISTER_COUNT else f"%{number}"


def _call(op: Op) -> str:
    assert op.callee is not None
    callee, arguments = op.callee, ", ".join(map(_register, op.arguments))
    words = [f"{op.opcode.value} #{op.imm}({arguments})", *(["pure"] if callee.is_pure else []),
             f"depth {callee.depth}", *([f"scratchpad {callee.scratchpad}"] if callee.scratchpad else []),
             *([f"frame {callee.frame}"] if callee.frame else []),
             *(["clobbers", *map(_register, sorted(callee.clobbers))] if callee.clobbers else [])]
    return " ".join(words)


def _pseudo(op: Op) -> str:
    match op.opcode:
        case Pseudo.CONST:
            return f"const {op.imm}"
        case Pseudo.CALL | Pseudo.JUMP:
            return _call(op)
        case Pseudo.RESULT:
            return f"result {op.imm} {_register(op.rs)}, {_register(op.rt)}"
        case Pseudo.FENCE | Pseudo.FRAME_STEP:
            return op.opcode.value
    return f"{op.opcode.value} {_register(op.rs)}"


def _instruction(op: Op, target: str) -> str:
    row = by_opcode[op.opcode]      # type: ignore[index]
    form = OPERANDS[row.format]
    if op.dst is not None:
        form = form.removeprefix("{rd}").removeprefix(", ") + (", {rd}" if row.reads_rd else "")
    operands = form.format(rd=_register(op.rd), rs=_register(op.rs), rt=_register(op.rt), imm=op.imm, target=target)
    return f"{row.mnemonic} {operands}".rstrip()


def print_op(op: Op, target: str = "") -> str:
    """One operation, without indentation; ``target`` is where a branch goes."""
    text = _pseudo(op) if isinstance(op.opcode, Pseudo) else _instruction(op, target)
    result = "" if op.dst is None else f"{_register(op.dst)} = "
    return f"{result}{text}" + (f"  ; {op.location}" if op.location is not None else "")


def _block(block: MachineBlock) -> Iterator[str]:
    yield f"^{_name(block.name)}:"
    for phi in block.phis:
        sources = ", ".join(f"^{_name(name)} {_register(source)}" for name, source in phi.sources.items())
        yield f"  {_register(phi.dst)} = phi {sources}"
    for op in block.ops:
        yield f"  {print_op(op)}"
    if block.enter is not None:
        yield f"  enter ^{_name(block.enter)}"
    if block.branch is not None and block.target is not None:
        branch = Op(block.branch.opcode, rs=block.branch.rs, rd=block.branch.rd)
        assert by_opcode[branch.opcode].format is Format.RD_RS_TARGET     # type: ignore[index]
        yield f"  {print_op(branch, f'^{_name(block.target)}')}{' divergent' if block.splits else ''}"
    yield "  ret" if block.next is None else f"  go ^{_name(block.next)}"


def print_machine_function(function: MachineFunction) -> str:
    """A function of machine IR as lines of text."""
    words = f" scratchpad {function.private_words}" if function.private_words else ""
    lines = [f"{'kernel' if function.is_kernel else 'function'} @{_name(function.name)}{words} {{"]
    for block in function.blocks.values():
        lines += _block(block)
    return "\n".join([*lines, "}"]) + "\n"
