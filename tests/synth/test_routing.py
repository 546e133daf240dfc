"""Routing that has no end is given up, and goes on for less; by a program that writes what nextpnr would."""

import sys
from pathlib import Path

import pytest

from fgpu.tools.native import Tool
from fgpu.tools.routing import AIMS, ITERATIONS, PATIENCE, RIP_UP, route

_ENDS = 60
assert PATIENCE < _ENDS < ITERATIONS
_ROUTER = """#!{python}
import itertools, sys, time
from pathlib import Path
_, most, *arguments = sys.argv
ends = float(arguments[1]) <= float(most) or "{rip_up}" not in arguments
with Path("log.txt").open("w") as log:
    for number in itertools.count(1):
        overused = {ends} - number if ends else 10**6 - number if "--falling" in arguments else 3
        print(f"Info:     iter={{number}} wires=7 overused={{overused}} overuse=9 tmgfail=0 archfail=NA",
              file=log, flush=True)
        if ends and not overused:
            sys.exit(3 if "--bad" in arguments else 0)
        time.sleep(0.001)
"""


@pytest.fixture
def router(tmp_path: Path) -> Tool:
    program = tmp_path / "router"
    program.write_text(_ROUTER.format(python=sys.executable, rip_up=RIP_UP, ends=_ENDS))
    program.chmod(0o755)
    return Tool("nextpnr_ecp5", "0.1", str(program))


@pytest.mark.parametrize("more", [[], ["--falling"]], ids=["no fewer", "too many"])
@pytest.mark.parametrize(("most", "aims"), [(1.0, AIMS[:1]), (0.97, AIMS[:2]), (0.5, (*AIMS, AIMS[-1]))])
def test_the_first_aim_that_has_an_end_is_taken(router: Tool, tmp_path: Path, most: float, aims: tuple,
                                                more: list[str]) -> None:
    asked, told = [], []

    def options(aim: float) -> list[str]:
        asked.append(aim)
        return [str(most), "--freq", str(aim), *more]

    done = route(router, tmp_path, "log.txt", options, told.append)
    assert done.returncode == 0
    assert tuple(asked) == aims
    assert [f"{aim:.1%}" in text for aim, text in zip(AIMS, told, strict=False)] == [True] * (len(aims) - 1)
    assert f"iter={_ENDS} " in (tmp_path / "log.txt").read_text().splitlines()[-1]


def test_what_ends_with_an_error_is_not_run_again(router: Tool, tmp_path: Path) -> None:
    told: list[str] = []
    done = route(router, tmp_path, "log.txt", lambda aim: ["1", "--freq", "0.5", "--bad"], told.append)
    assert done.returncode == 3
    assert not told
