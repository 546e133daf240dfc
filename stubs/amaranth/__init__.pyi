# Only what mypy cannot do without: everything else of Amaranth is Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
