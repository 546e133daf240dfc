"""What is known of a kernel of an image: where it begins, what it takes and what it needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fgpu.config import LOCAL_NULL, WAVEFRONT_SIZE

__all__ = ["Kernel", "Parameter", "local_place"]

_LOCAL_ALIGNMENT: Final = 128
"""Of arguments that are local memory: that of the largest type."""


def local_place(end: int, alignment: int) -> int:
    """Where in local memory, in bytes, what is aligned to ``alignment`` begins behind ``end``."""
    place = -(-end // alignment) * alignment
    return place if place != LOCAL_NULL else place + alignment


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    ``type`` is the OpenCL spelling of the value (a vector is a scalar here), or of what the pointer points to, and
    ``size`` its bytes. A value takes as many parameter words as it needs. A ``local`` parameter is a pointer to local
    memory; the host says how much. ``implicit`` parameters come last: the
    source does not have them, and the host gives the address of the image's data (``constants``), the number of
    dimensions (``work_dim``), the address of the work-items' private memory (``private``), of
    which :meth:`Kernel.private_room` tells the size; the address of a buffer for what printf prints, of all
    work-items (``printf``) or in regions of their own (``printf_own``); or, where the hardware has no local memory,
    the address of regions of global memory, one for each work-group that may run at a time (``local``), and the bytes
    of each (``local_bytes``).

    If all parameters together have more than 16 words, the kernel gets 15 of them, and the address of the rest.
    """

    name: str
    kind: Literal["pointer", "scalar", "struct", "local", "implicit"]
    type: str
    size: int

    @property
    def declaration(self) -> str:
        """As in the source: ``int *in``."""
        before, pointer = {"pointer": ("", "*"), "local": ("__local ", "*")}.get(self.kind, ("", ""))
        return f"{before}{self.type} {pointer}{self.name}"


@dataclass(frozen=True)
class Kernel:
    """One kernel of an image.

    ``entry`` is the word index of its first instruction, ``instructions`` its static length in words and
    ``scratchpad_words`` what a work-item needs of the scratchpad. ``parameters`` is None where nobody
    knows them (an image of raw words); ``work_group_size`` is what ``reqd_work_group_size`` demands, and
    ``private_bytes`` the global memory that each work-item of a launch needs for itself. ``splittable`` says that
    nobody can tell whether an index space is run by one launch or by several with other global offsets, as
    the kernel does not ask for its work-groups. ``local_bytes`` are those of its own variables in local memory, which
    begin at its first byte; ``has_barrier`` says that work-items may wait for the others of their work-group.
    """

    name: str
    entry: int
    parameters: tuple[Parameter, ...] | None = None
    scratchpad_words: int = 0
    instructions: int = 0
    work_group_size: tuple[int, int, int] | None = None
    private_bytes: int = 0
    splittable: bool = False
    local_bytes: int = 0
    has_barrier: bool = False

    @property
    def is_cooperative(self) -> bool:
        """Whether the work-items of a work-group work together: by barriers, or by local memory."""
        return self.has_barrier or self.local_bytes > 0 or any(
            parameter.kind == "local" for parameter in self.parameters or ())

    @property
    def signature(self) -> str:
        """The name with the parameters that a caller gives: ``scale(int *in, int *out, int factor)``."""
        if self.parameters is None:
            return f"{self.name}(...)"
        given = [parameter.declaration for parameter in self.parameters if parameter.kind != "implicit"]
        return f"{self.name}({', '.join(given)})"

    def private_room(self, work_items: int) -> int:
        """Bytes of global memory that the host reserves for the private memory of all work-items of a launch, whose
        local size divides its global size.

        They lie in blocks of 64, as many as a wavefront has, and may begin at any multiple of 4; accesses are fastest
        where it is one of a cache line.
        """
        return -(-work_items // WAVEFRONT_SIZE) * WAVEFRONT_SIZE * self.private_bytes

    def local_layout(self, arguments: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """How a work-group's local memory is divided where ``arguments`` of so many bytes are in it: where each
        begins, behind the kernel's own variables, and the end of the last one, in bytes."""
        begins, end = [], self.local_bytes
        for size in arguments:
            begins.append(local_place(end, _LOCAL_ALIGNMENT))
            end = begins[-1] + size
        return tuple(begins), end
