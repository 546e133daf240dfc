"""The device: an FGPU with its memory, as a host program sees it."""

import math
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fgpu.address_map import PARAMETERS_MAX
from fgpu.compiler.image import Image, Kernel
from fgpu.config import KERNEL_SLOTS, Config, check_config
from fgpu.errors import DescriptorWarning, LaunchError, MemoryAccessError

from .accesses import AccessCheck
from .arguments import (
    Argument,
    Size,
    argument_words,
    check_kernel,
    check_program,
    choose_kernel,
    default_local_size,
    sizes,
)
from .buffer import Allocator, Buffer, check_type, device_array, element_type
from .descriptor import KernelDescriptor
from .dispatch import Dispatch, checked_words, contradictions
from .engine import Engine, Launch, MemoryTiming
from .memory import GlobalMemory, check_integers

__all__ = ["ENGINES", "MAX_CYCLES", "Device", "Latency", "Run", "memory_timing"]

ENGINES: Final = ("verilator", "pysim", "functional")
MAX_CYCLES: Final = 10_000_000
"""Default watchdog limit of a launch, in cycles."""
_CYCLES_END: Final = 1 << 63

Latency = int | tuple[int, int] | MemoryTiming
"""Memory latency in cycles: fixed, a uniformly drawn range (least, greatest), or everything about the memory."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one launch took."""

    kernel: str
    engine: str
    cycles: int | None
    """Clock cycles from the write of the start register to the status bit; None on the functional engine."""
    instructions: int
    """Wavefront instructions."""
    work_item_instructions: int
    """Instructions counted once for each enabled work-item."""
    stats: dict[str, int] = field(default_factory=dict)
    """The engine's counters."""
    seconds: float = 0.0
    """Wall-clock time of the simulation proper."""

    @property
    def cycles_per_second(self) -> float | None:
        """Simulation speed; None where there are no cycles."""
        return self.cycles / self.seconds if self.cycles is not None and self.seconds > 0 else None


def memory_timing(latency: Latency | None) -> MemoryTiming:
    """The timing of the memory model with a latency in cycles; None: no added latency."""
    if latency is None:
        return MemoryTiming()
    if isinstance(latency, MemoryTiming):
        return latency
    bounds = latency if isinstance(latency, tuple | list) else (latency, latency)
    if len(bounds) != 2 or any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in bounds):
        raise LaunchError("memory_latency must be cycles, a pair (least, greatest) or a MemoryTiming, "
                          f"not {latency!r}")
    least, greatest = int(bounds[0]), int(bounds[1])
    if not 0 <= least <= greatest:
        raise LaunchError(f"memory_latency {latency!r} must have 0 <= least <= greatest")
    return MemoryTiming(read_latency=(least, greatest), write_latency=(least, greatest))


def _engine(name: str, config: Config, memory: GlobalMemory, latency: Latency | None,
            trace: str | Path | None) -> Engine:
    timing = memory_timing(latency)
    if name == "functional":
        from .functional import FunctionalEngine
        if trace is not None:
            raise LaunchError("the functional engine has no signals to trace; use engine='verilator'")
        return FunctionalEngine(config, memory)
    if name == "verilator":
        from .verilator import VerilatorEngine
        return VerilatorEngine(config, memory, timing, trace=trace)
    if name == "pysim":
        from .pysim import PysimEngine
        return PysimEngine(config, memory, timing, vcd=trace)
    raise LaunchError(f"there is no engine {name!r}; choose from {', '.join(ENGINES)}")


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _alone(method: Callable[Concatenate["Device", _P], _R]) -> Callable[Concatenate["Device", _P], _R]:
    """A method that one thread at a time runs on a device."""

    @wraps(method)
    def locked(self: "Device", *args: _P.args, **options: _P.kwargs) -> _R:
        with self.lock:
            return method(self, *args, **options)

    return locked


class Device:
    """One FGPU with its global memory; its state survives from launch to launch.

    Parameters
    ----------
    config
        The hardware; by default :class:`~fgpu.config.Config`'s defaults.
    engine
        ``verilator`` (cycle-accurate, fast; builds a model at the first use of a configuration), ``pysim``
        (cycle-accurate, slow, no build) or ``functional`` (no cycles).
    memory_latency
        Cycles that the memory adds to each burst: a number, a range (least, greatest), or a
        :class:`~fgpu.sim.engine.MemoryTiming`. The functional engine ignores it.
    memory
        Global memory to use instead of 256 MiB at 0x10000000. Where there is none, AXI answers with DECERR.
    trace
        A VCD file to write the waveforms to; not on the functional engine.
    check_accesses
        Whether accesses of kernels outside every buffer, and misaligned ones, raise
        :class:`~fgpu.errors.KernelAccessError`. That costs no cycle. Where the host uses addresses that are in none
        of its buffers (numbers for pointers, raw descriptors, :meth:`read` and :meth:`write`), kernels may use all
        memory, and only the alignment is checked.

    The host and the kernels share memory, but the FGPU has a cache: after a launch with ``clean=False``
    its results may still be there, and any access of the host to memory raises
    :class:`~fgpu.errors.LaunchError` until a launch with ``clean=True`` has written them back.

    Threads may share a device: each call waits until those of the others have returned. Around calls that belong
    together, such as launches with ``clean=False``, take ``lock`` (reentrant): ``with device.lock: ...``.
    """

    def __init__(self, config: Config | None = None, *, engine: str = "verilator",
                 memory_latency: Latency | None = None, memory: GlobalMemory | None = None,
                 trace: str | Path | None = None, check_accesses: bool = True) -> None:
        self.config = Config() if config is None else config
        check_config(self.config)
        self.memory = GlobalMemory() if memory is None else memory
        if not isinstance(self.memory, GlobalMemory):
            raise LaunchError(f"memory must be a GlobalMemory, not {memory!r}")
        self.engine = engine
        self.lock = threading.RLock()
        self._engine = _engine(engine, self.config, self.memory, memory_latency, trace)
        self._allocator = Allocator(self.memory)
        self._cache_is_clean = True
        self._is_closed = False
        self._check_accesses = check_accesses
        self._everywhere = False        # the host has used addresses outside the buffers
        self._tables: dict[tuple[bytes, tuple[int, ...]], Buffer] = {}

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    @_alone
    def close(self) -> None:
        """Give back the simulator: there are no launches any more. Memory stays readable."""
        self._is_closed = True
        self._engine.close()

    # -- memory ---------------------------------------------------------------------------------

    @_alone
    def buffer(self, content: ArrayLike | int | tuple[int, ...], dtype: DTypeLike | None = None, *,
               address: int | None = None) -> Buffer:
        """Allocate global memory: for an array or a list, which it then holds, or of a shape, full of zeros.

        A plain integer or a tuple is a shape. ``dtype`` is ``int32`` where the content does not tell.
        ``address`` (bytes, a multiple of 4) places the buffer; by default it starts on a 4 KiB page of its
        own. Raises :class:`~fgpu.errors.MemoryAccessError` where there is no room.
        """
        array = self._zeros(content, dtype) if isinstance(content, int | tuple) else device_array(content, dtype)
        if array.size == 0:
            raise MemoryAccessError("a buffer must have at least one element")
        self._check_clean()
        place = self._allocator.take(array.nbytes, address)
        buffer = Buffer(self, place, array.shape, array.dtype)
        buffer.write(array)
        return buffer

    @staticmethod
    def _zeros(shape: int | tuple[int, ...], dtype: DTypeLike | None) -> np.ndarray:
        try:
            element = np.dtype(np.int32 if dtype is None else dtype)
            check_type(element)
            return np.zeros(shape, element)
        except (TypeError, ValueError, MemoryError) as error:
            raise MemoryAccessError(f"a buffer cannot have the shape {shape!r} and type {dtype!r}: {error}") from None

    @_alone
    def release(self, buffer: Buffer) -> None:
        """Free a buffer's memory; the same as :meth:`Buffer.free <sim.buffer.Buffer.free>`."""
        if not isinstance(buffer, Buffer) or buffer.device is not self:
            raise MemoryAccessError(f"{buffer!r} is no buffer of this device")
        buffer.check()
        buffer.mark_free()
        self._allocator.free(buffer.address)

    @_alone
    def read(self, address: int, count: int, dtype: DTypeLike = np.int32) -> np.ndarray:
        """A copy of ``count`` elements of global memory from the byte ``address`` on."""
        element = element_type(dtype)
        self._check_clean()
        self._note_use(address, count * element.itemsize)
        return self.memory.view(address, count * element.itemsize).view(element).copy()

    @_alone
    def write(self, address: int, values: ArrayLike) -> None:
        """Write an array to global memory from the byte ``address`` on."""
        array = device_array(values)
        self._check_clean()
        self._note_use(address, array.nbytes)
        self.memory.view(address, array.nbytes)[:] = array.reshape(-1).view(np.uint8)

    def read_word(self, address: int) -> int:
        """The unsigned 32-bit word at ``address``, a multiple of 4."""
        self._check_aligned(address)
        return int(self.read(address, 1, np.uint32)[0])

    def write_word(self, address: int, value: int) -> None:
        """Write a 32-bit word, signed or unsigned, to ``address``, a multiple of 4."""
        self._check_aligned(address)
        if not isinstance(value, int | np.integer) or int(value) not in range(-(1 << 31), 1 << 32):
            raise MemoryAccessError(f"{value!r} is not a 32-bit word")
        self.write(address, np.array([int(value) % (1 << 32)], dtype=np.uint32))

    @staticmethod
    def _check_aligned(address: int) -> None:
        check_integers(address)
        if address % 4:
            raise MemoryAccessError(f"the word address 0x{address:08X} is not a multiple of 4")

    def _note_use(self, address: int, length: int) -> None:
        self.memory.check(address, length)
        self._everywhere |= not self._allocator.holds(address, length)

    def _check_clean(self) -> None:
        if not self._cache_is_clean:
            raise LaunchError("the last launch had clean=False, so its results may still be in the FGPU's cache and "
                              "the host cannot use memory; pass clean=True to the last launch before that")

    # -- launches -------------------------------------------------------------------------------

    @_alone
    def launch(self, image: Image, kernel: str | None = None, *, global_size: Size, local_size: Size | None = None,
               args: Sequence[Argument] = (), global_offset: Size | None = None, slot: int = 0,
               initialize: bool = True, clean: bool = True, max_cycles: int = MAX_CYCLES) -> Run:
        """Run a kernel to its end.

        Parameters
        ----------
        image, kernel
            The program, and which of its kernels; the name may be left out if it has only one.
        global_size, local_size, global_offset
            Work-items, work-items of a work-group and first global id, each a number or one number for each
            of up to 3 dimensions. The local size divides the global size and makes at most 512 work-items;
            by default it is what the kernel demands, or what fills one wavefront.
        args
            One buffer or number for each parameter. A buffer's elements are as wide as those that the parameter
            points to, and integers or floating-point numbers like them; unsigned integers also pass as bit patterns
            of elements or of whole vectors. ``void``, structs and other types of the program take every buffer, and
            ``buffer.view(dtype)`` passes for what it says. Numbers may be given for pointers: addresses in bytes; 0
            is a null pointer. A vector is a sequence of numbers, a struct its bytes or an element of a structured
            NumPy array.
        slot
            Which of the 16 LRAM slots to use.
        initialize, clean
            The bits of the control registers: ``initialize=False`` saves start-up time where the work-groups
            have the shape of the launch before; ``clean=False`` leaves the results in the cache.
        max_cycles
            Watchdog limit in cycles (on the functional engine in wavefront instructions).

        Raises :class:`~fgpu.errors.ImageError` or :class:`~fgpu.errors.LaunchError` for what cannot be run,
        :class:`~fgpu.errors.KernelAccessError` for an access outside every buffer or a misaligned one,
        :class:`~fgpu.errors.KernelFault` when the hardware stops the kernel,
        :class:`~fgpu.errors.SimulationTimeout` at the limit and other
        :class:`~fgpu.errors.SimulationError` when the simulation cannot go on.
        """
        chosen = choose_kernel(image, kernel)
        whole = sizes("global size", global_size)
        if local_size is not None:
            local = sizes("local size", local_size)
        elif chosen.work_group_size is not None:
            local = chosen.work_group_size[:len(whole)]
        else:
            local = default_local_size(whole) if min(whole) > 0 else (1,) * len(whole)
        descriptor = KernelDescriptor(
            entry=chosen.entry, global_size=whole, local_size=local,
            global_offset=() if global_offset is None else sizes("global offset", global_offset))
        descriptor.check_divisible()
        check_kernel(chosen, local, self.config)
        with ExitStack() as after:
            parameters = argument_words(chosen, args, self, self._implicit(image, chosen, descriptor, after))
            if len(parameters) > PARAMETERS_MAX:
                rest = self.buffer(np.array(parameters[PARAMETERS_MAX - 1:], np.uint32))
                after.callback(self.release, rest)
                parameters = (*parameters[:PARAMETERS_MAX - 1], rest.address)
            descriptor = replace(descriptor, parameters=parameters)
            return self._launch(image, chosen.name, chosen.entry, Launch(
                program=image.words, descriptor=descriptor.words(), slot=slot, initialize=initialize, clean=clean,
                max_cycles=max_cycles, check=self._check(image, chosen.name, self._leads_elsewhere(chosen, args))))

    def _check(self, image: Image, kernel: str, everywhere: bool) -> AccessCheck | None:
        """What a launch's accesses are held to."""
        if not self._check_accesses:
            return None
        return AccessCheck(None if everywhere or self._everywhere else self._allocator.ranges, kernel, image.lines)

    def _leads_elsewhere(self, kernel: Kernel, arguments: Sequence[Argument]) -> bool:
        """Whether an argument is an address that is in no buffer; those of raw code may all be addresses."""
        kinds = None if kernel.parameters is None else [parameter.kind for parameter in kernel.parameters]

        def is_address(index: int, number: int) -> bool:
            return self._is_in_memory(number) if kinds is None else number != 0 and kinds[index] == "pointer"

        return any(isinstance(argument, int | np.integer) and is_address(index, int(argument))
                   and not self._allocator.holds(int(argument)) for index, argument in enumerate(arguments))

    def _is_in_memory(self, number: int) -> bool:
        return self.memory.base <= number < self.memory.base + self.memory.size

    def _implicit(self, image: Image, kernel: Kernel, descriptor: KernelDescriptor,
                  after: ExitStack) -> dict[str, int]:
        """The parameters that the source does not have. Tables go to memory when they are first needed."""
        names = {parameter.name for parameter in kernel.parameters or () if parameter.kind == "implicit"}
        values = {"work_dim": descriptor.dimensions}
        if "constants" in names:
            values["constants"] = self._constants(image).address
        if "private" in names:
            values["private"] = self._private(kernel, math.prod(descriptor.global_size), after)
        return values

    def _constants(self, image: Image) -> Buffer:
        """Where the image's data are."""
        key = image.data, image.pointers
        if key not in self._tables:
            tables = self._tables[key] = self.buffer(np.frombuffer(image.data, np.uint8))
            if image.pointers:
                tables.write(np.frombuffer(image.data_at(tables.address), np.uint8))
        return self._tables[key]

    def _private(self, kernel: Kernel, work_items: int, after: ExitStack) -> int:
        """Where the private memory of the work-items is."""
        try:
            address = self._allocator.take(kernel.private_room(work_items))
        except MemoryAccessError as error:
            raise LaunchError(f"kernel {kernel.name!r} needs {kernel.private_bytes} bytes of private memory for each "
                              f"of {work_items} work-items: {error}") from None
        after.callback(self._allocator.free, address)
        return address

    @_alone
    def launch_descriptor(self, image: Image, words: Sequence[int], *, slot: int = 0, initialize: bool = True,
                          clean: bool = True, max_cycles: int = MAX_CYCLES) -> Run:
        """Run what the 32 words of an LRAM slot describe; see :meth:`launch` for the rest.

        The words are passed on as they are. Where they contradict each other, the kernel runs as on the hardware,
        with a :class:`~fgpu.errors.DescriptorWarning` that names the words.
        Raises :class:`~fgpu.errors.LaunchError` for other than 32 words, and for four dimensions.
        """
        dispatch = Dispatch.from_words(words)
        if not isinstance(image, Image):
            raise LaunchError(f"the program must be an Image, not {type(image).__name__}")
        words = checked_words(words)
        wrong = contradictions(words)
        if wrong:
            warnings.warn(
                f"descriptor {'; '.join(wrong)}. It runs as on the hardware: a work-group has {dispatch.wavefronts} "
                f"wavefronts (word 0) and {dispatch.work_items} work-items (word 11), with local ids and offsets of "
                f"{dispatch.extents[:dispatch.dimensions]} (word 7)", DescriptorWarning, stacklevel=3)
        names = [kernel.name for kernel in image.kernels.values() if kernel.entry == dispatch.entry]
        name = names[0] if names else f"word {dispatch.entry}"
        return self._launch(image, name, dispatch.entry, Launch(
            program=image.words, descriptor=words, slot=slot, initialize=initialize, clean=clean,
            max_cycles=max_cycles, check=self._check(image, name, True)))

    def _launch(self, image: Image, name: str, entry: int, launch: Launch) -> Run:
        if self._is_closed:
            raise LaunchError("the device was closed; launch in the `with` block, or make another Device")
        check_program(image, entry, self.config)
        if launch.slot not in range(KERNEL_SLOTS):
            raise LaunchError(f"the slot is {launch.slot!r}; LRAM has the slots 0 to {KERNEL_SLOTS - 1}")
        if not isinstance(launch.max_cycles, int | np.integer) or not 1 <= launch.max_cycles < _CYCLES_END:
            raise LaunchError(f"max_cycles must be an integer from 1 to 2^63 - 1, not {launch.max_cycles!r}")
        self._cache_is_clean = True     # should the engine fail, it starts anew, with an empty cache
        result = self._engine.launch(launch)
        self._cache_is_clean = launch.clean
        return Run(kernel=name, engine=self.engine, cycles=result.cycles, instructions=result.instructions,
                   work_item_instructions=result.work_item_instructions, stats=dict(result.stats),
                   seconds=result.seconds)
