"""Program images: the words of the code RAM and what is known of the kernels in them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fgpu.errors import EncodingError, ImageError
from fgpu.files import write_atomically
from fgpu.isa import INSTRUCTION_BITS, decode

from .bound_kernel import BoundKernel
from .format_strings import Format, FormatError, check_arguments, parse_format
from .image_json import from_json, to_json
from .ir.module import Location
from .kernel import Kernel, Parameter

__all__ = ["CODE_WORDS_MAX", "Image", "Kernel", "Parameter"]

CODE_WORDS_MAX: Final = 1 << 14
"""Words of the largest code RAM: what the descriptor has addresses for."""
_WORD_BYTES: Final = 4
_COMMENT: Final = re.compile(r"(--|;|#).*")


@dataclass(frozen=True, repr=False)
class Image:
    """A validated program: it fits the code RAM and holds only instructions of the instruction set.

    ``data`` are the constant tables that the kernels read from global memory, each as aligned as it is declared if
    their address is a multiple of 4096.
    Raises :class:`~fgpu.errors.ImageError` when built from anything else.
    """

    words: tuple[int, ...]
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    data: bytes = b""
    lines: Mapping[int, Location] = field(default_factory=dict, compare=False)
    """The line table: where in the source each word is, by its index. Words that are nowhere in it are absent."""
    pointers: tuple[int, ...] = ()
    """Where in ``data``, in bytes, words hold addresses of it, counted from its start; see :meth:`data_at`."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What the compiler had to say of barriers (:class:`~fgpu.errors.DivergentBarrierWarning`)."""
    formats: tuple[Format, ...] = ()
    """What the kernels print with printf: records name it by its number, from 1 on."""
    strings: tuple[str, ...] = ()
    """What ``%s`` prints: records name it by its number, from 0 on."""
    clang_warnings: tuple[str, ...] = field(default=(), compare=False)
    """What clang had to say (:class:`~fgpu.errors.CompileWarning`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        _check_words(self.words)
        for name, kernel in self.kernels.items():
            _check_kernel(name, kernel, len(self.words))
        object.__setattr__(self, "kernels", MappingProxyType(dict(self.kernels)))
        object.__setattr__(self, "lines", MappingProxyType(dict(self.lines)))
        object.__setattr__(self, "pointers", tuple(self.pointers))
        if not all(at in range(len(self.data) - _WORD_BYTES + 1) for at in self.pointers):
            raise ImageError(f"the image's pointers {self.pointers!r:.80} must be places of words in its "
                             f"{len(self.data)} bytes of data")
        object.__setattr__(self, "formats", tuple(self.formats))
        object.__setattr__(self, "strings", tuple(self.strings))
        for format in self.formats:
            _check_format(format)

    def __repr__(self) -> str:
        return f"<Image of {len(self.words)} words: {', '.join(self.kernels) or 'no kernels'}>"

    def __hash__(self) -> int:
        return hash(self.words)

    def __reduce__(self) -> tuple[Callable[..., "Image"], tuple[Any, ...]]:
        return Image, (self.words, dict(self.kernels), self.data, dict(self.lines), self.pointers, self.warnings,
                       self.formats, self.strings, self.clang_warnings)

    def data_at(self, address: int) -> bytes:
        """What the host writes to ``address``, a multiple of 4096: ``data``, with the address added to
        the words that are pointers."""
        content = bytearray(self.data)
        for at in self.pointers:
            word = int.from_bytes(content[at:at + _WORD_BYTES], "little") + address
            content[at:at + _WORD_BYTES] = (word % (1 << 8 * _WORD_BYTES)).to_bytes(_WORD_BYTES, "little")
        return bytes(content)

    def kernel(self, name: str) -> Kernel:
        """The kernel called ``name``."""
        try:
            return self.kernels[name]
        except KeyError:
            there = ", ".join(self.kernels) or "none"
            raise ImageError(f"the image has no kernel {name!r}; the kernels it has: {there}") from None

    def __getitem__(self, name: str) -> BoundKernel:
        """The kernel called ``name``, to be launched or called."""
        return BoundKernel(self, self.kernel(name))

    def __iter__(self) -> Iterator[str]:
        """The names of the kernels."""
        return iter(self.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self.kernels

    @classmethod
    def from_words(cls, words: Iterable[int], kernels: Mapping[str, int | Kernel] | None = None) -> "Image":
        """An image of raw words; ``kernels`` gives an entry (word index) or a :class:`Kernel` for each name."""
        words = tuple(words)
        given = kernels or {}
        for name, kernel in given.items():
            if not isinstance(kernel, Kernel | int):
                raise ImageError(f"kernel {name!r} must be a Kernel or the word where it starts, not {kernel!r}")
        entries = sorted(k.entry if isinstance(k, Kernel) else k for k in given.values())

        def length(entry: int) -> int:
            return min((other for other in entries if other > entry), default=len(words)) - entry

        return cls(words, {
            name: kernel if isinstance(kernel, Kernel) else Kernel(name, kernel, instructions=length(kernel))
            for name, kernel in given.items()
        })

    @classmethod
    def from_mif(cls, path: str | Path, kernels: Mapping[str, int | Kernel] | None = None) -> "Image":
        """Read a ``.mif`` file: one hexadecimal 32-bit word a line; ``--``, ``;`` and ``#`` start comments."""
        words = []
        for number, line in enumerate(_read(Path(path)).splitlines(), start=1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,8}", text):
                raise ImageError(f"{path}:{number}: expected one hexadecimal 32-bit word, not {text!r}")
            words.append(int(text, 16))
        try:
            return cls.from_words(words, kernels)
        except ImageError as error:
            raise ImageError(f"{path}: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> "Image":
        """Read an image that :meth:`save` wrote; the suffix says which of the two formats it has."""
        path = Path(path)
        if _suffix(path) == ".mif":
            return cls.from_mif(path)
        text = _read(path)
        try:
            return cls.from_json(text)
        except ImageError as error:
            raise ImageError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> "Image":
        """An image as :meth:`to_json` writes it."""
        return cls(**from_json(text))

    def to_json(self) -> str:
        """All of the image, as text."""
        return to_json(self)

    def save(self, path: str | Path) -> None:
        """Write ``.mif`` (the words only) or ``.json`` (the kernels and their parameters too), by suffix.

        The file appears whole or not at all.
        """
        path = Path(path)
        if _suffix(path) == ".mif":
            text = "".join(f"{word:08X}\n" for word in self.words)
        else:
            text = self.to_json()
        try:
            write_atomically(path, text)
        except OSError as error:
            raise ImageError(f"cannot write image {path}: {error.strerror}") from None


def _check_words(words: tuple[int, ...]) -> None:
    if not words:
        raise ImageError("the image is empty: it needs at least one instruction")
    if len(words) > CODE_WORDS_MAX:
        raise ImageError(f"the image has {len(words)} words; the code RAM holds at most {CODE_WORDS_MAX}")
    known: set[int] = set()
    for index, word in enumerate(words):
        if not isinstance(word, int) or isinstance(word, bool) or word not in range(1 << INSTRUCTION_BITS):
            raise ImageError(f"word {index} is {word!r}, which is not a 32-bit unsigned integer")
        if word in known:
            continue
        known.add(word)
        try:
            decode(word)
        except EncodingError as error:
            raise ImageError(f"word {index}: {error}") from None


def _check_kernel(name: str, kernel: Kernel, words: int) -> None:
    if kernel.name != name:
        raise ImageError(f"kernel {name!r} is listed under another name than its own, {kernel.name!r}")
    if kernel.entry not in range(words):
        raise ImageError(f"kernel {name!r} starts at word {kernel.entry}, outside the image of {words} words")


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".mif", ".json"):
        raise ImageError(f"{path}: an image is a .mif or a .json file, not {path.suffix or 'one without suffix'!r}")
    return suffix


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ImageError(f"cannot read image {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ImageError(f"{path}: not a text file") from None


def _check_format(format: Format) -> None:
    try:
        check_arguments(parse_format(format.text), format.arguments)
    except FormatError as error:
        raise ImageError(f"the format {format.text!r} cannot be printed: {error}") from None
