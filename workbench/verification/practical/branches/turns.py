"""Places where a user's own law changes without a comparison in its text: by a table, a remainder, a library, an exception.

The law is evaluated along the same moves δ as its switches (`edges`), from the start x of the run, at rising shares s:

    U(s) = u(x + s δ) − u(x)
    falls back     U(s) is less than KEPT of the largest U at a smaller s
    grows          U/s is more than GROWN times its value at small s
    fails          the law raises, or commands no number

A limit on the command keeps U constant, and is none of these.
"""

from __future__ import annotations

import numpy as np

from workbench.verification.practical.branches.edges import of_plant, possible
from workbench.verification.practical.branches.ways import FAR, STEPS, Edge
from workbench.verification.practical.switches.margins import Switching
from workbench.verification.run import Run

KEPT = 0.8
GROWN = 2.05
SEEN = 1e-3  # share of the largest command: below it nothing is commanded
FIRST = 3  # values of U/s that say what it was at first
MOST = 6  # turns that are told, the nearest
# Rounds of looking between the last value as before and the first that is not, at PARTS points each.
ROUNDS = 5
PARTS = 15


def turns(run: Run, spread: float, law: Switching) -> list[Edge]:
    """The nearest such places, one a move, MOST at most."""
    x, z = law.at(run, 0)
    origin = np.concatenate([x, z])
    moves = of_plant(run, spread, len(origin))
    shares = np.array([0.0, *np.geomspace(1.0 / FAR, 1.0, STEPS)])
    points = origin[:, None, None] + moves.T[:, :, None] * shares
    commands = law.ask(run, 0, points.reshape(len(origin), -1)).commands
    commands = commands.reshape(len(commands), len(moves), len(shares))
    largest = np.nanmax(np.abs(commands), axis=2, initial=0.0)
    free = possible(run, law, 0, points)
    found = []
    for d, move in enumerate(moves):
        for j, u in enumerate(commands[:, d]):
            turn = _Turn(u - u[0], shares, SEEN * largest[j, d])
            k = turn.first(free[d])
            if k:
                edge = _between(run, law, origin, move, j, turn, k)
                found.append((shares[k], Edge(None, edge * move[: len(x)], turn.change(k))))
                break
    found.sort(key=lambda one: one[0])
    return [edge for _, edge in found[:MOST]]


class _Turn:
    """U (N,) of one command along a move; least: |U| below which the command does not count as changed."""

    def __init__(self, U: np.ndarray, shares: np.ndarray, least: float):
        self.U, self.shares = U, shares
        moved = np.flatnonzero(np.abs(U) > least)
        self.begin = int(moved[0]) if len(moved) else len(U)
        self.side = float(np.sign(U[self.begin])) if len(moved) else 1.0
        at_first = slice(self.begin, self.begin + FIRST)
        gains = self.side * U[at_first] / np.maximum(shares[at_first], 1e-300)
        self.gain = float(np.nanmax(gains, initial=0.0))

    def odd(self, k: int, U: float, share: float) -> bool:
        """Whether the value U at `share`, the next after place k − 1, falls back, grows or fails."""
        before = float(np.nanmax(self.side * self.U[self.begin : k], initial=0.0))
        value = self.side * U
        return bool(np.isnan(U) or value < KEPT * before or value > GROWN * self.gain * share)

    def first(self, free: np.ndarray) -> int:
        """The first place at which the law falls back, grows or fails and the plant may be (`free`); 0 for none."""
        for k in range(1, len(self.U)):
            fails = np.isnan(self.U[k])
            late = k >= self.begin + FIRST
            if free[k] and (fails or late and self.odd(k, self.U[k], self.shares[k])):
                return k
        return 0

    def change(self, k: int) -> str:
        """What the law does at place k, in words."""
        if np.isnan(self.U[k]):
            return "the law fails"
        before = float(np.nanmax(self.side * self.U[self.begin : k], initial=0.0))
        return (
            "the law commands less, or the other way"
            if self.side * self.U[k] < before
            else "the law has far larger gains"
        )


def _between(
    run: Run, law: Switching, origin: np.ndarray, move: np.ndarray, j: int, turn: _Turn, k: int
) -> float:
    """The share of a move at which command j turns, between places k − 1 and k."""
    inside = float(turn.shares[k - 1])
    outside = float(turn.shares[k])
    u = law.ask(run, 0, origin[:, None]).commands[j, 0]
    for _ in range(ROUNDS):
        shares = np.linspace(inside, outside, PARTS + 2)
        asked = law.ask(run, 0, origin[:, None] + move[:, None] * shares[1:-1]).commands[j] - u
        odd = [turn.odd(k, U, share) for U, share in zip(asked, shares[1:-1])]
        first = int(np.argmax([*odd, True])) + 1
        inside = float(shares[first - 1])
        outside = float(shares[first])
    return outside
