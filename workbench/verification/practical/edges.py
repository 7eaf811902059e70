"""Where a switch of a law, of which runs took one side alone, has its other side, and what the law does at that edge.

Edges are looked for outwards from a run: along every state of the plant, both ways, as far as the machine goes
(`reachable.size`), within its limits; along the other starts; and along every number that the law remembers, FAR times as far as
it went. At an edge

    f = (commands, what the law remembers after a sample, rates of a plant of the user's own),   f⁻ just before, f⁺ just behind it
    a jump          f⁺ ≠ f⁻: beyond rounding, and no small part of what f changes by near the edge
    other gains     the slope of a command, or of what a law of the user's own remembers, turns by more than STEEPER of what it was

A law that goes on without a jump, and whose commands become no steeper, as where a limit begins, changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.verification.observed.reachable import size
from workbench.verification.practical.starts import drawn, sizes
from workbench.verification.practical.switches import Beside, Extent, Switching
from workbench.verification.run import Run

FAR = 100.0  # times what the law's memory covered: how far it may run on
PAIR = 2  # other starts along which edges are looked for
ROWS = (0.0, 0.3, 0.65, 1.0)  # of a run, as shares of it: where is looked from
STEPS = 25  # sizes of a move that are tried, each so many times the one before
ROUNDS = 7  # of looking between the last point on one side and the first on the other, at PARTS points each
PARTS = 15
ASIDE = 1e-3  # of the way to an edge: over which slopes are taken
STEEPER = 1.05
ROUNDING = 1e-6  # of what a command, or a number remembered, is near an edge: no jump
COMMANDS = "the law commands another value at once"
MEMORY = "the law remembers another value"
FLOW = "the plant moves otherwise at once"
GAINS = "the law has other gains"
FASTER = "the law remembers more"  # of a user's own law: what those of this library remember beyond a limit is known
SMALL = 0.1  # of what f changes by near the edge: no jump, but a steep slope


@dataclass(frozen=True, eq=False)
class Edge:
    """By how much the plant's states are off where the other side begins (n,), and in words what changes there.

    switch: its number; None where the law turns without one (`turns`).
    """

    switch: int | None
    move: np.ndarray
    change: str

    @property
    def by_memory(self) -> bool:
        """Whether what the law remembers alone leads there."""
        return not self.move.any()


def outwards(run: Run, spread: float, law: Switching, seen: Extent) -> Iterator[Edge]:
    """Edges in reach at which the law changes, from the first row where a switch has some."""
    left = set(seen.one_sided().tolist())
    for row in dict.fromkeys(round(share * (len(run.log.time) - 1)) for share in ROWS):
        if not left:
            return
        moves = _moves(run, spread, law, row)
        for edge in list(_beside(run, law, seen, row, moves, sorted(left))):
            left.discard(edge.switch)
            yield edge


def along_memory(run: Run, law: Switching, seen: Extent) -> Iterator[Edge]:
    """Edges to which what the law remembers leads from where it was nearest to them in this run."""
    moves = _of_memory(run, law)
    if not run.log.status.completed or not len(moves):
        return
    rows, low, high = law.margins(run)
    for k in seen.one_sided().tolist():
        nearest = np.abs(low[k] if seen.side(k) > 0 else high[k])
        if np.isfinite(nearest).any():
            row = int(rows[np.nanargmin(nearest)])
            yield from _beside(run, law, seen, row, moves, [k])


def _moves(run: Run, spread: float, law: Switching, row: int) -> np.ndarray:
    """Moves (D, n + p) of the plant and, where it has the length that it has at this row, of what the law remembers."""
    width = len(np.concatenate(law.at(run, row)))
    own = of_plant(run, spread, width)
    memory = _of_memory(run, law)
    return np.concatenate([own, memory]) if memory.shape[1] == width else own


def of_plant(run: Run, spread: float, width: int) -> np.ndarray:
    """Moves (D, width): every state of the plant as far as the machine goes, and all as other starts have them."""
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
    """Moves (D, n + p): every number that the law remembers, both ways."""
    covered = FAR * law.covered(run)
    each = np.diag(covered)[covered > 0]
    rows = np.concatenate([each, -each])
    return np.hstack([np.zeros((len(rows), len(run.loop.plant.states))), rows])


def _bounds(run: Run) -> np.ndarray:
    """Between which values the plant's states may be, (2, n): its own limits, the supply's pressure, and where they were."""
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
    """The same place as `move` from x, as a move from where the run starts, of the states that it moves."""
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
    run: Run, law: Switching, seen: Extent, row: int, moves: np.ndarray, wanted: Sequence[int]
) -> Iterator[Edge]:
    """Edges of these switches along these moves from a row of a run: the first at which the law changes, and the one opposite."""
    x, z = law.at(run, row)
    origin = np.concatenate([x, z])
    if moves.shape[1] != len(origin):  # what the law remembers changes its shape
        return
    shares = np.geomspace(1.0 / FAR, 1.0, STEPS)
    points = origin[:, None, None] + moves.T[:, :, None] * shares
    there = law.ask(run, row, points.reshape(len(origin), -1))
    free = possible(run, law, row, points)
    for k in wanted:
        side = seen.side(k)
        margins = there.margins(side)[k].reshape(len(moves), STEPS)
        beyond = free & (side * margins < 0)
        found: list[np.ndarray] = []
        for d in np.flatnonzero(beyond.any(axis=1)):
            if any(moves[d] @ other >= 0 for other in found):
                continue
            first = int(np.argmax(beyond[d]))
            before = float(shares[first - 1]) if first else 0.0
            way = _Way(law, run, row, origin, moves[d], k, side)
            before, outside = way.edge(before, float(shares[first]))
            change = way.change(before, outside)
            if change:
                found.append(moves[d])
                way_there = _from_start(run, x, outside * moves[d][: len(x)])
                yield Edge(k, way_there, change)


@dataclass(frozen=True, eq=False)
class _Way:
    """The way from a row of a run along a move (n + p,), over the edge of switch `k`, whose margin has this sign so far."""

    law: Switching
    run: Run
    row: int
    origin: np.ndarray
    move: np.ndarray
    k: int
    side: float

    def asked(self, shares: Sequence[float]) -> Beside:
        """The law at these shares of the move."""
        points = self.origin[:, None] + self.move[:, None] * np.asarray(shares)
        return self.law.ask(self.run, self.row, points)

    def edge(self, inside: float, outside: float) -> tuple[float, float]:
        """The last share of the move on this side and the first on the other, between these two."""
        for _ in range(ROUNDS):
            shares = np.linspace(inside, outside, PARTS + 2)
            margins = self.asked(shares[1:-1]).margins(self.side)[self.k]
            beyond = np.append(self.side * margins < 0, True)
            first = int(np.argmax(beyond)) + 1
            inside, outside = float(shares[first - 1]), float(shares[first])
        return inside, outside

    def change(self, inside: float, outside: float) -> str:
        """What changes between these shares, in words; "" where all goes on."""
        before = inside * (1 - ASIDE)
        behind = outside * (1 + ASIDE)
        there = self.asked([before, inside, outside, behind])
        for part, words in ((there.commands, COMMANDS), (there.memory, MEMORY), (there.flow, FLOW)):
            if _jumps(part):
                return words
        if not self.move[: len(self.run.loop.plant.states)].any() or not inside > before:
            return ""
        widths = (inside - before, behind - outside)
        if _turns(there.commands, *widths):
            return GAINS
        return FASTER if self.law.users and _turns(there.memory, *widths) else ""


def _turns(f: np.ndarray, before: float, behind: float) -> bool:
    """Whether the slope of one of these (k, 4) turns between its second and its third value; the others are so far off (shares)."""
    room = ROUNDING * np.abs(f).max(axis=1, initial=0.0)
    slope = (f[:, 1] - f[:, 0]) / before
    after = (f[:, 3] - f[:, 2]) / behind
    return bool((np.abs(after - slope) > STEEPER * np.abs(slope) + room / behind * ASIDE).any())


def _jumps(f: np.ndarray) -> bool:
    """Whether one of these (k, 4) jumps from its second to its third value: beyond rounding, and what it changes by near by."""
    room = ROUNDING * np.abs(f).max(axis=1, initial=0.0)
    jump = np.abs(f[:, 2] - f[:, 1])
    return bool(((jump > room) & (jump > SMALL * np.abs(f[:, 3] - f[:, 0]))).any())
