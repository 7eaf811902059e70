"""The motion of least time along a path, its extension and its speed both free, within the limits of cylinders and pump.

The tip's path is geometry: it rests at its ends and corners and goes on as fast as it can in between. Where the tip rests the
extension may go on. First a grid over path and extension, speeds and flow limited, finds the valley; then a nonlinear program
follows it down with accelerations and pressures, on intervals made shorter level by level; last, along the curve found, the time
law is made anew by `phase_plane` on intervals PARTS times as short, and slowed until no limit is passed at any instant looked at.

    estimate          s, what finer intervals may still win, by their own convergence; in the valley found: another may be better
    bound             s, no motion is faster (`fastest_bound`)

A motion of least time has some cylinder at a limit at almost every instant: nothing is left for a controller.

Source: [Verscheure09], where the curve is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.planning.curve import Curve, weighed
from workbench.planning.dynamic import Plan
from workbench.planning.fastest.grid import guess, random_guess
from workbench.planning.fastest.program import improve, sides
from workbench.planning.phase_plane import fastest_along
from workbench.planning.supplies import Speed
from workbench.planning.task import Task
from workbench.planning.time_law import Law, Timed, Used, time_law
from workbench.planning.ways import Way

LEVELS = (12, 24)  # intervals an edge
PARTS = 32  # parts of an interval, in the time law that is reported
SPARE = 1e-4  # share of the pump's pressure, left at rest for motion
ENOUGH = 1e-3  # by which the time may be above that without limited pressures, and no further way down is tried
SHORTEST = 0.02  # s, a step of the plan


@final
@dataclass(frozen=True, eq=False)
class Fastest:
    """The motion of least time that was found.

    history   (intervals an edge, time of the motion [s]) of every level of refinement
    starts    time [s] found from each further start, inf where it found no motion
    """

    task: Task
    law: Law
    bound: float
    estimate: float
    history: tuple = ()
    starts: tuple[float, ...] = ()

    @property
    def time(self) -> float:
        """s."""
        return self.law.time

    @cached_property
    def used(self) -> tuple[Used, ...]:
        """Of every limit the most that is used."""
        return self.law.used()

    @cached_property
    def plan(self) -> Plan:
        """The motion in equal steps, as `Plan`: its energy is that of the supply, no limit asked again."""
        from workbench.planning.dynamic import motion

        steps = max(self.task.steps, int(np.ceil(self.time / SHORTEST)))
        timed = replace(self.task, path=Timed(self.law), steps=steps, order=2)
        q_3 = self.law.extension(timed.times)
        return Plan(timed, q_3, float(motion(timed, q_3)["E"].sum()), "least time")


def least_time(
    task: Task,
    starts: int = 0,
    seed: int = 1,
    levels: tuple[int, ...] = LEVELS,
    tell: Callable = lambda fraction, what="": None,
) -> Fastest:
    """The motion of least time along a path, under limits of accelerations, too; the path's own timing is ignored.

    starts: how many searches begin at random extensions, besides the first. Raises InputError where no motion exists, however slow.
    """
    from workbench.planning.fastest.bound import lower_bound

    task = replace(task, order=2)
    way = Way(task.path)
    tell(0.0, "searching the whole stroke")
    law, history = _least(task, way, levels, lambda share: tell(0.1 + 0.6 * share / (1 + starts)))
    rng = np.random.default_rng(seed)
    ends = []
    for i in range(starts):
        tell(0.1 + 0.6 * (i + 1) / (1 + starts), f"start {i + 1}")
        try:
            other, steps = _descended(random_guess(task, way, levels[0], rng), levels)
        except InputError:
            ends.append(np.inf)
            continue
        ends.append(other.time)
        if other.time < law.time:
            law = other
            history = steps
    tell(0.75, "lower bound")
    found = lower_bound(task, way)
    won = abs(history[-2][1] - history[-1][1]) if len(history) > 1 else np.inf
    return Fastest(task, law, found, won, history, tuple(ends))


def _least(task: Task, way: Way, levels: tuple[int, ...], tell: Callable) -> tuple[Law, tuple]:
    """The best way down from the grid's path; with pressures limited the best of several, for their limits part the curves."""
    if not weighed(task):
        return _descended(guess(task, way, levels[0]), levels, tell)
    first = guess(task, way, levels[0])  # says where no load can be held
    light = replace(task, supply=Speed(), p_max=None)
    law, history = _descended(
        guess(light, way, levels[0]), levels, lambda share: tell(0.25 * share)
    )
    carried = replace(law.curve, task=task)
    found = []
    try:
        found.append((time_law(carried), history))
        if found[0][0].time <= law.time * (1 + 1e-6):
            return found[0]  # the pressure is no limit
    except InputError:
        pass
    for i, (curve, soft) in enumerate(product((carried.on(levels[0]), first), (False, True))):
        if found and min(one.time for one, _ in found) <= law.time * (1 + ENOUGH):
            break
        tell(0.25 + 0.18 * i)
        try:
            found.append(_descended(curve, levels, soft=soft))
        except InputError as why:
            error = why
    if not found:
        raise error
    return min(found, key=lambda one: one[0].time)


def _descended(
    curve: Curve, levels: tuple[int, ...], tell: Callable = lambda share: None, soft: bool = False
) -> tuple[Law, tuple]:
    """(the fastest of all levels' time laws, (intervals an edge, s) of every level): each is the time of a motion.

    soft: first, cylinders may find out which way they go.
    """
    task = curve.task
    b = fastest_along(curve.rows(), curve.Δ)
    laws = []
    error = None
    for i, n in enumerate(levels):
        place = np.arange(len(curve.widths) * n + 1) / n
        curve, b = curve.on(n), np.interp(place, np.arange(len(b)) / curve.n, b)
        for free in (False, True) if i == 0 else (False,):
            if soft:
                made = improve(curve, b, free, task.ranges, SPARE, None)
                curve = made.curve
                b = made.b
            made = _within(curve, b, free)
            curve = made.curve
            b = made.b
        try:
            laws.append((n, time_law(curve.on(PARTS * levels[-1]))))
        except InputError as why:
            error = why
        tell((i + 1) / len(levels))
    if not laws:
        raise error
    return min((law for _, law in laws), key=lambda law: law.time), tuple(
        (n, law.time) for n, law in laws
    )


def _within(curve: Curve, b: np.ndarray, free: bool):
    """The program's answer, with joints inside their ranges and loads held at rest in between its points, too."""
    task = curve.task
    ranges = list(curve.task.ranges)
    kept = 0.0
    still = 1e-7
    for _ in range(6):
        made = improve(curve, b, free, ranges, kept, still)
        fine = made.curve.on(8 * curve.n)
        q = fine.tables[0].q
        over = [
            max(float((low - q[:, i]).max()), float((q[:, i] - high).max()), 0.0)
            for i, (low, high) in enumerate(task.ranges)
        ]
        short, rise = _unheld(curve, fine) if weighed(task) else (0.0, 0.0)
        if max(over) <= 1e-12 and not short and not rise:
            break
        ranges = [(low + 1.5 * o, high - 1.5 * o) for (low, high), o in zip(ranges, over)]
        if any(low >= high for low, high in ranges) or not np.isfinite(made.time):
            raise InputError(
                "no motion was found from here: the joints leave their ranges",
                key="path",
                mend="give more starts, or move the path away from the ends of the strokes",
            )
        kept = kept + 1.5 * short
        still = still + 1.5 * rise
        curve = made.curve
        b = made.b
    return made


def _unheld(near: Curve, fine: Curve) -> tuple[float, float]:
    """By how much loads at rest ask for too much pressure; how fast those rise that were to be kept sinking."""
    sinking = np.repeat(sides(near)[1], len(fine.edge) // len(near.edge), axis=0)
    need, pace = fine.loads
    short = np.where(fine.asked & ~sinking, need - 1 + SPARE, 0.0).max()
    return max(float(short), 0.0), max(
        float(np.where(sinking & (need > 1 - SPARE), pace, 0.0).max()), 0.0
    )
