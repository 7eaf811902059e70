"""What runs show of gains, judged as the claims of a case judge them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.gain_search.bearing import Ladder, borne, climbed
from controllers.gain_search.knobs import Knob, law_of, turned
from controllers.gain_search.point import Point
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.run.metrics import rms
from workbench.run.scenario import Scenario
from workbench.verification.claims import DelayLimit, SampleTimeLimit, Settled
from workbench.verification.observed.requirements import size_of
from workbench.verification.observed.settled import check_settled
from workbench.verification.practical.limits.claims import outcome
from workbench.verification.practical.limits.scanned import Outcome
from workbench.verification.run import Run, run_many
from workbench.verification.run_claims import Tracking
from workbench.verification.search.score import requirements, verdicts

if TYPE_CHECKING:
    from controllers.gain_search.options import ByRuns

SPAN = 10.0  # s of the scenario that the search looks at
ROOM = 10.0  # times the error allowed: what a loop with more delay may make
UNTOLD = 50e-3  # the same where no claim says what is allowed


@dataclass(frozen=True, eq=False)
class Bench:
    """Where gains are tried: a loop, its scenario and claims, what is asked, and the ladder of delays.

    near: about what loops like this one bear, s; the bisection begins there.
    floor, ceiling: None until the first gains have been run.
    """

    wish: ByRuns
    loop: ClosedLoop
    scenario: Scenario
    claims: tuple
    knobs: tuple[Knob, ...]
    rungs: Ladder
    judge: Callable[[Run], Outcome]
    tick: Callable[[], None]
    near: float = 0.0
    floor: float | None = None
    ceiling: float | None = None

    @property
    def begins(self) -> Scenario:
        """The first part of the scenario, long enough to contain the time in which the loop settles."""
        settle = max((c.settle for c in self.claims if isinstance(c, Tracking)), default=0.0)
        length = min(self.scenario.length(), max(SPAN, 3 * settle))
        return replace(self.scenario, duration=length, log_period=None)

    def points(self, many: Sequence[tuple[float, ...]]) -> list[Point]:
        """What the beginning of the scenario shows of gains; those that the law refuses have an infinite error."""
        loops = [_made(self.loop, self.knobs, octaves) for octaves in many]
        able = [k for k, loop in enumerate(loops) if loop is not None]
        begin = self.begins
        seen = run_many([(loops[k], begin) for k in able], self._seen, self.tick)
        sound = [k for k, (_, _, violated) in zip(able, seen) if not violated]
        reach = [loops[k] for k in sound]
        bears = borne(self.rungs, reach, begin, self.judge, self.tick, self.near)
        shown = dict(zip(able, seen))
        most = dict(zip(sound, bears))
        return [
            self.asked_of(self._point(octaves, loop, shown.get(k), most.get(k, 0.0)))
            for k, (octaves, loop) in enumerate(zip(many, loops))
        ]

    def whole(self, point: Point, beside: int) -> Point:
        """This choice of gains, run over the whole scenario, held at its end, and at every delay of the ladder."""
        loop = turned(self.loop, self.knobs, point.octaves)
        scenario = replace(self.scenario, log_period=None)
        error, largest, violated = run_many([(loop, scenario)], self._settled, self.tick)[0]
        bears = 0.0
        if math.isfinite(error):
            bears = self._scanned(loop, scenario, beside)
        made = replace(
            point, error=error, largest=largest, bears=bears, violated=violated, whole=True
        )
        return self.asked_of(made)

    def _scanned(self, loop: ClosedLoop, scenario: Scenario, beside: int) -> float:
        """What a loop bears over the whole scenario: every rung of a compiled loop, by bisection of one called from Python."""
        if not loop.hosted:
            return climbed(self.rungs, loop, scenario, self.judge, self.tick, beside)
        return borne(self.rungs, [loop], scenario, self.judge, self.tick, self.near)[0]

    def asked_of(self, point: Point) -> Point:
        """The point with its excess: by how much it misses what is asked."""
        if not math.isfinite(point.error):
            return replace(point, excess=math.inf)
        excess = float(len(point.violated))
        if self.floor is not None and point.bears < self.floor * (1 - 1e-9):
            excess += math.log2(self.floor / max(point.bears, 1e-3 * self.floor))
        if self.ceiling is not None and point.error > self.ceiling * (1 + 1e-9):
            excess += math.log2(point.error / self.ceiling)
        return replace(point, excess=excess)

    def _point(
        self, octaves: tuple[float, ...], loop: ClosedLoop | None, seen: Any, bears: float
    ) -> Point:
        error, largest, violated = seen or (math.inf, math.inf, ("the law refuses such gains",))
        law = law_of(loop or self.loop)
        gains = {knob.field: getattr(law, knob.field) for knob in self.knobs}
        return Point(octaves, gains, error, largest, bears, violated)

    def _seen(self, run: Run) -> tuple[float, float, tuple[str, ...]]:
        """(rms error, largest after settling, what does not hold) of a run at the loop's own delay."""
        if not run.log.status.completed or run.left[1]:
            return math.inf, math.inf, (run.left[1] or run.log.status.message,)
        e = run.tool_error
        if e is None:
            raise InputError(
                "nothing follows a reference here: there is no error to trade",
                key="scenario.reference",
                mend="give the scenario a reference",
            )
        shown = self.judge(run)
        found = [v for v in verdicts(requirements(self.claims), run) if v.counted]
        bad = [f"{v.key}: {v.worst}" for v in found if v.holds is False]
        restless = [] if shown.good or bad else [shown.why]
        settle = max((c.settle for c in self.claims if isinstance(c, Tracking)), default=0.0)
        largest = float(np.abs(e[run.settled(settle)]).max())
        return rms(run.log.time, e), largest, (*bad, *restless)

    def _settled(self, run: Run) -> tuple[float, float, tuple[str, ...]]:
        """(rms error, largest error, what is violated) of a whole run, which is held at its end as well."""
        error, largest, violated = self._seen(run)
        asked = [c for c in self.claims if isinstance(c, Settled) and c.counted]
        if not math.isfinite(error) or not asked:
            return error, largest, violated
        rest = check_settled(asked[0], run)
        return error, largest, violated if rest.holds else (*violated, f"settled: {rest.worst}")


def _made(loop: ClosedLoop, every: Sequence[Knob], octaves: Sequence[float]) -> ClosedLoop | None:
    """The loop with the knobs turned; None where the law refuses such gains."""
    try:
        return turned(loop, every, octaves)
    except ValueError:
        return None


def limit_of(claims: Sequence[Any], what: str, unit: str) -> Any:
    """The claim on delay or sample time that the case asks; else the default one, with room for the error that is allowed."""
    kind = SampleTimeLimit if what == "sample time" else DelayLimit
    stated = next((c for c in claims if isinstance(c, kind)), None)
    if stated is not None:
        return stated
    tracking = next((c for c in claims if isinstance(c, Tracking)), None)
    allowed = UNTOLD if tracking is None else ROOM * size_of(tracking, "error", [unit])
    return kind(error=allowed)


def judge_of(claims: Sequence[Any], what: str, unit: str) -> Callable[[Run], Outcome]:
    """What the claim on delay or sample time makes of a run."""
    return outcome(limit_of(claims, what, unit), None)
