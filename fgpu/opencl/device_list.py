"""Which devices the platform offers, as the environment or the default says: simulators, or hardware."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from fgpu.config import Config
from fgpu.engines import BOARD, ENGINES, MAPPED
from fgpu.errors import ConfigError, FgpuError

__all__ = ["CLOCK_MHZ", "DEFAULT_DEVICES", "VARIABLE", "DeviceListError", "Offer", "offers"]

CLOCK_MHZ: Final = 50
"""The clock whose cycles profiling tells as time, if a device's line says no other. Below what the whole core of the
default configuration reaches, routed on an ECP5 of speed grade 6 (docs/frequency.md)."""

VARIABLE: Final = "FGPU_OPENCL_DEVICES"
"""The environment variable with other devices: their lines with ``;`` between, or the path of a file."""

DEFAULT_DEVICES: Final = "functional compute_units=4; verilator; verilator compute_units=4"
"""What there is without the variable. Unmodified programs that ask for GPU or DEFAULT get the first, on which a
launch takes a fraction of a millisecond; the other engines count cycles, and build a model for minutes first."""

_HARDWARE: Final = (BOARD, MAPPED)
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
    port: str | None = None
    """Where the hardware is."""
    timeout: float | None = None
    """Seconds that a board's answer may take; None: the driver's own."""


def offers() -> list[Offer]:
    """The devices of the environment's list, without hardware that is not there. Raises :class:`DeviceListError`."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _parsed(DEFAULT_DEVICES.split(";"), "the default")
    if "/" not in text or text.split()[0] in (*ENGINES, *_HARDWARE):
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
    if sum(offer.port is not None for offer in found) > 1:
        raise DeviceListError(f"{where}: all devices share the hardware's memory, so there may be one of it")
    missing = [offer.port for offer in found if offer.port is not None and not Path(offer.port).exists()]
    found = [offer for offer in found if offer.port not in missing]
    if not found:
        raise DeviceListError(f"{where} has no device: there is no {missing[0]}")
    named: list[Offer] = []
    for offer in found:
        twins = sum(other.name.partition(" #")[0] == offer.name for other in named)
        named.append(replace(offer, name=f"{offer.name} #{twins + 1}") if twins else offer)
    return named


def _offer(line: str, where: str) -> Offer:
    """The device of a line: an engine, and ``name=value`` of :class:`Config`, ``preset`` or ``clock``; of hardware,
    ``port``, and of a board ``timeout``, but no configuration, which it tells itself."""

    def wrong(why: object) -> DeviceListError:
        return DeviceListError(f"{where}: {line.strip()!r}: {why}")

    engine, *rest = line.split()
    if engine not in (*ENGINES, *_HARDWARE):
        raise wrong(f"the first word must be an engine, {', '.join((*ENGINES, *_HARDWARE))}, not {engine!r}")
    if engine == BOARD:
        return _board(rest, wrong)
    names = [field.name for field in fields(Config)]
    port = next((word.partition("=")[2] for word in rest if word.startswith("port=")), None)
    rest = [word for word in rest if not word.startswith("port=")]
    if (engine == MAPPED) != bool(port):
        raise wrong("port=/dev/uio0, or another device, is what mapped needs" if engine == MAPPED else
                    f"port is for {' and '.join(_HARDWARE)}")
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
        unsaid = {} if port else _FULL
        config = Config.preset(preset, **given) if preset is not None else Config(**{**unsaid, **given})
    except ConfigError as error:
        raise wrong(error) from None
    units = f"{config.compute_units} CU" + "s" * (config.compute_units > 1)
    return Offer(f"FGPU {engine} {units}" + (f" {preset}" if preset else ""), engine, config, clock, port)


def _board(words: Sequence[str], wrong: Callable[[object], DeviceListError]) -> Offer:
    """A board, whose configuration and clock are known when it is opened."""
    given = dict(word.partition("=")[::2] for word in words)
    try:
        timeout = float(given.pop("timeout")) if "timeout" in given else None
    except ValueError:
        raise wrong("timeout must be in seconds") from None
    if not given.get("port") or len(given) > 1:
        raise wrong("a board is 'board port=/dev/ttyUSB0', and timeout=SECONDS; it tells itself which core it has")
    return Offer("FGPU board", BOARD, Config(), port=given["port"], timeout=timeout)


def _number(text: str) -> object:
    """An integer or a boolean, if it is one."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isascii() and text.isdigit() else text
