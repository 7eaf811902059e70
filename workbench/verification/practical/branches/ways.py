"""The edge of a switch: where it lies along a move, and whether the law changes there.

A switch is a comparison in the law (or in a user's plant), its sign one of two sides. A move is a displacement of the states
(and of the law's memory) from where a row of the run has them. The edge is the share of the move at which the switch changes
its side. Evaluated just before the edge and just behind it are

    f = (commands, the law's memory after a sample, rates of a user's plant)        f⁻ before, f⁺ behind
    a jump          f⁺ ≠ f⁻: more than rounding, and more than SMALL of the change of f near the edge
    other gains     the slope of a command along the move (or of the memory of a user's law) changes by more than STEEPER of itself

Without either, the switch makes no difference there, as where a limit begins. Where the law is held at a point for many samples,
the criterion is that a command changes by LARGE at the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.verification.practical.switches.margins import Beside, Switching
from workbench.verification.run import Run

STEPS = 25  # sizes of a move that are tried
ROUNDS = 7  # times that the edge is bracketed, by PARTS points each time
PARTS = 15
ASIDE = 1e-3  # share of the distance to an edge over which slopes are taken
STEEPER = 1.05
ROUNDING = 1e-6  # share of the size of a value near an edge: a smaller change is no jump
COMMANDS = "the law commands another value at once"
MEMORY = "the law remembers another value"
FLOW = "the plant moves otherwise at once"
GAINS = "the law has other gains"
AFTER_A_WHILE = "the law, held there, commands another value"
FASTER = "the law remembers more"  # of a user's own law: what those of this library remember beyond a limit is known
SMALL = 0.1  # share of the change of f near the edge: a smaller jump is a steep slope
LARGE = 0.2  # share of the largest command: a smaller change of a law that is held may come from its memory
FAR = 100.0  # times the range of the law's memory in the run: how far it is moved


@dataclass(frozen=True, eq=False)
class Edge:
    """The edge of a switch, or a place where a law changes without one.

    switch  number of the switch; None for a change without one (`turns`)
    move    displacement of the plant's states from the start of the run (n,)
    change  in words, what changes there
    row     row of the run from which it was found;  aside: displacement from the states of that row (n,)
    """

    switch: int | None
    move: np.ndarray
    change: str
    row: int = 0
    aside: np.ndarray | None = None

    @property
    def by_memory(self) -> bool:
        """Whether only the law's memory leads there, no displacement of the plant."""
        return not self.move.any()


@dataclass(frozen=True)
class Manner:
    """How a law is evaluated along a move.

    held    True: the plant stays at each point for many samples. False: one evaluation, with the memory of the run
    steps   number of shares of the move;  rounds, parts: the edge is bracketed `rounds` times by `parts` points in between
    """

    held: bool
    steps: int
    rounds: int
    parts: int

    def shares(self) -> np.ndarray:
        """Shares of a move, from 1/FAR to 1, by equal factors."""
        return np.geomspace(1.0 / FAR, 1.0, self.steps)

    def asked(self, law: Switching, run: Run, row: int, points: np.ndarray) -> Beside:
        """The law evaluated at these points (n + p, N): states of the plant and memory of the law."""
        return law.held(run, row, points) if self.held else law.ask(run, row, points)


AT_ONCE = Manner(False, STEPS, ROUNDS, PARTS)
HELD_THERE = Manner(True, 5, 2, 7)


@dataclass(frozen=True, eq=False)
class Way:
    """A move (n + p,) from `origin`, row `row` of the run, across the edge of switch `k`; side: sign of its margin at first."""

    manner: Manner
    law: Switching
    run: Run
    row: int
    origin: np.ndarray
    move: np.ndarray
    k: int
    side: float

    def asked(self, shares: Sequence[float]) -> Beside:
        """The law evaluated at these shares of the move."""
        points = self.origin[:, None] + self.move[:, None] * np.asarray(shares)
        return self.manner.asked(self.law, self.run, self.row, points)

    def edge(self, inside: float, outside: float) -> tuple[float, float]:
        """The edge, bracketed between `inside` and `outside`: the last share on this side, the first on the other."""
        for _ in range(self.manner.rounds):
            shares = np.linspace(inside, outside, self.manner.parts + 2)
            margins = self.asked(shares[1:-1]).margins(self.side)[self.k]
            beyond = np.append(self.side * margins < 0, True)
            first = int(np.argmax(beyond)) + 1
            inside = float(shares[first - 1])
            outside = float(shares[first])
        return inside, outside

    def change(self, inside: float, outside: float) -> str:
        """In words, what changes at the edge between these shares; "" where nothing does."""
        before = inside * (1 - ASIDE)
        behind = outside * (1 + ASIDE)
        there = self.asked([before, inside, outside, behind])
        if self.manner.held:
            return AFTER_A_WHILE if _leaps(there.commands) else ""
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
    """Whether the slope of one of f (k, 4) changes between its second and third value; before, behind: distances to the others."""
    room = ROUNDING * np.abs(f).max(axis=1, initial=0.0)
    slope = (f[:, 1] - f[:, 0]) / before
    after = (f[:, 3] - f[:, 2]) / behind
    return bool((np.abs(after - slope) > STEEPER * np.abs(slope) + room / behind * ASIDE).any())


def _jumps(f: np.ndarray) -> bool:
    """Whether one of f (k, 4) jumps from its second to its third value: by more than rounding and SMALL of its whole change."""
    room = ROUNDING * np.abs(f).max(axis=1, initial=0.0)
    jump = np.abs(f[:, 2] - f[:, 1])
    return bool(((jump > room) & (jump > SMALL * np.abs(f[:, 3] - f[:, 0]))).any())


def _leaps(u: np.ndarray) -> bool:
    """Whether one of these commands (k, 4) changes by LARGE from its second to its third value."""
    return bool((np.abs(u[:, 2] - u[:, 1]) > LARGE * np.abs(u).max(axis=1, initial=0.0)).any())
