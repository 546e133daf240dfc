"""Programs on PoCL, if the machine has it: an OpenCL with a compiler and a code generator of its own."""

import ctypes
import ctypes.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from .program import Source

__all__ = ["Argument", "Opencl", "OpenclError", "opencl"]

_PLATFORM_NAME, _DEVICE_CPU, _BUILD_LOG = 0x902, 2, 0x1183
_READ_WRITE_COPY = 1 | 32

Argument: TypeAlias = "bytearray | bytes | int"
"""A kernel's argument: a buffer's content, the bytes of a value, or how many bytes of local memory."""


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

    def program(self, text: str) -> ctypes.c_void_p:
        """A program, built. Raises :class:`OpenclError` with the compiler's messages."""
        source = ctypes.c_char_p(text.encode())
        program = self._made("clCreateProgramWithSource", self._context, 1, ctypes.byref(source), None)
        try:
            self._call("clBuildProgram", program, 1, ctypes.byref(self._device), b"-cl-std=CL1.2 -w", None, None)
        except OpenclError as error:
            log = ctypes.create_string_buffer(20_000)
            self._library.clGetProgramBuildInfo(
                program, self._device, _BUILD_LOG, ctypes.c_size_t(len(log)), log, None)
            raise OpenclError(f"{error}: {log.value.decode(errors='replace')}\n{text}") from None
        return program

    def launch(self, program: ctypes.c_void_p, name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Argument], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel to its end. Buffers hold its results afterwards."""
        kernel = self._made("clCreateKernel", program, name.encode())
        buffers: list[tuple[bytearray, ctypes.c_void_p]] = []
        for number, each in enumerate(arguments):
            if isinstance(each, int):
                self._call("clSetKernelArg", kernel, number, ctypes.c_size_t(each), None)
                continue
            value, size = ctypes.create_string_buffer(bytes(each), len(each)), ctypes.c_size_t(len(each))
            if isinstance(each, bytearray):
                buffer = self._made("clCreateBuffer", self._context, ctypes.c_ulong(_READ_WRITE_COPY), size, value)
                self._call("clSetKernelArg", kernel, number, ctypes.c_size_t(8), ctypes.byref(buffer))
                buffers.append((each, buffer))
            else:
                self._call("clSetKernelArg", kernel, number, size, value)
        sizes = [numbers and (ctypes.c_size_t * len(numbers))(*numbers)
                 for numbers in (global_offset, global_size, local_size)]
        self._call("clEnqueueNDRangeKernel", self._queue, kernel, len(global_size), *sizes, 0, None, None)
        for content, buffer in buffers:
            result = ctypes.create_string_buffer(len(content))
            self._call("clEnqueueReadBuffer", self._queue, buffer, 1, ctypes.c_size_t(0),
                       ctypes.c_size_t(len(result)), result, 0, None, None)
            self._call("clReleaseMemObject", buffer)
            content[:] = result.raw
        self._call("clReleaseKernel", kernel)

    def run(self, source: Source, local: int) -> list[bytes]:
        """The results of all work-items of a random program, in groups of ``local``."""
        program = self.program(source.text)
        arguments: list[Argument] = [
            len(each.content) if each.is_local else bytearray(each.content) if each.is_buffer else each.content
            for each in source.parameters]
        self.launch(program, "k", [source.items], [local], arguments)
        self._call("clReleaseProgram", program)
        return source.results([each if isinstance(each, int) else bytes(each) for each in arguments])


@cache
def opencl() -> Opencl:
    """The machine's OpenCL."""
    return Opencl()
