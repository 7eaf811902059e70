"""How margins change with numbers, by exact derivatives of the run.

    dm/dε,  θ (1 + ε)     of m(log + ε dlog/dε) by a central difference that makes no run

dlog/dε is the variation of the whole run (`workbench.run.variation`): what the number does to every signal at every instant. A
margin is worked out of a log by Python, so its change is that between the margins of two logs a millionth apart. Where the sides of
that difference do not agree, or where a thousandth of the number gives another slope because another instant or clause takes over,
this is told as the error. Two runs with every number moved at once say whether the derivatives are those of the loop that
runs: what a graph does not know (a sample rounded to steps, a margin that counts samples) is left to differences of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.parameters import Leaf, bind
from workbench.numerics.overflow import may_overflow
from workbench.run.demand import Demand
from workbench.run.log import Log
from workbench.run.start import start_state
from workbench.run.variation import Job, Varying, has_variation
from workbench.verification.run import Run, of_log
from workbench.verification.sensitivity.slopes import DERIVATIVE, Margins, Slope

NEAR = 1e-6  # share of a number: distance of the logs whose margins are compared
NEIGHBOUR = 1e-3  # share of a number: distance at which the slope is looked at again
BESIDE = 1e-4  # share of a number: distance of the starts and inputs that are differentiated, and of the runs that check
AGREE = 0.02  # share of all slopes together: by how much the runs that check may differ
ROUNDING = 1e-6  # share of a margin or its limit: what the runs that check are good to


def derivatives(
    case: Any, named: Mapping[str, list[Leaf]], move: Margins
) -> list[list[Slope | None]]:
    """For every margin the slope of each number; None where there is no derivative, or where it is not that of the runs.

    case: with `run`, `rows` (what the run says) and `of` (margins of a Run); move: as for `slopes`.
    """
    run = case.run
    if not has_variation(run.loop, run.scenario, run.fine.log):
        return [[None] * len(named) for _ in case.rows]
    varying = Varying(run.loop, run.scenario, run.fine.log)
    varying.prepare()
    found = []
    for name, some in named.items():
        found.append(_of_one(case, varying, name, some))
        case.tick()
    by_margin = [list(some) for some in zip(*found)]
    agreed = _agreed(case.rows, by_margin, move)
    return [some if good else [None] * len(named) for some, good in zip(by_margin, agreed)]


def _of_one(case: Any, varying: Varying, name: str, some: Sequence[Leaf]) -> list[Slope | None]:
    """What one number does to every margin."""
    at = lambda ε: _moved(case.run, some, ε)
    change = varying.along(at(-BESIDE), at(BESIDE), 2 * BESIDE)
    if change is None:
        return [None] * len(case.rows)
    return [_slope(name, *one) for one in _margins(case, at, change)]


def _moved(run: Run, some: Sequence[Leaf], ε: float) -> Job:
    """The loop with numbers of its plant times 1 + ε; the law keeps what it believes."""
    values = {leaf.path: float(leaf.value) * (1 + ε) for leaf in some}
    return ClosedLoop(bind(run.loop.plant, values), run.loop.controller), run.scenario


def _margins(case: Any, at: Any, change: np.ndarray) -> np.ndarray:
    """Margins (m, 5) of logs along the change: at both distances before, here, and after."""
    here = [row.margin for row in case.rows]
    sides = [_along(case, at(ε), ε * change) for ε in (-NEIGHBOUR, -NEAR, NEAR, NEIGHBOUR)]
    return np.array([*sides[:2], here, *sides[2:]], float).T


def _along(case: Any, job: Job, change: np.ndarray) -> list[float]:
    """Margins of the log that is this much off the run's; NaN where there are none."""
    loop, scenario = job
    log = case.run.fine.log
    try:
        with may_overflow():
            demand = Demand(loop, scenario, start_state(loop, scenario))
            moved = Log(log.time, log.values + change, log.signals, log.provenance, log.status)
            return case.of(of_log(loop, scenario, moved, demand))
    except (ValueError, ArithmeticError):
        return [np.nan] * len(case.rows)


def _slope(
    name: str, far: float, before: float, here: float, after: float, farther: float
) -> Slope | None:
    """The slope from margins at −NEIGHBOUR, −NEAR, 0, NEAR and NEIGHBOUR of a number."""
    slope = (after - before) / (2 * NEAR)
    if not np.isfinite(slope):
        return None
    sides = abs((after - here) - (here - before)) / NEAR
    rounding = 1e-15 * abs(here) / NEAR
    wide = (farther - far) / (2 * NEIGHBOUR)
    error = max(abs(wide - slope), sides if sides > 10 * rounding else 0.0)
    return Slope(name, 0.1 * slope, 0.1 * (error if np.isfinite(error) else abs(slope)), DERIVATIVE)


def _agreed(rows: Sequence, slopes: Sequence[Sequence[Slope | None]], move: Margins) -> list[bool]:
    """Whether two runs with all numbers moved at once, each its own way, change every margin as its slopes say."""
    names = list(dict.fromkeys(one.name for some in slopes for one in some if one is not None))
    if not names:
        return [False] * len(rows)
    signs = dict(zip(names, np.random.default_rng(0).choice([-1.0, 1.0], len(names))))
    sides = [{n: 1 + side * s * BESIDE for n, s in signs.items()} for side in (-1, 1)]
    less, more = np.asarray(move(sides), float)
    made = 0.1 * (more - less) / (2 * BESIDE)
    found = []
    for row, some, change in zip(rows, slopes, made):
        told = np.array([signs[one.name] * one.tenth for one in some if one is not None])
        size = max(abs(row.margin), abs(row.limit or 0.0))
        allowed = AGREE * np.abs(told).sum() + ROUNDING * size
        found.append(bool(abs(told.sum() - change) <= allowed))
    return found
