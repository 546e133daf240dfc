"""Logs of events, and the files that are made of them, read again by others' readers."""

import csv
import xml.etree.ElementTree as ElementTree
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu import Config, Device, compile_opencl
from fgpu.cli import main
from fgpu.errors import LaunchError
from fgpu.probe import WavefrontState
from fgpu.sim import Recording
from fgpu.sim.event_log import EventKind, enabled
from fgpu.sim.traces import write_trace

from ..configurations import TWO_PORTS
from .perfetto_file import read_packets, tracks_of

_SOURCE = """\
__kernel void mixed(__global const int *in, __global int *out) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < (i & 7); k++)
        sum += in[(i * 9 + k) & 1023];
    out[i] = sum;
}
"""


def _run(*, config=None, **options):
    config = config or Config()
    image = compile_opencl(_SOURCE, filename="traced.cl", config=config)
    with Device(config, memory_latency=5) as device:
        args = [device.buffer(np.arange(1024, dtype=np.int32)), device.buffer(1024)]
        return device.launch(image, global_size=512, args=args, **options)


@pytest.fixture(scope="module")
def run():
    return _run(record=True, profile=True)


def test_recording_costs_no_cycle(run):
    plain = _run()
    assert plain.events is None
    assert (plain.cycles, plain.stats) == (run.cycles, run.stats)


def test_the_log_has_all_that_the_counters_count(run):
    log = run.events
    issues = log.of(EventKind.EVENT_ISSUE)
    assert len(issues) == run.instructions
    assert enabled(issues["value"]).sum() == run.work_item_instructions
    assert len(log.of(EventKind.EVENT_ACCESS)) == run.profile.total.phases
    cache = Counter(log.cache_events[number] for number in log.of(EventKind.EVENT_CACHE)["number"])
    assert all(run.stats[f"cache.{name}"] == cache[name] for name in log.cache_events)
    waits = Counter()
    for stay in log.stays():
        waits[stay.state.name.lower()] += stay.end - stay.start
    assert waits == {state: cycles for state, cycles in run.profile.total.waits.items() if cycles}
    bursts = Counter(burst.is_write for burst in log.bursts())
    assert bursts == {False: run.stats["axi0.read_bursts"], True: run.stats["axi0.write_bursts"]}


def test_a_window_has_its_cycles_only(run):
    log = _run(record=(200, 300)).events
    assert log.entries["cycle"].min() >= 200
    assert log.entries["cycle"].max() < 300
    whole = run.events.of(EventKind.EVENT_ISSUE)
    inside = whole[(whole["cycle"] >= 200) & (whole["cycle"] < 300)]
    assert np.array_equal(log.of(EventKind.EVENT_ISSUE), inside)
    with pytest.raises(LaunchError, match="window of a trace"):
        _run(record=(300, 200))


_OF_WAVEFRONTS = [EventKind[f"EVENT_{name}"] for name in (
    "STATE", "ISSUE", "ACCESS", "START", "END", "REFUSAL", "LOAD", "LOAD_DONE", "ARRIVE", "RELEASE", "PUSH", "SWITCH",
    "POP")]
_OF_SLICES = [EventKind[f"EVENT_{name}"] for name in (
    "REQUEST", "FILL", "EVICTION", "WRITE_BACK", "FILLED", "WRITTEN")]


def _unit_of(log, kind, unit, number):
    """What an event is of, by the names of units."""
    if kind in _OF_WAVEFRONTS:
        return f"cu{unit}.wavefront{number}"
    if kind in (EventKind.EVENT_GROUP, EventKind.EVENT_GROUP_END):
        return f"cu{unit}"
    if kind == EventKind.EVENT_CACHE:
        return f"cache.slice{log.cache_events[:number].count(log.cache_events[number])}"
    return f"cache.slice{unit}" if kind in _OF_SLICES else f"axi{unit}"


@pytest.mark.parametrize("config", [Config(), pytest.param(TWO_PORTS, marks=pytest.mark.ci)], ids=["one", "two"])
def test_chosen_units_are_recorded_alone(config, tmp_path):
    whole = _run(record=True, config=config).events
    units = np.array([_unit_of(whole, *event) for event in whole.entries[["kind", "unit", "number"]].tolist()])
    last = config.compute_units - 1
    for chosen, has in (
            (("cu0.wavefront3",), lambda unit: unit == "cu0.wavefront3"),
            ((f"cu{last}", f"axi{last}"), lambda unit: unit.startswith((f"cu{last}", f"axi{last}"))),
            (("cu",), lambda unit: unit.startswith("cu")), (("cache",), lambda unit: unit.startswith("cache")),
            ((f"cache.slice{last}",), lambda unit: unit == f"cache.slice{last}"),
            (("axi",), lambda unit: unit.startswith("axi"))):
        log = _run(record=Recording(units=chosen), config=config).events
        expected = whole.entries[[has(unit) for unit in units.tolist()]]
        assert len(expected) > 10, chosen
        assert np.array_equal(log.entries, expected), chosen
        for end in (".pftrace", ".fst", ".csv", *((".kanata", ".svg") if chosen[0].startswith("cu") else ())):
            write_trace(log, tmp_path / f"run{end}")
        there = {*filter(has, units.tolist())}
        tracks = {track.name for track in tracks_of(read_packets(tmp_path / "run.pftrace")).values()
                  if track.name.startswith(("CU", "cache slice"))}
        wholes = {name.partition(":")[0] for name in tracks}
        assert wholes == {unit.split(".")[0].replace("cu", "CU ") for unit in there if unit.startswith("cu")} | {
            unit.replace(".slice", " slice ") for unit in there if unit.startswith("cache")}
        scopes = {line.split(".")[1] for line in (tmp_path / "run.gtkw").read_text().splitlines()
                  if line.startswith("fgpu.")}
        assert scopes == {unit.split(".")[0] for unit in there}


def test_a_window_of_a_unit():
    log = _run(record=Recording((200, 300), "cu0.wavefront2")).events
    assert {*log.entries["number"].tolist()} == {2}
    assert 200 <= log.entries["cycle"].min() <= log.entries["cycle"].max() < 300


def test_units_that_there_are_not():
    with pytest.raises(LaunchError, match=r"no unit 'cu1' to record; there are cu0, cu0.wavefront0 ..., cache, "
                                          r"cache.slice0, axi0"):
        _run(record=Recording(units=("cache", "cu1")))


def test_perfettos_own_classes_read_the_file(run, tmp_path):
    write_trace(run.events, tmp_path / "run.pftrace")
    packets = read_packets(tmp_path / "run.pftrace")
    assert {"CU 0", "wavefront 7", "CU 0: wavefronts"} <= {track.name for track in tracks_of(packets).values()}
    depth, named = Counter(), Counter()
    last = {}
    for packet in packets:
        event = packet.track_event
        if event.type in (1, 2):
            assert packet.timestamp >= last.get(event.track_uuid, 0)
            last[event.track_uuid] = packet.timestamp
            depth[event.track_uuid] += 1 if event.type == 1 else -1
            assert 0 <= depth[event.track_uuid] <= 2
            named[event.name] += 1
    assert set(depth.values()) == {0}
    assert any(name.startswith("traced.cl:4: PC ") for name in named)
    assert named["memory_read"] > 0


def test_flows_lead_from_loads_to_who_waits_for_them(run, tmp_path):
    write_trace(run.events, tmp_path / "run.pftrace")
    packets = read_packets(tmp_path / "run.pftrace")
    begun, ended = {}, {}
    bursts = Counter()
    for packet in packets:
        event = packet.track_event
        for flow in event.flow_ids:
            begun[flow] = event.track_uuid, packet.timestamp, event.name
        for flow in event.terminating_flow_ids:
            ended[flow] = event.track_uuid, packet.timestamp
        bursts[event.name.split(" ")[0]] += event.type == 1
    assert begun.keys() == ended.keys()
    assert len(begun) > 8
    for flow, (track, time, name) in begun.items():
        assert ": lwp " in name
        assert ended[flow][0] == track
        assert ended[flow][1] > time
    assert (bursts["read"], bursts["write"]) == (run.stats["axi0.read_bursts"], run.stats["axi0.write_bursts"])


def test_the_fst_librarys_reader_finds_the_events(run, tmp_path):
    import pylibfst as fst

    write_trace(run.events, tmp_path / "run.fst")
    file = fst.lib.fstReaderOpen(str(tmp_path / "run.fst").encode())
    signals = fst.get_scopes_signals2(file)[1]
    values = {name: [] for name in signals.by_name}

    def note(_, time, handle, value, length=-1):
        text = fst.ffi.string(value, length).decode()
        values[signals.by_handle[handle].name].append((time, text))

    fst.lib.fstReaderSetFacProcessMaskAll(file)
    fst.fstReaderIterBlocks2(file, note, note)
    fst.lib.fstReaderClose(file)
    issue = run.events.of(EventKind.EVENT_ISSUE)["cycle"].tolist()      # never two in a row
    assert values["fgpu.cu0.issue"] == [
        (0, "0"), *(change for cycle in issue for change in ((cycle, "1"), (cycle + 1, "0")))]
    state = [(time, WavefrontState(int(value, 2))) for time, value in values["fgpu.cu0.wavefront0.state"]]
    waits = Counter()
    for (start, there), (end, _) in zip(state, [*state[1:], (run.events.end, None)], strict=True):
        waits[there] += end - start
    stays = Counter()
    for stay in run.events.stays():
        if stay.slot == 0:
            stays[stay.state] += stay.end - stay.start
    assert {there: cycles for there, cycles in waits.items() if there is not WavefrontState.FREE} == stays
    assert any(value.startswith("traced.cl:4: PC ") for _, value in values["fgpu.cu0.wavefront0.instruction"])
    shown = [line for line in (tmp_path / "run.gtkw").read_text().splitlines() if line.startswith("fgpu.")]
    assert {name.partition("[")[0] for name in shown} <= set(signals.by_name)
    assert len(shown) >= 12


def test_the_file_for_konata_goes_forward_and_retires_all(run, tmp_path):
    write_trace(run.events, tmp_path / "run.kanata")
    lines = [line.split("\t") for line in (tmp_path / "run.kanata").read_text().splitlines()]
    assert lines[0] == ["Kanata", "0004"]
    assert lines[1][0] == "C="
    assert all(int(cycles) > 0 for kind, cycles in (line[:2] for line in lines) if kind == "C")
    begun = [line[1] for line in lines if line[0] == "I"]
    assert begun
    assert sorted(begun) == sorted(line[1] for line in lines if line[0] == "R")
    started = set()
    for line in lines[2:]:
        if line[0] == "I":
            started.add(line[1])
        elif line[0] in "LSR":
            assert line[1] in started


def test_a_table_has_every_event(run, tmp_path):
    write_trace(run.events, tmp_path / "run.csv")
    with (tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.events.entries)
    assert {row["line"] for row in rows if row["event"] == "issue"} >= {"traced.cl:4", "traced.cl:5"}
    assert WavefrontState[next(row for row in rows if row["event"] == "state")["what"].upper()]


def test_a_picture_shows_what_the_wavefronts_wait_for(run, tmp_path):
    write_trace(run.events, tmp_path / "run.svg")
    places = Counter((stay.state, stay.unit, stay.slot) for stay in run.events.stays())
    drawn = Counter()
    svg = "{http://www.w3.org/2000/svg}"
    for group in ElementTree.parse(tmp_path / "run.svg").iter(f"{svg}g"):
        if group.get("id", "").startswith("PolyCollection"):
            drawn[len(group.findall(f"{svg}path")) or len(group.findall(f".//{svg}use"))] += 1
    assert drawn == Counter(places.values())


def test_the_command_writes_what_the_name_says(tmp_path):
    source = tmp_path / "traced.cl"
    source.write_text(_SOURCE)
    command = ["trace", str(source), "--global", "64", "--arg", "range:int32:1024", "--arg", "zeros:int32:1024"]
    done = CliRunner().invoke(main, [*command, "-o", str(tmp_path / "out.csv"), "--window", "100:200",
                                     "--units", "cu0.wavefront0"])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "out.csv").read_text().splitlines()) > 10
    for end in (".pftrace", ".kanata", ".fst", ".svg"):     # of a launch that leaves slots free
        done = CliRunner().invoke(main, [*command, "-o", str(tmp_path / f"out{end}")])
        assert done.exit_code == 0, done.output
    with (tmp_path / "out.csv").open() as file:
        assert {row["wavefront"] for row in csv.DictReader(file)} == {"0"}
    done = CliRunner().invoke(main, [*command, "-o", str(tmp_path / "none.csv"), "--window", "90000:90100"])
    assert done.exit_code == 0
    assert "cycles, none of which is in --record-window 90000:90100" in done.output
    for wrong, units, says in (("out.txt", "cu0", "end in .pftrace, .kanata, .fst, .csv, .svg"),
                               ("nowhere/out.csv", "cu0", "there is no folder"),
                               ("out.csv", "cu4", "there is no unit 'cu4'"),
                               ("out.kanata", "cache", ".kanata shows wavefronts only")):
        refused = CliRunner().invoke(main, [*command, "-o", str(tmp_path / wrong), "--units", units])
        assert refused.exit_code != 0
        assert says in refused.output
