"""The outcomes as a table on the terminal and as a page of the documents."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from .groups import GROUPS, Group
from .outcome import Outcome

__all__ = ["Row", "commits", "markdown", "rows", "table"]

_COLUMNS = ("group", "subtests", "pass", "fail", "skip", "crash", "time-out", "not run", "too long", "minutes",
            "processor", "shortened")


@dataclass(frozen=True)
class Row:
    """A group's outcomes, counted."""

    group: Group
    outcomes: tuple[Outcome, ...]
    subtests: int
    longer: Mapping[str, int]
    """The wavefront instructions of subtests without an outcome that issue more than those that were to be run."""

    @property
    def cells(self) -> tuple[str, ...]:
        """A text for each column."""
        count = Counter(outcome.verdict for outcome in self.outcomes)
        minutes = sum(outcome.seconds for outcome in self.outcomes) / 60
        processor = sum(outcome.processor for outcome in self.outcomes) / 60
        return (self.group.folder, str(self.subtests),
                *(str(count[verdict]) for verdict in ("pass", "fail", "skip", "crash", "timeout")),
                str(self.subtests - len(self.outcomes)), str(len(self.longer)),
                f"{minutes:.1f}", f"{processor:.1f}", self._note)

    @property
    def _note(self) -> str:
        """How the group was shortened, and how many subtests further."""
        counts = Counter(outcome.options for outcome in self.outcomes)
        used = [(counts[form.arguments], form.note) for form in reversed(self.group.forms) if counts[form.arguments]]
        *shorter, (_, longest) = used or [(0, self.group.note)]
        notes = [f"{count} subtests: {note}" for count, note in shorter]
        return "; ".join([*notes, *([f"others: {longest}"] if longest else [])]) if notes else longest


def rows(outcomes: Sequence[Outcome], subtests: Mapping[str, Collection[str]],
         longer: Mapping[tuple[str, str], int]) -> list[Row]:
    """A row for each group of ``subtests``, with the outcomes that were made with the options that it has now: of a
    subtest that of a shorter form, if there is no verdict of a longer one. ``longer`` has the instructions of
    those that are too long to be run, by group and name."""
    found = {(outcome.group, outcome.subtest, outcome.options): outcome for outcome in outcomes}

    def best(group: Group, subtest: str) -> Outcome | None:
        all_forms = [outcome for form in group.forms
                     if (outcome := found.get((group.folder, subtest, form.arguments)))]
        return next((outcome for outcome in all_forms if outcome.is_verdict), all_forms[0] if all_forms else None)

    def row(group: Group, own: Collection[str]) -> Row:
        all_best = {subtest: best(group, subtest) for subtest in own}
        missing = {subtest: longer[group.folder, subtest] for subtest, outcome in all_best.items()
                   if outcome is None and (group.folder, subtest) in longer}
        return Row(group, tuple(filter(None, all_best.values())), len(own), missing)

    return [row(GROUPS[name], own) for name, own in subtests.items()]


def _total(all_rows: Sequence[Row]) -> tuple[str, ...]:
    numbers = zip(*(row.cells[1:-1] for row in all_rows), strict=True)
    *counts, minutes, processor = [sum(map(float, column)) for column in numbers] if all_rows \
        else [0.0] * (len(_COLUMNS) - 2)
    return ("all", *(str(round(count)) for count in counts), f"{minutes:.1f}", f"{processor:.1f}", "")


def table(all_rows: Sequence[Row]) -> Table:
    """For the terminal."""
    result = Table(*_COLUMNS)
    for row in all_rows:
        result.add_row(*row.cells)
    result.add_section()
    result.add_row(*_total(all_rows))
    return result


def commits(all_rows: Sequence[Row]) -> str:
    """Of which commits of fgpu the outcomes are, and how many of each."""
    counts = Counter(outcome.commit or "not noted" for row in all_rows for outcome in row.outcomes)
    return ", ".join(f"{commit} ({count})" for commit, count in counts.most_common())


def markdown(all_rows: Sequence[Row], facts: Mapping[str, str], why: Mapping[str, str],
             others: Mapping[str, Sequence[Row]] | None = None) -> str:
    """For ``docs/``: the table, then each subtest that did not pass, with its reason, and the same of ``others``, by
    the names of their devices.

    ``why`` says more about a subtest (``group/subtest``), or about all of a group (``group``), than its program does.
    """
    lines = ["# Conformance", "",
             "The Khronos conformance tests of OpenCL 1.2, without images. This page is made by "
             "`python -m tests.conformance --markdown`; `--help` says how to get the suite.", "",
             *(f"- {name}: {value}" for name, value in facts.items()), "",
             "A subtest that is skipped tests what the device does not claim to have: the harness decides that. "
             "A time-out is no verdict. Too long are those, of the ones that were not run, which issue more "
             "instructions than `--instructions` allows. Minutes are by the clock, beside other work on the machine, "
             "then of the processor, as far as outcomes tell them.", "",
             *_grid(_COLUMNS, [*(row.cells for row in all_rows), _total(all_rows)]),
             *_refused("## What does not pass", all_rows, why), *_too_long("## What is too long", all_rows)]
    for name, rows in (others or {}).items():
        lines += ["", f"## {name}", "", "Groups of which anything was run:", "",
                  *_grid(_COLUMNS, [*(row.cells for row in rows), _total(rows)]),
                  *_refused("### What does not pass there", rows, why),
                  *_too_long("### What is too long there", rows)]
    return "\n".join(lines) + "\n"


def _refused(head: str, all_rows: Sequence[Row], why: Mapping[str, str]) -> list[str]:
    bad = [outcome for row in all_rows for outcome in row.outcomes if outcome.verdict not in ("pass", "skip")]
    if not bad:
        return []
    return ["", head, "",
            *_grid(("group", "subtest", "", "what the program says, or why"),
                   [(outcome.group, outcome.subtest, outcome.verdict, _why(outcome, why)) for outcome in bad])]


def _too_long(head: str, all_rows: Sequence[Row]) -> list[str]:
    """What was left out, and by how much it is too long."""
    long = [row for row in all_rows if row.longer]
    if not long:
        return []
    return ["", head, "", "In millions of wavefront instructions, as each is shortened most:", "",
            *_grid(("group", "subtests"), [(row.group.folder, _counts(row.longer)) for row in long])]


def _counts(instructions: Mapping[str, int]) -> str:
    return ", ".join(f"{subtest} {count / 1e6:.1f}"
                     for subtest, count in sorted(instructions.items(), key=lambda each: each[1]))


def _why(outcome: Outcome, why: Mapping[str, str]) -> str:
    return why.get(f"{outcome.group}/{outcome.subtest}") or why.get(outcome.group) or outcome.reason


def _grid(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
            for row in (heads, ["---"] * len(heads), *body)]
