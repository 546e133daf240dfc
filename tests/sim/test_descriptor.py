"""Kernel descriptors: words, XML, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fgpu.errors import LaunchError
from fgpu.sim import KernelDescriptor

LISTING_5_1 = """<kernel>
  <index>9</index>                               <!-- index of LRAM slot to be written (0 to 15) -->
  <nDim>2</nDim>
  <start_addr>333</start_addr>
  <global_size0>10</global_size0>
  <global_size1>1024</global_size1>
  <global_offset0>0</global_offset0>
  <global_offset1>0</global_offset1>
  <work_group_size0>10</work_group_size0>
  <work_group_size1>10</work_group_size1>
  <nParameters>3</nParameters>
  <param0>0x10000000</param0>
  <param1>0x10000000</param1>
  <param2>0x10080000</param2>
</kernel>
"""


def test_words_follow_appendix_b():
    words = KernelDescriptor(entry=333, global_size=(20, 60, 8), local_size=(10, 20, 2), global_offset=(1, 2, 3),
                             parameters=(7, 8)).words()
    expected = [0] * 32
    expected[0] = 6 << 28 | 333
    expected[1:4] = 20, 60, 8
    expected[4:7] = 1, 2, 3
    expected[7] = 2 << 30 | 2 << 20 | 20 << 10 | 10
    expected[8:11] = 1, 2, 3
    expected[11] = 2 << 28 | 400
    expected[16:18] = 7, 8
    assert list(words) == expected


@st.composite
def descriptors(draw):
    local = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    offsets = [draw(st.integers(0, 2**32 - 1)) for _ in local]
    return KernelDescriptor(
        entry=draw(st.integers(0, 4095)), local_size=tuple(local),
        global_size=tuple(extent * draw(st.integers(1, 1000)) for extent in local), global_offset=tuple(offsets),
        parameters=tuple(draw(st.lists(st.integers(1, 2**32 - 1), max_size=16))))


@given(descriptors())
def test_words_and_back(descriptor):
    assert KernelDescriptor.from_words(descriptor.words()) == descriptor


def test_listing_5_1_is_read(tmp_path):
    path = tmp_path / "matmul.xml"
    path.write_text(LISTING_5_1)
    descriptor, slot = KernelDescriptor.from_xml(path)
    assert slot == 9
    assert descriptor == KernelDescriptor(entry=333, global_size=(10, 1024), local_size=(10, 10),
                                          parameters=(0x1000_0000, 0x1000_0000, 0x1008_0000))
    assert descriptor.work_groups == (1, 103)
    with pytest.raises(LaunchError, match=r"1024 in dimension 1 is not a multiple of the local size 10.*1030"):
        descriptor.check_divisible()


def test_offsets_and_index_are_optional(tmp_path):
    path = tmp_path / "one.xml"
    path.write_text("<kernel><nDim>1</nDim><start_addr>0x10</start_addr><global_size0>0x40</global_size0>"
                    "<work_group_size0>64</work_group_size0><nParameters>0</nParameters></kernel>")
    assert KernelDescriptor.from_xml(path) == (KernelDescriptor(entry=16, global_size=(64,), local_size=(64,)), 0)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("<nDim>2</nDim>", "<nDim>4</nDim>", "nDim> is 4"),
    ("<nDim>2</nDim>", "<nDim>two</nDim>", "nDim> is 'two', not a decimal"),
    ("<nDim>2</nDim>", "", "lacks <nDim>"),
    ("<index>9</index>", "<index>16</index>", "slots 0 to 15"),
    ("<param2>0x10080000</param2>", "", "lacks <param2>"),
    ("<param2>0x10080000</param2>", "<param3>1</param3>", "param2"),
    ("<nParameters>3", "<nParameters>2", "<param2> is unknown"),
    ("<nParameters>3", "<nParameters>17", "takes 0 to 16"),
    ("<global_size0>10<", "<global_size0>0<", "global size in dimension 0 is 0"),
    ("</kernel>", "", "not a well-formed"),
    ("kernel>", "program>", "root element must be <kernel>"),
    ("<index>9</index>", "<index>9</index><index>9</index>", "given twice"),
    ("<kernel>", '<!DOCTYPE k [<!ENTITY e "x">]><kernel>', "plain XML"),
])
def test_bad_xml_is_refused(tmp_path, old, new, message):
    path = tmp_path / "bad.xml"
    path.write_text(LISTING_5_1.replace(old, new))
    with pytest.raises(LaunchError, match=message) as caught:
        KernelDescriptor.from_xml(path)
    assert str(path) in str(caught.value)


def test_missing_xml_is_refused(tmp_path):
    with pytest.raises(LaunchError, match="cannot read descriptor"):
        KernelDescriptor.from_xml(tmp_path / "none.xml")


GOOD = KernelDescriptor(entry=0, global_size=(128,), local_size=(64,)).words()


@pytest.mark.parametrize(("index", "word", "message"), [
    (0, 1 << 28, "2 wavefronts in a work-group, but 64 work-items need 1"),
    (1, 0, "global size in dimension 0 is 0"),
    (7, 0, "local size in dimension 0 is 0"),
    (7, 3 << 30 | 64, "4 dimensions"),
    (7, 65, "64 work-items in a work-group, but word 7"),
    (7, 513, "local size in dimension 0 is 513"),
    (11, 0, "0 work-items in a work-group"),
    (3, -1, "word 3 is -1"),
    (3, 1 << 32, "not a 32-bit unsigned integer"),
    (3, "x", "not a 32-bit unsigned integer"),
])
def test_contradicting_words_are_refused(index, word, message):
    words = list(GOOD)
    words[index] = word
    with pytest.raises(LaunchError, match=message):
        KernelDescriptor.from_words(words)


def test_wrong_number_of_words_is_refused():
    with pytest.raises(LaunchError, match="has 32 words, not 31"):
        KernelDescriptor.from_words(GOOD[:31])
