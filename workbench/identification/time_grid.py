"""The grid of time of a record: rising, even, without gaps; columns put on an even grid where it is not."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Signal

FEWEST = 16  # samples a record must have
MOST_SAMPLES = 5_000_000  # that resampling makes
UNEVEN = 0.02  # share of a step, by which an instant may be off the even grid
BRIDGED = 5  # steps of a gap that resampling may fill


def resampled(t, ins, outs, T: float, source: str = "", row: int | None = None):
    """Columns on an even grid of step T (s): stepwise inputs held, everything else by straight lines.

    Gaps of more than five steps are not bridged: InputError.
    """
    t = np.asarray(t, float)
    for s, x in [(Signal("time"), t), *ins, *outs]:
        if not np.isfinite(x).all():
            k = int(np.argmin(np.isfinite(x)))
            raise InputError(
                f"sample {k + 1} is {x[k]}, not a number",
                file=source or None,
                key=s.name,
                line=None if row is None else row + k,
                mend="remove or repair it",
            )
    check_rising(t, source, row)
    if not (np.isfinite(T) and 0 < T <= (t[-1] - t[0]) / FEWEST):
        raise InputError(
            f"resample: a step of {T:g} s over {t[-1] - t[0]:g} s",
            mend=f"choose a step with at least {FEWEST} samples",
        )
    if not (t[-1] - t[0]) / T < MOST_SAMPLES:
        raise InputError(
            f"resample: a step of {T:.3g} s makes {(t[-1] - t[0]) / T:.3g} samples",
            mend="give a longer step; the unit may be another",
        )
    gaps = np.diff(t)
    if (gaps > BRIDGED * max(T, float(np.median(gaps)))).any():
        raise _gap(
            t,
            int(np.argmax(gaps)),
            source,
            row,
            "resampling would invent them: cut the record there",
        )
    grid = t[0] + T * np.arange(int((t[-1] - t[0]) / T * (1 + 1e-12)) + 1)
    before = np.searchsorted(t, grid * (1 + 1e-12), "right") - 1
    fill = lambda x, held: x[before] if held else np.interp(grid, t, x)
    return (
        grid,
        [(s, fill(x, stepwise(x))) for s, x in ins],
        [(s, fill(x, False)) for s, x in outs],
    )


def check_rising(t: np.ndarray, source: str = "", row: int | None = None) -> None:
    """InputError where time does not rise."""
    steps = np.diff(t)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0)) + 1
        raise InputError(
            f"time does not rise: {t[k]:.9g} s after {t[k - 1]:.9g} s",
            file=source or None,
            line=None if row is None else row + k,
            key="time",
            mend="sort the rows and drop repeated ones",
        )


def check_even(t: np.ndarray, source: str = "", row: int | None = None) -> None:
    """InputError for gaps and unequal steps of time."""
    check_rising(t, source, row)
    steps = np.diff(t)
    N = t.size
    T = float(np.median(steps))
    grid = t[0] + (t[-1] - t[0]) / (N - 1) * np.arange(N)
    if np.abs(t - grid).max() <= UNEVEN * T:
        return
    k = int(np.argmax(steps))
    even = np.abs(steps - T) <= 0.1 * T
    if steps[k] > 1.5 * T and even.mean() > 0.95:
        small = steps[k] <= BRIDGED * T
        raise _gap(
            t,
            k,
            source,
            row,
            "cut the record there and give the parts as records of their own"
            + (", or resample it (resample=…, --resample)" if small else ""),
        )
    k = int(np.argmax(np.abs(steps - T)))
    raise InputError(
        f"unequal steps of time: {steps.min():.4g} … {steps.max():.4g} s",
        file=source or None,
        line=None if row is None else row + k + 1,
        key="time",
        mend=f"resample it: resample={T:.3g} (--resample '{1e3 * float(f'{T:.3g}'):.3g} ms')",
    )


def _gap(t, k, source, row, mend) -> InputError:
    T = float(np.median(np.diff(t)))
    return InputError(
        f"a gap: {t[k]:.6g} s is followed by {t[k + 1]:.6g} s, {round((t[k + 1] - t[k]) / T) - 1} samples "
        "are missing",
        file=source or None,
        line=None if row is None else row + k + 1,
        key="time",
        mend=mend,
    )


def stepwise(x: np.ndarray) -> bool:
    """Whether a column stays at its value most of the time."""
    return x.size > 1 and np.mean(np.diff(x) == 0) > 0.5
