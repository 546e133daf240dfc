"""How long a kernel takes that returns at once: what every launch costs."""

from fgpu.benchmarks.record import _LAUNCH_CYCLES
from fgpu.compiler import assemble
from fgpu.config import Config
from fgpu.sim import Device


def test_an_empty_kernel() -> None:
    with Device(Config()) as device:
        run = device.launch(assemble(".kernel empty\n ret\n"), "empty", global_size=(64,), local_size=(64,), args=[])
    assert run.cycles == _LAUNCH_CYCLES
    assert run.instructions == 1
