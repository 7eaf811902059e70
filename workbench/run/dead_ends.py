"""Where a run reaches states that its plant does not describe: zeros of signals that a plant declares, ends of strokes, vacuum.

`System.dead_ends` names signals at whose zero the equations are no longer valid: the run is stopped there. `System.change_points`
names signals at whose zero the equations do not determine how the motion continues: the run goes on, and its verdicts say so. Both
are checked at every step of the integrator, as a signal may touch zero between two rows of a coarse log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.contract.system import Signal, System
from workbench.run.log import Log, Status

AHEAD, GONE = 2.0, 10.0  # steps


def reached(s: np.ndarray, gone: bool) -> int | None:
    """First row k from which s² comes to zero within two more steps, by its last slope; None where it never does.

    Near its zero s is either |a (t − t_0)|, large again after it, so that the values of two rows do not show it; or √(a (t_0 − t)),
    which ends there. gone: the run ended by itself after the last row; zero within ten steps was the reason then.
    """
    square = s * s
    falls = np.diff(square)
    k = np.flatnonzero(~(square[1:] + AHEAD * falls > 0.0))
    if len(k):
        return int(k[0]) + 1
    if gone and len(falls) and not square[-1] + GONE * falls[-1] > 0.0:
        return len(s) - 1
    return None


def stopped(plant: System, log: Log) -> Log:
    """The log of every step up to the first dead end, with the status that says which."""
    found = []
    for name, words in plant.dead_ends.items():
        k = reached(log.array(name), not log.status.completed)
        if k is not None:
            found.append((k, words))
    if not found:
        return log
    k, words = min(found)
    t = float(log.time[k])
    status = Status(False, f"stopped: {words} at t = {t:.4g} s", t, followed=False)
    return replace(log, time=log.time[: k + 1], values=log.values[: k + 1], status=status)


def passed(plant: System, log: Log) -> tuple[float, str]:
    """(time, words) of the first change point in a log of every step; (inf, "") if none."""
    first = (np.inf, "")
    for name, words in plant.change_points.items():
        k = reached(log.array(name), False)
        if k is not None and log.time[k] < first[0]:
            first = (float(log.time[k]), f"{words} at t = {log.time[k]:.4g} s")
    return first


@dataclass(frozen=True)
class Stroke:
    """What moves a drive, `what` in words: a logged signal between its ends, m."""

    signal: str
    what: str
    low: float
    high: float

    def left(self, x: np.ndarray) -> np.ndarray:
        """Whether these values are outside, or no numbers."""
        return ~((x > self.low) & (x < self.high))


def strokes(plant: System) -> list[Stroke]:
    """Those of every drive of a plant."""
    pistons = [
        Stroke(f"x_{label}", f"piston {label}", 0.0, cylinder.stroke)
        for label, cylinder in zip(plant.labels, plant.cylinders)
    ]
    units = {s.name: s.unit for s in (*plant.states, *plant.monitors)}
    moving = {name: "joint" if units.get(name) == "rad" else "cylinder" for name in plant.spans}
    spans = plant.spans.items()
    return pistons + [Stroke(name, f"the {moving[name]} ({name})", *ends) for name, ends in spans]


def beyond_stroke(plant: System, log: Log) -> tuple[float, str]:
    """(time, words) of the first piston that leaves its stroke, where the model no longer holds; (inf, "") if none does."""
    first = (np.inf, "")
    for stroke in strokes(plant):
        t = first_time(log, stroke.left(log.array(stroke.signal)))
        if t < first[0]:
            first = (t, f"{stroke.what} leaves its stroke at t = {t:.3f} s")
    return first


def samples_inside(
    plant: System, signals: Sequence[Signal], rows: np.ndarray, sample: Callable[[int], int]
) -> float:
    """Samples before a drive leaves its stroke in a table with these columns, `sample` of a row; inf where none does."""
    places = {s.name: i for i, s in enumerate(signals)}
    left = [np.flatnonzero(s.left(rows[:, places[s.signal]])) for s in strokes(plant)]
    return min((sample(int(found[0])) for found in left if len(found)), default=np.inf)


def below_vacuum(plant: System, log: Log) -> tuple[float, str]:
    """(time, words) of the first chamber whose pressure falls below vacuum, as no real oil's does; (inf, "") if none does."""
    first = (np.inf, "")
    for name, vacuum in plant.vacua.items():
        t = first_time(log, log.array(name) < vacuum)
        if t < first[0]:
            first = (
                t,
                f"{name} falls below vacuum at t = {t:.2f} s, where oil cavitates; "
                "the plant has oil without air, which does not",
            )
    return first


def first_time(log: Log, there: np.ndarray) -> float:
    """Time of the first row of a log in which a condition is true, s; inf if there is none."""
    rows = np.flatnonzero(there)
    return float(log.time[rows[0]]) if len(rows) else np.inf
