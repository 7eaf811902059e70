"""The fast part of commands: what a valve is shaken by beyond the motion it was meant for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.verification.observed.commanded import commanded_waves
from workbench.verification.run import Run

SLOW = 0.25  # s: what a cubic over this time follows (to about 5 Hz) is a command's work, the rest is chatter
OVERTONES = 3  # of a sine that drives the loop, itself among them: a command follows these
ROUNDING = 1e-9  # share of its largest value: what a command counts as using at least
BEYOND = 1e100  # what is more than any bound, as a number


@dataclass(frozen=True)
class Chatter:
    """The fast part of a command: its rms as a share of the range that is used, its frequency (Hz) and amplitude."""

    share: float
    frequency: float
    amplitude: float


def chatters(run: Run, other: Run | None = None) -> dict[str, Chatter]:
    """Command → its fast part in the settled half of a run: rms about its own smooth part.

    A command that stands uses no range; its fast part is then a share of what is rounding of the command, and so no chatter.
    What a sine that drives the loop explains, with its overtones, is no chatter, and neither is what a run from another start has
    as well. Its frequency is the largest line of that; it need not be one line.
    """
    t = run.log.time
    step = float(t[1] - t[0]) if len(t) > 1 else 1.0
    waves = commanded_waves(run)
    found = {}
    for name, (low, high) in ranges_of_commands(run).items():
        whole = np.clip(run.log.array(name), low, high)
        smooth = smoothed(whole, step)
        driven = smooth + forced(t, whole - smooth, step, waves)
        rest = whole - driven
        if other is not None:
            alike = np.clip(other.log.array(name), low, high)
            rest = rest - np.interp(t, other.log.time, alike - smoothed(alike, step))
        fast = swinging(rest[len(t) // 2 :], step)
        rms = float(np.sqrt(np.mean(fast**2)))
        line = np.abs(np.fft.rfft(fast * np.hanning(len(fast))))
        frequency = float(np.argmax(line) / (len(fast) * step))
        full = max(range_used(driven, low, high), ROUNDING * float(np.abs(whole).max()))
        share = share_of(rms, full)
        found[name] = Chatter(share, frequency, float(np.sqrt(2) * rms))
    return found


def share_of(rms: float, full: float) -> float:
    """rms/full; of a command that uses no range at all, nothing or more than any share."""
    if full > 0:
        return rms / full
    return 0.0 if rms == 0 else BEYOND


def forced(time: np.ndarray, fast: np.ndarray, step: float, waves: Sequence[float]) -> np.ndarray:
    """What sines of these frequencies (Hz), and the first of their overtones, explain of the fast part of a command.

    They are fitted to the settled half, each without its own smooth part, too.
    """
    settled = slice(len(time) // 2, None)
    if len(time) < 8 * OVERTONES * len(waves) or not waves:
        return np.zeros(len(time))
    angles = [2 * np.pi * k * f * time for f in waves for k in range(1, OVERTONES + 1)]
    lines = [wave - smoothed(wave, step) for a in angles for wave in (np.cos(a), np.sin(a))]
    basis = np.column_stack(lines)
    return basis @ np.linalg.lstsq(basis[settled], fast[settled], rcond=1e-9)[0]


# Share of half the range a command can have: what a command counts as using at least.
LEAST_USED = 0.1


def ranges_of_commands(run: Run) -> dict[str, tuple[float, float]]:
    """The plant's own range of every command the law gives; infinite where it has none. What a law allows itself is no range."""
    own = run.loop.plant.limits()
    return {s.name: own.get(s.name, (-np.inf, np.inf)) for s in run.loop.controller.commands}


def range_used(smooth: np.ndarray, low: float, high: float) -> float:
    """Half of the range that a command goes through on the run, chatter taken off; at least LEAST_USED of half its own range."""
    used = 0.5 * float(np.ptp(smooth))
    return max(used, LEAST_USED * 0.5 * (high - low)) if np.isfinite(high - low) else used


WINDOW = 0.5  # s: in which what is fast must swing to and fro to count as chatter
SWINGS = 5  # changes of side a window, at least; a jump, smoothed off, has fewer
SIDE = 0.25  # share of the window's largest value: what is nearer to zero is on neither side


def swinging(fast: np.ndarray, step: float) -> np.ndarray:
    """The fast part of a command where it swings; 0 in windows where it only jumps, as friction fed forward does at a reversal."""
    size = max(4 * SWINGS, round(WINDOW / step))
    kept = fast.copy()
    for first in range(0, len(fast), size):
        part = fast[first : first + size]
        sides = np.sign(part[np.abs(part) > SIDE * np.abs(part).max(initial=0.0)])
        if np.count_nonzero(np.diff(sides)) < SWINGS * len(part) / size:
            kept[first : first + size] = 0.0
    return kept


def smoothed(u: np.ndarray, step: float) -> np.ndarray:
    """u by a cubic fitted over SLOW around every sample (Savitzky–Golay): motion passes, what is faster than about 5 Hz does
    not."""
    n = max(5, 2 * round(SLOW / step / 2) + 1)
    if len(u) < n:
        return u
    half = n // 2
    powers = np.vander(np.arange(-half, half + 1) / half, 4, increasing=True)
    # Least squares over a window; row 0 is its value in the middle.
    weights = np.linalg.pinv(powers)
    inner = np.convolve(u, weights[0][::-1], "valid")
    return np.concatenate(
        [powers[:half] @ (weights @ u[:n]), inner, powers[half + 1 :] @ (weights @ u[-n:])]
    )
