"""Which platform and device the suite's programs are told to take: they count them as the loader lists them."""

from collections import Counter
from collections.abc import Callable
from ctypes import CDLL, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p, create_string_buffer, sizeof
from ctypes.util import find_library
from dataclasses import dataclass
from functools import partial
from typing import Any

from fgpu.errors import ToolError

__all__ = ["Target", "choose", "wake"]

_PLATFORM_NAME, _DEVICE_NAME, _DEVICE_PROFILE, _DEVICE_VERSION = 0x902, 0x102B, 0x102E, 0x102F
_DEVICE_TYPE, _ALL = 0x1000, 0xFFFFFFFF
_TYPES = {1 << 1: "cpu", 1 << 2: "gpu", 1 << 3: "accelerator", 1 << 4: "custom"}


@dataclass(frozen=True)
class Target:
    """A device, with the numbers that the programs know it by."""

    platform: str
    device: str
    version: str
    profile: str
    kind: str
    """The suite's name of the device's type; ``all`` would do but for `computeinfo`, which wants one."""
    platform_index: int
    device_index: int
    """Among the platform's devices of that type."""

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program of the suite take this device."""
        return {"CL_DEVICE_TYPE": self.kind, "CL_PLATFORM_INDEX": str(self.platform_index),
                "CL_DEVICE_INDEX": str(self.device_index)}


def choose(platform: str, device: str | None) -> Target:
    """The first device of ``platform`` whose name contains ``device``; both without regard to case.

    Raises :class:`~fgpu.errors.ToolError` with what there is instead.
    """
    there = [target for target, _ in _targets(_loader())]
    for target in there:
        if platform.lower() in target.platform.lower() and (device or "").lower() in target.device.lower():
            return target
    names = "\n".join(f"  {target.platform}: {target.device}" for target in there) or "  nothing"
    raise ToolError(f"no device {device or ''!r} of a platform {platform!r} behind the loader, which has\n{names}")


def wake(target: Target) -> None:
    """Launch an empty kernel: what a device builds once, such as a simulator, is there then, and no subtest's time
    limit counts it.

    Raises :class:`~fgpu.errors.ToolError` with the function that fails.
    """
    loader = _loader()
    device = c_void_p(next(handle for found, handle in _targets(loader) if found == target))
    source, error = c_char_p(b"kernel void nothing(void) {}"), c_int()

    def made(name: str, *arguments: Any) -> c_void_p:
        function = getattr(loader, name)
        function.restype = c_void_p
        handle = c_void_p(function(*arguments, byref(error)))
        _check(name, error.value)
        return handle

    def done(name: str, *arguments: Any) -> None:
        _check(name, getattr(loader, name)(*arguments))

    context = made("clCreateContext", None, c_uint(1), byref(device), None, None)
    queue = made("clCreateCommandQueue", context, device, c_uint64(0))
    program = made("clCreateProgramWithSource", context, c_uint(1), byref(source), None)
    done("clBuildProgram", program, c_uint(1), byref(device), None, None, None)
    kernel = made("clCreateKernel", program, b"nothing")
    done("clEnqueueTask", queue, kernel, c_uint(0), None, None)
    done("clFinish", queue)
    for kind, handle in (("Kernel", kernel), ("Program", program), ("CommandQueue", queue), ("Context", context)):
        done(f"clRelease{kind}", handle)


def _check(function: str, status: int) -> None:
    if status:
        raise ToolError(f"{function} returned {status} for an empty kernel; nothing was run")


def _loader() -> CDLL:
    library = find_library("OpenCL")
    if library is None:
        raise ToolError("no ICD loader (libOpenCL.so.1): apt install ocl-icd-libopencl1")
    return CDLL(library)


def _targets(loader: CDLL) -> list[tuple[Target, int]]:
    """All devices, with their handles."""
    targets = []
    for number, platform in enumerate(_handles(loader.clGetPlatformIDs)):
        name, seen = _text(loader.clGetPlatformInfo, platform, _PLATFORM_NAME), Counter[str]()
        for device in _handles(partial(loader.clGetDeviceIDs, c_void_p(platform), c_uint64(_ALL))):
            kind = _kind(loader.clGetDeviceInfo, device)
            says = partial(_text, loader.clGetDeviceInfo, device)
            targets.append((Target(name, says(_DEVICE_NAME), says(_DEVICE_VERSION), says(_DEVICE_PROFILE),
                                   kind, number, seen[kind]), device))
            seen[kind] += 1
    return targets


def _handles(ask: Callable[..., int]) -> list[int]:
    """What a function gives that takes the length of an array, the array, and where the number of all goes."""
    number = c_uint()
    ask(c_uint(0), None, byref(number))
    handles = (c_void_p * number.value)()
    if number.value:
        ask(number, handles, None)
    return [handle for handle in handles if handle]


def _text(ask: Callable[..., int], handle: int, name: int) -> str:
    size = c_size_t()
    ask(c_void_p(handle), c_uint(name), c_size_t(0), None, byref(size))
    text = create_string_buffer(size.value or 1)
    ask(c_void_p(handle), c_uint(name), size, text, None)
    return text.value.decode(errors="replace")


def _kind(ask: Callable[..., int], device: int) -> str:
    bits = c_uint64()
    ask(c_void_p(device), c_uint(_DEVICE_TYPE), c_size_t(sizeof(bits)), byref(bits), None)
    return next((name for bit, name in _TYPES.items() if bits.value & bit), "all")
