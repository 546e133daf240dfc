"""Building programs: compiled, linked, or both."""

import ctypes
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final

from .contexts import Context
from .device_info import is_full_profile
from .devices import Device
from .entry import entry, status_of
from .enums import BinaryType, BuildStatus, Status
from .interrupts import interrupting
from .objects import LOCK, ClError, find, find_all
from .programs import Build, Program, strings

if TYPE_CHECKING:
    from fgpu.compiler.units import Unit

__all__: list[str] = []

_FILENAME: Final = "<source>"
"""What messages call a program."""
_LINKER_OPTIONS: Final = ("-create-library", "-enable-link-options", "-cl-denorms-are-zero", "-cl-no-signed-zeroes",
                          "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
                          "-cl-fast-relaxed-math")
_IN_PLACE: Final = ("-cl-no-signed-zeroes",)
"""Another spelling, of the linker's option."""
_NOTIFIED: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@entry("clBuildProgram", locked=False)
def build_program(program: int, count: int, devices: int, options: int, notify: int, user_data: int) -> None:
    with LOCK:
        found = find(Program, program)
        chosen = _devices(found.devices, count, devices)
        try:
            text, words = _options(options, Status.INVALID_BUILD_OPTIONS)
        except ClError as error:
            _explain(found, chosen, error)
            raise
        words += _profile(chosen)
        _check_notify(notify, user_data)
        _check_idle(found, chosen)
        before = {device: found.build_for(device) for device in chosen}
        if found.source is None and any(build.unit is None for build in before.values()):
            raise ClError(Status.INVALID_BINARY, "the program has no binary for a device")
        _begin(found, chosen, text)

    def built(device: Device) -> tuple[BinaryType, "Unit"]:
        from fgpu.compiler.units import compile_unit, link_units

        unit = before[device].unit if found.source is None else compile_unit(found.source, _FILENAME, words)
        assert unit is not None
        if found.source is None and before[device].kind is not BinaryType.EXECUTABLE:
            return before[device].kind, unit
        return BinaryType.EXECUTABLE, link_units([unit])

    _run(found, chosen, text, built, Status.BUILD_PROGRAM_FAILURE, notify, user_data)


@entry("clCompileProgram", locked=False)
def compile_program(program: int, count: int, devices: int, options: int, header_count: int, headers: int,
                    names: int, notify: int, user_data: int) -> None:
    with LOCK:
        found = find(Program, program)
        chosen = _devices(found.devices, count, devices)
        if not (header_count != 0) == (headers != 0) == (names != 0):
            raise ClError(Status.INVALID_VALUE, f"{header_count} headers at 0x{headers:x}, names at 0x{names:x}")
        _check_notify(notify, user_data)
        source = found.source
        if source is None:
            raise ClError(Status.INVALID_OPERATION, "the program was not made of a source")
        texts = _headers(header_count, headers, names)
        text, words = _options(options, Status.INVALID_COMPILER_OPTIONS)
        words += _profile(chosen)
        _check_idle(found, chosen)
        _begin(found, chosen, text)

    def compiled(device: Device) -> tuple[BinaryType, "Unit"]:
        from fgpu.compiler.units import compile_unit

        return BinaryType.COMPILED_OBJECT, compile_unit(source, _FILENAME, words, texts)

    _run(found, chosen, text, compiled, Status.COMPILE_PROGRAM_FAILURE, notify, user_data)


@entry("clLinkProgram", locked=False)
def link_program(context: int, count: int, devices: int, options: int, program_count: int, programs: int,
                 notify: int, user_data: int) -> Program:
    with LOCK:
        found = find(Context, context)
        chosen = _devices(found.devices, count, devices)
        if not program_count or not programs:
            raise ClError(Status.INVALID_VALUE, "no programs")
        inputs = find_all(Program, program_count, programs)
        _check_notify(notify, user_data)
        text = ctypes.string_at(options).decode("utf-8", "replace") if options else ""
        for option in text.split():
            if option not in _LINKER_OPTIONS:
                raise ClError(Status.INVALID_LINKER_OPTIONS, f"the linker has no option {option!r}")
        if "-enable-link-options" in text.split() and "-create-library" not in text.split():
            raise ClError(Status.INVALID_LINKER_OPTIONS, "-enable-link-options is for libraries")
        units: dict[Device, list[Unit]] = {}
        for device in chosen:
            builds = [program.build_for(device) for program in inputs]
            wanted = (BinaryType.COMPILED_OBJECT, BinaryType.LIBRARY)
            units[device] = [build.unit for build in builds if build.unit is not None and build.kind in wanted]
            if not units[device] and not count:     # without a list, only for devices with something to link
                del units[device]
            elif len(units[device]) != len(builds):
                raise ClError(Status.INVALID_OPERATION, "a program that was not compiled for each of the devices")
        if not units:
            raise ClError(Status.INVALID_OPERATION, "programs that were compiled for none of the devices")
        chosen = list(units)
        made = Program(found, chosen)
        _begin(made, chosen, text)
    is_library = "-create-library" in text.split()

    def linked(device: Device) -> tuple[BinaryType, "Unit"]:
        from fgpu.compiler.units import link_units

        return BinaryType.LIBRARY if is_library else BinaryType.EXECUTABLE, \
            link_units(units[device], is_library=is_library)

    try:
        _run(made, chosen, text, linked, Status.LINK_PROGRAM_FAILURE, notify, user_data)
    except ClError as error:        # the program has the log
        raise ClError(error.status, str(error), made) from None
    return made


def _run(program: Program, devices: Sequence[Device], options: str,
         made: "Callable[[Device], tuple[BinaryType, Unit]]", failure: Status, notify: int, user_data: int) -> None:
    """Build for each of the devices, and note what became of it. With ``notify`` that is done by a thread.

    Raises :class:`ClError` with the status ``failure``, unless the host is notified.
    """

    def all_built() -> bool:
        # A source is the same for each device.
        once = _built(options, partial(made, devices[0])) if program.source is not None else None
        builds = {device: _checked(program, once or _built(options, partial(made, device)), device)
                  for device in devices}
        with LOCK:
            program.builds.update(builds)
        return all(build.status is BuildStatus.SUCCESS for build in builds.values())

    if not notify:
        if not all_built():
            raise ClError(failure, program.build_for(devices[-1]).log)
        return

    def build_and_tell() -> None:
        try:
            all_built()
        finally:
            _NOTIFIED(notify)(program.handle, user_data or None)

    Thread(target=build_and_tell, name="fgpu build", daemon=True).start()


def _built(options: str, made: "Callable[[], tuple[BinaryType, Unit]]") -> Build:
    try:
        kind, unit = made()
        return Build(BuildStatus.SUCCESS, options, unit.log + "\n" if unit.log else "", kind, unit)
    except BaseException as error:
        return _failed(options, error)


def _checked(program: Program, build: Build, device: Device) -> Build:
    try:
        return program.checked(build, device)
    except BaseException as error:
        return _failed(build.options, error, build.log)


def _failed(options: str, error: BaseException, log: str = "") -> Build:
    """The build that ended with ``error``; ``log`` is what was in its log by then."""
    from fgpu.errors import FgpuError

    if isinstance(error, FgpuError) and not interrupting(error):
        return Build(BuildStatus.ERROR, options, f"{log}{error}\n")
    status_of("building a program", error)
    return Build(BuildStatus.ERROR, options, f"{log}error: {error!r}\n")


def _begin(program: Program, devices: Sequence[Device], options: str) -> None:
    program.forget()
    for device in devices:
        program.builds[device] = Build(BuildStatus.IN_PROGRESS, options)


def _explain(program: Program, devices: Sequence[Device], error: ClError) -> None:
    """Say in the log why nothing was built, unless there is what was built before."""
    for device in devices:
        if program.build_for(device).status in (BuildStatus.NONE, BuildStatus.ERROR):
            program.builds[device] = Build(log=f"error: {str(error).partition(': ')[2]}\n")


def _check_idle(program: Program, devices: Sequence[Device]) -> None:
    if program.kernels_made:
        raise ClError(Status.INVALID_OPERATION, "the program has kernels")
    if any(program.build_for(device).status is BuildStatus.IN_PROGRESS for device in devices):
        raise ClError(Status.INVALID_OPERATION, "the program is being built")


def _check_notify(notify: int, user_data: int) -> None:
    if user_data and not notify:
        raise ClError(Status.INVALID_VALUE, "user_data without pfn_notify")


def _devices(there: Sequence[Device], count: int, devices: int) -> list[Device]:
    """Those that the host chooses, with their sub-devices, or all."""
    if (count == 0) != (devices == 0):
        raise ClError(Status.INVALID_VALUE, f"{count} devices at 0x{devices:x}")
    chosen = find_all(Device, count, devices) if count else list(there)
    if any(device not in there for device in chosen):
        raise ClError(Status.INVALID_DEVICE, "a device that the program is not for")
    return chosen + [device for device in there if device not in chosen and device.is_part_of(chosen)]


def _options(address: int, wrong: Status) -> tuple[str, list[str]]:
    """The options as the host gives them, and one by one."""
    from fgpu.compiler.frontend.options import accepted
    from fgpu.errors import CompileError

    text = ctypes.string_at(address).decode("utf-8", "surrogateescape") if address else ""
    try:
        words = [word for word in shlex.split(text) if word not in _IN_PLACE]
        accepted(words)
    except (ValueError, CompileError) as error:
        raise ClError(wrong, str(error)) from None
    return text, words


def _profile(devices: Sequence[Device]) -> list[str]:
    """The option without which a program has the macro of the embedded profile."""
    return ["-D__FGPU_FULL_PROFILE"] if all(is_full_profile(device.config) for device in devices) else []


def _headers(count: int, programs: int, names: int) -> Mapping[str, str]:
    if not count:
        return {}
    found = find_all(Program, count, programs)
    if b"" in strings(count, names):
        raise ClError(Status.INVALID_VALUE, "a header without a name")
    return {name.decode(errors="surrogateescape"): program.source or ""
            for name, program in zip(strings(count, names), found, strict=True)}
