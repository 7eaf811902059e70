"""Whether a settled loop swings: cycles of outputs, hunting of commands, what drives the loop itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.run.limit_cycle import FEWEST as LEAST_TOLD
from workbench.run.limit_cycle import LimitCycle, limit_cycle
from workbench.verification.observed.commanded import (
    commanded_periods,
    commanded_waves,
    uncommanded,
)
from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor
from workbench.verification.temporal.ready import written


def small(run: Run, floor: float) -> str:
    return (
        f"{1e3 * floor:g} mrad or mm"
        if run.loop.plant.cylinders
        else ", ".join(
            dict.fromkeys(written(floor, run.log.signal(n).unit) for n in joint_errors(run))
        )
    )


def beside(run: Run, floor: float, found) -> str:
    """What belongs to an oscillation: the output that cycles with a chattering command, the plant's own mode near it."""
    name, kind, frequency, _, _ = found
    cycles = output_cycles(run, floor) if kind == "chatter" else {}
    words = [
        f"with it a limit cycle of {n}, {c.frequency:.3g} Hz ({2 * np.pi * c.frequency:.3g} rad/s), amplitude "
        f"{say(c.amplitude, run.log.signal(n).unit, 3)}"
        for n, c in cycles.items()
        if np.isfinite(c.frequency)
    ]
    if not run.loop.plant.cylinders and np.isfinite(frequency):
        words += _mode(run, 2 * np.pi * frequency)
    return "".join(f"; {w}" for w in words)


def pace(frequency: float) -> str:
    """How fast something swings, behind a comma; empty where no waveform says it."""
    return f", {frequency:.3g} Hz" if np.isfinite(frequency) else ""


def _mode(run: Run, ω: float) -> list[str]:
    """The lightly damped mode of the plant at its start that is nearest to ω, rad/s, if one is within half of it."""
    from workbench.numerics.linearisation import linearize

    try:
        λ = np.linalg.eigvals(
            linearize(run.loop.plant, list(run.log.values[0, : len(run.loop.plant.states)])).A
        )
    except InputError:
        return []
    λ = λ[(λ.imag > 0) & (-λ.real < 0.2 * np.abs(λ))]
    if (
        not len(λ)
        or (near := λ[np.abs(np.abs(λ) - ω).argmin()]) is None
        or abs(abs(near) - ω) > 0.5 * ω
    ):
        return []
    size = abs(near)
    return [
        f"the plant has a mode of damping {-near.real / size:.2g} at {size:.4g} rad/s ({size / 2 / np.pi:.3g} Hz)"
    ]


def output_cycles(run: Run, floor: float, other: Run | None = None) -> dict:
    """Joint (or output) errors that cycle otherwise than they are commanded to: name → LimitCycle."""
    return _cycling(run, looked_at(run, floor, other))


def looked_at(run: Run, floor: float, other: Run | None = None) -> dict[str, LimitCycle]:
    """What every joint (or output) error does otherwise than it is commanded to, where there are samples enough to look.

    other: a run from another start, whose errors are taken off: what time drives is in both.
    """
    seen = run.fine
    time = seen.log.time
    periods = commanded_periods(run) if other is None else []
    alike = {} if other is None else joint_errors(other.fine)
    found = {}
    for name, error in joint_errors(seen).items():
        if other is not None:
            error = error - np.interp(time, other.fine.log.time, alike[name])
        t, own = uncommanded(time, error, periods)
        if len(t) >= 2 * FEWEST:
            least = max(floor, signal_floor(run.loop.plant, name))
            found[name] = limit_cycle(t, own, floor=least)
    return found


def _cycling(run: Run, looked: Mapping[str, LimitCycle]) -> dict[str, LimitCycle]:
    """Those that cycle; growth without a waveform needs the more samples."""
    enough = len(run.log.time) >= 2 * LEAST_TOLD
    return {
        name: cycle
        for name, cycle in looked.items()
        if cycle.detected and (np.isfinite(cycle.frequency) or enough)
    }


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


OVERTONES = 3  # of a sine that drives the loop, itself among them: a command follows these


FEWEST = 16  # samples in the settled half that a search for oscillations needs
SLOW = 0.25  # s: what a cubic over this time follows (to about 5 Hz) is a command's work, the rest is chatter
BEYOND = 1e100  # what is more than any bound, as a number


@dataclass(frozen=True)
class Chatter:
    """The fast part of a command: its rms as a share of the range that is used, its frequency (Hz) and amplitude."""

    share: float
    frequency: float
    amplitude: float


def chatters(run: Run, other: Run | None = None) -> dict[str, Chatter]:
    """Command → its fast part in the settled half of a run: rms about its own smooth part.

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
        share = share_of(rms, range_used(driven, low, high))
        found[name] = Chatter(share, frequency, float(np.sqrt(2) * rms))
    return found


def share_of(rms: float, full: float) -> float:
    """rms/full; of a command that uses no range at all, nothing or more than any share."""
    if full > 0:
        return rms / full
    return 0.0 if rms == 0 else BEYOND


@dataclass(frozen=True, eq=False)
class Oscillations:
    """What swings in the settled half of a run: outputs that cycle, and every command with its fast part.

    looked   what was found of every error that could be looked at, name → LimitCycle
    """

    run: Run
    looked: Mapping[str, LimitCycle]
    commands: Mapping[str, Chatter]

    @property
    def cycles(self) -> dict[str, LimitCycle]:
        """Errors that cycle."""
        return _cycling(self.run, self.looked)

    @property
    def few(self) -> str:
        """In words, that there are too few samples for a cycle of an error to be told; empty where there are enough."""
        count = len(self.run.log.time)
        told = f"{count} samples of the run are too few to tell a limit cycle"
        return "" if count >= 2 * LEAST_TOLD else f"{told}: run it longer, or sample it faster"

    @property
    def brief(self) -> str:
        """In words, an error that moves, in too few periods to tell how it goes on; empty where there is none."""
        found = next(((n, c) for n, c in self.looked.items() if c.few and not c.detected), None)
        return f"{found[0]} moves, {found[1].why}" if found else ""

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """swing_NAME: amplitude of the cycle of an error, 0 where it has none, beyond any floor where it grows; chatter_NAME: share
        of a command's fast part."""
        found = {f"swing_{n}": self._swing(n) for n in joint_errors(self.run)}
        found |= {f"chatter_{n}": c.share for n, c in self.commands.items()}
        return {name: np.full(len(self.run.log.time), value) for name, value in found.items()}

    def _swing(self, name: str) -> float:
        cycle = self.cycles.get(name)
        if cycle is None:
            return 0.0
        bounded = cycle.trend != "growing" and np.isfinite(cycle.amplitude)
        return cycle.amplitude if bounded else BEYOND

    def _amplitude(self, name: str) -> float:
        size = self.cycles[name].amplitude
        return size if np.isfinite(size) else np.inf

    def worst(self, chatter: float):
        """(signal, kind, frequency Hz, amplitude, unit) of the worst, of chatter first, then of cycles; None where all is quiet."""
        loud = {n: c for n, c in self.commands.items() if c.share > chatter}
        if loud:
            name = max(loud, key=lambda n: loud[n].share)
            unit = self.run.log.signal(name).unit
            return name, "chatter", loud[name].frequency, loud[name].amplitude, unit
        if not self.cycles:
            return None
        name = max(self.cycles, key=self._amplitude)
        c = self.cycles[name]
        kind = "growing oscillation" if c.trend == "growing" else "limit cycle"
        return name, kind, c.frequency, c.amplitude, self.run.log.signal(name).unit


def oscillations(run: Run, floor: float, other: Run | None = None) -> Oscillations:
    """What swings in the settled half of a run; cycles of errors above the floor, and above what is rounding of the machine.

    other: a run from another start, which what time itself drives is alike in.
    """
    return Oscillations(run, looked_at(run, floor, other), chatters(run, other))


def oscillation(run: Run, floor: float, chatter: float):
    """(signal, kind, frequency Hz, amplitude, unit) of the worst oscillation in the settled half of a run, or None."""
    return oscillations(run, floor).worst(chatter)


LEAST_USED = 0.1  # of half the range a command can have: what a command counts as using at least


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
SIDE = 0.25  # of the window's largest value: what is nearer to zero is on neither side


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
    weights = np.linalg.pinv(
        powers
    )  # least squares over a window; row 0 is its value in the middle
    inner = np.convolve(u, weights[0][::-1], "valid")
    return np.concatenate(
        [powers[:half] @ (weights @ u[:n]), inner, powers[half + 1 :] @ (weights @ u[-n:])]
    )
