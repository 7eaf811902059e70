"""Branches that no run took: a latch, a relay with hysteresis, gains of another zone, just beyond what other starts reach.

A switch of the law, or of a plant of the user's own, of which runs took one side alone is followed until its other side begins, if
that is in reach (`edges`). What the law commands and remembers, and how such a plant moves, may go on there as it came: limits of a
command, of an integral or of a rate are of this kind, and nothing is to be seen there. Any other branch is gone to: the loop is
started beyond it, and comes back as from other starts, or the verdict is undecided; where it does not come back from just before
the edge either, the edge is not what keeps it away. No start shows a branch to which only what the law remembers may lead; it is
undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from workbench.contract.system import names
from workbench.run.start import start_state
from workbench.verification.practical.branches.edges import along_memory, outwards
from workbench.verification.practical.branches.turns import turns
from workbench.verification.practical.branches.ways import AFTER_A_WHILE, COMMANDS, Edge
from workbench.verification.practical.disturbed import Outcome, longest, undisturbed
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.returning import BACK, Return
from workbench.verification.practical.starts import Start, scenario_from, stands
from workbench.verification.practical.switches.margins import Extent, Switching, together
from workbench.verification.practical.switches.of_run import extent_of
from workbench.verification.run import Run
from workbench.verification.run import run as simulated

# Times the way to an edge: where the loop comes back, if it is the edge that keeps it away.
BEFORE = (0.9, 0.5)
# Times the way to an edge at which runs begin, one after the other, until one has seen what is beyond; what is kept may add up.
BEYOND = (1.1, 1.7, 3.0)
JUST = 1.01  # times the way, where the machine cannot be any further: at the end of a stroke
WAY = tuple(k / 12 for k in range(1, 13))  # shares of a move at which the machine has to stand, too
SAME = 0.01  # share of a move: places that are no further apart are one
SHOWN = (COMMANDS, AFTER_A_WHILE)  # changes of which a run that took the other side shows all
LEADS = "what the law remembers may lead there"
STAYS = "a push that keeps the machine there may lead there"
PASSES = "the machine may be pushed there on its way"
MEND = "start it from there (`spread`, or `offset` in the scenario), or leave the branch out"


def untaken(
    run: Run,
    spread: float,
    law: Switching,
    outcomes: Sequence[Outcome],
    tried: Callable[..., Outcome],
) -> str:
    """The branch that no run took and that changes the loop, in words; "" for none.

    tried: what the loop does from a start, of this run or of another one.
    """
    base = longest(run)
    seen = _seen([extent_of(base), *(o.compared for o in outcomes)])
    search = _Search(run, base, law, outcomes, tried, seen)
    edges = chain(
        outwards(base, spread, law, search.seen),
        turns(base, spread, law) if law.users else (),
    )
    found = next(filter(None, map(search.gone_to, edges)), "")
    return found or next(search.led_to(), "")


def _seen(extents: Sequence[Extent | None]) -> Extent:
    return together([e for e in extents if e is not None])


@dataclass(eq=False)
class _Search:
    """What runs have seen of the law's switches so far, and the starts that were tried for more. base: the longest of the runs."""

    run: Run
    base: Run
    law: Switching
    outcomes: Sequence[Outcome]
    tried: Callable[..., Outcome]
    seen: Extent

    def __post_init__(self) -> None:
        self.at_first = self.seen
        self.starts: list[Start] = []
        self.places: list[np.ndarray] = []
        self.tried_of: set[int | None] = set()

    def gone_to(self, edge: Edge) -> str:
        """What the loop does beyond this edge, in words; "" where it comes back, or the machine cannot be there."""
        if self._was_seen(edge):
            return ""
        if edge.by_memory:
            return self._told(edge, LEADS)
        is_at_the_end = not self._can_be(self._start(BEYOND[0] * edge.move))
        for factor in (JUST,) if is_at_the_end else BEYOND:
            start = self._start(factor * edge.move)
            if not self._can_be(start):
                return ""
            outcome = self.tried(start)
            if not self._is_back(outcome):
                return self._kept_away(edge, start, outcome)
            self.starts.append(start)
            self.seen = _seen([self.seen, outcome.compared])
            if edge.change in SHOWN and self._took(outcome, edge.switch):
                return ""
        return self._not_taken(edge) if self.law.users else ""

    def _not_taken(self, edge: Edge) -> str:
        """In words, an edge whose other side no start showed; "" where the loop shows it, held at that row, and comes back."""
        if edge.change == AFTER_A_WHILE:
            return self._told(edge, STAYS)
        if edge.change != COMMANDS or not edge.row:
            return ""
        there = held_at(self.base, edge.row)
        for factor in () if there is None else BEYOND:
            outcome = self.tried(self._start(factor * edge.aside), there)
            if not self._is_back(outcome):
                return self._told(edge, f"held there, {_ended(outcome)}")
            if self._took(outcome, edge.switch):
                return ""
        return self._told(edge, PASSES)

    def _kept_away(self, edge: Edge, start: Start, outcome: Outcome) -> str:
        """In words, that the loop does not come back from beyond this edge; "" where it does not from before it either."""
        for factor in BEFORE:
            before = self._start(factor * edge.move)
            if not self._can_be(before):
                return ""
            other = self.tried(before)
            if self._is_back(other) or self._took(other, edge.switch):
                return self._told(edge, f"{_ended(outcome)} from a start with {start.words}")
        return ""

    def _took(self, outcome: Outcome, k: int | None) -> bool:
        """Whether a run took the other side of a switch."""
        now = outcome.compared
        if now is None or k is None:
            return False
        return bool(now.low[k] < 0 if self.at_first.side(k) > 0 else now.high[k] > 0)

    def _is_back(self, outcome: Outcome) -> bool:
        """Whether every signal comes back as near as it does from other starts, from however far."""
        if outcome.gone or outcome.unrest:
            return False
        return all(
            r.lenient or r.word == "back" and r.last <= max(r.signal.tolerance, self._needed(r))
            for r in outcome.found
            if r.moved
        )

    def _needed(self, seen: Return) -> float:
        """How near a signal has to come: BACK of how far it was off from other starts."""
        before = [r for o in self.outcomes for r in o.found if r.signal.name == seen.signal.name]
        return BACK * max((r.largest for r in before), default=seen.largest)

    def _was_seen(self, edge: Edge) -> bool:
        """Whether a run from beyond another edge took this switch, or began where this edge is."""
        known = edge.switch in self.tried_of
        self.tried_of.add(edge.switch)
        if edge.switch is not None and not known and edge.switch not in self.seen.one_sided():
            return True
        place = edge.move
        again = any(np.allclose(place, other, rtol=SAME, atol=0.0) for other in self.places)
        self.places.append(place)
        return again and not edge.by_memory

    def _can_be(self, start: Start) -> bool:
        """Whether the machine can go there: inside its strokes all the way, each state by as much off as is asked in the end.

        Beyond a dead point a cylinder has a length inside its stroke again, and no machine comes there.
        """
        if not all(stands(self.run, _share(start, part)) for part in WAY):
            return False
        there = start_state(self.run.loop, scenario_from(self.run, start, self.run.scenario))
        for i, name in enumerate(names(self.run.loop.plant.states)):
            asked = start.amounts.get(name, 0.0)
            if abs(there[i] - self.run.log.array(name)[0] - asked) > SAME * abs(asked) and asked:
                return False
        return True

    def led_to(self) -> Iterator[str]:
        """Edges to which the law's memory leads from where it was in the runs that were tried, in words."""
        if not self.law.remembers(self.run):
            return
        for start in self.starts:
            base = undisturbed(self.run, 2 * self.run.scenario.length()).scenario
            made = simulated(self.run.loop, scenario_from(self.run, start, base))
            for edge in along_memory(made, self.law, self.seen):
                yield self._told(edge, LEADS)

    def _start(self, move: np.ndarray) -> Start:
        known = zip(names(self.run.loop.plant.states), move.tolist())
        return Start({name: amount for name, amount in known if amount})

    def _told(self, edge: Edge, why: str) -> str:
        if edge.switch is None:
            place = self._start(edge.move).words
            return f"no run came as far as {place}, where {edge.change}; {why}; {MEND}"
        compared = self.law.words(edge.switch, self.run) + self._near(edge.switch)
        return f"no run took the other side of {compared}, where {edge.change}; {why}; {MEND}"

    def _near(self, k: int) -> str:
        """How near runs came to the other side of a switch, in words; a condition is met or it is not."""
        if self.law.is_condition(k):
            return ""
        return f" (they came as near as {abs(self.at_first.nearest(k)):.3g})"


def _share(start: Start, part: float) -> Start:
    """A start a part of the way to another."""
    return Start({name: part * amount for name, amount in start.amounts.items()})


def _ended(outcome: Outcome) -> str:
    if outcome.gone or outcome.unrest:
        return f"{outcome.gone or outcome.unrest},"
    return f"{outcome.worst.signal.name} does not come back"
