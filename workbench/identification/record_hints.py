"""What looks suspicious in a record, in words: signals at a limit, and inputs that do not begin at rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.contract.units import format_quantity

LEVELS = 6  # an input with at most so many values is a pulse, a step, a PRBS; clipping is not asked of it
PLATEAU = 0.02  # part of the samples at the very extreme that looks like a limit


def suspicions(record) -> list[str]:
    """What looks suspicious in the signals of a record."""
    return [*_limited(record), *_off_rest(record)]


def _limited(record) -> Iterator[str]:
    """Signals that stay at their largest or smallest value, as one that saturates does."""
    for signal, x in [*zip(record.inputs, record.u.T), *zip(record.outputs, record.y.T)]:
        if np.unique(x).size <= LEVELS:
            continue
        for word, extreme in (("largest", x.max()), ("smallest", x.min())):
            part = _between_ends(x == extreme)
            if part > PLATEAU:
                yield (
                    f"{signal.name} is at its {word} value, {format_quantity(extreme, signal.unit)}, in "
                    f"{100 * part:.0f} % of the samples: is it limited there (saturation)?"
                )


def _between_ends(there: np.ndarray) -> float:
    """The share of samples that are there, without those of a record that begins or ends there, as one at rest does."""
    away = np.flatnonzero(~there)
    return np.count_nonzero(there[away[0] : away[-1]]) / there.size if away.size else 0.0


def _off_rest(record) -> Iterator[str]:
    """Inputs that stand still at the beginning, at a value that is not 0."""
    if record.start != 0:
        return
    for signal, x in zip(record.inputs, record.u.T):
        away = np.ptp(x) and abs(x[0]) > 0.05 * np.abs(x).max()
        if away and np.ptp(x[:4]) == 0:
            yield (
                f"{signal.name} does not begin at 0: if the plant was at rest there, count from it "
                "(detrended, --detrend)"
            )
