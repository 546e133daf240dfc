"""The device: an FGPU with its memory, as a host program sees it."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

import numpy as np

from fgpu.compiler.bound_kernel import BoundKernel
from fgpu.compiler.image import Image, Kernel
from fgpu.config import KERNEL_SLOTS, LOCAL_ROW_BYTES, PARAMETERS_MAX, Config, check_config
from fgpu.engines import BOARD, ENGINES, MAPPED, MAX_CYCLES
from fgpu.errors import ConfigError, DescriptorWarning, LaunchError

from .accesses import AccessCheck
from .arguments import Argument, Size, argument_words, check_program, choose_kernel
from .device_memory import DeviceMemory, alone
from .dispatch import Dispatch, checked_words, contradictions
from .engine import Engine, Launch, Progress, Trace
from .engines import Latency, hardware_engine, make_engine, memory_timing
from .implicit_parameters import ImplicitParameters
from .index_space import Part
from .memory import GlobalMemory
from .numbers import is_integer
from .prepared import Preparations, PreparedLaunch
from .printf import Printf, PrintfBuffer, PrintfOption, printf_option, prints
from .profile import Profile
from .recording import Recording
from .run import Run, joined

if TYPE_CHECKING:
    from fgpu.board.link import Link

    from .mapped.engine import Mapped

__all__ = ["ENGINES", "MAX_CYCLES", "Device", "Latency", "Run", "memory_timing"]

_CYCLES_END: Final = 1 << 63


class Device(DeviceMemory):
    """One FGPU with its global memory; its state survives from launch to launch.

    Parameters
    ----------
    config
        The hardware; by default :class:`~fgpu.config.Config`'s defaults.
    engine
        ``verilator`` (cycle-accurate, fast; builds a model at the first launch on a configuration), ``pysim``
        (cycle-accurate, slow, no build), ``functional`` (no cycles), or ``board``: hardware at a serial port, with
        memory of its own. There, ``config`` may be left out, and accesses are not checked. ``mapped`` is hardware
        beside this processor, as on a Zynq; ``config`` says which.
    port
        With ``engine="board"``: the serial port, as ``/dev/ttyUSB0``, or a :class:`~fgpu.board.link.Link`; with
        ``engine="mapped"``: the UIO device, as ``/dev/uio0``, or a :class:`~fgpu.sim.mapped.engine.Mapped`.
    memory_latency
        Cycles that the memory adds to each burst: a number, a range (least, greatest), or a
        :class:`~fgpu.sim.engine.MemoryTiming`. The functional engine ignores it.
    memory
        Global memory to use instead of 256 MiB at 0x10000000. Where there is none, AXI answers with DECERR.
    trace
        A VCD file to write the waveforms to; not on the functional engine. A whole run makes ten kilobytes a cycle:
        a :class:`~fgpu.sim.engine.Trace` chooses cycles and units.
    progress
        Is called several times a second while a kernel runs, with a :class:`~fgpu.sim.engine.Progress`. That costs no
        cycle; an exception from it ends the launch.
    check_accesses
        Whether accesses of kernels outside every buffer, and misaligned ones, raise
        :class:`~fgpu.errors.KernelAccessError`. That costs no cycle. Where the host uses addresses that are in none
        of its buffers (numbers for pointers, raw descriptors, :meth:`read` and :meth:`write`), kernels may use all
        memory, and only the alignment is checked.
    printf
        Where what kernels print goes, as a text file, as what takes a text, or as a
        :class:`~fgpu.sim.printf.Printf`, which also says in which order and how much there may be. By default
        standard output. A launch prints at its end, whatever ends it.

    The host and the kernels share memory, but the FGPU has a cache: after a launch with ``clean=False``
    its results may still be there, and any access of the host to memory raises
    :class:`~fgpu.errors.LaunchError` until a launch with ``clean=True`` has written them back.

    Threads may share a device: each call waits until those of the others have returned. Around calls that belong
    together, such as launches with ``clean=False``, take ``lock`` (reentrant): ``with device.lock: ...``.
    """

    def __init__(self, config: Config | None = None, *, engine: str = "verilator",
                 memory_latency: Latency | None = None, memory: GlobalMemory | None = None,
                 trace: str | Path | Trace | None = None, check_accesses: bool = True,
                 progress: Callable[[Progress], None] | None = None, printf: PrintfOption = None,
                 port: "str | Link | Mapped | None" = None) -> None:
        if config is not None:
            check_config(config)
        self.engine = engine
        self._engine: Engine
        if engine in (BOARD, MAPPED):
            hardware = hardware_engine(engine, port, config, memory, memory_latency, trace)
            self.config = hardware.config
            super().__init__(hardware.memory)
            self._engine = hardware
        else:
            if port is not None:
                raise LaunchError(f"port={port!r} is for engine={BOARD!r} or {MAPPED!r}, not {engine!r}")
            self.config = Config() if config is None else config
            super().__init__(memory)
            self._engine = make_engine(engine, self.config, self.memory, memory_latency, trace)
        self._is_closed = False
        self._check_accesses = check_accesses
        self._progress = progress
        self._printf = printf_option(printf, Printf())
        self._preparations = Preparations(self.config)
        self._implicit = ImplicitParameters()

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    @alone
    def build(self) -> None:
        """Build the simulator now, or find it, instead of at the first launch; with other engines than ``verilator``
        there is nothing to do.

        Raises :class:`~fgpu.errors.ToolError`, and :class:`~fgpu.errors.LaunchError` if there are no such units as
        are to be traced.
        """
        self._engine.build()

    @alone
    def close(self) -> None:
        """Give back the simulator: there are no launches any more. Memory stays readable."""
        self._is_closed = True
        self._engine.close()

    # -- launches -------------------------------------------------------------------------------

    @alone
    def launch(self, image: Image | BoundKernel, kernel: str | None = None, *, global_size: Size,
               local_size: Size | None = None, args: Sequence[Argument] = (), global_offset: Size | None = None,
               slot: int = 0, initialize: bool = True, clean: bool = True, max_cycles: int = MAX_CYCLES,
               printf: PrintfOption = None, profile: bool = False,
               record: bool | tuple[int, int] | Recording = False) -> Run:
        """Run a kernel to its end.

        Parameters
        ----------
        image, kernel
            The program, and which of its kernels; the name may be left out if it has only one. ``image["name"]``
            is both.
        global_size, local_size, global_offset
            Work-items, work-items of a work-group and first global id, each a number or one number for each
            of up to 3 dimensions. The local size divides the global size and makes at most 512 work-items;
            by default it is what the kernel demands; or 64, 8 x 8 or 4 x 4 x 4, which fill one wavefront; or else
            what fills wavefronts best. A kernel that does not ask for its work-groups may then be launched in parts,
            as 1021 = 960 + 61; where that cannot be, and it takes twice the wavefronts or more, there is a
            :class:`~fgpu.errors.PerformanceWarning`.
        args
            One buffer or number for each parameter. A buffer's elements are as wide as those that the parameter
            points to, and integers or floating-point numbers like them; unsigned integers also pass as bit patterns
            of elements or of whole vectors. ``void``, structs and other types of the program take every buffer, and
            ``buffer.view(dtype)`` passes for what it says. Numbers may be given for pointers: addresses in bytes; 0
            is a null pointer. A vector is a sequence of numbers, a struct its bytes or an element of a structured
            NumPy array. For a ``__local`` pointer, :class:`LocalMemory(bytes) <fgpu.sim.local_memory.LocalMemory>`
            says how much of it each work-group has.
        slot
            Which of the 16 LRAM slots to use.
        initialize, clean
            The bits of the control registers: ``initialize=False`` saves start-up time where the work-groups
            have the shape of the launch before; ``clean=False`` leaves the results in the cache,
            but those of kernels that print.
        max_cycles
            Watchdog limit in cycles (on the functional engine in wavefront instructions), of all parts together.
        printf
            Where what this launch prints goes, if not where the device's does. What its buffer has no room for is
            counted: a :class:`~fgpu.errors.PrintfWarning` tells.
        profile
            Whether to count what happens at each instruction, for :attr:`Run.profile <fgpu.sim.run.Run.profile>`.
            That costs no cycle; the functional engine, which has none, cannot.
        record
            Whether to record what happens in which cycle, for :attr:`Run.events <fgpu.sim.run.Run.events>`; or in
            which cycles, from the first up to, but not including, the second; or a
            :class:`~fgpu.sim.recording.Recording`, which also chooses parts of the core. As little of a burden as
            ``profile``.

        Raises :class:`~fgpu.errors.ImageError` or :class:`~fgpu.errors.LaunchError` for what cannot be run,
        :class:`~fgpu.errors.KernelAccessError` for an access outside every buffer or a misaligned one,
        :class:`~fgpu.errors.KernelFault` when the hardware stops the kernel,
        :class:`~fgpu.errors.SimulationTimeout` at the limit and other
        :class:`~fgpu.errors.SimulationError` when the simulation cannot go on.
        """
        image, chosen = choose_kernel(image, kernel)
        prepared = self._preparations.of(image, chosen, args, global_size, local_size, global_offset)
        words = argument_words(chosen, args, self, prepared.room.addresses)
        return self.run_prepared(prepared, words, slot=slot, initialize=initialize, clean=clean,
                                 max_cycles=max_cycles, printf=printf,
                                 is_everywhere=self._leads_elsewhere(chosen, args), profile=profile,
                                 record=record)

    @alone
    def run_prepared(self, prepared: PreparedLaunch, words: Sequence[int], *, slot: int = 0, initialize: bool = True,
                     clean: bool = True, max_cycles: int = MAX_CYCLES, printf: PrintfOption = None,
                     is_everywhere: bool = True, profile: bool = False,
                     record: bool | tuple[int, int] | Recording = False) -> Run:
        """Run what was prepared for this device's configuration, with the ``words`` of the parameters that the
        source has: buffers' addresses, values, and ``prepared.room.addresses`` for local memory. Nothing is checked
        of them. Where the kernel ``is_everywhere``, it may access memory outside of buffers. See :meth:`launch` for
        the rest."""
        if (profile or record) and self.engine == "functional":
            raise LaunchError("the functional engine has no cycles to profile or record; use engine='verilator' or "
                              "'pysim'")
        recording = Recording.of(record)
        if recording is not None:
            recording.parts(self.config)
        image, kernel = prepared.image, prepared.kernel
        with ExitStack() as after:
            parameters = tuple(words)
            if prepared.implicit:
                implicit = self._implicit.of(self, prepared, after)
                if prints(kernel):
                    clean = True
                    buffer = PrintfBuffer(self, image, kernel, printf_option(printf, self._printf), prepared.whole)
                    implicit |= dict([after.enter_context(buffer).parameter])
                parameters += tuple(implicit[name] for name in prepared.implicit)
            if len(parameters) > PARAMETERS_MAX:
                rest = self.buffer(np.array(parameters[PARAMETERS_MAX - 1:], np.uint32))
                after.callback(self.release, rest)
                parameters = (*parameters[:PARAMETERS_MAX - 1], rest.address)
            check = self._check(is_everywhere, prepared.room.bytes)
            parts = prepared.parts
            runs: list[Run] = []
            for number, part in enumerate(parts):
                runs.append(self._launch(Launch(
                    program=image.words, descriptor=prepared.descriptor(number, parameters), slot=slot,
                    initialize=initialize, clean=clean and part is parts[-1], write_back=prints(kernel),
                    max_cycles=max_cycles, spent=sum(run.watched for run in runs), check=check, kernel=kernel.name,
                    profile=profile, record=recording, lines=image.lines,
                    progress=self._progress and partial(self._tell, runs, parts)),
                    parts[0].local_size, prepared.room.bytes))
            return joined(runs)

    def _tell(self, runs: Sequence[Run], parts: Sequence[Part], progress: Progress) -> None:
        """Pass on how far the launch is of which ``runs`` are the parts that have ended."""
        assert self._progress is not None
        cycles = sum(run.cycles or 0 for run in runs)
        self._progress(replace(
            progress, cycles=None if progress.cycles is None else progress.cycles + cycles,
            instructions=progress.instructions + sum(run.instructions for run in runs),
            wavefronts=progress.wavefronts + sum(part.wavefronts for part in parts[:len(runs)]),
            all_wavefronts=sum(part.wavefronts for part in parts),
            seconds=progress.seconds + sum(run.seconds for run in runs)))

    def _check(self, everywhere: bool, local_bytes: int) -> AccessCheck | None:
        """What a launch's accesses are held to."""
        if not self._check_accesses:
            return None
        return AccessCheck(None if everywhere or self._everywhere else self._allocator.ranges,
                           local_bytes=local_bytes)

    def _leads_elsewhere(self, kernel: Kernel, arguments: Sequence[Argument]) -> bool:
        """Whether an argument is an address that is in no buffer; those of raw code may all be addresses."""
        kinds = None if kernel.parameters is None else [parameter.kind for parameter in kernel.parameters]

        def is_address(index: int, number: int) -> bool:
            return self._is_in_memory(number) if kinds is None else number != 0 and kinds[index] == "pointer"

        return any(isinstance(argument, int | np.integer) and is_address(index, int(argument))
                   and not self._allocator.holds(int(argument)) for index, argument in enumerate(arguments))

    def _is_in_memory(self, number: int) -> bool:
        return self.memory.base <= number < self.memory.base + self.memory.size

    @alone
    def reconfigured(self, config: Config) -> None:
        """The hardware has other floating-point units now, those of ``config``: later launches are held to it, and
        buffers stay.

        Raises :class:`~fgpu.errors.ConfigError` if more than ``float_ops`` and ``float_subnormals`` differs, or if
        the device is a simulator, which stays as it was built.
        """
        if self.engine not in (BOARD, MAPPED):
            raise ConfigError(f"engine={self.engine!r} has the core that it was made with: make another Device")
        if config != self.config.replace(float_ops=config.float_ops, float_subnormals=config.float_subnormals):
            raise ConfigError(f"a core changes its float_ops and float_subnormals while it runs, and nothing else: "
                              f"{config} differs from {self.config}")
        self.config = config
        self._preparations = Preparations(config)

    @alone
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
        check_program(image, dispatch.entry, self.config)
        return self._launch(Launch(
            program=image.words, descriptor=words, slot=slot, initialize=initialize, clean=clean,
            max_cycles=max_cycles, check=self._check(True, dispatch.local_rows * LOCAL_ROW_BYTES), kernel=name,
            lines=image.lines, progress=self._progress))

    def _launch(self, launch: Launch, local_size: tuple[int, ...] = (), local_bytes: int = 0) -> Run:
        if self._is_closed:
            raise LaunchError("the device was closed; launch in the `with` block, or make another Device")
        if not is_integer(launch.slot) or launch.slot not in range(KERNEL_SLOTS):
            raise LaunchError(f"the slot is {launch.slot!r}; LRAM has the slots 0 to {KERNEL_SLOTS - 1}")
        if not is_integer(launch.max_cycles) or not 1 <= launch.max_cycles < _CYCLES_END:
            raise LaunchError(f"max_cycles must be an integer from 1 to 2^63 - 1, not {launch.max_cycles!r}")
        self._cache_is_clean = True     # should the engine fail, it starts anew, with an empty cache
        result = self._engine.launch(launch)
        profile = None if result.profile is None else Profile(
            kernel=launch.kernel, config=self.config, words=launch.program, locations=launch.lines,
            entries=result.profile, cycles=result.cycles or 0, stats=result.stats)
        self._cache_is_clean = launch.clean
        return Run(kernel=launch.kernel, engine=self.engine, cycles=result.cycles, instructions=result.instructions,
                   work_item_instructions=result.work_item_instructions, stats=result.stats, seconds=result.seconds,
                   local_size=local_size, local_bytes=local_bytes, profile=profile, events=result.events)
