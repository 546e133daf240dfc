"""Launches of which all is known but the values of the parameters: what is the same for each is computed once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fgpu.address_map import DescriptorWord, SizeWord
from fgpu.compiler.image import Image, Kernel
from fgpu.config import PARAMETERS_MAX, Config
from fgpu.errors import LaunchError

from .arguments import Size, check_kernel, check_program, sizes
from .descriptor import KernelDescriptor
from .index_space import SHORTFALL_TOLD, Part, divide, shortfall, warn_of_shortfall
from .local_memory import LocalMemory, LocalRoom

__all__ = ["Preparations", "PreparedLaunch"]

_KEPT: Final = 256
_WORDS: Final = 1 << 32
_COUNT_AT: Final = SizeWord.as_shape()["parameters"].offset


@dataclass(frozen=True, kw_only=True)
class PreparedLaunch:
    """A kernel, its index space and its local memory on a configuration, checked."""

    image: Image
    kernel: Kernel
    whole: KernelDescriptor
    """The index space, which may be launched in parts."""
    parts: tuple[Part, ...]
    room: LocalRoom
    implicit: tuple[str, ...]
    """The parameters that the source does not have."""
    _descriptors: tuple[tuple[int, ...], ...] = field(repr=False)
    """Of each part, without parameters."""

    @classmethod
    def of(cls, image: Image, kernel: Kernel, config: Config, *, global_size: Size, local_size: Size | None = None,
           global_offset: Size | None = None, local: Sequence[object] = ()) -> "PreparedLaunch":
        """Prepare a launch; ``local`` has the :class:`~fgpu.sim.local_memory.LocalMemory` of its arguments, among
        others. Raises :class:`~fgpu.errors.LaunchError` or :class:`~fgpu.errors.ImageError` for what cannot be run.
        """
        extents = sizes("global size", global_size)
        group = sizes("local size", local_size) if local_size is not None else \
            kernel.work_group_size[:len(extents)] if kernel.work_group_size is not None else None
        # Checked as a whole first, whatever parts it may have.
        whole = KernelDescriptor(
            entry=kernel.entry, global_size=extents, local_size=group or (1,) * len(extents),
            global_offset=() if global_offset is None else sizes("global offset", global_offset))
        if group is not None:
            whole.check_divisible()
            parts = [Part((0,) * len(extents), extents, group)]
        else:
            parts = divide(extents, config.compute_units, cut=kernel.splittable and not kernel.is_cooperative)
            warn_of_shortfall(kernel, extents, parts)
        room = LocalRoom.of(kernel, local, config)
        descriptors = []
        for part in parts:
            check_kernel(kernel, part.local_size, config)
            offset = tuple((first + start) % _WORDS
                           for first, start in zip(whole.global_offset, part.start, strict=True))
            descriptors.append(replace(
                whole, local_size=part.local_size, work_groups=part.work_groups, local_rows=room.rows,
                local_groups=room.groups, place=room.regions > 0, global_offset=offset).words())
        check_program(image, kernel.entry, config)
        implicit = tuple(parameter.name for parameter in kernel.parameters or () if parameter.kind == "implicit")
        return cls(image=image, kernel=kernel, whole=whole, parts=tuple(parts), room=room, implicit=implicit,
                   _descriptors=tuple(descriptors))

    @property
    def work_items(self) -> int:
        """Of the whole index space."""
        return math.prod(self.whole.global_size)

    def descriptor(self, part: int, parameters: Sequence[int]) -> tuple[int, ...]:
        """The words of one part's slot in LRAM; ``parameters`` are at most 16 words."""
        count = len(parameters)
        if count > PARAMETERS_MAX:
            raise LaunchError(f"{count} parameters are too many; a kernel takes at most {PARAMETERS_MAX}")
        words = self._descriptors[part]
        first = DescriptorWord.PARAMETERS
        size = words[DescriptorWord.SIZE] | count % PARAMETERS_MAX << _COUNT_AT
        return (*words[:DescriptorWord.SIZE], size, *words[DescriptorWord.SIZE + 1:first], *parameters,
                *words[first + count:])


class Preparations:
    """The last launches that were prepared for a configuration: programs launch the same again and again."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._kept: dict[tuple[object, ...], PreparedLaunch] = {}

    def of(self, image: Image, kernel: Kernel, args: Sequence[object], global_size: Size, local_size: Size | None,
           global_offset: Size | None) -> PreparedLaunch:
        """:meth:`PreparedLaunch.of`, where need be; it tells of a bad division each time."""
        where = [sizes("global size", global_size),
                 None if local_size is None else sizes("local size", local_size),
                 None if global_offset is None else sizes("global offset", global_offset)]
        # With their image and kernel kept, their ids are nobody else's.
        key = id(image), id(kernel), *where, *(
            each for each in (args if isinstance(args, Sequence) else ()) if isinstance(each, LocalMemory))
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        prepared = PreparedLaunch.of(image, kernel, self._config, global_size=global_size, local_size=local_size,
                                     global_offset=global_offset, local=_for_local(kernel, args))
        if local_size is not None or shortfall(prepared.parts) < SHORTFALL_TOLD:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = prepared
        return prepared


def _for_local(kernel: Kernel, args: Sequence[object]) -> Sequence[object]:
    """The arguments of parameters that are local memory. What is given for others is refused when they are put."""
    if kernel.parameters is None or not isinstance(args, Sequence):
        return args
    asked = (parameter for parameter in kernel.parameters if parameter.kind != "implicit")
    return [argument for argument, parameter in zip(args, asked, strict=False) if parameter.kind == "local"]
