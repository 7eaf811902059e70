"""A compass search over the factors of the gains, batches of runs side by side.

From the best point so far every knob is turned up and down by the step, all of these together; where several of them help, all that
do at once. Nothing better: the step is halved in logarithm, from a factor of 2 to one of 1.4. What is better is `_cost`: first by
how much less of what is asked is missed, then by the trade. Deterministic: no draws.

The best points are then run over the whole scenario, and the first that is still better than the start is chosen.
Source: [KoldaLewisTorczon03] compass search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from controllers.gain_search.bearing import ladder
from controllers.gain_search.judged import Bench, judge_of, limit_of
from controllers.gain_search.knobs import REACH, knobs, law_of, turned
from controllers.gain_search.point import Point, Traded
from workbench.contract.closed_loop import ClosedLoop
from workbench.numerics.laned import width
from workbench.run.scenario import Scenario
from workbench.verification.run import error_unit

if TYPE_CHECKING:
    from controllers.gain_search.options import ByRuns

FIRST, LAST = 1.0, 0.5  # steps, in octaves
COMPILED, CALLED = 600, 40  # runs at most
GAIN = 0.01  # relative: less than that is no improvement
ENOUGH = 2  # points that keep what is asked over the whole scenario
PROPOSED = 6  # points that are run over the whole scenario, at most
TINY = 1e-12


def searched(
    wish: ByRuns,
    loop: ClosedLoop,
    scenario: Scenario,
    claims: Sequence[Any] | None,
    tell: Callable[[float], None],
) -> Traded:
    """See `ByRuns.tune`."""
    from workbench.verification.judge import default_claims

    asked = tuple(default_claims(loop, scenario) if claims is None else claims)
    counter = _Counter(wish.most or (CALLED if loop.hosted else COMPILED), tell)
    bench = _bench(wish, loop, scenario, asked, counter)
    search = _Search(bench, counter)
    start = search.points([(0.0,) * len(bench.knobs)])[0]
    bench = _with_limits(bench, start)
    search = _Search(bench, counter, {start.octaves: bench.asked_of(start)})
    search.run(start.octaves)
    beside = 2 if loop.hosted else width()
    first = bench.whole(search.tried[start.octaves], beside)
    bench = _with_limits(replace(bench, floor=wish.bears, ceiling=wish.error), first)
    first = bench.asked_of(first)
    ranked = _confirmed(bench, search, first, beside)
    chosen = ranked[0] if ranked else first
    tell(1.0)
    return Traded(
        loop=turned(loop, bench.knobs, chosen.octaves),
        found=tuple(dict.fromkeys(knob.field for knob in bench.knobs)),
        start=first,
        chosen=chosen,
        tried=tuple(search.tried.values()),
        ranked=tuple(ranked),
        asked=wish.asked(first, bench.floor, bench.ceiling, error_unit(loop)),
        what=wish.what,
        floor=bench.floor,
        ceiling=bench.ceiling,
        unit=error_unit(loop),
    )


def _bench(wish: ByRuns, loop, scenario, claims: tuple, counter: _Counter) -> Bench:
    unit = error_unit(loop)
    every = knobs(law_of(loop), wish.free, wish.each)
    limit = limit_of(claims, wish.what, unit)
    rungs = ladder(loop, wish.what, limit.up_to, wish.bears)
    judge = judge_of(claims, wish.what, unit)
    floor = wish.bears
    ceiling = wish.error
    return Bench(
        wish=wish,
        loop=loop,
        scenario=scenario,
        claims=claims,
        knobs=every,
        rungs=rungs,
        judge=judge,
        tick=counter.tick,
        near=0.0,
        floor=floor,
        ceiling=ceiling,
    )


def _with_limits(bench: Bench, start: Point) -> Bench:
    """What must be kept where nothing was stated: what the first gains bear, or the error they make.

    Gains with which a requirement is violated are no measure of what has to be borne: the shortest delay tried is.
    """
    wish = bench.wish
    floor = bench.floor
    ceiling = bench.ceiling
    if wish.trade == "error" and floor is None:
        sound = start.bears > 0 and not start.violated
        floor = start.bears if sound else bench.rungs.values[0]
    if wish.trade == "reserve" and ceiling is None and math.isfinite(start.error):
        ceiling = start.error
    return replace(bench, floor=floor, ceiling=ceiling, near=start.bears)


@dataclass(eq=False)
class _Counter:
    """How many runs there were."""

    most: int
    tell: Callable[[float], None]
    done: int = 0

    def tick(self) -> None:
        self.done += 1
        self.tell(min(0.99, self.done / self.most))

    @property
    def spent(self) -> bool:
        return self.done >= self.most


@dataclass(eq=False)
class _Search:
    """The points that were run, by their octaves."""

    bench: Bench
    counter: _Counter
    tried: dict[tuple[float, ...], Point] = field(default_factory=dict)

    def points(self, many: Sequence[tuple[float, ...]]) -> list[Point]:
        new = [octaves for octaves in dict.fromkeys(many) if octaves not in self.tried]
        if new and not self.counter.spent:
            self.tried |= dict(zip(new, self.bench.points(new)))
        return [self.tried[octaves] for octaves in many if octaves in self.tried]

    def run(self, at: tuple[float, ...]) -> None:
        step = FIRST
        while step >= LAST and not self.counter.spent:
            best = self._around(at, step)
            if best == at:
                step /= 2
            at = best

    def _around(self, at: tuple[float, ...], step: float) -> tuple[float, ...]:
        """The best of the points a step away, and of the one that all helpful steps lead to; `at` where none is better."""
        here = self.tried[at]
        ways = [(k, sign * step) for k in range(len(at)) for sign in (1, -1)]
        polled = self.points([_moved(at, [way]) for way in ways])
        found = {point.octaves: point for point in polled}
        helps: dict[int, tuple[Point, float]] = {}
        for k, octaves in ways:
            point = found.get(_moved(at, [(k, octaves)]))
            if point is None or not better(point, here, self.bench.wish.trade):
                continue
            if k not in helps or better(point, helps[k][0], self.bench.wish.trade):
                helps[k] = point, octaves
        together = _moved(at, [(k, octaves) for k, (_, octaves) in helps.items()])
        best = self._best([here, *polled, *(self.points([together]) if len(helps) > 1 else [])])
        return best.octaves

    def _best(self, points: Sequence[Point]) -> Point:
        best = points[0]
        for point in points[1:]:
            if better(point, best, self.bench.wish.trade):
                best = point
        return best


def _moved(at: tuple[float, ...], ways: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    new = list(at)
    for k, octaves in ways:
        new[k] = min(max(new[k] + octaves, -REACH), REACH)
    return tuple(new)


def better(one: Point, other: Point, trade: str) -> bool:
    """Whether a point is to be preferred: less of what is asked missed, then the trade by a percent at least."""
    if abs(one.excess - other.excess) > TINY or not math.isfinite(one.excess):
        return one.excess < other.excess
    for a, b in zip(_cost(one, trade), _cost(other, trade)):
        if abs(a - b) > GAIN:
            return a < b
    return False


def _cost(point: Point, trade: str) -> tuple[float, ...]:
    """What is made small, in logarithms; the second where the first is alike."""
    error = math.log(max(point.error, TINY))
    bears = math.log(max(point.bears, TINY))
    return {"error": (error, -bears), "reserve": (-bears, error), "balanced": (error - bears,)}[
        trade
    ]


def _confirmed(bench: Bench, search: _Search, first: Point, beside: int) -> list[Point]:
    """Points that are better than the first gains over the whole scenario too, the best first; no more than are proposed."""
    trade = bench.wish.trade
    order = sorted(search.tried.values(), key=lambda p: (p.excess, *_cost(p, trade)))
    start = search.tried[first.octaves]
    proposed = [p for p in order if better(p, start, trade)][:PROPOSED]
    found: list[Point] = []
    for point in proposed:
        whole = bench.whole(point, beside)
        if better(whole, first, trade):
            found.append(whole)
            if sum(p.kept for p in found) == ENOUGH:
                break
    return sorted(found, key=lambda p: (p.excess, *_cost(p, trade)))
