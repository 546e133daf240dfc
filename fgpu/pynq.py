"""The driver for PYNQ: ``overlay.fgpu_0`` runs kernels on buffers of ``pynq.allocate`` (``docs/zynq.md``).

    import fgpu.pynq                          # before the overlay: PYNQ then takes this driver
    from pynq import Overlay, allocate

    gpu = Overlay("fgpu.bit").fgpu_0
    image = Image.load("vec_add.json")        # made by fgpu compile, or by compile_opencl(source, config=gpu.config)
    a, b, c = (allocate(1024, "i4") for _ in range(3))
    gpu.launch(image, "vec_add", global_size=1024, args=[a, b, c])
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

try:
    from pynq import DefaultIP, allocate
except ImportError as error:
    raise ImportError("fgpu.pynq needs PYNQ, which its boards have: pip install pynq there") from error

from .config import Config
from .errors import BoardError
from .sim import Buffer, Device
from .sim.mapped.engine import Mapped
from .sim.mapped.memory import MappedMemory
from .vivado.component import CONFIG_PARAMETER
from .vivado.zynq import CLOCK_MHZ, VLNV

__all__ = ["FGPU"]

_ARENA_BYTES: Final = 16 << 20


class FGPU(DefaultIP):
    """A core in an overlay. PYNQ makes it; ``config`` is the core's configuration, as its IP tells.

    ``device`` is a :class:`~fgpu.sim.device.Device` on it, whose own memory is ``arena_bytes`` of PYNQ's (16 MiB),
    allocated when it is first used: constants, private and local memory of kernels, what they print, and buffers of
    ``device.buffer`` are there. ``clock`` (Hz) matters only for the limits of launches.
    """

    bindto: Final = [":".join(VLNV)]

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description=description)
        self.config = _config(description.get("parameters", {}))
        self.arena_bytes = _ARENA_BYTES
        self.clock = 1e6 * CLOCK_MHZ
        self._device: Device | None = None
        self._units = self.config.float_ops

    @property
    def device(self) -> Device:
        """The device of fgpu's own host programs."""
        if self._device is None:
            arena = allocate(self.arena_bytes, "u1")
            self._device = Device(self.config, engine="mapped", port=Mapped(
                self.mmio, MappedMemory(arena.device_address, arena), self.clock))
        return self._device

    def load_floats(self, overlay: Any, bitstreams: Mapping[str, str], float_ops: Iterable[str] = ()) -> None:
        """Load partial bitstreams into the regions that hold the floating-point units, one for each compute unit.

        ``bitstreams`` has for each region's name, as ``overlay.pr_download`` takes it, a file with units for
        ``float_ops``, or by default with none. Kernels that need others are refused from then on, with the name of
        what they lack. No kernel runs meanwhile. If a download fails, the core counts as one without units.

        Raises :class:`~fgpu.errors.BoardError` for a core that was built without such units, and thus without
        regions, and for another number of regions; :class:`~fgpu.errors.ConfigError` for unknown operations.
        """
        loaded = self.config.replace(float_ops=frozenset(float_ops))
        if not self._units:
            raise BoardError("the overlay's core was built without floating-point units: it has no regions for them")
        if len(bitstreams) != self.config.compute_units:
            raise BoardError(f"{len(bitstreams)} partial bitstreams for the core's {self.config.compute_units} "
                             "compute unit(s): each has a region of its own")
        device = self.device
        with device.lock:
            self._become(self.config.replace(float_ops=frozenset()))
            for region, bitstream in bitstreams.items():
                overlay.pr_download(region, bitstream)
            self._become(loaded)

    def _become(self, config: Config) -> None:
        self.config = config
        self.device.reconfigured(config)

    def launch(self, image: Any, kernel: str | None = None, *, args: Any = (), **options: Any) -> Any:
        """Run a kernel to its end: :meth:`Device.launch <fgpu.sim.device.Device.launch>`, where arrays of
        ``pynq.allocate`` may be arguments, too. They are written back from the processor's caches before, and read
        anew after."""
        device = self.device
        arrays = [each for each in args if hasattr(each, "device_address")]
        given = [Buffer(device, each.device_address, each.shape, each.dtype)
                 if hasattr(each, "device_address") else each for each in args]
        for each in arrays:
            each.sync_to_device()
        try:
            return device.launch(image, kernel, args=given, **options)
        finally:
            for each in arrays:
                each.sync_from_device()


def _config(parameters: dict[str, str]) -> Config:
    """What the IP's parameter says."""
    key = parameters.get(CONFIG_PARAMETER)
    if key is None:
        raise BoardError(f"the overlay's IP has no parameter {CONFIG_PARAMETER}: build it from what fgpu build --ip "
                         "writes, with its .hwh beside the bitstream")
    try:
        return Config.from_key(key)
    except ValueError as error:
        raise BoardError(f"the overlay's core is of another version of fgpu: {key!r} ({error})") from None
