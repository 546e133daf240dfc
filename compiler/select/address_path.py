"""What address arithmetic adds up to."""

from dataclasses import dataclass, replace

from ..ir.values import Value

__all__ = ["Path"]


@dataclass(frozen=True)
class Path:
    """What getelementptrs add to ``base``: bytes, and registers times bytes. The loop at hand doesn't change those of
    the ``steady`` terms."""

    base: Value
    offset: int = 0
    terms: tuple[tuple[int, int], ...] = ()
    steady: tuple[tuple[int, int], ...] = ()

    def behind(self, inner: "Path") -> "Path":
        """The path that goes ``inner`` first, which ends at our base."""
        return Path(inner.base, inner.offset + self.offset, inner.terms + self.terms, inner.steady + self.steady)

    def further(self, by: int) -> "Path":
        """The path to ``by`` bytes behind where this one leads."""
        return replace(self, offset=self.offset + by)

    def is_by(self, size: int) -> bool:
        """Whether it adds multiples of ``size`` bytes only."""
        return self.offset % size == 0 and all(stride % size == 0 for _, stride in self.terms + self.steady)
