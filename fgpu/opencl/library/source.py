"""The C library's source: what finds Python, and trampolines made from the table of functions."""

from pathlib import Path

from fgpu.opencl.enums import Status
from fgpu.opencl.functions import FUNCTIONS, MEMORY, SLOTS, UNSUPPORTED, Function, Result
from fgpu.opencl.library import LIBRARY
from fgpu.opencl.platforms import INFO, PLATFORM

__all__ = ["library_source"]

_HERE = Path(__file__).parent
_TYPES = {"p": "void *", "z": "size_t ", "u": "uint32_t ", "i": "int32_t ", "l": "uint64_t "}
_LATE = Status.OUT_OF_HOST_MEMORY       # what a function returns that no Python answers
_NO_DEVICES = ("clGetDeviceIDs", "clCreateContextFromType")
_OVER_AT_THE_END = ("clRelease", "clFlush", "clFinish", "clWaitForEvents")      # nothing is left to wait for
_START = b"\n\nstart(DISPATCH, PLATFORM, TABLE, INTERRUPTED, ENDING, UNANSWERED, PACKAGES, VERSION)\n"
_IN_C = ("clGetPlatformIDs", "clGetPlatformInfo", "clGetExtensionFunctionAddress",
         "clGetExtensionFunctionAddressForPlatform")


def library_source() -> str:
    """A self-contained C file."""
    answers = "".join(f'    {{{name:#x}, {_string(find(PLATFORM)[:-1])}}},\n' for name, find in INFO.items())
    functions = sorted(FUNCTIONS.values(), key=lambda function: function.slot)
    trampolines = "\n".join(_trampoline(function) for function in functions if function.name not in _IN_C)
    places = sorted({place for place in UNSUPPORTED.values() if place is not None})
    rows = {slot: f"fail_{'status' if place is None else place}" for slot, place in UNSUPPORTED.items()}
    rows |= dict.fromkeys(MEMORY, "fail_memory")
    rows |= {function.slot: function.name for function in functions}
    table = "".join(f"    [{slot}] = (void *){rows[slot]},\n" for slot in sorted(rows))
    return "\n".join([
        f"#define LIBRARY \"{LIBRARY}\"\n#define SLOTS {SLOTS}\n#define READY {FUNCTIONS['clGetDeviceIDs'].slot}\n",
        (_HERE / "interpreter.c").read_text(),
        f"static const char bootstrap[] =\n{_string((_HERE / 'bootstrap.py').read_bytes() + _START)};\n",
        f"static const struct {{ uint32_t name; const char *text; }} answers[] = {{\n{answers}}};\n",
        (_HERE / "platform.c").read_text(),
        trampolines,
        _fail_status(), _FAIL_MEMORY, *map(_fail, places),
        f"static void *const dispatch[SLOTS] = {{\n{table}}};\n",
    ])


def _string(content: bytes) -> str:
    """A string literal of C, a line of text a line."""
    lines = content.decode("ascii").replace("\\", r"\\").replace('"', r'\"').splitlines(keepends=True) or [""]
    return "\n".join('    "' + line.replace("\n", r"\n") + '"' for line in lines).strip()


def _trampoline(function: Function) -> str:
    """Calls Python's implementation, if there is one and an interpreter for it."""
    parameters = [f"{_TYPES[letter]}a{index}" for index, letter in enumerate(function.parameters)]
    has_status = function.result in (Result.OBJECT, Result.ADDRESS_AND_STATUS)
    if has_status:
        parameters.append("int32_t *status")
    result = "int32_t " if function.result is Result.STATUS else "void *"
    call = f"(({result}(*)(%s))python[{function.slot}])(%s)"
    arguments = ", ".join(parameter.split()[-1].lstrip("*") for parameter in parameters)
    types = ", ".join(parameter[:parameter.rindex(" ") + 1] + "*" * parameter.count("*") for parameter in parameters)
    late = 0 if function.name.startswith(_OVER_AT_THE_END) else int(
        Status.DEVICE_NOT_FOUND if function.name in _NO_DEVICES else _LATE)
    failure = f"return {late};" if function.result is Result.STATUS else \
        f"{{ if (status) *status = {late}; return NULL; }}" if has_status else "return NULL;"
    return (f"static {result}{function.name}({', '.join(parameters) or 'void'})\n{{\n"
            f"    struct caller caller;\n    if (!enter(&caller, {function.slot}))\n        {failure}\n"
            f"    {result}result = {call % (types or 'void', arguments)};\n"
            f"    if (!leave(&caller))\n        {failure}\n"
            "    return result;\n}\n")


_FAIL_MEMORY = "static void *fail_memory(void)\n{\n    return NULL;\n}\n"


def _fail_status() -> str:
    return ("static int32_t fail_status(void)     /* of any parameters: the caller removes them */\n"
            f"{{\n    return {int(Status.INVALID_OPERATION)};\n}}\n")


def _fail(place: int) -> str:
    """What returns NULL, with the error's place after ``place`` parameters, all in whole registers or words."""
    parameters = ", ".join([*(f"size_t a{index}" for index in range(place)), "int32_t *status"])
    ignored = "".join(f"    (void)a{index};\n" for index in range(place))
    return (f"static void *fail_{place}({parameters})\n{{\n{ignored}"
            f"    if (status)\n        *status = {int(Status.INVALID_OPERATION)};\n    return NULL;\n}}\n")
