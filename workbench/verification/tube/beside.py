"""What a report draws of a tube: half-widths over time beside the hull of runs from its starts. Nothing here decides anything."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from workbench.verification.run import Run, run_many
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen
from workbench.verification.tube.end import shown

KEPT = "tube"  # where the run keeps it
RUNS = 40  # beside the tube, corners first
CORNERS = 16
ROWS = 800  # instants drawn


def pictured(run: Run, c: Tube, seen: Seen, half: dict[str, float], states: tuple) -> dict:
    """Arrays of the figure: instants, half-widths and hulls of what moves, what every sample adds, and where it is tight."""
    moving = [j for j, i in enumerate(c.section) if not c.flow.still()[i]]
    starts = shares(sum(1 for value in half.values() if value))
    others = hull(run, half, starts, [int(c.section[j]) for j in moving])[: len(c.z)]
    reach = shown(c.reach[:, 0, c.section])
    with np.errstate(all="ignore"):
        share = np.where(reach > 0, (seen.added + seen.defect) / reach, 0.0)
    grown = share.max(axis=1)
    tightest = int(np.argmax(grown))
    own = [states[c.section[j]] for j in moving]
    kept = drawn(np.arange(len(others)))
    return {
        "t": kept * c.T,
        "width": dict(zip(own, reach[kept][:, moving].T)),
        "hull": dict(zip(own, others[kept].T)),
        "grown": grown[kept],
        "tight": {
            "t": tightest * c.T,
            "grown": grown[tightest],
            "by": states[c.section[int(share[tightest].argmax())]],
            "edges": len(np.unique(c.splits[:, 0])) if c.splits.size else 0,
        },
        "size": {
            "samples": len(c.z),
            "states": len(c.section),
            "bytes": sum(value.nbytes for value in c.arrays().values()),
        },
        "runs": len(starts),
    }


def drawn(nodes: np.ndarray) -> np.ndarray:
    """Nodes drawn: more of the beginning, where widths change most, than of what comes later."""
    first, rest = nodes[: ROWS // 2], nodes[ROWS // 2 :]
    return np.concatenate([first, rest[:: max(1, len(rest) // (ROWS // 2))]])


def shares(moved: int) -> np.ndarray:
    """Starts in the box [−1, 1]^moved: corners, as many as there are or CORNERS of them, then others at random."""
    rng = np.random.default_rng(1)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=moved)))
    if len(corners) > CORNERS:
        corners = corners[rng.choice(len(corners), CORNERS, replace=False)]
    return np.vstack([corners, rng.uniform(-1, 1, (RUNS - len(corners), moved))])


def hull(run: Run, half: dict[str, float], starts: np.ndarray, states: list[int]) -> np.ndarray:
    """How far runs from these starts get from this one, (samples, states)."""
    nominal = run.log.values[:, states]
    own = run.scenario.offset
    moved = {name: value for name, value in half.items() if value}

    def job(share: np.ndarray) -> tuple:
        offset = {n: own.get(n, 0.0) + s * v for (n, v), s in zip(moved.items(), share)}
        return run.loop, replace(run.scenario, offset={**own, **offset})

    def far(other: Run) -> np.ndarray:
        found = np.full_like(nominal, np.nan)
        values = other.log.values[: len(nominal), states]
        found[: len(values)] = np.abs(values - nominal[: len(values)])
        return found

    return np.max(run_many([job(share) for share in starts], far), axis=0)
