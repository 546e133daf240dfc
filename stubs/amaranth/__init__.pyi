# Only what mypy cannot do without: everything else of Amaranth is Any.
#
# Not the package amaranth-stubs (0.5.0.8): with it mypy finds 1,290 errors in fgpu, nearly all of them of two kinds
# that are none. Ports that a signature declares, as those of all components here, are no attributes to it; and a
# Signal of a layout is a plain Signal, as mypy does not evaluate the metaclass that says otherwise (pyright does).
# Besides, amaranth.back.rtlil is missing, and In(..., init=...).
from typing import Any

def __getattr__(name: str) -> Any: ...
