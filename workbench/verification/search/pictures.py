"""What a report draws of a search: its runs, the directions that matter, and its closest run beside the nominal one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run
from workbench.verification.search.direction import Direction
from workbench.verification.search.score import Score
from workbench.verification.search.search import Search

MOST_CURVES = 2  # errors drawn beside what the decisive requirement looks at


def pictures(
    search: Search, closest: Run, found: Score, amounts: Mapping[Direction, float]
) -> dict:
    """Arrays of the chapter: every run, which directions matter, the requirements, the closest run beside the nominal one."""
    scores = np.array([s.value if np.isfinite(s.value) else np.nan for s in search.scores])
    return {
        "directions": described(search),
        "values": tried(search),
        "scores": scores,
        "matter": importance(np.array(search.places), scores),
        "requirements": _requirements(search),
        "closest": {
            "values": [amounts.get(d, d.nominal) for d in search.along],
            "deviates": [d.name for d in amounts],
            "requirement": found.requirement,
            "score": found.value,
            "curves": curves(search.run, closest, found),
            "log": closest.log,
        },
    }


def described(search: Search) -> list[dict]:
    """The directions as plain data."""
    return [
        {"name": d.name, "low": d.low, "high": d.high, "nominal": d.nominal, "unit": d.unit}
        for d in search.along
    ]


def tried(search: Search) -> np.ndarray:
    """Values of every run, (runs, directions), SI."""
    rows = [
        [amounts.get(d, d.nominal) for d in search.along]
        for amounts in map(search.amounts, search.places)
    ]
    return np.array(rows, float).reshape(len(search.places), len(search.along))


def importance(places: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """How much of the scores' spread each direction explains, (n,): deviation of its part in a fit by z and z² of each.

    places (k, n) in [−1, 1]; scores (k,), not a number for runs that could not be made. Zeros where no run tells.
    """
    made = np.isfinite(scores)
    z = places[made]
    s = scores[made]
    if not len(z):
        return np.zeros(places.shape[1])
    terms = np.hstack([z, z * z])
    fit = terms - terms.mean(axis=0)
    # Keeps terms apart that the runs do not tell apart.
    slight = 1e-3 * len(z) * np.eye(fit.shape[1])
    parts = np.linalg.solve(fit.T @ fit + slight, fit.T @ (s - s.mean())) * fit
    n = z.shape[1]
    return (parts[:, :n] + parts[:, n:]).std(axis=0)


def _requirements(search: Search) -> list[dict]:
    """Each requirement: what it says, its margin in the nominal run, its least score and the run of that."""
    rows = []
    for verdict in search.nominal:
        told = [dict(s.each).get(verdict.key, np.inf) for s in search.scores]
        k = int(np.argmin(told))
        rows.append(
            {
                "claim": verdict.claim,
                "margin": verdict.margin,
                "unit": verdict.unit,
                "least": float(told[k]),
                "run": k,
            }
        )
    return rows


def curves(nominal: Run, closest: Run, found: Score) -> list[dict]:
    """What is drawn over time of both runs: the margin of the sentence that decides, and tracking errors.

    [{name, unit, nominal: (t, y), closest: (t, y), edges: where it is violated, as far as that is a number}]
    """
    drawn = _margins(nominal, closest, found.requirement)
    before = _errors(nominal)
    after = _errors(closest)
    limit = found.verdict.limit if found.requirement == "tracking" else None
    for name in [name for name in before if name in after][:MOST_CURVES]:
        unit, y = before[name]
        signed = bool((y < 0).any())
        drawn.append(
            {
                "name": name,
                "unit": unit,
                "nominal": (nominal.log.time, y),
                "closest": (closest.log.time, after[name][1]),
                "edges": [] if limit is None else [-limit, limit] if signed else [limit],
            }
        )
    return drawn


def _margins(nominal: Run, closest: Run, requirement: str) -> list[dict]:
    told = [run.kept.get("requirements", {}).get(requirement) for run in (nominal, closest)]
    if any(one is None or one["curve"] is None for one in told):
        return []
    before, after = told
    return [
        {
            "name": f"room of {after['clause']}",
            "unit": after["unit"],
            "nominal": (before["t"], before["curve"]),
            "closest": (after["t"], after["curve"]),
            "edges": [0.0],
        }
    ]


def _errors(run: Run) -> dict[str, tuple[str, np.ndarray]]:
    """Name → (unit, values): the tool's distance from where it should be, else the error of each joint or output."""
    if run.tool_error is not None:
        return {"tool_error": (run.error_unit, run.tool_error)}
    if run.demand.reference is None:
        return {}
    return {
        f"error of {name}": (run.log.signal(name).unit, error)
        for name, error in joint_errors(run).items()
    }
