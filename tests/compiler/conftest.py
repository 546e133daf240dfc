"""The compiler's tests check the IR after every pass."""

import pytest


@pytest.fixture(autouse=True)
def verified_ir(monkeypatch):
    """See :class:`fgpu.compiler.observers.Verifier`. Images from the cache are not made anew."""
    monkeypatch.setenv("FGPU_VERIFY_IR", "1")
