"""Assembler and disassembler: both directions, and what they refuse."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fgpu.compiler import Image, Sources, assemble, compile_opencl, disassemble
from fgpu.errors import AssemblyError, ImageError
from fgpu.isa import INSTRUCTIONS, Format, Opcode, Operands, encode


@st.composite
def words(draw):
    """A word of any instruction with any operands; bits that its format leaves free are zero."""
    row = draw(st.sampled_from(INSTRUCTIONS))
    register = st.integers(0, 31)
    imm = 0
    if row.immediate is not None:
        allowed = row.immediate_range
        imm = draw(st.integers(allowed[0], allowed[-1]))
    return encode(row.opcode, Operands(draw(register), draw(register), draw(register), imm))


VEC_MUL = """
.kernel vec_mul                 ; the listing in the dissertation
    lp    r2, 2
    lp    r3, 1
    lp    r4, 0
    lid   r5, 0                 // comments of three kinds
    wgoff r6, 0                 # this is the third
    add   r1, r6, r5
    lw    r4, r4[r1]
    lw    r3, r3 [ r1 ]
    mul   r3, r3, r4
    sw    r3, r2[r1]
    ret
"""


@given(st.lists(words(), min_size=1, max_size=60))
def test_round_trip(program):
    text = disassemble(program)
    assert assemble(text).words == tuple(program)


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.mnemonic)
def test_every_instruction_round_trips(row):
    word = encode(row.opcode, Operands(1, 2, 3, 4 if row.immediate else 0))
    assert assemble(disassemble([word])).words == (word,)


def test_free_bits_survive_as_words():
    program = (encode(Opcode.RET) | 0x123, encode(Opcode.ADD, Operands(1, 2, 3)) | 1 << 23)
    assert assemble(disassemble(program)).words == program


def test_vec_mul_has_base_in_rt_and_index_in_rs():
    image = assemble(VEC_MUL)
    assert len(image.words) == 11
    assert image.words[6] == encode(Opcode.LW, Operands(rd=4, rt=4, rs=1))
    assert image.kernel("vec_mul").instructions == 11


def test_labels_kernels_and_targets():
    image = assemble("""
        .kernel first
            li r1, 0x10
        loop: addi r1, r1, -1
            bne r1, r0, loop
            jsub sub
            ret
        .kernel second
        sub: ret
            beq r0, r0, 5
    """)
    assert [image.kernel(name).entry for name in ("first", "second")] == [0, 5]
    assert image.words[2] == encode(Opcode.BNE, Operands(1, 0, 0, -2))
    assert image.words[3] == encode(Opcode.JSUB, Operands(imm=2))
    assert image.words[6] == encode(Opcode.BEQ, Operands(imm=-2))
    again = assemble(disassemble(image))
    assert again == image


def test_sixteen_bit_patterns_are_accepted_by_li():
    assert assemble("li r1, 0xFFFF").words == assemble("li r1, -1").words


def test_formats_all_have_syntax():
    assert {row.format for row in INSTRUCTIONS} == set(Format)


@pytest.mark.parametrize(("text", "message"), [
    ("add r1, r2", "x.s:1: add takes rd, rs, rt, not 'r1, r2'"),
    ("ret 1", "x.s:1: ret takes nothing, not '1'"),
    ("\nfoo r1", "x.s:2: unknown instruction 'foo'"),
    ("add r1, r2, r32", "x.s:1: add: register rt must be r0 to r31, not r32"),
    ("addi r1, r2, 8192", "x.s:1: addi: immediate 8192 is outside -8192 to 8191"),
    ("li r1, 0x10000", "x.s:1: li: immediate 65536 is outside -32768 to 32767"),
    ("slli r1, r2, x", "x.s:1: expected a number, not 'x'"),
    ("beq r1, r2, nowhere", "x.s:1: label 'nowhere' is not defined"),
    ("beq r1, r2, 9000", "x.s:1: beq: immediate 8999 is outside -8192 to 8191"),
    ("a: ret\na: ret", "x.s:2: label 'a' is defined twice"),
    (".kernel k\nret\n.kernel k\nret", "x.s:3: kernel 'k' is defined twice"),
    (".kernel 1\nret", "x.s:1: .kernel needs one name, not '1'"),
    (".data 1", "x.s:1: unknown directive '.data'; there are .kernel and .word"),
    (".word 0x1FFFFFFFF", "x.s:1: .word 0x1FFFFFFFF does not fit in 32 bits"),
    (".word 0", "x.s:1: word 0: unknown opcode byte 0x00 in instruction word 0x00000000"),
    ("", "x.s:1: there is no instruction in this text"),
    ("ret\n.kernel k", "x.s:2: kernel 'k' starts at word 1, outside the image of 1 words"),
    ("ret\n" * 16385, "x.s:16385: the image has 16385 words; the code RAM holds at most 16384"),
])
def test_errors_name_file_line_and_cause(text, message):
    with pytest.raises(AssemblyError, match=f"^{re.escape(message)}$"):
        assemble(text, "x.s")


def test_disassemble_takes_images_and_words():
    program = assemble("ret")
    assert disassemble(program) == disassemble(program.words) == "    ret\n"
    assert isinstance(program, Image)


PROGRAM = """\
int helper(int x)
{
    return x * x + 7;
}
__kernel void k(__global int *o, int n)
{
    o[get_global_id(0)] = helper(o[3] + n);     // ; # \x0c \u2028 end
}
__kernel void j(__global float *o) { o[0] = o[1] / o[2]; }
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(PROGRAM)
    return compile_opencl(PROGRAM, filename="k.cl")


def test_source_lines_are_beside_their_instructions(program):
    text = disassemble(program, "k", Sources())
    assert re.search(r"^    lp .* ; k.cl:5  __kernel void k\(__global int \*o, int n\)$", text, re.M)
    assert re.search(r"^    li .* ; k.cl:7  o\[get_global_id\(0\)\] = helper\(o\[3\] \+ n\); // ; # end$", text, re.M)
    assert re.search(r"^    (macc|mul) .* ; k.cl:3  return x \* x \+ 7;$", text, re.M)
    assert re.search(r"^    ret  .* ; k.cl:8  }$", text, re.M)
    assert text.count("__kernel void k") == 1, "a line is told once for the instructions in a row that it has"


def test_with_sources_text_assembles_to_the_same_words(program):
    assert assemble(disassemble(program, sources=Sources())).words == program.words
    assert assemble(disassemble(program, sources=Sources())) != assemble(disassemble(program, "j"))


def test_sources_that_are_not_there_are_named_by_line(program, tmp_path):
    (tmp_path / "k.cl").rename(tmp_path / "other.cl")
    text = disassemble(program, sources=Sources())
    assert text.startswith("; k.cl is not there: lines by their numbers only\n")
    assert re.search(r"^    lp .* ; k.cl:5$", text, re.M)
    assert re.search(r"^    mul .* ; \w+\.(cl|h):\d+  .+;$", text, re.M), "the library's source is there"
    (tmp_path / "other.cl").rename(tmp_path / "k.cl")
    since = (tmp_path / "k.cl").stat().st_mtime
    assert "newer" not in disassemble(program, sources=Sources(since))
    newer = disassemble(program, sources=Sources(since - 1))
    assert newer.startswith("; k.cl is newer than the image: its lines may be others\n")
    bare = disassemble(program.words, sources=Sources())
    assert bare.startswith("; the image has no line table\n")
    assert assemble(text).words == assemble(newer).words == assemble(bare).words == program.words


def test_one_kernel_comes_with_its_subroutines(program):
    only = disassemble(program, "j")
    assert ".kernel j\n" in only
    assert ".kernel k\n" not in only
    assert len(assemble(only).words) == len(program.words) - program.kernel("k").instructions
    assert len(assemble(disassemble(program, "k")).words) == program.kernel("k").instructions
    raw = assemble(".kernel a\n beq r1, r2, out\n beq r0, r0, over\n nop: add r1, r1, r1\n out: ret\n ret\n"
                   " over: jsub sub\n ret\n.kernel b\n ret\nsub: ret")
    assert [line.split(";")[0].strip() for line in disassemble(raw, "a").splitlines()] == [
        ".kernel a", "beq    r1, r2, L3", "beq    r0, r0, L5", "L3:", "ret", "L5:", "jsub   L8", "ret", "L8:", "ret"]
    with pytest.raises(ImageError, match="no kernel 'c'; the kernels it has: a, b"):
        disassemble(raw, "c")
