"""The host of an FGPU in a cocotb bench, and its memory: with cocotbext-axi's models of both."""

import logging
import random
import warnings
from collections.abc import Iterator
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

from fgpu.address_map import (
    DESCRIPTOR_WORDS,
    LRAM_BASE,
    ControlRegister,
    Interrupts,
    code_address,
    register_address,
)
from fgpu.compiler.image import Image
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.faults import kernel_fault
from fgpu.sim.places import Places

__all__ = ["FgpuHost"]

# cocotbext-axi calls what cocotb has deprecated; nobody who reads a bench's log can change that.
warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"cocotbext\.")


class FgpuHost:
    """Control port and memory of the FGPU ``dut``: ``control`` and ``memory`` are cocotbext-axi models.

    ``dut`` is the module that ``fgpu verilog`` writes, or another with the same ports. All its AXI masters share one
    memory of ``memory_size`` bytes from address 0 on, of which only what is used takes room.
    """

    def __init__(self, dut: Any, *, memory_size: int = 1 << 32) -> None:
        self._dut, self._places = dut, Places(())
        masters = [f"m{number}_axi" for number in range(4) if hasattr(dut, f"m{number}_axi_awvalid")]
        for bus in ("s_axi", *masters):     # they tell of every access
            logging.getLogger(f"cocotb.{dut._name}.{bus}").setLevel(logging.WARNING)
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.clk, dut.rst)
        self.memory = AxiRam(AxiBus.from_prefix(dut, "m0_axi"), dut.clk, dut.rst, size=memory_size)
        self._memories = [self.memory, *(AxiRam(AxiBus.from_prefix(dut, bus), dut.clk, dut.rst, mem=self.memory.mem)
                                         for bus in masters[1:])]

    async def reset(self) -> None:
        """Start the clock and reset for a few cycles. The FGPU then clears its memories; kernels wait for that."""
        Clock(self._dut.clk, 10, unit="ns").start()
        self._dut.rst.value = 1
        await ClockCycles(self._dut.clk, 4)
        self._dut.rst.value = 0
        await ClockCycles(self._dut.clk, 2)

    def pause(self, seed: int, share: float = 0.5) -> None:
        """Make every AXI channel that the bench drives wait in a random ``share`` of the cycles."""
        def generator(channel: int) -> Iterator[bool]:
            choose = random.Random(f"{seed} {channel}")
            while True:
                yield choose.random() < share

        models = [self.control, *self._memories]
        for number, side in enumerate(side for model in models for side in (model.write_if, model.read_if)):
            for place, name in enumerate(["aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel"]):
                channel = getattr(side, name, None)
                if channel is not None:
                    channel.set_pause_generator(generator(8 * number + place))

    async def write(self, address: int, *words: int) -> None:
        """Write words to consecutive addresses of the control port."""
        for index, word in enumerate(words):
            done = await self.control.write(address + 4 * index, word.to_bytes(4, "little"))
            assert done.resp == AxiResp.OKAY, f"write of {address + 4 * index:#06x}: {done.resp!r}"

    async def read(self, address: int) -> int:
        """Read a word of the control port."""
        done = await self.control.read(address, 4)
        assert done.resp == AxiResp.OKAY, f"read of {address:#06x}: {done.resp!r}"
        return int.from_bytes(done.data, "little")

    async def load(self, image: Image) -> None:
        """Write a program to the code RAM."""
        self._places = Places(image.words, lines=image.lines)
        for index, word in enumerate(image.words):
            await self.write(code_address(index), word)

    async def start(self, descriptor: KernelDescriptor, *, slot: int = 0) -> None:
        """Describe a kernel in a slot of LRAM and start it."""
        await self.write(LRAM_BASE + 4 * DESCRIPTOR_WORDS * slot, *descriptor.words())
        # Initialize the runtime memory, and write the cache back at the end: what is always right.
        for register in (ControlRegister.INITIALIZE, ControlRegister.CLEAN_CACHE, ControlRegister.START):
            await self.write(register_address(register), 1 << slot)

    async def abort(self, *, slot: int = 0) -> None:
        """Stop the kernel of a slot; ``wait`` then raises :class:`~fgpu.errors.KernelFault` if it ran."""
        await self.write(register_address(ControlRegister.ABORT), 1 << slot)

    async def wait(self, *, slot: int = 0, polls: int = 10_000) -> None:
        """Poll the status register until the kernel of a slot has finished and its results are in memory.

        Raises :class:`~fgpu.errors.KernelFault`, which names the instruction, if the fault register is set.
        """
        for _ in range(polls):
            if await self.read(register_address(ControlRegister.STATUS)) >> slot & 1:
                fault = kernel_fault(await self.read(register_address(ControlRegister.FAULT)), self._places)
                if fault is not None:
                    raise fault
                return
        raise TimeoutError(f"the kernel of slot {slot} did not finish")

    async def interrupt(self, enabled: int = Interrupts.KERNEL_END) -> int:
        """Enable :class:`~fgpu.address_map.Interrupts`, wait for one; those that have happened, now acknowledged."""
        await self.write(register_address(ControlRegister.INTERRUPT_ENABLE), enabled)
        if not int(self._dut.irq.value):
            await RisingEdge(self._dut.irq)
        happened = await self.read(register_address(ControlRegister.INTERRUPT_STATUS))
        await self.write(register_address(ControlRegister.INTERRUPT_STATUS), happened)
        return happened
