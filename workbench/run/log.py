"""Log: what a run was and what it did. Time, named signals with units, provenance and how the run ended.

A log is a value: its arrays are read-only, `window` and `decimated` return new logs that share them. It is saved as
NetCDF-4 (one variable a signal, so any NetCDF reader opens it) and comes back bit for bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.system import Signal, find, names
from workbench.run.room import release

if TYPE_CHECKING:
    import xarray

FORMAT = 1  # of the saved file; raised when an older reader would misread it
MARK = "fluidproof_log"
PART = 1 << 15  # rows that are copied at once


@dataclass(frozen=True)
class Status:
    """How a run ended: whether it reached its end, in words, at which time (s), and which state stopped it.

    state: name of the first state that was not finite or left its domain; empty when none did.
    followed: False where the integrator could not follow the run, or the plant's equations end, so that its end says nothing about
        the loop.
    """

    completed: bool
    message: str
    t_end: float
    state: str = ""
    followed: bool = True


@final
@dataclass(frozen=True, eq=False)
class Log:
    """Signals over time.

    time        (N,) s, never falling; a jump may show as two samples at one time, before and after it
    values      (N, m), one column a signal, in the order of `signals`; a failed run may hold NaN
    provenance  plain data: scenario actually run, parameters and their hash, versions, seed (tuples become lists)
    status      how the run ended

    Raises InputError when shapes and names do not fit, time is not finite or falls, or provenance is not plain data.
    """

    time: np.ndarray
    values: np.ndarray
    signals: tuple[Signal, ...]
    provenance: dict[str, Any]
    status: Status
    _columns: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self):
        time, values = _readonly(self.time), _readonly(self.values)
        signals = tuple(self.signals)
        if time.ndim != 1 or time.size == 0 or values.shape != (time.size, len(signals)):
            raise InputError(
                f"log: time {time.shape} and values {values.shape} for {len(signals)} signals",
                mend="give time (N,) with N ≥ 1 and values (N, number of signals)",
            )
        if not np.isfinite(time).all() or (np.diff(time) < 0).any():
            raise InputError("log: time must be finite and must not fall")
        taken = {"time", ""}
        for s in signals:
            if s.name in taken:
                raise InputError(
                    f"log: signal name {s.name!r} is taken or empty",
                    mend="give every signal a name of its own, other than 'time'",
                )
            taken.add(s.name)
        columns = {s.name: i for i, s in enumerate(signals)}
        for name, value in (
            ("time", time),
            ("values", values),
            ("signals", signals),
            ("_columns", columns),
            ("provenance", plain(self.provenance, "provenance")),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.time.size

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @property
    def names(self) -> list[str]:
        """Names of the signals, in order."""
        return names(self.signals)

    def signal(self, name: str) -> Signal:
        """The signal called `name`; InputError with the nearest names when there is none."""
        return find(self.signals, name, "log")

    def array(self, name: str) -> np.ndarray:
        """Values (N,) of a signal in its unit, a read-only view; "time" gives the time."""
        if name == "time":
            return self.time
        if name not in self._columns:
            self.signal(name)  # raises, with the nearest names
        return self.values[:, self._columns[name]]

    def __getitem__(self, name: str) -> xarray.DataArray:
        """A signal over dimension "time", with `units` and `long_name`."""
        import xarray

        time = ("time", self.time, self._described("time"))
        return xarray.DataArray(
            self.array(name), {"time": time}, ("time",), name, self._described(name)
        )

    def _described(self, name: str) -> dict[str, str]:
        if name == "time":
            return {"units": "s", "long_name": "time"}
        signal = self.signal(name)
        return {"units": signal.unit, "long_name": signal.meaning or signal.name}

    def to_dataset(self) -> xarray.Dataset:
        """All signals as one xarray.Dataset; provenance and status as JSON in its attributes."""
        import xarray

        return xarray.Dataset(
            {n: ("time", self.array(n), self._described(n)) for n in self.names},
            {"time": ("time", self.time, self._described("time"))},
            {"provenance": json.dumps(self.provenance), "status": json.dumps(asdict(self.status))},
        )

    def window(self, t0: float, t1: float) -> Log:
        """Samples with t0 ≤ t ≤ t1 (s); provenance notes the excerpt. InputError when there are none."""
        keep = slice(
            np.searchsorted(self.time, t0, "left"), np.searchsorted(self.time, t1, "right")
        )
        if not t0 <= t1 or keep.start >= keep.stop:
            raise InputError(
                f"log: no samples between {t0} s and {t1} s",
                mend=f"choose times between {self.time[0]:g} s and {self.time[-1]:g} s",
            )
        return self._excerpt(keep, {"window": [float(t0), float(t1)]})

    def decimated(self, k: int) -> Log:
        """Every k-th sample from the first on, unfiltered; provenance notes the excerpt."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(
                f"log: cannot keep every {k!r}-th sample", mend="give a whole number, 1 or more"
            )
        return self._excerpt(slice(None, None, k), {"decimated": int(k)})

    def _excerpt(self, keep: slice, note: dict) -> Log:
        notes = [*self.provenance.get("excerpt", []), note]
        return replace(
            self,
            time=self.time[keep],
            values=self.values[keep],
            provenance={**self.provenance, "excerpt": notes},
        )

    def to_csv(self, path: str | os.PathLike) -> None:
        """Comma-separated text: header "name [unit]", time first, numbers that read back exactly (%.17g)."""
        import csv
        import io

        from workbench.files.atomic import replacing

        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(
            ["time [s]", *(f"{s.name} [{s.unit}]" for s in self.signals)]
        )
        with (
            replacing(path) as temporary,
            open(temporary, "w", encoding="utf-8", newline="") as file,
        ):
            file.write(header.getvalue())
            for first in range(0, len(self), PART):
                part = slice(first, first + PART)
                np.savetxt(
                    file, np.column_stack([self.time[part], self.values[part]]), "%.17g", ","
                )
                release(self.values)

    def save(self, path: str | os.PathLike) -> None:
        """Write NetCDF-4. On any failure InputError, and a file that was there before stays as it was."""
        import io

        from workbench.files.atomic import check_writable, write_atomic

        check_writable(path)
        packed = (
            io.BytesIO()
        )  # in memory first: the HDF5 library itself crashes when a disk fills up under it
        try:
            self._to_netcdf(packed)
        except (ValueError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"cannot be written ({error})",
                file=os.fspath(path),
                mend="look at the names, units and meanings of the signals",
            ) from error
        write_atomic(path, lambda stream: stream.write(packed.getbuffer()))

    def _to_netcdf(self, target) -> None:
        # Lossless: shuffle and the fastest deflate, which every NetCDF reader knows and whose checksum finds damage.
        packing = {
            "compression": "gzip",
            "compression_opts": 1,
            "shuffle": True,
            "chunks": (min(len(self), 1 << 15),),
        }
        stored = ["time", *(_variable(s.name, i) for i, s in enumerate(self.signals))]
        with _h5netcdf().File(target, "w") as file:
            file.dimensions = {"time": len(self)}
            for variable, name in zip(stored, ["time", *self.names]):
                column = self._column(name)
                written = file.create_variable(variable, ("time",), data=column, **packing)
                written.attrs.update(self._described(name))
            file.attrs[MARK] = FORMAT
            file.attrs["signals"] = json.dumps(
                [[v, asdict(s)] for v, s in zip(stored[1:], self.signals)]
            )
            file.attrs["provenance"] = json.dumps(self.provenance)
            file.attrs["status"] = json.dumps(asdict(self.status))

    def _column(self, name: str) -> np.ndarray:
        """A signal beside itself in memory, of which a table on disk is no more than PART rows there at a time."""
        spread = self.array(name)
        column = np.empty(len(spread))
        for first in range(0, len(spread), PART):
            column[first : first + PART] = spread[first : first + PART]
            release(self.values)
        return column

    @classmethod
    def load(cls, path: str | os.PathLike) -> Log:
        """Read what `save` wrote. InputError for files that are missing, damaged, newer or not a log."""
        from workbench.files.packed import read_packed

        where = os.fspath(path)
        if not os.path.isfile(where):
            what = "is a folder, not a file" if os.path.isdir(where) else "there is no such file"
            raise InputError(what, file=where, mend="give the path of a log written by Log.save")
        try:
            found = read_packed(where, "hdf5")
            version = found.attributes.get(MARK)
            if version is not None and version == FORMAT:
                return cls(*_read(found))
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


def plain(value: Any, where: str) -> Any:
    """`value` as JSON holds it (dicts with text keys, lists, numbers, text), or InputError naming the place."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Mapping):
        if odd := [k for k in value if not isinstance(k, str)]:
            raise InputError(f"{where}: key {odd[0]!r} is not text", mend="use text keys")
        return {str(k): plain(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{where}.{i}") for i, v in enumerate(value)]
    if isinstance(value, (np.ndarray, np.generic)):
        return (
            plain(value.tolist(), where) if value.dtype.kind in "biufU" else _refuse(value, where)
        )
    for kind in (int, float, str):  # subclasses: enumerations, text with line numbers
        if isinstance(value, kind):
            return kind(value)
    return _refuse(value, where)


def _refuse(value, where):
    raise InputError(
        f"{where}: {type(value).__name__} is not plain data",
        mend="give numbers, text, lists and dictionaries of them",
    )


def _readonly(array) -> np.ndarray:
    view = np.asarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def _variable(name: str, index: int) -> str:
    """Name of a signal's variable in the file; "/" would open a group there."""
    return f"signal_{index}" if "/" in name or name != name.strip(" .\0") else name


def _read(found) -> tuple:
    attributes, columns = found.attributes, found.columns
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


def column(log: Log, name: str) -> np.ndarray:
    """A signal of the log, 0 where it was not given."""
    return log.array(name) if name in log else np.zeros(len(log.time))
