"""Does the output lead the input? Then columns are swapped, or their clocks are not the same.

Two looks at a pair of columns, each silent when it has nothing to look at:
- onset: both at rest at first, and the output moves before the input does;
- group delay −dφ/dω of the frequency response from smoothed spectra where they are coherent: clearly
  negative means that the output leads. (Zeros slower than the poles do that honestly; then say so with
  causality="ignore".)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.identification.records import Record

BLOCK = 11  # neighbouring frequencies averaged into one


@dataclass(frozen=True)
class Lead:
    """By how much the output leads (s, positive) with a standard deviation; method "onset" or "group delay"."""

    time: float
    σ: float
    method: str

    @property
    def certain(self) -> bool:
        """Whether it cannot be chance."""
        return self.time > 5 * self.σ


def refuse_acausal(record: Record, inputs, output: str) -> None:
    """InputError when the output leads every one of the inputs that move in this record."""
    seen = slice(record.start, None)
    moving = [n for n in inputs if n in record.input_names and np.ptp(record.input(n)[seen])]
    leads = [lead(record.input(n)[seen], record.output(output)[seen], record.T) for n in moving]
    if moving and all(found is not None and found.certain for found in leads):
        first = leads[0]
        raise InputError(
            f"{output} leads {moving[0]} by {format_quantity(first.time, 's', 3)} (by {first.method}): an "
            "output cannot come before its input",
            file=record.source or None,
            key=output,
            mend="are the columns swapped, or do they come from different clocks? If it is right, "
            "causality='ignore' (--acausal)",
        )


def lead(u: np.ndarray, y: np.ndarray, T: float) -> Lead | None:
    """By how much y leads u, or None when the columns do not tell."""
    by_onset = _onset(u, y, T)
    return by_onset if by_onset is not None and by_onset.certain else _group_delay(u, y, T)


def _onset(u, y, T) -> Lead | None:
    """From the first instants at which each leaves its quiet beginning."""
    found = []
    for x in (u, y):
        quiet = max(8, x.size // 50)
        rest = np.median(x[:quiet])
        noise = np.ptp(x[:quiet])
        moved = np.abs(x - rest) > max(3 * noise, 0.01 * np.ptp(x))
        drift = abs(x[: quiet // 2].mean() - x[quiet // 2 : quiet].mean())
        drifting = drift > 0.3 * noise and noise > 1e-6 * np.ptp(x)
        if not moved.any() or noise > 0.02 * np.ptp(x) or drifting:
            return None  # not at rest at first
        found.append(int(np.argmax(moved)))
    return Lead((found[0] - found[1]) * T, 0.6 * T, "onset")


def _group_delay(u, y, T) -> Lead | None:
    """From the slope of the phase of a smoothed cross-spectrum, where it is coherent."""
    from scipy.signal.windows import tukey
    from scipy.stats import theilslopes

    Δu, Δy = np.diff(u), np.diff(y)  # integrators and offsets go
    blocks = Δu.size // (2 * BLOCK)
    if blocks < 8 or not np.ptp(Δu) or not np.ptp(Δy):
        return None
    taper = tukey(Δu.size, 0.2)
    U, Y = (np.fft.rfft(taper * x)[1 : 1 + blocks * BLOCK].reshape(blocks, BLOCK) for x in (Δu, Δy))
    S = (Y * U.conj()).sum(1)
    S_u = (np.abs(U) ** 2).sum(1)
    S_y = (np.abs(Y) ** 2).sum(1)
    C = np.abs(S) ** 2 / np.maximum(S_u * S_y, np.finfo(float).tiny)
    used = (C > 0.9) & (S_u > 0.02 * S_u.max()) & (S_y > 0.02 * S_y.max())
    if used.sum() < 5:
        return None
    ω = 2 * np.pi * (0.5 + BLOCK * (np.arange(blocks) + 0.5)) / (Δu.size * T)
    φ = np.unwrap(np.angle(S[used]))
    found = theilslopes(φ, ω[used], 0.99)  # robust: blocks at the edges of the band are off
    return Lead(
        float(found.slope),
        max(float(found.high_slope - found.low_slope) / 5.2, 0.25 * T),
        "group delay",
    )
