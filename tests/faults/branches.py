"""Laws with a branch that lies beyond what runs and other starts come to: u = K e of the first output, as long as none is taken.

`how` says what begins at a size h: latch (off for ever once |e| was beyond h), gate (once |y| was), relay (pushes on from the side
where e was last beyond h), turned (the sign turns there), count (off for ever after 100 samples on end with |e| beyond h), table
(gains looked up), wraps (the error wraps round), fades, fails (no answer), few (as count, once ten samples in all were beyond h/2),
tires (off for good once it was pushed for long enough beyond h, by how far), laps (the sign turns at the twelfth lap), window (off
for good once the last ten |e| were all beyond h), ahead (the sign turns where e is beyond h and its reference beyond h/20), passing
(off for good once e was beyond h and the reference beyond h/5), band (the sign turns where |e| is beyond h/7 and the reference near
h/8). Of the sound ones: limits (of command, rate and sum), zones (a little less gain), eases (likewise, with the reference beyond
h/5), calm (likewise, in the band), far (a latch that is 10,000 h away), nothing. A `Delegating` law leaves it to an object that it
keeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class Branching:
    """One of these laws, called from Python at every sample."""

    def __init__(self, how: str, K: float, h: float):
        self.K, self.h = K, h
        self.answer = HOW[how]
        self.off, self.side, self.count, self.sum, self.last = False, 0.0, 0, 0.0, 0.0
        self.past = [0.0] * 10

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        return z, [self.answer(self, r[0] - y[0], y[0])]


class Guard:
    """Lets commands pass, until the error was beyond h; or limits them there."""

    def __init__(self, how: str, h: float):
        self.how, self.h, self.off = how, h, False

    def passed(self, u: float, e: float) -> float:
        if self.how == "limits":
            return min(max(u, -20 * self.h), 20 * self.h)
        if abs(e) > self.h:
            self.off = True
        return 0.0 if self.off else u


class Delegating:
    """u = K e, as far as the guard that the law keeps lets it pass."""

    def __init__(self, how: str, K: float, h: float):
        self.K, self.guards = K, [Guard(how, h)]

    def step(self, t: float, z: Any, y: Any, r: Any) -> tuple[Any, list[float]]:
        error = r[0] - y[0]
        return z, [self.guards[0].passed(self.K * error, error)]


def _latch(law: Branching, e: float, y: float) -> float:
    if abs(e) > law.h:
        law.off = True
    return 0.0 if law.off else law.K * e


def _gate(law: Branching, e: float, y: float) -> float:
    law.off = law.off or not -law.h < y < law.h
    return 0.0 if law.off else law.K * e


def _relay(law: Branching, e: float, y: float) -> float:
    if e > law.h:
        law.side = -1.0
    elif e < -law.h:
        law.side = 1.0
    return law.K * e + 2.0 * law.side


def _turned(law: Branching, e: float, y: float) -> float:
    return law.K * e if abs(y) < law.h else -law.K * e


def _count(law: Branching, e: float, y: float) -> float:
    law.count = law.count + 1 if abs(e) > law.h or law.count > 100 else 0
    return 0.0 if law.count > 100 else law.K * e


def _few(law: Branching, e: float, y: float) -> float:
    law.count += abs(e) > 0.5 * law.h
    return 0.0 if law.count > 10 else law.K * e


def _laps(law: Branching, e: float, y: float) -> float:
    wanted = e + y
    if law.last < 0.0 <= wanted:
        law.count += 1
    law.last = wanted
    return law.K * e if law.count < 12 else -law.K * e


def _tires(law: Branching, e: float, y: float) -> float:
    worn = law.sum + 0.1 * max(abs(e) - law.h, 0.0)
    law.sum = worn + 0.8 * worn * (worn - 0.1) * (1.0 - worn)
    return law.K * e * (1.0 - law.sum)


def _window(law: Branching, e: float, y: float) -> float:
    law.past = [abs(e), *law.past[:-1]]
    law.off = law.off or min(law.past) > law.h
    return 0.0 if law.off else law.K * e


def _ahead(law: Branching, e: float, y: float) -> float:
    return -law.K * e if e > law.h and e + y > 0.05 * law.h else law.K * e


def _passing(law: Branching, e: float, y: float) -> float:
    if e > law.h and e + y > 0.2 * law.h:
        law.off = True
    return 0.0 if law.off else law.K * e


def _eases(law: Branching, e: float, y: float) -> float:
    return 0.8 * law.K * e if e > law.h and e + y > 0.2 * law.h else law.K * e


def _band(law: Branching, e: float, y: float) -> float:
    if 0.12 * law.h < e + y < 0.13 * law.h and abs(e) > law.h / 7:
        return -law.K * e
    return law.K * e


def _calm(law: Branching, e: float, y: float) -> float:
    if 0.12 * law.h < e + y < 0.13 * law.h:
        if abs(e) > law.h / 7:
            return 0.8 * law.K * e
    return law.K * e


def _table(law: Branching, e: float, y: float) -> float:
    return [law.K, law.K, law.K, -law.K][min(int(2 * abs(y) / law.h), 3)] * e


def _wraps(law: Branching, e: float, y: float) -> float:
    return law.K * ((e + law.h) % (2 * law.h) - law.h)


def _fades(law: Branching, e: float, y: float) -> float:
    return law.K * e * math.exp(-((y / law.h) ** 8))


def _fails(law: Branching, e: float, y: float) -> float:
    return law.K * e * math.sqrt(2.0 - (y / law.h) ** 2)


def _limits(law: Branching, e: float, y: float) -> float:
    law.sum = min(max(law.sum + 0.01 * e, -4 * law.h), 4 * law.h)
    u = max(min(law.K * e + law.sum, 20 * law.h), -20 * law.h)
    law.last = min(max(u, law.last - 10 * law.h), law.last + 10 * law.h)
    return law.last


def _zones(law: Branching, e: float, y: float) -> float:
    return law.K * e if abs(e) < law.h else 0.8 * law.K * e


def _far(law: Branching, e: float, y: float) -> float:
    if abs(e) > 1e4 * law.h:
        law.off = True
    return 0.0 if law.off else law.K * e


HOW: dict[str, Callable[[Branching, float, float], float]] = {
    "latch": _latch,
    "gate": _gate,
    "relay": _relay,
    "turned": _turned,
    "count": _count,
    "few": _few,
    "laps": _laps,
    "tires": _tires,
    "window": _window,
    "ahead": _ahead,
    "passing": _passing,
    "eases": _eases,
    "band": _band,
    "calm": _calm,
    "table": _table,
    "wraps": _wraps,
    "fades": _fades,
    "fails": _fails,
    "limits": _limits,
    "zones": _zones,
    "far": _far,
    "nothing": lambda law, e, y: law.K * e,
}
