"""Each pass on IR makes of its files' first halves their second halves."""

import pytest

from fgpu.compiler.pipeline import PASSES

from .filetest import FILES, apply, parts


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_pass(path):
    given, expected = parts(path)
    assert apply(given, path.name) == expected, "right? python -m tests.compiler.passes.update"


def test_every_pass_has_a_file():
    named = {line.removeprefix("; pass: ") for path in FILES for line in path.read_text().splitlines()
             if line.startswith("; pass: ")}
    assert named == {step.name for step in PASSES}
