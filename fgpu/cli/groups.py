"""Commands, whose errors become a line, and whose help has the options in groups: a command's own first."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from fgpu.errors import FgpuError

__all__ = ["COMPILER", "HARDWARE", "SIMULATION", "ErrorGroup", "Option", "command", "option"]

COMPILER, SIMULATION, HARDWARE = "OpenCL C", "Simulation", "Hardware"
_ORDER = ("Options", COMPILER, SIMULATION, HARDWARE)


class ErrorGroup(click.Group):
    """A group whose commands answer every error of fgpu with its message and exit code 1."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """As click's, which prints help and versions here."""
        with _told():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; the project's errors become a line on standard error and exit status 1."""
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="replace")    # a terminal of Latin-1 has no bars, but shows the rest
        with _told():
            return super().invoke(ctx)


@contextmanager
def _told() -> Iterator[None]:
    """Turns errors into those that click prints as a line."""
    try:
        yield
    except FgpuError as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        raise   # click ends quietly when the reader of a pipe has
    except OSError as error:
        if error.filename is None:
            # What could not be written waits in a buffer, and would be tried again, and told again, at exit.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.ClickException(f"{error.filename or 'input/output'}: {error.strerror or error}") from error


class Option(click.Option):
    """An option that commands share, under the heading ``group`` of their help."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class _Command(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups[parameter.group if isinstance(parameter, Option) else _ORDER[0]].append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """As :func:`click.command`."""
    return click.command(name, cls=_Command, **attributes)


def option(*names: str, group: str, **attributes: Any) -> Callable[[Any], Any]:
    """As :func:`click.option`, in a group of the help."""
    return click.option(*names, cls=Option, group=group, **attributes)
