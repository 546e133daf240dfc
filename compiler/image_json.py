"""Images as JSON: written, and read with a check of everything, as files come from elsewhere."""

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, asdict, fields, replace
from typing import TYPE_CHECKING, Any, Final, get_args

from fgpu.errors import ImageError

from .format_strings import Argument, Format, FormatError
from .ir.module import Location
from .kernel import Kernel, Parameter
from .line_table import lines_of, table_of

if TYPE_CHECKING:
    from .image import Image

__all__ = ["from_json", "to_json"]

_FORMAT: Final = "fgpu-image"
_VERSION: Final = 4
_PLAIN_VERSION: Final = 1
_POINTERS_VERSION: Final = 2
_SPLITTABLE_VERSION: Final = 3
"""Of images without pointers, kernels that may be split, and barriers, local memory and printf, which older
versions of fgpu read, too."""


def to_json(image: "Image") -> str:
    """All of an image, as text."""
    return json.dumps({
        "format": _FORMAT,
        "version": _version(image),
        "kernels": [_kernel_to_json(kernel) for kernel in image.kernels.values()],
        "words": [f"{word:08X}" for word in image.words],
        "data": image.data.hex(),
        "pointers": list(image.pointers),
        "line_table": table_of(image.lines),
        **({"warnings": list(image.warnings)} if image.warnings else {}),
        **({"clang_warnings": list(image.clang_warnings)} if image.clang_warnings else {}),
        **({"formats": [_format_to_json(format) for format in image.formats], "strings": list(image.strings)}
           if image.formats else {}),
    }, indent=1) + "\n"


def _version(image: "Image") -> int:
    """The oldest that has all of this."""
    if image.formats or any(kernel.is_cooperative for kernel in image.kernels.values()):
        return _VERSION
    if any(kernel.splittable for kernel in image.kernels.values()):
        return _SPLITTABLE_VERSION
    return _POINTERS_VERSION if image.pointers else _PLAIN_VERSION


def from_json(text: str) -> dict[str, Any]:
    """What :class:`~fgpu.compiler.image.Image` is made of. Raises :class:`~fgpu.errors.ImageError`."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ImageError(f"not JSON: {error}") from None
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
    formats, strings = _printed_from_json(data)
    return {"words": words, "kernels": {kernel.name: kernel for kernel in kernels}, "data": bytes.fromhex(constants),
            "lines": _lines_from_json(data, len(words)), "pointers": tuple(pointers),
            **{name: _texts_from_json(data, name) for name in ("warnings", "clang_warnings")},
            "formats": formats, "strings": strings}


def _texts_from_json(data: dict[str, Any], name: str) -> tuple[str, ...]:
    texts = data.get(name, [])
    if not isinstance(texts, list) or not all(map(_is_text, texts)):
        raise _malformed(f"'{name}'", texts, "texts")
    return tuple(texts)


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
