"""AXI4 and AXI4-Lite bus signatures, seen from the master (the initiator)."""

from typing import Any

from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

__all__ = [
    "ID_BITS", "AXI4LiteSignature", "AXI4Signature", "Burst", "MemoryType", "Protection", "Response",
]

ID_BITS = 6


class Burst(enum.Enum, shape=2):
    """How the addresses of a burst follow each other (AXI4, table A3-3)."""

    FIXED = 0
    INCR = 1
    WRAP = 2


class MemoryType(enum.Enum, shape=4):
    """AxCACHE: what interconnects and memories may do with an access."""

    DEVICE_NON_BUFFERABLE = 0b0000
    NORMAL_NON_CACHEABLE_BUFFERABLE = 0b0011
    """May be split, merged and answered early, but all who look at the address see it."""


class Protection(enum.Enum, shape=3):
    """AxPROT: who asks, and for what."""

    UNPRIVILEGED_SECURE_DATA = 0b000


class Response(enum.Enum, shape=2):
    """How a transfer ended (AXI4, table A3-4); the upper bit says that it failed."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


class AXI4Signature(wiring.Signature):
    """AXI4 memory port: 32-bit addresses, INCR bursts.

    AxLOCK, AxQOS and AxREGION are left out: AXI has defaults for them, 0, which are what we mean.

    Parameters
    ----------
    data_width : int
        Bits of a data beat, 32 or 64.
    id_bits : int
        Bits of an id; more behind an interconnect.
    """

    def __init__(self, *, data_width: int, id_bits: int = ID_BITS) -> None:
        if data_width not in (32, 64):
            raise ValueError(f"AXI4 data width must be 32 or 64, not {data_width!r}")
        self._data_width = data_width
        self._id_bits = id_bits
        address: dict[str, Any] = {}
        for channel in ("aw", "ar"):
            address |= {
                f"{channel}id": Out(id_bits), f"{channel}addr": Out(32), f"{channel}len": Out(8),
                f"{channel}size": Out(3), f"{channel}burst": Out(Burst),
                f"{channel}cache": Out(MemoryType), f"{channel}prot": Out(Protection),
                f"{channel}valid": Out(1), f"{channel}ready": In(1),
            }
        super().__init__(address | {
            "wdata": Out(data_width), "wstrb": Out(data_width // 8), "wlast": Out(1),
            "wvalid": Out(1), "wready": In(1),
            "bid": In(id_bits), "bresp": In(Response), "bvalid": In(1), "bready": Out(1),
            "rid": In(id_bits), "rdata": In(data_width), "rresp": In(Response), "rlast": In(1),
            "rvalid": In(1), "rready": Out(1),
        })

    @property
    def data_width(self) -> int:
        """Bits of a beat."""
        return self._data_width

    @property
    def id_bits(self) -> int:
        """Bits of an id."""
        return self._id_bits

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, AXI4Signature) and self.data_width == other.data_width
                and self.id_bits == other.id_bits)

    def __repr__(self) -> str:
        return f"AXI4Signature(data_width={self.data_width}, id_bits={self.id_bits})"


class AXI4LiteSignature(wiring.Signature):
    """AXI4-Lite control port with 32-bit data.

    Parameters
    ----------
    address_width : int
        Bits of an address.
    """

    def __init__(self, *, address_width: int) -> None:
        self._address_width = address_width
        super().__init__({
            "awaddr": Out(address_width), "awprot": Out(3), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(32), "wstrb": Out(4), "wvalid": Out(1), "wready": In(1),
            "bresp": In(Response), "bvalid": In(1), "bready": Out(1),
            "araddr": Out(address_width), "arprot": Out(3), "arvalid": Out(1), "arready": In(1),
            "rdata": In(32), "rresp": In(Response), "rvalid": In(1), "rready": Out(1),
        })

    @property
    def address_width(self) -> int:
        """Bits of a byte address."""
        return self._address_width

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AXI4LiteSignature) and self.address_width == other.address_width

    def __repr__(self) -> str:
        return f"AXI4LiteSignature(address_width={self.address_width})"
