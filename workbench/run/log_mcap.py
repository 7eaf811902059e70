"""A log as MCAP, for viewers of recorded data (Foxglove, PlotJuggler, Rerun): one message a row, as JSON with a schema.

    channel  run            messages {"t": time in s, "p_a1": 1.2e7, …}; a value that is not finite is left out
    schema   fluidproof.Row JSON Schema: every signal with its unit and meaning
    metadata provenance, status

An MCAP counts whole nanoseconds from 0: `log_time` is t to half a nanosecond, "t" is t itself. It is for looking at; what shall
be read back is saved as NetCDF.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.files.atomic import check_writable, write_atomic

if TYPE_CHECKING:
    from workbench.run.log import Log

CHANNEL = "run"
SCHEMA = "fluidproof.Row"
LAST = 2**63 // 10**9  # s, that nanoseconds in 64 bits reach
TIME = {"type": "number", "unit": "s", "description": "time [s]"}


def write_mcap(log: Log, path: str | os.PathLike) -> None:
    """The log as MCAP, see `Log.save`. Raises InputError where it cannot be carried, or the package `mcap` is missing."""
    writer = _writer()
    check_writable(path)
    _check(log, path)
    write_atomic(path, lambda stream: _write(log, writer(stream)))


def _writer() -> Any:
    try:
        from mcap.writer import Writer
    except ImportError:
        raise InputError(
            "writing MCAP needs the package mcap", mend="pip install 'fluidproof[mcap]'"
        ) from None
    return Writer


def _check(log: Log, path: str | os.PathLike) -> None:
    """InputError for times that MCAP has no room for, and for a signal that has the name of the time."""
    if log.time[0] < 0 or log.time[-1] > LAST:
        raise InputError(
            f"MCAP counts nanoseconds from 0 to {LAST:.3g} s, and this log goes from {log.time[0]:g} s to {log.time[-1]:g} s",
            file=os.fspath(path),
            mend="save it as .nc, or take a window of it",
        )
    if "t" in log:
        raise InputError(
            "the log has a signal 't', as the time of a message is called",
            file=os.fspath(path),
            mend="save it as .nc, or rename the signal",
        )


def schema_of(log: Log) -> dict[str, Any]:
    """JSON Schema of a row."""
    signals = {
        s.name: {
            "type": "number",
            "unit": s.unit,
            "description": f"{s.meaning or s.name} [{s.unit}]",
        }
        for s in log.signals
    }
    return {"title": SCHEMA, "type": "object", "properties": {"t": TIME, **signals}}


def _write(log: Log, writer: Any) -> None:
    writer.start(profile="", library="fluidproof")
    schema = writer.register_schema(
        name=SCHEMA, encoding="jsonschema", data=json.dumps(schema_of(log)).encode()
    )
    channel = writer.register_channel(topic=CHANNEL, message_encoding="json", schema_id=schema)
    names = log.names
    for k, (t, row) in enumerate(zip(log.time.tolist(), log.values)):
        finite = np.isfinite(row).tolist()
        values = {name: v for name, v, ok in zip(names, row.tolist(), finite) if ok}
        stamp = round(t * 1e9)
        writer.add_message(
            channel_id=channel,
            log_time=stamp,
            publish_time=stamp,
            sequence=k,
            data=json.dumps({"t": t, **values}).encode(),
        )
    writer.add_metadata("provenance", {"json": json.dumps(log.provenance)})
    writer.add_metadata("status", {"json": json.dumps(asdict(log.status))})
    writer.finish()
