"""A bank of the data RAM: 32-bit words whose bytes remember whether they are dirty."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.gateware.block_ram import BlockRam
from fgpu.gateware.choose import either

from .payloads import MarkedWord, index_bits, row_bits

__all__ = ["BankUpdate", "DataBank"]


class BankUpdate(data.Struct):
    """What step D1 does to the word that step D0 read.

    Each byte of ``strobe`` is written and becomes dirty. With ``replace`` the other bytes are written as well
    and become clean; ``keep_dirty`` spares those that are dirty. With ``clean`` all bytes become clean.
    The new word is the OR of ``words``: one of a write, one of a fill, of which the other is 0.
    """

    words: data.ArrayLayout(32, 2)
    strobe: 4
    replace: 1
    keep_dirty: 1
    clean: 1


class DataBank(wiring.Component):
    """One word of each row, 9 bits a byte: the ninth, a block RAM's parity bit, is *byte dirty*.

    Step D0, in the cycle of ``enable``, reads the word at ``address``; the next cycle, D1, shows it as
    ``old`` and, after the update, as ``new``, and writes the update to the same address if ``write``. D1
    lasts until the next ``enable``; ``write`` marks its last cycle. D0 must not read what D1 is writing.
    With atomics, ``late`` writes a whole word instead, in a cycle without ``write``.
    (Dissertation, section 3.5.1.)
    """

    def __init__(self, config: Config) -> None:
        self._depth = config.slice_lines * config.line_rows
        self._atomics = bool(config.atomics)
        address = index_bits(config) + row_bits(config)
        super().__init__({
            **({"late": In(1), "late_word": In(32)} if config.atomics else {}),
            "enable": In(1),
            "address": In(address),
            "update": In(BankUpdate),
            "update_address": In(address),
            "write": In(1),
            "old": Out(MarkedWord),
            "new": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = ram = BlockRam(unsigned(36), self._depth)
        write, read = ram.write_port(granularity=9), ram.read_port()
        take = Signal(4)
        word = either(self.update.words)
        m.d.comb += [
            read.addr.eq(self.address),
            read.en.eq(self.enable),
            self.old.word.eq(Cat(read.data[9 * byte:9 * byte + 8] for byte in range(4))),
            self.old.dirty.eq(Cat(read.data[9 * byte + 8] for byte in range(4))),
            take.eq(self.update.strobe
                    | (self.update.replace.replicate(4) & ~(self.update.keep_dirty.replicate(4) & self.old.dirty))),
            self.new.eq(Cat(Mux(take[byte], word.word_select(byte, 8), self.old.word.word_select(byte, 8))
                            for byte in range(4))),
            write.addr.eq(self.update_address),
            write.data.eq(Cat(Cat(self.new.word_select(byte, 8), self.update.strobe[byte]) for byte in range(4))),
            write.en.eq((take | self.update.clean.replicate(4)) & self.write.replicate(4)),
        ]
        if self._atomics:
            with m.If(self.late):
                m.d.comb += [
                    write.data.eq(Cat(Cat(self.late_word.word_select(byte, 8), 1) for byte in range(4))),
                    write.en.eq(~0),
                ]
        return m
