"""Files that are written whole or not at all, and where files are kept between runs."""

import errno
import os
import threading
from pathlib import Path

import platformdirs

__all__ = ["cache_directory", "write_atomically"]


def cache_directory() -> Path:
    """The project's folder in the user's cache; ``FGPU_CACHE_DIR`` overrides the system's usual place.

    Absolute, since compilers run in folders of their own.
    """
    return Path(os.environ.get("FGPU_CACHE_DIR") or platformdirs.user_cache_path("fgpu")).absolute()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content``; raises OSError and leaves nothing where that cannot be done."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        if isinstance(content, bytes):
            partial.write_bytes(content)
        else:
            partial.write_text(content, encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
