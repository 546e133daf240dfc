"""Hardware as a device of the platform: a board at a serial line, or a core beside this processor."""

from dataclasses import replace
from typing import TYPE_CHECKING

from fgpu.engines import BOARD

from .device_list import Offer
from .patience import watch

if TYPE_CHECKING:
    from fgpu.sim import Device as Simulator

__all__ = ["open_hardware"]


def open_hardware(offer: Offer) -> "tuple[Offer, Simulator]":
    """What runs kernels on the hardware of an offer, and the offer with what the hardware tells of itself.

    Raises :class:`~fgpu.errors.FgpuError` if it does not answer, or another process has it.
    """
    from fgpu.sim import Device as Simulator

    assert offer.port is not None
    if offer.engine != BOARD:
        from fgpu.sim.mapped.uio import open_uio

        mapped = open_uio(offer.port, clock=offer.clock * 1e6)
        return offer, Simulator(offer.config, engine=offer.engine, port=mapped, check_accesses=False,
                                progress=watch(offer.engine))
    from fgpu.board.link import Link
    from fgpu.sim.board.memory import BoardMemory

    link = Link(offer.port) if offer.timeout is None else Link(offer.port, timeout=offer.timeout)
    found = Simulator(engine=offer.engine, port=link, check_accesses=False, progress=watch(offer.engine))
    assert isinstance(found.memory, BoardMemory)
    found.memory.is_shared = True       # the C library reads and writes buffers where they lie
    units = f"{found.config.compute_units} CU" + "s" * (found.config.compute_units > 1)
    return replace(offer, name=f"{offer.name} {units}", config=found.config, clock=round(link.clock / 1e6)), found
