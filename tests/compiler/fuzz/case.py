"""One random program, the hardware that it is compiled for, and what comes out of it there."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fgpu.compiler.kernels import compile_sources
from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.errors import CompileError, FgpuError
from fgpu.sim import Device, LocalMemory

from . import code, kept, layouts, pointers, together  # noqa: F401  their statements
from .program import Source, random_program

__all__ = ["Case", "Refused", "failure", "launch", "make_case"]

_SIZES = ((64, 64), (64, 64), (96, 32), (128, 64), (60, 12), (7, 7), (1, 1))
_GROUPS = ((128, 64), (128, 128), (60, 12), (21, 7), (192, 96), (96, 32), (130, 65), (12, 3), (400, 200))
_TOGETHER = "together"
_MAY_BE_REFUSED = re.compile(r"the code RAM holds|calls nest \d+ deep")
MAX_STEPS = 2_000_000


class Refused(Exception):
    """The program needs more than this hardware has, as the message says."""


@dataclass(frozen=True)
class Case:
    """``program``, in groups of ``local`` work-items, on ``config``."""

    seed: str
    program: Source
    local: int
    config: Config


def _random_config(rng: random.Random) -> Config:
    """What the compiler looks at."""
    some = rng.sample(sorted(FLOAT_OPS), rng.randint(1, len(FLOAT_OPS) - 1))
    return Config(scratchpad_size=rng.choice([0, 8, 16, 32, 32]), cram_size=rng.choice([4, 8, 16, 16]),
                  float_ops=frozenset(rng.choice([(), some, FLOAT_OPS])), scratchpad_check=True,
                  link_stack_depth=rng.choice([8, 16, 16, 32]))


def make_case(seed: str, config: Config | None = None, sizes: Sequence[tuple[int, int]] | None = None) -> Case:
    """The program of this seed, for ``config`` or for one that the seed tells.

    Where the seed begins with ``together``, work-groups work together.
    """
    rng, is_together = random.Random(seed), seed.startswith(_TOGETHER)
    sizes = sizes or (_GROUPS if is_together else _SIZES)
    drawn, (items, local) = _random_config(rng), rng.choice(sizes)
    if is_together:
        size = rng.choice([0, 0, 8, 16, 32, 64])
        drawn = drawn.replace(local_memory=size, atomics=frozenset() if size else ATOMICS)
    return Case(seed, random_program(rng, items, group=local if is_together else 1), local, config or drawn)


def launch(case: Case, device: Device) -> list[bytes]:
    """The results of a launch on ``device``.

    Raises :class:`Refused` for what may be too much, and else whatever the compiler or the device raise.
    """
    program = case.program
    try:
        image = compile_sources({case.seed: program.text}, (), case.config, None)
    except CompileError as error:
        if _MAY_BE_REFUSED.search(str(error)):
            raise Refused(str(error)) from None
        raise
    buffers = {each.name: device.buffer(np.frombuffer(each.content, np.uint8))
               for each in program.parameters if each.is_buffer and not each.is_local}
    arguments = [LocalMemory(len(each.content)) if each.is_local
                 else buffers[each.name].address if each.is_buffer
                 else each.content if len(each.content) > 4
                 else int.from_bytes(each.content, "little", signed=each.type == "short ")
                 for each in program.parameters]
    try:
        device.launch(image, "k", global_size=program.items, local_size=case.local, args=arguments,
                      max_cycles=MAX_STEPS)
        return program.results([buffers[each.name].read().tobytes() if each.name in buffers else each.content
                                for each in program.parameters])
    finally:
        for buffer in buffers.values():
            buffer.free()


def failure(case: Case, device: Device, expected: Sequence[bytes]) -> str | None:
    """What is wrong with the case, without numbers that change with a detail; None where nothing is."""
    try:
        got = launch(case, device)
    except Refused:
        return None
    except FgpuError as error:
        return f"{type(error).__name__}: {re.sub(r'[^ ]*:[0-9]+: |0x[0-9A-Fa-f]+|[0-9]+', '#', str(error))}"
    except Exception as error:
        return f"crash: {type(error).__name__}: {error}"
    return None if got == list(expected) else "wrong answer"
