"""The platform as host programs find it."""

import pytest

from fgpu.opencl.install import install

from .hosts import Icd


@pytest.fixture(scope="session")
def opencl_icd(tmp_path_factory: pytest.TempPathFactory) -> Icd:
    """The platform's library, installed into a folder of its own, once a session."""
    folder = tmp_path_factory.mktemp("icd")
    install(folder)
    return Icd(folder)
