"""AXI4 and AXI4-Lite."""

from .signatures import ID_BITS, AXI4LiteSignature, AXI4Signature, Burst, MemoryType, Protection, Response

__all__ = [
    "ID_BITS", "AXI4LiteSignature", "AXI4Signature", "Burst", "MemoryType", "Protection", "Response",
]
