"""Files of a log: NetCDF-4, one variable a signal, read back bit for bit; comma-separated text.

A file is written whole or not at all. Its numbers are packed without loss.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.system import Signal
from workbench.run.log_mat import FORMAT, MARK, read_mat, write_mat
from workbench.run.room import release
from workbench.run.status import Status

if TYPE_CHECKING:
    from workbench.run.log import Log

PART = 1 << 15  # rows that are copied at once


def writer(path: str | os.PathLike) -> Callable[[Log, str | os.PathLike], None]:
    """What writes a log to a file of this name."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".mcap":
        from workbench.run.log_mcap import write_mcap

        return write_mcap
    if ending == ".mat":
        return write_mat
    return write_csv if ending == ".csv" else write_netcdf


def reader(path: str | os.PathLike) -> Callable:
    """What reads a log from a file of this name."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".mat":
        return read_mat
    if ending in (".mcap", ".csv"):
        raise InputError(
            f"{ending} is written for other programs, and not read back",
            file=os.fspath(path),
            mend="save the log as .nc or .mat beside it",
        )
    return read_netcdf


def write_csv(log: Log, path: str | os.PathLike) -> None:
    """The log as comma-separated text, see `Log.to_csv`."""
    import csv
    import io

    from workbench.files.atomic import replacing

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(
        ["time [s]", *(f"{s.name} [{s.unit}]" for s in log.signals)]
    )
    with (
        replacing(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(header.getvalue())
        for first in range(0, len(log), PART):
            part = slice(first, first + PART)
            np.savetxt(file, np.column_stack([log.time[part], log.values[part]]), "%.17g", ",")
            release(log.values)


def write_netcdf(log: Log, path: str | os.PathLike) -> None:
    """The log as NetCDF-4, see `Log.save`."""
    import io

    from workbench.files.atomic import check_writable, write_atomic

    check_writable(path)
    # In memory first: the HDF5 library itself crashes when a disk fills up under it.
    packed = io.BytesIO()
    try:
        _to_netcdf(log, packed)
    except (ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"cannot be written ({error})",
            file=os.fspath(path),
            mend="look at the names, units and meanings of the signals",
        ) from error
    write_atomic(path, lambda stream: stream.write(packed.getbuffer()))


def _to_netcdf(log: Log, target) -> None:
    # Lossless: shuffle and the fastest deflate, which every NetCDF reader knows and whose checksum finds damage.
    packing = {
        "compression": "gzip",
        "compression_opts": 1,
        "shuffle": True,
        "chunks": (min(len(log), 1 << 15),),
    }
    stored = ["time", *(_variable(s.name, i) for i, s in enumerate(log.signals))]
    with _h5netcdf().File(target, "w") as file:
        file.dimensions = {"time": len(log)}
        for variable, name in zip(stored, ["time", *log.names]):
            column = _column(log, name)
            written = file.create_variable(variable, ("time",), data=column, **packing)
            written.attrs.update(log.described(name))
        file.attrs[MARK] = FORMAT
        file.attrs["signals"] = json.dumps(
            [[v, asdict(s)] for v, s in zip(stored[1:], log.signals)]
        )
        file.attrs["provenance"] = json.dumps(log.provenance)
        file.attrs["status"] = json.dumps(asdict(log.status))


def _column(log: Log, name: str) -> np.ndarray:
    """A signal beside itself in memory, of which a table on disk is no more than PART rows there at a time."""
    spread = log.array(name)
    column = np.empty(len(spread))
    for first in range(0, len(spread), PART):
        column[first : first + PART] = spread[first : first + PART]
        release(log.values)
    return column


def read_netcdf(path: str | os.PathLike, make: Callable[..., Log]) -> Log:
    """What `make(time, values, signals, provenance, status)` makes of a file of `write_netcdf`, see `Log.load`."""
    from workbench.files.packed import read_packed

    where = os.fspath(path)
    if not os.path.isfile(where):
        what = "is a folder, not a file" if os.path.isdir(where) else "there is no such file"
        raise InputError(what, file=where, mend="give the path of a log written by Log.save")
    try:
        found = read_packed(where, "hdf5")
        version = found.attributes.get(MARK)
        if version is not None and version == FORMAT:
            return make(*_fields(found))
    except (KeyError, ValueError, TypeError, RecursionError) as why:
        words = why.message if isinstance(why, InputError) else short(str(why))
        raise InputError(
            f"this is no readable log: {_trouble(where)} ({words})",
            file=where,
            mend="run the scenario again and save it, or restore a copy",
        ) from why
    if version is None:
        raise InputError(
            "a NetCDF file, but not a log", file=where, mend="give a file written by Log.save"
        )
    raise InputError(
        f"log format {short(str(version))}, this version reads {FORMAT}",
        file=where,
        mend="update the workbench, or save the log again with this version",
    )


def _variable(name: str, index: int) -> str:
    """Name of a signal's variable in the file; "/" would open a group there."""
    return f"signal_{index}" if "/" in name or name != name.strip(" .\0") else name


def _fields(found) -> tuple:
    attributes = found.attributes
    columns = found.columns
    listed = json.loads(attributes["signals"])
    time = columns["time"][1]
    values = np.empty((time.size, len(listed)))
    for i, (variable, _) in enumerate(listed):
        column = columns[variable][1]
        if column.shape != time.shape:
            raise ValueError(f"{short(str(variable))} has {column.shape}, time {time.shape}")
        values[:, i] = column
    return (
        time,
        values,
        tuple(Signal(**s) for _, s in listed),
        json.loads(attributes["provenance"]),
        Status(**json.loads(attributes["status"])),
    )


def _trouble(path: str) -> str:
    try:
        with open(path, "rb") as file:
            head = file.read(8)
    except OSError:
        return "it cannot be opened"
    return "damaged or cut short" if head == b"\x89HDF\r\n\x1a\n" else "not a NetCDF-4 file"


def _h5netcdf():
    try:
        import h5netcdf
        import h5py  # noqa: F401  (what h5netcdf reads and writes with; recent versions no longer bring it)
    except ImportError as error:
        raise InputError(
            f"saving and loading logs needs {error.name}", mend="pip install h5netcdf h5py"
        ) from error
    return h5netcdf
