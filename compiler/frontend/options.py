"""Which of clang's options users may give."""

from collections.abc import Sequence

from fgpu.errors import CompileError

__all__ = ["LENIENT", "accepted"]

_USER_OPTIONS = ("-D", "-U", "-I", "-W", "-w", "-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-mad-enable",
                 "-cl-fast-relaxed-math", "-cl-single-precision-constant", "-cl-denorms-are-zero",
                 "-cl-strict-aliasing", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
                 "-cl-finite-math-only", "-cl-kernel-arg-info", "-cl-fp32-correctly-rounded-divide-sqrt",
                 "-cl-opt-disable")
_OPEN = ("-D", "-U", "-I", "-W")
"""What goes on."""
_WITH_VALUE = ("-D", "-U", "-I")
_FOR_OTHERS = ("-Wp,", "-Wa,", "-Wl,")
"""What begins like a warning, and is for clang's preprocessor, and for an assembler and a linker."""
_IGNORED = ("-cl-opt-disable", "-cl-strict-aliasing", "-cl-kernel-arg-info", "-g", "-cl-std=CL2.0", "-cl-std=CL2.1",
            "-cl-std=CL2.2", "-cl-std=CL3.0", "-cl-uniform-work-group-size", "-O0", "-O1", "-O2", "-O3")
"""What changes nothing here: what is not optimized would not fit, and others are always so. Later versions' programs
are compiled as those of 1.2, and what 1.2 lacks is refused by name."""

LENIENT = ("implicit-int", "incompatible-pointer-types", "int-conversion", "return-mismatch")
"""Warnings in other compilers of OpenCL C, and in those of C until lately, which clang takes for errors."""
_ALL_ERRORS = "-Werror"

_FOREIGN = "-cl-nv-"
"""What the options begin with that tell another vendor's compiler how to treat registers, or to be verbose."""


def accepted(options: Sequence[str]) -> list[str]:
    """The user's options as clang takes them; those with a value may have it in an option of its own.

    Raises :class:`~fgpu.errors.CompileError` for others.
    """
    result: list[str] = []
    rest = iter(options)
    for option in rest:
        if option in _WITH_VALUE:
            option += next(rest, "")
        if option in _IGNORED or option.startswith(_FOREIGN):
            continue
        is_open = option.startswith(_OPEN) and not option.startswith(_FOR_OTHERS)
        if not (is_open or option in _USER_OPTIONS) or option in _WITH_VALUE:
            known = dict.fromkeys([*_USER_OPTIONS, *_IGNORED])
            raise CompileError(f"option {option!r} is not accepted; use {', '.join(known)}")
        result.append(option)
        if option == _ALL_ERRORS:
            result += [f"{option}={name}" for name in LENIENT]
    return result
