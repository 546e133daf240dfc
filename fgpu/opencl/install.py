"""Where ICD loaders look for the library, and putting it there."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fgpu.errors import ToolError
from fgpu.files import write_atomically

from .library import ICD, LIBRARY

__all__ = ["Place", "find_libpython", "install", "is_of_wheel", "places", "uninstall"]

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
    def state(self) -> str:
        """What is there, for people."""
        if not (self.folder / ICD).exists():
            return "not installed"
        if is_of_wheel(self.folder):
            return "installed, by the wheel"
        settings = _settings(self.folder)
        return f"installed, for {settings.get('python') or 'no Python'}"


def places() -> list[Place]:
    """Where loaders look on this system, the most particular first."""
    found = []
    spec = find_spec("pyopencl")
    if spec is not None and spec.origin is not None:
        found.append(Place(Path(spec.origin).parent / ".libs", "pyopencl of this environment"))
    found.append(Place(SYSTEM, "all programs of this system"))
    return found


def is_of_wheel(folder: Path) -> bool:
    """Whether a wheel put the library into a folder: then it is for any Python that fgpu is installed in."""
    try:
        return (folder / ICD).read_text().strip() == LIBRARY
    except OSError:
        return False


def _files(folder: Path) -> list[Path]:
    """What :func:`install` writes: the settings alone beside a wheel's library."""
    settings = folder / f"{LIBRARY}.conf"
    return [settings] if is_of_wheel(folder) else [folder / ICD, folder / LIBRARY, settings]


def _settings(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / f"{LIBRARY}.conf").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def install(folder: Path) -> Path:
    """Put the library, what it has to know and its ``.icd`` into a folder. Returns the ``.icd``.

    Raises :class:`~fgpu.errors.ToolError` where there is no compiler.
    """
    icd, library = folder / ICD, folder / LIBRARY
    if not is_of_wheel(folder):
        from .library.build import build_library

        content = build_library().read_bytes()
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(library, content)
        library.chmod(0o755)
        write_atomically(icd, f"{library.absolute()}\n")
    write_atomically(folder / f"{LIBRARY}.conf", environment())
    return icd


def uninstall(folder: Path) -> list[Path]:
    """Remove what :func:`install` put into a folder; what a wheel put there is pip's. Returns what is removed."""
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
