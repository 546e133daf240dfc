"""``fgpu run``: one kernel with data from the command line."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from rich.console import Console

from fgpu.config import Config
from fgpu.extras import demand

from .files import check_outputs
from .groups import command
from .options import compiler_options, config_options, engine_options, refuse_given
from .profile_file import check_profile_file, source_lines, write_profile
from .profile_report import print_profile
from .programs import OPENCL, load_image, told_warnings
from .progress import launch_progress
from .report import array_text, counter_table, run_lines, time_table
from .values import Assignment, CycleWindow, NameList, NumberList

if TYPE_CHECKING:
    import numpy as np

    from fgpu.sim import Recording, Run

__all__ = ["run"]


@command(short_help="Run a kernel with data from the command line.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kernel", metavar="NAME", help="Which kernel, if the program has several.")
@click.option("--global", "global_size", type=NumberList(), help="Work-items, in each dimension.")
@click.option("--local", "local_size", type=NumberList(),
              help="Work-items of a work-group, in each dimension. Default: what fills wavefronts of 64 best.")
@click.option("--offset", "global_offset", type=NumberList(), help="First global id, in each dimension.")
@click.option("--arg", "arguments", multiple=True, metavar="VALUE",
              help="The next argument: a number, a vector as 1,2.5, a .npy file, or an array as random:int32:1024, "
                   "zeros:int32:32x32, ones:..., range:...., or local:BYTES of local memory for each work-group.")
@click.option("--output", "outputs", type=Assignment("2=out.npy"), multiple=True, metavar="N=FILE",
              help="After the run, save the array of argument N (from 0), or the --memory array at address N, "
                   "as a .npy file.")
@click.option("--descriptor", type=click.Path(path_type=Path), metavar="XML",
              help="Take sizes and parameters from a kernel descriptor in XML instead.")
@click.option("--memory", "preloads", type=Assignment("0x10000000=in.npy"), multiple=True, metavar="ADDRESS=VALUE",
              help="Put an array at a byte address first, as 0x10000000=in.npy.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random arrays.")
@click.option("--trace", type=click.Path(path_type=Path), metavar="VCD",
              help="Write waveforms: about ten kilobytes a cycle.")
@click.option("--trace-window", type=CycleWindow(), metavar="FROM:TO",
              help="Only these cycles of the run, up to but not including TO.")
@click.option("--trace-units", type=NameList(), default=(), metavar="UNIT[,UNIT...]",
              help="Only these units and what is in them, as cu0.scheduler,dispatcher.")
@click.option("--stats", is_flag=True, help="Also print what the hardware counted: lanes, cache, AXI ports.")
@click.option("--profile", is_flag=True,
              help="Also print the source with what each line cost, and what matters most.")
@click.option("--profile-to", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the profile: a page for the browser (.html), a picture (.svg, .png), or "
                   "everything (.json).")
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE",
              help="Write what happened in which cycle, for a viewer; as `fgpu trace -o FILE`.")
@click.option("--record-window", type=CycleWindow(), metavar="FROM:TO", help="Only these cycles, as --trace-window.")
@click.option("--record-units", type=NameList(), default=(), metavar="UNIT[,UNIT...]",
              help="Only these parts, as cu0, cu0.wavefront3, cache, cache.slice1, axi0; cu and axi: all of them.")
@click.option("--check-accesses/--no-check-accesses", default=True, show_default=True,
              help="Refuse accesses of the kernel outside its arrays, and misaligned ones.")
@click.option("--printf-order", type=click.Choice(["arrival", "work-item"]), default="arrival", show_default=True,
              help="Order in which what the kernel prints appears.")
@click.option("--printf-size", type=click.IntRange(min=64), default=1 << 20, show_default=True, metavar="BYTES",
              help="Global memory for what the kernel prints.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@compiler_options
@engine_options
@config_options()
def run(file: Path, kernel: str | None, global_size: tuple[int, ...] | None, local_size: tuple[int, ...] | None,
        global_offset: tuple[int, ...] | None, arguments: tuple[str, ...], outputs: tuple[tuple[int, str], ...],
        descriptor: Path | None, preloads: tuple[tuple[int, str], ...], seed: int, trace: Path | None,
        trace_window: tuple[int, int] | None, trace_units: tuple[str, ...], stats: bool, profile: bool,
        profile_to: Path | None, record: Path | None,
        record_window: tuple[int, int] | None, record_units: tuple[str, ...], check_accesses: bool,
        printf_order: Literal["arrival", "work-item"], printf_size: int, as_json: bool,
        options: tuple[str, ...], engine: str, latency: Any, max_cycles: int, config: Config) -> None:
    """Run a kernel: OpenCL C (.cl), assembly (.s) or an image (.mif, .json).

    \b
    Example:
      fgpu run vec_add.cl --global 1024 --arg random:int32:1024 \\
          --arg random:int32:1024 --arg zeros:int32:1024 --output 2=sum.npy
    """
    demand("fgpu run", "sim", *(["opencl"] if file.suffix.lower() in OPENCL else []))
    from fgpu.compiler import Image
    from fgpu.sim import Device, KernelDescriptor, Printf, Trace
    from fgpu.sim.traces import write_trace

    from .arrays import Arrays, check_array_files  # late, as it imports NumPy

    if (global_size is None) == (descriptor is None):
        raise click.UsageError("give either --global with the number of work-items, or --descriptor")
    if descriptor is not None and (arguments or local_size or global_offset or kernel):
        raise click.UsageError("--descriptor already has the entry, the sizes and the parameters")
    if stats and engine == "functional":
        raise click.UsageError("the functional engine counts nothing; --stats needs --engine verilator or pysim")
    if descriptor is not None and (profile or profile_to or record):
        raise click.UsageError("profiles and records are of kernels with --global; --descriptor has none")
    recording = _recording(record, record_window, record_units, config)
    if profile_to is not None:
        check_profile_file(profile_to)
    if trace is None and (trace_window is not None or trace_units):
        raise click.UsageError("--trace-window and --trace-units choose from what --trace VCD writes; give it, too")
    check_outputs([(name, path) for name, path in (
        ("--trace", trace), ("--record", record), ("--profile-to", profile_to),
        *((f"--output {key}", Path(path)) for key, path in outputs)) if path is not None], file)
    check_array_files(outputs)
    if engine == "functional":
        refuse_given("engines with a clock: --engine verilator or pysim", "latency")
    image = load_image(file, config, options, () if kernel is None else (kernel,))
    if not image.kernels:
        image = Image.from_words(image.words, {"main": 0})
    arrays = Arrays(arguments, preloads, seed)
    waves = None if trace is None else Trace(trace, window=trace_window, units=trace_units)
    printf = Printf(order=printf_order, size=printf_size, to=lambda text: click.echo(
        text, nl=not text.endswith("\n"), err=as_json))      # with --json, standard output is JSON alone
    with launch_progress() as progress, told_warnings(), Device(
            config, engine=engine, memory_latency=latency, trace=waves, check_accesses=check_accesses,
            progress=progress, printf=printf) as device:
        args = arrays.put(device)
        arrays.check_keys(outputs)
        if descriptor is not None:
            parsed, slot = KernelDescriptor.from_xml(descriptor)
            parsed.check_divisible()
            done = device.launch_descriptor(image, parsed.words(), slot=slot, max_cycles=max_cycles)
        else:
            assert global_size is not None
            done = device.launch(image, kernel, global_size=global_size, local_size=local_size, args=args,
                                 global_offset=global_offset, max_cycles=max_cycles,
                                 profile=profile or profile_to is not None,
                                 record=recording or False)
        arrays.fetch()
    arrays.save(outputs)
    for option, window in (("--trace-window", trace_window), ("--record-window", record_window)):
        if window is not None and done.cycles is not None and window[0] >= done.cycles:
            click.echo(f"Warning: the run took {done.cycles:,} cycles, none of which is in {option} "
                       f"{window[0]}:{window[1]}", err=True)
    if record is not None:
        assert done.events is not None
        write_trace(done.events, record)
    if profile_to is not None:
        assert done.profile is not None
        write_profile(done.profile, profile_to)
    if as_json:
        click.echo(json.dumps({**asdict(replace(done, profile=None, events=None)),
                               "cycles_per_second": done.cycles_per_second,
                               "profile": done.profile.to_json() if profile and done.profile else None}))
        return
    _print(done, arrays.changed(), stats, profile)


def _recording(path: Path | None, window: tuple[int, int] | None, units: tuple[str, ...],
               config: Config) -> "Recording | None":
    """What ``--record`` asks for, if it can be written."""
    from fgpu.sim import Recording
    from fgpu.sim.traces import check_trace

    if path is None:
        if window is not None or units:
            raise click.UsageError("--record-window and --record-units choose from what --record writes; "
                                   "give it, too")
        return None
    recording = Recording(window, units)
    check_trace(path, recording.parts(config))
    return recording


def _print(done: "Run", changed: "dict[str, np.ndarray]", stats: bool, profile: bool) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{done.kernel}[/] on the {done.engine} engine")
    for line in run_lines(done):
        console.print(f"  {line}")
    for name, array in changed.items():
        console.print(f"  {name} is now {array_text(array)}", soft_wrap=True)
    table = time_table(done.stats)
    if table is not None:
        console.print("Where the compute units' time went:")
        console.print(table)
    if stats:
        console.print("What the hardware counted:")
        console.print(counter_table(done.stats))
    if done.profile is not None and profile:
        print_profile(console, done.profile, source_lines(done.profile))
