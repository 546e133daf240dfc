"""Program images: what they hold, how they are saved, and everything that makes a bad one."""

import json
import pickle
import re
from dataclasses import replace

import pytest

from fgpu.compiler import Image, Kernel, Location, Parameter
from fgpu.errors import ImageError

RET = 0x9200_0000
LP = 0xA800_0001
WORDS = (LP, RET, LP, LP, RET)


@pytest.fixture
def image():
    pointer = Parameter("data", "pointer", "short", 2)
    return Image(WORDS, {
        "first": Kernel("first", 0, (pointer, Parameter("n", "scalar", "uint", 4)), 3, 2, (8, 8, 1)),
        "second": Kernel("second", 2, (), 0, 3, splittable=True),
    }, lines={0: Location("x.cl", 3), 1: Location("x.cl", 3), 2: Location("y.h", 1), 4: Location("x.cl", 3)})


def test_json_keeps_everything(image, tmp_path):
    image.save(tmp_path / "x.json")
    again = Image.load(tmp_path / "x.json")
    assert again == image
    assert again.lines == image.lines
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_the_line_table_is_short_text(image):
    """Older versions of fgpu, which had another one under another name, do not look at it."""
    data = json.loads(image.to_json())
    assert data["line_table"] == {"x.cl": {"3": "0-1 4"}, "y.h": {"1": "2"}}
    assert data["version"] == json.loads(replace(image, lines={}).to_json())["version"]
    assert "lines" not in data


def test_only_images_of_cooperating_work_items_need_a_new_version(image):
    """Older versions of fgpu read all others, and would launch these without local memory."""
    tile = Parameter("tile", "local", "float", 4)
    assert tile.declaration == "__local float *tile"
    kernels = [Kernel("k", 0, (tile,)), Kernel("k", 0, (), has_barrier=True), Kernel("k", 0, (), local_bytes=100),
               Kernel("k", 0, (tile, Parameter("local", "implicit", "uint", 4),
                               Parameter("local_bytes", "implicit", "uint", 4)), has_barrier=True, local_bytes=4)]
    for kernel in kernels:
        assert kernel.is_cooperative
        text = Image(WORDS, {"k": kernel}).to_json()
        assert json.loads(text)["version"] == 4
        assert Image.from_json(text).kernel("k") == kernel
    for kernel in image.kernels.values():
        assert not kernel.is_cooperative
    data = json.loads(image.to_json())
    assert data["version"] == 3
    assert not {"local_bytes", "has_barrier"} & data["kernels"][0].keys()


def test_arguments_in_local_memory_follow_the_variables_aligned():
    kernel = Kernel("k", 0, local_bytes=20)
    assert kernel.local_layout([]) == ((), 20)
    assert kernel.local_layout([4, 128, 1]) == ((128, 256, 384), 385)
    assert Kernel("k", 0).local_layout([300, 8]) == ((0, 384), 392)


def test_images_of_older_versions_have_the_lines_of_accesses():
    old = GOOD | {"words": ["92000000"] * 3, "lines": {"2": "C:\\x.cl:17", "0": "<opencl>:1"}}
    assert Image.from_json(json.dumps(old)).lines == {2: Location("C:\\x.cl", 17), 0: Location("<opencl>", 1)}


def test_mif_keeps_the_words(image, tmp_path):
    image.save(tmp_path / "x.mif")
    assert (tmp_path / "x.mif").read_text().split() == [f"{word:08X}" for word in WORDS]
    again = Image.from_mif(tmp_path / "x.mif", kernels={"first": 0, "second": 2})
    assert again.words == WORDS
    assert again.kernel("first") == Kernel("first", 0, None, 0, 2)
    assert again.kernel("second").instructions == 3
    assert not Image.load(tmp_path / "x.mif").kernels


def test_mif_comments_blanks_and_prefixes(tmp_path):
    path = tmp_path / "x.mif"
    path.write_text("-- code\n\n0xA8000001 ; load\n92000000 # end\n")
    assert Image.from_mif(path).words == (LP, RET)


def test_is_a_value(image):
    assert pickle.loads(pickle.dumps(image)) == image
    assert pickle.loads(pickle.dumps(image)).lines == image.lines
    assert hash(image) == hash(Image(WORDS, dict(image.kernels)))
    with pytest.raises(TypeError):
        image.kernels["third"] = Kernel("third", 0)


@pytest.mark.parametrize(("words", "kernels", "message"), [
    ([], {}, "the image is empty: it needs at least one instruction"),
    ([RET] * 16385, {}, "the image has 16385 words; the code RAM holds at most 16384"),
    ([RET, 1 << 32], {}, "word 1 is 4294967296, which is not a 32-bit unsigned integer"),
    ([RET, -1], {}, "word 1 is -1, which is not a 32-bit unsigned integer"),
    ([RET, "x"], {}, "word 1 is 'x', which is not a 32-bit unsigned integer"),
    ([RET, 0xFF00_0000], {}, "word 1: unknown opcode byte 0xFF in instruction word 0xFF000000"),
    ([RET], {"k": None}, "kernel 'k' must be a Kernel or the word where it starts, not None"),
    ([RET], {"k": 1}, "kernel 'k' starts at word 1, outside the image of 1 words"),
    ([RET], {"k": -1}, "kernel 'k' starts at word -1, outside the image of 1 words"),
    ([RET], {"k": Kernel("j", 0)}, "kernel 'k' is listed under another name than its own, 'j'"),
])
def test_refuses(words, kernels, message):
    with pytest.raises(ImageError, match=f"^{re.escape(message)}$"):
        Image.from_words(words, kernels)


def test_unknown_kernel_lists_those_there_are(image):
    with pytest.raises(ImageError, match=r"no kernel 'third'; the kernels it has: first, second$"):
        image.kernel("third")
    with pytest.raises(ImageError, match=r"the kernels it has: none$"):
        Image((RET,)).kernel("k")


GOOD = {"format": "fgpu-image", "version": 1, "kernels": [], "words": ["92000000"]}


@pytest.mark.parametrize(("name", "content", "message"), [
    ("x.mif", "9200000G\n", "x.mif:1: expected one hexadecimal 32-bit word, not '9200000G'"),
    ("x.mif", "92000000\n192000000\n", "x.mif:2: expected one hexadecimal 32-bit word, not '192000000'"),
    ("x.mif", "-- nothing\n", "x.mif: the image is empty"),
    ("x.mif", b"\xff\xfe\x00", "x.mif: not a text file"),
    ("x.json", "{", "x.json: not JSON"),
    ("x.json", "[]", 'x.json: not an fgpu image: it lacks "format"'),
    ("x.json", json.dumps({"format": "fgpu-image", "version": 5}), "x.json: image version 5 is not supported"),
    ("x.json", json.dumps(GOOD | {"words": [1]}),
     "x.json: malformed fgpu image: a word must be up to eight hexadecimal digits, not 1"),
    ("x.json", json.dumps(GOOD | {"words": "92000000"}), "image: 'words' must be a list, not \"92000000\""),
    ("x.json", json.dumps(GOOD | {"warnings": "k.cl:1: no"}), "image: 'warnings' must be texts, not \"k.cl:1: no\""),
    ("x.json", json.dumps(GOOD | {"clang_warnings": [1]}), "image: 'clang_warnings' must be texts, not [1]"),
    ("x.json", json.dumps(GOOD | {"data": "0"}), "image: 'data' must be bytes in hexadecimal, not \"0\""),
    ("x.json", json.dumps(GOOD | {"line_table": {"x.cl": {"3": "0-1 x"}}}),
     'image: \'line_table\' must be the words of each line of each file, as "0-3 7", not {"x.cl": {"3": "0-1 x"}}'),
    ("x.json", json.dumps(GOOD | {"line_table": {"x.cl": {"3": "0-9999999999"}}}), "image: 'line_table' must be the"),
    ("x.json", json.dumps(GOOD | {"line_table": {"x.cl": 3}}), "image: 'line_table' must be the words of each line"),
    ("x.json", json.dumps(GOOD | {"line_table": ["x.cl"]}), "image: 'line_table' must be the words of each line"),
    ("x.json", json.dumps(GOOD | {"kernels": [1]}), "image: a kernel must be an object, not 1"),
    ("x.json", json.dumps({"format": "fgpu-image", "version": 1}), "image: 'words' must be a list, not null"),
    ("x.json", json.dumps(GOOD | {"words": ["00000000"]}), "x.json: word 0: unknown opcode byte 0x00"),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k"}]}),
     "image: a kernel must be an object with 'entry', not "),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "colour": 7}]}),
     "image: an attribute of a kernel must be one of name, entry, "),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": 0, "work_group_size": [1, 0, 1]}]}),
     "image: 'work_group_size' of a kernel must be three numbers from 1, not [1, 0, 1]"),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": "0"}]}),
     "'entry' of a kernel must be a number from 0"),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": 0}] * 2}), "two kernels have the same name"),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": 7}]}), "x.json: kernel 'k' starts at word 7"),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": 0, "parameters": [
        {"name": "a", "kind": "hole", "type": "int", "size": 4}]}]}),
     "'kind' of a parameter must be one of pointer, "),
    ("x.json", json.dumps(GOOD | {"kernels": [{"name": "k", "entry": 0, "parameters": [
        {"name": "a", "kind": "implicit", "type": "uint", "size": 4}]}]}),
     "'name' of an implicit parameter must be one of constants, work_dim, "),
    ("x.bin", "", "x.bin: an image is a .mif or a .json file, not '.bin'"),
])
def test_bad_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ImageError, match=re.escape(message)):
        Image.load(path)


def test_files_that_are_not_there(image, tmp_path):
    with pytest.raises(ImageError, match=r"cannot read image .*x.mif: No such file"):
        Image.load(tmp_path / "x.mif")
    (tmp_path / "d.mif").mkdir()
    with pytest.raises(ImageError, match=r"^cannot read image .*: Is a directory"):
        Image.load(tmp_path / "d.mif")
    with pytest.raises(ImageError, match=r"cannot write image .*: No such file"):
        image.save(tmp_path / "nowhere" / "x.json")


def test_a_failed_save_leaves_the_old_file(image, tmp_path, monkeypatch):
    path = tmp_path / "x.mif"
    image.save(path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(ImageError, match="No space left"):
        Image((RET,)).save(path)
    assert Image.load(path).words == WORDS
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.mif"]


def test_an_image_shows_itself_in_a_line(image):
    assert repr(image) == f"<Image of {len(WORDS)} words: {', '.join(image.kernels)}>"
    assert repr(Image(WORDS)) == f"<Image of {len(WORDS)} words: no kernels>"
