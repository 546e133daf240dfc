"""What the log of events says, against models of its own and other counts; and what of it the files have."""

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest

from fgpu import Config, Device, compile_opencl
from fgpu.interfaces.line_map import LineMap
from fgpu.probe import WavefrontState
from fgpu.sim.event_log import Access, EventKind, enabled
from fgpu.sim.traces import write_trace

from .perfetto_file import read_packets, tracks_of

_SOURCE = """\
__attribute__((noinline)) int odd(int x) {
    int s = 0; while (x > 0) { if (x & 64) return s; x -= 9; s += x; } return s;
}
__kernel void parted(__global const int *in, __global int *out) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < (i & 7); k++)
        sum += in[(i * 133 + k * 1025) & 8191];
    if (i & 8)
        sum += odd(sum & 127);
    out[get_global_id(0)] = sum;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i + 512] = out[i ^ 33];
}
"""
_SIZE, _GROUP = 512, 128


def _run(*, engine="verilator", size=_SIZE, config=None, **options):
    config = config or Config()
    image = compile_opencl(_SOURCE, filename="parted.cl", config=config)
    with Device(config, engine=engine, memory_latency=5) as device:
        data = np.random.default_rng(2).integers(0, 1 << 20, 8192).astype(np.int32)
        args = [device.buffer(data), device.buffer(1024)]
        return device.launch(image, global_size=size, local_size=min(size, _GROUP), args=args, **options)


@pytest.fixture(scope="module")
def run():
    return _run(record=True)


def test_counts_are_those_of_the_statistics(run):
    log, stats = run.events, run.stats
    count = Counter(EventKind(kind) for kind in log.entries["kind"].tolist())
    assert count[EventKind.EVENT_FILL] == count[EventKind.EVENT_FILLED] == stats["axi0.read_bursts"]
    assert count[EventKind.EVENT_EVICTION] == stats["cache.eviction"] == stats["axi0.write_bursts"]
    assert count[EventKind.EVENT_WRITE_BACK] == count[EventKind.EVENT_WRITTEN] == stats["cache.eviction"]
    accesses = Counter(Access(number) for number in log.of(EventKind.EVENT_REQUEST)["number"].tolist())
    assert accesses == {access: stats[f"cache.{access.name.lower()}"] for access in (
        Access.READ_HIT, Access.READ_MISS, Access.WRITE_HIT, Access.WRITE_MISS)}
    assert count[EventKind.EVENT_START] == count[EventKind.EVENT_END] == _SIZE // 64
    assert count[EventKind.EVENT_GROUP] == count[EventKind.EVENT_GROUP_END] == _SIZE // _GROUP
    assert count[EventKind.EVENT_LOAD] == count[EventKind.EVENT_LOAD_DONE]
    assert enabled(log.of(EventKind.EVENT_ISSUE)["value"]).sum() == run.work_item_instructions
    assert count[EventKind.EVENT_REFUSAL]


def test_masks_are_those_of_a_stack(run):
    """Each instruction has the work-items that a stack of those who wait says; there are as many partings as the
    functional engine counts."""
    log = run.events
    waiting, now = defaultdict(list), {}
    kinds = (EventKind.EVENT_START, EventKind.EVENT_ISSUE, EventKind.EVENT_PUSH, EventKind.EVENT_SWITCH,
             EventKind.EVENT_POP)
    for _, kind, _, slot, _, mask in log.entries[np.isin(log.entries["kind"], kinds)].tolist():
        match EventKind(kind):
            case EventKind.EVENT_START:
                assert not waiting[slot]
                now[slot] = (1 << 64) - 1
            case EventKind.EVENT_ISSUE:
                assert mask == now[slot]
            case EventKind.EVENT_PUSH:
                assert mask & now[slot] == mask != now[slot]
                waiting[slot].append(mask)
                now[slot] &= ~mask
            case EventKind.EVENT_SWITCH:
                assert mask == waiting[slot].pop()
                now[slot] = mask
            case EventKind.EVENT_POP:
                assert mask & now[slot] == now[slot] != mask
                now[slot] = mask
    assert len(log.of(EventKind.EVENT_PUSH)) == _run(engine="functional").stats["divergent_branches"] > 50
    assert len(log.of(EventKind.EVENT_SWITCH)) == len(log.of(EventKind.EVENT_PUSH))
    assert len(log.of(EventKind.EVENT_POP)) > 0     # after the calls, and at the barrier


def test_reads_hit_where_a_model_of_the_cache_has_the_line():
    """A cache with a line a set, which a read of another line and a write of one replace."""
    log = _run(config=Config.preset("tiny"), record=True).events
    config = log.config
    assert config.cache_ways == 1
    lines, there, misses = LineMap(config), {}, 0
    reads_of = set(range(8192 * 4 // (4 * config.line_words)))     # lines of ``in``, from the first buffer on
    first = min(log.of(EventKind.EVENT_FILL)["value"].tolist()) >> config.line_offset_bits
    for _, _, part, access, _, address in log.of(EventKind.EVENT_REQUEST).tolist():
        line = address >> config.line_offset_bits
        assert lines.slice(line) == part
        place = part, lines.place(line) % config.cache_sets
        if line - first in reads_of and access in (Access.READ_HIT, Access.READ_MISS):
            assert (there.get(place) == line) == (access == Access.READ_HIT)
            misses += access == Access.READ_MISS
        there[place] = line
    assert misses > 100


def test_loads_groups_and_transfers_have_their_ends(run):
    log = run.events
    loads = list(log.loads())
    assert len(loads) == len(log.of(EventKind.EVENT_LOAD))
    assert all(log.places.at(load.pc).split(": ")[-1].startswith("lw") and load.end > load.start for load in loads)
    waits = [stay for stay in log.stays() if stay.state is WavefrontState.MEMORY_READ]
    assert waits
    for stay in waits:      # who waits for data has a load under way
        assert any(load.slot == stay.slot and load.start < stay.start and load.end >= stay.end - 2 for load in loads)
    groups = sorted(log.residences(), key=lambda group: group.offsets)
    assert [group.offsets for group in groups] == [(first, 0, 0) for first in range(0, _SIZE, _GROUP)]
    assert all(group.start < group.end for group in groups)
    transfers, bursts = list(log.transfers()), list(log.bursts())
    assert len(transfers) == len(bursts)
    fills = sorted((each.start, each.address) for each in transfers if not each.is_write)
    reads = sorted((burst.start, burst.address) for burst in bursts if not burst.is_write)
    for (start, address), (asked, there) in zip(fills, reads, strict=True):
        assert address == there
        assert 0 < asked - start < 20
    written = Counter(each.address for each in transfers if each.is_write)
    for burst in bursts:        # those of lines that are not all dirty begin behind their first byte
        if burst.is_write:
            written[burst.address & -(4 * log.config.line_words)] -= 1
    assert not any(written.values())


def test_all_arrive_at_barriers_before_any_goes_on(run):
    log = run.events
    arrived = log.of(EventKind.EVENT_ARRIVE)
    released = log.of(EventKind.EVENT_RELEASE)
    assert len(arrived) == len(released) == _SIZE // 64
    assert {log.places.at(pc).split(": ")[-1] for pc in arrived["pc"].tolist()} == {"sync"}
    came = 0
    for group in log.residences():
        mine = [table[(table["cycle"] > group.start) & (table["cycle"] < group.end)]["cycle"]
                for table in (arrived, released)]
        came += len(mine[0]) == len(mine[1])
    assert came


def test_a_window_knows_what_was_before_it():
    whole = _run(record=True).events.of(EventKind.EVENT_PUSH)
    middle = int(whole["cycle"][len(whole) // 2])       # the outcome of a branch before the window
    log = _run(record=(middle, middle + 500)).events
    inside = whole[(whole["cycle"] >= middle) & (whole["cycle"] < middle + 500)]
    assert np.array_equal(log.of(EventKind.EVENT_PUSH), inside)


@pytest.mark.ci
def test_both_engines_with_a_clock_log_the_same():
    fast, slow = (_run(engine=engine, size=64, record=True).events for engine in ("verilator", "pysim"))
    assert np.array_equal(fast.entries, slow.entries)


def test_perfetto_has_tracks_of_slices_tag_managers_and_work_groups(run, tmp_path):
    write_trace(run.events, tmp_path / "run.pftrace")
    packets = read_packets(tmp_path / "run.pftrace")
    tracks = tracks_of(packets)
    parents = {each.name: tracks[each.parent_uuid].name for each in tracks.values() if each.parent_uuid}
    assert parents["tag manager 0, fill"] == "cache slice 0"
    assert parents["work-group 0"] == "CU 0"
    assert parents["wavefront 0, load 0"] == "CU 0"
    begins, ends, instants = Counter(), Counter(), Counter()
    last = {}
    for packet in packets:
        event = packet.track_event
        if event.type in (1, 2):
            assert packet.timestamp >= last.get(event.track_uuid, 0)
            last[event.track_uuid] = packet.timestamp
            (begins if event.type == 1 else ends)[tracks[event.track_uuid].name] += 1
        elif event.type == 3:
            instants[event.name.split(" ")[0], tracks[event.track_uuid].name.split(" ")[0]] += 1
    assert begins == ends
    stats = run.stats
    fills = sum(count for name, count in begins.items() if name.startswith("tag manager") and name.endswith("fill"))
    backs = sum(count for name, count in begins.items() if name.endswith("write-back"))
    assert (fills, backs) == (stats["cache.fill"], stats["cache.eviction"])
    requests = sum(stats[f"cache.{name}"] for name in ("read_hit", "read_miss", "write_hit", "write_miss"))
    assert instants["read", "cache"] + instants["write", "cache"] == requests
    assert instants["push", "wavefront"] == len(run.events.of(EventKind.EVENT_PUSH))
    assert sum(count for name, count in begins.items() if name.startswith("work-group")) == _SIZE // _GROUP
    names = {each.name for each in tracks.values() if each.HasField("counter")}
    assert "CU 0: SIMD occupancy in percent" in names


def test_waveforms_have_masks_and_what_is_under_way(run, tmp_path):
    import pylibfst as fst

    write_trace(run.events, tmp_path / "run.fst")
    file = fst.lib.fstReaderOpen(str(tmp_path / "run.fst").encode())
    signals = fst.get_scopes_signals2(file)[1]
    values = {name: [] for name in signals.by_name}

    def note(_, time, handle, value, length=-1):
        values[signals.by_handle[handle].name].append((time, fst.ffi.string(value, length).decode()))

    fst.lib.fstReaderSetFacProcessMaskAll(file)
    fst.fstReaderIterBlocks2(file, note, note)
    fst.lib.fstReaderClose(file)
    log = run.events
    pushes = log.of(EventKind.EVENT_PUSH)
    for slot in range(8):
        rises = [time for time, value in values[f"fgpu.cu0.wavefront{slot}.push"] if value == "1"]
        assert rises == pushes[pushes["number"] == slot]["cycle"].tolist()
    issues = log.of(EventKind.EVENT_ISSUE)
    masks = {int(value, 2) for _, value in values["fgpu.cu0.wavefront0.mask"]}
    assert masks - {0} == set(issues[issues["number"] == 0]["value"].tolist())
    fills = [int(value, 2) for _, value in values["fgpu.cache.slice0.fills"]]
    assert max(fills) > 1
    assert fills[-1] == 0
    seen = [value for _, value in values["fgpu.cache.slice0.request"] if value.strip("\0")]
    assert any(value.startswith("read miss 0x") for value in seen)
    assert max(int(value, 2) for _, value in values["fgpu.cu0.groups"]) == _SIZE // _GROUP


def test_konata_shows_masks_on_hover(run, tmp_path):
    write_trace(run.events, tmp_path / "run.kanata")
    hover = [line.split("\t")[3] for line in (tmp_path / "run.kanata").read_text().splitlines()
             if line.startswith("L\t") and line.split("\t")[2] == "1"]
    log = run.events
    told = Counter(text.split(" ")[0].rstrip(":") for text in hover)
    for name, kind in (("issued", EventKind.EVENT_ISSUE), ("push", EventKind.EVENT_PUSH),
                       ("refused", EventKind.EVENT_REFUSAL)):
        assert told[name] == len(log.of(kind)), name


def test_a_table_says_what_each_event_is(run, tmp_path):
    write_trace(run.events, tmp_path / "run.csv")
    with (tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.events.entries)
    told = defaultdict(set)
    for row in rows:
        told[row["event"]].add(row["what"])
    assert "128 0 0" in told["group"]
    assert "no room" in told["refusal"]
    assert told["load"] == {"global"}
    assert any(what.startswith("slice 0 write miss address 0x") for what in told["request"])
    assert any(what.startswith("slice 0 tag manager ") for what in told["eviction"])
