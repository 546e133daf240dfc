"""Every test has a seed, which decides what simulated cores hold at power-up, too: no test may notice."""

from typing import Any

import pytest

from .seeds import begin


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    begin(item)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours, which simulate the same model, stay on one worker: two would both wait until it is built."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
