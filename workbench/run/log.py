"""Log: what a run was and what it did. Time, named signals with units, provenance and how the run ended.

A log is a value: its arrays are read-only, `window` and `decimated` return new logs that share them. It is saved as
NetCDF-4 (one variable a signal, so any NetCDF reader opens it) or as a MAT-file, and comes back bit for bit.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Signal, find, names
from workbench.run.plain_data import plain
from workbench.run.shown_log import ShownLog
from workbench.run.status import Status

if TYPE_CHECKING:
    import xarray


@final
@dataclass(frozen=True, eq=False, repr=False)
class Log(ShownLog):
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
        time = _readonly(self.time)
        values = _readonly(self.values)
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

        time = ("time", self.time, self.described("time"))
        return xarray.DataArray(
            self.array(name), {"time": time}, ("time",), name, self.described(name)
        )

    def described(self, name: str) -> dict[str, str]:
        """Unit and meaning of a signal, as NetCDF calls them."""
        if name == "time":
            return {"units": "s", "long_name": "time"}
        signal = self.signal(name)
        return {"units": signal.unit, "long_name": signal.meaning or signal.name}

    def to_dataset(self) -> xarray.Dataset:
        """All signals as one xarray.Dataset; provenance and status as JSON in its attributes."""
        import xarray

        return xarray.Dataset(
            {n: ("time", self.array(n), self.described(n)) for n in self.names},
            {"time": ("time", self.time, self.described("time"))},
            {"provenance": json.dumps(self.provenance), "status": json.dumps(asdict(self.status))},
        )

    def window(self, t0: float, t1: float) -> Log:
        """Samples with t0 ≤ t ≤ t1 (s); provenance notes the excerpt. InputError when there are none."""
        keep = slice(
            np.searchsorted(self.time, t0, "left"), np.searchsorted(self.time, t1, "right")
        )
        if not t0 <= t1 or keep.start >= keep.stop:
            raise InputError(
                f"log: no samples between {t0:g} s and {t1:g} s",
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
        from workbench.run.log_file import write_csv

        write_csv(self, path)

    def save(self, path: str | os.PathLike) -> None:
        """Write a file by its ending: .csv, .mcap for viewers (needs `mcap`), .mat for MATLAB, NetCDF-4 else.

        On any failure InputError, and a file that was there before stays as it was.
        """
        from workbench.run.log_file import writer

        writer(path)(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Log:
        """Read what `save` wrote as NetCDF or .mat. InputError for files that are missing, damaged, newer or not a log."""
        from workbench.run.log_file import reader

        return reader(path)(path, cls)


def _readonly(array) -> np.ndarray:
    view = np.asarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def column(log: Log, name: str) -> np.ndarray:
    """A signal of the log, 0 where it was not given."""
    return log.array(name) if name in log else np.zeros(len(log.time))


__all__ = ["Log", "Status", "column", "plain"]
