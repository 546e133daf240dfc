"""Compiled programs on disk: what was compiled once need not be again.

An entry's name is a digest of everything that decides its content: sources, their names, options, configuration and
the compiler itself.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from fgpu.config import Config
from fgpu.store import kept_bytes

from .frontend.bitcode import compiler_version
from .frontend.dependence import depends_on_more
from .image import Image

__all__ = ["kept_image"]


def kept_image(sources: Mapping[str, str], options: Sequence[str], config: Config, kernels: Sequence[str] | None,
               compiled: Callable[[], Image]) -> Image:
    """The image that ``compiled`` returns, or returned before. Programs that depend on other files or the time are
    compiled each time."""
    if depends_on_more(*sources.values(), *options):
        return compiled()
    key = json.dumps([compiler_version(), list(sources.items()), list(options), config.key,
                      None if kernels is None else sorted(kernels)])
    name = hashlib.sha256(key.encode()).hexdigest()
    return Image.from_json(kept_bytes("programs", name, lambda: compiled().to_json().encode()).decode())
