"""Random traffic against a model of memory: every row read, and memory after cleaning, byte for byte."""


import pytest

from fgpu.config import Config

from ..seeds import seed_of_test
from ..tiers import quick
from .bench import Bench, Request
from .memory import Timing


def random_requests(bench: Bench, count: int) -> list[Request]:
    """Bursts of reads and writes to a few lines that fight for the same places in the cache, round by round."""
    config, rng = bench.config, bench.rng
    places = rng.sample(bench.places, rng.choice([1, 3, 12]))
    tags = rng.sample(bench.tags, rng.choice([1, 2, 4]))
    requests: list[Request] = []
    writes = rng.choice([0.1, 0.5, 0.9])
    while len(requests) < count:
        line = bench.line_of(rng.choice(tags), rng.choice(places))
        if rng.random() < 0.1:      # a whole line
            requests.extend(Request(line, 1 << row, True, rng.randbytes(config.row_words * 4),
                                    (1 << config.row_words * 4) - 1)
                            for row in rng.sample(range(config.line_rows), config.line_rows))
        for _ in range(rng.choice([1, 1, 2, 5])):
            if rng.random() < writes:
                strobe = rng.choice([rng.getrandbits(config.row_words * 4), (1 << config.row_words * 4) - 1, 1, 0])
                requests.append(Request(line, 1 << rng.randrange(config.line_rows), True,
                                        rng.randbytes(config.row_words * 4), strobe))
            else:
                rows = rng.choice([rng.getrandbits(config.line_rows), 1 << rng.randrange(config.line_rows),
                                   (1 << config.line_rows) - 1])
                requests.append(Request(line, rows or 1))
    return requests


def host_writes(bench: Bench) -> None:
    """Between launches the host changes memory: the cache must not remember what was there."""
    for line, contents in bench.model.items():
        if bench.rng.random() < 0.5:
            contents[:] = bench.rng.randbytes(len(contents))
            bench.memory.line(line)[:] = contents


CONFIGS = {
    "basic": Config(),
    "1 bank, 32 bits": Config(cache_banks=1, axi_data_width=32, cache_size=4, tag_managers=2, global_stations=32),
    "1 bank, 64 bits": Config(cache_banks=1, cache_size=4, cache_line=64, tag_managers=8),
    "2 banks, 32 bits": Config(cache_banks=2, axi_data_width=32, cache_size=4, tag_managers=4, compute_units=2),
    "2 banks, 64 bits": Config(cache_banks=2, cache_size=4, cache_line=64, tag_managers=1),
    "4 banks, 32 bits": Config(cache_banks=4, axi_data_width=32, cache_size=8, tag_managers=8, global_stations=32),
    "8 banks, 64-byte lines": Config(cache_line=64, cache_size=4, tag_managers=2, compute_units=2),
    "8 CUs": Config(compute_units=8, cache_size=32, cache_slices=1, tag_managers=16, statistics=True),
    "reference": Config.preset("reference", compute_units=4),
    "tiny": Config.preset("tiny"),
    "2 slices": Config(axi_ports=2, compute_units=2, cache_banks=4, cache_size=4, tag_managers=2, cache_line=64,
                       statistics=True),
    "4 slices": Config(axi_ports=4, compute_units=4, axi_data_width=32, cache_size=8, cache_ways=1, tag_managers=1),
    "2 slices on a port": Config(cache_slices=2, compute_units=2, cache_size=8, cache_ways=1,
                                 tag_managers=16, statistics=True),
    "4 slices on a port": Config(cache_slices=4, address_hash="identity", compute_units=4, cache_size=8, cache_ways=1,
                                 axi_data_width=32),
    "8 slices on 2 ports": Config(cache_slices=8, axi_ports=2, compute_units=4, cache_size=16,
                                  cache_line=64, tag_managers=8, cache_banks=4),
    "8 slices on a port": Config(cache_slices=8, compute_units=2, cache_size=16,
                                 cache_line=64, cache_banks=2),
    "16 tag managers": Config(tag_managers=16, cache_size=4, statistics=True),
    "not hashed": Config(cache_size=4, address_hash="identity"),
    "1 way": Config(cache_ways=1, cache_size=4, cache_line=64, cache_banks=4, compute_units=2),
    "4 ways": Config(cache_ways=4, cache_size=8, tag_managers=2, statistics=True),
    "2 slices, 2 ways": Config(axi_ports=2, cache_ways=2, cache_size=8, cache_banks=2),
}


async def rounds(bench: Bench, count: int, requests: int) -> None:
    for _ in range(count):
        for memory in bench.memories:
            memory.timing = Timing.random(bench.rng)
        for unit in bench.units:
            unit.request_chance = bench.rng.choice([0.2, 0.7, 1.0])
            unit.ready_chance = bench.rng.choice([0.3, 0.9, 1.0, 1.0])
            unit.withdraw_chance = bench.rng.choice([0, 0.1, 1])
            unit.requests.extend(random_requests(bench, requests // len(bench.units)))
        await bench.run()
        if bench.rng.random() < 0.5:
            await bench.drain()
        if bench.rng.random() < 0.7:
            await bench.clean()
            host_writes(bench)
    await bench.clean()
    bursts = bench.write_bursts
    await bench.clean()
    assert bench.write_bursts == bursts, "a clean cache has nothing to write"


@pytest.mark.parametrize("name", quick(CONFIGS, ["2 slices"]))
def test_random_traffic(name: str) -> None:
    bench = Bench(CONFIGS[name], seed=seed_of_test())
    # Of large ones a round takes most of a minute.
    count = 1 if bench.config.slices >= 4 else 2 if len(bench.units) >= 4 else 4
    bench.simulate(lambda bench: rounds(bench, count, 120))


@pytest.mark.long
@pytest.mark.parametrize("name", CONFIGS)
def test_more_random_traffic(name: str) -> None:
    Bench(CONFIGS[name], seed=seed_of_test()).simulate(lambda bench: rounds(bench, 8, 120))
