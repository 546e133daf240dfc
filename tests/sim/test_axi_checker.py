"""The checker of both AXI protocols notices each broken rule, of either side; what is right it lets pass."""

from typing import Any

import pytest

from fgpu.sim.testbench import abi

from .axi_bench import Bench

BASE = 0x1000_0000


class Wires:
    """All wires of a port and of the control port, cycle by cycle, played by the test: core, memory and host."""

    def __init__(self, **options: int) -> None:
        self.bench = Bench(**options)

    def cycle(self, **wires: int) -> None:
        """One cycle in which these wires have these values and all others are 0: ``ar_addr``, ``rvalid``, ..."""
        core, memory = self.bench.out.axi[0], self.bench.inputs.axi[0]
        lite_core, host = self.bench.out.lite, self.bench.inputs.lite
        for structure in (core.ar, core.aw, core, memory, lite_core, host):
            for name, kind in structure._fields_:
                if not issubclass(kind, abi.Structure):
                    setattr(structure, name, 0)
        for channel in (core.ar, core.aw):
            channel.size, channel.burst = (3 if self.bench.width == 64 else 2), 1
        for name, value in wires.items():
            owner: Any
            if name.startswith("lite_"):
                name = name.removeprefix("lite_")
                owner = lite_core if hasattr(lite_core, name) else host
            elif name[:3] in ("ar_", "aw_"):
                owner, name = getattr(core, name[:2]), name[3:]
            else:
                owner = core if hasattr(core, name) else memory
            assert hasattr(owner, name), name
            setattr(owner, name, value)
        self.bench.step()


def read(beats: int, address: int = BASE, **more: int) -> dict[str, int]:
    return {"ar_valid": 1, "arready": 1, "ar_addr": address, "ar_len": beats - 1, **more}


def write(beats: int, address: int = BASE, **more: int) -> dict[str, int]:
    return {"aw_valid": 1, "awready": 1, "aw_addr": address, "aw_len": beats - 1, **more}


DATA, LAST = {"wvalid": 1, "wready": 1}, {"wvalid": 1, "wready": 1, "wlast": 1}
BEAT, END = {"rvalid": 1, "rready": 1}, {"rvalid": 1, "rready": 1, "rlast": 1}
ANSWER = {"bvalid": 1, "bready": 1}
ASK = {"lite_awvalid": 1, "lite_awready": 1, "lite_wvalid": 1, "lite_wready": 1}
LOOK = {"lite_arvalid": 1, "lite_arready": 1}

RIGHT: dict[str, list[dict[str, int]]] = {
    "read": [read(2, ar_id=3), {}, {**BEAT, "rid": 3}, {**END, "rid": 3}],
    "a beat that waits": [read(1), {"rvalid": 1, "rlast": 1, "rdata": 9}, {**END, "rdata": 9}],
    "reads in turn": [read(2, ar_id=1), read(2, BASE + 64, ar_id=2), {**BEAT, "rid": 2}, {**BEAT, "rid": 1},
                      {**END, "rid": 1}, {**END, "rid": 2}],
    "two of one id": [read(1), {**END, **read(2, BASE + 64)}, BEAT, END],
    "write": [write(2), DATA, LAST, ANSWER],
    "data with the address": [{**write(1), **LAST}, ANSWER],
    "addresses that wait": [{"ar_valid": 1, "ar_addr": BASE}, read(1), END],
    "up to a page": [read(16, BASE + 0xF80)],
    "control": [ASK, {"lite_bvalid": 1}, {"lite_bvalid": 1, "lite_bready": 1}, LOOK, {"lite_rvalid": 1},
                {"lite_rvalid": 1, "lite_rready": 1}],
    "control, pipelined": [ASK, {**ASK, **LOOK}, {"lite_bvalid": 1, "lite_bready": 1, "lite_rvalid": 1, **LOOK},
                           {"lite_bvalid": 1, "lite_bready": 1, "lite_rvalid": 1, "lite_rready": 1},
                           {"lite_rvalid": 1, "lite_rready": 1}],
    "control, data first": [{"lite_wvalid": 1, "lite_wready": 1}, {"lite_awvalid": 1, "lite_awready": 1},
                            {"lite_bvalid": 1, "lite_bready": 1}],
}

WRONG: dict[str, tuple[list[dict[str, int]], str]] = {
    # The core.
    "AR goes": ([{"ar_valid": 1}, {}], "AR channel changed"),
    "AW goes": ([{"aw_valid": 1}, {}], "AW channel changed"),
    "W goes": ([write(2), {"wvalid": 1}, {}], "W channel changed"),
    "4 KiB": ([read(16, BASE + 0xFC0)], "crosses a 4 KiB boundary"),
    "4 KiB, before it is accepted": ([{"aw_valid": 1, "aw_addr": BASE + 0xFF8, "aw_len": 1}], "crosses a 4 KiB"),
    "not INCR": ([read(2, ar_burst=2)], "not an INCR burst"),
    "narrow": ([write(2, aw_size=2)], "not as wide as the bus"),
    "misaligned": ([write(2, BASE + 4)], "not aligned"),
    "id": ([read(2, ar_id=64)], "id out of range"),
    "id of a write": ([write(2, aw_id=64)], "id out of range"),
    "WLAST early": ([write(2), LAST], "WLAST is 1, but 1 beats"),
    "WLAST late": ([write(1), DATA], "WLAST is 0, but 0 beats"),
    "too many reads": ([read(1, BASE + 64 * n) for n in range(17)], "more than 16 reads"),
    # Memory.
    "R goes": ([read(2), {"rvalid": 1}, {}], "R channel changed"),
    "B goes": ([write(1), LAST, {"bvalid": 1}, {}], "B channel changed"),
    "a beat of no read": ([END], "answers no read"),
    "a beat with another id": ([read(1, ar_id=1), {**END, "rid": 2}], "answers no read"),
    "a beat at once": ([{**read(1), **END}], "answers no read"),
    "a beat too many": ([read(1), END, END], "answers no read"),
    "RLAST early": ([read(2), END], "RLAST is 1, but 1 beats"),
    "RLAST late": ([read(1), BEAT], "RLAST is 0, but 0 beats"),
    "exclusive read": ([read(1), {**END, "rresp": 1}], "RRESP is EXOKAY"),
    "a response to no write": ([ANSWER], "no complete write"),
    "a response with another id": ([write(1), LAST, {**ANSWER, "bid": 1}], "no complete write"),
    "a response before the last beat": ([write(2), DATA, ANSWER], "no complete write"),
    "a response with the last beat": ([write(1), {**LAST, **ANSWER}], "no complete write"),
    "a response too many": ([write(1), LAST, ANSWER, ANSWER], "no complete write"),
    "exclusive write": ([write(1), LAST, {**ANSWER, "bresp": 1}], "BRESP is EXOKAY"),
    # The control port and its host.
    "control B first": ([{"lite_bvalid": 1}], "control write before it was accepted"),
    "control B without data": ([{"lite_awvalid": 1, "lite_awready": 1}, {"lite_bvalid": 1}], "control write before"),
    "control B without address": ([{"lite_wvalid": 1, "lite_wready": 1}, {"lite_bvalid": 1}], "control write before"),
    "control B at once": ([{**ASK, "lite_bvalid": 1}], "control write before"),
    "control B twice": ([ASK, {"lite_bvalid": 1, "lite_bready": 1}, {"lite_bvalid": 1}], "control write before"),
    "control R first": ([{"lite_rvalid": 1}], "control read before it was accepted"),
    "control R twice": ([LOOK, {"lite_rvalid": 1, "lite_rready": 1}, {"lite_rvalid": 1}], "control read before"),
    "control B goes": ([ASK, {"lite_bvalid": 1}, {}], "control port's B channel changed"),
    "control R goes": ([LOOK, {"lite_rvalid": 1}, {}], "control port's R channel changed"),
    "control AW goes": ([{"lite_awvalid": 1}, {}], "control port's AW channel changed"),
    "control exclusive write": ([ASK, {"lite_bvalid": 1, "lite_bresp": 1}], "answers EXOKAY"),
    "control exclusive": ([LOOK, {"lite_rvalid": 1, "lite_rresp": 1}], "answers EXOKAY"),
}


def changes(channel: str, fields: dict[str, int], before: list[dict[str, int]], **valid: int) -> None:
    """Each field by itself may not change while it waits."""
    message = f"{channel} channel changed".replace("control", "control port's")
    for field, value in fields.items():
        WRONG[f"{channel} waits, {field} changes"] = ([*before, valid, {**valid, field: value}], message)


for each in ("ar", "aw"):
    others = {"addr": 8, "id": 1, "len": 1, "size": 2, "burst": 2, "cache": 3, "prot": 1}
    changes(each.upper(), {f"{each}_{field}": value for field, value in others.items()}, [], **{f"{each}_valid": 1})
    changes(f"control {each.upper()}", {f"lite_{each}addr": 4, f"lite_{each}prot": 1}, [], **{f"lite_{each}valid": 1})
changes("W", {"wdata": 1, "wstrb": 1, "wlast": 1}, [write(2)], wvalid=1)
changes("R", {"rid": 1, "rdata": 1, "rresp": 2, "rlast": 1}, [read(2)], rvalid=1)
changes("B", {"bid": 1, "bresp": 2}, [write(1), LAST], bvalid=1)
changes("control W", {"lite_wdata": 1, "lite_wstrb": 1}, [], lite_wvalid=1)
changes("control B", {"lite_bresp": 2}, [ASK], lite_bvalid=1)
changes("control R", {"lite_rdata": 2, "lite_rresp": 2}, [LOOK], lite_rvalid=1)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name: str) -> None:
    wires = Wires()
    for cycle in RIGHT[name]:
        wires.cycle(**cycle)
        assert wires.bench.status == abi.RUNNING, wires.bench.message


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    """In the last cycle, not before."""
    cycles, message = WRONG[name]
    wires = Wires()
    for cycle in cycles[:-1]:
        wires.cycle(**cycle)
        assert wires.bench.status == abi.RUNNING, wires.bench.message
    wires.cycle(**cycles[-1])
    assert wires.bench.status == abi.PROTOCOL_ERROR
    assert message in wires.bench.message


def test_strobes_are_as_wide_as_the_bus() -> None:
    wires = Wires(width=32)
    wires.cycle(**write(1), **LAST, wstrb=0x1F)
    assert wires.bench.status == abi.PROTOCOL_ERROR
    assert "WSTRB is 0x1F" in wires.bench.message


@pytest.mark.parametrize("beats", [1, 3])
def test_data_before_the_address(beats: int) -> None:
    """Two beats, and then an address that says otherwise; or the same."""
    for asked in (beats, 2):
        wires = Wires()
        wires.cycle(**DATA)
        wires.cycle(**LAST)
        wires.cycle(**write(asked))
        assert wires.bench.status == (abi.RUNNING if asked == 2 else abi.PROTOCOL_ERROR)


def test_a_port_is_quiet_once_all_is_answered() -> None:
    wires = Wires()
    for cycles in ([read(2), BEAT, END], [write(2), DATA, LAST, ANSWER],
                   [{"ar_valid": 1, "ar_addr": BASE}, read(1), END]):
        for cycle in cycles:
            wires.cycle(**cycle)
            assert wires.bench.quiet == (cycle is cycles[-1])


def test_more_writes_than_it_can_remember() -> None:
    """Addresses that wait for data, and data for addresses."""
    for wires_of, message in ((lambda n: write(1, BASE + 128 * n, aw_id=n % 64), "more than 64 writes wait for data"),
                              (lambda n: LAST, "more than 64 writes wait for an address")):
        wires = Wires()
        for number in range(64):
            wires.cycle(**wires_of(number))
            assert wires.bench.status == abi.RUNNING, wires.bench.message
        wires.cycle(**wires_of(64))
        assert wires.bench.status == abi.PROTOCOL_ERROR
        assert message in wires.bench.message
