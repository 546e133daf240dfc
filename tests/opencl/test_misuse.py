"""Wrong handles in all functions, and releases in every order, leave the platform alive."""

import ctypes
import random
import signal
import threading
import time

import pytest

from fgpu.opencl.entry import ENTRIES
from fgpu.opencl.enums import DeviceInfo, Status
from fgpu.opencl.functions import FUNCTIONS, Result
from tests.seeds import seed_of_test

from . import direct
from .direct import call, sizes

_NO_HANDLE_FIRST = {"clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clCreateContext", "clWaitForEvents",
                    "clCreateContextFromType", "clUnloadCompiler", "clGetExtensionFunctionAddress"}
"""Their first parameter is no handle, or may be NULL."""


def called(name, arguments):
    """The status of a raw call."""
    with_status = FUNCTIONS[name].result in (Result.OBJECT, Result.ADDRESS_AND_STATUS)
    place = ctypes.c_int32(99)
    result = ENTRIES[name](*arguments, *([ctypes.addressof(place)] if with_status else []))
    return place.value if with_status else result


def objects():
    """A handle of each kind that needs no program."""
    context = direct.context()
    return {"context": context, "queue": direct.queue(context), "device": direct.device(),
            "event": call("clCreateUserEvent", context), "buffer": call("clCreateBuffer", context, 0, 64, 0)}


@pytest.mark.parametrize("name", sorted(set(ENTRIES) - _NO_HANDLE_FIRST))
def test_wrong_handles_are_refused(name, capfd):
    kinds = objects()
    released = call("clCreateUserEvent", kinds["context"])
    call("clReleaseEvent", released)
    count = len(FUNCTIONS[name].parameters)
    accepted = []
    for kind, handle in [("NULL", 0), ("garbage", 0xDEAD0), ("released", released), *kinds.items()]:
        result = called(name, [handle, *[0] * (count - 1)])
        if FUNCTIONS[name].result is not Result.ADDRESS and result == Status.SUCCESS:
            accepted.append(kind)
    assert len(accepted) <= 1, accepted       # that kind is right
    assert "Traceback" not in capfd.readouterr().err


def handles_of(name):
    """How many of a function's first parameters are handles."""
    if name.startswith("clEnqueueCopy"):
        return 3
    if name.startswith("clEnqueue"):
        return 1 if any(word in name for word in ("Marker", "Barrier", "Wait", "Migrate")) else 2
    return 2 if name.endswith(("BuildInfo", "WorkGroupInfo")) else 1


def test_random_calls_with_random_objects(capfd):
    draw = random.Random(seed_of_test())
    kinds = objects()
    call("clSetUserEventStatus", kinds["event"], 0)
    handles = [0, 0xDEAD0, *kinds.values()]
    room = (ctypes.c_size_t * 1024)()
    names = [name for name in sorted(ENTRIES) if name.startswith(("clGet", "clRetain", "clEnqueue", "clSetEvent"))
             and name not in ("clEnqueueNativeKernel", "clSetEventCallback", "clGetExtensionFunctionAddress",
                              "clGetExtensionFunctionAddressForPlatform")]
    good = 0
    for _ in range(5000):
        name = draw.choice(names)
        room[:4] = [draw.choice(handles) for _ in range(4)]
        good += called(name, [
            draw.choice(handles) if index < handles_of(name) and letter == "p" else
            draw.choice((0, ctypes.addressof(room))) if letter == "p" else draw.choice((0, 0, 1, 2, 4))
            for index, letter in enumerate(FUNCTIONS[name].parameters)]) == Status.SUCCESS
    assert good > 100
    assert "Traceback" not in capfd.readouterr().err
    assert called("clGetDeviceInfo", [kinds["device"], DeviceInfo.NAME, 0, 0, 0]) == Status.SUCCESS


def test_objects_are_released_in_any_order():
    draw = random.Random(seed_of_test())
    release = {"context": "clReleaseContext", "queue": "clReleaseCommandQueue", "event": "clReleaseEvent",
               "buffer": "clReleaseMemObject"}
    for _ in range(50):
        kinds = objects()
        place = ctypes.c_size_t()
        call("clEnqueueMarkerWithWaitList", kinds["queue"], 1, sizes(kinds["event"]), place)
        call("clSetUserEventStatus", kinds["event"], 0)
        waiting = list(release.items())
        draw.shuffle(waiting)
        for kind, function in waiting:
            call(function, kinds[kind])
        call("clWaitForEvents", 1, sizes(place.value))
        call("clReleaseEvent", place.value)
        for kind, function in waiting:
            assert direct.status_of(function, kinds[kind]) is not Status.SUCCESS or kind in ("queue", "context")


def test_ctrl_c_ends_a_wait_for_an_event_that_never_comes():
    event = call("clCreateUserEvent", direct.context())
    over = threading.Event()

    def interrupt():
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if not over.wait(30):
            call("clSetUserEventStatus", event, -1)     # the test fails, and does not hang

    thread = threading.Thread(target=interrupt)

    def wait():
        direct.status_of("clWaitForEvents", 1, sizes(event))
        time.sleep(1)

    thread.start()
    with pytest.raises(KeyboardInterrupt):
        wait()
    over.set()
    thread.join()
