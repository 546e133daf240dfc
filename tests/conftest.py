"""Every test has a seed, which decides what simulated cores hold at power-up, too: no test may notice."""

import pytest

from .seeds import begin


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    begin(item)
