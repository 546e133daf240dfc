"""The IR of functions as it is between the compiler's passes."""

from collections.abc import Callable

from fgpu.compiler.ir.module import Function, Module
from fgpu.compiler.kernels import compile_sources
from fgpu.compiler.pipeline import PASSES

IR_PASSES = tuple(step.name for step in PASSES if step.phase.is_ir)
"""In the order in which the compiler runs them."""


class _Looker:
    def __init__(self, look, after):
        self.look, self.wanted = look, after

    def before(self, step, function, context):
        pass

    def after(self, step, function, context):
        if step.name in self.wanted and step.phase.is_ir:
            self.look(step.name, function, context.module)


def compile_and_look(sources, config, look: Callable[[str, Function, Module], None], after=IR_PASSES, options=()):
    """Compile ``sources``; ``look`` gets the name of each pass of ``after`` that ran, the function and its module."""
    return compile_sources(sources, options, config, None, observers=[_Looker(look, after)])
