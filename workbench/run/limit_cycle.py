"""Whether a signal ends in a limit cycle, how fast and how large."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.contract.errors import InputError
from workbench.run.metrics import _finite, max_abs

Trend = Literal["none", "decaying", "sustained", "growing"]


HARMONICS = 8


PURITY = 0.8  # share of the variance a periodic waveform must explain: an amplitude above 2.8 times the noise


WINDOWS, LEAST = 3, 24  # windows that a waveform needs, and samples in each of them


FEWEST = WINDOWS * LEAST  # samples in the settled part, below which nothing can be told


STEADY = 0.02  # change of log amplitude over the settled part that always counts as none


@dataclass(frozen=True)
class LimitCycle:
    """What `limit_cycle` found.

    detected    the run does not settle: a sustained oscillation, or growth
    trend       "none" (no oscillation) | "decaying" | "sustained" | "growing"
    frequency   Hz; NaN when there is no periodic waveform (also growth too fast to tell one)
    amplitude   half of peak to peak of the periodic waveform, at the end of the run when it grows or decays
    rate        1/s, growth of the logarithm of the amplitude
    confidence  share of the variance the periodic waveform explains, 0 … 1
    why         reason for the answer, in words
    few         there were too few periods, or samples, to tell
    """

    detected: bool
    trend: Trend
    frequency: float
    amplitude: float
    rate: float
    confidence: float
    why: str
    few: bool = False


def limit_cycle(t, e, floor: float = 0.0, settled: float = 0.5) -> LimitCycle:
    """Whether the settled part of a signal oscillates without dying out.

    The last `settled` share of the run is cut into windows of at least two periods. In each a straight line is taken
    off and the rest scaled to unit RMS; one periodic waveform (up to 8 harmonics of the strongest line of the spectrum,
    or of a half or a third of it) must explain at least 80 % of the variance of all of them with one phase, and the
    zero crossings per period must be a whole number to 5 %. The RMS of successive windows says whether it grows, stays
    or decays; a decay whose geometric limit is not zero counts as sustained. At least 6 periods must fit.

    Not told apart: motion commanded by a periodic reference (look at the part after it), noise through a resonance
    that rings for longer than about a tenth of the settled part. Not seen: two strong lines without a common period.

    e      (N,) in any unit         floor   amplitude below which nothing counts (noise, resolution), same unit
    Raises InputError when the signal is not finite or too short to look at.
    """
    y, dt = _settled(t, e, settled)
    line = np.polynomial.Polynomial.fit(np.arange(y.size), y, 1)(np.arange(y.size))
    if max_abs(y - line) <= max(floor, 1e-12 * max_abs(y)):
        return _none("constant or straight to within the floor")
    if y.size < FEWEST:
        return replace(_none(f"{y.size} samples, too few to tell"), few=True)
    strongest = _strongest(y - line, dt)
    found = []
    for part in (1, 2, 3):
        found.append(_periodic(y, dt, strongest / part))
        if found[-1].detected or found[-1].trend == "decaying":
            break
    best = max(found, key=lambda c: (c.trend != "none", c.confidence))
    if best.trend == "none" and (rate := _growth(y, dt)) > 0:
        return LimitCycle(
            True,
            "growing",
            math.nan,
            float(np.ptp(y) / 2),
            rate,
            best.confidence,
            f"grows without a steady waveform ({best.why})",
        )
    return (
        best
        if best.trend == "none" or best.amplitude > floor
        else _none("amplitude below the floor")
    )


def _periodic(y: np.ndarray, dt: float, frequency: float) -> LimitCycle:
    """The answer for one candidate frequency."""
    cycles = frequency * y.size * dt
    per = 1 / (frequency * dt)
    harmonics = max(1, min(HARMONICS, int(0.4 * per)))
    windows = int(min(8, cycles // 2, y.size // (LEAST // 4 * (2 * harmonics + 2))))
    if cycles < 6 or windows < WINDOWS:
        return replace(
            _none(f"{cycles:.1f} periods of {frequency:.4g} Hz, too few to tell"), few=True
        )
    z, scale, size = _normalised(y, dt, frequency, harmonics, windows)
    frequency = _refined(z, dt, frequency, size)
    z, scale, size = _normalised(y, dt, frequency, harmonics, windows)
    time = dt * np.arange(z.size)
    purity, wave = _waveform(time, z, frequency, harmonics)
    if not purity >= PURITY:
        return _none(f"a periodic waveform explains only {purity:.0%} of it", purity)
    crossing = _crossing_frequency(time, z, frequency, dt) / frequency
    if not abs(crossing - max(1, np.round(crossing))) < 0.05:
        return _none(f"{crossing:.3g} zero crossings a period of {frequency:.4g} Hz", purity)
    trend, rate = _trend(scale, size * dt)
    last = scale[-1] if trend != "sustained" else np.median(scale)
    return LimitCycle(
        trend in ("sustained", "growing"),
        trend,
        frequency,
        float(last * np.ptp(wave) / 2),
        rate,
        purity,
        f"{trend} over {cycles:.0f} periods, log amplitude changes by {rate * y.size * dt:+.2g}",
    )


def _growth(y: np.ndarray, dt: float) -> float:
    """Rate (1/s) of a signal whose RMS about straight lines rises in each of six windows, tenfold in all; else 0."""
    size = y.size // 6
    parts = y[y.size - 6 * size :].reshape(6, size).T
    ramp = np.linspace(-1, 1, size)
    lines = np.polynomial.polynomial.polyval(
        ramp, np.polynomial.polynomial.polyfit(ramp, parts, 1)
    ).T
    scale = np.sqrt(((parts - lines) ** 2).mean(axis=0))
    rises = (np.diff(scale) > 0).all() and scale[-1] > 10 * scale[0] > 0
    return float(np.log(scale[-1] / scale[0]) / (5 * size * dt)) if rises else 0.0


def _none(why: str, confidence: float = 0.0) -> LimitCycle:
    return LimitCycle(False, "none", math.nan, 0.0, 0.0, max(confidence, 0.0), why)


def _settled(t, e, share: float) -> tuple[np.ndarray, float]:
    """The last `share` of the run on a uniform grid: samples and their spacing."""
    t = np.asarray(t, dtype=float)
    e = np.asarray(e, dtype=float)
    _finite("limit cycle", e)
    # Of two samples at one time the later one counts.
    t, last = np.unique(t[::-1], return_index=True)
    e = e[::-1][last]
    if t.size < 2:
        raise InputError("limit cycle: the run has no duration")
    keep = t >= t[-1] - share * (t[-1] - t[0])
    t = t[keep]
    e = e[keep]
    if t.size < 16:
        raise InputError(
            f"limit cycle: {t.size} samples in the settled part", mend="give at least 16"
        )
    grid = np.linspace(t[0], t[-1], t.size)
    return (
        e
        if np.allclose(t, grid, rtol=0, atol=1e-6 * (grid[1] - grid[0]))
        else np.interp(grid, t, e),
        grid[1] - grid[0],
    )


def _strongest(y: np.ndarray, dt: float) -> float:
    """Frequency of the highest peak of the Hann-windowed spectrum, refined by a parabola through its logarithm."""
    n = 1 << (4 * y.size - 1).bit_length()
    power = np.abs(np.fft.rfft(y * np.hanning(y.size), n)) ** 2
    k = int(np.argmax(power[1:-1])) + 1
    low, mid, high = np.log(power[k - 1 : k + 2] + np.finfo(float).tiny)
    curvature = low - 2 * mid + high
    return (k + (0.5 * (low - high) / curvature if curvature < 0 else 0.0)) / (n * dt)


def _basis(time: np.ndarray, frequency: float, harmonics: int) -> np.ndarray:
    angle = 2 * np.pi * frequency * np.outer(time, np.arange(1, harmonics + 1))
    return np.hstack([np.cos(angle), np.sin(angle)])


def _normalised(y, dt, frequency, harmonics, windows):
    """Windows of whole periods at the end of y, less their own straight line, scaled to unit RMS; scales; size."""
    per = 1 / (frequency * dt)
    size = int(round(int(y.size / per / windows + 1e-9) * per))
    size = min(size, y.size // windows)
    parts = y[y.size - windows * size :].reshape(windows, size)
    ramp = np.column_stack([np.ones(size), np.linspace(-1, 1, size)])
    basis = np.hstack([ramp, _basis(dt * np.arange(size), frequency, harmonics)])
    lines = ramp @ np.linalg.lstsq(basis, parts.T, rcond=None)[0][:2]
    flat = parts - lines.T
    scale = np.sqrt((flat**2).mean(axis=1))
    return (flat / np.where(scale > 0, scale, 1.0)[:, None]).ravel(), scale, size


def _refined(z, dt, frequency, size) -> float:
    """Frequency corrected by the drift of the fundamental's phase from window to window."""
    turn = z * np.exp(-2j * np.pi * frequency * dt * np.arange(z.size))
    phase = np.unwrap(np.angle(turn.reshape(-1, size).sum(axis=1)))
    return frequency + np.polyfit(np.arange(phase.size) * size * dt, phase, 1)[0] / (2 * np.pi)


def _waveform(time, z, frequency, harmonics) -> tuple[float, np.ndarray]:
    """Share of the variance of z that the periodic waveform explains, and one finely drawn period of it."""
    basis = _basis(time, frequency, harmonics)
    weights = np.linalg.lstsq(basis, z, rcond=None)[0]
    left = np.mean((z - basis @ weights) ** 2)
    return float(1 - left / np.mean(z**2)), _basis(
        np.arange(720) / 720 / frequency, frequency, harmonics
    ) @ weights


def _crossing_frequency(time, z, frequency, dt) -> float:
    """Rising crossings per second, first to last, of z smoothed over a sixth of a period, with hysteresis ±0.3."""
    box = max(1, int(round(1 / (6 * frequency * dt))))
    smooth = np.convolve(z, np.full(box, 1 / box), mode="same")
    sure = np.flatnonzero(np.abs(smooth) > 0.3)
    rising = sure[1:][np.diff(np.sign(smooth[sure])) > 0]
    return (rising.size - 1) / (time[rising[-1]] - time[rising[0]]) if rising.size > 1 else math.nan


def _trend(scale: np.ndarray, period: float) -> tuple[Trend, float]:
    """Trend and rate (1/s) of the RMS of successive windows, `period` seconds apart."""
    k = np.arange(scale.size)
    log = np.log(scale)
    slope, offset = np.polyfit(k, log, 1)
    error = math.sqrt(
        np.sum((log - slope * k - offset) ** 2) / max(k.size - 2, 1) / np.sum((k - k.mean()) ** 2)
    )
    change = slope * k.size
    one_way = abs(np.sign(np.diff(log)).sum()) == k.size - 1 and abs(change) > 0.2
    if abs(change) < STEADY or not (one_way or abs(slope) > 4 * error):
        return "sustained", slope / period
    if slope > 0:
        return "growing", slope / period
    third = scale.size // 3
    a = scale[:third].mean()
    b = scale[(scale.size - third) // 2 :][:third].mean()
    c = scale[-third:].mean()
    # Limit of a geometric approach.
    settles = a - b > b - c and (a * c - b * b) / (a + c - 2 * b) > 0.5 * c
    return ("sustained" if settles else "decaying"), slope / period
