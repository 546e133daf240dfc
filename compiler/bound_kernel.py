"""A kernel together with its image: what ``image["name"]`` is, and what can be called."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fgpu.errors import LaunchError

if TYPE_CHECKING:
    from fgpu.sim import Run

    from .image import Image, Kernel

__all__ = ["BoundKernel"]


@dataclass(frozen=True, repr=False)
class BoundKernel:
    """A kernel that knows its image; :meth:`fgpu.sim.Device.launch` takes it for both."""

    image: "Image"
    kernel: "Kernel"

    def __call__(self, *args: Any, global_size: Any, **options: Any) -> "Run":
        """Run it on the device to which the buffers among its arguments belong.

        ``options`` are those of :meth:`fgpu.sim.Device.launch`, such as ``local_size``. Raises
        :class:`~fgpu.errors.LaunchError` where no argument is a buffer, and what ``launch`` raises.
        """
        for argument in args:
            launch = getattr(getattr(argument, "device", None), "launch", None)
            if launch is not None:
                run: Run = launch(self, global_size=global_size, args=args, **options)
                return run
        raise LaunchError(f"{self!r} was called without a buffer, which would tell the device; pass buffers that "
                          f"device.buffer(array) makes, or use device.launch(image[{self.kernel.name!r}], ...)")

    def __repr__(self) -> str:
        return f"<kernel {self.kernel.signature}>"
