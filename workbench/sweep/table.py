"""The table of a sweep: one row a case in the order of the grid, columns with units, NetCDF or Parquet."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.units import measured
from workbench.sweep.outcome import Outcome

if TYPE_CHECKING:
    import pandas
    import xarray

MARK = "fluidproof_sweep"
FORMAT = 1
ENDINGS = (".nc", ".parquet")
MOST_ROWS = 60  # that a table shows of itself


@dataclass(frozen=True, eq=False)
class Column:
    """name, values (N,) as float64 (NaN: none) or text ("": none), unit; whether it is a parameter or a result."""

    name: str
    values: np.ndarray
    unit: str = ""
    parameter: bool = False


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns of N rows: the parameters, the results, and last `error`, "" where a case ran.

    about   what was swept, as plain data

    table["mass"] is the column of that name, (N,); `table.to_dataset().to_dataframe()` is a table of pandas. It shows itself as
    rows, in a terminal and in a notebook.
    """

    columns: tuple[Column, ...]
    about: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.columns[-1].values)

    @property
    def names(self) -> list[str]:
        return [c.name for c in self.columns]

    @property
    def errors(self) -> np.ndarray:
        """The error of every row."""
        return self["error"]

    def column(self, name: str) -> Column:
        """The column called `name`; InputError with the names there are."""
        found = next((c for c in self.columns if c.name == name), None)
        if found is None:
            import difflib

            near = difflib.get_close_matches(name, self.names, 3) or self.names
            raise InputError(
                f"the table has no column {name!r}", mend=f"did you mean {', '.join(near)}?"
            )
        return found

    def __getitem__(self, name: str) -> np.ndarray:
        return self.column(name).values

    def __repr__(self) -> str:
        """How many cases there are and failed, and the rows."""
        failed = np.count_nonzero(self.errors)
        return f"{len(self)} cases, {failed} failed\n{_framed(self).to_string(max_rows=MOST_ROWS)}"

    def _repr_html_(self) -> str:
        """The rows as a table of a notebook."""
        return _framed(self).to_html(max_rows=MOST_ROWS)

    def to_dataset(self) -> xarray.Dataset:
        """As xarray.Dataset over dimension "case", the parameters as coordinates."""
        import xarray

        made = {
            c.name: ("case", c.values, {"units": c.unit} if c.unit else {}) for c in self.columns
        }
        given = {c.name for c in self.columns if c.parameter}
        return xarray.Dataset(
            {n: v for n, v in made.items() if n not in given},
            {n: v for n, v in made.items() if n in given},
            {"sweep": json.dumps(dict(self.about), ensure_ascii=False)},
        )

    def save(self, path: str | os.PathLike) -> None:
        """Write NetCDF-4 or, by the file's ending, Parquet; all or nothing. The same table gives the same bytes."""
        from workbench.files.atomic import write_atomic

        packed = io.BytesIO()
        (self._to_parquet if ending(path) == ".parquet" else self._to_netcdf)(packed)
        write_atomic(path, lambda stream: stream.write(packed.getbuffer()))

    def _to_netcdf(self, target) -> None:
        import h5netcdf
        import h5py

        stored = [_variable(c.name, i) for i, c in enumerate(self.columns)]
        with h5netcdf.File(target, "w") as file:
            file.dimensions = {"case": len(self)}
            for name, c in zip(stored, self.columns):
                text = c.values.dtype == object
                kind = {"dtype": h5py.string_dtype()} if text else {}
                variable = file.create_variable(name, ("case",), data=c.values, **kind)
                variable.attrs["long_name"] = c.name
                if not text:
                    variable.attrs["units"] = c.unit or "1"
            given = [n for n, c in zip(stored, self.columns) if c.parameter]
            if given and not any(" " in n for n in given):
                file.attrs["coordinates"] = " ".join(given)
            file.attrs[MARK] = FORMAT
            file.attrs["columns"] = json.dumps(
                [[n, c.name, c.unit, c.parameter] for n, c in zip(stored, self.columns)]
            )
            file.attrs["sweep"] = json.dumps(dict(self.about), ensure_ascii=False)

    def _to_parquet(self, target) -> None:
        import pyarrow
        from pyarrow import parquet

        kinds = {
            c.name: pyarrow.string() if c.values.dtype == object else pyarrow.float64()
            for c in self.columns
        }
        fields = [
            pyarrow.field(
                c.name,
                kinds[c.name],
                metadata={"units": c.unit, "parameter": str(c.parameter).lower()},
            )
            for c in self.columns
        ]
        schema = pyarrow.schema(
            fields, {MARK: str(FORMAT), "sweep": json.dumps(dict(self.about), ensure_ascii=False)}
        )
        parquet.write_table(
            pyarrow.table(
                [pyarrow.array(c.values, kinds[c.name]) for c in self.columns], schema=schema
            ),
            target,
        )

    @classmethod
    def load(cls, path: str | os.PathLike) -> Table:
        """Read what `save` wrote as NetCDF. InputError for files that are missing, damaged or something else."""
        from workbench.files.packed import read_packed

        where = os.fspath(path)
        if not os.path.isfile(where):
            raise InputError(
                "there is no such file", file=where, mend="give a table written by workbench sweep"
            )
        try:
            found = read_packed(where, "hdf5")
            if found.attributes.get(MARK) != FORMAT:
                raise KeyError("it is not the table of a sweep")
            columns = [
                Column(name, _read(found, stored), unit, parameter)
                for stored, name, unit, parameter in json.loads(found.attributes["columns"])
            ]
            return cls(tuple(columns), json.loads(found.attributes["sweep"]))
        except (KeyError, ValueError, TypeError, RecursionError) as why:
            words = why.message if isinstance(why, InputError) else short(str(why))
            raise InputError(
                f"this is no readable table of a sweep ({words})",
                file=where,
                mend="give a table written by workbench sweep, ending in .nc",
            ) from why


def _framed(table: Table) -> pandas.DataFrame:
    """The columns with their units; errors only where a case failed."""
    import pandas

    shown = table.columns if table.errors.any() else table.columns[:-1]
    heads = [f"{c.name} [{c.unit}]" if c.unit else c.name for c in shown]
    return pandas.DataFrame(dict(zip(heads, (c.values for c in shown))))


def ending(path: str | os.PathLike) -> str:
    """ ".nc" or ".parquet"; InputError for another, and for Parquet where pyarrow is not installed."""
    from importlib.util import find_spec

    found = os.path.splitext(os.fspath(path))[1].lower()
    if found not in ENDINGS:
        raise InputError(
            "a table is NetCDF or Parquet",
            file=os.fspath(path),
            mend="end its name in .nc or .parquet",
        )
    if found == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            "Parquet needs pyarrow",
            file=os.fspath(path),
            mend="pip install pyarrow, or end its name in .nc",
        )
    return found


def tabulated(
    points: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Outcome],
    units: Mapping[str, str],
    about: Mapping[str, Any],
) -> Table:
    """The table; columns in the order in which the rows first have them, whatever the order in which the cases finished.

    units   parameter → SI unit of its plain numbers. A result that has different units in different rows gets a column for each.
    """
    columns = []
    for name in dict.fromkeys(name for point in points for name in point):
        values, unit = parameter([point[name] for point in points], units.get(name, ""))
        columns.append(Column(name, values, unit, True))
    rows = [{(name, unit): value for name, value, unit in found.results} for found in outcomes]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    named = [name for name, _ in keys]
    taken = {c.name for c in columns} | {"error", "case"}
    for name, unit in keys:
        shown = name if named.count(name) == 1 else f"{name} [{unit}]"
        while shown in taken:
            shown += " (result)"
        taken.add(shown)
        columns.append(Column(shown, _array([row.get((name, unit)) for row in rows]), unit))
    errors = np.array([found.error for found in outcomes], dtype=object)
    return Table((*columns, Column("error", errors)), about)


def parameter(values: Sequence, unit: str = "") -> tuple[np.ndarray, str]:
    """(values in SI, unit) of a parameter's values as they were given; as text where they are no quantities."""
    read = [_measured(v) for v in values]
    units = {u for pair in read if pair for _, u in [pair] if u}
    if None in read or len(units) > 1:
        words = [v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]
        return np.array(words, dtype=object), ""
    return np.array([v for v, _ in read]), next(iter(units), unit)


def _measured(value: object) -> tuple[float, str] | None:
    """(value in SI, unit) of a number or quantity; None of anything else."""
    if isinstance(value, str):
        return measured(value)
    return (float(value), "") if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _array(values: list) -> np.ndarray:
    if all(v is None or _is_number(v) for v in values):
        return np.array([np.nan if v is None else float(v) for v in values])
    words = {None: "", True: "true", False: "false"}
    return np.array(
        [words[v] if v is None or isinstance(v, bool) else str(v) for v in values], dtype=object
    )


def _variable(name: str, index: int) -> str:
    """Name of a column's variable in the file; "/" would open a group there, and "case" is the dimension."""
    return (
        f"column_{index}" if "/" in name or name != name.strip(" .\0") or name == "case" else name
    )


def _read(found, stored: str) -> np.ndarray:
    if stored in found.columns:
        return found.columns[stored][1]
    return np.array(found.texts[stored], dtype=object)
