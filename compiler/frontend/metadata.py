"""Metadata of an LLVM module: source locations and what clang says of a kernel's parameters.

llvmlite shows no metadata, so this reads the lines of the printed module, which are of one plain form.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from ..ir.module import Location

__all__ = ["Metadata", "unescaped"]

_NODE = re.compile(r"(!\d+) = (?:distinct )?(.*)")
_ESCAPED = re.compile(r"\\\\|(?:\\[0-9A-F]{2})+")
_LOCATION = re.compile(r"!DILocation\(line: (\d+).*?scope: (!\d+)(?:, inlinedAt: (!\d+))?")


def unescaped(text: str) -> str:
    """What a printed module has between quotes, where letters beyond ASCII are the bytes of UTF-8 in hexadecimal."""
    def written(match: re.Match[str]) -> str:
        return bytes.fromhex(match[0].replace("\\", "")).decode(errors="replace") or "\\"
    return _ESCAPED.sub(written, text)


class Metadata:
    """The nodes among ``lines``. Locations in files whose names begin with ``own`` become their callers'."""

    def __init__(self, lines: Iterable[str], own: str | None = None) -> None:
        self._text = {match[1]: match[2] for line in lines if (match := _NODE.match(line))}
        self._own = own
        self._locations: dict[str, Location | None] = {}
        self._files: dict[str, str] = {}

    def values(self) -> dict[str, list[str]]:
        """The strings and the numbers of each node, by the node's id."""
        found = {name: re.findall(r'"([^"]*)"|i32 (-?\d+)', text) for name, text in self._text.items()}
        return {name: [unescaped(a) or b for a, b in items] for name, items in found.items()}

    def location(self, node: str) -> Location | None:
        """Where the user wrote it: the outermost call in the user's own file, for what our header inlines."""
        if node not in self._locations:
            location = None
            if match := _LOCATION.match(self._text.get(node, "")):
                location = Location(self._file(match[2]), int(match[1]))
                is_own = self._own is not None and location.file.startswith(self._own)
                if location.line == 0 or is_own:    # of what clang made, or merged from several lines, has none
                    location = self.location(match[3]) if match[3] else None
            self._locations[node] = location
        return self._locations[node]

    def scope(self, node: str) -> Location:
        """Where a function starts."""
        match = re.search(r"line: (\d+)", self._text.get(node, ""))
        return Location(self._file(node), int(match[1]) if match else 0)

    def _file(self, scope: str) -> str:
        match = re.search(r"file: (!\d+)", self._text.get(scope, ""))
        node = match[1] if match else ""
        if node not in self._files:
            self._files[node] = self._file_name(self._text.get(node, ""))
        return self._files[node]

    @staticmethod
    def _file_name(text: str) -> str:
        found = re.search(r'filename: "([^"]*)", directory: "([^"]*)"', text)
        if found is None:
            return "<opencl>"
        name, directory = map(unescaped, found.groups())
        return str(Path(directory, name))
