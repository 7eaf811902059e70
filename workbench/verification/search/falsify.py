"""Search for a counter-example: a run among those that the user allows which violates a requirement of the case.

The requirements are those claims of the case that ask something of one run (tracking, pressures, saturation, limits of the
machine). Their margins, as shares of those of the nominal run, are what the search makes small. A run that violates one is
shrunk to the fewest and smallest deviations. Where none is found nothing is proven: that is told as "not refuted", undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.run.grid import at_samples
from workbench.run.many import each_run
from workbench.verification.run import Run, check_length
from workbench.verification.search.directions import SEED, Direction, directions, moved
from workbench.verification.search.minimise import minimise
from workbench.verification.search.score import REFUSED, Score, requirements, score, verdicts
from workbench.verification.search.shrink import shrunk
from workbench.verification.verdict import Verdict

KEY = "falsify"
SOURCE = "corners, an even spread and CMA-ES over what may vary; requirements as margins"


@dataclass
class Search:
    """Runs of a search: `places` (rows in [−1, 1]ⁿ) and their `scores`, in the order they were asked for."""

    run: Run
    asked: list
    nominal: list[Verdict]
    along: tuple[Direction, ...]
    tick: Callable[[], None] | None = None
    places: list[np.ndarray] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)

    def amounts(self, place: np.ndarray) -> dict[Direction, float]:
        """Direction → value where it deviates."""
        told = {d: d.at(float(s)) for d, s in zip(self.along, place)}
        return {d: value for d, value in told.items() if value != d.nominal}

    def values(self, places: np.ndarray) -> np.ndarray:
        """Scores of runs at places, which are kept."""
        found = self.judged(places)
        self.places += list(places)
        self.scores += found
        return np.array([s.value for s in found])

    def judged(self, places: np.ndarray) -> list[Score]:
        """The runs at places, side by side."""
        found: list[Score] = [Score(REFUSED)] * len(places)
        jobs, numbers = [], []
        for i, place in enumerate(places):
            try:
                job = moved(self.run.loop, self.run.scenario, self.amounts(place))
            except InputError as why:
                found[i] = Score(REFUSED, refused=why.message)
                continue
            jobs.append(job)
            numbers.append(i)

        def keep(k: int, whole, demand) -> Score:
            log = at_samples(whole)
            seen = Run(*jobs[k], log, None if log is whole else whole, demand)
            return score(self.asked, self.nominal, seen)

        refused = lambda k, why: Score(REFUSED, refused=why.message)
        for i, one in zip(numbers, each_run(jobs, keep, refused, rows="steps")):
            found[i] = one
        if self.tick:
            self.tick()
        return found

    def violates(self, place: np.ndarray) -> bool:
        return self.judged(place[None, :])[0].violated


def check_falsify(claim, run: Run, claims, tick=None) -> Verdict:
    """Violated with a counter-example, or undecided: not refuted in so many runs."""
    along = directions(run.loop, run.scenario, claim.over)
    asked = requirements(claims)
    text = f"no requirement is violated for any {', '.join(map(_range, along))}"
    said = lambda holds, worst, **more: Verdict(
        KEY, text, holds, None if holds is None else "sampled", worst=worst, source=SOURCE, **more
    )
    if not asked:
        why = "the case asks no requirement of a run (tracking, pressures, saturation, machine-limits)"
        return said(None, why, counted=claim.counted)
    check_length(run.loop, run.scenario)
    nominal = verdicts(asked, run)
    bad = next((v for v in nominal if v.holds is not True), None)
    if bad is not None:
        why = f"nothing was searched: the run without deviations does not meet {bad.claim} ({bad.worst})"
        return said(None, why, counted=False)
    search = Search(run, asked, nominal, along, tick)
    enough = lambda scores: bool(np.min(scores) < 0)
    minimise(len(along), search.values, claim.budget, claim.seed, enough)
    return _told(claim, search, said)


def _told(claim, search: Search, said) -> Verdict:
    """The verdict on what the search found."""
    k = int(np.argmin([s.value for s in search.scores]))
    data = _data(search)
    runs = len(search.scores)
    if not search.scores[k].violated:
        return said(
            None, f"not refuted in {runs} runs; {_closest(search, k)}", counted=False, data=data
        )
    place = shrunk(search.places[k], search.violates)
    found = search.judged(place[None, :])[0]
    amounts = search.amounts(place)
    data |= {"counterexample": {d.name: value for d, value in amounts.items()}}
    first = next(i for i, s in enumerate(search.scores) if s.violated)
    words = f"{found.verdict.claim}: {found.verdict.worst}, with {_deviations(amounts)}; found in run {first + 1}"
    return said(
        False,
        words,
        margin=found.verdict.margin,
        unit=found.verdict.unit,
        limit=found.verdict.limit,
        counted=claim.counted,
        data=data,
    )


def _closest(search: Search, k: int) -> str:
    """The closest call, in words."""
    nearest = search.scores[k]
    if nearest.verdict is None:
        return f"no run could be made: {nearest.refused}"
    where = _deviations(search.amounts(search.places[k])) or "no deviation"
    share = f"{100 * nearest.value:.0f} % of its room is left"
    return f"closest: {nearest.verdict.claim}: {nearest.verdict.worst}, {share}, with {where}"


def _deviations(amounts: Mapping[Direction, float]) -> str:
    return ", ".join(f"{d.name} = {_said(d, value)}" for d, value in amounts.items())


def _range(d: Direction) -> str:
    return f"{d.name} in {_said(d, d.low)} … {_said(d, d.high)}"


def _said(d: Direction, value: float) -> str:
    return f"{value:.0f}" if d.name == SEED else say(value, d.unit, 4)


def _data(search: Search) -> dict:
    """Plain numbers for the report: one row a run, its values, its score and its requirement."""
    rows = [
        {
            "values": [d.at(float(s)) for d, s in zip(search.along, place)],
            "score": one.value if np.isfinite(one.value) else None,
            "requirement": "" if one.verdict is None else one.verdict.key,
        }
        for place, one in zip(search.places, search.scores)
    ]
    names = [
        {"name": d.name, "low": d.low, "high": d.high, "nominal": d.nominal, "unit": d.unit}
        for d in search.along
    ]
    return {"directions": names, "runs": rows, "counterexample": None}
