"""The eight banks of local memory, and the crossbar for their addresses."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, Config
from fgpu.gateware.block_ram import BlockRam
from fgpu.gateware.choose import choose

from .control_word import Width
from .local_access import LOCAL_BANKS, LocalAddress, row_bits
from .register_file import WordHalves, Words, joined

__all__ = ["LocalBanks"]


class LocalBanks(wiring.Component):
    """Reads or writes a word of each bank a cycle.

    Steps go on with ``advance``, and else stand still. In a step's first cycle each bank takes the address of the
    lane that ``lanes`` names, from row ``base`` on; in its second the bank is read (``row`` is that of bank 0), in
    its third the word is at ``read``. There the step has ``width`` and ``write``, the banks that write, if it leaves
    with ``go``: in the next cycle they take the words that come in ``halves``, of which a byte or half is the lowest
    one. ``first`` is the word for bank 0.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "advance": In(1),
            "addresses": In(data.ArrayLayout(LocalAddress(config), PE_COUNT)),
            "base": In(row_bits(config)),
            "lanes": In(data.ArrayLayout(range(PE_COUNT), LOCAL_BANKS)),
            "row": Out(row_bits(config)),
            "read": Out(Words),
            "go": In(1),
            "width": In(Width),
            "write": In(LOCAL_BANKS),
            "halves": In(WordHalves),
            "first": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = []
        byte_wide, narrow = Signal(), Signal()
        m.d.sync += [byte_wide.eq(self.width == Width.BYTE), narrow.eq(self.width != Width.WORD)]
        words: Any = joined(self.halves)
        for number in range(LOCAL_BANKS):
            m.submodules[f"bank{number}"] = bank = BlockRam(unsigned(32), 1 << row_bits(self._config))
            lane = self.lanes[number]
            row, row3, row4 = (Signal(row_bits(self._config), name=f"row{number}_{stage}") for stage in (2, 3, 4))
            byte, byte3 = (Signal(2, name=f"byte{number}_{stage}") for stage in (2, 3))
            strobe, chosen = Signal(4, name=f"strobe{number}"), Signal(4, name=f"chosen{number}")
            with m.If(self.advance):
                m.d.sync += [
                    # The sum takes no LUTs more than the choice, when the base is the first operand.
                    row.eq(self.base + choose([address.row for address in self.addresses], lane)),
                    row3.eq(row), row4.eq(row3),
                    byte.eq(choose([address.byte for address in self.addresses], lane)), byte3.eq(byte),
                ]
            with m.Switch(self.width):
                with m.Case(Width.BYTE):
                    m.d.comb += chosen.eq(1 << byte3)
                with m.Case(Width.HALF):
                    m.d.comb += chosen.eq(Mux(byte3[1], 0b1100, 0b0011))
                with m.Default():
                    m.d.comb += chosen.eq(-1)
            m.d.sync += strobe.eq(chosen & (self.go & self.write[number]).replicate(4))
            # A byte or half comes in all places of its word.
            low = Cat(words[number][:8], Mux(byte_wide, words[number][:8], words[number][8:16]))
            read_port, write_port = bank.read_port(), bank.write_port(granularity=8)
            m.d.comb += [
                read_port.addr.eq(row), read_port.en.eq(self.advance), self.read[number].eq(read_port.data),
                write_port.addr.eq(row4), write_port.en.eq(strobe),
                write_port.data.eq(Cat(low, Mux(narrow, low, words[number][16:]))),
            ]
            rows.append(row)
        m.d.comb += [self.row.eq(rows[0]), self.first.eq(words[0])]
        return m
