"""printf in kernels: what is printed, wherever the calls stand, and what is refused."""

import io
import pickle
import re
import warnings
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.compiler.legalize.printf import BufferWord, RegionWord
from fgpu.config import ATOMICS, Config
from fgpu.errors import (
    CompileError,
    ImageError,
    KernelAccessError,
    KernelFault,
    LaunchError,
    PrintfWarning,
    SimulationTimeout,
)
from fgpu.sim import Device, GlobalMemory, KernelDescriptor, LocalMemory, Printf
from fgpu.sim.engine import OutOfTime
from fgpu.sim.printf import PrintfBuffer
from tests.configurations import ATOMIC

CONFIGS = {"shared": ATOMIC, "own": Config()}
"""With one cursor for all work-items, and with a region for each."""
by_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def output(source, *args, config=CONFIGS["shared"], order="work-item", size=1 << 20, engine="functional", **launch):
    """What the only kernel of ``source`` prints; arrays among ``args`` become buffers."""
    image = compile_opencl(source, config=config, filename="k.cl")
    text = io.StringIO()
    with Device(config, engine=engine, printf=Printf(to=text, order=order, size=size)) as device:
        given = [device.buffer(arg, np.int32) if isinstance(arg, np.ndarray) else arg for arg in args]
        device.launch(image, args=given, **{"global_size": 1, **launch})
    return text.getvalue()


def body(statements, parameters="__global int *a"):
    return f"__kernel void k({parameters}) {{\n{statements}\n}}"


# -- conversions -------------------------------------------------------------------------------------------

EVERYTHING = r'''
    int i = get_global_id(0);
    printf("%d %i %u %o %x %X %c|\n", -i, i, i, i, i + 170, i + 170, 'a' + i);
    printf("%5d|%-5d|%05d|%+d|% d|%.3d|%#x|%hhd|%hd\n", i, i, i, i, i, i, i, 0x7ff + i, 0x1ffff + i);
    printf("%ld %lu %lx\n", l - i, (ulong)l, l);
    printf("%f %.2e %G %8.3f|%a\n", f, f, f, f, f);
    printf("%v4hlf %v2d %v3hhd %v8hu %v2lx\n", v, (int2)(i, -1), (char3)(1, -2, 3 + i), (ushort8)(i), (ulong2)(l, i));
    printf("%% %s %.2s %s %p\n", "text", "text", i & 1 ? "odd" : "even", (__global int *)0);
'''


def everything(i, lng, f, v):
    return "".join([
        f"{-i} {i} {i} {i:o} {i + 170:x} {i + 170:X} {chr(97 + i)}|\n",
        f"{i:5}|{i:<5}|{i:05}|{i:+}| {i}|{i:03}|{f'{i:#x}' if i else 0}|{-1 + i}|{-1 + i}\n",
        f"{lng - i} {lng % 2**64} {lng % 2**64:x}\n",
        f"{f:f} {f:.2e} {f:G} {f:8.3f}|{f.hex().replace('8000000000000', '8')}\n",
        f"{','.join(f'{x:f}' for x in v)} {i},-1 1,-2,{3 + i} {','.join([str(i)] * 8)} {lng % 2**64:x},{i:x}\n",
        f"% text te {'odd' if i & 1 else 'even'} (nil)\n",
    ])


@by_config
def test_conversions(config):
    arguments = -5_000_000_000, 1.5, (0.25, -1, 3, 1e6)
    printed = output(body(EVERYTHING, "long l, float f, float4 v"), *arguments, config=config, global_size=5)
    assert printed == "".join(everything(i, *arguments) for i in range(5))


@by_config
def test_integers_of_another_width(config):
    """size_t has 64 bits elsewhere, so programs print it with %lu; and longs with %d."""
    source = body('printf("%lu %ld %d\\n", get_global_size(0), get_local_id(0) - 1 - (int)a[0], 1L << 32 | 5);')
    printed = output(source, np.array([7]), config=config)
    assert printed == "1 -8 5\n"


def test_text_that_is_not_ascii():
    assert output(body(r'printf("grün \xff %s %c|%c|\n", "größer", 0, 200);'), np.array([1])) == \
        "grün \\xff größer \0|\\xc8|\n"


def test_short_elements_without_stores_of_them():
    source = body('printf("%v2hhd %v3hhd %v3hd\\n", (char2)(n, -1), (char3)(1, n, 3), (short3)(n, 2, -3));', "int n")
    assert output(source, 7, config=Config(sub_integer_stores=False)) == "7,-1 1,7,3 7,2,-3\n"


@by_config
def test_doubles(config):
    source = body('printf("%.17g %f %a\\n", 0.1 * i, x, (double)x / i);', "int i, float x")
    printed = output(source, 3, 1.5, config=config)
    assert printed == f"{0.1 * 3:.17g} 1.500000 0x1p-1\n"


def test_excess_arguments_are_ignored():
    assert output(body('printf("%d\\n", a[0], 2.5f, "text");'), np.array([3])) == "3\n"


# -- where calls stand -------------------------------------------------------------------------------------

DIVERGENT = r'''
__attribute__((noinline)) int collatz(int n, __constant char *name)
{
    int steps = 0;
    while (n != 1) {
        if (n & 1) {
            n = 3 * n + 1;
            printf("up to %d\n", n);
        } else
            n /= 2;
        steps++;
    }
    return steps;
}
__attribute__((noinline)) static void both(int i, int n)
{
    printf(i % 3 == 0 ? "%d: %d steps, a third\n" : "%d: %d steps\n", i, n);
}
__kernel void k(__global int *a)
{
    int i = get_global_id(0);
    if (i == 5)
        return;
    a[i] = collatz(i + 1, "n");
    both(i, a[i]);
    for (int j = 0; j < i % 4; j++)
        if (printf("%d.%d\n", i, j))
            a[i] = -1;
}
'''


def divergent(i):
    if i == 5:
        return ""
    lines, n, steps = [], i + 1, 0
    while n != 1:
        if n & 1:
            n = 3 * n + 1
            lines.append(f"up to {n}")
        else:
            n //= 2
        steps += 1
    lines.append(f"{i}: {steps} steps{', a third' if i % 3 == 0 else ''}")
    return "".join(f"{line}\n" for line in [*lines, *(f"{i}.{j}" for j in range(i % 4))])


@by_config
def test_divergent_code_loops_and_functions(config):
    assert output(DIVERGENT, np.zeros(100, np.int32), config=config, global_size=100) == \
        "".join(map(divergent, range(100)))


def test_arrival_order_has_the_same_lines_and_each_work_items_in_order():
    printed = output(DIVERGENT, np.zeros(100, np.int32), order="arrival", global_size=100)
    wanted = "".join(map(divergent, range(100)))
    assert sorted(printed.splitlines()) == sorted(wanted.splitlines())
    assert printed != wanted
    own = [line for line in printed.splitlines() if line.startswith("7.") or line.startswith("7:")]
    assert own == divergent(7).splitlines()[-4:]


@pytest.mark.ci
@pytest.mark.parametrize("atomics", [frozenset({"add"}), frozenset()], ids=CONFIGS)
@pytest.mark.parametrize(("engine", "work_items"), [
    ("verilator", 200), pytest.param("pysim", 3, marks=pytest.mark.long)])
def test_cycle_accurate_engines_print_the_same(engine, work_items, atomics):
    config = replace(Config.preset("tiny"), atomics=atomics)
    printed = output(DIVERGENT, np.zeros(work_items, np.int32), config=config, engine=engine, global_size=work_items)
    assert printed == "".join(map(divergent, range(work_items)))


@by_config
def test_a_function_that_gets_the_format(config):
    source = body(r'tell("first %d\n", a[0]); tell("then %d\n", a[1]);')
    tell = "__attribute__((noinline)) static void tell(__constant char *format, int n) { printf(format, n); }"
    assert output(f"{tell}\n{source}", np.array([3, 4]), config=config) == "first 3\nthen 4\n"


@by_config
def test_order_of_work_items_of_three_dimensions(config):
    source = body('printf("%u %u %u\\n", get_global_id(2), get_global_id(1), get_global_id(0));', "")
    printed = output(source, config=config, global_size=(6, 5, 4), local_size=(3, 5, 2), global_offset=(100, 7, 9))
    assert printed == "".join(f"{z + 9} {y + 7} {x + 100}\n" for z in range(4) for y in range(5) for x in range(6))


@by_config
def test_order_of_work_items_whose_ids_begin_again_at_0(config):
    printed = output(body('printf("%u\\n", get_global_id(0));', ""), config=config, global_size=4,
                     global_offset=(1 << 32) - 2)
    assert printed == "4294967294\n4294967295\n0\n1\n"


@by_config
def test_a_launch_in_parts(config):
    source = body('printf("%u\\n", get_global_id(0));', "")
    assert output(source, config=config, global_size=1021) == "".join(f"{i}\n" for i in range(1021))


def test_sixteen_parameters_and_the_buffers_address():
    parameters = ", ".join(f"int p{number}" for number in range(16))
    total = " + ".join(f"p{number}" for number in range(16))
    assert output(body(f'printf("%d\\n", {total});', parameters), *range(16)) == "120\n"


@by_config
def test_variables_and_tables_in_global_memory(config):
    source = body('''
        __private int t[64];
        for (int i = 0; i < 64; i++) t[i] = a[i] ^ i;
        for (int i = 0; i < 64; i += 21) printf("%d %s\\n", t[(a[0] + i) & 63], name);
    ''')
    source = f'__constant char name[] = "table";\n{source}'
    assert output(source, np.full(64, 3), config=config) == "".join(f"{3 ^ (3 + i) & 63} table\n"
                                                                    for i in range(0, 64, 21))


@pytest.mark.parametrize("local_memory", [0, 8])
@by_config
def test_barriers_and_local_memory(config, local_memory):
    source = body('''
        __local int t[4];
        int i = get_local_id(0);
        t[i] = a[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        printf("%d of %u ", t[(i + 1) % 4], get_group_id(0));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == 3) printf("%p %p\\n", t + i, l);
    ''', "__global int *a, __local char *l")
    printed = output(source, np.arange(4), LocalMemory(64), config=replace(config, local_memory=local_memory),
                     global_size=8, local_size=4)
    lines = re.sub(r"0x\w+", "p", printed)
    assert lines == "".join(f"1 of {group} 2 of {group} 3 of {group} 0 of {group} p p\n" for group in (0, 1))
    addresses = [int(address, 16) for address in re.findall(r"0x\w+", printed)]
    assert [second - first for first, second in zip(addresses[::2], addresses[1::2], strict=True)] == [128 - 12] * 2


# -- the buffer --------------------------------------------------------------------------------------------

MANY = body('''
    int i = get_global_id(0);
    for (int j = 0; j < 10; j++)
        a[i * 10 + j] = printf("%d %d\\n", i, j);
''')


@pytest.mark.parametrize("order", ["arrival", "work-item"])
@by_config
def test_a_full_buffer_loses_nothing_silently(config, order):
    image, text = compile_opencl(MANY, config=config), io.StringIO()
    whole = {f"{i} {j}" for i in range(100) for j in range(10)}
    with Device(config, engine="functional") as device:
        a = device.buffer(1000)
        with pytest.warns(PrintfWarning) as warned:
            image["k"](a, global_size=100, printf=Printf(to=text, order=order, size=8000))
        lines = text.getvalue().splitlines()
        message = str(warned[0].message)
        assert warned[0].filename == __file__
        assert len(set(lines)) == len(lines)
        assert set(lines) < whole
        assert len(lines) >= 300
        assert f"kernel 'k': {1000 - len(lines)} of 1000 calls of printf are not printed" in message
        assert f"{16 * (1000 - len(lines))} bytes" in message
        # The result tells which.
        assert {f"{at // 10} {at % 10}" for at in np.flatnonzero(a.read() == 0)} == set(lines)
        assert set(a.read().tolist()) == {0, -1}
        # And what the message asks for is enough.
        needed, text = int(re.search(r"Printf\(size=(\d+)\)", message)[1]), io.StringIO()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image["k"](a, global_size=100, printf=Printf(to=text, size=needed))
        assert set(text.getvalue().splitlines()) == whole
        assert not a.read().any()


BEGINS = """
__global uint *fgpu_printf_begin(__global uint *buffer, uint words, uint format);
__global uint *fgpu_printf_begin_own(__global uint *buffer, uint words, uint format);
__kernel void shared(__global uint *buffer) { fgpu_printf_begin(buffer, 5, 7); }
__kernel void own(__global uint *buffer) { for (int i = 0; i < 5; i++) fgpu_printf_begin_own(buffer, 5, 7); }
"""


@pytest.mark.filterwarnings("ignore:.*internal linkage:fgpu.errors.CompileWarning")
@pytest.mark.parametrize(("room", "records"), [(4, 0), (5, 1), (14, 2), (15, 3), (16, 3), (25, 5)])
@pytest.mark.parametrize(("kernel", "work_items"), [("shared", 5), ("own", 1)])
def test_room_is_used_to_the_last_word(kernel, work_items, room, records):
    image = compile_opencl(BEGINS, config=CONFIGS["shared"])
    content = np.zeros(60, np.uint32)
    with Device(CONFIGS["shared"], engine="functional") as device:
        buffer = device.buffer(content)
        content[[BufferWord.SCRAP, BufferWord.ROOM]] = buffer.address + 4 * 50, room
        buffer.write(content)
        image[kernel](buffer, global_size=work_items)
        region = buffer.read()[len(BufferWord):50]
    assert region[RegionWord.LOST_CALLS] == 5 - records
    assert region[RegionWord.LOST_WORDS] == 5 * (5 - records)
    starts = [len(RegionWord) + 5 * number for number in range(records)]
    assert np.flatnonzero(region[len(RegionWord):] == 7).tolist() == [start - len(RegionWord) for start in starts]
    assert sorted(region[[start + 1 for start in starts]].tolist()) == sorted(
        2 ** 32 - 1 - work_item for work_item in (range(records) if kernel == "shared" else [0] * records))


@pytest.mark.filterwarnings("ignore:.*internal linkage:fgpu.errors.CompileWarning")
def test_a_cursor_far_beyond_the_buffer_does_not_begin_again_at_0():
    """After 2^31 words it is set back, but not to where there is room; what is lost is counted all the same."""
    image = compile_opencl(BEGINS, config=CONFIGS["shared"])
    content = np.zeros(60, np.uint32)
    used, lost_calls, lost_words = (len(BufferWord) + word for word in RegionWord)
    with Device(CONFIGS["shared"], engine="functional") as device:
        buffer = device.buffer(content)
        content[[BufferWord.SCRAP, BufferWord.ROOM, used]] = buffer.address + 4 * 50, 30, 1 << 31
        buffer.write(content)
        for launches in (1, 2):
            image["shared"](buffer, global_size=3)
            now = buffer.read()
            assert now[[lost_calls, lost_words]].tolist() == [3 * launches, 15 * launches]
            assert 1 << 30 <= now[used] < 1 << 31
        assert now[50] == 7
        now[[*range(len(BufferWord) + len(RegionWord)), 50, 51]] = 0
        assert not now.any()


@by_config
def test_what_is_printed_is_the_beginning(config):
    """A call does not find room behind one that is larger and found none."""
    source = body('printf("a "); printf("%v16hld ", (int16)(a[0])); printf("b "); a[1] = printf("c ");')
    with pytest.warns(PrintfWarning, match="3 of 4 calls of printf are not printed, 88 bytes"):
        assert output(source, np.array([1, 2]), config=config, size=64) == "a "


@by_config
def test_memory_is_given_back(config):
    image = compile_opencl(MANY, config=config)
    memory = GlobalMemory(base=0x1000_0000, size=1 << 16)
    printf = Printf(to=lambda text: None, size=1 << 13)
    with Device(config, engine="functional", memory=memory, printf=printf) as device:
        a = device.buffer(1000)
        for _ in range(5):
            with pytest.warns(PrintfWarning):
                image["k"](a, global_size=100, local_size=4)
        with pytest.raises(LaunchError, match=r"kernel 'k' needs \d+ bytes for what printf prints.*may be less than"):
            image["k"](a, global_size=4, printf=Printf(size=1 << 20))


def test_after_a_launch_that_does_not_clean():
    """Kernels that print clean the cache: their output is there at once."""
    image, text = compile_opencl(MANY), io.StringIO()
    with Device(Config(atomics=ATOMICS), engine="functional", printf=text) as device:
        a = device.buffer(10)
        image["k"](a, global_size=1, clean=False)
        assert len(text.getvalue().splitlines()) == 10
        assert not a.read().any()


@by_config
@pytest.mark.parametrize(("end", "error"), [
    ("a[1 << 24] = 1;", KernelAccessError), ("while (a[0] == 7) a[1]++;", SimulationTimeout)])
def test_what_was_printed_before_a_kernel_was_stopped(config, end, error):
    image = compile_opencl(body(f'printf("%d\\n", a[2]); if (get_global_id(0) == 3) {{ {end} }}'), config=config)
    text = io.StringIO()
    with Device(config, engine="functional") as device:
        a = device.buffer([7, 0, 9])
        with pytest.raises(error):
            image["k"](a, global_size=4, max_cycles=1000, printf=text)
        assert text.getvalue() == "9\n" * 4
        image["k"](a, global_size=2, printf=text)
        assert text.getvalue() == "9\n" * 6


def moment(progress):
    raise OutOfTime("a moment")


@pytest.mark.parametrize(("engine", "end", "error", "options", "max_cycles"), [
    ("verilator", "while (a[0] == 7) a[1]++;", SimulationTimeout, {}, 4000),
    ("verilator", "while (a[0] == 7) a[1]++;", SimulationTimeout, {"progress": moment}, 1 << 40),
    ("verilator", "a[1 << 24] = 1;", KernelAccessError, {}, 10000),
    ("verilator", "*(volatile __global int *)0x80 = 1;", KernelFault, {"check_accesses": False}, 10000),
    pytest.param("pysim", "a[1 << 24] = 1;", KernelAccessError, {}, 10000, marks=pytest.mark.ci)],
    ids=["cycles", "seconds", "access", "fault", "pysim"])
def test_what_was_printed_comes_from_the_cache_of_a_kernel_that_was_stopped(engine, end, error, options, max_cycles):
    image = compile_opencl(body(f'printf("%d\\n", a[2]); if (get_global_id(0) == 3) {{ {end} }}'), config=ATOMIC)
    texts = []
    with Device(ATOMIC, engine=engine, printf=texts.append, **options) as device:
        a = device.buffer([7, 0, 9])
        for _ in range(2 if engine == "verilator" else 1):      # of the next power-up, too
            with pytest.raises(error):
                image["k"](a, global_size=4, max_cycles=max_cycles)
            assert texts.pop() == "9\n" * 4


@pytest.mark.parametrize(("ended", "printed"), [(True, "5\n"), (False, "5\n0\n6\n")])
@by_config
def test_what_came_to_memory_of_the_records(config, ended, printed):
    """Where a kernel was stopped, the cache may keep the header of a region, records and ends of records."""
    image, texts = compile_opencl(body('printf("%d\\n", a[0]);'), config=config), []
    descriptor = KernelDescriptor(entry=0, global_size=(1,), local_size=(1,))
    records = [1, 0xFFFF_FFFF, 5, 0, 0, 1, 0xFFFF_FFFF, 0, 0, 0, 0, 1, 0xFFFF_FFFF, 6]
    region = np.array([3 if ended else 0, 0, 0, *records], np.uint32)
    with Device(config, engine="functional") as device, nullcontext() if ended else pytest.raises(KernelFault), \
            PrintfBuffer(device, image, image["k"].kernel, Printf(to=texts.append), descriptor) as buffer:
        device.write(buffer.address + 4 * len(BufferWord), region)
        if not ended:
            raise KernelFault("it was stopped", None)
    assert texts == [printed]


# -- where it goes -----------------------------------------------------------------------------------------

def test_standard_output_by_default_or_what_the_device_or_the_launch_says(capsys):
    image = compile_opencl(body('printf("here %d\\n", a[0]);'))
    config, told = Config(atomics=ATOMICS), []
    with Device(config, engine="functional") as device:
        a = device.buffer([1])
        image["k"](a, global_size=1)
        image["k"](a, global_size=1, printf=told.append)
    assert capsys.readouterr().out == "here 1\n"
    assert told == ["here 1\n"]
    with Device(config, engine="functional", printf=told.append) as device:
        device.launch(image, global_size=2, args=[device.buffer([2])])
    assert told[1:] == ["here 2\nhere 2\n"]
    assert capsys.readouterr().out == ""


def test_a_file_without_the_characters(tmp_path):
    with (tmp_path / "out.txt").open("w", encoding="ascii") as file:
        image = compile_opencl(body('printf("ü%d\\n", a[0]);'))
        with Device(Config(atomics=ATOMICS), engine="functional", printf=file) as device:
            image["k"](device.buffer([1]), global_size=1)
    assert (tmp_path / "out.txt").read_text() == "\\xfc1\n"


@pytest.mark.parametrize(("options", "message"), [
    ({"size": 63}, "the size of printf's buffer must be from 64 to 1073741824 bytes, not 63"),
    ({"size": 1.5}, "not 1.5"), ({"order": "any"}, "the order of printf is 'arrival' or 'work-item', not 'any'"),
    ({"to": 3}, "printf must go to a text file or to what takes a text, not to 3"),
])
def test_bad_options(options, message):
    with pytest.raises(LaunchError, match=re.escape(message)):
        Printf(**options)


# -- images ------------------------------------------------------------------------------------------------

def test_images_have_the_formats_of_all_kernels_and_sources(tmp_path):
    config = Config(atomics=ATOMICS)
    image = compile_opencl({
        "a.cl": r'''
            __kernel void a(int n) { printf("a %d %s\n", n, "x"); }
            __kernel void quiet(__global int *p) { *p = 1; }
        ''',
        "b.cl": r'__kernel void b(int n) { printf("b %d %s\n", n, "y"); printf("a %d %s\n", n, "x"); }',
    }, config=config)
    image.save(tmp_path / "i.json")
    loaded = Image.load(tmp_path / "i.json")
    assert loaded == image == pickle.loads(pickle.dumps(image))
    assert [format.text for format in loaded.formats] == ["a %d %s\n", "b %d %s\n"]
    assert loaded.strings == ("x", "y")
    assert all(parameter.kind != "implicit" for parameter in loaded["quiet"].kernel.parameters)
    text = io.StringIO()
    with Device(config, engine="functional", printf=text) as device:
        for name in ("b", "a"):
            device.launch(loaded[name], global_size=1, args=[4])
    assert text.getvalue() == "b 4 y\na 4 x\na 4 x\n"


@pytest.mark.parametrize(("wrong", "message"), [
    (('"int"', '"integer"'), "'integer' is no argument of printf"),
    (('%d', '%n'), "OpenCL C has no %n"), (('%d', '%d %d'), "conversions: 2 (%d %d), arguments: 1"),
    (('"text"', '"texts"'), "malformed fgpu image: a format must be an object with a 'text' and 'arguments'"),
])
def test_malformed_images(wrong, message):
    image = compile_opencl(body('printf("%d", a[0]);'))
    with pytest.raises(ImageError, match=re.escape(message)):
        Image.from_json(image.to_json().replace(*wrong))


def test_images_that_do_not_print_are_as_before():
    image = compile_opencl(body("a[0] = 1;"))
    assert "formats" not in image.to_json()
    assert image.formats == image.strings == ()


# -- what is refused ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(("call", "message"), [
    ('printf("%d %d", a[0])', "conversions: 2 (%d %d), arguments: 1; give one for each"),
    ('printf("%y", a[0])', "'%y' is no conversion of OpenCL C; there are d i o u x"),
    ('printf("100%")', "the format string ends within '%'; a percent sign is written %%"),
    ('printf("%n", a)', "OpenCL C has no %n"),
    ('printf("%*d", a[0], a[1])', "OpenCL C has no width or precision from an argument; write the number"),
    ('printf("%lld", 1L)', "OpenCL C has no length modifier 'll'; long is printed by %ld"),
    ('printf("%zu", get_global_id(0))', "OpenCL C has no length modifier 'z'"),
    ('printf("%v5d", a[0])', "'%v5d': vectors have 2, 3, 4, 8, 16 elements, not 5"),
    ('printf("%vd", a[0])', "elements, not none"),
    ('printf("%v4c", a[0])', "'%v4c': %c prints no vectors"),
    ('printf("%hld", a[0])', "'hl' is for vectors, as in %v4hld; write %d"),
    ('printf("%hhf", 1.5f)', "'hh' is for integers"),
    ('printf("%ls", "text")', "%s takes no length modifier; leave out 'l'"),
    ('printf("%5000d", a[0])', "the width may be 4095 at most"),
    ('printf("%f", a[0])', "argument 1 is an int, which '%f' does not print; write %d"),
    ('printf("%d %d", a[0], 1.5f)', "argument 2 is a float, which '%d' does not print; write %f"),
    ('printf("%d", (int4)(a[0]))', "argument 1 is an int4, which '%d' does not print; write %v4hld"),
    ('printf("%v4hhd", (int4)(a[0]))', "argument 1 is an int4, which '%v4hhd' does not print; write %v4hld"),
    ('printf("%v2f", (float4)(a[0]))', "argument 1 is a float4, which '%v2f' does not print; write %v4hlf"),
    ('printf("%s", a[0])', "argument 1 is an int, which '%s' does not print; %s prints string literals only"),
    ('printf("%s", a)', "argument 1 is a pointer, which '%s' does not print"),
    ('printf("%s", names[a[0]])', "argument 1, which %s prints, must be a string literal"),
    ('printf("%f", a)', "argument 1 is a pointer, which '%f' does not print; pointers are printed by %p"),
    ('printf(names[a[0]])', "the format of printf must be a string literal, or chosen between literals by ?:"),
])
def test_refusals(call, message):
    source = f'__constant char *__constant names[] = {{"a", "b"}};\n{body(f"a[1] = 1;{chr(10)}{call};")}'
    with pytest.raises(CompileError) as refused:
        compile_opencl(source, filename="k.cl")
    assert "k.cl:4: printf" in str(refused.value) or "k.cl:4: the format of printf" in str(refused.value)
    assert message in str(refused.value)
