"""Kernels with barriers and local memory on all engines, against what PoCL makes of them: see :mod:`.work_groups`."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.sim import Device, LocalMemory

from ..configurations import ATOMIC, GROUPS
from ..tiers import quick
from .fuzz.pocl import Argument
from .work_groups.launches import FILES, Launch, digest, digests, launches, source
from .work_groups.models import MODELS
from .work_groups.on_pocl import on_pocl

# Work-items that return before a barrier are what some kernels are about.
pytestmark = pytest.mark.filterwarnings("ignore::fgpu.errors.DivergentBarrierWarning")

WITH = GROUPS
WITHOUT = Config(atomics=ATOMICS)
QUICK = ["aggregates", "left_open", "loops"]
QUICK_HARDWARE = ["aggregates", "atomics", "divergence", "exchange", "helpers", "left_open", "loops"]
IN_CI = ["2 CUs", "1 CU with local memory"]


@cache
def image(file: str, kernel: str, config: Config) -> Image:
    """One kernel: all of a file are too much for the code RAM."""
    return compile_opencl(source(file), filename=f"{file}.cl", options=["-w"], config=config, kernels=[kernel])


def result(launch: Launch, device: Device) -> tuple[list[Argument], int | None]:
    """The arguments of a launch on ``device`` afterwards, and the cycles that it took."""
    given = launch.arguments()
    buffers = {at: device.buffer(np.frombuffer(bytes(each), np.uint8)) for at, each in enumerate(given)
               if isinstance(each, bytearray)}
    arguments = [buffers[at].address if at in buffers else LocalMemory(each) if isinstance(each, int)
                 else int.from_bytes(each, "little") for at, each in enumerate(given)]
    run = device.launch(image(launch.file, launch.name, device.config), launch.name, global_size=launch.global_size,
                        local_size=launch.local_size, global_offset=launch.global_offset, args=arguments,
                        max_cycles=5_000_000)
    for at, buffer in buffers.items():
        given[at] = bytearray(buffer.read().tobytes())
        buffer.free()
    return given, run.cycles


def difference(launch: Launch, got: list[Argument]) -> str:
    """Which bytes are wrong, as far as it can be told without PoCL."""
    try:
        expected = MODELS[launch.name](launch) if launch.name in MODELS else on_pocl(launch)
    except OSError:
        return "wrong answer"
    for number, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        if mine != theirs:
            assert isinstance(mine, bytearray)
            assert isinstance(theirs, bytearray)
            wrong = [at for at in range(len(mine)) if mine[at] != theirs[at]]
            return f"argument {number}: {len(wrong)} bytes are wrong, of which the first are {wrong[:8]}"
    return "wrong digest"


def check(file: str, device: Device, names: Collection[str] = ()) -> None:
    """All of a file, or those of some ``names``."""
    wrong = []
    expected = digests()
    for launch in launches(file):
        if names and launch.name not in names:
            continue
        try:
            got, _ = result(launch, device)
        except Exception as error:
            wrong.append(f"{launch}: {type(error).__name__}: {error}")
            continue
        if digest(got) != (digest(MODELS[launch.name](launch)) if launch.name in MODELS else expected[str(launch)]):
            wrong.append(f"{launch}: {difference(launch, got)}")
    assert not wrong, "\n".join(wrong)


def test_size() -> None:
    names = {launch.name for file in FILES for launch in launches(file)}
    assert len(names) >= 150
    in_ci = {launch.name for file in QUICK_HARDWARE for launch in launches(file)}
    assert len(in_ci) >= 150
    assert {str(launch) for file in FILES for launch in launches(file) if launch.name not in MODELS} == set(digests())


@pytest.mark.ci
@pytest.mark.parametrize("file", FILES)
def test_pocl(file: str) -> None:
    """What is checked in is what PoCL computes."""
    expected = digests()
    for launch in launches(file):
        if launch.name not in MODELS:
            try:
                got = on_pocl(launch)
            except OSError as error:
                pytest.skip(str(error))
            assert digest(got) == expected[str(launch)], launch


@pytest.mark.parametrize("file", quick(FILES, QUICK))
@pytest.mark.parametrize("config", [
    pytest.param(WITH, id="with local memory"), pytest.param(WITHOUT, id="without", marks=pytest.mark.ci)])
def test_functional(file: str, config: Config) -> None:
    with Device(config, engine="functional") as device:
        check(file, device)


@pytest.mark.parametrize(("engine", "atomics", "names"), [
    ("functional", "", ["tickets", "by_pointer", "on_argument", "max_int"]),
    ("functional", "add", ["in_struct"]),
    pytest.param("functional", "", [], marks=pytest.mark.ci),
    pytest.param("verilator", "", [], marks=pytest.mark.ci)])
def test_atomics_under_a_lock(engine: str, atomics: str, names: list[str]) -> None:
    """Neither local memory nor these atomic operations in hardware."""
    with Device(Config(atomics=atomics.split()), engine=engine) as device:
        check("atomics", device, names)


HARDWARE = {
    "2 CUs": ATOMIC, "tiny": Config.preset("tiny", atomics=ATOMICS),
    "8 CUs": Config.preset("full", atomics=ATOMICS), "1 CU with local memory": WITH,
    "2 CUs with local memory": ATOMIC.replace(local_memory=64),
    "8 CUs with local memory": Config.preset("full", local_memory=32, atomics=ATOMICS)}


@pytest.mark.parametrize(("name", "file"), [
    pytest.param(name, file, marks=pytest.mark.ci if name in IN_CI and file in QUICK_HARDWARE else pytest.mark.long)
    for name in HARDWARE for file in FILES])
def test_hardware(name: str, file: str) -> None:
    with Device(HARDWARE[name], engine="verilator") as device:
        check(file, device)


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
def test_engines_agree(file: str) -> None:
    """A work-group of each kernel: Amaranth's own simulator takes some seconds for it."""
    config = Config.preset("tiny", local_memory=32, atomics=ATOMICS)
    first = {launch.name: launch for launch in reversed(launches(file))}
    with (Device(config, engine="pysim") as slow, Device(config, engine="verilator") as quick,
          Device(config, engine="functional") as functional):
        for launch in first.values():
            group = replace(launch, global_size=launch.local_size)
            memory, cycles = result(group, quick)
            assert result(group, slow) == (memory, cycles), group
            assert result(group, functional)[0] == memory, group
