# Only what mypy cannot do without: everything else of Amaranth is Any.
#
# Not the package amaranth-stubs (0.5.0.8): with it mypy 2.4.1 finds 1,894 errors in fgpu, 1,839 of them "has no
# attribute", of two kinds that are no errors. Ports that a signature declares, as those of all components here, are
# no attributes to it; and a Signal of a layout is a plain Signal, as mypy does not evaluate the metaclass that says
# otherwise (pyright does). Each would need an annotation beside the signature that says the same, or an ignore.
# Besides, amaranth.back.rtlil is missing, and In(..., init=...).
from typing import Any

def __getattr__(name: str) -> Any: ...
