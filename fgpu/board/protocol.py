"""What host and bridge say to each other (``docs/boards.md``): both import it.

All numbers are big-endian but the checksum, CRC-32 as of Ethernet and zlib, whose lowest byte goes first: so the
register of whoever receives has a fixed value behind it.
"""

from typing import Final

from amaranth.lib import enum

from fgpu.engines import MEMORY_BASE

__all__ = [
    "BOARD_BASE", "BOARD_MAGIC", "BOARD_WORDS", "BREAK_SECONDS", "BURST_WORDS", "CONFIG_WORDS", "CONTROL_BASE",
    "DEFAULT_BAUD", "MEMORY_BASE", "RATE_BITS", "RETRIES_TO_DEFAULT", "TIMEOUT_SECONDS",
    "BoardRegister", "Command", "Status", "rate_of", "rates",
]

CONTROL_BASE: Final = 0x0000_0000
"""Of the core's control interface, which :mod:`fgpu.address_map` describes."""
BOARD_BASE: Final = 0x0002_0000
"""Of the board's own registers; ``MEMORY_BASE`` is that of global memory, for host and kernels."""

DEFAULT_BAUD: Final = 115_200
TIMEOUT_SECONDS: Final = 0.1
"""Silence after which the bridge forgets what it has got of a command."""
BREAK_SECONDS: Final = 0.01
"""Of a line that is held low."""
RETRIES_TO_DEFAULT: Final = 4
"""Commands that cannot be understood, one after the other, after which the line has its first rate again."""
RATE_BITS: Final = 24
SLOWEST: Final = 16
"""The first rate is at most so many times one that may be set: hosts at the first one are heard then, and a byte of
zeros is no break."""
FASTEST: Final = 4
"""Cycles of a bit at the highest rate that may be set."""
BURST_WORDS: Final = 256
BOARD_WORDS: Final = 128
CONFIG_WORDS: Final = 64
BOARD_MAGIC: Final = 0x46475055     # FGPU


class Command(enum.Enum, shape=8):
    """First byte of a request. The first four are LiteX's UARTBone: length, word address, data; no checksum.

    The others differ from these, and from each other, in four bits or more. They begin *frames*: sequence number
    (its upper bit set), length minus 1, word address, data, checksum. Answer: sequence number, data, :class:`Status`,
    checksum.
    """

    WRITE = 0x01
    READ = 0x02
    WRITE_FIXED = 0x03
    READ_FIXED = 0x04
    FRAME_WRITE = 0xD8
    FRAME_READ = 0xE7
    FRAME_LEAVE = 0xBD
    """Ends a session: commands without checksum are understood again, at the first rate."""


class Status(enum.Enum, shape=8):
    """How the accesses of a frame ended."""

    OKAY = 0x4F
    ERROR = 0x45
    """One at least was answered with an error."""


class BoardRegister(enum.IntEnum, shape=7):
    """Word index of the board's registers."""

    MAGIC = 0
    CLOCK = 1
    """Hz."""
    MEMORY_BYTES = 2
    RATE = 3
    """Writable: of the line, as :func:`rate_of`; when the answer to the write has been sent, it holds. Those that are
    not among :func:`rates` are refused."""
    STATE = 4
    """Bit 0: memory has been initialized."""
    CYCLES = 5
    """From the last write of the core's start register until its kernels had ended, or until now."""
    CONFIG = 64
    """The first of ``CONFIG_WORDS`` words: the text ``Config.key``, its first character in the lowest byte, then
    zeros."""


def rate_of(baud: float, clock: float) -> int:
    """A baud rate as what the UART adds to a phase of ``RATE_BITS`` bits in each cycle."""
    return round(baud / clock * (1 << RATE_BITS))


def rates(first: int) -> range:
    """The rates that a line may be set to whose first one is ``first``, all as :func:`rate_of`."""
    return range(-(-first // SLOWEST), (1 << RATE_BITS) // FASTEST + 1)
