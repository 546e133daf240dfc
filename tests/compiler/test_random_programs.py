"""Random programs against their meaning in Python: work-items one by one, and as a wavefront that parts and meets."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fgpu.compiler import compile_opencl
from fgpu.sim import Device

from .interpreter import run
from .programs import TYPES, VALUES, expressions, wrap
from .statements import LOG_WORDS, TABLE_WORDS, Done, TooLongError, programs, run_all, text_of

pytestmark = pytest.mark.filterwarnings("ignore::fgpu.errors.CompileWarning")     # nobody writes such comparisons

ITEMS = 64
VARIABLES = {"a": "int", "b": "uint", "c": "short", "d": "ushort", "e": "char", "f": "uchar", "l": "long",
             "m": "ulong"}
NAMES = [*VARIABLES, "x"]
HEADER = "__kernel void k(" + ", ".join(f"__global const {type} *p{name}" for name, type in VARIABLES.items()) \
    + ", __global long *out, __global int *log)\n{\n    int i = get_global_id(0);\n" \
    + "".join(f"    {type} {name} = p{name}[i];\n" for name, type in VARIABLES.items())
MOST_ROUNDS = 200


def inputs(seed):
    """Values of each type for all work-items: half of them interesting ones."""
    random = np.random.default_rng(seed)
    columns = {}
    for name, type in VARIABLES.items():
        values = [*random.choice(VALUES, ITEMS // 2), *random.integers(-2**63, 2**63, ITEMS - ITEMS // 2)]
        random.shuffle(values)
        bits, is_signed = TYPES[type]
        dtype = np.dtype(f"{'i' if is_signed else 'u'}{bits // 8}")
        columns[name] = np.array([wrap(int(v), type) for v in values], dtype)
    return columns


def items(columns):
    """The variables of each work-item."""
    return [{name: int(column[item]) for name, column in columns.items()} for item in range(ITEMS)]


def one_by_one(image, arrays):
    """The arrays after work-items that know nothing of each other."""
    run(image, "k", ITEMS, arrays)
    return arrays


def on(engine):
    """What gives the arrays after a launch on ``engine``."""
    def launch(image, arrays):
        with Device(engine=engine) as device:
            buffers = [device.buffer(array) for array in arrays]
            device.launch(image, "k", global_size=ITEMS, local_size=ITEMS, args=buffers)
            return [buffer.read() for buffer in buffers]
    return launch


def check(source, columns, expected, log, machines):
    """Run ``source`` and compare the longs in ``out``, and what is in the ``log``, with those of each work-item."""
    image = compile_opencl(source)
    for machine in machines:
        out, words = np.zeros(np.shape(expected), np.int64), np.zeros((ITEMS, LOG_WORDS), np.int32)
        *_, out, words = machine(image, [*(column.copy() for column in columns.values()), out, words])
        assert out.tolist() == expected, source
        assert words.tolist() == log, source


def check_expressions(machines, batch, seed):
    columns = inputs(seed)
    body = "".join(f"    out[i * {len(batch)} + {n}] = {e.text()};\n" for n, e in enumerate(batch))
    check(f"{HEADER}{body}}}\n", columns, [[wrap(e.value(env), "long") for e in batch] for env in items(columns)],
          [[0] * LOG_WORDS] * ITEMS, machines)


def check_program(machines, program, seed):
    columns = inputs(seed)
    table = list(range(1, 1 + TABLE_WORDS))
    local = f"    int x = a;\n    int t[{TABLE_WORDS}] = {{{', '.join(map(str, table))}}};\n"
    stores = "".join(f"    out[i * {len(NAMES)} + {n}] = {name};\n" for n, name in enumerate(NAMES))
    expected, log = [], []
    for env in items(columns):
        env |= {"x": env["a"], "t": table[:], "log": [0] * LOG_WORDS, "rounds": MOST_ROUNDS}
        try:
            run_all(program, env)
        except Done:
            pass
        except TooLongError:
            assume(False)
        expected.append([wrap(env[name], "long") for name in NAMES])
        log.append(env["log"])
    check(f"{HEADER}{local}{text_of(program, '    ')}    done:\n{stores}}}\n", columns, expected, log, machines)


EXPRESSIONS = st.lists(expressions(VARIABLES), min_size=8, max_size=8)
PROGRAMS = programs(VARIABLES | {"x": "int"})
WITH_ARRAYS = programs(VARIABLES | {"x": "int"}, private=True)
SOFTWARE = (one_by_one, on("functional"))


def random_test(checked, programs, count, machines=SOFTWARE):
    @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    @given(programs, st.integers(0, 2**32 - 1))
    def test(program, seed):
        checked(machines, program, seed)
    return test


test_expressions = random_test(check_expressions, EXPRESSIONS, 25)
test_control_flow = random_test(check_program, PROGRAMS, 25)
test_private_arrays = pytest.mark.ci(random_test(check_program, WITH_ARRAYS, 25))
test_hardware = pytest.mark.ci(random_test(check_program, PROGRAMS, 15, [on("verilator")]))
test_many_expressions = pytest.mark.long(random_test(check_expressions, EXPRESSIONS, 300))
test_many_programs = pytest.mark.long(random_test(check_program, PROGRAMS, 300))
test_many_programs_with_arrays = pytest.mark.long(random_test(check_program, WITH_ARRAYS, 300))
test_many_programs_on_hardware = pytest.mark.long(random_test(check_program, WITH_ARRAYS, 300, [on("verilator")]))
