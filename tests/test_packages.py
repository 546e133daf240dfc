"""The installed packages are all that the folders hold, under the names that people import."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


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
