"""Perfetto's files, read by Perfetto's own classes."""

from pathlib import Path
from typing import Any

__all__ = ["read_packets", "tracks_of"]


def read_packets(path: Path) -> list[Any]:
    """The packets of a file, in their order."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    return list(Trace.FromString(path.read_bytes()).packet)


def tracks_of(packets: list[Any]) -> dict[int, Any]:
    """The descriptors of the tracks, by their numbers."""
    return {packet.track_descriptor.uuid: packet.track_descriptor for packet in packets
            if packet.HasField("track_descriptor")}
