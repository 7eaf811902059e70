"""Search for a counter-example: a run among those that the user allows which violates a requirement of the case.

The requirements are those claims of the case that ask something of one run (tracking, pressures, saturation, limits of the
machine) and count. Their margins, as shares of those of the nominal run, are what the search makes small. A run that violates
one is shrunk to the fewest and smallest deviations. Where none is found nothing is proven: the verdict is "not refuted",
undecided, and does not count. Where the search could not look (too few runs for its directions, ranges that move nothing, no
requirement to search for), the verdict counts, since the question stays open.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.contract.system import System
from workbench.contract.units import format_quantity as say
from workbench.run.scenario import Scenario
from workbench.verification.run import Run, check_length
from workbench.verification.search.direction import Direction
from workbench.verification.search.directions import directions
from workbench.verification.search.minimise import CORNERS, minimise
from workbench.verification.search.moves import MATTERS
from workbench.verification.search.of_path import Path
from workbench.verification.search.pictures import described, pictures, tried
from workbench.verification.search.score import requirements, verdicts
from workbench.verification.search.search import Kept, Search
from workbench.verification.search.shrink import shrunk
from workbench.verification.search.slopes import Slopes
from workbench.verification.verdict import Verdict

KEY = "falsify"
SOURCE = "corners, an even spread, slopes and CMA-ES over what may vary; requirements as margins"


def along(claim, loop: System, scenario: Scenario) -> tuple[Direction, ...]:
    """The directions of a claim. Raises InputError, with the key, for what cannot vary so."""
    return directions(loop, scenario, claim.over, Path(claim.knots, claim.speed))


def check_falsify(claim, run: Run, claims, tick=None, kept: Kept | None = None) -> Verdict:
    """Violated with a counter-example, or undecided: not refuted in so many runs. kept: scores of runs made before."""
    varied = along(claim, run.loop, run.scenario)
    asked = requirements(claims)
    text = f"no requirement is violated for any {', '.join(map(_range, varied))}"
    said = lambda holds, worst, **more: Verdict(
        KEY, text, holds, None if holds is None else "sampled", worst=worst, source=SOURCE, **more
    )
    if not asked:
        why = "the case asks no requirement of a run that counts (tracking, pressures, saturation, machine-limits)"
        return said(None, why, counted=claim.counted)
    check_length(run.loop, run.scenario)
    nominal = verdicts(asked, run)
    bad = next((v for v in nominal if v.holds is not True), None)
    if bad is not None:
        why = f"nothing was searched: the run without deviations does not meet {bad.claim} ({bad.worst})"
        return said(None, why, counted=claim.counted and bad.holds is None)
    search = Search(run, asked, nominal, varied, tick, kept)
    enough = lambda scores: bool(np.min(scores) < 0)
    minimise(len(varied), search.values, claim.budget, claim.seed, enough, Slopes(search))
    return _told(claim, search, said)


def _told(claim, search: Search, said) -> Verdict:
    """The verdict on what the search found."""
    k = int(np.argmin([s.value for s in search.scores]))
    data = _data(search)
    runs = len(search.scores)
    if not np.isfinite(search.scores[k].value):
        worst = f"not refuted in {runs} runs; no run could be made: {search.scores[k].refused}"
        return said(None, worst, counted=claim.counted, data=data)
    if not search.scores[k].violated:
        closest = _drawn(search, search.places[k])
        lacking = _lacking(search)
        worst = f"not refuted in {runs} runs; {lacking or closest}"
        return said(None, worst, counted=claim.counted and bool(lacking), data=data)
    place = shrunk(search.places[k], search.violates)
    found = search.made(place)[1].verdict
    amounts = search.amounts(place)
    _drawn(search, place)
    data |= {"counterexample": {d.name: value for d, value in amounts.items()}}
    first = next(i for i, s in enumerate(search.scores) if s.violated)
    words = f"{found.claim}: {found.worst}, with {_deviations(amounts)}; found in run {first + 1}"
    return said(
        False,
        words,
        margin=found.margin,
        unit=found.unit,
        limit=found.limit,
        counted=claim.counted,
        data=data,
    )


def fewest(directions: int) -> int:
    """The least number of runs that look at all ranges: both ends of every direction, and all first corners."""
    return max(CORNERS, 2 * directions)


def _lacking(search: Search) -> str:
    """In words, why these runs say nothing about the ranges; "" where they do."""
    made = [one for one in search.scores if np.isfinite(one.value)]
    least = fewest(len(search.along))
    if len(made) < least:
        what = f"{len(search.along)} direction" + "s" * (len(search.along) > 1)
        done = f"{len(made)} of them could be made, and" if len(made) < len(search.scores) else ""
        return f"{done} {least} are the fewest that look at {what}: give it a larger budget".strip()
    farthest = max(one.moved for one in made)
    if farthest > MATTERS or any(d.kind.named_only for d in search.along):
        return ""
    return (
        f"they searched nothing: no signal moved by more than {farthest:.1g} of its size, which is rounding; "
        "let it vary in a wider range, or vary what this run depends on"
    )


def _drawn(search: Search, place: np.ndarray) -> str:
    """Keep what a report draws, with the run at this place beside the nominal one; that run, the closest call, in words."""
    closest, found = search.made(place)
    amounts = search.amounts(place)
    search.run.kept[KEY] = pictures(search, closest, found, amounts)
    where = _deviations(amounts) or "no deviation"
    share = f"{100 * found.value:.0f} % of its room is left"
    return f"closest: {found.verdict.claim}: {found.verdict.worst}, {share}, with {where}"


def _deviations(amounts: Mapping[Direction, float]) -> str:
    return ", ".join(f"{d.name} = {_said(d, value)}" for d, value in amounts.items())


def _range(d: Direction) -> str:
    return f"{d.name} in {_said(d, d.low)} … {_said(d, d.high)}"


def _said(d: Direction, value: float) -> str:
    return f"{value:.0f}" if d.whole else say(value, d.unit, 4)


def _data(search: Search) -> dict:
    """Plain numbers: one row a run, its values, its score and its requirement."""
    rows = [
        {
            "values": values,
            "score": one.value if np.isfinite(one.value) else None,
            "requirement": one.requirement,
        }
        for values, one in zip(tried(search).tolist(), search.scores)
    ]
    return {"directions": described(search), "runs": rows, "counterexample": None}
