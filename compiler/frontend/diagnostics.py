"""What clang says of a program, in an order and in words that help."""

import re

__all__ = ["explained", "separated", "why_no_kernel"]

_ITEM = re.compile(r".*?:\d+:\d+: (?:fatal )?(error|warning|note): ")
_COUNT = re.compile(r"\d+ warnings? generated\.")
_CANDIDATES = re.compile(r"((?:.*: note: candidate .*\n)+)")
_REMEDIES = (
    (re.compile(r"(call to 'atomic_\w+' is ambiguous)"), "it takes a pointer to int or uint"),
    (re.compile(r"(program scope variable must reside in constant address space)"),
     "declare it __constant, or give kernels a __global pointer"),
)
_OURS = "'#pragma clang attribute push'"
"""What is around each program."""
_KERNEL = re.compile(r"\b(__)?kernel\b.*\bvoid\b")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")
_COMMENT = re.compile(r"\s*(//.*|/\*.*?\*/)")


def explained(messages: str) -> str:
    """Clang's messages, errors before warnings, with remedies; of the candidates for a call the first."""
    errors: list[str] = []
    others: list[str] = []
    into = errors
    for line in messages.splitlines(keepends=True):
        if _OURS in line:
            continue
        item = _ITEM.match(line)
        if item is not None and item[1] != "note":      # which belongs to what it follows
            into = errors if item[1] == "error" else others
        into.append(line if line.endswith("\n") else f"{line}\n")
    text = _CANDIDATES.sub(_first, "".join([*errors, *others])).rstrip("\n")
    for pattern, remedy in _REMEDIES:
        text = pattern.sub(rf"\1; {remedy}", text)
    return text


def separated(text: str) -> tuple[str, ...]:
    """The warnings of what :func:`explained` returned, without that word, each with the notes that belong to it."""
    messages: list[str] = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item is not None and item[1] == "warning":
            messages.append(line[:item.start(1)] + line[item.end():])
        elif messages and not _COUNT.fullmatch(line):
            messages[-1] += f"\n{line}"
    return tuple(messages)


def _first(candidates: re.Match[str]) -> str:
    """The first, for clang has put them in order, and of how many: an OpenCL function may have 60."""
    lines = candidates[1].splitlines()
    return lines[0] + (f" (first of {len(lines)} candidates)" if len(lines) > 1 else "") + "\n"


def why_no_kernel(source: str) -> str:
    """What to add to the message that ``source`` has no kernel: the condition behind which the first one is."""
    conditions: list[tuple[int, str]] = []
    for number, line in enumerate(source.splitlines(), 1):
        directive = _CONDITION.match(line)
        if directive is None:
            if _KERNEL.search(line) and conditions:
                at, text = conditions[-1]
                return f"; the first in its text, in line {number}, is behind {text!r} in line {at}"
        elif directive[1].startswith("if"):
            conditions.append((number, _COMMENT.sub("", line).strip()))
        elif conditions and directive[1] == "endif":
            conditions.pop()
        elif conditions:
            conditions[-1] = (number, _COMMENT.sub("", line).strip())
    return ""
