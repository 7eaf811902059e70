"""Search for the edges of those switches of a law that had one side only in all runs (`ways` says what an edge is).

Moves begin at a few rows of a run. They change one state of the plant, both ways, as far as the machine goes (`reachable.size`) and
within its limits; or all states together, in the direction of an other start; or one number of the law's memory, by FAR times its
range in the run. A user's own law is also examined at the rows where a reference is largest or smallest, and where most parts of a
condition made of several comparisons are met (`met_in_part`). A user's own sampled law is finally held at the first and the last
row for many samples, as a window of past samples changes its side only after a while.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.verification.observed.reachable import size
from workbench.verification.practical.branches.in_part import met_in_part
from workbench.verification.practical.branches.ways import (
    AT_ONCE,
    FAR,
    HELD_THERE,
    Edge,
    Manner,
    Way,
)
from workbench.verification.practical.starts import PAIR, drawn, sizes
from workbench.verification.practical.switches.margins import MOST, Extent, Switching
from workbench.verification.run import Run

ROWS = (0.0, 0.3, 0.65, 1.0)  # shares of a run: from these rows edges are looked for
# Further rows: those at which what is asked of a user's own law is largest or smallest.
MOST_WISHES = 8


def outwards(run: Run, spread: float, law: Switching, seen: Extent) -> Iterator[Edge]:
    """Edges in reach at which the law changes, from the first row where a switch has some."""
    left = set(seen.one_sided().tolist())
    at_once = dict.fromkeys([*_rows(run, law), *met_in_part(run, law, seen)])
    for manner, rows in ((AT_ONCE, at_once), (HELD_THERE, _rows_held(run, law))):
        for row in rows:
            if not left:
                return
            moves = _moves(run, spread, law, row, manner)
            for edge in list(_beside(run, law, seen, row, moves, law.whole_first(left), manner)):
                left.discard(edge.switch)
                yield edge


def _rows(run: Run, law: Switching) -> list[int]:
    """Rows from which edges are searched; for a user's own law also those of largest and smallest references."""
    found = [round(share * (len(run.log.time) - 1)) for share in ROWS]
    return list(dict.fromkeys(found + _wishes(run) if law.users else found))


def _wishes(run: Run) -> list[int]:
    """Rows at which some reference is largest or smallest, at most MOST_WISHES."""
    rows = np.unique(np.linspace(0, len(run.log.time) - 1, MOST).astype(int))
    kinds = [run.demand.kinds[name] for name in run.demand.live]
    wanted = run.demand.at(run.log.time[rows])[:, [kind == "reference" for kind in kinds]]
    ends = np.concatenate([wanted.argmax(axis=0), wanted.argmin(axis=0)])
    return rows[ends[:MOST_WISHES]].tolist()


def _rows_held(run: Run, law: Switching) -> list[int]:
    """Rows at which a user's own sampled law is held: the first and the last; none for other laws."""
    if not law.users or run.loop.period is None:
        return []
    return [0, len(run.log.time) - 1]


def along_memory(run: Run, law: Switching, seen: Extent) -> Iterator[Edge]:
    """Edges along the law's memory, searched from the row at which the margin of each switch was least."""
    moves = _of_memory(run, law)
    if not run.log.status.completed or not len(moves):
        return
    rows, low, high = law.margins(run)
    for k in seen.one_sided().tolist():
        nearest = np.abs(low[k] if seen.side(k) > 0 else high[k])
        if np.isfinite(nearest).any():
            row = int(rows[np.nanargmin(nearest)])
            yield from _beside(run, law, seen, row, moves, [k])


def _moves(run: Run, spread: float, law: Switching, row: int, manner: Manner) -> np.ndarray:
    """Moves (D, n + p) of the plant and of the law's memory.

    The memory is not moved where the law is held, as it then changes by itself, nor where its length at this row is another one.
    """
    width = len(np.concatenate(law.at(run, row)))
    own = of_plant(run, spread, width)
    if manner.held:
        return own
    memory = _of_memory(run, law)
    return np.concatenate([own, memory]) if memory.shape[1] == width else own


def of_plant(run: Run, spread: float, width: int) -> np.ndarray:
    """Moves (D, width) of the plant: each state as far as the machine goes, both ways, and all states as PAIR other starts."""
    amounts = sizes(run, spread)
    states = [s.name for s in run.loop.plant.states]
    units = {s.name: s.unit for s in run.loop.plant.states}
    most = {name: max(size(run, units[name]), amount) for name, amount in amounts.items()}
    found = [{name: sign * value} for name, value in most.items() for sign in (1.0, -1.0)]
    joint = min((most[name] / amount for name, amount in amounts.items()), default=0.0)
    for start in drawn(run, PAIR, spread, amounts):
        found.append({name: joint * amount for name, amount in start.amounts.items()})
    rows = np.array([[one.get(name, 0.0) for name in states] for one in found])
    return np.hstack([rows, np.zeros((len(rows), width - len(states)))])


def _of_memory(run: Run, law: Switching) -> np.ndarray:
    """Moves (D, n + p) of the law's memory: each number by FAR times its range in the run, both ways."""
    covered = FAR * law.covered(run)
    each = np.diag(covered)[covered > 0]
    rows = np.concatenate([each, -each])
    return np.hstack([np.zeros((len(rows), len(run.loop.plant.states))), rows])


def _bounds(run: Run) -> np.ndarray:
    """(lowest, highest) values of the plant's states, (2, n): its limits and the supply's pressure, widened to what the run had."""
    plant = run.loop.plant
    top = np.inf if plant.p_top is None else float(plant.p_top)
    known = {name: [-np.inf, top] for name in plant.pressure_names}
    for limit in plant.machine_limits():
        if len(limit.signals) == 1:
            low, high = known.get(limit.signals[0], (-np.inf, np.inf))
            known[limit.signals[0]] = [max(low, limit.low), min(high, limit.high)]
    bounds = [known.get(s.name, (-np.inf, np.inf)) for s in plant.states]
    seen = [run.log.array(s.name) for s in plant.states]
    return np.array([(min(a, v.min()), max(b, v.max())) for (a, b), v in zip(bounds, seen)]).T


def _from_start(run: Run, x: np.ndarray, move: np.ndarray) -> np.ndarray:
    """The place x + move as a move from the start of the run, of those states that `move` changes."""
    start = np.array([run.log.array(s.name)[0] for s in run.loop.plant.states])
    return np.where(move != 0.0, x - start + move, 0.0)


def possible(run: Run, law: Switching, row: int, points: np.ndarray) -> np.ndarray:
    """Whether the plant may be at these points (n + p, D, N), all drives within their strokes: (D, N)."""
    lowest, highest = _bounds(run)[:, :, None, None]
    x = points[: len(lowest)]
    free = ((x >= lowest) & (x <= highest)).all(axis=0)
    shown = law.shown(run, row, points.reshape(len(points), -1))
    for limit in run.loop.plant.machine_limits():
        if limit.kind == "stroke" and all(name in shown for name in limit.signals):
            value = sum(shown[name] for name in limit.signals).reshape(free.shape)
            free &= (value >= limit.low) & (value <= limit.high)
    return free


def _beside(
    run: Run,
    law: Switching,
    seen: Extent,
    row: int,
    moves: np.ndarray,
    wanted: Sequence[int],
    manner: Manner = AT_ONCE,
) -> Iterator[Edge]:
    """Edges of these switches along these moves from a row of a run: the first at which the law changes, and the one opposite."""
    x, z = law.at(run, row)
    origin = np.concatenate([x, z])
    if moves.shape[1] != len(origin):  # what the law remembers changes its shape
        return
    shares = manner.shares()
    points = origin[:, None, None] + moves.T[:, :, None] * shares
    there = manner.asked(law, run, row, points.reshape(len(origin), -1))
    free = possible(run, law, row, points)
    for k in wanted:
        side = seen.side(k)
        margins = there.margins(side)[k].reshape(len(moves), len(shares))
        beyond = free & (side * margins < 0)
        found: list[np.ndarray] = []
        for d in np.flatnonzero(beyond.any(axis=1)):
            if any(moves[d] @ other >= 0 for other in found):
                continue
            first = int(np.argmax(beyond[d]))
            before = float(shares[first - 1]) if first else 0.0
            way = Way(
                manner=manner,
                law=law,
                run=run,
                row=row,
                origin=origin,
                move=moves[d],
                k=k,
                side=side,
            )
            before, outside = way.edge(before, float(shares[first]))
            change = way.change(before, outside)
            if change:
                found.append(moves[d])
                aside = outside * moves[d][: len(x)]
                yield Edge(k, _from_start(run, x, aside), change, row, aside)
