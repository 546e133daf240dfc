"""The platform."""

import fgpu

from .answers import answer, give_handles, text
from .entry import entry
from .enums import KhrInfo, PlatformInfo, Status
from .objects import ClError, Object, find, platform_block

__all__ = ["INFO", "PLATFORM", "Platform", "find_platform"]


class Platform(Object):
    """The one platform; it is never released."""

    invalid = Status.INVALID_PLATFORM

    def __init__(self) -> None:
        super().__init__(platform_block())


PLATFORM = Platform()

INFO = {
    PlatformInfo.PROFILE: lambda platform: text("FULL_PROFILE"),
    PlatformInfo.VERSION: lambda platform: text(f"OpenCL 1.2 fgpu {fgpu.__version__}"),
    PlatformInfo.NAME: lambda platform: text("FGPU"),
    PlatformInfo.VENDOR: lambda platform: text("fgpu"),
    PlatformInfo.EXTENSIONS: lambda platform: text("cl_khr_icd cl_khr_create_command_queue"),
    KhrInfo.PLATFORM_ICD_SUFFIX_KHR: lambda platform: text("FGPU"),
}
"""The C library answers these by itself, from when it was built."""


def find_platform(handle: int) -> Platform:
    """The platform of a handle; NULL is ours, too."""
    return find(Platform, handle) if handle else PLATFORM


@entry("clGetPlatformIDs")
def get_platform_ids(room: int, platforms: int, count_ret: int) -> None:
    give_handles([PLATFORM], room, platforms, count_ret)


@entry("clGetPlatformInfo")
def get_platform_info(platform: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(INFO, find_platform(platform), name, value_size, value, size_ret)


@entry("clUnloadCompiler")
def unload_compiler() -> None:
    """Nothing is kept that is worth giving back."""


@entry("clUnloadPlatformCompiler")
def unload_platform_compiler(platform: int) -> None:
    find(Platform, platform)


@entry("clGetExtensionFunctionAddress")
def get_extension_function_address(name: int) -> int:
    return 0


@entry("clGetExtensionFunctionAddressForPlatform")
def get_extension_function_address_for_platform(platform: int, name: int) -> int:
    find(Platform, platform)
    if not name:
        raise ClError(Status.INVALID_VALUE, "no name")
    return get_extension_function_address(name)
