"""The board's own registers: what it is, the line's rate, how long a kernel took."""

from typing import Any

from amaranth.hdl import Cat, Module, Shape, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import KERNEL_SLOTS, Config
from fgpu.errors import ConfigError

from .protocol import BOARD_MAGIC, CONFIG_WORDS, RATE_BITS, BoardRegister, rates
from .words import WordBusSignature

__all__ = ["BoardRegisters", "KernelTimer", "config_words"]


def config_words(config: Config) -> list[int]:
    """What the board says of its core. Raises :class:`~fgpu.errors.ConfigError` if there is no room for it."""
    text = config.replace(statistics=False).key.encode("ascii")
    if len(text) > 4 * CONFIG_WORDS:
        raise ConfigError(f"the board's registers have no room for the {len(text)} characters of the "
                          f"configuration {text.decode()}")
    text = text.ljust(4 * CONFIG_WORDS, b"\0")
    return [int.from_bytes(text[at:at + 4], "little") for at in range(0, len(text), 4)]


class KernelTimer(wiring.Component):
    """``cycles`` from ``begin``, when the kernels of ``slots`` were started, until all their ``status`` bits are
    up."""

    def __init__(self) -> None:
        super().__init__({
            "begin": In(1), "slots": In(KERNEL_SLOTS), "status": In(KERNEL_SLOTS),
            "cycles": Out(32), "running": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        awaited = Signal(KERNEL_SLOTS)
        with m.If(self.running):
            with m.If((self.status & awaited) == awaited):
                m.d.sync += self.running.eq(0)
            with m.Else():
                m.d.sync += self.cycles.eq(self.cycles + 1)
        with m.If(self.begin):
            m.d.sync += [self.running.eq(1), self.cycles.eq(0), awaited.eq(self.slots)]
        return m


class BoardRegisters(wiring.Component):
    """Answers accesses to :class:`~fgpu.board.protocol.BoardRegister`; other ones with an error, and those that would
    set a rate at which no host could be heard. ``first_rate`` is the line's."""

    def __init__(self, config: Config, *, clock: int, memory_bytes: int, first_rate: int) -> None:
        self._rates = rates(first_rate)
        self._constants = {BoardRegister.MAGIC: BOARD_MAGIC, BoardRegister.CLOCK: clock,
                           BoardRegister.MEMORY_BYTES: memory_bytes}
        self._config = config_words(config)
        super().__init__({
            "words": In(WordBusSignature()), "rate": In(RATE_BITS), "set_rate": Out(1), "new_rate": Out(RATE_BITS),
            "memory_ready": In(1), "cycles": In(32),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        requests, answers = self.words.requests, self.words.answers
        answer: Any = Signal(data.StructLayout({"data": 32, "error": 1}))
        index = requests.payload.address[:Shape.cast(BoardRegister).width]
        m.d.comb += [
            requests.ready.eq(~answers.valid), answers.payload.eq(answer),
            self.new_rate.eq(requests.payload.data),
        ]
        with m.If(answers.ready):
            m.d.sync += answers.valid.eq(0)
        with m.If(requests.valid & requests.ready):
            m.d.sync += [answers.valid.eq(1), answer.eq(0)]
            with m.If(requests.payload.write):
                rate = requests.payload.data
                with m.If((index == BoardRegister.RATE) & (rate >= self._rates.start) & (rate < self._rates.stop)):
                    m.d.comb += self.set_rate.eq(1)
                with m.Else():
                    m.d.sync += answer.error.eq(1)
            with m.Else():
                with m.Switch(index):
                    for register, value in self._constants.items():
                        with m.Case(register):
                            m.d.sync += answer.data.eq(value)
                    with m.Case(BoardRegister.RATE):
                        m.d.sync += answer.data.eq(self.rate)
                    with m.Case(BoardRegister.STATE):
                        m.d.sync += answer.data.eq(Cat(self.memory_ready))
                    with m.Case(BoardRegister.CYCLES):
                        m.d.sync += answer.data.eq(self.cycles)
                    for number, value in enumerate(self._config):
                        with m.Case(BoardRegister.CONFIG + number):
                            m.d.sync += answer.data.eq(value)
                    with m.Default():
                        m.d.sync += answer.error.eq(1)
        return m
