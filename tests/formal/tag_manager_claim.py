"""What the tag managers promise."""

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value

from fgpu.cache.payloads import index_bits, tag_manager_bits
from fgpu.cache.tag_manager import TagManagers
from fgpu.config import Config

from .prover import Claim


@dataclass
class Entries:
    """What is known of the entries from outside: a bit for each, and the victim of each and where it was."""

    fills: Signal
    evicts: Signal
    victims: list[Signal]
    places: list[Signal]
    allocate: Value
    taken: Signal


def follow_entries(claim: Claim, dut: TagManagers, path: str, config: Config) -> Entries:
    """Follow the entries, assuming of the data stage and the AXI port what they owe to the tag managers.

    ``filled``, ``evicted`` and ``written`` come once for each entry that fills or evicts, ``written`` after
    ``evicted``.
    """
    m: Module = claim.m
    normal, bits = config.slice_tag_managers, tag_manager_bits(config)
    count = normal + config.slice_retirements
    stage = dut.tag_stage
    wanted = stage.allocations.payload

    allocate = stage.allocations.valid & stage.allocations.ready
    taken = Signal(bits)
    m.d.comb += taken.eq(Mux(wanted.retire, stage.spare_retirement, stage.spare))
    fills, evicts, asked = Signal(count), Signal(count), Signal(count)
    victims = [Signal(config.line_address_bits, name=f"of_{n}") for n in range(count)]
    places = [Signal(index_bits(config), name=f"at_{n}") for n in range(count)]
    for n in range(count):
        with m.If(dut.filled.valid & (dut.filled.payload == n)):
            m.d.sync += fills[n].eq(0)
        with m.If(dut.evicted.valid & (dut.evicted.payload == n)):
            m.d.sync += asked[n].eq(1)
        with m.If(dut.written.valid & (dut.written.payload == n)):
            m.d.sync += evicts[n].eq(0)
        with m.If(allocate & (taken == n)):
            m.d.sync += [fills[n].eq(wanted.fill), evicts[n].eq(wanted.evict), asked[n].eq(0),
                         victims[n].eq(wanted.victim), places[n].eq(stage.index)]
    claim.assume(~dut.filled.valid | fills.bit_select(dut.filled.payload, 1))
    claim.assume(~dut.evicted.valid | (evicts & ~asked)[:count].bit_select(dut.evicted.payload, 1))
    claim.assume(~dut.written.valid | (evicts & asked).bit_select(dut.written.payload, 1))

    busy = fills | evicts
    matches = claim.inside(f"{path}.matches", count)
    claim.invariant(claim.inside(f"{path}.filling", normal) == fills)
    claim.invariant(claim.inside(f"{path}.evicting", count) == evicts)
    ended = claim.inside(f"{path}.ended", 1)
    claim.invariant(dut.filling == sum(fills) + ended)
    ready = claim.inside(f"{path}.spare_ready", 1)
    claim.invariant(~ready | ((stage.spare < normal) & ~busy.bit_select(stage.spare, 1)))
    claim.invariant(~dut.retirable | ((stage.spare_retirement >= normal) & (stage.spare_retirement < count)
                                      & ~busy.bit_select(stage.spare_retirement, 1)))
    for n in range(count):
        victim = claim.inside(f"{path}.victim_{n}", config.line_address_bits)
        claim.invariant(~evicts[n] | ((victim == victims[n]) & (matches[n] == (victim == stage.line))))
    for n in range(normal, count):
        claim.invariant(~evicts[n] | (claim.inside(f"{path}.place_{n}", index_bits(config)) == places[n]))
    return Entries(fills, evicts, victims, places, allocate, taken)


def tag_manager_claim(config: Config, tag_managers: type[TagManagers] = TagManagers) -> Claim:
    """No entry is taken twice, no victim is forgotten before it is written, and no free entry is overlooked.

    An allocation fills or evicts, a retirement evicts only.
    """
    dut = tag_managers(config)
    claim = Claim(dut=dut)
    m: Module = claim.m
    normal, count = config.slice_tag_managers, config.slice_tag_managers + config.slice_retirements
    stage = dut.tag_stage
    wanted = stage.allocations.payload
    claim.assume(Mux(wanted.retire, wanted.evict & ~wanted.fill, wanted.evict | wanted.fill))
    line = Signal(config.line_address_bits)
    with m.If(stage.step):
        m.d.sync += line.eq(stage.next_line)
    claim.assume(stage.line == line)
    entries = follow_entries(claim, dut, "dut", config)
    evicts, victims, allocate, taken = entries.evicts, entries.victims, entries.allocate, entries.taken
    claim.assume(~allocate | stage.step)

    busy = Signal(count)
    m.d.comb += busy.eq(entries.fills | evicts)
    claim.always(~allocate | ~busy.bit_select(taken, 1))
    claim.always(~allocate | Mux(wanted.retire, (taken >= normal) & (taken < count), taken < normal))
    conflict = Cat(evicts[n] & (victims[n] == stage.line) for n in range(count)).any()
    ended = Cat(claim.past(evicts[n]) & (claim.past(victims[n]) == stage.line) for n in range(count)).any()
    claim.always(~conflict | stage.conflict)
    claim.always(~stage.conflict | conflict | ended)
    early = Cat(evicts[n] & (entries.places[n] == stage.index) for n in range(normal, count)).any()
    claim.always(stage.victim_conflict == claim.past(early))
    claim.always(~dut.idle | ~busy.any())
    claim.always(dut.idle == claim.past(~busy.any() & ~allocate))
    claim.always(dut.write_backs.valid == dut.evicted.valid)
    claim.always(~dut.write_backs.valid | ((dut.write_backs.payload.id == dut.evicted.payload)
                                           & (dut.write_backs.payload.line == Array(victims)[dut.evicted.payload])))
    # An entry that was free the cycle before, and still is, is on offer (or another one).
    still = ~busy & claim.past(~busy & ~Mux(allocate, 1 << taken, 0)[:count])
    claim.always(~claim.past(1) | ~still[:normal].any() | wanted.retire | stage.allocations.ready)
    claim.always(~claim.past(1) | ~still[normal:count].any() | dut.retirable)

    for n in range(count):
        claim.invariant(~evicts[n] | (claim.inside(f"dut.addresses[{n}]", config.line_address_bits) == victims[n]))
    return claim
