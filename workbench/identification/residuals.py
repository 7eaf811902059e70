"""What residuals tell: are they white, do they still hold something of the inputs, does the model predict fresh records?

White residuals: nothing is left to explain. Residuals that correlate with past inputs: dynamics are missing.
Source: G. M. Ljung and G. E. P. Box, On a measure of lack of fit in time series models, 1978; L. Ljung, System
Identification, 2nd ed. 1999, section 16.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from workbench.contract.errors import InputError
from workbench.identification.fit import Fit
from workbench.identification.records import Record, same_units
from workbench.identification.uncertainty import autocovariance

LAGS = 25
LEVEL = 0.01  # share of all tests: one in a hundred good models is called bad


@dataclass(frozen=True, eq=False)
class Whiteness:
    """Autocorrelation of residuals at lags 1 … n, the 99 % band of each, and the Ljung–Box test of all."""

    autocorrelation: np.ndarray
    band: float
    Q: float
    p: float

    @property
    def white(self) -> bool:
        """Whether whiteness is not refuted at 1 %."""
        return self.p >= LEVEL


@dataclass(frozen=True, eq=False)
class Cross:
    """Correlation of residuals with an input 0 … n samples before, in standard deviations; limit at 1 % for all lags."""

    input: str
    z: np.ndarray
    limit: float

    @property
    def independent(self) -> bool:
        """Whether nothing of the input is seen in the residuals."""
        return bool(np.abs(self.z).max() <= self.limit)


@dataclass(frozen=True, eq=False)
class Validation:
    """A model on records: fit in % (a record each), residuals, whiteness, cross-correlations."""

    percent: tuple[float, ...]
    residuals: tuple[np.ndarray, ...]
    whiteness: Whiteness
    cross: tuple[Cross, ...]


def whiteness(pieces: Sequence[np.ndarray], lags: int = LAGS) -> Whiteness:
    """Ljung–Box over several records: Q = N (N + 2) Σ_k ρ_k²/(N − k), χ² with `lags` degrees of freedom."""
    N = sum(e.size for e in pieces)
    lags = min(lags, N // 4)
    r = autocovariance(pieces, lags)
    ρ = r[1:] / r[0] if r[0] > 0 else np.zeros(lags)
    Q = float(N * (N + 2) * np.sum(ρ**2 / (N - np.arange(1, lags + 1))))
    return Whiteness(
        ρ, float(stats.norm.ppf(1 - LEVEL / 2) / np.sqrt(N)), Q, float(stats.chi2.sf(Q, lags))
    )


def cross_correlation(pieces, inputs, name: str, lags: int = LAGS) -> Cross:
    """Σ_t e(t) u(t − k), k = 0 … lags, over its standard deviation for independent e and u (both may be coloured)."""
    lags = min(lags, min(e.size for e in pieces) // 4)
    total = np.zeros(lags + 1)
    variance = 0.0
    for e, u in zip(pieces, inputs):
        u = u - u.mean()
        M = 1 << int(np.ceil(np.log2(2 * e.size)))
        E = np.fft.rfft(e, M)
        U = np.fft.rfft(u, M)
        total += np.fft.irfft(E * U.conj(), M)[: lags + 1]
        span = np.arange(-(4 * lags), 4 * lags + 1)
        window = 1 - np.abs(span) / (4 * lags + 1)
        variance += e.size * float(
            np.sum(
                window
                * (np.fft.irfft(abs(E) ** 2, M)[np.abs(span)] / e.size)
                * (np.fft.irfft(abs(U) ** 2, M)[np.abs(span)] / e.size)
            )
        )
    z = total / np.sqrt(variance) if variance > 0 else np.zeros(lags + 1)
    return Cross(name, z, float(stats.norm.ppf(1 - LEVEL / 2 / (lags + 1))))


def examine(found: Fit) -> Validation:
    """The fit's own residuals."""
    return _validation(found, found.records, found.residuals, found.percent)


def validate(found: Fit, records: Record | Sequence[Record]) -> Validation:
    """The model on fresh records: simulated from rest, each record's offset taken out."""
    records = [records] if isinstance(records, Record) else list(records)
    same_units([*found.records, *records])
    residuals = []
    percent = []
    for r in records:
        y = r.output(found.model.output)
        e = (y - found.model.response(r))[r.start :]
        y = y[r.start :] - y[r.start :].mean()
        if not np.ptp(y):
            raise InputError(
                f"{found.model.output} is constant: nothing to validate with",
                file=r.source or None,
                key=found.model.output,
                mend="give a record in which it moves",
            )
        residuals.append(e - e.mean())
        percent.append(float(100 * (1 - np.linalg.norm(residuals[-1]) / np.linalg.norm(y))))
    return _validation(found, records, residuals, percent)


def _validation(found: Fit, records, residuals, percent) -> Validation:
    crosses = []
    for s in found.shapes:
        moved = [
            (e, r.input(s.input)[r.start :])
            for e, r in zip(residuals, records)
            if s.input in r.input_names and np.ptp(r.input(s.input)[r.start :])
        ]
        if moved:
            crosses.append(cross_correlation(*zip(*moved), s.input))
    return Validation(tuple(percent), tuple(residuals), whiteness(residuals), tuple(crosses))
