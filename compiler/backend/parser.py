"""Reads the text that :mod:`fgpu.compiler.backend.printer` writes; errors are
:class:`~fgpu.errors.IRSyntaxError` and name the line."""

import json
import re

from fgpu.errors import IRSyntaxError
from fgpu.isa import REGISTER_COUNT, Instruction, Opcode, by_opcode

from ..assembler.syntax import OPERANDS
from .mir import Callee, MachineBlock, MachineFunction, Op, Phi, Pseudo

__all__ = ["parse_machine_function"]

_LABEL = r'\^(?:[\w.$]+|"(?:[^"\\]|\\.)*")'
_REGISTER = r"(?:%|r)\d+"
_HEAD = re.compile(r'(kernel|function) @([\w.$]+|"(?:[^"\\]|\\.)*")(?: scratchpad (\d+))? \{')
_CALL = re.compile(rf"#(?P<number>\d+)\((?P<arguments>[^)]*)\)(?P<pure> pure)? depth (?P<depth>\d+)"
                   rf"(?: scratchpad (?P<scratchpad>\d+))?(?: frame (?P<frame>\d+))?"
                   rf"(?: clobbers(?P<clobbers>(?: {_REGISTER})+))?")
_FIELDS = {**{field: rf"(?P<{field}>{_REGISTER})" for field in ("rd", "rs", "rt")}, "imm": r"(?P<imm>-?\d+)",
           "target": rf"(?P<target>{_LABEL})"}
_PSEUDO = {op.value: op for op in Pseudo}


def _register(text: str) -> int:
    return int(text[1:])


def _label(text: str) -> str:
    name = text.removeprefix("^")
    return str(json.loads(name)) if name.startswith('"') else name


def _matched(pattern: str | re.Pattern[str], text: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(f"{text!r} is not understood")
    return match


def _call(opcode: Pseudo, dst: int | None, text: str) -> Op:
    m = _matched(_CALL, text)
    arguments = tuple(map(_register, filter(None, m["arguments"].split(", "))))
    frame = int(m["frame"] or 0)
    callee = Callee(int(m["number"]), len(arguments) - bool(frame),
                    frozenset(map(_register, (m["clobbers"] or "").split())), m["pure"] is not None,
                    int(m["scratchpad"] or 0), int(m["depth"]), frame)
    return Op(opcode, dst, imm=callee.number, callee=callee, arguments=arguments)


def _pseudo(opcode: Pseudo, dst: int | None, text: str) -> Op:
    match opcode:
        case Pseudo.CONST:
            return Op(opcode, dst, imm=int(_matched(r"-?\d+", text)[0]))
        case Pseudo.CALL | Pseudo.JUMP:
            return _call(opcode, dst, text)
        case Pseudo.RESULT:
            m = _matched(rf"(\d+) ({_REGISTER}), ({_REGISTER})", text)
            return Op(opcode, dst, _register(m[2]), _register(m[3]), imm=int(m[1]))
        case Pseudo.FENCE | Pseudo.FRAME_STEP:
            return Op(opcode, dst)
    return Op(opcode, dst, _register(_matched(_REGISTER, text)[0]))


def _instruction(row: Instruction, dst: int | None, text: str) -> tuple[Op, str]:
    """The operation, and the label to which it branches."""
    form = OPERANDS[row.format]
    if dst is not None:
        form = form.removeprefix("{rd}").removeprefix(", ") + (", {rd}" if row.reads_rd else "")
    escaped = re.escape(form).replace(r"\{", "{").replace(r"\}", "}")
    found = _matched(escaped.format(**_FIELDS), text).groupdict()
    rs, rt, rd = (_register(found.get(field) or "r0") for field in ("rs", "rt", "rd"))
    return Op(row.opcode, dst, rs, rt, rd, int(found.get("imm") or 0)), found.get("target") or ""


def _statement(block: MachineBlock, line: str) -> None:
    target, _, text = line.rpartition(" = ")
    dst = _register(_matched(_REGISTER, target)[0]) if target else None
    word, _, rest = text.partition(" ")
    if word == "phi":
        assert dst is not None
        sources = re.findall(rf"({_LABEL}) ({_REGISTER})", rest)
        block.phis.append(Phi(dst, {_label(name): _register(register) for name, register in sources}))
    elif word in ("go", "ret", "enter"):
        setattr(block, "enter" if word == "enter" else "next", _label(rest) if rest else None)
    elif word in _PSEUDO:
        block.ops.append(_pseudo(_PSEUDO[word], dst, rest))
    elif word.upper() in Opcode.__members__:
        row = by_opcode[Opcode[word.upper()]]
        op, to = _instruction(row, dst, rest.removesuffix(" divergent"))
        if to:
            block.branch, block.target, block.splits = op, _label(to), rest.endswith(" divergent")
        else:
            block.ops.append(op)
    else:
        raise ValueError(f"there is no operation {word!r}")


def parse_machine_function(text: str, file: str = "<text>") -> MachineFunction:
    """The function that ``text`` is. Virtual registers go on from the highest one."""
    function: MachineFunction | None = None
    block = MachineBlock("")
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("  ; ")[0].strip()
        try:
            if not line or line == "}" or line.startswith(";"):
                continue
            if function is None:
                head = _matched(_HEAD, line)
                function = MachineFunction(_label(head[2]), {}, int(head[3] or 0), is_kernel=head[1] == "kernel")
            elif line.startswith("^"):
                block = MachineBlock(_label(_matched(_LABEL, line.removesuffix(":"))[0]))
                function.blocks[block.name] = block
            else:
                _statement(block, line)
        except ValueError as error:
            raise IRSyntaxError(f"{file}:{number}: {error}") from None
    if function is None:
        raise IRSyntaxError(f"{file}: there is no function")
    highest = max(map(int, re.findall(r"%(\d+)", text)), default=REGISTER_COUNT - 1)
    function.registers = highest + 1
    return function
