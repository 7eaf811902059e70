"""Laws that read the time: u = g(c) K e of the first output, where g turns, fades or rises with a clock c.

`clock` says which: given (the time the law is called with), counted (whole samples), summed (a float), handed on (the law's
memory), outside (what a function closes over), wall (the computer's). `how`: turns (at `at` seconds), window (turns for 8 s then),
fades (by e in that time), starts (softly, from 0 to 1 within it), repeats (half as strong again, with that period), nothing (it is
counted and not used).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

GAINS = {
    "turns": lambda c, at: 1.0 if c < at else -1.0,
    "window": lambda c, at: -1.0 if at < c < at + 8.0 else 1.0,
    "fades": lambda c, at: math.exp(-c / at),
    "starts": lambda c, at: min(c / at, 1.0),
    "repeats": lambda c, at: 1.0 + 0.5 * math.sin(2 * math.pi * c / at),
    "nothing": lambda c, at: 1.0,
}


@dataclass
class Clocked:
    """The law; called from Python at every sample of T seconds."""

    T: float
    K: float
    how: str
    at: float
    clock: str = "given"

    def __post_init__(self) -> None:
        self.count = 0
        self.sum = 0.0

    def initial(self) -> float:
        return 0.0

    def step(self, t: float, z: float, y: Any, r: Any) -> tuple[float, list[float]]:
        self.count += self.clock == "counted"
        self.sum += self.T * (self.clock == "summed")
        clocks = {"given": t, "counted": self.count * self.T, "summed": self.sum, "handed on": z}
        gain = GAINS[self.how](clocks[self.clock], self.at)
        return z + self.T, [gain * self.K * (r[0] - y[0])]


def clocked(T: float, K: float, how: str, at: float, clock: str = "given") -> Any:
    """The law of this kind of clock."""
    if clock == "outside":
        return _outside(T, K, how, at)
    if clock == "wall":
        return _on_the_wall(K, how, at)
    return Clocked(T, K, how, at, clock)


def _outside(T: float, K: float, how: str, at: float) -> Any:
    count = 0

    def law(t, y, r):
        nonlocal count
        count += 1
        return [GAINS[how](count * T, at) * K * (r[0] - y[0])]

    return law


def _on_the_wall(K: float, how: str, at: float) -> Any:
    begun = time.monotonic()

    def law(t, y, r):
        return [GAINS[how](time.monotonic() - begun, at) * K * (r[0] - y[0])]

    return law
