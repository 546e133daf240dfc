"""How what a compute unit or a wavefront does is called and coloured, in everything that is shown."""

from typing import Final

__all__ = ["COLOURS", "LABELS"]

LABELS: Final = {
    "issue": "issue", "ready": "its turn", "execute": "result", "fetch": "fetch", "branch": "branch",
    "memory_read": "data", "write_pressure": "queue", "barrier": "barrier", "stopped": "stopped",
}
"""By the names of :class:`~fgpu.probe.Bucket` and :class:`~fgpu.probe.WavefrontState` in small letters."""

COLOURS: Final = {
    "issue": "#4e79a7", "ready": "#4e79a7", "execute": "#a0cbe8", "fetch": "#b6992d", "branch": "#f28e2b",
    "memory_read": "#e15759", "write_pressure": "#ff9d9a", "barrier": "#8cd17d", "stopped": "#000000",
}
"""By the same names. A wavefront that waits for its turn is there while another one's instruction is issued."""
