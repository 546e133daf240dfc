"""Out of SSA form: phis and tied operands become moves, of which the register allocator removes most."""

from fgpu.isa import Opcode

from ..ir.module import Location
from .liveness import live_out
from .mir import ARGUMENTS, FRAME_POINTER, ZERO, MachineFunction, Op, Pseudo

__all__ = ["leave_ssa"]

_OPPOSITE = {Opcode.MOVN: Opcode.MOVZ, Opcode.MOVZ: Opcode.MOVN}


def leave_ssa(function: MachineFunction) -> None:
    """Remove the phis of ``function`` and give every tied operation one register to read and write."""
    _choose_tied_operands(function)
    for block in list(function.blocks.values()):
        arrivals = []
        for phi in block.phis:
            # A register of its own for the passage: neither the order of the moves nor what else
            # reads the sources then matters, and a branch to elsewhere finds nothing overwritten.
            passage = function.new_register()
            for name, source in phi.sources.items():
                function.blocks[name].ops.append(_move(passage, source, phi.location))
            arrivals.append(_move(phi.dst, passage, phi.location))
        block.phis = []
        block.ops[:0] = arrivals
    second = {op.rs: op.dst for block in function.blocks.values() for op in block.ops if op.opcode is Pseudo.SECOND}
    for block in function.blocks.values():
        ops: list[Op] = []
        for op in block.ops:
            if op.is_tied:
                assert op.dst is not None
                ops.append(_move(op.dst, op.rd, op.location))
                op.rd = op.dst
            if op.opcode is Pseudo.CALL:
                _pass_values(op, second.get(op.dst or ZERO), ops)
            elif op.opcode is Pseudo.RESULT:
                results = list(zip(ARGUMENTS, (op.rs, op.rt)[:op.imm], strict=False))
                ops += [_move(register, source, op.location) for register, source in results]
                rs, rt = [*(register for register, _ in results), ZERO, ZERO][:2]
                ops.append(Op(Pseudo.RESULT, rs=rs, rt=rt))
            elif op.opcode not in (Pseudo.SECOND, Pseudo.FENCE):
                ops.append(op)
        block.ops = ops


def _pass_values(call: Op, second: int | None, ops: list[Op]) -> None:
    """A call reads and writes the registers that its routine does."""
    assert call.callee is not None
    registers = ARGUMENTS[:len(call.arguments)] if not call.callee.frame \
        else (*ARGUMENTS[:len(call.arguments) - 1], FRAME_POINTER)
    ops += [_move(register, source, call.location)
            for register, source in zip(registers, call.arguments, strict=True)]
    ops.append(Op(Pseudo.CALL, ARGUMENTS[0], imm=call.imm, callee=call.callee, arguments=registers,
                  location=call.location))
    if second is not None:
        ops.append(_move(second, ARGUMENTS[1], call.location))
    if call.dst is not None:
        ops.append(_move(call.dst, ARGUMENTS[0], call.location))


def _move(dst: int, source: int, location: Location | None) -> Op:
    return Op(Pseudo.MOVE, dst, source, location=location) if source else Op(Pseudo.CONST, dst, location=location)


def _choose_tied_operands(function: MachineFunction) -> None:
    """Let a conditional move overwrite the operand that nobody needs any more, by inverting its condition."""
    out = live_out(function)
    carried = {phi.dst for block in function.blocks.values() for phi in block.phis}
    for name, block in function.blocks.items():
        live = set(out[name])
        for op in reversed([*block.reading()]):
            live.discard(op.dst if op.dst is not None else ZERO)
            if op.opcode in _OPPOSITE and _worth(op.rs, op, live, carried) > _worth(op.rd, op, live, carried):
                op.opcode = _OPPOSITE[op.opcode]
                op.rs, op.rd = op.rd, op.rs
            live.update(op.uses)


def _worth(register: int, op: Op, live: set[int], carried: set[int]) -> int:
    if register == ZERO or register in live or register == op.rt:
        return 0
    return 2 + (register in carried)
