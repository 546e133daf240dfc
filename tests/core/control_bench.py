"""Control interface and code RAM together, and a host of them that a model checks in every cycle."""

import random
from collections.abc import Callable
from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.address_map import control_address_bits
from fgpu.axi.signatures import AXI4LiteSignature
from fgpu.code_ram import CodeRam
from fgpu.config import Config
from fgpu.control import ControlInterface
from fgpu.interfaces.fetch import Fetched, FetchRequest

from ..streams import simulate
from .control_model import ControlModel, Cycle

__all__ = ["SMALL", "Both", "Host", "access", "directed"]

SMALL = Config(cram_size=1)


class Both(wiring.Component):
    """Wired as in the core."""

    def __init__(self, config: Config) -> None:
        self.control, self.code_ram = ControlInterface(config), CodeRam(config)
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=control_address_bits(config.cram_words))),
            "fetch": In(stream.Signature(FetchRequest(config))).array(config.compute_units),
            "fetched": Out(Fetched).array(config.compute_units),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.control, m.submodules.code_ram = control, ram = self.control, self.code_ram
        connect(m, flipped(self.axi), control.axi)
        m.d.comb += [
            ram.address.eq(control.code_address), ram.write_address.eq(control.code_write_address),
            ram.write.eq(control.code_write),
            ram.write_data.eq(control.code_write_data), ram.read.eq(control.code_read),
            control.code_read_data.eq(ram.read_data),
        ]
        for fetch, source, fetched, result in zip(self.fetch, ram.fetch, self.fetched, ram.fetched, strict=True):
            connect(m, flipped(fetch), source)
            m.d.comb += fetched.eq(result)
        return m


class Host:
    """Drives the five channels, each by itself, and feeds the model with every cycle.

    ``send`` queues an access; a channel's chance to go on in a cycle is in ``pace``: 1, always. All that is offered
    stays until it is taken.
    """

    CHANNELS = ("aw", "w", "b", "ar", "r")

    def __init__(self, dut: Both, rng: random.Random) -> None:
        self.axi: Any = dut.axi
        self.rng = rng
        self.model = ControlModel(dut.control._config)
        self.pace = dict.fromkeys(self.CHANNELS, 1.0)
        self.queues: dict[str, list[dict[str, int]]] = {"aw": [], "w": [], "ar": []}
        self.answers: list[tuple[int, int, int]] = []       # address, data and response of reads
        self.responses: list[int] = []                      # of writes
        self._offered: dict[str, bool] = dict.fromkeys(self.CHANNELS, False)
        control: Any = dut.control
        axi = self.axi
        self._sampled = [Value.cast(each) for each in (
            axi.awvalid & axi.awready, axi.awaddr, axi.wvalid & axi.wready, axi.wdata, axi.wstrb,
            axi.bvalid, axi.bready, axi.bresp, axi.arvalid & axi.arready, axi.araddr,
            axi.rvalid, axi.rready, axi.rdata, axi.rresp, control.status, control.pending, control.clean_cache,
            control.initialize, control.fault, control.accepted, control.finished, control.fault_seen,
            control.running, control.irq, control.interrupt_enable, control.interrupt_status)]

    def write(self, address: int, data: int, strobe: int = 15) -> None:
        self.queues["aw"].append({"awaddr": address})
        self.queues["w"].append({"wdata": data, "wstrb": strobe})

    def read(self, *addresses: int) -> None:
        self.queues["ar"] += [{"araddr": address} for address in addresses]

    @property
    def waits(self) -> bool:
        """Whether anything is offered, or not answered."""
        return (any(self.queues.values()) or any(self._offered[name] for name in self.queues)
                or bool(self.model.reads or self.model.writes))

    async def cycle(self, ctx: Any) -> None:
        """One clock cycle."""
        for channel in self.CHANNELS:
            if self._offered[channel] or (channel in self.queues and not self.queues[channel]):
                continue
            if self.rng.random() < self.pace[channel]:
                self._offered[channel] = True
                for name, value in (self.queues[channel].pop(0) if channel in self.queues else {}).items():
                    ctx.set(getattr(self.axi, name), value)
                ctx.set(getattr(self.axi, f"{channel}{'ready' if channel in 'br' else 'valid'}"), 1)
        _, _, *values = await ctx.tick().sample(*self._sampled)
        now = Cycle(*map(int, values))
        answered = self.model.reads[0].address if self.model.reads else -1
        self.model.step(now)
        taken = {"aw": now.aw, "w": now.w, "ar": now.ar, "b": now.bvalid & now.bready, "r": now.rvalid & now.rready}
        if taken["b"]:
            self.responses.append(now.bresp)
        if taken["r"]:
            self.answers.append((answered, now.rdata, now.rresp))
        for channel, done in taken.items():
            if done:
                self._offered[channel] = False
                ctx.set(getattr(self.axi, f"{channel}{'ready' if channel in 'br' else 'valid'}"), 0)

    async def finish(self, ctx: Any, limit: int = 200) -> None:
        """Until all is answered; a moment of silence shows that nothing else is."""
        self.pace = dict.fromkeys(self.CHANNELS, 1.0)
        queued = sum(map(len, self.queues.values()))
        for _ in range(limit + 20 * queued):
            if not self.waits:
                break
            await self.cycle(ctx)
        assert not self.waits, f"not answered: {self.model.reads} {self.model.writes}"
        for _ in range(5):
            await self.cycle(ctx)


def directed(script: Callable[[Any, Both, Host], Any]) -> None:
    """Run a script with a host that is always ready."""
    dut = Both(SMALL)
    host = Host(dut, random.Random(0))

    async def testbench(ctx: Any) -> None:
        await script(ctx, dut, host)

    simulate(dut, testbench)


def access(host: Host, ctx: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One write, one read at a time: the response of the one, data and response of the other."""
    async def write(address: int, data: int = 0, strobe: int = 15) -> int:
        host.write(address, data, strobe)
        await host.finish(ctx)
        return host.responses[-1]

    async def read(address: int) -> tuple[int, int]:
        host.read(address)
        await host.finish(ctx)
        return host.answers[-1][1:]

    return write, read
