"""``clGetDeviceInfo``: what a device can do, by its configuration."""

import zlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import fgpu
from fgpu.config import ATOMICS, WORK_GROUP_MAX, Config

from .answers import answer, boolean, handle, size, sizes, text, uint, ulong
from .devices import ALIGNMENT, Device, max_allocation, memory_size
from .entry import entry
from .enums import (
    CacheType,
    DeviceInfo,
    ExecCapabilities,
    FloatConfig,
    KhrInfo,
    LocalMemType,
    Partition,
    QueueProperties,
)
from .objects import find
from .platforms import PLATFORM

__all__ = ["driver_version", "extensions", "is_full_profile"]

_KIB = 1024
_VENDOR_ID = 0x46475055     # of no PCI device
_PRINTF_BYTES = 1 << 20     # fgpu.sim.printf.Printf's default
_IEEE = FloatConfig.DENORM | FloatConfig.INF_NAN | FloatConfig.ROUND_TO_NEAREST | FloatConfig.FMA
_ROUNDINGS = FloatConfig.ROUND_TO_ZERO | FloatConfig.ROUND_TO_INF      # by conversions' _rtz, _rtp and _rtn


@cache
def driver_version() -> str:
    """fgpu's version, and what changes with every change of the compiler: pyopencl keeps binaries by it, and fails on
    one that is not understood any more."""
    spec = find_spec("fgpu.compiler")
    folders = spec.submodule_search_locations if spec is not None else None
    files = [(str(path), status.st_size, status.st_mtime_ns) for folder in folders or ()
             for path in sorted(Path(folder).rglob("*.[pch]*")) for status in [path.stat()]]
    return f"{fgpu.__version__}+{zlib.crc32(repr(files).encode()):08x}"


def extensions(config: Config) -> list[str]:
    """Names of the extensions that programs for a configuration can use."""
    return [
        *(["cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
           "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics"]
          if config.atomics == ATOMICS else []),
        *(["cl_khr_byte_addressable_store"] if config.sub_integer_stores else []),
        "cl_khr_fp64", "cl_khr_fp16", "cl_khr_create_command_queue",
        *([] if is_full_profile(config) else ["cles_khr_int64"]),
    ]


def is_full_profile(config: Config) -> bool:
    """Whether it has all that OpenCL 1.2 demands of a device that is not of the embedded profile."""
    return (config.atomics == ATOMICS and config.sub_integer_stores and config.local_memory in (0, 32, 64)
            and (config.float_subnormals or not config.float_ops))


def _single(config: Config) -> int:
    flags = _IEEE | FloatConfig.CORRECTLY_ROUNDED_DIVIDE_SQRT
    if not {"fadd", "fmul"} <= config.float_ops:
        flags |= FloatConfig.SOFT_FLOAT
    return flags if config.float_subnormals or not config.float_ops else flags & ~FloatConfig.DENORM


_NO_IMAGES: Final = (DeviceInfo.IMAGE_SUPPORT, DeviceInfo.MAX_READ_IMAGE_ARGS, DeviceInfo.MAX_WRITE_IMAGE_ARGS,
                     DeviceInfo.MAX_SAMPLERS)
_NO_IMAGE_SIZES: Final = (DeviceInfo.IMAGE2D_MAX_WIDTH, DeviceInfo.IMAGE2D_MAX_HEIGHT, DeviceInfo.IMAGE3D_MAX_WIDTH,
                          DeviceInfo.IMAGE3D_MAX_HEIGHT, DeviceInfo.IMAGE3D_MAX_DEPTH,
                          DeviceInfo.IMAGE_MAX_BUFFER_SIZE, DeviceInfo.IMAGE_MAX_ARRAY_SIZE)

_INFO: Final[dict[int, Callable[[Device], bytes]]] = {
    **dict.fromkeys(_NO_IMAGES, lambda device: uint(0)),
    **dict.fromkeys(_NO_IMAGE_SIZES, lambda device: size(0)),
    **dict.fromkeys((name for name in DeviceInfo if "_VECTOR_WIDTH_" in name.name),
                    lambda device: uint(1)),        # work-items are scalar
    DeviceInfo.TYPE: lambda device: ulong(device.kind),
    DeviceInfo.VENDOR_ID: lambda device: uint(_VENDOR_ID),
    DeviceInfo.NAME: lambda device: text(device.name),
    DeviceInfo.VENDOR: lambda device: text("fgpu"),
    DeviceInfo.PLATFORM: lambda device: handle(PLATFORM),
    DeviceInfo.DRIVER_VERSION: lambda device: text(driver_version()),
    DeviceInfo.PROFILE: lambda device: text(
        "FULL_PROFILE" if is_full_profile(device.config) else "EMBEDDED_PROFILE"),
    DeviceInfo.VERSION: lambda device: text(f"OpenCL 1.2 fgpu {fgpu.__version__}"),
    DeviceInfo.OPENCL_C_VERSION: lambda device: text(f"OpenCL C 1.2 fgpu {fgpu.__version__}"),
    DeviceInfo.EXTENSIONS: lambda device: text(" ".join(extensions(device.config))),
    DeviceInfo.BUILT_IN_KERNELS: lambda device: text(""),
    DeviceInfo.AVAILABLE: lambda device: boolean(True),
    DeviceInfo.COMPILER_AVAILABLE: lambda device: boolean(True),
    DeviceInfo.LINKER_AVAILABLE: lambda device: boolean(True),

    DeviceInfo.MAX_COMPUTE_UNITS: lambda device: uint(device.compute_units),
    DeviceInfo.MAX_CLOCK_FREQUENCY: lambda device: uint(device.clock),
    DeviceInfo.PROFILING_TIMER_RESOLUTION: lambda device: size(
        1 if device.engine == "functional" else max(1, round(1000 / device.clock))),
    DeviceInfo.MAX_WORK_ITEM_DIMENSIONS: lambda device: uint(3),
    DeviceInfo.MAX_WORK_ITEM_SIZES: lambda device: sizes([WORK_GROUP_MAX] * 3),
    DeviceInfo.MAX_WORK_GROUP_SIZE: lambda device: size(WORK_GROUP_MAX),
    DeviceInfo.SINGLE_FP_CONFIG: lambda device: ulong(_single(device.config)),
    DeviceInfo.DOUBLE_FP_CONFIG: lambda device: ulong(_IEEE | _ROUNDINGS | FloatConfig.SOFT_FLOAT),
    KhrInfo.DEVICE_HALF_FP_CONFIG: lambda device: ulong(_IEEE | FloatConfig.SOFT_FLOAT),
    DeviceInfo.ENDIAN_LITTLE: lambda device: boolean(True),
    DeviceInfo.EXECUTION_CAPABILITIES: lambda device: ulong(
        ExecCapabilities.KERNEL | ExecCapabilities.NATIVE_KERNEL),
    DeviceInfo.QUEUE_PROPERTIES: lambda device: ulong(
        QueueProperties.OUT_OF_ORDER_EXEC_MODE_ENABLE | QueueProperties.PROFILING_ENABLE),

    DeviceInfo.ADDRESS_BITS: lambda device: uint(32),
    DeviceInfo.GLOBAL_MEM_SIZE: lambda device: ulong(memory_size()),
    DeviceInfo.MAX_MEM_ALLOC_SIZE: lambda device: ulong(max_allocation()),
    DeviceInfo.GLOBAL_MEM_CACHE_TYPE: lambda device: uint(CacheType.READ_WRITE_CACHE),
    DeviceInfo.GLOBAL_MEM_CACHE_SIZE: lambda device: ulong(device.config.cache_kib * _KIB),
    DeviceInfo.GLOBAL_MEM_CACHELINE_SIZE: lambda device: uint(device.config.cache_line),
    DeviceInfo.MAX_CONSTANT_BUFFER_SIZE: lambda device: ulong(64 * _KIB),
    DeviceInfo.MAX_CONSTANT_ARGS: lambda device: uint(8),
    DeviceInfo.MAX_PARAMETER_SIZE: lambda device: size(1024),
    DeviceInfo.LOCAL_MEM_TYPE: lambda device: uint(
        LocalMemType.LOCAL if device.config.local_memory else LocalMemType.GLOBAL),
    DeviceInfo.LOCAL_MEM_SIZE: lambda device: ulong((device.config.local_memory or 32) * _KIB),
    DeviceInfo.MEM_BASE_ADDR_ALIGN: lambda device: uint(8 * ALIGNMENT),
    DeviceInfo.MIN_DATA_TYPE_ALIGN_SIZE: lambda device: uint(ALIGNMENT),
    DeviceInfo.ERROR_CORRECTION_SUPPORT: lambda device: boolean(False),
    DeviceInfo.HOST_UNIFIED_MEMORY: lambda device: boolean(False),
    DeviceInfo.PRINTF_BUFFER_SIZE: lambda device: size(_PRINTF_BYTES),
    DeviceInfo.PREFERRED_INTEROP_USER_SYNC: lambda device: boolean(True),

    DeviceInfo.PARENT_DEVICE: lambda device: handle(device.parent),
    DeviceInfo.PARTITION_MAX_SUB_DEVICES: lambda device: uint(0 if device.is_hardware else device.compute_units),
    DeviceInfo.PARTITION_PROPERTIES: lambda device: sizes(
        [Partition.EQUALLY, Partition.BY_COUNTS] if device.compute_units > 1 and not device.is_hardware else [0]),
    DeviceInfo.PARTITION_AFFINITY_DOMAIN: lambda device: ulong(0),
    DeviceInfo.PARTITION_TYPE: lambda device: sizes(device.partition or [0]),
    DeviceInfo.REFERENCE_COUNT: lambda device: uint(device.references if device.parent else 1),
}


@entry("clGetDeviceInfo")
def get_device_info(device: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Device, device), name, value_size, value, size_ret)
