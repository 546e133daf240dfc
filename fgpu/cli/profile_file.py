"""The file of a profile: a page, a picture or JSON, by its name's end."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fgpu.extras import demand

from .files import write_file

if TYPE_CHECKING:
    from fgpu.sim.profile import Profile

__all__ = ["check_profile_file", "source_lines", "write_profile"]

_PICTURES = (".svg", ".png")


def check_profile_file(path: Path) -> None:
    """Raises :class:`click.UsageError` for another end, :class:`~fgpu.errors.MissingExtraError` for a picture that
    cannot be drawn here."""
    if path.suffix not in (".html", ".json", *_PICTURES):
        raise click.UsageError(f"--profile-to {path} must end in .html, .json, .svg or .png")
    if path.suffix in _PICTURES:
        demand("a picture", "plot")


def write_profile(profile: "Profile", path: Path) -> None:
    """Write what :func:`check_profile_file` let pass."""
    if path.suffix == ".json":
        write_file(path, json.dumps(profile.to_json()))
    elif path.suffix == ".html":
        from .profile_html import profile_page

        write_file(path, profile_page(profile, source_lines(profile)))
    else:
        from .profile_picture import draw_profile

        draw_profile(profile, source_lines(profile), path)


def source_lines(profile: "Profile") -> dict[str, list[str]]:
    """The lines of the files that a profile speaks of, where they can be read."""
    sources = {}
    for at in profile.lines:
        if at is not None and at.file not in sources and Path(at.file).is_file():
            sources[at.file] = Path(at.file).read_text(errors="replace").splitlines()
    return sources
