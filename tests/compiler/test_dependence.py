"""Programs that must be compiled each time, and those that need not."""

import pytest

from fgpu.compiler.frontend.dependence import depends_on_more


@pytest.mark.parametrize("text", [
    '#include "a.h"', '  #  include <a.h>', '%:include "a.h"', '??=include "a.h"', "#include_next <a.h>",
    '#import "a.h"', '#embed "a"', '#/**/include "a.h"', '# /* two\nlines */ include "a.h"', '#inc\\\nlude "a.h"',
    '#inc\\\r\nlude "a.h"',
    '#\\ \ninclude "a.h"', '#inc??/\nlude "a.h"', '#if __has_include("a.h")', '#if 1 && __has_embed("a")', "__DATE__",
    "__TIME__", "__TIMESTAMP__", "-DN=__TIME__",
])
def test_of_files_and_time(text):
    assert depends_on_more("kernel void k() {}", text)


@pytest.mark.parametrize("text", [
    "kernel void k() {}", "// what this includes: #define", "#define include 1", "#pragma unroll", "-Iinclude",
    "int date = 1, time = 2;"])
def test_of_itself(text):
    assert not depends_on_more(text)
