"""How a score changes with every direction of a search at one of its runs: by the variation of the run, or by runs beside it.

The score is worked out of a log by Python: its change is that between the scores of two logs a millionth apart along the variation
(`workbench.run.variation`), which is exact. A direction that changes steps or the graph (a delay, a seed) has no slope.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.overflow import may_overflow
from workbench.run.demand import Demand
from workbench.run.start import start_state
from workbench.run.variation import Job, Varying, has_variation
from workbench.verification.run import Run, of_log
from workbench.verification.run import run as simulated
from workbench.verification.search.directions import moved
from workbench.verification.search.score import score
from workbench.verification.search.search import Search

NEAR = 1e-6  # share of half a range: distance of the logs whose scores are compared
BESIDE = 1e-4  # share of half a range: distance of the starts and inputs that are differentiated


class Slopes:
    """Slopes of the score over the box [−1, 1]ⁿ of a search, at its points."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.may = [i for i, d in enumerate(search.along) if not d.whole]

    def __call__(self, point: np.ndarray) -> np.ndarray | None:
        """∂score/∂point (n,), 0 along directions without a slope; None where the run has no variation."""
        search = self.search
        if not self.may or not has_variation(search.run.loop, search.run.scenario, search.run.log):
            return None
        try:
            run = self._run(point)
            varying = Varying(run.loop, run.scenario, run.fine.log)
            varying.prepare()
            found = [self._along(varying, run, point, i) for i in range(len(point))]
        except (InputError, ArithmeticError):
            return None
        return np.array(found) if any(found) else None

    def _job(self, point: np.ndarray) -> Job:
        """The loop and scenario at a point, every direction told, so that all points have one graph."""
        search = self.search
        place = search.place(np.clip(point, -1.0, 1.0))
        told = {d: d.nominal for d in search.along} | search.amounts(place)
        return moved(search.run.loop, search.run.scenario, told)

    def _run(self, point: np.ndarray) -> Run:
        made = simulated(*self._job(point))
        if not has_variation(made.loop, made.scenario, made.fine.log):
            raise InputError("the run has no variation")
        return made

    def _along(self, varying: Varying, run: Run, point: np.ndarray, i: int) -> float:
        if i not in self.may:
            return 0.0
        less, more = (self._beside(point, i, side * BESIDE) for side in (-1, 1))
        change = varying.along(self._job(less), self._job(more), more[i] - less[i])
        if change is None:
            return 0.0
        scores = [self._score(run, point, i, side * NEAR, change) for side in (-1, 1)]
        slope = (scores[1] - scores[0]) / (2 * NEAR)
        return float(slope) if np.isfinite(slope) else 0.0

    @staticmethod
    def _beside(point: np.ndarray, i: int, far: float) -> np.ndarray:
        """A point beside the given one, moved along one direction and kept inside the box."""
        found = np.array(point, float)
        found[i] = np.clip(found[i] + far, -1.0, 1.0)
        return found

    def _score(self, run: Run, point: np.ndarray, i: int, ε: float, change: np.ndarray) -> float:
        """The score of the run's log moved so far along its change."""
        log = run.fine.log
        loop, scenario = self._job(self._beside(point, i, ε))
        with may_overflow():
            demand = Demand(loop, scenario, start_state(loop, scenario))
            other = of_log(loop, scenario, replace(log, values=log.values + ε * change), demand)
            return score(self.search.asked, self.search.nominal, other).value
