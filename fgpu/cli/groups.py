"""Commands whose help has the options in groups: a command's own first."""

from collections.abc import Callable
from typing import Any

import click

__all__ = ["COMPILER", "HARDWARE", "SIMULATION", "Option", "command", "option"]

COMPILER, SIMULATION, HARDWARE = "OpenCL C", "Simulation", "Hardware"
_ORDER = ("Options", COMPILER, SIMULATION, HARDWARE)


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
