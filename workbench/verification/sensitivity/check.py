"""The row, the data and the picture of what moves the margins of a case's requirements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.numbers import numbers
from workbench.contract.parameters import Leaf, bind, leaves
from workbench.contract.units import format_quantity as say
from workbench.verification.answers import Answers, Store
from workbench.verification.probability.draws import laws
from workbench.verification.run import run as simulated
from workbench.verification.run import run_many
from workbench.verification.search.score import requirements, verdicts
from workbench.verification.sensitivity.claim import Sensitivity
from workbench.verification.sensitivity.derivatives import derivatives
from workbench.verification.sensitivity.morris import effects
from workbench.verification.sensitivity.shares import base, shares
from workbench.verification.sensitivity.slopes import MORRIS, Margins, Slope, slopes
from workbench.verification.verdict import Verdict

KEY = "sensitivity"
DRAWN = "moved_margins"  # what the report draws
TEXT = "which numbers move the margins most"
SOURCE = "derivatives of the run where it is smooth, else differences of runs and Morris' effects; Sobol's indices over ranges"
SLIGHT = 1e-6  # share of the largest change: numbers that move a margin less do not
TOLD = 3  # numbers in the row
BARS = 8  # numbers shown of a requirement, at most
BATCH = 64


@dataclass(frozen=True, eq=False)
class Case:
    """The loop with its requirements that have a margin, and runs of it with numbers of the plant exchanged."""

    run: Any
    asked: list
    rows: list[Verdict]
    tick: Callable[[], None]
    kept: Answers | None = None

    def margins(self, values: Sequence[Mapping[str, float]]) -> np.ndarray:
        """Margins (k, m) of runs whose numbers (path → SI) are these; NaN where a run has none."""
        found = np.full((len(values), len(self.rows)), np.nan)
        jobs = []
        places = []
        for i, one in enumerate(values):
            try:
                plant = bind(self.run.loop.plant, one)
            except (ValueError, ArithmeticError):
                continue
            jobs.append((ClosedLoop(plant, self.run.loop.controller), self.run.scenario))
            places.append(i)
        for i in range(0, len(jobs), BATCH):
            some = jobs[i : i + BATCH]
            found[places[i : i + BATCH]] = (
                self._each(some) if self.kept is None else self.kept.of(some, self._each)
            )
            self.tick()
        return found

    def _each(self, jobs: Sequence) -> list:
        try:
            return run_many(jobs, self.of)
        except (ValueError, ArithmeticError):
            return [self._apart(job) for job in jobs]

    def _apart(self, job: tuple) -> list[float]:
        try:
            return self.of(simulated(*job))
        except (ValueError, ArithmeticError):
            return [np.nan] * len(self.rows)

    def of(self, run: Any) -> list[float]:
        """Margins (m,) of a run."""
        found = {v.key: v.margin for v in verdicts(self.asked, run)}
        return [np.nan if (m := found.get(v.key)) is None else m for v in self.rows]


def check_sensitivity(
    claim: Sensitivity, run: Any, claims: Sequence, tick: Any, store: Store | None = None
) -> Verdict:
    """Slopes of every margin beside the case, and shares of their spread where ranges are given; undecided, for information.

    store: what keeps the margins of runs, where a study may be interrupted.
    """

    def said(worst: str, **data: Any) -> Verdict:
        return Verdict(
            KEY, TEXT, None, worst=worst, source=SOURCE, counted=claim.counted, data=data
        )

    asked = requirements(claims)
    rows = [v for v in verdicts(asked, run) if v.margin is not None and np.isfinite(v.margin)]
    if not rows:
        return said("no requirement of the case has a margin that could move")
    named = groups(run.loop.plant, claim.of)
    kept = None if store is None else Answers(store, f"sensitivity {asked} {[v.key for v in rows]}")
    case = Case(run, asked, rows, tick, kept)
    move = lambda factors: case.margins([_moved(named, one) for one in factors])
    moved = _slopes(case, named, move, claim.seed)
    found: dict[str, Any] = {"requirements": [_row(v, s, named) for v, s in zip(rows, moved)]}
    if claim.over:
        found["shares"] = _spread(claim, case)
    run.kept[DRAWN] = found
    thin = min(range(len(rows)), key=lambda j: _room(rows[j]))
    return said(_words(rows[thin], moved[thin], named), **found)


def _slopes(case: Case, named: Mapping, move: Margins, seed: int) -> list[list[Slope]]:
    """For every margin the slope of each number: exact where it has one, by runs beside the case, over a range at kinks."""
    found = derivatives(case, named, move)
    inexact = [name for i, name in enumerate(named) if any(some[i] is None for some in found)]
    if inexact:
        beside = map(_by_name, slopes(move, inexact))
        found = [_completed(some, named, others) for some, others in zip(found, beside)]
    rough = [name for i, name in enumerate(named) if any(_rough(some, i) for some in found)]
    if not rough:
        return found
    ranged = map(_by_name, effects(move, rough, seed))
    return [
        [_better(one, others.get(one.name), _rough(some, i)) for i, one in enumerate(some)]
        for some, others in zip(found, ranged)
    ]


def _by_name(some: Sequence[Slope]) -> dict[str, Slope]:
    return {slope.name: slope for slope in some}


def _completed(some: Sequence, named: Mapping, others: Mapping[str, Slope]) -> list[Slope]:
    """The slopes of one margin, those of `others` where there is no exact one."""
    return [one or others[name] for one, name in zip(some, named)]


def _rough(some: Sequence[Slope], i: int) -> bool:
    """Whether one slope of a margin, which matters beside the others, does not say how the margin changes near by."""
    one = some[i]
    largest = max((abs(s.tenth) + s.error for s in some if s.known), default=0.0)
    return one.known and not one.smooth and one.error > SLIGHT * largest


def _better(one: Slope, ranged: Slope | None, rough: bool) -> Slope:
    return ranged if rough and ranged is not None and ranged.known else one


def groups_asked(claim: Any, loop: Any) -> None:
    """InputError for numbers that the plant has not, or that cannot be drawn so."""
    laws(claim.over, loop.plant)
    groups(loop.plant, claim.of)


def groups(plant: Any, asked: Sequence[str]) -> dict[str, list[Leaf]]:
    """Name → numbers of the plant that are moved together: those asked for, else all, by the last two words of their paths."""
    if asked:
        return {name: numbers(plant, name) for name in asked}
    found: dict[str, list[Leaf]] = {}
    for leaf in leaves(plant):
        if leaf.value and not isinstance(leaf.value, (bool, int)) and np.isfinite(leaf.value):
            found.setdefault(".".join(leaf.path.split(".")[-2:]), []).append(leaf)
    return found


def _moved(named: Mapping[str, list[Leaf]], factors: Mapping[str, float]) -> dict[str, float]:
    return {leaf.path: f * float(leaf.value) for n, f in factors.items() for leaf in named[n]}


def _room(row: Verdict) -> float:
    """A margin as a share of what is allowed: which requirement is thinnest."""
    return row.margin / abs(row.limit) if row.limit else row.margin


def one_unit(named: Sequence[Leaf]) -> tuple[float, str] | None:
    """(value, unit) of numbers that have one value; None for several, which have no slope per unit."""
    values = {float(leaf.value) for leaf in named}
    return (values.pop(), named[0].info.unit) if len(values) == 1 else None


def per_unit(slope: Slope, named: Sequence[Leaf], unit: str) -> str:
    """The slope in words, a unit in which the number is written: '−0.042 mm per kg'; '' where there is none."""
    one = one_unit(named)
    if one is None or not one[0] or not slope.known:
        return ""
    value, of = one
    size, _, shown = say(abs(value), of, 15).partition(" ")
    grown = math.copysign(0.1 * float(size), value)
    return f"{signed(slope.tenth / grown, unit)} per {shown or 'unit'}"


def signed(value: float, unit: str) -> str:
    """A change with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{say(abs(value), unit, 3)}"


def strongest(row: Mapping) -> list[Mapping]:
    """The slopes of a requirement that are more than a millionth of the largest, the strongest first."""
    known = [s for s in row["slopes"] if s["tenth"] is not None]
    largest = max((abs(s["tenth"]) for s in known), default=0.0)
    return [s for s in known if abs(s["tenth"]) > SLIGHT * largest]


def _row(verdict: Verdict, moved: Sequence[Slope], named: Mapping[str, list[Leaf]]) -> dict:
    """One requirement: its margin, and every number by what it does, the strongest first; those that break runs before all."""
    order = sorted(moved, key=lambda s: -abs(s.tenth) if s.known else -np.inf)
    return {
        "key": verdict.key,
        "claim": verdict.claim,
        "margin": verdict.margin,
        "unit": verdict.unit,
        "slopes": [
            {
                "name": s.name,
                "tenth": s.tenth if s.known else None,
                "error": s.error if s.known else None,
                "smooth": s.smooth,
                "by": s.by,
                "words": per_unit(s, named[s.name], verdict.unit),
            }
            for s in order
        ],
    }


def doubt(entry: Mapping) -> str:
    """Why a slope is not one number, in words; "" where it is."""
    if entry["smooth"]:
        return ""
    return "mean over ±10 %, not smooth" if entry["by"] == MORRIS else "not smooth there"


def _words(verdict: Verdict, moved: Sequence[Slope], named: Mapping[str, list[Leaf]]) -> str:
    """The strongest numbers of the thinnest requirement."""
    row = _row(verdict, moved, named)
    told = []
    for entry in row["slopes"][:TOLD]:
        if entry["tenth"] is None:
            told.append(f"{entry['name']}: runs beside the case end early")
            continue
        kink = "" if entry["smooth"] or not entry["tenth"] else f", {doubt(entry)}"
        told.append(f"{entry['name']} {signed(entry['tenth'], verdict.unit)} per +10 %{kink}")
    left = say(verdict.margin, verdict.unit, 3)
    return f"thinnest is {verdict.key}, {left} left; {'; '.join(told)}"


def _spread(claim: Sensitivity, case: Case) -> list[dict]:
    """Shares of the spread of every margin, of the numbers that are drawn; runs without a margin leave a requirement out."""
    from scipy.special import ndtri

    drawn_by = laws(claim.over, case.run.loop.plant)
    names = [law.name for law in drawn_by]
    failed = np.zeros(len(case.rows), int)

    def margins(even: np.ndarray) -> np.ndarray:
        z = ndtri(np.clip(even, 1e-12, 1 - 1e-12))
        columns = [law.values(z[:, i]) for i, law in enumerate(drawn_by)]
        values = [
            {leaf.path: float(v) for law, v in zip(drawn_by, row) for leaf in law.named}
            for row in zip(*columns)
        ]
        found = case.margins(values)
        nonlocal failed
        failed = failed + np.isnan(found).sum(axis=0)
        return np.nan_to_num(found)

    n = base(claim.runs, len(names))
    made = shares(margins, names, n, claim.seed)
    return [
        {
            "key": row.key,
            "runs": n * (len(names) + 2),
            "failed": int(bad),
            "numbers": [] if bad else [asdict(one) for one in each],
        }
        for row, each, bad in zip(case.rows, made, failed)
    ]
