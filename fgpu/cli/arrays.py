"""The arrays of one run: parsed, put into a device's memory, compared and saved."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fgpu.config import PARAMETERS_MAX
from fgpu.errors import LaunchError

from .files import write_file
from .values import argument, array_bytes

if TYPE_CHECKING:
    from fgpu.sim import Buffer, Device

__all__ = ["Arrays", "check_array_files"]


def check_array_files(outputs: Sequence[tuple[int, str]]) -> None:
    """An error for a file that is no ``.npy`` file."""
    for key, path in outputs:
        if not path.lower().endswith(".npy"):
            raise click.ClickException(f"--output {key}={path}: an array becomes a .npy file; name it so")


class Arrays:
    """The arrays of a kernel's ``arguments``, and the ``preloads`` at byte addresses, in the texts that
    :func:`.values.argument` takes. The key of an array is its argument's number, from 0, or its address; random ones
    come from ``seed``.

    Raises :class:`~fgpu.errors.LaunchError` for text that is none.
    """

    def __init__(self, arguments: Sequence[str], preloads: Sequence[tuple[int, str]], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._arguments = [argument(text, rng) for text in arguments]
        self._preloads = [(address, _array(text, rng)) for address, text in preloads]
        self._buffers: dict[int, Buffer] = {}
        self._before: dict[int, np.ndarray] = {}
        self._after: dict[int, np.ndarray] = {}

    def put(self, device: "Device") -> list[Any]:
        """Put the arrays into memory; the kernel's arguments for a launch."""
        self._buffers = {address: device.buffer(array, address=address) for address, array in self._preloads}
        args: list[Any] = []
        for index, value in enumerate(self._arguments):
            if isinstance(value, np.ndarray):
                self._buffers[index] = device.buffer(value)
                args.append(self._buffers[index])
            else:
                args.append(value)
        self._before = self._read()
        return args

    def check_keys(self, outputs: Sequence[tuple[int, str]]) -> None:
        """Raises :class:`~fgpu.errors.LaunchError` for a key without an array; after :meth:`put`."""
        for key, path in outputs:
            if key not in self._buffers:
                there = ", ".join(_name(key) for key in self._buffers) or "none"
                raise LaunchError(f"--output {key}={path}: there is no such array; arrays: {there}")

    def fetch(self) -> None:
        """Read what the run left, while the device is open."""
        self._after = self._read()

    def save(self, outputs: Sequence[tuple[int, str]]) -> None:
        """Write ``.npy`` files of what was fetched."""
        for key, path in outputs:
            write_file(Path(path), array_bytes(self._after[key]))

    def changed(self) -> dict[str, np.ndarray]:
        """What was fetched and is not as it was put, by the names of the arrays."""
        return {_name(key): array for key, array in self._after.items()
                if not np.array_equal(array, self._before[key])}

    def _read(self) -> dict[int, np.ndarray]:
        return {key: buffer.read() for key, buffer in self._buffers.items()}


def _array(text: str, rng: np.random.Generator) -> np.ndarray:
    value = argument(text, rng)
    if not isinstance(value, np.ndarray):
        raise LaunchError(f"--memory needs an array, not {text}")
    return value


def _name(key: int) -> str:
    return f"argument {key}" if key < PARAMETERS_MAX else f"0x{key:08X}"
