"""Random programs on our engines against other implementations: the host's compiler, and PoCL where it is installed.

``FGPU_SEED`` repeats a run of those marked ``long``, ``FGPU_PROGRAMS`` sets how many programs each takes. What fails
is made small by ``python -m tests.compiler.fuzz.reduce SEED``.
"""

import itertools
import os
import random
from dataclasses import replace

import pytest

from fgpu.config import Config
from fgpu.sim import Device

from ..configurations import ATOMIC
from ..seeds import seed_of_test
from ..tiers import quick
from .fuzz.case import Case, failure, make_case
from .fuzz.host import HostError, run_on_host
from .fuzz.pocl import opencl
from .fuzz.program import STATEMENTS, TOGETHER, Program
from .fuzz.reduce import reduced

# Some programs go to the end before a barrier.
pytestmark = pytest.mark.filterwarnings("ignore::fgpu.errors.DivergentBarrierWarning")

BATCH = 16
LARGE = ((64, 64), (512, 64), (640, 128), (1024, 512), (100, 20))
"""For hardware of many compute units: work-items, and those of a group."""


def batches(seed, count, **options):
    """Cases, as many as the host compiles at once, and what comes out of them there."""
    for start in range(0, count, BATCH):
        cases = [make_case(f"{seed} {number}", **options) for number in range(start, min(count, start + BATCH))]
        yield from zip(cases, run_on_host([case.program for case in cases]), strict=True)


def report(failures):
    return "\n".join(f"seed {seed!r}: {what}" for seed, what in failures.items())


def check(seed, count, engine="functional", **options):
    """All programs run, those that fail are said together."""
    failures = {}
    for case, expected in batches(seed, count, **options):
        with Device(case.config, engine=engine) as device:
            what = failure(case, device, expected)
        if what is not None:        # the reducer knows the configuration that a seed draws, not another
            failures[case.seed] = f"{what}\n{case.program.text}" if options else what
    assert not failures, report(failures)


def programs(default):
    return int(os.environ.get("FGPU_PROGRAMS") or default)


@pytest.mark.parametrize("seed", quick("abc", "a"))
def test_generated_programs(seed):
    check(seed, BATCH)


@pytest.mark.parametrize("seed", quick("abc", "a"))
def test_generated_programs_with_barriers(seed):
    check(f"together {seed}", BATCH)


@pytest.mark.ci
def test_generated_programs_on_hardware():
    check("hardware", 8, "verilator", config=Config())


@pytest.mark.ci
def test_generated_programs_with_barriers_on_hardware():
    check("together on hardware", 8, "verilator", config=ATOMIC)


@pytest.mark.long
def test_many_generated_programs():
    check(seed_of_test(), programs(2000))


@pytest.mark.long
@pytest.mark.parametrize("config", [Config(), Config.preset("full")], ids=["1 CU", "8 CUs"])
def test_many_generated_programs_on_hardware(config):
    check(f"hardware {seed_of_test()}", programs(300), "verilator", config=config, sizes=LARGE)


@pytest.mark.long
def test_many_generated_programs_with_barriers():
    check(f"together {seed_of_test()}", programs(1000))


@pytest.mark.long
@pytest.mark.parametrize("config", [ATOMIC, ATOMIC.replace(local_memory=64)], ids=["without", "with local memory"])
def test_many_generated_programs_with_barriers_on_hardware(config):
    check(f"together on hardware {seed_of_test()}", programs(200), "verilator", config=config)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pocl", "together on pocl"])
def test_pocl_agrees_with_the_host(kind):
    try:
        library = opencl()
    except OSError as error:
        pytest.skip(str(error))
    differ = {}
    for case, expected in batches(f"{kind} {seed_of_test()}", programs(300)):
        if case.program.is_left and case.program.group > 1:     # PoCL waits for those that have ended
            continue
        if library.run(case.program, case.local) != expected:
            differ[case.seed] = "PoCL gives another result than the host"
    assert not differ, report(differ)


@pytest.mark.ci
def test_statements_mean_something():
    """Each by itself, in the kernel and in a function."""
    made = []
    for name, seed in itertools.product(STATEMENTS, range(2)):
        is_together = name in TOGETHER
        program = Program(random.Random(f"{name} {seed}"), group=16 if is_together else 1)
        STATEMENTS[name][0](program)
        if is_together:
            made.append(program.source())
            continue
        function = program.file_name("within")
        with program.function(f"uint {function}(uint a, uint b)", ["a", "b"]):
            STATEMENTS[name][0](program)
            program.line("return a ^ b;")
        program.mix(f"{function}(x0, x1)")
        made.append(program.source())
    for start in range(0, len(made), BATCH):
        run_on_host(made[start:start + BATCH])


def host_program(line):
    """A program of one line, with ``int`` and ``uint`` variables."""
    program = Program(random.Random(0), items=8)
    program.line("int s = 0x7fffffff; uint t[4] = {1, 2, 3, 4};")
    program.line(line)
    return program.source()


def together(line):
    """A program of one line behind a barrier, in groups of four work-items."""
    program = Program(random.Random(0), items=8, group=4)
    program.locals.append("__local uint t[4]; t[l] = i;")
    program.line(f"barrier(CLK_LOCAL_MEM_FENCE); {line}")
    return program.source()


def test_work_items_of_the_host_meet():
    first = run_on_host([together("x0 = t[3 - l];")])[0][0]
    assert list(memoryview(first).cast("I"))[::4] == [3, 2, 1, 0, 7, 6, 5, 4]


@pytest.mark.parametrize("line", ["t[l] = t[3 - l]; x0 = t[l];", "t[i & 1] = i; barrier(1); x0 = t[l];"])
def test_the_host_finds_races(line):
    with pytest.raises(HostError, match="two results"):
        run_on_host([together(line)])


def test_a_line_that_means_something():
    run_on_host([host_program("x0 = t[i & 3];")])


@pytest.mark.parametrize("line", [
    "x0 = s + (int)i;", "x0 = t[i];", "uint u; if (i > 3) u = 1; x0 = u;", "uint *p = 0; x0 = *p;",
    "x0 = 1 / (i & 1);", "x0 = *(uint *)((uintptr_t)t + 2);", "x0 = (uintptr_t)t;", "x0 = unknown(i);"])
def test_the_host_finds_what_means_nothing(line):
    with pytest.raises(HostError):
        run_on_host([host_program("x0 = 1;"), host_program(line)])


def test_wrong_answers_are_found():
    program = host_program("x0 = t[i & 3];")
    expected = run_on_host([program])[0]
    with Device(Config(), engine="functional") as device:
        assert failure(Case("right", program, 8, Config()), device, expected) is None
        wrong = replace(program, text=program.text.replace("t[i & 3]", "t[i & 1]"))
        assert failure(Case("wrong", wrong, 8, Config()), device, expected) == "wrong answer"


@pytest.mark.parametrize(("line", "what"), [("__asm__(\"nop\");", "assembly"),
                                            ("own[1 << 28] = 1;", "outside every buffer")])
def test_refusals_and_faults_are_found(line, what):
    case = Case("refused", host_program(line), 8, Config())
    with Device(case.config, engine="functional") as device:
        assert what in (failure(case, device, []) or "")


def test_programs_are_made_small():
    """What is left is what makes them fail; here, that two words are in them."""
    case = make_case("small")
    case = replace(case, program=replace(case.program, text=case.program.text + "// one\n// two\n"))
    smaller, what = reduced(case, lambda case: "both" if {"one", "two"} <= set(case.program.text.split()) else None)
    assert (smaller.program.text, what) == ("// one\n// two", "both")
