"""Programs compiled for the machine that the tests run on: clang as every installation has it, in the language
OpenCL C, but with LLVM's own code generator, at little optimization, and with addresses of 64 bits.

Each program is compiled twice: with checks for undefined behaviour, which end it, and without optimization where
variables that nobody initialized hold a pattern, and the last work-items of a work-group come first to each barrier.
That both agree shows that a program means something.
"""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .program import Source

__all__ = ["HostError", "run_on_host"]

_HERE = Path(__file__).parent
_CLANG = (sys.executable, "-m", "ziglang", "clang", "-c", "-fPIC", "-Wno-everything", "-ffp-contract=off",
          "-Werror=int-conversion", "-Werror=pointer-integer-compare", "-Werror=incompatible-pointer-types",
          "-Werror=return-type", "-fno-math-errno", "-fno-stack-protector")
_OPENCL = ("-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc", "-nostdinc", "-include", str(_HERE / "host.h"))
_WAYS = (("-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-ftrivial-auto-var-init=zero"),
         ("-O0", "-ftrivial-auto-var-init=pattern"))
_TIMEOUT_SECONDS = 120


class HostError(Exception):
    """The host cannot compile or run a program, or not twice with the same result: it means nothing."""


def _source(number: int, program: Source) -> str:
    """The program under names of its own, with a function that runs one of its work-items."""
    renamed = "".join(f"#define {name} {name}_{number}\n" for name in program.names)
    undone = "".join(f"#undef {name}\n" for name in program.names)
    given = ", ".join(f"({each.type})a[{at}]" if each.is_buffer else f"*({each.type}*)a[{at}]"
                      for at, each in enumerate(program.parameters))
    return f"{renamed}{program.text}\nvoid run_{number}(ulong *a) {{ k({given}); }}\n{undone}"


def _run(command: Sequence[str], **options: object) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(command, capture_output=True, check=False, timeout=_TIMEOUT_SECONDS, **options)


def _compiled(source: Path, options: Sequence[str], folder: Path) -> Path:
    made = folder / "programs.so"
    for command in ([*_CLANG, *_OPENCL, *options, str(source), "-o", str(folder / "programs.o")],
                    [sys.executable, "-m", "ziglang", "cc", "-shared", "-O1", "-w", str(_HERE / "host.c"),
                     str(folder / "programs.o"), "-o", str(made)]):
        run = _run(command)
        if run.returncode != 0:
            raise HostError(run.stderr.decode(errors="replace"))
    return made


def run_on_host(programs: Sequence[Source]) -> list[list[bytes]]:
    """The results of each program, after all its work-items. Raises :class:`HostError` with the program's number."""
    launches = [(program.items, program.group, [each.content for each in program.parameters]) for program in programs]
    results = []
    with TemporaryDirectory() as name:
        source = Path(name) / "programs.cl"
        source.write_text("\n".join(_source(*numbered) for numbered in enumerate(programs)))
        for way, options in enumerate(_WAYS):
            library = _compiled(source, options, Path(name))
            run = _run([sys.executable, str(_HERE / "host_run.py"), str(library), str(way)],
                       input=pickle.dumps(launches))
            done, data = [], memoryview(run.stdout)
            while len(data):
                size = int.from_bytes(data[:8], "little")
                done.append(programs[len(done)].results(pickle.loads(data[8:8 + size])))
                data = data[8 + size:]
            if run.returncode != 0 or len(done) != len(programs):
                raise HostError(f"program {len(done)} ends with {run.returncode}: {run.stderr.decode()}\n"
                                f"{programs[len(done)].text if len(done) < len(programs) else ''}")
            results.append(done)
    for number, (first, second) in enumerate(zip(*results, strict=True)):
        if first != second:
            raise HostError(f"program {number} has two results\n{programs[number].text}")
    return results[0]
