"""What the control port promises, on the ports of the control interface alone: see :func:`control_claim`."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value

from fgpu.address_map import CONTROL_BASE, CRAM_BASE, LRAM_WORDS
from fgpu.axi.signatures import Response
from fgpu.config import Config
from fgpu.control import ControlInterface

from .prover import Claim

CONFIG = Config(cram_size=1)
STATUS, START, CLEAN, INITIALIZE, FAULT, ABORT, INTERRUPT_ENABLE, INTERRUPT_STATUS = range(
    CONTROL_BASE // 4, CONTROL_BASE // 4 + 8)
DATA_BITS = 4
_PATIENCE = 6


def control_claim(cycles: int, control: type[ControlInterface] = ControlInterface) -> Claim:
    """Each access is answered, once, in order, with the right response; a read with the word that it asks for.

    That is the word at its address at some moment between its acceptance and its answer, where a write happens
    between its acceptance and its answer. For memories one address, any one, is followed, with one number, any one:
    a read may give that number only if the word may have held it.
    For runs of up to so many ``cycles`` from reset; nothing is known of what is inside. To leave little to the
    solver, some address bits are 0 (there are eight words of each memory, the registers, misaligned and unmapped
    addresses), and so are the upper bits of words.
    """
    dut = control(CONFIG)
    claim = Claim(dut=dut)
    m: Module = claim.m
    axi = dut.axi

    def few(bits: Signal) -> Value:     # of a word address
        return Cat(bits[:3], C(0, 6), bits[3], C(0, 2), bits[4:])

    for name in ("awaddr", "araddr"):
        bits = claim.free(f"{name}_bits", 7)
        claim.drive(getattr(axi, name), Cat(bits[0], C(0, 1), few(bits[1:])))
    claim.drive(dut.lram_address, claim.free("lram_address_bits", 3))
    claim.drive(axi.wdata, claim.free("wdata_bits", DATA_BITS))
    claim.drive(dut.code_read_data, claim.free("code_bits", DATA_BITS))
    claim.assume(claim.stable(axi.awvalid, axi.awready, axi.awaddr))
    claim.assume(claim.stable(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb)))
    claim.assume(claim.stable(axi.arvalid, axi.arready, axi.araddr))

    # What the host did, and which answers it had.
    def number(valid: Value, ready: Value) -> Signal:
        return claim.count(valid & ready, 0, cycles.bit_length())

    aws, ws, bs = (number(axi.awvalid, axi.awready), number(axi.wvalid, axi.wready), number(axi.bvalid, axi.bready))
    ars, rs = number(axi.arvalid, axi.arready), number(axi.rvalid, axi.rready)
    claim.always(~axi.bvalid | ((bs < aws) & (bs < ws)))
    claim.always(~axi.rvalid | (rs < ars))
    claim.always(claim.stable(axi.bvalid, axi.bready, axi.bresp))
    claim.always(claim.stable(axi.rvalid, axi.rready, Cat(axi.rdata, axi.rresp)))

    # The word that is followed.
    word, guess = few(claim.constant("word", 6)), claim.constant("guess", DATA_BITS)
    in_memory = is_memory(word)
    mine, legal, whole, right = (Signal(cycles, name=name) for name in ("mine", "legal", "whole", "right"))
    with m.If(axi.awvalid & axi.awready):
        aligned = axi.awaddr[:2] == 0
        m.d.sync += [
            mine.bit_select(aws, 1).eq(aligned & (axi.awaddr[2:] == word) & in_memory),
            legal.bit_select(aws, 1).eq(aligned & (is_memory(axi.awaddr[2:]) | is_one_of(
                axi.awaddr[2:], START, CLEAN, INITIALIZE, FAULT, ABORT, INTERRUPT_ENABLE, INTERRUPT_STATUS))),
        ]
    with m.If(axi.wvalid & axi.wready):
        m.d.sync += [whole.bit_select(ws, 1).eq(axi.wstrb.all()), right.bit_select(ws, 1).eq(axi.wdata == guess)]
    answered, shown = Signal.like(bs), Signal()     # the last answer may wait for the host
    m.d.comb += answered.eq(bs + shown)
    m.d.sync += shown.eq(axi.bvalid & ~axi.bready)
    written, held = Signal(), Signal()
    with m.If(axi.bvalid & ~shown & (mine & whole).bit_select(bs, 1)):
        m.d.sync += [written.eq(1), held.eq(right.bit_select(bs, 1))]
    # What LRAM holds at first is not known here; what the code RAM outside does is free.
    in_code, first = (word >= CRAM_BASE // 4) & in_memory, claim.constant("first")
    possible = Mux(written, held, ~in_code | first)
    for n in range(cycles):
        possible |= (answered <= n) & (n < aws) & (n < ws) & mine[n] & whole[n] & right[n]
    for register, value in ((STATUS, dut.status), (CLEAN, dut.clean_cache), (INITIALIZE, dut.initialize),
                            (FAULT, Value.cast(dut.fault)), (INTERRUPT_ENABLE, dut.interrupt_enable),
                            (INTERRUPT_STATUS, dut.interrupt_status)):
        possible = Mux(word == register, value == guess, possible)
    okay, error = Response.OKAY.value, Response.SLVERR.value
    claim.always(~axi.bvalid | claim.same(axi.bresp, Mux((legal & whole).bit_select(bs, 1), okay, error)))

    # A read, any one.
    active, turn, readable, of_word, seen = Signal(), Signal.like(rs), Signal(), Signal(), Signal()
    follow = claim.free("follow")
    asked = axi.araddr[2:]
    with m.If(~active):
        with m.If(follow & axi.arvalid & axi.arready):
            m.d.sync += [
                active.eq(1), turn.eq(ars), of_word.eq(asked == word), seen.eq(possible),
                readable.eq((axi.araddr[:2] == 0) & (is_memory(asked) | is_one_of(
                    asked, STATUS, CLEAN, INITIALIZE, FAULT, INTERRUPT_ENABLE, INTERRUPT_STATUS))),
            ]
    with m.Else():
        m.d.sync += seen.eq(seen | possible)
        with m.If(axi.rvalid & axi.rready & (rs == turn)):
            m.d.sync += active.eq(0)
    answer = active & axi.rvalid & (rs == turn)
    claim.always(~answer | claim.same(axi.rresp, Mux(readable, okay, error)))
    claim.always(~(answer & readable & of_word & (axi.rdata == guess)) | seen | possible)

    # The code RAM, and what the dispatcher reads.
    code = word[:len(dut.code_address)]
    ram_written, ram_held = Signal(), Signal()
    with m.If(dut.code_write & (dut.code_write_address == code)):
        m.d.sync += [ram_written.eq(1), ram_held.eq(dut.code_write_data == guess)]
    holds = Mux(ram_written, ram_held, first)
    claim.assume(~claim.past(in_code & dut.code_read & (dut.code_address == code))
                 | ((dut.code_read_data == guess) == claim.past(holds)))
    claim.always(~claim.past(dut.lram_read & (dut.lram_address == word)) | (dut.lram_data != guess)
                 | claim.past(possible))

    # Nobody waits for ever: the dispatcher comes first, and so may a full answer channel of the host's.
    for waits in (axi.arvalid & ~axi.arready, (ars != rs) & ~axi.rvalid, axi.awvalid & axi.wvalid & ~axi.awready,
                  axi.awvalid & axi.wvalid & ~axi.wready, (bs < aws) & (bs < ws) & ~axi.bvalid):
        since = Signal(range(_PATIENCE + 2))
        with m.If(waits & axi.rready & axi.bready & ~dut.lram_read):
            m.d.sync += since.eq(since + 1)
        with m.Else():
            m.d.sync += since.eq(0)
        claim.always(since <= _PATIENCE)
    return claim


def is_one_of(value: Value, *numbers: int) -> Value:
    return Cat(value == number for number in numbers).any()


def is_memory(word: Value) -> Value:
    return (word < LRAM_WORDS) | ((word >= CRAM_BASE // 4) & (word < CRAM_BASE // 4 + CONFIG.cram_words))
