"""Engines under test: the functional one, and what FGPU_TEST_ENGINES names (``functional,verilator``)."""

import os

import pytest

from fgpu.sim import Device

ENGINES = os.environ.get("FGPU_TEST_ENGINES", "functional").split(",")


@pytest.fixture(params=ENGINES)
def engine(request):
    """Name of an engine."""
    return request.param


@pytest.fixture
def make_device(engine):
    """Builds devices on the engine under test, with the arguments of :class:`Device`; closes them."""
    devices = []

    def make(config=None, **options):
        devices.append(Device(config, engine=engine, **options))
        return devices[-1]

    yield make
    for device in devices:
        device.close()


@pytest.fixture
def device(make_device):
    """A device of the default configuration."""
    return make_device()
