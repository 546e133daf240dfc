"""What a host needs to know of a program's kernels before any code is made: names, parameters and attributes."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["Interface", "KernelParameter"]


@dataclass(frozen=True)
class KernelParameter:
    """A parameter as the source declares it."""

    name: str
    type: str
    """As it is written: ``float4*``."""
    base: str
    """Without typedefs."""
    kind: Literal["value", "pointer", "local", "image", "sampler"]
    """A pointer is one to global or constant memory."""
    size: int
    """Bytes of a value."""
    space: Literal["private", "global", "constant", "local"]
    access: str
    """``none``, or of an image ``read_only`` and the like."""
    qualifiers: str
    """``const restrict volatile``."""


@dataclass(frozen=True)
class Interface:
    """A kernel as its host sees it."""

    name: str
    parameters: tuple[KernelParameter, ...]
    work_group_size: tuple[int, int, int] | None
    """What ``reqd_work_group_size`` demands."""
    attributes: str
    """As in the source, with a space between two."""

    def to_json(self) -> dict[str, Any]:
        """What :meth:`from_json` takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Interface":
        """Raises TypeError, KeyError or ValueError for what :meth:`to_json` did not make."""
        size = data["work_group_size"]
        return cls(data["name"], tuple(KernelParameter(**parameter) for parameter in data["parameters"]),
                   None if size is None else (int(size[0]), int(size[1]), int(size[2])), data["attributes"])
