"""The text of line tables in images: for each file and each of its lines the words that are for it, as ``0-3 7``."""

from collections.abc import Mapping

from .ir.module import Location

__all__ = ["OWN", "lines_of", "table_of"]

OWN = "fgpu/compiler"
"""What the compiler's own folder is called in line tables: where it is installed is nobody's business."""


def table_of(lines: Mapping[int, Location]) -> dict[str, dict[str, str]]:
    """The table of ``lines``, by the index of the word: files in the order of their first words."""
    words: dict[Location, list[int]] = {}
    for word in sorted(lines):
        words.setdefault(lines[word], []).append(word)
    table: dict[str, dict[str, str]] = {location.file: {} for location in words}
    for location in sorted(words, key=lambda location: location.line):
        table[location.file][str(location.line)] = _ranges(words[location])
    return table


def _ranges(words: list[int]) -> str:
    """Ascending numbers, of which runs become their first and last."""
    texts = []
    first = last = words[0]
    for word in [*words[1:], -1]:
        if word != last + 1:
            texts.append(f"{first}-{last}" if last > first else f"{first}")
            first = word
        last = word
    return " ".join(texts)


def lines_of(table: Mapping[str, Mapping[str, str]], words: int) -> dict[int, Location]:
    """The places that ``table`` tells of the words of an image that has ``words``; raises ValueError, TypeError or
    AttributeError for what is none."""
    lines: dict[int, Location] = {}
    for file, numbers in table.items():
        for number, ranges in numbers.items():
            location = Location(file, int(number))
            for part in ranges.split():
                if part.isdecimal():
                    lines[int(part)] = location
                else:
                    first, last = part.split("-")
                    for word in range(int(first), min(int(last), words) + 1):
                        lines[word] = location
    if max(lines, default=0) >= words:
        raise ValueError(max(lines))
    return lines
