"""The launches that the comments of the corpus describe, with their arguments."""

import hashlib
import json
import random
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ..fuzz.pocl import Argument

__all__ = ["DIGESTS", "FILES", "Launch", "digest", "launches", "source"]

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
FILES = sorted(path.stem for path in HERE.glob("*.cl"))
_RUN = re.compile(r"^// run (\S+) ([0-9x]+)/([0-9x]+)(?:\+([0-9x]+))?: (.+)$", re.MULTILINE)
_DTYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
           "ulong": "u8", "float": "f4"}
_FLOAT_MOST = 50
"""Floats are small integers, so that sums have no error and every order gives the same."""
_SUM_BITS = 9
"""Signed integers are so many bits shorter than their type: sums of 512 do not overflow."""


@dataclass(frozen=True)
class Launch:
    """One launch of the kernel ``name`` of ``file``; ``text`` tells the arguments."""

    file: str
    name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    global_offset: tuple[int, ...] | None
    text: str

    def __str__(self) -> str:
        sizes = "/".join("x".join(map(str, size)) for size in (self.global_size, self.local_size))
        offset = "+" + "x".join(map(str, self.global_offset)) if self.global_offset else ""
        return f"{self.name} {sizes}{offset}: {self.text}"

    @cached_property
    def _contents(self) -> tuple[Argument, ...]:
        return tuple(_argument(each.split(), random.Random(f"{self.name} {number}"))
                     for number, each in enumerate(self.text.split(", ")))

    def arguments(self) -> list[Argument]:
        """New ones."""
        return [bytearray(each) if isinstance(each, bytearray) else each for each in self._contents]


def _elements(type: str, count: int) -> tuple[str, int]:
    """NumPy's type of an element, and how many there are in ``count`` scalars or vectors."""
    scalar = type.rstrip("0123456789")
    lanes = int(type[len(scalar):] or 1)
    return _DTYPES[scalar], count * (4 if lanes == 3 else lanes)


def _argument(words: list[str], rng: random.Random) -> Argument:
    match words:
        case ["local", size]:
            return int(size)
        case ["value", type, number]:
            return np.array(float(number) if type == "float" else int(number), _DTYPES[type]).tobytes()
        case ["out", type, count]:
            dtype, length = _elements(type, int(count))
            return bytearray(np.full(length * np.dtype(dtype).itemsize, 0xA5, np.uint8))
        case ["zero", type, count]:
            dtype, length = _elements(type, int(count))
            return bytearray(np.zeros(length, dtype))
        case ["in", type, count, *below]:
            dtype, length = _elements(type, int(count))
            return bytearray(np.array([_value(rng, dtype, below) for _ in range(length)], dtype))
    raise ValueError(f"{' '.join(words)!r} is no argument")


def _value(rng: random.Random, dtype: str, below: list[str]) -> int:
    if below:
        return rng.randrange(int(below[1]))
    bits = 8 * int(dtype[1])
    if dtype[0] == "f":
        return rng.randint(-_FLOAT_MOST, _FLOAT_MOST)
    if dtype[0] == "u":
        return rng.getrandbits(bits)
    most = 1 << bits - 1 - (_SUM_BITS if bits >= 32 else 0)
    return rng.randrange(-most, most)


def source(file: str) -> str:
    return (HERE / f"{file}.cl").read_text()


def _expanded(line: str) -> list[str]:
    braces = re.search(r"\{(.*?)\}", line)
    if braces is None:
        return [line]
    return [line.replace(braces[0], choice).replace("$", choice) for choice in braces[1].split()]


def _size(text: str | None) -> tuple[int, ...] | None:
    return tuple(map(int, text.split("x"))) if text else None


def launches(file: str) -> list[Launch]:
    """All launches of the kernels in a file."""
    text = "\n".join(each for line in source(file).splitlines() if line.startswith("// run ")
                     for each in _expanded(line))
    found = [Launch(file, name, _size(whole) or (), _size(local) or (), _size(offset), arguments)
             for name, whole, local, offset, arguments in _RUN.findall(text)]
    if len(found) != len(text.splitlines()):
        raise ValueError(f"{file}.cl has lines `// run` that launch nothing")
    return found


def digest(arguments: list[Argument]) -> str:
    """Tells the buffers after a launch from others."""
    return hashlib.sha256(b"".join(bytes(each) for each in arguments if isinstance(each, bytearray))).hexdigest()[:16]


def digests() -> dict[str, str]:
    made: dict[str, str] = json.loads(DIGESTS.read_text())
    return made
