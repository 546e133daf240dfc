"""Programs: sources and binaries, and what became of them for each device."""

import ctypes
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from .answers import answer, give, handle, handles, size, sizes, text, uint
from .contexts import Context
from .devices import Device
from .entry import entry
from .enums import BinaryType, BuildInfo, BuildStatus, ProgramInfo, Status
from .objects import LOCK, ClError, Object, find, find_all

if TYPE_CHECKING:
    from fgpu.compiler.image import Image
    from fgpu.compiler.units import Unit

__all__ = ["Build", "Program", "strings"]

_MAGIC: Final = b"fgpu program "
_POINTER_BYTES: Final = 8


@dataclass(frozen=True)
class Build:
    """What became of a program for a device."""

    status: BuildStatus = BuildStatus.NONE
    options: str = ""
    log: str = ""
    kind: BinaryType = BinaryType.NONE
    unit: "Unit | None" = None
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why kernels cannot be run: they need more than the device has."""

    @property
    def binary(self) -> bytes:
        """What ``clCreateProgramWithBinary`` takes; empty where nothing was compiled."""
        from fgpu.store import with_digest

        if self.unit is None:
            return b""
        options = self.options.encode("utf-8", "surrogateescape")
        content = f"{int(self.kind)} {len(options)}\n".encode() + options + self.unit.to_bytes()
        return _MAGIC + with_digest(content)

    @classmethod
    def of_binary(cls, content: bytes) -> "Build":
        """Raises :class:`ClError` for what is no ``binary``."""
        from fgpu.compiler.units import Unit
        from fgpu.errors import CompileError
        from fgpu.store import without_digest

        kept = without_digest(content.removeprefix(_MAGIC)) if content.startswith(_MAGIC) else None
        if kept is None:
            raise ClError(Status.INVALID_BINARY, "no program of fgpu, or a damaged one")
        try:
            head, _, rest = kept.partition(b"\n")
            kind, length = map(int, head.split())
            return cls(options=rest[:length].decode("utf-8", "surrogateescape"), kind=BinaryType(kind),
                       unit=Unit.from_bytes(rest[length:]))
        except (ValueError, CompileError) as error:
            raise ClError(Status.INVALID_BINARY, str(error)) from None


_NOT_BUILT: Final = Build()


class Program(Object):
    """A program of a context, and its builds for some of the context's devices.

    ``source`` is None where the program was made of binaries, and "" where its source is empty.
    ``kernels_made`` counts the kernels that the host has: while there are any, nothing is built anew.
    """

    invalid = Status.INVALID_PROGRAM

    def __init__(self, context: Context, devices: Sequence[Device], source: str | None = None) -> None:
        super().__init__()
        self.context = context
        self.devices = list(devices)
        self.source = source
        self.builds: dict[Device, Build] = {}
        self.kernels_made = 0
        self._images: dict[tuple[str, str], Image] = {}
        self._compiling = Lock()

    def build_for(self, device: Device) -> Build:
        """What became of it for a device."""
        return self.builds.get(device, _NOT_BUILT)

    @property
    def executables(self) -> dict[Device, "Unit"]:
        """What can be run, by device. Raises :class:`ClError` where there is nothing."""
        found = {device: build.unit for device, build in self.builds.items() if build.unit is not None
                 and build.kind is BinaryType.EXECUTABLE and build.status is BuildStatus.SUCCESS}
        if not found:
            raise ClError(Status.INVALID_PROGRAM_EXECUTABLE, "the program was not built, or not successfully")
        return found

    def image(self, kernel: str, device: Device) -> "Image":
        """The code of a kernel for a device: it takes a while the first time. Without the API's lock.

        Raises :class:`ClError` for what cannot be compiled for it.
        """
        from fgpu.compiler.units import code_key
        from fgpu.errors import FgpuError

        made = self._images.get((kernel, code_key(device.config)))
        if made is not None:
            return made
        unit = self.executables.get(device)
        if unit is None:
            raise ClError(Status.INVALID_PROGRAM_EXECUTABLE, "the program was not built for this device")
        if (reason := self.builds[device].refused.get(kernel)) is not None:
            raise _refusal(kernel, reason)
        with self._compiling:
            try:
                made = self._made(unit, kernel, device)
                self._note(_worded(made.warnings, "warning"), device)
            except FgpuError as error:
                self._note(_worded([str(error)], "error"), device)
                raise _refusal(kernel, str(error)) from None
            return made

    def _made(self, unit: "Unit", kernel: str, device: Device) -> "Image":
        """The code of a kernel of ``unit``, made if need be. Raises :class:`~fgpu.errors.FgpuError`."""
        from fgpu.compiler.units import code_key

        key = kernel, code_key(device.config)
        if key not in self._images:
            self._images[key] = unit.image(kernel, device.config)
        return self._images[key]

    def after_fork(self) -> None:
        """Threads of the old process may be compiling."""
        self._compiling = Lock()

    def _note(self, messages: Sequence[str], device: Device) -> None:
        """Add to the build log what is new."""
        with LOCK:
            build = self.build_for(device)
            more = "".join(f"{message}\n" for message in messages if message not in build.log)
            if more:
                self.builds[device] = replace(build, log=build.log + more)

    def forget(self) -> None:
        """Images of what was built before."""
        self._images = {}

    def checked(self, build: Build, device: Device) -> Build:
        """What was built, or that a kernel of it cannot be compiled for a device: those that may be refused are.

        Programs have kernels for larger devices, too: one that needs more than there is is no error of the build,
        unless all are such."""
        from fgpu.errors import CapacityError, CompileError

        if build.unit is None or build.kind is not BinaryType.EXECUTABLE:
            return build
        errors: list[str] = []
        warnings: list[str] = []
        refused: dict[str, str] = {}
        for kernel in build.unit.doubtful(device.config):
            try:
                warnings += _worded(self._made(build.unit, kernel, device).warnings, "warning")
            except CompileError as error:
                [message] = _worded([str(error)], "error", kernel)
                if isinstance(error, CapacityError):
                    refused[kernel] = message
                else:
                    errors.append(message)
        log = build.log + "".join(f"{message}\n"
                                  for message in dict.fromkeys([*warnings, *refused.values(), *errors]))
        if errors or (refused and len(refused) == len(build.unit.kernels)):
            return Build(BuildStatus.ERROR, build.options, log)
        return replace(build, log=log, refused=refused)


def _refusal(kernel: str, reason: str) -> ClError:
    """The error for a kernel without code, which standard error tells, too: few hosts show more than the number."""
    sys.stderr.write(f"fgpu: {reason}\n")
    return ClError(Status.OUT_OF_RESOURCES, f"kernel {kernel!r}: {reason}")


def _worded(messages: Iterable[str], kind: str, kernel: str = "") -> list[str]:
    """Messages as clang words them: ``file:line: error: ...``."""
    place = re.compile(r"(\S[^:\n]*:\d+(?::\d+)?: )")
    return [place.sub(rf"\1{kind}: ", message, count=1) if place.match(message)
            else f"{kind}: {f'kernel {kernel!r}: ' if kernel else ''}{message}" for message in messages]


def strings(count: int, array: int, lengths: int = 0) -> list[bytes]:
    """``count`` texts of an array of pointers; ``lengths`` may say how long they are, where they are not 0."""
    pointers = (ctypes.c_void_p * count).from_address(array)
    given = list((ctypes.c_size_t * count).from_address(lengths)) if lengths else [0] * count
    if not all(pointers):
        raise ClError(Status.INVALID_VALUE, "a text that is NULL")
    return [ctypes.string_at(pointer or 0, length) if length else ctypes.string_at(pointer or 0)
            for pointer, length in zip(pointers, given, strict=True)]


@entry("clCreateProgramWithSource")
def create_program_with_source(context: int, count: int, array: int, lengths: int) -> Program:
    found = find(Context, context)
    if not count or not array:
        raise ClError(Status.INVALID_VALUE, "no source")
    source = b"".join(strings(count, array, lengths)).rstrip(b"\0")
    return Program(found, found.devices, source.decode("utf-8", "surrogateescape"))


@entry("clCreateProgramWithBinary")
def create_program_with_binary(context: int, count: int, devices: int, lengths: int, binaries: int,
                               statuses: int) -> Program:
    found = find(Context, context)
    if not count or not devices or not lengths or not binaries:
        raise ClError(Status.INVALID_VALUE, "no devices, lengths or binaries")
    chosen = find_all(Device, count, devices)
    if any(device not in found.devices for device in chosen):
        raise ClError(Status.INVALID_DEVICE, "a device of another context")
    program = Program(found, chosen)
    worst = Status.SUCCESS
    for index, device in enumerate(chosen):
        status = Status.SUCCESS
        length = ctypes.c_size_t.from_address(lengths + index * ctypes.sizeof(ctypes.c_size_t)).value
        pointer = ctypes.c_void_p.from_address(binaries + index * _POINTER_BYTES).value
        if not length or not pointer:
            status = Status.INVALID_VALUE
        else:
            try:
                program.builds[device] = Build.of_binary(ctypes.string_at(pointer, length))
            except ClError as error:
                status = error.status
        if statuses:
            ctypes.c_int32.from_address(statuses + 4 * index).value = status
        worst = worst or status
    if worst:
        raise ClError(worst, "a binary that is none of fgpu's")
    return program


@entry("clCreateProgramWithBuiltInKernels")
def create_program_with_built_in_kernels(context: int, count: int, devices: int, names: int) -> Program:
    found = find(Context, context)
    if not count or not devices or not names:
        raise ClError(Status.INVALID_VALUE, "no devices or no names")
    if any(device not in found.devices for device in find_all(Device, count, devices)):
        raise ClError(Status.INVALID_DEVICE, "a device of another context")
    raise ClError(Status.INVALID_VALUE, "there are no built-in kernels")


@entry("clRetainProgram")
def retain_program(program: int) -> None:
    find(Program, program).retain()


@entry("clReleaseProgram")
def release_program(program: int) -> None:
    find(Program, program).release()


def _kernel_names(program: Program) -> list[str]:
    return list(next(iter(program.executables.values())).kernels)


_INFO = {
    ProgramInfo.REFERENCE_COUNT: lambda program: uint(program.references),
    ProgramInfo.CONTEXT: lambda program: handle(program.context),
    ProgramInfo.NUM_DEVICES: lambda program: uint(len(program.devices)),
    ProgramInfo.DEVICES: lambda program: handles(program.devices),
    ProgramInfo.SOURCE: lambda program: text((program.source or "").encode("utf-8", "surrogateescape")),
    ProgramInfo.BINARY_SIZES: lambda program: sizes(len(program.build_for(device).binary)
                                                    for device in program.devices),
    ProgramInfo.NUM_KERNELS: lambda program: size(len(_kernel_names(program))),
    ProgramInfo.KERNEL_NAMES: lambda program: text(";".join(_kernel_names(program))),
}
_BUILD_INFO = {
    BuildInfo.BUILD_STATUS: lambda build: uint(build.status),
    BuildInfo.BUILD_OPTIONS: lambda build: text(build.options),
    BuildInfo.BUILD_LOG: lambda build: text(build.log),
    BuildInfo.BINARY_TYPE: lambda build: uint(build.kind),
}


@entry("clGetProgramInfo")
def get_program_info(program: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    found = find(Program, program)
    if name != ProgramInfo.BINARIES:
        answer(_INFO, found, name, value_size, value, size_ret)
        return
    length = _POINTER_BYTES * len(found.devices)
    if value:
        if value_size < length:
            raise ClError(Status.INVALID_VALUE, f"{value_size} bytes for {len(found.devices)} pointers")
        for place, device in zip((ctypes.c_void_p * len(found.devices)).from_address(value), found.devices,
                                 strict=True):
            if place:
                binary = found.build_for(device).binary
                ctypes.memmove(place, binary, len(binary))
    if size_ret:
        ctypes.c_size_t.from_address(size_ret).value = length


@entry("clGetProgramBuildInfo")
def get_program_build_info(program: int, device: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    found = find(Program, program)
    target = find(Device, device)
    if target not in found.devices:
        raise ClError(Status.INVALID_DEVICE, "a device that the program is not for")
    if name not in _BUILD_INFO:
        raise ClError(Status.INVALID_VALUE, f"there is no information 0x{name:X} about a build")
    give(_BUILD_INFO[BuildInfo(name)](found.build_for(target)), value_size, value, size_ret)
