"""``python -m tests.conformance``."""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from fgpu.errors import FgpuError

from .build import FETCH, Suite, describe
from .groups import GROUPS
from .outcome import Outcome, Store
from .platforms import Target, choose, wake
from .report import commits, markdown, rows, table
from .run import Run, run_all, subtests
from .why import WHY

_WIDTH: Final = 120
"""Columns of the table where there is no terminal."""
_DEVICES: Final = "FGPU_OPENCL_DEVICES"
_OURS: Final = "FGPU"
_HERE: Final = Path(__file__).parents[2]
_HELP = f"""Run the Khronos conformance tests that apply to OpenCL 1.2 without images, and print a table.

The suite is not a part of this project. Fetch it and what it is built with into the folder that --cts names:

\b
{FETCH}
Programs are built there when they are first needed, by cmake (pip install cmake ninja) and a C++ compiler, in 10 to
150 s each; the group compiler wants spirv-as, too (apt install spirv-tools). Each subtest runs in a process of its
own. Outcomes are kept in a file: what has an outcome is not run again, unless --again says so. Long groups are
shortened; the table says how.

Subtests for several devices take two of the platform's. On the FGPU the second one is simulated cycle by cycle, with
a model that takes minutes to build; FGPU_OPENCL_DEVICES="functional compute_units=4; functional compute_units=4" has
two fast ones. An .icd in a folder of your own is found by OCL_ICD_VENDORS=FOLDER (fgpu opencl install --folder
FOLDER).

\b
Groups: {", ".join(GROUPS)}.
"""


def _groups(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[str]:
    names = str(value or "all").replace(",", " ").split()
    names = list(GROUPS) if names == ["all"] else names
    for name in names:
        if name not in GROUPS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(GROUPS)}")
    return names


@click.command(help=_HELP)
@click.option("--cts", type=click.Path(path_type=Path, file_okay=False, exists=True), required=True, metavar="FOLDER",
              help="The folder with OpenCL-CTS, OpenCL-Headers and SPIRV-Headers.")
@click.option("--groups", callback=_groups, metavar="NAMES", help="Names with commas between; all by default.")
@click.option("--subtest", "only", multiple=True, metavar="NAME", help="Only this subtest; may be repeated.")
@click.option("--platform", default=_OURS, show_default=True, help="A part of the platform's name.")
@click.option("--device", metavar="NAME", help="A part of the device's name; the first device by default.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Subtests beside each other.")
@click.option("--timeout", default=300.0, show_default=True, help="Seconds a subtest; long groups get twice that.")
@click.option("--cpu", type=float, metavar="SECONDS",
              help="Processor time a subtest, too, which other work on the machine does not use up; long groups get "
                   "twice that.")
@click.option("--instructions", type=click.IntRange(0), metavar="N",
              help="Run only subtests that issue at most N wavefront instructions, by their outcomes on any device; "
                   "the shortest first. A simulation of one compute unit takes 8 cycles for each. The table counts "
                   "those that are longer.")
@click.option("--brief", count=True,
              help="Shorten groups further, for a device that is simulated cycle by cycle; what has a verdict in a "
                   "longer form is not run again. Given twice, where there is a shorter form still, in that.")
@click.option("--json", "results", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Where outcomes are kept, one a line.  [default: FOLDER/outcomes.jsonl]")
@click.option("--again", default="", metavar="VERDICTS",
              help="Outcomes to replace: all, or of pass,fail,skip,crash,timeout.")
@click.option("--logs", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Keep there what programs print.")
@click.option("--markdown", "page", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the table of these groups, and what fails, to this file.")
@click.option("--also", metavar="NAME", multiple=True,
              help="A device of the outcomes' file, for a further table in the Markdown; may be repeated.")
@click.option("--note", metavar="TEXT", help="A remark for the Markdown, about what the outcomes are of.")
@click.option("--report-only", is_flag=True, help="Run nothing: table and Markdown of what there is.")
@click.option("--headers", type=click.Path(path_type=Path, exists=True), help="OpenCL headers instead of FOLDER's.")
@click.option("--library", type=click.Path(path_type=Path, exists=True), help="The ICD loader to link with.")
@click.option("--list", "listing", is_flag=True, help="Print the subtests and their outcomes; run nothing.")
def main(cts: Path, groups: Sequence[str], only: Sequence[str], platform: str, device: str | None, jobs: int,
         timeout: float, cpu: float | None, instructions: int | None, brief: int, results: Path | None, again: str,
         logs: Path | None, page: Path | None, also: Sequence[str], note: str | None, report_only: bool,
         headers: Path | None, library: Path | None, listing: bool) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))       # ends what runs, too
    try:
        target = choose(platform, device)
        suite = Suite(cts, headers=headers, library=library, jobs=jobs)
        store = Store(results or cts / "outcomes.jsonl")
        runs = [_form(run, store, brief)
                for name in groups for run in _runs(suite, name, target, timeout, cpu, logs)]
        todo = [] if report_only or listing else _due([run for run in runs if not only or run.subtest in only], store,
                                                      again.replace(",", " ").split(), instructions)
        if todo:
            wake(target)
    except FgpuError as error:
        raise click.ClickException(str(error)) from None
    if listing:
        for run in runs:
            outcome = store.get(run.key)
            click.echo(f"{run.group.folder} {run.subtest} {outcome.verdict if outcome else '-'}")
        return
    _run(todo, store, jobs)
    names: dict[str, list[str]] = {}
    for run in runs:
        names.setdefault(run.group.folder, []).append(run.subtest)
    longer = _longer(runs, store, instructions)
    shown = rows(store.of(_name(target)), names, longer)
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table(shown))
    if page is not None:
        facts = {"Device": f"{target.device}, {target.version}, {target.profile}", "Suite": suite.commit(),
                 "Commits of fgpu": commits(shown)}
        if devices := os.environ.get(_DEVICES):
            facts["Devices"] = f"`{_DEVICES}=\"{devices}\"`"
        if note:
            facts["Note"] = note
        others = {name: [row for row in rows(store.of(name), names, longer) if row.outcomes]
                  for name in _named(also, store)}
        page.write_text(markdown(shown, facts, WHY, others))
    sys.exit(any(outcome.verdict not in ("pass", "skip") for row in shown for outcome in row.outcomes))


def _runs(suite: Suite, name: str, target: Target, timeout: float, cpu: float | None,
          logs: Path | None) -> list[Run]:
    group = GROUPS[name]
    program = suite.program(group)
    commit = describe(_HERE) if target.platform == _OURS else ""
    return [Run(group=group, subtest=subtest, program=program, device=_name(target),
                environment=target.environment, timeout=timeout * group.limit, logs=logs,
                commit=commit, cpu=None if cpu is None else cpu * group.limit)
            for subtest in subtests(program, group)]


def _form(run: Run, store: Store, brief: int) -> Run:
    """The run ``brief`` times shortened, or as often as it can be: less, if a longer one has an outcome that is a
    verdict."""
    def is_known(form: Run) -> bool:
        ended = store.get(form.key)
        return ended is not None and ended.is_verdict

    forms = [replace(run, group=group) for group in run.group.forms[:brief + 1]]
    return next(filter(is_known, forms), forms[-1])


def _due(runs: Sequence[Run], store: Store, again: Sequence[str], most: int | None) -> list[Run]:
    def due(outcome: Outcome | None) -> bool:
        return outcome is None or "all" in again or outcome.verdict in again

    found = [run for run in runs if due(store.get(run.key))]
    if most is None:
        return found
    work = [(store.instructions(run.key), run) for run in found]
    known = [(count, run) for count, run in work if count is not None and count <= most]
    return [run for _, run in sorted(known, key=lambda each: each[0])]


def _longer(runs: Sequence[Run], store: Store, most: int | None) -> dict[tuple[str, str], int]:
    """The instructions of subtests, by group and name, whose shortest form issues more."""
    if most is None:
        return {}
    counts = {run.key[1:3]: store.instructions(replace(run, group=run.group.forms[-1]).key) for run in runs}
    return {(group, subtest): count for (group, subtest), count in counts.items()
            if count is not None and count > most}


def _run(todo: Sequence[Run], store: Store, jobs: int) -> None:
    for number, outcome in enumerate(run_all(todo, jobs=jobs), start=1):
        store.add(outcome)
        click.echo(f"[{number}/{len(todo)}] {outcome.group} {outcome.subtest}: {outcome.verdict}"
                   f" ({outcome.seconds:g} s) {outcome.reason}".rstrip())


def _named(parts: Sequence[str], store: Store) -> list[str]:
    """Devices of the outcomes, by parts of their names."""
    found = [(part, [name for name in store.devices if part.lower() in name.lower()]) for part in parts]
    if lacking := [part for part, names in found if not names]:
        raise click.ClickException(f"no outcomes in {store.path} are of a device {lacking[0]!r}; those there are of "
                                   f"{', '.join(store.devices) or 'nothing'}")
    return list(dict.fromkeys(name for _, names in found for name in names))


def _name(target: Target) -> str:
    return f"{target.platform}: {target.device}"


if __name__ == "__main__":
    main(prog_name="python -m tests.conformance")
