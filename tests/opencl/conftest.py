"""The platform as host programs find it."""

import signal
from collections.abc import Iterator

import pytest

from fgpu.opencl.install import install

from . import direct
from .hosts import Icd


@pytest.fixture(scope="module")
def context() -> int:
    """A context of the first device, without C between."""
    return direct.context()


@pytest.fixture(scope="module")
def queue(context: int) -> int:
    """A queue of it, in order."""
    return direct.queue(context)


@pytest.fixture(scope="session")
def opencl_icd(tmp_path_factory: pytest.TempPathFactory) -> Icd:
    """The platform's library, installed into a folder of its own, once a session."""
    folder = tmp_path_factory.mktemp("icd")
    install(folder)
    return Icd(folder)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl-C does what it does in a terminal: jobs in the background of a shell, and all they start, ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
