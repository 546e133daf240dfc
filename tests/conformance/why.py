"""Why subtests fail that do: said here where their programs' own words do not tell."""

from collections.abc import Mapping
from typing import Final

__all__ = ["WHY"]

WHY: Final[Mapping[str, str]] = {
    "basic/vector_creation":
        "types of 16 elements: a kernel of 273 constructors has 19,457 to 91,568 instructions, and the code RAM "
        "holds 16,384, as many as a descriptor can address; all other sizes are right",
}
"""By ``group/subtest``, or by ``group``."""
