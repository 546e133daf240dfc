"""Files of records: JSON, JSON lines or CSV, by the name's ending."""

import csv
import json
from collections.abc import Iterable
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any, Final

from fgpu.errors import LaunchError
from fgpu.files import write_atomically

from .record import Record

__all__ = ["FORMATS", "append_record", "check_path", "read_records", "write_records"]

FORMATS: Final = (".json", ".jsonl", ".csv")
_NAMES: Final = [field.name for field in fields(Record)]
_TEXTS: Final = ("kernel", "engine", "point", "note", "failure", "version")
"""Columns of a CSV file that are not JSON."""


def check_path(path: Path) -> None:
    """Raise :class:`~fgpu.errors.LaunchError` for a file that cannot be written, before there is what to write."""
    if not path.parent.is_dir():
        raise LaunchError(f"cannot write {path}: there is no folder {path.parent}")
    _check_suffix(path)


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in FORMATS:
        raise LaunchError(f"{path}: the name of a file of results ends with {', '.join(FORMATS)}")


def read_records(path: Path) -> list[Record]:
    """The records in a file; a last line that is not whole is left out.

    Raises :class:`~fgpu.errors.LaunchError` for a file that is none of records, and OSError.
    """
    _check_suffix(path)
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() == ".json":
            rows: list[dict[str, Any]] = json.loads(text)
        elif path.suffix.lower() == ".jsonl":
            rows = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        else:
            rows = [{name: _value(name, cell) for name, cell in row.items()}
                    for row in csv.DictReader(StringIO(text))]
    except UnicodeDecodeError:
        raise LaunchError(f"{path} has no records of benchmarks: it is not a text file") from None
    except ValueError as error:
        raise LaunchError(f"{path} has no records of benchmarks: {error}") from None
    return [_record(path, row) for row in (rows if isinstance(rows, list) else [rows])]


def _record(path: Path, row: Any) -> Record:
    try:
        return Record(**row)
    except TypeError:
        raise LaunchError(f"{path} has no records of benchmarks, but {json.dumps(row):.60s}; "
                          "fgpu bench --json writes such files") from None


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write a file of records, whole or not at all."""
    rows = [record.as_dict() for record in records]
    if path.suffix.lower() == ".json":
        text = json.dumps(rows, indent=1) + "\n"
    elif path.suffix.lower() == ".jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        file = StringIO()
        writer = csv.DictWriter(file, _NAMES, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(name, value) for name, value in row.items()} for row in rows)
        text = file.getvalue()
    try:
        write_atomically(path, text)
    except OSError as error:
        raise LaunchError(f"cannot write {path}: {error.strerror or error}") from None


def append_record(path: Path, record: Record) -> None:
    """Add a record to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record.as_dict()) + "\n")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    return str(value) if name in _TEXTS else json.dumps(value)


def _value(name: str, cell: str) -> Any:
    if cell == "":
        return None
    return cell if name in _TEXTS else json.loads(cell)
