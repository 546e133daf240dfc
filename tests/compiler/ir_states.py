"""The IR of functions as it is between the compiler's passes."""

from collections.abc import Callable

from fgpu.compiler import pipeline
from fgpu.compiler.ir.module import Function, Module
from fgpu.compiler.kernels import compile_sources

PASSES = tuple(step.name for step in pipeline.PASSES if step.phase.is_ir)
"""In the order in which the compiler runs them."""


class _Look:
    def __init__(self, look, after):
        self.look, self.names = look, after

    def before(self, step, function, context):
        pass

    def after(self, step, function, context):
        if step.name in self.names:
            self.look(step.name, function, context.module)


def compile_and_look(sources, config, look: Callable[[str, Function, Module], None], after=PASSES, options=()):
    """Compile ``sources``; ``look`` gets the name of each pass of ``after`` that ran, the function and its module."""
    assert set(after) <= set(PASSES)
    return compile_sources(sources, options, config, None, [_Look(look, after)])
