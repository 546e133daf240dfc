"""What the C library runs in the interpreter that it found. (DISPATCH, PLATFORM, TABLE, PACKAGES: its addresses, and
the site-packages of the environment that it was installed from.)"""

import signal  # noqa: F401     at once, as this takes SIGINT from a C program, which the C library gives back
import sys


def start() -> None:
    """Fill the table, or say in one line why not."""
    try:
        if not hasattr(sys, "argv"):
            sys.argv = [""]
        try:
            import fgpu  # noqa: F401
        except ModuleNotFoundError:     # a host from another environment: ours comes behind its own
            import site

            site.addsitedir(PACKAGES)   # type: ignore[name-defined]  # noqa: F821
        from fgpu.opencl.bridge import attach

        attach(DISPATCH, PLATFORM, TABLE)   # type: ignore[name-defined]  # noqa: F821
    except BaseException as error:
        sys.stderr.write(f"fgpu: no OpenCL platform in this process: {type(error).__name__}: {error} "
                         f"({sys.executable or 'an embedded Python'})\n")


start()
