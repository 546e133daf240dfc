"""The functions of the OpenCL 1.2 API: the one table that the C library and the bridge to Python are made from.

An ICD loader finds them by their slot in a table of pointers (``cl_khr_icd``).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

__all__ = ["FUNCTIONS", "MEMORY", "SLOTS", "UNSUPPORTED", "Function", "Result"]

SLOTS: Final = 150
"""Slots of the dispatch table of OpenCL 3.1, the longest that a loader knows."""


class Result(Enum):
    """What a function returns."""

    STATUS = "a cl_int: an error or CL_SUCCESS"
    OBJECT = "an object's handle; the last parameter, which Python does not see, points to where the cl_int goes"
    ADDRESS = "an address"
    ADDRESS_AND_STATUS = "an address; the cl_int goes to where the last parameter points"


@dataclass(frozen=True)
class Function:
    """One function of the API.

    ``parameters`` has a letter for each: ``p`` a pointer or a handle, ``z`` a ``size_t``, ``u`` a ``cl_uint`` or
    ``cl_bool``, ``i`` a ``cl_int``, ``l`` a ``cl_ulong`` or bit field.
    """

    slot: int
    name: str
    parameters: str
    result: Result = Result.STATUS


_ALL: Final = [
    Function(0, "clGetPlatformIDs", "upp"),
    Function(1, "clGetPlatformInfo", "puzpp"),
    Function(2, "clGetDeviceIDs", "plupp"),
    Function(3, "clGetDeviceInfo", "puzpp"),
    Function(4, "clCreateContext", "puppp", Result.OBJECT),
    Function(5, "clCreateContextFromType", "plpp", Result.OBJECT),
    Function(6, "clRetainContext", "p"),
    Function(7, "clReleaseContext", "p"),
    Function(8, "clGetContextInfo", "puzpp"),
    Function(9, "clCreateCommandQueue", "ppl", Result.OBJECT),
    Function(10, "clRetainCommandQueue", "p"),
    Function(11, "clReleaseCommandQueue", "p"),
    Function(12, "clGetCommandQueueInfo", "puzpp"),
    Function(13, "clSetCommandQueueProperty", "plup"),
    Function(14, "clCreateBuffer", "plzp", Result.OBJECT),
    Function(15, "clCreateImage2D", "plpzzzp", Result.OBJECT),
    Function(16, "clCreateImage3D", "plpzzzzzp", Result.OBJECT),
    Function(17, "clRetainMemObject", "p"),
    Function(18, "clReleaseMemObject", "p"),
    Function(19, "clGetSupportedImageFormats", "pluupp"),
    Function(20, "clGetMemObjectInfo", "puzpp"),
    Function(21, "clGetImageInfo", "puzpp"),
    Function(22, "clCreateSampler", "puuu", Result.OBJECT),
    Function(23, "clRetainSampler", "p"),
    Function(24, "clReleaseSampler", "p"),
    Function(25, "clGetSamplerInfo", "puzpp"),
    Function(26, "clCreateProgramWithSource", "pupp", Result.OBJECT),
    Function(27, "clCreateProgramWithBinary", "pupppp", Result.OBJECT),
    Function(28, "clRetainProgram", "p"),
    Function(29, "clReleaseProgram", "p"),
    Function(30, "clBuildProgram", "pupppp"),
    Function(31, "clUnloadCompiler", ""),
    Function(32, "clGetProgramInfo", "puzpp"),
    Function(33, "clGetProgramBuildInfo", "ppuzpp"),
    Function(34, "clCreateKernel", "pp", Result.OBJECT),
    Function(35, "clCreateKernelsInProgram", "pupp"),
    Function(36, "clRetainKernel", "p"),
    Function(37, "clReleaseKernel", "p"),
    Function(38, "clSetKernelArg", "puzp"),
    Function(39, "clGetKernelInfo", "puzpp"),
    Function(40, "clGetKernelWorkGroupInfo", "ppuzpp"),
    Function(41, "clWaitForEvents", "up"),
    Function(42, "clGetEventInfo", "puzpp"),
    Function(43, "clRetainEvent", "p"),
    Function(44, "clReleaseEvent", "p"),
    Function(45, "clGetEventProfilingInfo", "puzpp"),
    Function(46, "clFlush", "p"),
    Function(47, "clFinish", "p"),
    Function(48, "clEnqueueReadBuffer", "ppuzzpupp"),
    Function(49, "clEnqueueWriteBuffer", "ppuzzpupp"),
    Function(50, "clEnqueueCopyBuffer", "pppzzzupp"),
    Function(51, "clEnqueueReadImage", "ppuppzzpupp"),
    Function(52, "clEnqueueWriteImage", "ppuppzzpupp"),
    Function(53, "clEnqueueCopyImage", "ppppppupp"),
    Function(54, "clEnqueueCopyImageToBuffer", "pppppzupp"),
    Function(55, "clEnqueueCopyBufferToImage", "pppzppupp"),
    Function(56, "clEnqueueMapBuffer", "ppulzzupp", Result.ADDRESS_AND_STATUS),
    Function(57, "clEnqueueMapImage", "ppulppppupp", Result.ADDRESS_AND_STATUS),
    Function(58, "clEnqueueUnmapMemObject", "pppupp"),
    Function(59, "clEnqueueNDRangeKernel", "ppupppupp"),
    Function(60, "clEnqueueTask", "ppupp"),
    Function(61, "clEnqueueNativeKernel", "pppzuppupp"),
    Function(62, "clEnqueueMarker", "pp"),
    Function(63, "clEnqueueWaitForEvents", "pup"),
    Function(64, "clEnqueueBarrier", "p"),
    Function(65, "clGetExtensionFunctionAddress", "p", Result.ADDRESS),
    Function(81, "clSetEventCallback", "pipp"),
    Function(82, "clCreateSubBuffer", "plup", Result.OBJECT),
    Function(83, "clSetMemObjectDestructorCallback", "ppp"),
    Function(84, "clCreateUserEvent", "p", Result.OBJECT),
    Function(85, "clSetUserEventStatus", "pi"),
    Function(86, "clEnqueueReadBufferRect", "ppupppzzzzpupp"),
    Function(87, "clEnqueueWriteBufferRect", "ppupppzzzzpupp"),
    Function(88, "clEnqueueCopyBufferRect", "ppppppzzzzupp"),
    Function(93, "clCreateSubDevices", "ppupp"),
    Function(94, "clRetainDevice", "p"),
    Function(95, "clReleaseDevice", "p"),
    Function(96, "clCreateImage", "plppp", Result.OBJECT),
    Function(97, "clCreateProgramWithBuiltInKernels", "pupp", Result.OBJECT),
    Function(98, "clCompileProgram", "puppupppp"),
    Function(99, "clLinkProgram", "puppuppp", Result.OBJECT),
    Function(100, "clUnloadPlatformCompiler", "p"),
    Function(101, "clGetKernelArgInfo", "puuzpp"),
    Function(102, "clEnqueueFillBuffer", "pppzzzupp"),
    Function(103, "clEnqueueFillImage", "pppppupp"),
    Function(104, "clEnqueueMigrateMemObjects", "puplupp"),
    Function(105, "clEnqueueMarkerWithWaitList", "pupp"),
    Function(106, "clEnqueueBarrierWithWaitList", "pupp"),
    Function(107, "clGetExtensionFunctionAddressForPlatform", "pp", Result.ADDRESS),
    Function(123, "clCreateCommandQueueWithProperties", "ppp", Result.OBJECT),
]

FUNCTIONS: Final = {function.name: function for function in _ALL}
"""Every core function up to OpenCL 1.2, by its name, and the one of 2.0 by which most later programs make their
queues: 1.2 has it as an extension, ``cl_khr_create_command_queue``."""

_OBJECTS: Final = {    # functions that return an object, or memory
    66: 3, 67: 5, 68: 5, 69: 3, 92: 2, 108: 5,     # of OpenGL
    119: 5, 122: 3,                                # of EGL
    124: 5, 133: 2,                     # OpenCL 2.0: clCreatePipe ...
    137: 1, 138: 3, 146: 5, 147: 6,                # 2.1 and 3.0: clCloneKernel, clCreateBufferWithProperties ...
}
UNSUPPORTED: Final = {slot: _OBJECTS.get(slot) for slot in range(SLOTS)
                      if slot not in {function.slot for function in _ALL}}
"""The slots of extensions and of later versions: the number of parameters before the place of the ``cl_int``, or None
where the function returns it."""

MEMORY: Final = frozenset({126})
"""Those of them that return memory, and no error: ``clSVMAlloc``."""
