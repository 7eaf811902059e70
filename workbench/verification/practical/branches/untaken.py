"""Branches of a law, or of a user's plant, that no run took: a latch, a relay with hysteresis, the gains of another zone.

1. For each switch that had one side only in all runs, `edges` searches the place where its other side begins, within reach.
2. Where commands, memory and rates go on there without a jump or a steeper slope, the branch makes no difference: a limit on a
   command, an integral or a rate is such a branch.
3. Else the loop is started beyond the edge. If it comes back as from other starts, the branch does no harm. If not, it is started
   just before the edge; if it does not come back from there either, the edge is not the reason.
4. The verdict is undecided where the edge is the reason, and where only the law's memory leads to the branch, which no start can
   show.
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

# Starts before an edge, as shares of the distance to it: the loop comes back from them if the edge is what keeps it away.
BEFORE = (0.9, 0.5)
# Starts beyond an edge, as multiples of the distance to it, tried until a run has taken the other side.
BEYOND = (1.1, 1.7, 3.0)
JUST = 1.01  # the only such multiple where the machine cannot go further, at the end of a stroke
# Shares of a move at which the machine must be able to stand as well.
WAY = tuple(k / 12 for k in range(1, 13))
SAME = 0.01  # share of a move: places closer together than this count as one
SHOWN = (
    COMMANDS,
    AFTER_A_WHILE,
)  # changes that a run has shown in full once it took the other side
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
    """In words, a branch that no run took and that may keep the loop away; "" for none.

    tried(start, there): the Outcome of a run from `start`, of the loop of the run `there` (by default of `run`).
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
    """The search: which sides of the law's switches runs have taken so far, and the starts tried. base: the longest of the runs."""

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
        """In words, what the loop does from beyond this edge; "" where it comes back, or the machine cannot be there."""
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
        """In words, that no start took the other side of this edge; "" where the loop held at that row takes it and comes back."""
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
        """In words, that the loop does not come back from beyond this edge; "" where it does not from before the edge either."""
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
        """Whether every signal comes back as near as it does from other starts, however far off it was."""
        if outcome.gone or outcome.unrest:
            return False
        return all(
            r.lenient or r.word == "back" and r.last <= max(r.signal.tolerance, self._needed(r))
            for r in outcome.found
            if r.moved
        )

    def _needed(self, seen: Return) -> float:
        """Distance within which a signal counts as back: a share BACK of its largest distance in the runs from other starts."""
        before = [r for o in self.outcomes for r in o.found if r.signal.name == seen.signal.name]
        return BACK * max((r.largest for r in before), default=seen.largest)

    def _was_seen(self, edge: Edge) -> bool:
        """Whether a run tried for another edge took the other side of this switch, or began at this place."""
        known = edge.switch in self.tried_of
        self.tried_of.add(edge.switch)
        if edge.switch is not None and not known and edge.switch not in self.seen.one_sided():
            return True
        place = edge.move
        again = any(np.allclose(place, other, rtol=SAME, atol=0.0) for other in self.places)
        self.places.append(place)
        return again and not edge.by_memory

    def _can_be(self, start: Start) -> bool:
        """Whether the machine can get to this start: within its strokes all the way, and with the states that the start asks for.

        The way matters, because beyond a dead point a cylinder's length is within its stroke again, and no machine gets there.
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
        """In words, edges along the law's memory, searched from the runs that were tried."""
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
