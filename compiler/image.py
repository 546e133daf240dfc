"""Program images: the words of the code RAM and what is known of the kernels in them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from fgpu.config import LOCAL_NULL, WAVEFRONT_SIZE
from fgpu.errors import EncodingError, ImageError
from fgpu.files import write_atomically
from fgpu.isa import INSTRUCTION_BITS, decode

from .bound_kernel import BoundKernel
from .format_strings import Argument, Format, FormatError, check_arguments, parse_format
from .ir.module import Location
from .line_table import lines_of, table_of

__all__ = ["CODE_WORDS_MAX", "Image", "Kernel", "Parameter", "local_place"]

CODE_WORDS_MAX: Final = 1 << 14
"""Words of the largest code RAM: what the descriptor has addresses for."""
_FORMAT: Final = "fgpu-image"
_VERSION: Final = 4
_PLAIN_VERSION: Final = 1
_POINTERS_VERSION: Final = 2
_SPLITTABLE_VERSION: Final = 3
"""Of images without pointers, kernels that may be split, and barriers, local memory and printf, which older
versions of fgpu read, too."""
_WORD_BYTES: Final = 4
_LOCAL_ALIGNMENT: Final = 128
"""Of arguments that are local memory: that of the largest type."""
_COMMENT: Final = re.compile(r"(--|;|#).*")


def local_place(end: int, alignment: int) -> int:
    """Where in local memory, in bytes, what is aligned to ``alignment`` begins behind ``end``."""
    place = -(-end // alignment) * alignment
    return place if place != LOCAL_NULL else place + alignment


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    ``type`` is the OpenCL spelling of the value (a vector is a scalar here), or of what the pointer points to, and
    ``size`` its bytes. A value takes as many parameter words as it needs. A ``local`` parameter is a pointer to local
    memory; the host says how much. ``implicit`` parameters come last: the
    source does not have them, and the host gives the address of the image's data (``constants``), the number of
    dimensions (``work_dim``), the address of the work-items' private memory (``private``), of
    which :meth:`Kernel.private_room` tells the size; the address of a buffer for what printf prints, of all
    work-items (``printf``) or in regions of their own (``printf_own``); or, where the hardware has no local memory,
    the address of regions of global memory, one for each work-group that may run at a time (``local``), and the bytes
    of each (``local_bytes``).

    If all parameters together have more than 16 words, the kernel gets 15 of them, and the address of the rest.
    """

    name: str
    kind: Literal["pointer", "scalar", "struct", "local", "implicit"]
    type: str
    size: int

    @property
    def declaration(self) -> str:
        """As in the source: ``int *in``."""
        before, pointer = {"pointer": ("", "*"), "local": ("__local ", "*")}.get(self.kind, ("", ""))
        return f"{before}{self.type} {pointer}{self.name}"


@dataclass(frozen=True)
class Kernel:
    """One kernel of an image.

    ``entry`` is the word index of its first instruction, ``instructions`` its static length in words and
    ``scratchpad_words`` what a work-item needs of the scratchpad. ``parameters`` is None where nobody
    knows them (an image of raw words); ``work_group_size`` is what ``reqd_work_group_size`` demands, and
    ``private_bytes`` the global memory that each work-item of a launch needs for itself. ``splittable`` says that
    nobody can tell whether an index space is run by one launch or by several with other global offsets, as
    the kernel does not ask for its work-groups. ``local_bytes`` are those of its own variables in local memory, which
    begin at its first byte; ``has_barrier`` says that work-items may wait for the others of their work-group.
    """

    name: str
    entry: int
    parameters: tuple[Parameter, ...] | None = None
    scratchpad_words: int = 0
    instructions: int = 0
    work_group_size: tuple[int, int, int] | None = None
    private_bytes: int = 0
    splittable: bool = False
    local_bytes: int = 0
    has_barrier: bool = False

    @property
    def is_cooperative(self) -> bool:
        """Whether the work-items of a work-group work together: by barriers, or by local memory."""
        return self.has_barrier or self.local_bytes > 0 or any(
            parameter.kind == "local" for parameter in self.parameters or ())

    @property
    def signature(self) -> str:
        """The name with the parameters that a caller gives: ``scale(int *in, int *out, int factor)``."""
        if self.parameters is None:
            return f"{self.name}(...)"
        given = [parameter.declaration for parameter in self.parameters if parameter.kind != "implicit"]
        return f"{self.name}({', '.join(given)})"

    def private_room(self, work_items: int) -> int:
        """Bytes of global memory that the host reserves for the private memory of all work-items of a launch, whose
        local size divides its global size.

        They lie in blocks of 64, as many as a wavefront has, and may begin at any multiple of 4; accesses are fastest
        where it is one of a cache line.
        """
        return -(-work_items // WAVEFRONT_SIZE) * WAVEFRONT_SIZE * self.private_bytes

    def local_layout(self, arguments: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """How a work-group's local memory is divided where ``arguments`` of so many bytes are in it: where each
        begins, behind the kernel's own variables, and the end of the last one, in bytes."""
        begins, end = [], self.local_bytes
        for size in arguments:
            begins.append(local_place(end, _LOCAL_ALIGNMENT))
            end = begins[-1] + size
        return tuple(begins), end


@dataclass(frozen=True)
class Image:
    """A validated program: it fits the code RAM and holds only instructions of the instruction set.

    ``data`` are the constant tables that the kernels read from global memory, each as aligned as it is declared if
    their address is a multiple of 4096.
    Raises :class:`~fgpu.errors.ImageError` when built from anything else.
    """

    words: tuple[int, ...]
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    data: bytes = b""
    lines: Mapping[int, Location] = field(default_factory=dict, compare=False, repr=False)
    """The line table: where in the source each word is, by its index. Words that are nowhere in it are absent."""
    pointers: tuple[int, ...] = ()
    """Where in ``data``, in bytes, words hold addresses of it, counted from its start; see :meth:`data_at`."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What the compiler had to say of barriers (:class:`~fgpu.errors.DivergentBarrierWarning`)."""
    formats: tuple[Format, ...] = ()
    """What the kernels print with printf: records name it by its number, from 1 on."""
    strings: tuple[str, ...] = ()
    """What ``%s`` prints: records name it by its number, from 0 on."""

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

    def __hash__(self) -> int:
        return hash(self.words)

    def __reduce__(self) -> tuple[Callable[..., "Image"], tuple[Any, ...]]:
        return Image, (self.words, dict(self.kernels), self.data, dict(self.lines), self.pointers, self.warnings,
                       self.formats, self.strings)

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
        try:
            return _from_json(json.loads(text))
        except json.JSONDecodeError as error:
            raise ImageError(f"not JSON: {error}") from None

    def to_json(self) -> str:
        """All of the image, as text."""
        return json.dumps({
            "format": _FORMAT,
            "version": self._version,
            "kernels": [_kernel_to_json(kernel) for kernel in self.kernels.values()],
            "words": [f"{word:08X}" for word in self.words],
            "data": self.data.hex(),
            "pointers": list(self.pointers),
            "line_table": table_of(self.lines),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            **({"formats": [_format_to_json(format) for format in self.formats], "strings": list(self.strings)}
               if self.formats else {}),
        }, indent=1) + "\n"

    @property
    def _version(self) -> int:
        """The oldest that has all of this."""
        if self.formats or any(kernel.is_cooperative for kernel in self.kernels.values()):
            return _VERSION
        if any(kernel.splittable for kernel in self.kernels.values()):
            return _SPLITTABLE_VERSION
        return _POINTERS_VERSION if self.pointers else _PLAIN_VERSION

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


def _from_json(data: Any) -> Image:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ImageError(f'not an fgpu image: it lacks "format": "{_FORMAT}"')
    if data.get("version") not in range(_PLAIN_VERSION, _VERSION + 1):
        raise ImageError(f"image version {data.get('version')!r} is not supported; this fgpu reads {_PLAIN_VERSION} "
                         f"to {_VERSION}")
    for word in _items(data, "words"):
        if not isinstance(word, str) or not re.fullmatch(r"[0-9a-fA-F]{1,8}", word):
            raise _malformed("a word", word, "up to eight hexadecimal digits")
    words = tuple(int(word, 16) for word in data["words"])
    kernels = [_kernel_from_json(kernel) for kernel in _items(data, "kernels")]
    constants = data.get("data", "")
    if not isinstance(constants, str) or not re.fullmatch(r"([0-9a-fA-F]{2})*", constants):
        raise _malformed("'data'", constants, "bytes in hexadecimal")
    if len({kernel.name for kernel in kernels}) != len(kernels):
        raise ImageError("malformed fgpu image: two kernels have the same name")
    pointers = data.get("pointers", [])
    if not isinstance(pointers, list) or not all(map(_is_count, pointers)):
        raise _malformed("'pointers'", pointers, "numbers from 0")
    warnings = data.get("warnings", [])
    if not isinstance(warnings, list) or not all(map(_is_text, warnings)):
        raise _malformed("'warnings'", warnings, "texts")
    return Image(words, {kernel.name: kernel for kernel in kernels}, bytes.fromhex(constants),
                 _lines_from_json(data, len(words)), tuple(pointers), tuple(warnings),
                 *_printed_from_json(data))


def _printed_from_json(data: dict[str, Any]) -> tuple[tuple[Format, ...], tuple[str, ...]]:
    formats, strings = data.get("formats", []), data.get("strings", [])
    for name, items in ("formats", formats), ("strings", strings):
        if not isinstance(items, list):
            raise _malformed(repr(name), items, "a list")
    for item in formats:
        if not isinstance(item, dict) or item.keys() != {"text", "arguments"} or not _is_text(item["text"]) \
                or not isinstance(item["arguments"], list) or not all(map(_is_text, item["arguments"])):
            raise _malformed("a format", item, "an object with a 'text' and 'arguments', which are texts")
    for item in strings:
        if not _is_text(item):
            raise _malformed("a string", item, "a text")
    try:
        return tuple(Format(item["text"], tuple(map(Argument.parse, item["arguments"]))) for item in formats), \
            tuple(strings)
    except FormatError as error:
        raise ImageError(f"malformed fgpu image: {error}") from None


def _format_to_json(format: Format) -> dict[str, Any]:
    return {"text": format.text, "arguments": list(map(str, format.arguments))}


def _check_format(format: Format) -> None:
    try:
        check_arguments(parse_format(format.text), format.arguments)
    except FormatError as error:
        raise ImageError(f"the format {format.text!r} cannot be printed: {error}") from None


def _lines_from_json(data: dict[str, Any], words: int) -> dict[int, Location]:
    """The line table. Older images have one of accesses to memory only: ``file:line`` by the index of the word."""
    table = data.get("line_table")
    if table is not None:
        try:
            return lines_of(table, words)
        except (AttributeError, TypeError, ValueError):
            raise _malformed("'line_table'", table, "the words of each line of each file, as \"0-3 7\"") from None
    lines = data.get("lines", {})
    if not isinstance(lines, dict) or not all(re.fullmatch(r"\d+", word) and _is_text(line)
                                              for word, line in lines.items()):
        raise _malformed("'lines'", lines, "places in the source by the index of the word")
    places = {int(word): line.rpartition(":") for word, line in lines.items()}
    return {word: Location(file, int(line)) for word, (file, _, line) in places.items() if line.isdecimal()}


def _malformed(what: str, found: Any, wanted: str) -> ImageError:
    return ImageError(f"malformed fgpu image: {what} must be {wanted}, not {json.dumps(found):.80s}")


def _items(data: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(data.get(name), list):
        raise _malformed(repr(name), data.get(name), "a list")
    items: list[Any] = data[name]
    return items


def _checked(data: Any, what: str, wanted: type) -> dict[str, Any]:
    """``data`` if a ``wanted`` can be made of it: it has the attributes, and those that ``_FORMS`` has are right."""
    taken = {attribute.name: attribute for attribute in fields(wanted)}
    if not isinstance(data, dict):
        raise _malformed(f"a {what}", data, "an object")
    for name in data:
        if name not in taken:
            raise _malformed(f"an attribute of a {what}", name, f"one of {', '.join(taken)}")
    for name, attribute in taken.items():
        if name not in data and attribute.default is MISSING:
            raise _malformed(f"a {what}", data, f"an object with {name!r}")
        if name in data and name in _FORMS and not _FORMS[name][0](data[name]):
            raise _malformed(f"{name!r} of a {what}", data[name], _FORMS[name][1])
    return data


def _kernel_to_json(kernel: Kernel) -> dict[str, Any]:
    return {name: value for name, value in asdict(kernel).items() if name not in _LATER or value}


def _kernel_from_json(data: Any) -> Kernel:
    kernel = Kernel(**_checked(data, "kernel", Kernel))
    parameters, size = kernel.parameters, kernel.work_group_size
    if parameters is not None:
        parameters = tuple(_parameter_from_json(item) for item in _items(data, "parameters"))
    if size is not None:
        x, y, z = data["work_group_size"]
        size = x, y, z
    return replace(kernel, parameters=parameters, work_group_size=size)


def _parameter_from_json(data: Any) -> Parameter:
    parameter = Parameter(**_checked(data, "parameter", Parameter))
    if parameter.kind == "implicit" and parameter.name not in _IMPLICIT:
        raise _malformed("'name' of an implicit parameter", parameter.name, f"one of {', '.join(_IMPLICIT)}")
    return parameter


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_extent(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_shape(value: Any) -> bool:
    return value is None or (isinstance(value, list) and len(value) == 3 and all(map(_is_extent, value)))


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


_KINDS: Final = get_args(Parameter.__annotations__["kind"])
_IMPLICIT: Final = ("constants", "work_dim", "private", "local", "local_bytes", "printf", "printf_own")
_LATER: Final = ("splittable", "local_bytes", "has_barrier")
"""Attributes that older versions do not know, and files have only where they say something."""
_FORMS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "name": (_is_text, "a text"), "type": (_is_text, "a text"),
    "kind": (lambda value: value in _KINDS, f"one of {', '.join(_KINDS)}"),
    "size": (_is_extent, "a number from 1"), "work_group_size": (_is_shape, "three numbers from 1"),
    "entry": (_is_count, "a number from 0"), "instructions": (_is_count, "a number from 0"),
    "scratchpad_words": (_is_count, "a number from 0"), "private_bytes": (_is_count, "a number from 0"),
    "splittable": (_is_truth, "true or false"), "has_barrier": (_is_truth, "true or false"),
    "local_bytes": (_is_count, "a number from 0"),
}
"""Attributes of kernels and parameters in a file: whether a value will do, and what will."""
