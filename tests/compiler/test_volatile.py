"""Volatile accesses to memory that others see: as many as the program has, in its order."""

from fgpu.compiler import compile_opencl
from fgpu.isa import decode


def accesses(source):
    """Mnemonics of the accesses to memory in the one kernel of ``source``."""
    rows = [decode(word)[0] for word in compile_opencl(source).words]
    return [row.mnemonic for row in rows if row.space is not None]


def test_neighbouring_bytes_are_loaded_one_by_one():
    terms = " + ".join(f"{n + 1} * p[{n}]" for n in range(8))
    source = f"__kernel void k(__global volatile uchar *p, __global int *o) {{ o[0] = {terms} + 9 * p[0]; }}"
    assert accesses(source) == ["lbp"] * 9 + ["swp"]
    assert "lbp" not in accesses(source.replace("volatile", ""))


def test_a_load_whose_address_is_there_sooner_does_not_go_first():
    source = """__kernel void k(__global volatile uchar *flags, __global volatile ushort *data,
                             __global uint *o, uint n) {
        uint flag = flags[n * n * n * n + 1], value = data[0];
        value = value * value + 7;
        value = value * value + 9;
        o[0] = value * value + flag; }"""
    assert accesses(source) == ["lbp", "lhp", "swp"]
    assert accesses(source.replace("volatile", "")) == ["lhp", "lbp", "swp"]
