"""The compiled functional engine and the one in NumPy, which says what is right: all that can be seen is the same."""

import random

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.config import ATOMICS, FLOAT_OPS, LOCAL_BASE, Config
from fgpu.errors import FgpuError, SimulationTimeout, ToolError
from fgpu.isa import INSTRUCTIONS, Format, Opcode, Operands, Space, Unit, encode
from fgpu.sim import GlobalMemory, KernelDescriptor
from fgpu.sim.accesses import AccessCheck
from fgpu.sim.engine import Launch
from fgpu.sim.functional import functional_engine

from ..core.program_generator import generate
from ..seeds import seed_of_test

BASE, SIZE = 0x1000_0000, 1 << 18
EVERYTHING = Config(float_ops=FLOAT_OPS, atomics=ATOMICS, local_memory=8, link_stack_depth=8)
CONFIGS = {
    "default": Config(),
    "everything": EVERYTHING,
    "subnormals flushed": Config(float_ops=FLOAT_OPS, float_subnormals=False, local_memory=32),
    "no scratchpad": Config(scratchpad_size=0, atomics=ATOMICS),
}


def outcomes(config, launches, content):
    """What each engine says of each launch, and the memory that it leaves."""
    found = []
    for kind in ("numpy", "native"):
        memory = GlobalMemory(BASE, SIZE)
        memory.bytes[:] = content
        engine = functional_engine(config, memory, kind)
        said = []
        for launch in launches:
            try:
                result = engine.launch(launch)
                said.append((result.instructions, result.work_item_instructions, result.stats))
            except FgpuError as error:
                said.append((type(error), str(error)))
        engine.close()
        found.append((said, memory.bytes.copy()))
    return found


def compare(config, launches, content):
    (expected, memory), (said, native) = outcomes(config, launches, content)
    assert said == expected
    assert np.array_equal(native, memory)
    return expected


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_programs_that_do_not_race(config):
    seed = seed_of_test()
    for index in range(12):
        rng = random.Random(f"{seed} {index}")
        kernel = generate(rng, config, BASE, SIZE, wavefronts=rng.choice([1, 4, 12]))
        content = np.frombuffer(rng.randbytes(SIZE), np.uint8)
        check = AccessCheck(((kernel.memory.start, kernel.memory.stop),), local_bytes=config.local_memory * 1024)
        compare(config, [Launch(program=kernel.program, descriptor=kernel.descriptor.words(), check=check)], content)


def wild_program(rng):
    """Whatever can be encoded, with addresses near memory and work-groups' local memory."""
    words = [encode(Opcode.LID, Operands(1)), encode(Opcode.LP, Operands(2)), encode(Opcode.LP, Operands(3, imm=1)),
             encode(Opcode.SLLI, Operands(4, 1, imm=rng.choice([0, 1, 2, 7]))), encode(Opcode.ADD, Operands(5, 2, 4)),
             encode(Opcode.ADD, Operands(6, 3, 4)), encode(Opcode.WGID, Operands(7))]
    length = rng.randint(5, 60)
    weights = [0.2 if row.opcode is Opcode.MEET      # a fault, unless the scheme of divergence has it
               else 8 if row.unit in (Unit.CONTROL, Unit.RETURN) else 3 if row.space else 1 for row in INSTRUCTIONS]
    for _ in range(length):
        row = rng.choices(INSTRUCTIONS, weights)[0]
        registers = {name: rng.randrange(12) for name in row.registers}
        if row.space in (Space.GLOBAL, Space.LOCAL):
            pointers, small = ([5, 5, 2], [0, 1, 7]) if row.space is Space.GLOBAL else ([6, 6, 3], [0, 1])
            base, index = ("rt", "rs") if row.atomic is None else ("rs", "rt")
            if rng.random() < 0.95:
                registers[base] = rng.choice(pointers)
                if row.format is not Format.RD_RS_RT:
                    registers[index] = rng.choice(small)
        elif registers.get("rd") in (2, 3, 5, 6) and not row.is_branch and rng.random() < 0.9:
            registers["rd"] = 8
        elif row.opcode is Opcode.RET and rng.random() < 0.5:
            continue
        imm = 0
        if row.immediate is not None:
            allowed = row.immediate_range
            imm = rng.choice([rng.randint(allowed[0], allowed[-1]), rng.randint(0, min(20, allowed[-1]))])
            if row.unit is Unit.CONTROL:
                imm = rng.randint(-5, 12) if rng.random() < 0.97 else imm
            elif row.format is Format.RD_PARAMETER_INDEX and rng.random() < 0.95:
                imm = 0     # the one that points to memory
        words.append(encode(row.opcode, Operands(**registers, imm=imm)))
    words += [encode(Opcode.RET)] * 12
    if rng.random() < 0.1:
        words[rng.randrange(len(words))] = rng.getrandbits(32)
    return words


def wild_launch(rng, config):
    local_size = rng.choice([(64,), (1,), (100,), (512,), (5, 7), (8, 4, 8), (192,), (64,)])
    groups = rng.choice([1, 2, 5, 40])
    descriptor = KernelDescriptor(
        entry=0, local_size=local_size, global_size=(groups * local_size[0], *local_size[1:]),
        global_offset=tuple(rng.getrandbits(32) for _ in local_size), place=rng.random() < 0.2,
        parameters=(BASE + rng.choice([0, SIZE // 2, SIZE - 512]), LOCAL_BASE, rng.getrandbits(32)))
    middle, end = BASE + SIZE // 2, BASE + SIZE
    ranges = rng.choice([None, ((BASE, end),), ((BASE, middle + 101), (end - 512, end)), ()])
    check = rng.choice([None, AccessCheck(ranges, local_bytes=rng.choice([config.local_memory * 1024, 500]))])
    return Launch(program=wild_program(rng), descriptor=descriptor.words(), check=check, kernel="wild",
                  max_cycles=rng.choice([1, 50, 999, 3000]))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_wild_programs(config):
    """Races, faults, overflows, refused accesses and time-outs, in launches one after the other."""
    seed = seed_of_test()
    kinds = set()
    for index in range(10):
        rng = random.Random(f"{seed} {index}")
        launches = [wild_launch(rng, config) for _ in range(8)]
        content = np.frombuffer(rng.randbytes(SIZE), np.uint8)
        kinds |= {said[0] if isinstance(said[0], type) else "ended" for said in compare(config, launches, content)}
    assert {"ended", SimulationTimeout} <= kinds


SPECIAL = [0, 1, 0x007F_FFFF, 0x0080_0000, 0x0080_0001, 0x00FF_FFFF, 0x0100_0000, 0x3F00_0000, 0x3F7F_FFFF,
           0x3F80_0000, 0x3F80_0001, 0x4EFF_FFFF, 0x4F00_0000, 0x4F7F_FFFF, 0x4F80_0000, 0x5F80_0000, 0x7F7F_FFFF,
           0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF, 0x1F80_0000]


@pytest.mark.parametrize("subnormals", [True, False])
def test_floating_point_of_special_numbers(subnormals):
    """Each operation on all pairs, of each sign."""
    numbers = np.array([sign | number for sign in (0, 1 << 31) for number in SPECIAL], np.uint32)
    pairs = np.array(np.meshgrid(numbers, numbers)).reshape(2, -1)
    rows = [row for row in INSTRUCTIONS if row.unit is Unit.FLOAT]
    count, items = len(rows), pairs.shape[1]
    words = [encode(Opcode.LID, Operands(1)), encode(Opcode.WGOFF, Operands(2)),
             encode(Opcode.ADD, Operands(1, 1, 2)),
             encode(Opcode.LP, Operands(2)), encode(Opcode.LP, Operands(3, imm=1)),
             encode(Opcode.LW, Operands(4, 1, 2)), encode(Opcode.LW, Operands(5, 1, 3))]
    for number, row in enumerate(rows):
        registers = {"rd": 6, "rs": 4, "rt": 5}
        words += [encode(row.opcode, Operands(**{name: registers[name] for name in row.registers})),
                  encode(Opcode.LP, Operands(7, imm=2 + number)), encode(Opcode.SW, Operands(6, 1, 7))]
    content = np.zeros(SIZE, np.uint8)
    content[:pairs.nbytes] = pairs.view(np.uint8).ravel()
    areas = [BASE + 4 * items * place for place in range(2 + count)]
    descriptor = KernelDescriptor(entry=0, local_size=(items // 8,), global_size=(items,), parameters=tuple(areas))
    config = Config(float_ops=FLOAT_OPS, float_subnormals=subnormals)
    compare(config, [Launch(program=[*words, encode(Opcode.RET)], descriptor=descriptor.words())], content)


def test_wavefronts_that_wait_for_others():
    """At a lower PC than those, in a loop that ends as these come to run: how many turns it takes is the same."""
    program = assemble("""
        .kernel wait
            wgid r1, 0
            lp r2, 0
            bne r1, r0, go
        again:
            lw r3, r2[r0]
            beq r3, r0, again
            ret
        go:
            li r4, 40
        count:
            addi r4, r4, -1
            bne r4, r0, count
            sw r1, r2[r0]
            ret""").words
    descriptor = KernelDescriptor(entry=0, local_size=(64,), global_size=(3 * 64,), parameters=(BASE,))
    said = compare(Config(), [Launch(program=program, descriptor=descriptor.words())], np.zeros(SIZE, np.uint8))
    assert said[0][0] > 500


@pytest.mark.parametrize("name", ["lb", "lh", "lw", "sb", "sh", "sw"])
@pytest.mark.parametrize("end", range(40, 49))
def test_the_end_of_a_range(name, end):
    """Accesses in one range, or in two of which they may be across the ends."""
    program = assemble(f".kernel k\n lp r1, 0\n lid r2, 0\n {name} r3, r1[r2]\n ret").words
    launches = [Launch(program=program, check=AccessCheck(ranges), kernel="k", descriptor=KernelDescriptor(
                    entry=0, local_size=(items,), global_size=(items,), parameters=(BASE + start,)).words())
                for items in (1, 3) for start in (36, 40, 44)
                for ranges in (((BASE, BASE + end),), ((BASE, BASE + 38), (BASE + 38, BASE + end)))]
    compare(Config(), launches, np.zeros(SIZE, np.uint8))


def test_an_unknown_kind():
    with pytest.raises(ToolError, match="FGPU_FUNCTIONAL must be native or numpy, not 'fast'"):
        functional_engine(Config(), GlobalMemory(), "fast")


def test_without_a_compiler_there_is_numpy(monkeypatch):
    def none(*_):
        raise ToolError("there is no C++ compiler")

    monkeypatch.setattr("fgpu.sim.functional.native.build.library", none)
    with pytest.warns(UserWarning, match="the slow one, in NumPy: there is no C\\+\\+ compiler"):
        assert type(functional_engine(Config(), GlobalMemory())).__name__ == "FunctionalEngine"
    with pytest.raises(ToolError, match="no C\\+\\+ compiler"):
        functional_engine(Config(), GlobalMemory(), "native")
