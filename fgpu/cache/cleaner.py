"""The cleaner: writes back what is dirty at the end of a kernel, and scrubs the cache after a reset."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import encode_lowest

from .line_states import GROUP_LINES, Sweep, part_bits
from .payloads import TagOp, TagRequest

__all__ = ["Cleaner"]


class Cleaner(wiring.Component):
    """Walks the states of lines that were used, 8 lines a cycle, and stops only at groups with dirty lines.

    ``start`` (a pulse) waits until the cache is idle, then requests an evict for each dirty line and
    invalidates all lines: what the host writes before the next kernel is seen. ``done`` is a pulse, when all
    write-backs have been acknowledged. With nothing dirty that takes ``slice_lines / 8`` + 5 cycles, or an eighth of
    the first term for each eighth of the sets of which a line was used since it was last invalidated.

    Until then it passes on the lines that the early cleaner thinks ``finished``. ``serving``: nobody asked to clean.

    Memories come up with anything and keep it over a reset, so the cache scrubs itself after each before it accepts
    requests: ``slice_lines * line_rows`` cycles. (Dissertation, section 3.5.3.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "done": Out(1),
            "hold": Out(1, init=1),
            "requests": Out(stream.Signature(TagRequest(config))),
            "sweep": Out(Sweep(config)),
            "finished": In(stream.Signature(config.line_address_bits)),
            "pending": In(1),
            "idle": In(1),
            "serving": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        groups = self._config.slice_lines // GROUP_LINES
        # All ways of the lowest sets first, where small kernels have their lines.
        step = Signal(range(groups))
        way_bits = exact_log2(self._config.cache_ways)
        group = Cat(step[way_bits:], step[:way_bits])
        parts = part_bits(self._config)
        inner = step[:len(step) - parts]        # within a part
        used = Signal(1 << parts)
        left = Signal(1 << parts)
        first, following = Signal(parts), Signal(parts)     # the lowest part that was used, and the next one
        with m.If(self.sweep.uses):
            m.d.sync += used.bit_select(self.sweep.part, 1).eq(1)
        m.d.comb += left.eq(used & (used - 1))
        encode_lowest(m, first, used)
        encode_lowest(m, following, left)
        waiting = Signal(GROUP_LINES, init=-1)
        lane = Signal(range(GROUP_LINES))
        others = Signal(GROUP_LINES)
        asked = Signal()
        with m.If(self.start):
            m.d.sync += asked.eq(1)
        quiet = Signal()        # nobody was inside or at the door in the cycle before
        came = Signal()         # somebody was at the door then
        m.d.sync += [quiet.eq(self.idle & ~self.pending & ~self.requests.valid), came.eq(self.pending)]
        m.d.comb += [
            others.eq(waiting & (waiting - 1)),
            self.sweep.group.eq(group),
            self.requests.payload.line.eq(Cat(lane, group)),
        ]
        encode_lowest(m, lane, waiting)

        def go_on() -> None:
            """To the next group of this part, or the next part that was used."""
            m.d.sync += step.eq(step + 1)
            with m.If(Cat(inner, 1).all()):
                m.d.sync += [used.eq(left), step.eq(following << len(inner))]
                with m.If(~left.any()):
                    m.next = "SETTLE"

        with m.FSM():
            with m.State("SCRUB"):
                m.d.comb += [
                    self.sweep.invalidate.eq(1),
                    self.requests.valid.eq(1),
                    self.requests.payload.op.eq(TagOp.SCRUB),
                ]
                with m.If(self.requests.ready):
                    m.d.sync += waiting.eq(others)
                    with m.If(others == 0):
                        m.d.sync += [waiting.eq(~0), step.eq(step + 1)]
                        with m.If(step == groups - 1):
                            m.d.sync += self.hold.eq(0)
                            m.next = "SERVE"
            with m.State("SERVE"):
                m.d.comb += [
                    self.serving.eq(~asked & ~self.start),
                    self.requests.valid.eq(self.finished.valid),
                    self.requests.payload.op.eq(TagOp.RETIRE),
                    self.requests.payload.line.eq(self.finished.payload),
                    self.finished.ready.eq(self.requests.ready),
                ]
                with m.If((asked | self.start) & quiet & ~self.finished.valid):
                    m.d.sync += self.hold.eq(1)
                    m.next = "CLOSE"
            with m.State("CLOSE"):
                # The door closes a cycle after ``hold``: who came meanwhile may be inside.
                with m.If(self.pending | came):
                    m.d.sync += self.hold.eq(0)
                    m.next = "SERVE"
                with m.Else():
                    m.d.sync += [asked.eq(0), step.eq(first << len(inner))]
                    m.next = "SCAN"
                    with m.If(~used.any()):
                        m.next = "SETTLE"
            with m.State("SCAN"):
                m.d.comb += [
                    self.sweep.invalidate.eq(1),
                ]
                m.d.sync += waiting.eq(self.sweep.dirty)
                with m.If(self.sweep.dirty.any()):
                    m.next = "EVICT"
                with m.Else():
                    go_on()
            with m.State("EVICT"):
                m.d.comb += [
                    self.requests.valid.eq(1),
                    self.requests.payload.op.eq(TagOp.CLEAN),
                ]
                with m.If(self.requests.ready):
                    m.d.sync += waiting.eq(others)
                    with m.If(others == 0):
                        m.next = "SCAN"
                        go_on()
            with m.State("SETTLE"):
                with m.If(self.idle):
                    m.d.comb += self.done.eq(1)
                    m.d.sync += self.hold.eq(0)
                    m.next = "SERVE"
        return m
