"""Which devices the platform offers: engines and configurations, as the environment or the default says."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from fgpu.config import Config
from fgpu.engines import ENGINES
from fgpu.errors import ConfigError, FgpuError

__all__ = ["CLOCK_MHZ", "DEFAULT_DEVICES", "VARIABLE", "DeviceListError", "Offer", "offers"]

CLOCK_MHZ: Final = 50
"""The clock whose cycles profiling tells as time, if a device's line says no other. Below what the whole core of the
default configuration reaches, routed on an ECP5 of speed grade 6 (docs/architecture.md, Frequency)."""

VARIABLE: Final = "FGPU_OPENCL_DEVICES"
"""The environment variable with other devices: their lines with ``;`` between, or the path of a file."""

DEFAULT_DEVICES: Final = "functional compute_units=4; verilator; verilator compute_units=4"
"""What there is without the variable. Unmodified programs that ask for GPU or DEFAULT get the first, on which a
launch takes a fraction of a millisecond; the other engines count cycles, and build a model for minutes first."""

_FULL: Final = {"atomics": "all", "float_ops": "all", "local_memory": 32, "cram_size": 64}
"""What a device has that its line does not name: all that the full profile asks for."""


class DeviceListError(FgpuError, ValueError):
    """A list of devices that says what there cannot be; the message names the line."""


@dataclass(frozen=True)
class Offer:
    """A device that the platform offers."""

    name: str
    engine: str
    config: Config
    clock: int = CLOCK_MHZ
    """MHz."""


def offers() -> list[Offer]:
    """The devices of the environment's list. Raises :class:`DeviceListError`."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _parsed(DEFAULT_DEVICES.split(";"), "the default")
    if "/" not in text:
        return _parsed(text.split(";"), VARIABLE)
    try:
        lines = Path(text).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DeviceListError(f"{VARIABLE} names the file {text}, which cannot be read: {error}") from None
    return _parsed([line.partition("#")[0] for line in lines], text)


def _parsed(lines: Sequence[str], where: str) -> list[Offer]:
    found = [_offer(line, where) for line in lines if line.strip()]
    if not found:
        raise DeviceListError(f"{where} has no device; one is, say, 'verilator compute_units=4'")
    named: list[Offer] = []
    for offer in found:
        twins = sum(other.name.partition(" #")[0] == offer.name for other in named)
        named.append(Offer(f"{offer.name} #{twins + 1}", offer.engine, offer.config, offer.clock) if twins else offer)
    return named


def _offer(line: str, where: str) -> Offer:
    """The device of a line: an engine, and ``name=value`` of :class:`Config`, ``preset`` or ``clock``."""

    def wrong(why: object) -> DeviceListError:
        return DeviceListError(f"{where}: {line.strip()!r}: {why}")

    engine, *rest = line.split()
    if engine not in ENGINES:
        raise wrong(f"the first word must be an engine, {', '.join(ENGINES)}, not {engine!r}")
    names = [field.name for field in fields(Config)]
    given: dict[str, Any] = {}
    for word in rest:
        name, equals, value = word.partition("=")
        if not equals or name not in (*names, "preset", "clock"):
            raise wrong(f"{word!r} is not name=value with the name 'clock', 'preset' or one of Config's: "
                        f"{', '.join(names)}")
        given[name] = value if name in ("preset", "atomics", "float_ops", "float_lanes") else _number(value)
    clock = given.pop("clock", CLOCK_MHZ)
    if isinstance(clock, bool) or not isinstance(clock, int) or clock < 1:
        raise wrong(f"clock must be in MHz, a whole number from 1, not {clock!r}")
    preset = given.pop("preset", None)
    try:
        config = Config.preset(preset, **given) if preset is not None else Config(**{**_FULL, **given})
    except ConfigError as error:
        raise wrong(error) from None
    units = f"{config.compute_units} CU" + "s" * (config.compute_units > 1)
    return Offer(f"FGPU {engine} {units}" + (f" {preset}" if preset else ""), engine, config, clock)


def _number(text: str) -> object:
    """An integer or a boolean, if it is one."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isascii() and text.isdigit() else text
