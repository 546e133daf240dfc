"""The C library's source, made from the table of functions."""

from fgpu.opencl.functions import FUNCTIONS, SLOTS, Function, Result

__all__ = ["library_source"]

_TYPES = {"p": "void *", "z": "size_t ", "u": "uint32_t ", "i": "int32_t ", "l": "uint64_t "}

_HEAD = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *python[%(slots)d];     /* what Python has for each slot */
void *fgpu_dispatch[%(slots)d];     /* the ICD's dispatch table */
static int is_attached;

static int attach(void)
{
    if (is_attached)
        return 1;
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    int (*run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    if (!ensure || !release || !run)
        return 0;
    int state = ensure();
    if (!is_attached) {
        char line[200];
        snprintf(line, sizeof line, "from fgpu.opencl.bridge import attach; attach(%%zu, %%zu)",
                 (size_t)fgpu_dispatch, (size_t)python);
        is_attached = run(line) == 0;
    }
    release(state);
    return is_attached;
}

"""


def library_source() -> str:
    """A self-contained C file."""
    functions = sorted(FUNCTIONS.values(), key=lambda function: function.slot)
    rows = "".join(f"    [{function.slot}] = {function.name},\n" for function in functions)
    return (_HEAD % {"slots": SLOTS} + "\n".join(map(_trampoline, functions))
            + f"\nvoid *fgpu_dispatch[{SLOTS}] = {{\n{rows}}};\n\n" + _TAIL)


def _trampoline(function: Function) -> str:
    parameters = [f"{_TYPES[letter]}a{index}" for index, letter in enumerate(function.parameters)]
    has_status = function.result in (Result.OBJECT, Result.ADDRESS_AND_STATUS)
    if has_status:
        parameters.append("int32_t *status")
    result = "int32_t " if function.result is Result.STATUS else "void *"
    arguments = ", ".join(parameter.split()[-1].lstrip("*") for parameter in parameters)
    types = ", ".join(parameter[:parameter.rindex(" ") + 1] + "*" * parameter.count("*") for parameter in parameters)
    failure = "return -6;" if function.result is Result.STATUS else \
        "{ if (status) *status = -6; return NULL; }" if has_status else "return NULL;"
    return (f"{result}{function.name}({', '.join(parameters) or 'void'})\n{{\n"
            f"    if (!attach() || !python[{function.slot}])\n        {failure}\n"
            f"    return (({result}(*)({types or 'void'}))python[{function.slot}])({arguments});\n}}\n")


_TAIL = """\
int32_t clIcdGetPlatformIDsKHR(uint32_t room, void *platforms, void *count)
{
    return clGetPlatformIDs(room, platforms, count);
}
"""
