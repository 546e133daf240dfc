"""Compiled programs on disk: what was compiled once need not be again.

An entry's name is a digest of everything that decides its content: sources, their names, options, configuration and
the compiler itself. Files appear whole or not at all, so any number of processes may use the cache at once.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from fgpu.config import Config
from fgpu.errors import ImageError
from fgpu.files import cache_directory

from .bitcode import compiler_version
from .image import Image

__all__ = ["Entry"]

_DEPENDS_ON_MORE = re.compile(r"(#|%:|\?\?=)\s*(include|import|embed)|__DATE__|__TIME")


class Entry:
    """Where the image of a program is, if it is there. Programs that depend on other files or the time have none."""

    def __init__(self, sources: Mapping[str, str], options: Sequence[str], config: Config,
                 kernels: Sequence[str] | None = None) -> None:
        self.path = None
        if not any(_DEPENDS_ON_MORE.search(source.replace("\\\n", "")) for source in sources.values()):
            key = json.dumps([compiler_version(), list(sources.items()), list(options), config.key,
                              None if kernels is None else sorted(kernels)])
            self.path = cache_directory() / "programs" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def find(self) -> Image | None:
        """The image, if it is there and whole."""
        try:
            return Image.load(self.path) if self.path is not None and self.path.exists() else None
        except ImageError:
            return None

    def keep(self, image: Image) -> None:
        """Remember the image, if the disk lets us."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            image.save(self.path)
        except (OSError, ImageError):
            return
