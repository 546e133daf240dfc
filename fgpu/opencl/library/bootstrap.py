"""What the C library runs in the interpreter that it found, as text: this file, and a call of :func:`start`."""

import signal  # noqa: F401     at once, as this takes SIGINT from a C program, which the C library gives back
import sys
from importlib.util import find_spec, module_from_spec


def start(dispatch: int, platform: int, table: int, interrupted: int, ending: int, unanswered: int, packages: str,
          version: str) -> None:
    """Fill the library's table, or say in one line why not.

    ``packages`` and ``version`` are the site-packages and the version of Python of the environment that the library
    was installed from; empty if it came in a wheel.
    """
    try:
        if not hasattr(sys, "argv"):
            sys.argv = [""]
        _uncover()
        if find_spec("fgpu") is None:   # a host from another environment: ours comes behind its own
            if version != f"{sys.version_info.major}.{sys.version_info.minor}":
                raise RuntimeError("fgpu is not installed in this environment" + (
                    f", but for Python {version}" if version else "") + "; `pip install fgpu` puts it there")
            import site

            site.addsitedir(packages)
            _uncover()
        from fgpu.opencl.bridge import attach

        attach(dispatch, platform, table, interrupted, ending, unanswered)
    except Exception as error:
        sys.stderr.write(f"fgpu: no OpenCL platform in this process: {error or type(error).__name__} "
                         f"({sys.executable or 'an embedded Python'}, {sys.version.split()[0]})\n")


def _uncover() -> None:
    """Import fgpu where a folder of that name beside the program, such as a checkout, hides an editable installation:
    Python takes the folder for a package in parts."""
    hidden = find_spec("fgpu")
    if hidden is None or hidden.origin is not None:
        return
    found = (finder.find_spec("fgpu", None) for finder in sys.meta_path)
    spec = next((spec for spec in found if spec is not None and spec.origin is not None), None)
    if spec is not None and spec.loader is not None:
        sys.modules["fgpu"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
