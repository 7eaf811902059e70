"""Whether a settled loop swings: cycles of outputs, hunting of commands, what drives the loop itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.run.limit_cycle import FEWEST as LEAST_TOLD
from workbench.run.limit_cycle import LimitCycle, limit_cycle
from workbench.verification.observed.chatter import BEYOND, Chatter, chatters
from workbench.verification.observed.commanded import (
    commanded_periods,
    uncommanded,
)
from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor
from workbench.verification.temporal.ready import written

SHORT = 12  # letters of a number that is told as it was entered
FEWEST = 16  # samples in the settled half that a search for oscillations needs


def small(run: Run, floor: float) -> str:
    """The amplitude below which an error is no oscillation, in words."""
    if run.loop.plant.cylinders:
        return f"{1e3 * floor:g} mrad or mm"
    return ", ".join(floors(run, floor))


def floors(run: Run, floor: float) -> list[str]:
    """The floor of the errors of a run in each of their units, as people read it."""
    units = dict.fromkeys(run.log.signal(name).unit for name in joint_errors(run))
    return [_brief(floor, unit) for unit in units]


def _brief(floor: float, unit: str) -> str:
    """A floor as it was entered where that is short, else rounded."""
    entered = written(floor, unit)
    if len(entered) <= SHORT:
        return entered
    return f"{1e3 * floor:.3g} mrad" if unit == "rad" else say(floor, unit, 3)


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
    """The signals that cycle. One that grows without a waveform counts only where the run has samples enough."""
    enough = len(run.log.time) >= 2 * LEAST_TOLD
    return {
        name: cycle
        for name, cycle in looked.items()
        if cycle.detected and (np.isfinite(cycle.frequency) or enough)
    }


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
