"""``fgpu opencl``: what it puts where, and takes away again."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from fgpu.cli import main
from fgpu.opencl import install


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["opencl", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_what_it_says_to_export_is_for_a_shell(tmp_path):
    folder = tmp_path / "my vendors"
    line = run("install", "--folder", str(folder)).splitlines()[1]
    shown = subprocess.run(["sh", "-c", f'{line}; printf %s "$OCL_ICD_VENDORS"'], capture_output=True, text=True,
                           check=True)
    assert shown.stdout == str(folder)


def test_a_folder_gets_the_library_and_loses_it(tmp_path):
    folder = tmp_path / "vendors"
    assert f"OCL_ICD_VENDORS={folder}" in run("install", "--folder", str(folder))
    [icd] = folder.glob("*.icd")
    library = Path(icd.read_text().strip())
    assert library.is_absolute()
    assert library.exists()
    other = folder / "pocl.icd"
    other.write_text("libpocl.so\n")
    run("uninstall", "--folder", str(folder))
    assert [*folder.iterdir()] == [other]


def test_status_says_who_finds_it(tmp_path, monkeypatch):
    places = [install.Place(tmp_path / name, f"reader of {name}") for name in ("one", "two")]
    monkeypatch.setattr(install, "places", lambda: places)
    install.install(places[1].folder)
    one, two, *_ = run("status").splitlines()
    assert one == f"{tmp_path / 'one'}: not installed; read by reader of one"
    assert two == f"{tmp_path / 'two'}: installed, for {sys.executable}; read by reader of two"


def test_what_a_wheel_brought_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "places", lambda: [install.Place(tmp_path, "pyopencl")])
    for name in ("fgpu.icd", "libfgpu-opencl.so"):
        (tmp_path / name).write_text("libfgpu-opencl.so\n")
    assert "installed, by the wheel" in run("status")
    run("install")
    assert (tmp_path / "libfgpu-opencl.so.conf").exists()       # what C programs need beside
    run("uninstall")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fgpu.icd", "libfgpu-opencl.so"]
    assert (tmp_path / "libfgpu-opencl.so").read_text() == "libfgpu-opencl.so\n"


def test_a_folder_of_others_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "places", lambda: [install.Place(tmp_path, "all programs")])
    monkeypatch.setattr(install.Place, "is_writable", False)
    assert f"{tmp_path}: not yours to write; as root, all programs would find the FGPU" in run("install")
    assert not [*tmp_path.iterdir()]
