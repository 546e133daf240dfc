"""Random programs against their meaning in Python."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler import compile_opencl

from .interpreter import run
from .programs import TYPES, VALUES, expressions, statements, wrap

ROWS = 12
VARIABLES = {"a": "int", "b": "uint", "c": "short", "d": "ushort", "e": "char", "f": "uchar", "l": "long",
             "m": "ulong"}
MANY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def inputs(seed):
    """ROWS values of each type: the interesting ones first, then random ones."""
    random = np.random.default_rng(seed)
    columns = {}
    for name, type in VARIABLES.items():
        values = [*random.choice(VALUES, ROWS // 2), *random.integers(-2**63, 2**63, ROWS - ROWS // 2)]
        bits, is_signed = TYPES[type]
        dtype = np.dtype(f"{'i' if is_signed else 'u'}{bits // 8}")
        columns[name] = np.array([wrap(int(v), type) for v in values], dtype)
    return columns


def check(source, columns, expected):
    """Run ``source`` (kernel k, inputs, then one output of longs a row) and compare."""
    image = compile_opencl(source)
    out = np.zeros(len(expected[0]) * ROWS, np.int64)
    run(image, "k", ROWS, [*columns.values(), out])
    got = out.reshape(ROWS, -1).tolist()
    assert got == expected, source


HEADER = "__kernel void k(" + ", ".join(f"__global const {type} *p{name}" for name, type in VARIABLES.items()) \
    + ", __global long *out)\n{\n    int i = get_global_id(0);\n" \
    + "".join(f"    {type} {name} = p{name}[i];\n" for name, type in VARIABLES.items())


def rows(columns):
    return [{name: int(column[row]) for name, column in columns.items()} for row in range(ROWS)]


def check_expressions(batch, seed):
    columns = inputs(seed)
    body = "".join(f"    out[i * {len(batch)} + {n}] = {e.text()};\n" for n, e in enumerate(batch))
    check(f"{HEADER}{body}}}\n", columns, [[wrap(e.value(env), "long") for e in batch] for env in rows(columns)])


def check_program(program, columns, private):
    body = "".join(statement.text("    ") for statement in program)
    local = "    int x = a;\n" + ("    int t[4] = {1, 2, 3, 4};\n" if private else "")
    names = [*VARIABLES, "x"]
    stores = "".join(f"    out[i * {len(names)} + {n}] = {name};\n" for n, name in enumerate(names))
    expected = []
    for env in rows(columns):
        env |= {"x": env["a"], "t": [1, 2, 3, 4]}
        for statement in program:
            statement.run(env)
        expected.append([wrap(env[name], "long") for name in names])
    check(f"{HEADER}{local}{body}{stores}}}\n", columns, expected)


EXPRESSIONS = given(st.lists(expressions(VARIABLES), min_size=8, max_size=8), st.integers(0, 2**32 - 1))
PROGRAMS = given(statements(VARIABLES | {"x": "int"}), st.integers(0, 2**32 - 1))
WITH_ARRAYS = given(statements(VARIABLES | {"x": "int"}, private=True), st.integers(0, 2**32 - 1))


def check_control_flow(program, seed):
    check_program(program, inputs(seed), private=False)


def check_private_arrays(program, seed):
    check_program(program, inputs(seed), private=True)


test_expressions = SLOW(EXPRESSIONS(check_expressions))
test_control_flow = SLOW(PROGRAMS(check_control_flow))
test_private_arrays = SLOW(WITH_ARRAYS(check_private_arrays))
test_many_expressions = pytest.mark.long(MANY(EXPRESSIONS(check_expressions)))
test_many_programs = pytest.mark.long(MANY(PROGRAMS(check_control_flow)))
test_many_programs_with_arrays = pytest.mark.long(MANY(WITH_ARRAYS(check_private_arrays)))
