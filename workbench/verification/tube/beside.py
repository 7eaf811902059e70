"""What a report draws of a tube: half-widths over time beside the hull of runs from its starts. Nothing here decides anything."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.run.scenario import Scenario
from workbench.run.simulate import start_state
from workbench.verification.run import Run, run_many
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen, measured
from workbench.verification.tube.end import shown
from workbench.verification.tube.measures import STORED, TOOL_ERROR
from workbench.verification.tube.opened import Varied
from workbench.verification.tube.posed import Posed

KEPT = "tube"  # where the run keeps it
RUNS = 40  # beside the tube, corners first
CORNERS = 16
ROWS = 800  # instants drawn


def taken(c: Tube, seen: Seen) -> np.ndarray:
    """The share of every half-width that its sample adds, (nodes, states of the section)."""
    reach = shown(c.reach[:, 0, c.section])
    with np.errstate(all="ignore"):
        return np.where(reach > 0, (seen.added + seen.defect) / reach, 0.0)


def pictured(
    run: Run, c: Tube, share: np.ndarray, half: dict[str, float], question: Posed, size: int
) -> dict:
    """Arrays of the figure of a tube.

    t, width, hull   instants in s; name of a state that moves → half-width of the tube, and of the runs beside it
    told             bounds of the tool's error and of v
    grown, tight     what every sample adds, as a share of the half-width, and where that is most
    size, runs       of the certificate; how many runs are beside the tube

    share: what samples add, as `taken`. size: of the certificate, in bytes. Where the tube begins later than the run there are
    no runs beside it, since a run begins with the law's memory as it is at first.
    """
    still = c.flow.still()
    moving = [j for j, i in enumerate(c.section) if not still[i]]
    columns = [int(c.section[j]) for j in moving]
    own = [question.states[i] for i in columns]
    starts = shares(sum(1 for value in half.values() if value) + len(question.free.numbers))
    if question.begins:
        starts = starts[:0]
    others = hull(run, half, question.free.numbers, starts, columns)[: len(c.z)]
    kept = drawn(np.arange(len(others)))
    reach = shown(c.reach[:, 0, c.section])
    _, most = measured(c)
    bounded = {name: i for i, name in enumerate(c.told) if name in (TOOL_ERROR, STORED)}
    return {
        "t": question.begins + kept * c.T,
        "width": dict(zip(own, reach[kept][:, moving].T)),
        "hull": dict(zip(own, others[kept].T)),
        "told": {name: most[kept, i] for name, i in bounded.items()},
        "grown": share.max(axis=1)[kept],
        "tight": _tightest(c, share, question),
        "size": {"samples": len(c.z), "states": len(c.section), "bytes": size},
        "runs": len(starts),
    }


def _tightest(c: Tube, share: np.ndarray, question: Posed) -> dict:
    """The sample that adds most to a half-width: when, how much, of which state; and how many samples were split."""
    grown = share.max(axis=1)
    node = int(np.argmax(grown))
    widest = int(share[node].argmax())
    return {
        "t": question.begins + node * c.T,
        "grown": grown[node],
        "by": question.states[c.section[widest]],
        "edges": len(np.unique(c.splits[:, 0])) if c.splits.size else 0,
    }


def drawn(nodes: np.ndarray) -> np.ndarray:
    """Nodes drawn: more of the beginning, where widths change most, than of what comes later."""
    first = nodes[: ROWS // 2]
    rest = nodes[ROWS // 2 :]
    return np.concatenate([first, rest[:: max(1, len(rest) // (ROWS // 2))]])


def shares(moved: int) -> np.ndarray:
    """Starts in the box [−1, 1]^moved: corners, as many as there are or CORNERS of them, then others at random."""
    rng = np.random.default_rng(1)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=moved)))
    if len(corners) > CORNERS:
        corners = corners[rng.choice(len(corners), CORNERS, replace=False)]
    return np.vstack([corners, rng.uniform(-1, 1, (RUNS - len(corners), moved))])


def other(
    run: Run, half: dict[str, float], varied: tuple[Varied, ...], share: np.ndarray
) -> tuple[ClosedLoop, Scenario]:
    """The loop and scenario of a run from these shares of starts and of the plant's numbers, between −1 and 1.

    It starts from the same state but for what was moved: at rest other numbers of the plant would have other pressures.
    """
    moved = {name: value for name, value in half.items() if value}
    parts = dict(zip(moved, share))
    numbers = zip(varied, share[len(moved) :])
    loop = bind(run.loop, {f"plant.{v.path}": v.at(s) for v, s in numbers}) if varied else run.loop
    rest = replace(run.scenario, offset={})
    wanted = dict(zip(names(loop.states), run.demand.start))
    offset = {
        name: wanted[name] - x + parts.get(name, 0.0) * moved.get(name, 0.0)
        for name, x in zip(wanted, start_state(loop, rest))
    }
    return loop, replace(run.scenario, offset={n: v for n, v in offset.items() if v})


def hull(
    run: Run,
    half: dict[str, float],
    varied: tuple[Varied, ...],
    starts: np.ndarray,
    states: list[int],
) -> np.ndarray:
    """How far runs from these starts get from this one, (samples, states); 0 without any."""
    nominal = run.log.values[:, states]
    if not len(starts):
        return np.zeros_like(nominal)

    def job(share: np.ndarray) -> tuple:
        return other(run, half, varied, share)

    def far(one: Run) -> np.ndarray:
        found = np.full_like(nominal, np.nan)
        values = one.log.values[: len(nominal), states]
        found[: len(values)] = np.abs(values - nominal[: len(values)])
        return found

    return np.max(run_many([job(share) for share in starts], far), axis=0)
