"""Bad input ends with one message on the error stream and exit code 1 (2 where the command line itself is wrong)."""

from pathlib import Path

import numpy as np
import pytest

from fgpu.compiler import Image
from fgpu.isa import Opcode, encode

RUN = "--engine functional --arg zeros:int32:64 --arg zeros:int32:64"
FILES = {
    "bad.cl": "__kernel void k( {",
    "scale.cl": "kernel void scale(global int *all, int factor) { all[get_global_id(0)] *= factor; }",
    "bad.s": ".kernel k\n    frobnicate r1\n",
    "bad.mif": "hello\n",
    "empty.mif": "-- nothing\n",
    "unknown.mif": "FF000000\n",
    "long.mif": "92000000\n" * 16385,
    "bad.json": "{",
    "list.jsonl": "[1]\n",
    "binary.jsonl": "\udcff",
    "none.jsonl": "",
    "other.json": "{}",
    "binary.cl": "\udcff",
    "text.npy": "hello",
    "bad.xml": "<kernel>",
    "program.txt": "",
    "loop.s": ".kernel loop\nself: beq r0, r0, self\n",
    "outside.s": ".kernel outside\n lp r1, 2\n lw r2, r1[r0]\n ret\n",
}


@pytest.fixture(autouse=True)
def files(folder):
    for name, text in FILES.items():
        Path(name).write_bytes(text.encode(errors="surrogateescape"))
    np.save("empty.npy", np.zeros(0, np.int32))
    np.save("object.npy", np.array([{}], dtype=object), allow_pickle=True)
    Image.from_words([encode(Opcode.RET)] * 2000, {"copy": 0}).save("big.json")


@pytest.mark.parametrize(("arguments", "message"), [
    # files
    ("run none.cl --global 64", "cannot read none.cl: No such file"),
    ("run none.mif --global 64", "none.mif"),
    ("compile none.cl -o x.json", "cannot read none.cl"),
    ("asm none.s -o x.json", "cannot read none.s"),
    ("disasm none.mif", "none.mif"),
    ("asm vec_add.cl -o x.json", "vec_add.cl is OpenCL C, not assembly: fgpu compile vec_add.cl"),
    ("disasm nothing", "not one without a suffix"),
    (f"run copy.s --global 64 {RUN} --output 1=x.txt", "--output 1=x.txt: an array becomes a .npy file"),
    ("run copy.s --global 64 --arg none.npy --latency 9:3", "--latency '9:3' must be cycles"),
    ("run copy.s --global 64 --engine functional --arg empty.npy", "the array in empty.npy has no elements"),
    ("run scale.cl --global 64 --engine functional --arg zeros:int32:64 --arg 1,2", "is one int, not (1, 2)"),
    ("run program.txt --global 64", "a program is a .cl, .s, .mif or .json file, not '.txt'"),
    ("compile copy.s -o x.json", "copy.s is not OpenCL C"),
    ("compile vec_add.cl -o x.bin", "x.bin"),
    ("compile vec_add.cl -o none/x.json", "none/x.json"),
    ("disasm copy.s -o none/x.s", "cannot write none/x.s"),
    ("disasm copy.s -o .", "cannot write .: Is a directory"),
    ("verilog -o .", "cannot write .: Is a directory"),
    ("build --board orangecrab", "orangecrab (OrangeCrab r0.2, 25F) is not offered: its memory is DDR3"),
    ("build --board ulx3s_85f --clock 41.3", "the PLL cannot make 41.3 MHz of 25 MHz; multiples of 5 MHz"),
    (f"run copy.s --global 64 {RUN} --output 1=none/x.npy", "cannot write none/x.npy"),
    ("disasm copy.s -o copy.s", "-o copy.s would replace the program itself"),
    (f"run copy.s --global 64 {RUN} --output 1=./copy.s", "--output 1 copy.s would replace the program itself"),
    (f"run copy.s --global 64 {RUN} --output 0=x.npy --output 1=./x.npy",
     "--output 0 and --output 1 both write x.npy; give each a file of its own"),
    ("run copy.s --global 64 --record x.svg --profile-to x.svg", "--record and --profile-to both write x.svg"),
    ("run copy.s --global 64 --engine functional --arg 1e400", "argument '1e400' is beyond every"),
    (f"run copy.s --global 64 --engine functional --arg {'9' * 400}", "argument 0 is 9999"),
    # before what would fail after it
    (f"run loop.s --global 64 {RUN} --max-cycles 100 --output 0=none/x.npy", "cannot write none/x.npy"),
    (f"run loop.s --global 64 {RUN} --max-cycles 100 --profile-to none/x.html", "cannot write none/x.html"),
    ("run none.cl --global 64 --arg zeros:int32:64 --trace none/x.vcd", "cannot write none/x.vcd"),
    ("synth --json none/x.json", "cannot write none/x.json"),
    ("run binary.cl --global 64", "binary.cl:1: byte 0xFF is not UTF-8"),
    # programs
    ("run bad.cl --global 64", "bad.cl:1"),
    ("asm bad.s -o x.json", "bad.s:2: unknown instruction 'frobnicate'"),
    ("run bad.mif --global 64", "bad.mif:1"),
    ("run empty.mif --global 64", "the image is empty"),
    ("run unknown.mif --global 64", "unknown opcode byte 0xFF"),
    ("run long.mif --global 64", "16385 words"),
    ("run bad.json --global 64", "not JSON"),
    ("run other.json --global 64", "not an fgpu image"),
    (f"run big.json --global 64 {RUN} --cram-size 4", "2000 words; the code RAM holds 1024"),
    # configuration
    (f"run copy.s --global 64 {RUN} --cus 3", "compute_units must be one of 1, 2, 4, 8, not 3"),
    (f"run copy.s --global 64 {RUN} --axi-ports 3", "axi_ports must be one of 1, 2, 4, not 3"),
    (f"run copy.s --global 64 {RUN} --axi-ports 4 --cache-slices 2",
     "cache_slices must be a multiple of axi_ports=4"),
    (f"run copy.s --global 64 {RUN} --atomics add,sub", "atomics must be of 'add', 'and', "),
    (f"run copy.s --global 64 {RUN} --preset huge",
     "preset must be one of tiny, basic, full, float, float-small, reference"),
    ("bench --cus 3 --engine functional", "compute_units"),
    (f"run copy.s --global 64 {RUN} --latency slow", "--latency 'slow'"),
    (f"run copy.s --global 64 {RUN} --trace x.vcd", "no signals to trace"),
    # launches
    (f"run copy.s --kernel kopy --global 64 {RUN}", "no kernel 'kopy'; the kernels it has: copy"),
    (f"run copy.s --global 128 {RUN}",
     "PC 5: lw r5, r3[r1]: load from 0x10000100 by work-item 64 is outside every buffer, just behind that"),
    (f"run vec_add.cl --global 64 {RUN} --arg zeros:float32:64", "points to int, but the buffer has elements of"),
    ("run vec_add.cl --global 64 --engine functional --arg 1", "takes 3 arguments"),
    ("run vec_add.cl --global 64 --engine functional --arg 1 --arg 2 --arg 1.5", "argument 2"),
    (f"run copy.s --global 0 {RUN}", "global size in dimension 0 is 0"),
    (f"run copy.s --global 1024 --local 1024 {RUN}", "from 1 to 512"),
    (f"run copy.s --global 100 --local 64 {RUN}", "not a multiple of the local size 64"),
    (f"run copy.s --global 1,2,3,4 {RUN}", "1 to 3 dimensions"),
    (f"run outside.s --no-check-accesses --global 64 {RUN} --arg 0",
     "load from 0x00000000 by work-item 0 is outside memory"),
    (f"run outside.s --global 64 {RUN} --arg 0", "load from 0x00000000 by work-item 0 is outside every buffer"),
    (f"run loop.s --global 64 {RUN} --max-cycles 100", "did not finish within 100"),
    ("run copy.s --descriptor bad.xml --engine functional", "bad.xml: not a well-formed"),
    ("run copy.s --descriptor none.xml --engine functional", "cannot read descriptor none.xml"),
    # values
    ("run copy.s --global 64 --engine functional --arg none.npy", "cannot read none.npy"),
    ("run copy.s --global 64 --engine functional --arg text.npy", "text.npy is not a NumPy array"),
    ("run copy.s --global 64 --engine functional --arg object.npy", "object.npy is not a NumPy array"),
    ("run copy.s --global 64 --engine functional --arg hello", "argument 'hello' is neither a number"),
    ("run copy.s --global 64 --engine functional --arg 1,,2", "argument '1,,2' is neither a number"),
    ("run copy.s --global 64 --engine functional --arg random:complex64:4", "must be FILL:TYPE:SHAPE"),
    ("run copy.s --global 64 --engine functional --arg random:int32:-4", "shape '-4'"),
    ("run copy.s --global 64 --engine functional --arg local:x", "'local:x' must have a number of bytes"),
    ("run copy.s --global 64 --engine functional --arg local:0", "local memory has a number of bytes from 1, not 0"),
    ("run copy.s --global 64 --engine functional --arg local:64 --arg 0",
     "needs 64 bytes of local memory for each work-group; this configuration has none (local_memory=0)"),
    (f"run copy.s --global 64 {RUN} --output 7=x.npy", "no such array; arrays: argument 0, argument 1"),
    (f"run copy.s --global 64 {RUN} --memory 0x10000000=5", "--memory needs an array"),
    (f"run copy.s --global 64 {RUN} --memory 0=zeros:int32:4", "0x00000000 is outside memory"),
    # benchmarks
    ("bench nothing --engine functional", "no benchmark 'nothing'; choose from copy"),
    ("bench matmul --sizes 300 --engine functional", "matmul: the size 300 is not n x n"),
    ("bench bitonic --sizes 300 --engine functional", "bitonic: the size 300 is not a power of two"),
    ("bench copy --sizes 0 --engine functional", "the size must be at least 1"),
    ("bench copy --sizes 100 --engine functional", "not a multiple of the work-group size 64"),
    ("bench copy --sizes 64 --group-size 3 --engine functional", "work-groups of 64"),
    ("bench copy --sizes 64 --json list.jsonl --engine functional",
     "list.jsonl has no records of benchmarks, but [1]"),
    ("bench copy --sizes 64 --json . --engine functional", ".: the name of a file of results ends with .json"),
    ("plot binary.jsonl", "binary.jsonl has no records of benchmarks: it is not a text file"),
    ("plot none.jsonl", "the results have nothing for any figure"),
    ("bench copy --sizes 64 --json none/x.json --engine functional", "cannot write none/x.json"),
])
def test_refused_with_a_message(fgpu, arguments, message):
    before = set(Path().rglob("*"))
    result = fgpu(arguments)
    assert result.exit_code == 1
    assert any(line.startswith("Error: ") for line in result.stderr.splitlines())
    assert "<stdin>" not in result.stderr, "nothing is said of what stands around a program"
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert set(Path().rglob("*")) == before, "nothing half written"


@pytest.mark.parametrize(("arguments", "message"), [
    ("run vec_add.cl --global 64", "3 arguments"),
    ("run copy.s --global 0", "global size in dimension 0 is 0"),
    ("run copy.s --descriptor none.xml", "cannot read descriptor none.xml"),
    ("run copy.s --global 64 --arg zeros:int32:64 --output 1=x.npy", "there is no such array"),
    ("run scale.cl --global 64 --arg zeros:int32:64 --arg 0.5", "floating-point number 0.5"),
    ("trace vec_add.cl --global 64 -o x.csv", "3 arguments"),
])
def test_nobody_waits_for_a_simulator_to_be_told(fgpu, monkeypatch, arguments, message):
    monkeypatch.setattr("fgpu.sim.verilator.build_model", lambda *_, **__: pytest.fail("builds a model"))
    result = fgpu(arguments)
    assert result.exit_code == 1
    assert message in result.stderr


def test_accesses_may_be_left_unchecked(fgpu):
    assert fgpu(f"run copy.s --global 128 --no-check-accesses {RUN}").exit_code == 0


@pytest.mark.parametrize("arguments", [
    "nonsense", "run", "run copy.s", "run copy.s --global x", "run copy.s --global 4 --engine modelsim",
    "run copy.s --global 4 --output x=y", "run copy.s --global 4 --memory -4=1", "synth --seeds 2 --no-timing",
    "synth --cus 1 --family ecp5 --timing pe --placed --seeds 2",
    "run copy.s --global 4 --max-cycles 0", "compile vec_add.cl",
    "run copy.s --descriptor a.xml --arg 1", "bench --sizes many", "run copy.s --global 4 --cus two",
    "run copy.s --global 4 --seed -1", "bench copy --seed -1", "bench copy --suite floats",
    "bench copy --mhz -3", "bench copy --mhz fast",
    "bench --suite floats --patterns", "run copy.s --global 4 --trace-window 0:5",
    "run copy.s --global 4 --trace-units cu0", "run copy.s --global 4 --trace x.vcd --trace-window 5",
    "run copy.s --global 4 --trace x.vcd --trace-window 5:5", "run copy.s --global 4 --engine functional --latency 5",
])
def test_wrong_usage(fgpu, arguments):
    result = fgpu(arguments)
    assert result.exit_code == 2
    assert "Usage: main" in result.stderr
