"""Launches of kernels."""

import ctypes
import math
import sys
import time
import warnings
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

from .buffers import Buffer
from .commands import Work
from .devices import Device
from .entry import entry
from .enums import CommandType, Status
from .interrupts import pass_on
from .kernels import Argument, Kernel
from .launch_log import note
from .objects import LOCK, ClError, find
from .queues import CommandQueue

if TYPE_CHECKING:
    from fgpu.sim import Device as Simulator
    from fgpu.sim.prepared import PreparedLaunch

__all__ = ["after_fork"]

_DIMENSIONS: Final = 3
_SIZES_END: Final = 1 << 32
"""Device addresses have 32 bits, and so have sizes."""
_NO_LIMIT: Final = (1 << 63) - 1
_PREPARED_MAX: Final = 64
"""Shapes of launches that a kernel remembers."""
_starting = Lock()
_Sizes = tuple[int, ...]


def after_fork() -> None:
    """In a new process: threads of the old one may have been starting devices."""
    global _starting
    _starting = Lock()


@entry("clEnqueueNDRangeKernel", locked=False)
def enqueue_nd_range_kernel(queue: int, kernel: int, dimensions: int, offset: int, extents: int, local: int,
                            count: int, events: int, event_out: int) -> None:
    with LOCK:
        on = find(CommandQueue, queue)
        found = find(Kernel, kernel)
        if found.context is not on.context:
            raise ClError(Status.INVALID_CONTEXT, "queue and kernel are of different contexts")
        if on.device not in found.program.executables:
            raise ClError(Status.INVALID_PROGRAM_EXECUTABLE, "the program was not built for the queue's device")
        if not 1 <= dimensions <= _DIMENSIONS:
            raise ClError(Status.INVALID_WORK_DIMENSION, f"{dimensions} dimensions")
        if not extents:
            raise ClError(Status.INVALID_GLOBAL_WORK_SIZE, "no global size")
        kind = ctypes.c_size_t * dimensions
        size = tuple(kind.from_address(extents))
        start = tuple(kind.from_address(offset)) if offset else (0,) * dimensions
        group = tuple(kind.from_address(local)) if local else None
    _enqueue(on, found, CommandType.NDRANGE_KERNEL, size, group, start, (count, events), event_out)


@entry("clEnqueueTask", locked=False)
def enqueue_task(queue: int, kernel: int, count: int, events: int, event_out: int) -> None:
    with LOCK:
        on = find(CommandQueue, queue)
        found = find(Kernel, kernel)
        if found.context is not on.context:
            raise ClError(Status.INVALID_CONTEXT, "queue and kernel are of different contexts")
    _enqueue(on, found, CommandType.TASK, (1,), (1,), (0,), (count, events), event_out)


def _enqueue(queue: CommandQueue, kernel: Kernel, kind: CommandType, size: _Sizes, group: _Sizes | None,
             start: _Sizes, waits: tuple[int, int], event_out: int) -> None:
    arguments = _arguments(kernel)
    key = queue.device.config.key, size, group, start, kernel.local_bytes()
    prepared = kernel.prepared.get(key)
    if prepared is None:
        try:
            prepared = _prepared(kernel, queue.device, size, group, start)
        except BaseException as error:      # while the code was made
            pass_on(error, lambda: queue.fail(kind, event_out))
            raise
        if len(kernel.prepared) >= _PREPARED_MAX:
            kernel.prepared.clear()
        kernel.prepared[key] = prepared
    places = iter(prepared.room.addresses)
    words = tuple(word for argument in arguments
                  for word in ((next(places),) if argument.local_bytes else argument.words))
    with LOCK:
        needed = _buffers(kernel, arguments)
        queue.enqueue(kind, _work(queue.device, kernel, prepared, words, needed), waits, event_out)


def _arguments(kernel: Kernel) -> list[Argument]:
    arguments = [argument for argument in kernel.arguments if argument is not None]
    if len(arguments) < len(kernel.arguments):
        missing = [index for index, argument in enumerate(kernel.arguments) if argument is None]
        raise ClError(Status.INVALID_KERNEL_ARGS, f"kernel {kernel.name!r} lacks the arguments {missing}")
    return arguments


def _buffers(kernel: Kernel, arguments: Sequence[Argument]) -> list[Buffer]:
    """Those that the arguments lead to. Raises :class:`ClError` if one was released."""
    found = [argument.buffer() for argument in arguments if argument.buffer is not None]
    there = [buffer for buffer in found if buffer is not None]
    if len(there) < len(found):
        raise ClError(Status.INVALID_KERNEL_ARGS, f"kernel {kernel.name!r} has a buffer as argument that is gone")
    return there


def _prepared(kernel: Kernel, device: Device, size: _Sizes, group: _Sizes | None, start: _Sizes) -> "PreparedLaunch":
    """What the launches of a shape have in common. Raises :class:`ClError` for a shape that cannot be."""
    from fgpu.errors import FgpuError
    from fgpu.sim.local_memory import LocalMemory
    from fgpu.sim.prepared import PreparedLaunch

    _check_shape(kernel, size, group, start)
    image = kernel.program.image(kernel.name, device)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PreparedLaunch.of(image, image.kernel(kernel.name), device.config, global_size=size,
                                     local_size=group, global_offset=start,
                                     local=[LocalMemory(length) for length in kernel.local_bytes()])
    except FgpuError as error:
        raise ClError(Status.OUT_OF_RESOURCES, str(error)) from None


def _check_shape(kernel: Kernel, size: _Sizes, group: _Sizes | None, start: _Sizes) -> None:
    from fgpu.config import WORK_GROUP_MAX

    if any(not 0 < extent < _SIZES_END for extent in size):
        raise ClError(Status.INVALID_GLOBAL_WORK_SIZE, f"the global size {size}")
    if any(first + extent > _SIZES_END for first, extent in zip(start, size, strict=True)):
        raise ClError(Status.INVALID_GLOBAL_OFFSET, f"the global size {size} from {start} on")
    demanded = kernel.interface.work_group_size
    if group is None:
        if demanded is None:
            return
        group = demanded[:len(size)]
    if any(extent > WORK_GROUP_MAX for extent in group):
        raise ClError(Status.INVALID_WORK_ITEM_SIZE, f"the local size {group}")
    if 0 in group or math.prod(group) > WORK_GROUP_MAX:
        raise ClError(Status.INVALID_WORK_GROUP_SIZE, f"the local size {group}")
    if any(extent % local for extent, local in zip(size, group, strict=True)):
        raise ClError(Status.INVALID_WORK_GROUP_SIZE, f"the local size {group} does not divide {size}")
    if demanded is not None and (*group, 1, 1)[:_DIMENSIONS] != demanded:
        raise ClError(Status.INVALID_WORK_GROUP_SIZE, f"kernel {kernel.name!r} demands the local size {demanded}")


def _work(device: Device, kernel: Kernel, prepared: "PreparedLaunch", words: tuple[int, ...],
          needed: list[Buffer]) -> Work:
    """The command; it keeps kernel and buffers alive."""

    def launch() -> float | None:
        from fgpu.errors import FgpuError
        from fgpu.sim.printf import Printf

        try:
            simulator = _simulator(device)
            began = time.perf_counter()
            run = simulator.run_prepared(prepared, words, max_cycles=_NO_LIMIT,
                                         printf=Printf(to=_print, errors="surrogateescape", tell=_tell))
        except FgpuError as error:
            _tell(str(error))
            raise ClError(Status.OUT_OF_RESOURCES, str(error)) from None
        finally:
            needed.clear()
        note(device.name, prepared.whole.global_size, run)
        seconds = device.seconds(run.cycles)
        return time.perf_counter() - began if seconds is None else seconds

    return launch


def _simulator(device: Device) -> "Simulator":
    """A device's simulator, which the first launch makes."""
    with _starting:
        return device.simulator


def _tell(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(f"fgpu: {text}\n")


def _print(text: str) -> None:
    """To the host's standard output, behind what it printed itself, as the bytes that it is.

    Where the output takes nothing, a kernel has run all the same.
    """
    from fgpu.sim.printf import print_to

    printed = text.encode("utf-8", "surrogateescape")
    libc = ctypes.CDLL(None)
    libc.fflush(ctypes.c_void_p.in_dll(libc, "stdout"))
    if sys.stdout is None:
        return
    try:
        if binary := getattr(sys.stdout, "buffer", None):
            sys.stdout.flush()
            binary.write(printed)
        else:       # a notebook's
            print_to(sys.stdout, printed.decode("utf-8", "backslashreplace"))
        getattr(sys.stdout, "flush", int)()
    except (OSError, ValueError) as error:
        _tell(f"what a kernel printed cannot be written to standard output: {error}")
