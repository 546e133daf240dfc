"""What ``--write-baseline`` does, in whatever command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

__all__ = ["progress_bar", "refuse_other_options", "rewrite", "steps"]


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on the terminal, if there is one, that is told how many are done, and of how many."""
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                  console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def steps(text: str) -> Iterator[Callable[[str], None]]:
    """For what takes minutes: is told each step as it begins. It stands on the terminal, with the time since the
    ``text`` was put there; where there is none, each step is a line of standard error."""
    console = Console(stderr=True)
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
                  console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(text, total=None)

        def tell(step: str) -> None:
            if console.is_terminal:
                progress.update(task, description=f"{text}: {step}")
            else:
                click.echo(f"{text}: {step}", err=True)

        yield tell


def refuse_other_options(*allowed: str) -> None:
    """Raise :class:`click.UsageError` if the running command was given more than ``--write-baseline``, or the options
    that are ``allowed`` instead, of which the first writes."""
    allowed = allowed or ("write_baseline",)
    context = click.get_current_context()
    if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT
           for name in context.params if name not in allowed):
        raise click.UsageError(f"--{allowed[0].replace('_', '-')} goes with no other option"
                               + (f" but --{' and --'.join(allowed[1:])}" if allowed[1:] else "")
                               + ": baselines are of one configuration")


def rewrite(guard: Any, what: str, text: str) -> None:
    """Measure anew what ``guard`` keeps; tell what moved.

    It is :mod:`fgpu.benchmarks.baseline` or :mod:`fgpu.benchmarks.area`.
    """
    before = guard.load()
    with progress_bar(text) as update:
        figures = guard.measure(progress=update)
    guard.save(figures)
    for line in guard.differences(before, figures):
        click.echo(line)
    click.echo(f"{len(figures)} {what} are in {guard.BASELINE}")
