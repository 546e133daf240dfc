"""How much code kernels will be, and what there may be to refuse, as far as LLVM's text tells before it is optimized.

A host wants to know when it builds a program whether its kernels can be compiled. To compile them all takes a hundred
times as long as to run the front end, and most are small and plain. So this looks for what is not: it may doubt
kernels that are fine, and should not pass others.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final

__all__ = ["estimates"]

_DEFINED: Final = re.compile(r'define .*?@"?([\w.$]+)"?\((.*)\) ?(?:[^()]*?)(?:#(\d+))?[^()#]*\{$')
_ATTRIBUTES: Final = re.compile(r"attributes #(\d+) = \{(.*)\}")
_NAMED: Final = re.compile(r'@"?([\w.$]+)')
_LOCAL: Final = re.compile(r'@"?([\w.$]+)"? = .*?addrspace\(3\) global (.*?) (?:undef|zeroinitializer|poison)')
_CALLED: Final = re.compile(r'\bcall\b[^@]*?@"?([\w.$]+)"?\(')
_SCALAR: Final = re.compile(r"\b(i8|i16|i32|i64|half|float|double|ptr)\b")
_BYTES: Final = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8, "ptr": 4}
_COPIED: Final = re.compile(r"i32 (\d+), i1 ")
_LANES: Final = re.compile(r"<(\d+) x ")
_WIDE: Final = re.compile(r"\b(double|half|i64)\b")
_DIVISION: Final = re.compile(r"= ([su](?:div|rem)|frem) ")
_REFUSED: Final = re.compile(r"image|sampler|printf|pipe|event|_Z\d+atom\w*PU3AS\d(?!V?[ijf])|va_arg")
"""Functions that are refused, or may be, by their arguments."""
_UNROLLED: Final = "llvm.loop.unroll."
_LOCAL_BYTES: Final = 32 * 1024
"""What a device of the full profile has at least."""
_LOOP: Final = 8
"""By how much a loop may grow that the program wants unrolled."""
_DIVISION_WORDS, _WIDE_WORDS, _CALL_WORDS = 80, 12, 20
_ROUTINE_WORDS, _WIDE_ROUTINE_WORDS = 700, 3000
"""Of a function of ours, which is there once."""


@dataclass
class _Function:
    """A function's own words, what it names, and what it calls, each time."""

    words: int = 0
    names: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    is_odd: bool = False


def estimates(text: str, kernels: Iterable[str]) -> dict[str, int | None]:
    """The instructions that each of the ``kernels`` of a module may have, generously; or None where something may be
    refused: recursion, calls of subroutines, images, atomic operations on 64 bits, formats, local memory."""
    functions, local = _read(text)
    factor = _LOOP if _UNROLLED in text else 1
    found: dict[str, int | None] = {}
    for kernel in kernels:
        reached = _reached(functions, kernel)
        words = _words(functions, kernel, {}, set()) if kernel in functions else None
        bytes_ = sum(local.get(name, 0) for each in reached for name in functions[each].names)
        is_odd = words is None or any(functions[each].is_odd for each in reached) or bytes_ > _LOCAL_BYTES
        routines = {name for each in reached for name in functions[each].calls if name not in functions}
        found[kernel] = None if is_odd or words is None else factor * words + sum(map(_routine_words, routines))
    return found


def _read(text: str) -> tuple[dict[str, _Function], dict[str, int]]:
    """The functions with bodies, and the bytes of each variable in local memory."""
    functions: dict[str, _Function] = {}
    attributes: dict[str, str] = {}
    numbers: dict[str, str] = {}
    local: dict[str, int] = {}
    now: _Function | None = None
    for line in text.splitlines():
        if now is not None:
            if line == "}":
                now = None
            elif line.startswith("  "):
                _add(now, line)
        elif line.startswith("define "):
            match = _DEFINED.match(line)
            name = match[1] if match else ""
            functions[name] = now = _Function(is_odd=match is None)
            now.is_odd |= "opencl." in line or "target(" in line
            if match and match[3]:
                numbers[name] = match[3]
        elif match := _ATTRIBUTES.match(line):
            attributes[match[1]] = match[2]
        elif match := _LOCAL.match(line):
            local[match[1]] = _size(match[2])
    for name, number in numbers.items():
        # A subroutine calls others only so deep.
        functions[name].is_odd |= " noinline " in attributes.get(number, "")
    return functions, local


def _size(type: str) -> int:
    """Bytes of a variable; too many where that is not plain to see."""
    scalar = _SCALAR.search(type)
    counts = [4 if count == "3" and bracket == "<" else int(count)
              for bracket, count in re.findall(r"([\[<])(\d+) x ", type)]
    return _LOCAL_BYTES + 1 if scalar is None or "%" in type or "{" in type else prod(counts) * _BYTES[scalar[1]]


def _add(function: _Function, line: str) -> None:
    """Count an instruction."""
    code = line.partition(", !")[0]
    lanes = max(map(int, _LANES.findall(code)), default=1)
    words = lanes * (_DIVISION_WORDS if _DIVISION.search(code) else _WIDE_WORDS if _WIDE.search(code) else 1)
    names = _NAMED.findall(code)
    function.names.update(names)
    called = _CALLED.search(code)
    if called is not None:
        name = called[1]
        if name.startswith("llvm.mem"):
            length = _COPIED.search(code)
            words += int(length[1]) // 2 if length else _WIDE_ROUTINE_WORDS
        elif not name.startswith(("llvm.lifetime", "llvm.dbg")):
            function.calls.append(name)
            function.is_odd |= _REFUSED.search(name) is not None
    elif " call " in code:      # of what has no name
        function.is_odd = True
    function.words += words


def _reached(functions: Mapping[str, _Function], kernel: str) -> set[str]:
    reached: set[str] = set()
    left = [kernel]
    while left:
        name = left.pop()
        if name in functions and name not in reached:
            reached.add(name)
            left += functions[name].names
    return reached


def _words(functions: Mapping[str, _Function], name: str, known: dict[str, int | None],
           under_way: set[str]) -> int | None:
    """Of a function with all that it calls inlined; None if it calls itself."""
    if name in under_way:
        return None
    if name not in known:
        under_way.add(name)
        words: int | None = functions[name].words
        for called in functions[name].calls:
            more = _words(functions, called, known, under_way) if called in functions else _call_words(called)
            words = None if words is None or more is None else words + more
        under_way.discard(name)
        known[name] = words
    return known[name]


def _call_words(name: str) -> int:
    lanes = [int(count) for count in re.findall(r"Dv(\d+)_", name)]
    return _CALL_WORDS * max(lanes, default=1)


def _routine_words(name: str) -> int:
    mangled = re.match(r"_Z(\d+)", name)
    if mangled is None or "get_" in name:
        return _CALL_WORDS
    arguments = name[mangled.end() + int(mangled[1]):]
    return _WIDE_ROUTINE_WORDS if re.search(r"[dlm]|Dh", arguments) else _ROUTINE_WORDS
