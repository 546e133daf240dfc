"""The IR of functions as it is between the compiler's passes."""

from collections.abc import Callable

import pytest

from fgpu.compiler import program
from fgpu.compiler.ir.module import Function, Module
from fgpu.compiler.kernels import compile_sources

PASSES = ("inline_by_signature", "private_in_frame", "expand_overflow", "expand_copies", "floats_as_words",
          "split_structs", "make_frame", "scalarize", "localize_tables", "ask_for_dimensions",
          "enter_unrolled_loops_late", "merge_counters", "compare_counters_for_equality", "count_once",
          "high_products", "expand_switches", "expand_float_classes", "expand_floats", "split_wide_integers",
          "split_unaligned", "expand")
"""In the order in which the compiler runs them."""


def compile_and_look(sources, config, look: Callable[[str, Function, Module], None], after=PASSES, options=()):
    """Compile ``sources``; ``look`` gets the name of each pass of ``after`` that ran, the function and its module."""
    with pytest.MonkeyPatch.context() as patch:
        module = Module({}, {}, {})

        def watched(name, run):
            def wrapper(function, *arguments, **named):
                nonlocal module
                module = next((a for a in arguments if isinstance(a, Module)), module)
                result = run(function, *arguments, **named)
                look(name, function, module)
                return result
            return wrapper

        for name in after:
            patch.setattr(program, name, watched(name, getattr(program, name)))
        return compile_sources(sources, options, config, None)
