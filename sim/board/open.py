"""A board at a serial port, as a device's engine."""

from fgpu.board.link import Link
from fgpu.config import Config
from fgpu.errors import BoardError

from .engine import BoardEngine, config_of
from .memory import BoardMemory

__all__ = ["open_board"]


def open_board(port: str | Link, config: Config | None) -> BoardEngine:
    """The board at a port, or at the other end of a link. Raises :class:`~fgpu.errors.BoardError` if it has another
    core than ``config``, and as :class:`~fgpu.board.link.Link`."""
    link = port if isinstance(port, Link) else Link(port)
    try:
        found = config_of(link.config_key())
        if config is not None and config.replace(statistics=False) != found:
            raise BoardError(f"the board's core is {found}, not {config}; leave config out to take it as it is")
        return BoardEngine(found, link, BoardMemory(link))
    except BaseException:
        link.close()
        raise
