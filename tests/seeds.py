"""The seed of everything random in a test: always the same for a test, and a fresh one for those marked ``long``.

So what fails in CI is somebody's change. ``FGPU_SEED`` sets it, as the report of a test that failed says.
"""

import os
import random
import zlib

import pytest

__all__ = ["begin", "seed_of_test"]

_GIVEN = os.environ.get("FGPU_SEED")
_POWER_UP_GIVEN = "FGPU_POWER_UP" in os.environ
_POWER_UPS = (1 << 31) - 1      # see fgpu.sim.verilator
_seeds = [0]        # that of the test at hand


def begin(item: pytest.Item) -> None:
    """Choose the seed of a test, and with it what registers and memories of simulated cores hold at power-up."""
    if _GIVEN is not None:
        _seeds[0] = int(_GIVEN)
    elif item.get_closest_marker("long"):
        _seeds[0] = random.SystemRandom().getrandbits(32)
    else:
        _seeds[0] = zlib.crc32(item.nodeid.encode())
    if not _POWER_UP_GIVEN:
        os.environ["FGPU_POWER_UP"] = str(_seeds[0] % _POWER_UPS + 1)
    item.add_report_section("setup", "seed", f"FGPU_SEED={_seeds[0]} repeats this test")


def seed_of_test() -> int:
    """The seed of the test that runs, 32 bits."""
    return _seeds[0]
