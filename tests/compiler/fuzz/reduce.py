"""Makes a program that fails small: ``python -m tests.compiler.fuzz.reduce SEED...``.

Lines, blocks and expressions go as long as the program fails in the same way and still means something: the host
compiles it, and its two results agree.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import replace

from fgpu.config import Config
from fgpu.sim import Device

from .case import Case, failure, make_case
from .host import HostError, run_on_host

__all__ = ["reduced"]

_PARENTHESES = {"(": 1, ")": -1}


def _outcome(case: Case) -> str | None:
    try:
        expected = run_on_host([case.program])[0]
    except HostError:
        return None
    with Device(case.config, engine="functional") as device:
        return failure(case, device, expected)


def _without_lines(text: str, still_fails: Callable[[str], bool]) -> str:
    """Without many lines, without few, and without one."""
    lines = text.splitlines()
    size = len(lines) // 2
    while size:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size:]
            if still_fails("\n".join(fewer)):
                lines = fewer
            else:
                at += size
        size //= 2
    return "\n".join(lines)


def _without_blocks(text: str, still_fails: Callable[[str], bool]) -> str:
    """Without a block, or without what is around its lines."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if lines[at].rstrip().endswith("{"):
            indent = len(lines[at]) - len(lines[at].lstrip())
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith(" " * indent + "}")), at)
            for fewer in (lines[:at] + lines[end + 1:], lines[:at] + lines[at + 1:end] + lines[end + 1:]):
                if still_fails("\n".join(fewer)):
                    lines, at = fewer, at - 1
                    break
        at += 1
    return "\n".join(lines)


def _simpler(text: str, still_fails: Callable[[str], bool]) -> str:
    """With a number, or one of its sides, in the place of an expression in parentheses."""
    at = 0
    while (at := text.find("(", at)) >= 0:
        depth, end = 0, at
        for end in range(at, len(text)):
            depth += _PARENTHESES.get(text[end], 0)
            if depth == 0:
                break
        inner = text[at + 1:end]
        sides = re.split(r" (?:[-+*/%&|^<>?:]|<<|>>|==|!=|<=|>=) ", inner)
        choices = [] if inner.isidentifier() or inner.isdigit() or inner.endswith("*") else ["1", "i", *sides[:3]]
        for other in choices:
            shorter = f"{text[:at]}({other}){text[end + 1:]}"
            if len(other) < len(inner) and still_fails(shorter):
                text = shorter
                break
        at += 1
    return text


def reduced(case: Case, outcome: Callable[[Case], str | None] = _outcome) -> tuple[Case, str | None]:
    """The case made small, and in what way it fails (None: it does not)."""
    wanted = outcome(case)
    tried: set[str] = set()

    def with_text(text: str) -> Case:
        return replace(case, program=replace(case.program, text=text))

    def still_fails(text: str) -> bool:
        if text in tried:
            return False
        tried.add(text)
        return outcome(with_text(text)) == wanted

    if wanted is None:
        return case, None
    text, before = case.program.text, ""
    while text != before:
        before = text
        for way in (_without_lines, _without_blocks, _simpler):
            text = way(text, still_fails)
    return with_text(text), wanted


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        case, wanted = reduced(make_case(seed))
        different = {name: value for name, value in vars(case.config).items() if value != vars(Config()).get(name)}
        print(f"// {seed}: {wanted}\n// Config({different})\n"
              f"// {case.program.items} work-items, groups of {case.local}\n{case.program.text}\n")
