"""What hosts, cables and switches may do to the line: nothing wrong is taken for right, and no reset is needed."""

import pytest

from tests.seeds import seed_of_test

from .hostile import attack


@pytest.mark.ci
def test_a_hostile_line() -> None:
    attack(seed=2, rounds=8)


@pytest.mark.long
def test_a_hostile_line_for_long() -> None:
    """Everything that there is, at least once."""
    done = attack(seed_of_test(), rounds=100)
    assert len(done) == 10
