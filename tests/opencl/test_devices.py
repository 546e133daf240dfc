"""The platform, its devices, sub-devices and contexts answer truly, and wrong questions get the standard's errors."""

import ctypes
import subprocess
import sys

import pytest

from fgpu.config import ATOMICS, FLOAT_OPS
from fgpu.opencl.device_info import extensions, is_full_profile
from fgpu.opencl.device_list import CLOCK_MHZ, VARIABLE, DeviceListError, offers
from fgpu.opencl.devices import DEVICES
from fgpu.opencl.enums import (
    ContextInfo,
    ContextProperty,
    DeviceInfo,
    DeviceType,
    KhrInfo,
    Partition,
    PlatformInfo,
    Status,
)
from fgpu.opencl.objects import find
from fgpu.opencl.platforms import PLATFORM

from . import direct
from .direct import call, info, out, status_of


def texts(query, handle, name):
    """A query's answer that is text."""
    size = out()
    call(query, handle, name, 0, 0, size)
    found = ctypes.create_string_buffer(size.value)
    call(query, handle, name, size.value, found, 0)
    assert found.raw[-1:] == b"\0"
    return found.value.decode()


def words(query, handle, name):
    """A query's answer as an array of 64-bit words."""
    size = out()
    call(query, handle, name, 0, 0, size)
    found = (ctypes.c_int64 * (size.value // 8))()
    call(query, handle, name, size.value, found, 0)
    return list(found)


def listed(kinds):
    """The devices of a type."""
    found = (ctypes.c_size_t * 16)()
    count = ctypes.c_uint32()
    call("clGetDeviceIDs", PLATFORM.handle, kinds, 16, found, count)
    return list(found[:count.value])


def test_every_question_of_opencl_1_2_has_an_answer():
    for device in DEVICES:
        for name in DeviceInfo:
            size = out()
            call("clGetDeviceInfo", device.handle, name, 0, 0, size)
            assert size.value > 0, name
    for name in PlatformInfo:
        assert texts("clGetPlatformInfo", PLATFORM.handle, name)
    assert status_of("clGetDeviceInfo", DEVICES[0].handle, 0x10FF, 0, 0, 0) is Status.INVALID_VALUE


def test_all_devices_are_of_the_full_profile_and_its_minima():
    for device in DEVICES:
        def number(name, kind=ctypes.c_uint64, handle=device.handle):
            return info("clGetDeviceInfo", handle, name, kind)

        assert texts("clGetDeviceInfo", device.handle, DeviceInfo.PROFILE) == "FULL_PROFILE"
        assert number(DeviceInfo.LOCAL_MEM_SIZE) >= 32 << 10
        assert number(DeviceInfo.MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10
        assert number(DeviceInfo.MAX_CONSTANT_ARGS, ctypes.c_uint32) >= 8
        assert number(DeviceInfo.MAX_PARAMETER_SIZE) >= 1024
        assert number(DeviceInfo.MAX_MEM_ALLOC_SIZE) >= max(
            128 << 20, number(DeviceInfo.GLOBAL_MEM_SIZE) // 4)
        assert number(DeviceInfo.PRINTF_BUFFER_SIZE) >= 1 << 20
        assert number(DeviceInfo.SINGLE_FP_CONFIG) & 6 == 6         # INF_NAN, ROUND_TO_NEAREST
        assert number(DeviceInfo.DOUBLE_FP_CONFIG) & 0x3F == 0x3F
        assert number(KhrInfo.DEVICE_HALF_FP_CONFIG) & 6 == 6
        assert {"cl_khr_fp64", "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                "cl_khr_local_int32_extended_atomics"} <= set(
            texts("clGetDeviceInfo", device.handle, DeviceInfo.EXTENSIONS).split())
        assert number(DeviceInfo.MAX_CLOCK_FREQUENCY, ctypes.c_uint32) == CLOCK_MHZ


def test_programs_that_ask_for_a_gpu_or_the_default_get_the_fast_device():
    assert listed(DeviceType.GPU) == listed(DeviceType.DEFAULT) == [DEVICES[0].handle]
    assert DEVICES[0].engine == "functional"
    assert [find(type(DEVICES[0]), handle).engine for handle in listed(DeviceType.ACCELERATOR)] == ["verilator"] * 2
    assert listed(DeviceType.ALL) == [device.handle for device in DEVICES]
    count = ctypes.c_uint32()
    for kinds, expected in ((DeviceType.CPU, Status.DEVICE_NOT_FOUND), (0, Status.INVALID_DEVICE_TYPE),
                            (1 << 20, Status.INVALID_DEVICE_TYPE)):
        assert status_of("clGetDeviceIDs", PLATFORM.handle, kinds, 0, 0, count) is expected


def test_how_many_devices_there_are_may_be_asked_with_room_for_some():
    """Without an array its length says nothing; an array has one."""
    count, found = ctypes.c_uint32(), (ctypes.c_size_t * 4)()
    call("clGetDeviceIDs", PLATFORM.handle, DeviceType.ALL, 1, 0, count)
    assert count.value == len(DEVICES)
    assert status_of("clGetDeviceIDs", PLATFORM.handle, DeviceType.ALL, 0, found, count) is Status.INVALID_VALUE
    assert status_of("clGetDeviceIDs", PLATFORM.handle, DeviceType.ALL, 1, 0, 0) is Status.INVALID_VALUE
    call("clCreateSubDevices", DEVICES[0].handle, properties(Partition.EQUALLY, 1), 8, 0, count)
    assert count.value == DEVICES[0].compute_units


def test_devices_differ_in_engine_and_compute_units_only():
    assert [(device.name, device.compute_units) for device in DEVICES] == [
        ("FGPU functional 4 CUs", 4), ("FGPU verilator 1 CU", 1), ("FGPU verilator 4 CUs", 4)]
    assert len({device.config.replace(compute_units=1) for device in DEVICES}) == 1
    assert DEVICES[0].config.atomics == ATOMICS
    assert DEVICES[0].config.float_ops == FLOAT_OPS


def test_the_environment_lists_other_devices(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "verilator compute_units=2 clock=80; pysim preset=tiny; pysim preset=tiny")
    first, second, third = offers()
    assert (first.name, first.engine, first.config.compute_units, first.clock) == (
        "FGPU verilator 2 CUs", "verilator", 2, 80)
    assert (second.name, second.config.cram_size, third.name) == (
        "FGPU pysim 1 CU tiny", 4, "FGPU pysim 1 CU tiny #2")
    assert is_full_profile(first.config)
    assert not is_full_profile(second.config)
    assert "cl_khr_global_int32_base_atomics" not in extensions(second.config)
    assert "cles_khr_int64" in extensions(second.config)
    path = tmp_path / "devices"
    path.write_text("# mine\nfunctional local_memory=0   # in global memory\n\nverilator atomics=add,max\n")
    monkeypatch.setenv(VARIABLE, str(path))
    assert [(offer.engine, offer.config.local_memory) for offer in offers()] == [("functional", 0), ("verilator", 32)]


@pytest.mark.parametrize(("text", "message"), [
    ("gpu", "the first word must be an engine"),
    ("verilator cus=4", "'cus=4' is not name=value"),
    ("verilator compute_units=3", "compute_units must be one of 1, 2, 4, 8, not 3"),
    ("verilator compute_units=four", "not 'four'"),
    ("verilator clock=0", "clock must be in MHz"),
    ("verilator preset=big", "preset must be one of"),
    (" ; ", "no device"),
    ("/no/such/file", "cannot be read"),
])
def test_a_wrong_list_gets_one_message(monkeypatch, text, message):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(DeviceListError, match=message):
        offers()


def test_a_wrong_list_leaves_the_platform_without_devices(monkeypatch):
    monkeypatch.setenv(VARIABLE, "verilator compute_units=3")
    done = subprocess.run(
        [sys.executable, "-c", "from fgpu.opencl.devices import DEVICES; print(len(DEVICES))"],
        capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
    assert done.stderr.count("\n") == 1
    assert "compute_units must be" in done.stderr


# -- sub-devices --------------------------------------------------------------------------------


def properties(*numbers):
    """A property list."""
    return (ctypes.c_ssize_t * (len(numbers) + 1))(*numbers, 0)


def divided(device, *numbers):
    """The sub-devices of a partition."""
    count = ctypes.c_uint32()
    call("clCreateSubDevices", device, properties(*numbers), 0, 0, count)
    found = (ctypes.c_size_t * count.value)()
    call("clCreateSubDevices", device, properties(*numbers), count.value, found, 0)
    return list(found)


def units(device):
    return info("clGetDeviceInfo", device, DeviceInfo.MAX_COMPUTE_UNITS, ctypes.c_uint32)


def test_devices_are_partitioned_by_compute_units():
    whole = DEVICES[0].handle
    halves = divided(whole, Partition.EQUALLY, 2)
    assert [units(device) for device in halves] == [2, 2]
    assert [units(device) for device in divided(whole, Partition.BY_COUNTS, 1, 3, 0)] == [1, 3]
    assert words("clGetDeviceInfo", halves[1], DeviceInfo.PARTITION_TYPE) == [Partition.EQUALLY, 2, 0]
    assert info("clGetDeviceInfo", halves[1], DeviceInfo.PARENT_DEVICE) == whole
    assert info("clGetDeviceInfo", whole, DeviceInfo.PARENT_DEVICE) == 0
    quarters = divided(halves[0], Partition.EQUALLY, 1)
    assert [units(device) for device in quarters] == [1, 1]
    assert words("clGetDeviceInfo", quarters[0], DeviceInfo.PARTITION_PROPERTIES) == [0]
    assert find(type(DEVICES[0]), quarters[0]).config.compute_units == 1


def test_sub_devices_are_counted_and_root_devices_are_not():
    [first, second] = divided(DEVICES[0].handle, Partition.EQUALLY, 2)
    call("clRetainDevice", first)
    assert info("clGetDeviceInfo", first, DeviceInfo.REFERENCE_COUNT, ctypes.c_uint32) == 2
    call("clReleaseDevice", first)
    call("clReleaseDevice", first)
    call("clReleaseDevice", second)
    assert status_of("clReleaseDevice", first) is Status.INVALID_DEVICE
    for _ in range(3):
        call("clReleaseDevice", DEVICES[0].handle)
    assert info("clGetDeviceInfo", DEVICES[0].handle, DeviceInfo.REFERENCE_COUNT, ctypes.c_uint32) == 1


@pytest.mark.parametrize(("device", "numbers", "expected"), [
    (0, [Partition.EQUALLY, 4], Status.DEVICE_PARTITION_FAILED),
    (0, [Partition.EQUALLY, 5], Status.INVALID_DEVICE_PARTITION_COUNT),
    (0, [Partition.EQUALLY, 0], Status.INVALID_DEVICE_PARTITION_COUNT),
    (0, [Partition.BY_COUNTS, 5, 0], Status.INVALID_DEVICE_PARTITION_COUNT),
    (0, [Partition.BY_COUNTS, -1, 0], Status.INVALID_DEVICE_PARTITION_COUNT),
    (0, [Partition.BY_AFFINITY_DOMAIN, 1], Status.INVALID_VALUE),
    (0, [-1, 1], Status.INVALID_VALUE),
    (1, [Partition.EQUALLY, 1], Status.DEVICE_PARTITION_FAILED),
    (2, [Partition.BY_COUNTS, 1, 3, 0], Status.DEVICE_PARTITION_FAILED),
])
def test_wrong_partitions(device, numbers, expected):
    found = (ctypes.c_size_t * 8)()
    assert status_of("clCreateSubDevices", DEVICES[device].handle, properties(*numbers), 8, found, 0) is expected


# -- contexts -----------------------------------------------------------------------------------


def test_a_context_tells_its_devices_and_properties():
    given = properties(ContextProperty.PLATFORM, PLATFORM.handle)
    two = direct.sizes(DEVICES[0].handle, DEVICES[1].handle, DEVICES[0].handle)
    context = call("clCreateContext", given, 3, two, 0, 0)
    assert words("clGetContextInfo", context, ContextInfo.PROPERTIES) == list(given)
    assert words("clGetContextInfo", context, ContextInfo.DEVICES) == [device.handle for device in DEVICES[:2]]
    assert info("clGetContextInfo", context, ContextInfo.NUM_DEVICES, ctypes.c_uint32) == 2
    plain = call("clCreateContextFromType", 0, DeviceType.ACCELERATOR, 0, 0)
    assert words("clGetContextInfo", plain, ContextInfo.PROPERTIES) == []
    assert len(words("clGetContextInfo", plain, ContextInfo.DEVICES)) == 2


@pytest.mark.parametrize(("numbers", "expected"), [
    ([ContextProperty.PLATFORM, 0], Status.INVALID_PLATFORM),
    ([ContextProperty.PLATFORM, DEVICES[0].handle], Status.INVALID_PLATFORM),
    ([ContextProperty.PLATFORM, PLATFORM.handle, ContextProperty.PLATFORM, PLATFORM.handle],
     Status.INVALID_PROPERTY),
    ([ContextProperty.INTEROP_USER_SYNC, -1], Status.INVALID_PROPERTY),
    ([0x2008, 1], Status.INVALID_PROPERTY),
])
def test_wrong_properties_of_contexts(numbers, expected):
    given = properties(*numbers)
    one = direct.sizes(DEVICES[0].handle)
    assert status_of("clCreateContext", given, 1, one, 0, 0) is expected
    assert status_of("clCreateContextFromType", given, DeviceType.GPU, 0, 0) is expected


def test_wrong_contexts():
    one = direct.sizes(DEVICES[0].handle)
    assert status_of("clCreateContext", 0, 0, one, 0, 0) is Status.INVALID_VALUE
    assert status_of("clCreateContext", 0, 1, 0, 0, 0) is Status.INVALID_VALUE
    assert status_of("clCreateContext", 0, 1, one, 0, 7) is Status.INVALID_VALUE
    assert status_of("clCreateContext", 0, 1, direct.sizes(PLATFORM.handle), 0, 0) is Status.INVALID_DEVICE
    assert status_of("clCreateContextFromType", 0, DeviceType.CPU, 0, 0) is Status.DEVICE_NOT_FOUND
    assert status_of("clCreateContextFromType", 0, 0, 0, 0) is Status.INVALID_DEVICE_TYPE
