"""What a record must be: columns of the right shape with names of their own, finite numbers, equal steps of time.

Every refusal names the file, the line where there is one, and the column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Signal, names
from workbench.identification.time_grid import FEWEST, check_even, stepwise

SHORTEST = 1e-9  # s, of a step
LONGEST = 1e6  # s, of a step


def checked(record: Any) -> dict[str, Any]:
    """Field → value of a record whose arrays, names and numbers fit each other; InputError where they do not."""
    t = np.asarray(record.t, float)
    u = _columns(record.u, t)
    y = _columns(record.y, t)
    inputs = _signals(record.inputs)
    outputs = _signals(record.outputs)
    _check_shapes(record, t, u, y, inputs, outputs)
    _check_names(record, inputs, outputs)
    _check_numbers(record, t, u, y, [*names(inputs), *names(outputs)])
    _check_steps(record, t)
    hold = tuple(record.hold) or tuple("zoh" if stepwise(c) else "foh" for c in u.T)
    if len(hold) != len(inputs) or not set(hold) <= {"zoh", "foh"}:
        raise _bad(record, f"hold: {hold}", "give 'zoh' or 'foh' for every input")
    if not 0 <= record.start <= t.size - FEWEST:
        few = f"from sample {record.start} on fewer than {FEWEST} are left"
        raise _bad(record, few, "let it begin earlier")
    return {"t": t, "u": u, "y": y, "inputs": inputs, "outputs": outputs, "hold": hold}


def _columns(a, t) -> np.ndarray:
    """A table with one column a signal, also of a single signal that was given as (N,)."""
    a = np.asarray(a, float)
    return a[:, None] if a.ndim == 1 and t.ndim == 1 and a.size == t.size else a


def _signals(given) -> tuple[Signal, ...]:
    return tuple(s if isinstance(s, Signal) else Signal(s) for s in given)


def _check_shapes(record, t, u, y, inputs, outputs) -> None:
    if t.ndim == 1 and u.shape == (t.size, len(inputs)) and y.shape == (t.size, len(outputs)):
        return
    shapes = f"t {t.shape}, u {u.shape}, y {y.shape}"
    raise _bad(
        record,
        f"{shapes} for {len(inputs)} inputs and {len(outputs)} outputs",
        "give t (N,), u (N, m), y (N, p) and a name for every column",
    )


def _check_names(record, inputs, outputs) -> None:
    listed = [*names(inputs), *names(outputs)]
    if inputs and outputs and len(set(listed)) == len(listed):
        return
    read = f"inputs {', '.join(names(inputs)) or 'none'}; outputs {', '.join(names(outputs)) or 'none'}"
    raise _bad(record, read, "name at least one input and one output, each column once")


def _check_numbers(record, t, u, y, listed) -> None:
    if t.size < FEWEST:
        enough = f"record at least {FEWEST}, better some hundreds"
        raise _bad(record, f"{t.size} samples are too few", enough)
    for name, column in zip(["time", *listed], [t, *u.T, *y.T]):
        finite = np.isfinite(column)
        if not finite.all():
            k = int(np.argmin(finite))
            odd = f"sample {k + 1} is {column[k]}, not a number"
            raise _bad(record, odd, "remove or repair it", k, name)


def _check_steps(record, t) -> None:
    check_even(t, record.source, record.row)
    step = (t[-1] - t[0]) / (t.size - 1)
    if not SHORTEST <= step <= LONGEST:
        long = f"steps of time of {step:.3g} s"
        raise _bad(record, long, "check the unit of the time", key="time")


def _bad(
    record, message: str, mend: str, k: int | None = None, key: str | None = None
) -> InputError:
    line = record.row + k if record.row is not None and k is not None else None
    return InputError(message, file=record.source or None, line=line, key=key, mend=mend)
