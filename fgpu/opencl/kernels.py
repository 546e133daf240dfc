"""Kernels and their arguments."""

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from weakref import ref

from .answers import answer, give, give_handles, handle, size, sizes, text, uint, ulong
from .buffers import Buffer
from .devices import Device
from .entry import entry
from .enums import (
    AccessQualifier,
    AddressQualifier,
    KernelArgInfo,
    KernelInfo,
    KernelWorkGroupInfo,
    Status,
    TypeQualifier,
)
from .interrupts import pass_on
from .objects import LOCK, ClError, Object, find
from .programs import Program

if TYPE_CHECKING:
    from fgpu.compiler.interface import Interface, KernelParameter
    from fgpu.sim.prepared import PreparedLaunch

__all__ = ["Argument", "Kernel", "PreparedKey"]

PreparedKey = tuple[str, tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], tuple[int, ...]]
"""Of a launch: the configuration, global and local size, offset, and the bytes of arguments in local memory."""
_HANDLE_BYTES: Final = 8
_WORD_BYTES: Final = 4
_WAVEFRONT: Final = 64
_SIGNED: Final = {("char", 1): "<b", ("short", 2): "<h"}
"""What is passed as a word with its sign."""
_WORDS_END: Final = 1 << 32


@dataclass(slots=True)
class Argument:
    """The value that a parameter has from now on. Never changed; frozen it would take a third longer to make."""

    words: tuple[int, ...] = ()
    """As the hardware gets it; none for local memory."""
    local_bytes: int = 0
    buffer: "ref[Buffer] | None" = None
    """As arguments hold no references; commands do."""


class Kernel(Object):
    """A kernel of a program, with the arguments that were set.

    ``prepared`` has what the launches so far have in common with those to come.
    """

    invalid = Status.INVALID_KERNEL

    def __init__(self, program: Program, interface: "Interface") -> None:
        self._counts = False
        super().__init__()
        self.program = program
        self.context = program.context
        self.interface = interface
        self.name = interface.name
        self.arguments: list[Argument | None] = [None] * len(interface.parameters)
        self.setters = [_setter(parameter) for parameter in interface.parameters]
        self.prepared: dict[PreparedKey, PreparedLaunch] = {}
        self._counts = True
        program.kernels_made += 1

    def __del__(self) -> None:
        if self._counts:
            self.program.kernels_made -= 1
        super().__del__()

    def local_bytes(self) -> tuple[int, ...]:
        """Those of the arguments in local memory, as far as they are set."""
        return tuple(argument.local_bytes for argument in self.arguments
                     if argument is not None and argument.local_bytes)


def _setter(parameter: "KernelParameter") -> Callable[[int, int, Kernel], Argument]:
    """What makes an argument of the host's bytes: of their number, their address and the kernel."""
    match parameter.kind:
        case "local":
            return _local
        case "pointer":
            return _buffer
        case "value":
            signed = _SIGNED.get((parameter.base, parameter.size))
            return _value(parameter.size, signed)
    return _unknown


def _local(length: int, value: int, kernel: Kernel) -> Argument:
    if value:
        raise ClError(Status.INVALID_ARG_VALUE, "a value for local memory")
    if not length:
        raise ClError(Status.INVALID_ARG_SIZE, "no bytes of local memory")
    return Argument(local_bytes=length)


def _buffer(length: int, value: int, kernel: Kernel) -> Argument:
    if length != _HANDLE_BYTES:
        raise ClError(Status.INVALID_ARG_SIZE, f"{length} bytes for a buffer")
    found = ctypes.c_size_t.from_address(value).value if value else 0
    if not found:
        return Argument((0,))
    buffer = find(Buffer, found)
    if buffer.context is not kernel.context:
        raise ClError(Status.INVALID_MEM_OBJECT, "a buffer of another context")
    if buffer.argument is None:
        buffer.argument = Argument((buffer.address,), buffer=ref(buffer))
    return buffer.argument


def _unknown(length: int, value: int, kernel: Kernel) -> Argument:
    raise ClError(Status.INVALID_ARG_VALUE, "images and samplers are not supported")


@lru_cache
def _value(length: int, signed: str | None) -> Callable[[int, int, Kernel], Argument]:
    count = -(-length // _WORD_BYTES)
    unpack = struct.Struct(f"<{count}I").unpack
    padding = bytes(count * _WORD_BYTES - length)
    string_at = ctypes.string_at

    def argument(given: int, value: int, kernel: Kernel) -> Argument:
        if given != length:
            raise ClError(Status.INVALID_ARG_SIZE, f"{given} bytes for an argument of {length}")
        if not value:
            raise ClError(Status.INVALID_ARG_VALUE, "NULL for a value")
        content = string_at(value, length)
        if signed is not None:
            return Argument((struct.unpack(signed, content)[0] % _WORDS_END,))
        return Argument(unpack(content + padding))

    return argument


@entry("clCreateKernel")
def create_kernel(program: int, name: int) -> Kernel:
    found = find(Program, program)
    if not name:
        raise ClError(Status.INVALID_VALUE, "no name")
    executables = found.executables
    wanted = ctypes.string_at(name).decode("utf-8", "replace")
    for unit in executables.values():
        if wanted in unit.kernels:
            return Kernel(found, unit.kernels[wanted])
    there = ", ".join(name for unit in executables.values() for name in unit.kernels)
    raise ClError(Status.INVALID_KERNEL_NAME, f"there is no kernel {wanted!r}, but {there}")


@entry("clCreateKernelsInProgram")
def create_kernels_in_program(program: int, room: int, kernels: int, count_ret: int) -> None:
    found = find(Program, program)
    interfaces = list(next(iter(found.executables.values())).kernels.values())
    if kernels and room < len(interfaces):
        raise ClError(Status.INVALID_VALUE, f"room for {room} of {len(interfaces)} kernels")
    if kernels and interfaces:
        give_handles([Kernel(found, interface) for interface in interfaces], room, kernels, count_ret)
    elif count_ret:
        ctypes.c_uint32.from_address(count_ret).value = len(interfaces)


@entry("clRetainKernel")
def retain_kernel(kernel: int) -> None:
    find(Kernel, kernel).retain()


@entry("clReleaseKernel")
def release_kernel(kernel: int) -> None:
    find(Kernel, kernel).release()


@entry("clSetKernelArg")
def set_kernel_arg(kernel: int, index: int, length: int, value: int) -> None:
    found = find(Kernel, kernel)
    if index >= len(found.setters):
        raise ClError(Status.INVALID_ARG_INDEX, f"kernel {found.name!r} has {len(found.setters)} parameters")
    found.arguments[index] = found.setters[index](length, value, found)


_INFO = {
    KernelInfo.FUNCTION_NAME: lambda kernel: text(kernel.name),
    KernelInfo.NUM_ARGS: lambda kernel: uint(len(kernel.arguments)),
    KernelInfo.REFERENCE_COUNT: lambda kernel: uint(kernel.references),
    KernelInfo.CONTEXT: lambda kernel: handle(kernel.context),
    KernelInfo.PROGRAM: lambda kernel: handle(kernel.program),
    KernelInfo.ATTRIBUTES: lambda kernel: text(kernel.interface.attributes),
}


@entry("clGetKernelInfo")
def get_kernel_info(kernel: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Kernel, kernel), name, value_size, value, size_ret)


def _qualifiers(words: str) -> int:
    return sum(TypeQualifier[word.upper()] for word in words.split() if word.upper() in TypeQualifier.__members__)


_ACCESS: Final = {"none": AccessQualifier.NONE, "read_only": AccessQualifier.READ_ONLY,
                  "write_only": AccessQualifier.WRITE_ONLY, "read_write": AccessQualifier.READ_WRITE}
_ARG_INFO: "Final[dict[int, Callable[[KernelParameter], bytes]]]" = {
    KernelArgInfo.ADDRESS_QUALIFIER: lambda parameter: uint(AddressQualifier[parameter.space.upper()]),
    KernelArgInfo.ACCESS_QUALIFIER: lambda parameter: uint(_ACCESS.get(parameter.access, AccessQualifier.NONE)),
    KernelArgInfo.TYPE_NAME: lambda parameter: text(parameter.type),
    KernelArgInfo.TYPE_QUALIFIER: lambda parameter: ulong(_qualifiers(parameter.qualifiers)),
    KernelArgInfo.NAME: lambda parameter: text(parameter.name),
}


@entry("clGetKernelArgInfo")
def get_kernel_arg_info(kernel: int, index: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    found = find(Kernel, kernel)
    if index >= len(found.setters):
        raise ClError(Status.INVALID_ARG_INDEX, f"kernel {found.name!r} has {len(found.setters)} parameters")
    if name not in _ARG_INFO:
        raise ClError(Status.INVALID_VALUE, f"there is no information 0x{name:X} about an argument")
    give(_ARG_INFO[name](found.interface.parameters[index]), value_size, value, size_ret)


@entry("clGetKernelWorkGroupInfo", locked=False)
def get_kernel_work_group_info(kernel: int, device: int, name: int, value_size: int, value: int,
                               size_ret: int) -> None:
    from fgpu.config import WORK_GROUP_MAX

    with LOCK:
        found = find(Kernel, kernel)
        if device:
            target = find(Device, device)
        elif len(found.program.executables) == 1:
            target = next(iter(found.program.executables))
        else:
            raise ClError(Status.INVALID_DEVICE, "the program is for several devices; name one")
        if target not in found.program.executables:
            raise ClError(Status.INVALID_DEVICE, "a device that the program was not built for")
        demanded = found.interface.work_group_size
        local = found.local_bytes()
    match name:
        case KernelWorkGroupInfo.COMPILE_WORK_GROUP_SIZE:
            result = sizes(demanded or (0, 0, 0))
        case KernelWorkGroupInfo.PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
            result = size(_WAVEFRONT)
        case KernelWorkGroupInfo.WORK_GROUP_SIZE:
            result = size(WORK_GROUP_MAX)
        case KernelWorkGroupInfo.LOCAL_MEM_SIZE | KernelWorkGroupInfo.PRIVATE_MEM_SIZE:
            try:
                code = found.program.image(found.name, target).kernel(found.name)
            except BaseException as error:      # while the code was made
                pass_on(error, lambda: give(ulong(0), value_size, value, size_ret))
                raise
            result = ulong(code.local_layout(local)[1] if name == KernelWorkGroupInfo.LOCAL_MEM_SIZE
                           else _WORD_BYTES * code.scratchpad_words + code.private_bytes)
        case _:
            raise ClError(Status.INVALID_VALUE, f"there is no information 0x{name:X} about a kernel's work-groups")
    give(result, value_size, value, size_ret)
