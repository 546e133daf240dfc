"""How the compiler's work grows with the program: counted, not timed."""

import sys
from pathlib import Path

import pytest

from fgpu import compiler
from fgpu.compiler import kernels
from fgpu.compiler.fitting import Fitting
from fgpu.config import Config
from fgpu.errors import CompileError

HERE = str(Path(compiler.__file__).parent)
CONFIG = Config(cram_size=16, link_stack_depth=32)


@pytest.fixture(autouse=True)
def not_verified(monkeypatch):
    """Only the compiler's own work counts."""
    monkeypatch.delenv("FGPU_VERIFY_IR", raising=False)


def kernel(body):
    return "__kernel void k(__global int *a) {\n int i = get_global_id(0), x = i, y = a[i];\n" \
        f"{body} a[i] = x + y;\n}}\n"


def helpers(n):
    """Blocks with two calls of a function with branches and a loop, which clang inlines."""
    helper = "int h(int x, int y) { if (x > y) { x -= y * 3; y ^= x; } " \
        "while (x > 100) { x = x / 2 - y; if (y & 1) x += 3; } return x + y; }\n"
    return helper + kernel("".join(f" if (a[i + {k}] > {k}) x = h(x, a[x & 63]) + {k}; else y += h(y, x ^ {k});\n"
                                   for k in range(n)))


def statements(n):
    """Many variables in one long block, some of which have to be spilled."""
    count, operators = 40, "+-^&|*"
    declared = "".join(f" int v{k} = a[i + {k}];\n" for k in range(count))
    body = "".join(f" v{k * 7 % count} = v{k * 11 % count} {operators[k * k % 6]} v{k * 3 % 37} + {k * k % 1000};\n"
                   for k in range(n))
    return kernel(declared + body + "".join(f" a[i + {k}] = v{k};\n" for k in range(count)))


def branches(n):
    """Variables that live through all blocks."""
    body = "".join(f" if (v{k * 5 % 12} > v{k % 12} + {k % 50}) {{ v{k * 3 % 11} += v{k * 7 % 12}; "
                   f"a[v{k % 11} & 63] = v{k % 7}; }}\n" for k in range(n))
    return kernel("".join(f" int v{k} = a[i + {k}];\n" for k in range(12)) + body
                  + "".join(f" a[i + {k}] = v{k};\n" for k in range(12)))


def loops(n):
    return kernel("".join(f" for (int j = 0; j < (a[i + {k}] & 15); j++) {{ if (x & 1 << j) x += a[j + {k}]; "
                          f"else x ^= y; }} y += x * {k};\n" for k in range(n)))


def cases(n):
    """Many ways that join, and constants that are live in a whole loop."""
    return kernel(" for (int j = 0; j < 64; j++) switch (a[j]) {\n"
                  + "".join(f" case {k}: x += a[x & 31] * {k}; break;\n" for k in range(n)) + " default: x ^= j; }\n")


def long_numbers(n):
    """64-bit products: calls of routines that are inlined, all in a few blocks."""
    return kernel(" long p = x, q = y;\n" + "".join(f" p = p * q + {k}; q ^= p >> {k % 60};\n" for k in range(n))
                  + " x = p + q;\n")


def calls(n):
    """Functions that are not inlined, each of which calls the two before it."""
    functions = "".join(f"__attribute__((noinline)) int f{k}(int x, int y) "
                        f"{{ return f{k - 1}(x, y + {k}) * 3 + f{k - 2}(y ^ x, x); }}\n" for k in range(2, n))
    return "__attribute__((noinline)) int f0(int x, int y) { return x * y + (x ^ y); }\n" \
        "__attribute__((noinline)) int f1(int x, int y) { return x * y - (x ^ y); }\n" + functions \
        + kernel(f" x = f{max(n - 1, 0)}(x, y);\n")


def counted(source):
    """Lines of the compiler that are executed, each round of a comprehension among them, to compile ``source``."""
    count = 0

    def line(frame, event, argument):
        nonlocal count
        count += event == "line"
        return line

    def call(frame, event, argument):
        return line(frame, event, argument) if frame.f_code.co_filename.startswith(HERE) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        kernels.compile_sources({"k.cl": source}, [], CONFIG)
    finally:
        sys.settrace(before)
    return count


LONG = [(statements, 400, 2.6), (loops, 12, 2.3), (cases, 150, 2.6), (long_numbers, 60, 2.3), (helpers, 24, 2.3)]


@pytest.mark.parametrize(("shape", "size", "most"), [(helpers, 12, 2.3), (branches, 40, 2.6), (calls, 9, 3), *(
    pytest.param(*row, marks=pytest.mark.long) for row in LONG)])
def test_work_grows_like_the_program(shape, size, most):
    kernels.compile_sources({"k.cl": shape(1)}, [], CONFIG)     # what is loaded once
    small, large = (counted(shape(n)) for n in (size, 2 * size))
    assert large < most * small, f"{small} lines for {size}, {large} for twice as much"


def test_what_clang_shows_is_refused_before_code_is_generated(monkeypatch):
    def add(*arguments):
        raise AssertionError("code is generated")

    monkeypatch.setattr(Fitting, "add", add)
    first = "__kernel void k(__global char *a) { a[0] = 1; }\n"
    for source, message in (
            ("__kernel void l(__global int *a) {\n a[0] = 1; __asm__(\"nop\"); }", "k.cl:3: inline assembly is not"),
            ("int g(int);\n__kernel void l(__global int *a) { a[0] = g(1); }", "k.cl:3: function 'g' has no def"),
            ("__attribute__((noinline)) int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
             "__kernel void l(__global int *a) { a[0] = f(a[1]); }", "k.cl:2: function 'f' is recursive")):
        with pytest.raises(CompileError, match=message):
            kernels.compile_sources({"k.cl": first + source}, [], CONFIG)
    with pytest.raises(CompileError, match="needs sub_integer_stores=True"):
        kernels.compile_sources({"k.cl": first}, [], Config(sub_integer_stores=False))


def test_what_clang_makes_alike_is_compiled_once(monkeypatch):
    """A program without functions and loops that does not fit is not tried again for each size."""
    added = []
    monkeypatch.setattr(kernels, "Fitting", lambda *arguments: added.append(arguments) or Fitting(*arguments))
    with pytest.raises(CompileError, match="the code RAM holds 256"):
        kernels.compile_sources({"k.cl": kernel("".join(f" a[{k}] = a[x + {k}] * y;\n" for k in range(100)))}, [],
                                Config(cram_size=1))
    assert len(added) == 1
