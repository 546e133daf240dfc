"""Programs that commands take: OpenCL C, assembly or images."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from fgpu.config import Config

from .files import read_text

__all__ = ["OPENCL", "compile_file", "load_image", "told_warnings"]

OPENCL = (".cl", ".ocl", ".c")
"""How names of files with OpenCL C end."""


@contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings are for who typed the command, who has no line of Python to look at."""
    def tell(message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None,
             line: str | None = None) -> None:
        click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


def compile_file(path: Path, config: Config, options: tuple[str, ...] = (), kernels: tuple[str, ...] = (),
                 observers: Sequence[Any] = ()) -> Any:
    """The image of OpenCL C, of which only ``kernels`` are compiled if there are any; ``observers`` see the
    passes."""
    from fgpu.compiler import compile_opencl

    with told_warnings():
        return compile_opencl(read_text(path), filename=str(path), options=(*options, f"-I{path.parent}"),
                              config=config, kernels=kernels or None, observers=observers)


def load_image(path: Path, config: Config, options: tuple[str, ...] = (), kernels: tuple[str, ...] = ()) -> Any:
    """An image from OpenCL C (.cl; see :func:`compile_file`), from assembly (.s, .asm) or from a program image (.mif,
    .json)."""
    from fgpu.compiler import Image, assemble

    suffix = path.suffix.lower()
    if suffix in OPENCL:
        return compile_file(path, config, options, kernels)
    if options:
        raise click.UsageError(f"{options[0]} is for OpenCL C, which {path} is not")
    if suffix in (".s", ".asm"):
        return assemble(read_text(path), filename=str(path))
    if suffix in (".mif", ".json"):
        return Image.load(path)
    raise click.ClickException(f"{path}: a program is a .cl, .s, .mif or .json file, "
                               f"not {repr(path.suffix) if path.suffix else 'one without a suffix'}")
