"""What a switch does at its edge, on the way from a row of a run along a move, and in which manner a law is asked there.

    f = (commands, what the law remembers after a sample, rates of a plant of the user's own),   f⁻ just before, f⁺ just behind it
    a jump          f⁺ ≠ f⁻: beyond rounding, and no small part of what f changes by near the edge
    other gains     the slope of a command, or of what a law of the user's own remembers, turns by more than STEEPER of what it was

A law that goes on without a jump, and whose commands become no steeper, as where a limit begins, changes nothing there. One that is
held at a place, and asked sample after sample, changes there where its command falls or rises by LARGE at the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.verification.practical.switches.margins import Beside, Switching
from workbench.verification.run import Run

STEPS = 25  # sizes of a move that are tried
ROUNDS = 7  # rounds of looking between the last point on one side and the first on the other, at PARTS points each
PARTS = 15
ASIDE = 1e-3  # share of the way to an edge: over which slopes are taken
STEEPER = 1.05
ROUNDING = 1e-6  # share of what a command, or a number remembered, is near an edge: no jump
COMMANDS = "the law commands another value at once"
MEMORY = "the law remembers another value"
FLOW = "the plant moves otherwise at once"
GAINS = "the law has other gains"
AFTER_A_WHILE = "the law, held there, commands another value"
FASTER = "the law remembers more"  # of a user's own law: what those of this library remember beyond a limit is known
SMALL = 0.1  # share of what f changes by near the edge: no jump, but a steep slope
LARGE = 0.2  # share of the largest command near the edge of a law that is held: what it remembers makes steps of its own
FAR = 100.0  # times what the law's memory covered: how far it may run on


@dataclass(frozen=True, eq=False)
class Edge:
    """By how much the plant's states are off where the other side begins (n,), and in words what changes there.

    switch: its number; None where the law turns without one (`turns`). row: of the run, from which it was found. aside: by how much
    states are off there from where the run is at that row (n,).
    """

    switch: int | None
    move: np.ndarray
    change: str
    row: int = 0
    aside: np.ndarray | None = None

    @property
    def by_memory(self) -> bool:
        """Whether what the law remembers alone leads there."""
        return not self.move.any()


@dataclass(frozen=True)
class Manner:
    """How a law is asked along a move: at so many sizes of it (`steps`), and `rounds` times at `parts` points in between.

    held: the plant stays at a point for many samples; a law that is asked at once remembers what it did in the run.
    """

    held: bool
    steps: int
    rounds: int
    parts: int

    def shares(self) -> np.ndarray:
        """Sizes of a move, each so many times the one before."""
        return np.geomspace(1.0 / FAR, 1.0, self.steps)

    def asked(self, law: Switching, run: Run, row: int, points: np.ndarray) -> Beside:
        """The law at these points (n + p, N)."""
        return law.held(run, row, points) if self.held else law.ask(run, row, points)


AT_ONCE = Manner(False, STEPS, ROUNDS, PARTS)
HELD_THERE = Manner(True, 5, 2, 7)


@dataclass(frozen=True, eq=False)
class Way:
    """The way from a row of a run along a move (n + p,), over the edge of switch `k`, whose margin has this sign so far."""

    manner: Manner
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
        return self.manner.asked(self.law, self.run, self.row, points)

    def edge(self, inside: float, outside: float) -> tuple[float, float]:
        """The last share of the move on this side and the first on the other, between these two."""
        for _ in range(self.manner.rounds):
            shares = np.linspace(inside, outside, self.manner.parts + 2)
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


def _leaps(u: np.ndarray) -> bool:
    """Whether one of these commands (k, 4) changes by LARGE from its second to its third value."""
    return bool((np.abs(u[:, 2] - u[:, 1]) > LARGE * np.abs(u).max(axis=1, initial=0.0)).any())
