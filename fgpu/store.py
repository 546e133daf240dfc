"""What is made once and kept in the user's cache folder.

Everything in it is checked against a digest of its content before it is used: what a full disk or a killed process
left is made again. A cache that cannot be written serves what it has.

Entries are files, and folders of files: shared libraries and bitcode that other programs open by their paths. That is
why this is not diskcache, which keeps values in an SQLite database that it must be able to write even to read, and
neither checks them against a digest nor lets one process build while others wait.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from .errors import ToolError
from .files import cache_directory, write_atomically

__all__ = ["Kind", "clear", "kept_bytes", "kept_files", "kinds", "with_digest", "without_digest", "workspace"]

_UNUSED_SECONDS = 60 * 24 * 3600
_PARTIAL_SECONDS = 24 * 3600
_WORK = "work"
_NO_ENTRIES = (".lock", ".tmp")
_pruned: set[Path] = set()


@dataclass(frozen=True)
class Kind:
    """What the cache has of a kind of things."""

    name: str
    entries: int
    size: int
    """Bytes."""


def with_digest(content: bytes) -> bytes:
    """The SHA-256 of the ``content`` in hexadecimal, a line feed, the content."""
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def without_digest(guarded: bytes) -> bytes | None:
    """The content that :func:`with_digest` was given; None if it is damaged."""
    digest, _, content = guarded.partition(b"\n")
    return content if digest == hashlib.sha256(content).hexdigest().encode() else None


def kept_bytes(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The entry ``key`` of a ``kind`` of things, or what ``make`` returns: the new entry, if the disk lets us.

    An entry is a file with the content and its digest (:func:`with_digest`).
    """
    path = cache_directory() / kind / key
    with contextlib.suppress(OSError):
        if (kept := without_digest(path.read_bytes())) is not None:
            _use(path)
            return kept
    content = make()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, with_digest(content))
        if path.parent not in _pruned:      # these are many, and quickly made
            _pruned.add(path.parent)
            _prune_daily(path.parent)
    return content


def kept_files(kind: str, key: str, build: Callable[[Path], dict[str, Any]],
               names: tuple[str, ...]) -> tuple[Path, dict[str, Any]]:
    """A folder with the files ``names``, and the notes that ``build`` returned for them; built if need be.

    ``build`` is given an empty folder in which it leaves the files. Several processes may ask at once: one builds,
    the others wait. A failed build leaves nothing.
    Raises :class:`~fgpu.errors.ToolError` if it has to be built and the cache cannot be written.
    """
    root = cache_directory() / kind
    entry = root / key
    notes = _load(entry, names)
    if notes is None:
        try:
            root.mkdir(parents=True, exist_ok=True)
            with FileLock(root / f"{key}.lock"):
                notes = _load(entry, names)     # another process may have built it meanwhile
                if notes is None:
                    notes = _build(entry, build, names)
                    _prune(root)
        except OSError as error:
            raise ToolError(f"cannot write the cache {root}: {error}; FGPU_CACHE_DIR names another folder") from error
    return entry, notes


def _build(entry: Path, build: Callable[[Path], dict[str, Any]], names: tuple[str, ...]) -> dict[str, Any]:
    with workspace() as work:
        notes = build(work)
        ready = work / "ready"
        ready.mkdir()
        for name in names:
            os.replace(work / name, ready / name)
        hashes = {name: _hash(ready / name) for name in names}
        (ready / "notes.json").write_text(json.dumps({"sha256": hashes, "notes": notes}))
        shutil.rmtree(entry, ignore_errors=True)    # what is damaged
        os.replace(ready, entry)
    return notes


def _load(entry: Path, names: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        content = json.loads((entry / "notes.json").read_text())
        if content["sha256"] != {name: _hash(entry / name) for name in names}:
            return None
        notes = content["notes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    _use(entry)
    return notes if isinstance(notes, dict) else None


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """An empty folder, gone afterwards: on the cache's disk, or else where the system keeps its own.

    A lock tells whose it is: what killed processes left is removed by the next one that needs a folder.
    """
    root = cache_directory() / _WORK
    with contextlib.ExitStack() as after:
        try:
            root.mkdir(parents=True, exist_ok=True)
            _clear(root)
            lock = FileLock(root / f"{os.urandom(8).hex()}.lock")
            after.callback(_drop, lock)
            lock.acquire()
            folder = tempfile.TemporaryDirectory(dir=root, prefix=f"{Path(lock.lock_file).stem}-",
                                                 ignore_cleanup_errors=True)
        except OSError:
            folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        yield Path(after.enter_context(folder))


def _drop(lock: FileLock) -> None:
    with contextlib.suppress(OSError):
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()


def _clear(root: Path) -> None:
    """Remove the folders whose processes have gone: nobody holds their locks."""
    for path in root.glob("*.lock"):
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            continue
        for folder in root.glob(f"{path.stem}-*"):
            shutil.rmtree(folder, ignore_errors=True)
        _drop(lock)


def kinds() -> list[Kind]:
    """What is in the cache, by kind."""
    root = cache_directory()
    found = []
    for folder in sorted(path for path in root.glob("*") if path.is_dir()):
        files = [path for path in folder.rglob("*") if path.is_file()]
        entries = [path for path in folder.iterdir() if path.suffix not in _NO_ENTRIES]
        found.append(Kind(folder.name, len(entries), sum(path.stat().st_size for path in files)))
    return found


def clear() -> None:
    """Remove everything from the cache but what running processes have in work.

    Raises :class:`~fgpu.errors.ToolError` if that cannot be done.
    """
    root = cache_directory()
    try:
        for folder in [path for path in root.glob("*") if path.is_dir()]:
            if folder.name == _WORK:
                _clear(folder)
                continue
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
    except OSError as error:
        raise ToolError(f"cannot clear the cache {root}: {error}") from error


def _use(path: Path) -> None:
    """Note that an entry is in use: see :func:`_prune`. A cache that cannot be written is nobody's to prune."""
    with contextlib.suppress(OSError):
        os.utime(path)


def _prune_daily(root: Path) -> None:
    """As :func:`_prune`, unless another process did lately: to look at tens of thousands of entries takes as long as
    ten compilations."""
    stamp = root.with_name(f"{root.name}.pruned")
    with contextlib.suppress(OSError):
        if time.time() - stamp.stat().st_mtime < _PARTIAL_SECONDS:
            return
    stamp.touch()
    _prune(root)


def _prune(root: Path) -> None:
    """Forget what nobody has used for long: every change of the sources adds entries."""
    now = time.time()
    for path in root.iterdir():
        try:
            age = now - path.stat().st_mtime
            if path.suffix == ".tmp" and age > _PARTIAL_SECONDS:
                path.unlink()
            elif age > _UNUSED_SECONDS:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
                elif path.suffix != ".lock" or not path.with_suffix("").exists():   # of a build that failed
                    path.unlink()
        except OSError:
            continue    # another process was faster
