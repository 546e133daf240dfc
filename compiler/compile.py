"""The compiler's front door: OpenCL C source to a program image."""

import os
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fgpu.config import ATOMICS, Config, check_config
from fgpu.errors import CompileError, CompileWarning, DivergentBarrierWarning
from fgpu.extras import demand

from .image import Image
from .image_cache import kept_image

if TYPE_CHECKING:
    from .passes import Observer

__all__ = ["compile_opencl"]


def compile_opencl(source: str | Mapping[str, str], *, filename: str = "<opencl>", options: str | Sequence[str] = (),
                   config: Config | None = None, kernels: str | Sequence[str] | None = None,
                   observers: "Sequence[Observer]" = ()) -> Image:
    """Compile OpenCL C to an image with all its kernels, or those that ``kernels`` names.

    ``source`` is one program, called ``filename`` in messages, or several by their file names, which know nothing of
    each other but share the image. ``options`` are clang's, as far as they define macros, find headers, set warnings
    or are OpenCL's own (``-cl-*``): a list, or one text as for a shell. ``config`` is the hardware to compile for
    (the default one with all atomics if None): its code RAM, scratchpad, stores and atomics bound the program.
    Kernels that are not named may need more, and may use what is not supported.

    Images are kept in the user's cache folder and found there again, unless the source includes other files or there
    are ``observers``, who see the compiler's passes (:mod:`fgpu.compiler.observers`). A
    :class:`~fgpu.errors.CompileWarning` tells what clang warns of, a :class:`~fgpu.errors.DivergentBarrierWarning` of
    barriers to which only some of a work-group come.
    Raises :class:`~fgpu.errors.CompileError` with the file and the line of what is wrong or unsupported,
    :class:`~fgpu.errors.MissingExtraError` without clang and LLVM (``fgpu[opencl]``).
    """
    demand("compiling OpenCL C", "opencl")
    if not isinstance(source, str | Mapping):
        remedy = "; of a file, give its read_text()" if isinstance(source, os.PathLike) else ""
        raise CompileError(f"the source must be a text, or texts by their file names, not {source!r:.80}{remedy}")
    if isinstance(options, str):
        try:
            options = shlex.split(options)
        except ValueError as error:
            raise CompileError(f"the options {options!r} are no words as for a shell: {error}") from None
    options = _texts("options", options, "['-DN=4']")
    if kernels is not None:
        kernels = _texts("kernels", [kernels] if isinstance(kernels, str) else kernels, "['scale']")
        kernels = list(dict.fromkeys(kernels))
        if not kernels:
            raise CompileError("kernels is empty; name at least one, or leave it out to compile all")
    config = Config(atomics=ATOMICS) if config is None else config
    check_config(config)
    sources = {filename: source} if isinstance(source, str) else dict(source)
    for name, text in sources.items():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise CompileError(f"{name}: {text[error.start]!a} is no character; read the file with its encoding, or "
                               "with errors='replace'") from None

    def compiled() -> Image:
        from .kernels import compile_sources  # late: a program that is known needs neither clang nor llvmlite

        return compile_sources(sources, options, config, kernels, observers)

    image = compiled() if observers else kept_image(sources, options, config, kernels, compiled)
    for message in image.clang_warnings:
        warnings.warn(message, CompileWarning, stacklevel=2)
    for message in image.warnings:
        warnings.warn(message, DivergentBarrierWarning, stacklevel=2)
    return image


def _texts(name: str, value: object, example: str) -> list[str]:
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise CompileError(f"{name} must be a text or a list of texts, as {example}, not {value!r}")
    texts = list(value)
    for text in texts:
        if not isinstance(text, str):
            raise CompileError(f"{name} must be a text or a list of texts, as {example}, not one with {text!r}")
    return texts
