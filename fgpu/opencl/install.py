"""Where ICD loaders look for the library, and putting it there."""

import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fgpu.errors import ToolError
from fgpu.files import write_atomically

from .library import ICD, LIBRARY

__all__ = ["Place", "find_libpython", "install", "places", "uninstall"]

SYSTEM: Final = Path("/etc/OpenCL/vendors")


@dataclass(frozen=True)
class Place:
    """A folder in which loaders look."""

    folder: Path
    readers: str
    """Who looks there."""

    @property
    def is_writable(self) -> bool:
        """Whether this user may put something there."""
        nearest = next(folder for folder in (self.folder, *self.folder.parents) if folder.exists())
        return os.access(nearest, os.W_OK)

    @property
    def files(self) -> list[Path]:
        """What :func:`install` put there."""
        return [path for path in _files(self.folder) if path.exists()]


def places() -> list[Place]:
    """Where loaders look on this system, the most particular first."""
    found = []
    spec = find_spec("pyopencl")
    if spec is not None and spec.origin is not None:
        found.append(Place(Path(spec.origin).parent / ".libs", "pyopencl of this environment"))
    found.append(Place(SYSTEM, "all programs of this system"))
    return found


def _files(folder: Path) -> Iterator[Path]:
    yield folder / ICD
    yield folder / f"{LIBRARY}.conf"
    yield folder / LIBRARY


def install(folder: Path) -> Path:
    """Put the library, what it has to know and its ``.icd`` into a folder. Returns the ``.icd``.

    Raises :class:`~fgpu.errors.ToolError` where there is no compiler.
    """
    from .library.build import build_library

    content = build_library().read_bytes()
    icd, settings, library = _files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(library, content)
    library.chmod(0o755)
    write_atomically(settings, environment())
    write_atomically(icd, f"{library.absolute()}\n")
    return icd


def uninstall(folder: Path) -> list[Path]:
    """Remove what :func:`install` put into a folder, and the folder if nothing else is in it."""
    removed = [path for path in _files(folder) if path.exists()]
    for path in removed:
        path.unlink()
    return removed


def environment() -> str:
    """What the library reads in its process: the Python to start there, and where its packages are."""
    libpython = find_libpython()
    for line in ([] if libpython is None else [str(libpython)]) + [sys.executable]:
        if "\n" in line:
            raise ToolError(f"a path with a line feed: {line!r}")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (f"python={sys.executable}\nlibpython={libpython or ''}\nversion={version}\n"
            f"packages={sysconfig.get_path('purelib')}\n")


def find_libpython() -> Path | None:
    """This Python as a shared library, which C programs load; None if it was built without."""
    names = [sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LDLIBRARY")]
    version = f"{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}"
    names += [f"libpython{version}.so.1.0", f"libpython{version}.so.1", f"libpython{version}.so"]
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    folders = [sysconfig.get_config_var("LIBDIR"), str(Path(sys.base_prefix) / "lib")]
    folders += [f"{folder}/{multiarch}" for folder in (*folders, "/usr/lib") if folder]
    for folder in folders:
        for name in names:
            if folder and name and ".so" in name and (path := Path(folder) / name).exists():
                return path
    return None
