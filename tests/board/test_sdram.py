"""What wakes the SDRAM."""

from itertools import pairwise
from typing import Any

from fgpu.board.sdram import SDRAMInitializer
from tests.streams import simulate

REGISTERS = {"sdram_dfii_control": 0, "sdram_dfii_pi0_address": 4, "sdram_dfii_pi0_baddress": 8,
             "sdram_dfii_pi0_command": 12, "sdram_dfii_pi0_command_issue": 16, "ddrctrl_init_done": 20}
CLOCK = 1e6
PRECHARGE, REFRESH, MODE = "precharge", "refresh", "mode"
COMMANDS = {0b1011: PRECHARGE, 0b1101: REFRESH, 0b1111: MODE}


def test_the_chip_is_woken_in_jedecs_order() -> None:
    """By software alone; then the controller takes over, and memory is said to be ready."""
    dut = SDRAMInitializer(REGISTERS, clock=CLOCK)
    names = {address // 4: name for name, address in REGISTERS.items()}
    written: list[tuple[int, str, int]] = []

    async def wishbone(ctx: Any) -> None:
        cycle = 0
        while not ctx.get(dut.done):
            ctx.set(dut.acknowledge, 0)
            if ctx.get(dut.strobe):
                ctx.set(dut.acknowledge, 1)
                written.append((cycle, names[ctx.get(dut.address)], ctx.get(dut.data)))
            await ctx.tick()
            cycle += 1

    simulate(dut, wishbone)
    registers: dict[str, int] = {}
    commands = []
    for cycle, name, value in written:
        registers[name] = value
        if name == "sdram_dfii_pi0_command_issue":
            assert registers["sdram_dfii_control"] == 0xE, "by software, with the clock enabled"
            commands.append((cycle, COMMANDS[registers["sdram_dfii_pi0_command"]],
                             registers["sdram_dfii_pi0_address"]))
    assert written[0][:2] == (0, "sdram_dfii_control")
    assert commands[0][0] >= 200e-6 * CLOCK
    assert [(command, address) for _, command, address in commands] == [
        (PRECHARGE, 1 << 10), *[(REFRESH, 0)] * 8, (MODE, 2 << 4)]
    assert all(later[0] - former[0] >= 7 for former, later in pairwise(commands))
    assert [(name, value) for _, name, value in written[-2:]] == [
        ("sdram_dfii_control", 0xF), ("ddrctrl_init_done", 1)]
