"""``fgpu opencl``: the OpenCL platform for programs that exist."""

import shlex
from pathlib import Path

import click

from .groups import ErrorGroup

__all__ = ["opencl"]

folder_option = click.option("--folder", type=click.Path(file_okay=False, path_type=Path),
                             help="A folder of your own instead, for OCL_ICD_VENDORS.")


@click.group(cls=ErrorGroup, short_help="The OpenCL platform: pyopencl and C programs find the FGPU.")
def opencl() -> None:
    """Let OpenCL programs find the FGPU as a platform.

    pyopencl finds it when fgpu is installed as a wheel into its environment; otherwise, and for C programs, install
    it here. Programs use the Python and the packages of this environment.
    """


@opencl.command()
@folder_option
def install(folder: Path | None) -> None:
    """Build the library and put it where programs look: pyopencl's own folder, and the system's (root only)."""
    from fgpu.opencl.install import Place, find_libpython, places
    from fgpu.opencl.install import install as put

    for place in [Place(folder, "OCL_ICD_VENDORS")] if folder else places():
        if folder is None and not place.is_writable:
            click.echo(f"{place.folder}: not yours to write; as root, {place.readers} would find the FGPU "
                       "(without: --folder)")
            continue
        click.echo(f"{put(place.folder)}: found by {place.readers}")
    if folder is not None:
        click.echo(f"export OCL_ICD_VENDORS={shlex.quote(str(folder.absolute()))}")
    if find_libpython() is None:
        click.echo("Python programs only: this Python has no shared library (libpython), which C programs need")


@opencl.command()
@folder_option
def uninstall(folder: Path | None) -> None:
    """Remove what `fgpu opencl install` put where programs look."""
    from fgpu.opencl.install import Place, places
    from fgpu.opencl.install import uninstall as remove

    removed = [path for place in ([Place(folder, "")] if folder else places()) for path in remove(place.folder)]
    click.echo("\n".join(f"removed {path}" for path in removed) or "there was nothing to remove")


@opencl.command()
def status() -> None:
    """Say where the library is, and who finds it there."""
    from fgpu.opencl.install import find_libpython, places

    for place in places():
        click.echo(f"{place.folder}: {place.state}; read by {place.readers}")
    click.echo(f"C programs load {find_libpython() or 'nothing: this Python has no shared library (libpython)'}")
