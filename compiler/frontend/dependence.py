"""Whether what comes of a program is decided by its text and options alone, so that it may be kept."""

import re
from typing import Final

__all__ = ["depends_on_more"]

_MORE: Final = re.compile(
    r"(#|%:|\?\?=)(\s|/\*.*?\*/)*(include|import|embed)|__has_(include|embed)|__DATE__|__TIME", re.DOTALL)
_CONTINUED: Final = re.compile(r"(\\|\?\?/)[ \t]*\r?\n")
"""Ends of lines that clang takes away before it looks at anything."""


def depends_on_more(*texts: str) -> bool:
    """Whether sources or options may depend on other files, or on the time."""
    return any(_MORE.search(_CONTINUED.sub("", text)) for text in texts)
