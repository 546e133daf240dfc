"""Files that commands read and write."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import click

from fgpu.files import write_atomically

__all__ = ["check_output", "check_outputs", "read_text", "write_file"]


def read_text(path: Path) -> str:
    """A text file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise click.ClickException(f"{path}:{line}: byte 0x{error.object[error.start]:02X} is not UTF-8; "
                                   "save the file as UTF-8") from None


def check_output(path: Path) -> None:
    """An error for a file that :func:`write_file` could not write, for commands that take long until then."""
    if path.is_dir() or not path.parent.is_dir():
        reason = os.strerror(errno.EISDIR if path.is_dir() else errno.ENOENT)
        raise click.ClickException(f"cannot write {path}: {reason}")


def check_outputs(outputs: Sequence[tuple[str, Path]], source: Path) -> None:
    """An error for one of the files, each with the option that names it, that could not be written, would be written
    twice, or is the ``source`` that the command reads."""
    written: dict[Path, str] = {}
    for name, path in outputs:
        check_output(path)
        place = path.resolve()
        if place == source.resolve():
            raise click.ClickException(f"{name} {path} would replace the program itself; give another file")
        if place in written:
            raise click.ClickException(f"{written[place]} and {name} both write {path}; give each a file of its own")
        written[place] = name


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file that appears whole or not at all."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from None
