"""Programs on PoCL, if the machine has it: an OpenCL with a compiler and a code generator of its own."""

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache

from .program import Source

__all__ = ["Opencl", "opencl"]

_PLATFORM_NAME, _DEVICE_CPU, _BUILD_LOG = 0x902, 2, 0x1183
_READ_WRITE_COPY = 1 | 32


class OpenclError(Exception):
    """A call of the library failed."""


class Opencl:
    """A context and a queue on the CPU of the first platform named PoCL. Raises OSError where there is none."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("OpenCL")
        if name is None:
            raise OSError("there is no libOpenCL")
        self._library = ctypes.CDLL(name)
        platforms, count = (ctypes.c_void_p * 8)(), ctypes.c_uint()
        self._library.clGetPlatformIDs(8, platforms, ctypes.byref(count))
        for platform in platforms[:count.value]:
            text = ctypes.create_string_buffer(100)
            self._library.clGetPlatformInfo(ctypes.c_void_p(platform), _PLATFORM_NAME, len(text), text, None)
            device = ctypes.c_void_p()
            if text.value == b"Portable Computing Language" and not self._library.clGetDeviceIDs(
                    ctypes.c_void_p(platform), ctypes.c_ulong(_DEVICE_CPU), 1, ctypes.byref(device), None):
                break
        else:
            raise OSError("PoCL is not installed (Debian: pocl-opencl-icd, ocl-icd-libopencl1)")
        self._device = device
        self._context = self._made("clCreateContext", None, 1, ctypes.byref(device), None, None)
        self._queue = self._made("clCreateCommandQueue", self._context, device, ctypes.c_ulong(0))

    def _made(self, name: str, *arguments: object) -> ctypes.c_void_p:
        """What a function makes that says by its last argument how it went."""
        function: Callable[..., int] = self._library[name]
        function.restype = ctypes.c_void_p      # type: ignore[attr-defined]
        status = ctypes.c_int()
        made = function(*arguments, ctypes.byref(status))
        self._check(name, status.value)
        return ctypes.c_void_p(made)

    def _check(self, name: str, status: int) -> None:
        if status != 0:
            raise OpenclError(f"{name} gives {status}")

    def _call(self, name: str, *arguments: object) -> None:
        self._check(name, self._library[name](*arguments))

    def _program(self, source: Source) -> ctypes.c_void_p:
        text = ctypes.c_char_p(source.text.encode())
        program = self._made("clCreateProgramWithSource", self._context, 1, ctypes.byref(text), None)
        try:
            self._call("clBuildProgram", program, 1, ctypes.byref(self._device), b"-cl-std=CL1.2 -w", None, None)
        except OpenclError as error:
            log = ctypes.create_string_buffer(20_000)
            self._library.clGetProgramBuildInfo(
                program, self._device, _BUILD_LOG, ctypes.c_size_t(len(log)), log, None)
            raise OpenclError(f"{error}: {log.value.decode(errors='replace')}\n{source.text}") from None
        return program

    def run(self, source: Source, local: int) -> list[bytes]:
        """The results of all work-items, in groups of ``local``."""
        program = self._program(source)
        kernel = self._made("clCreateKernel", program, b"k")
        buffers: list[ctypes.c_void_p | None] = []
        for number, each in enumerate(source.parameters):
            value = ctypes.create_string_buffer(each.content, len(each.content))
            size = ctypes.c_size_t(len(each.content))
            buffer = self._made("clCreateBuffer", self._context, ctypes.c_ulong(_READ_WRITE_COPY), size, value) \
                if each.is_buffer else None
            buffers.append(buffer)
            if buffer is None:
                self._call("clSetKernelArg", kernel, number, size, value)
            else:
                self._call("clSetKernelArg", kernel, number, ctypes.c_size_t(8), ctypes.byref(buffer))
        sizes = [ctypes.byref(ctypes.c_size_t(number)) for number in (source.items, local)]
        self._call("clEnqueueNDRangeKernel", self._queue, kernel, 1, None, *sizes, 0, None, None)
        results = []
        for each, buffer in zip(source.parameters, buffers, strict=True):
            result = ctypes.create_string_buffer(each.content, len(each.content))
            if buffer is not None:
                self._call("clEnqueueReadBuffer", self._queue, buffer, 1, ctypes.c_size_t(0),
                           ctypes.c_size_t(len(result)), result, 0, None, None)
                self._call("clReleaseMemObject", buffer)
            results.append(result.raw)
        self._call("clReleaseKernel", kernel)
        self._call("clReleaseProgram", program)
        return source.results(results)


@cache
def opencl() -> Opencl:
    """The machine's OpenCL."""
    return Opencl()
