"""A limit cycle from the samples of a relay run: has it settled, how long, how large, how even are its halves?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

CYCLES = 6  # that must be alike
SHORTEST = 8  # samples in a period, below which it is the sampling that oscillates
ALIKE = 0.02  # relative
MANY = 300  # cycles after which it will not settle
EVEN = 0.05  # share of the period, between half periods


@final
@dataclass(frozen=True)
class Cycle:
    """One period: begin (s), period, time spent on the relay's upper side, half the peak-to-peak error."""

    begin: float
    period: float
    upper: float
    swing: float


@final
@dataclass(frozen=True, eq=False)
class LimitCycle:
    """The last cycles of a run. hopeless: longer will not help. e_1, u_1: complex fundamentals of error and held command."""

    settled: bool
    why: str = ""
    hopeless: bool = False
    cycles: tuple[Cycle, ...] = ()
    period: float = np.nan
    share: float = np.nan
    amplitude: float = np.nan
    mean: float = np.nan
    symmetric: bool = False
    e_1: complex = complex(np.nan)
    u_1: complex = complex(np.nan)


def limit_cycle(
    t: np.ndarray, side: np.ndarray, e: np.ndarray, u: np.ndarray, ε: float = 0.0
) -> LimitCycle:
    """From evenly spaced samples of relay side (±1), error e and held command u.

    Settled: the last six cycles agree in period and swing to 2 %, or to what two samples make. Not so where
    the error grows or dies, where the relay never switches, or where a period has fewer than eight samples.
    """
    T = float(t[1] - t[0]) if len(t) > 1 else 1.0
    rising = np.flatnonzero((side[1:] > 0) & (side[:-1] < 0)) + 1
    if len(rising) < CYCLES + 1:
        n = int((np.diff(side) != 0).sum())
        seen = "never switched" if n == 0 else f"switched {n} times"
        return LimitCycle(
            False,
            f"no limit cycle: the relay {seen} in {t[-1]:.4g} s; the output does not come back (a larger "
            "amplitude, a bias against a steady load), or it takes longer",
        )
    every = tuple(_cycle(T, side[a:b], e[a:b], a) for a, b in zip(rising[:-1], rising[1:]))
    cycles = every[-CYCLES:]
    periods, swings = (np.array([getattr(c, name) for c in cycles]) for name in ("period", "swing"))
    if np.mean(periods) < SHORTEST * T:
        return LimitCycle(
            False,
            f"a period has {np.mean(periods) / T:.2g} samples: it is the sampling that oscillates, not the "
            "plant; sample faster, or give a hysteresis above the noise",
            len(t) > 2000,
            cycles,
        )
    # A switch that comes a sample sooner or later changes period and swing by this share.
    alike = max(2.01 * T / float(np.mean(periods)), ALIKE)
    if np.ptp(periods) > alike * np.mean(periods) or np.ptp(swings) > alike * np.mean(swings):
        why = (
            f"no limit cycle settled in {t[-1]:.4g} s: over the last {CYCLES} cycles the period is {periods.min():.4g} … "
            f"{periods.max():.4g} s, the swing {_way(swings)}, {swings.min():.3g} … {swings.max():.3g}"
        )
        return LimitCycle(False, why, len(rising) > MANY, cycles)
    return _settled(t, e, u, rising, cycles)


def _way(swings: np.ndarray) -> str:
    """Whether the swing grows, dies away or changes, in words."""
    steps = np.diff(swings)
    if (steps > 0).all():
        return "grows"
    return "dies away" if (steps < 0).all() else "changes"


def _settled(t, e, u, rising, cycles: tuple[Cycle, ...]) -> LimitCycle:
    """The limit cycle over the last CYCLES cycles."""
    T = float(t[1] - t[0])
    a = rising[-CYCLES - 1]
    b = rising[-1]
    period = float(t[b] - t[a]) / CYCLES
    upper = float(np.mean([c.upper for c in cycles]))
    e_1 = fundamental(e[a : b + 1], CYCLES)
    u_1 = held_fundamental(u[a:b], CYCLES)
    uneven = abs(2 * upper - period)
    return LimitCycle(
        settled=True,
        why="",
        hopeless=False,
        cycles=cycles,
        period=period,
        share=upper / period,
        amplitude=float(abs(e_1)),
        mean=float(np.mean(e[a:b])),
        symmetric=bool(uneven <= max(2.01 * T, EVEN * period)),
        e_1=e_1,
        u_1=u_1,
    )


def _cycle(T: float, side, e, first: int) -> Cycle:
    return Cycle(first * T, len(side) * T, float((side > 0).sum()) * T, float(np.ptp(e)) / 2)


def fundamental(values: np.ndarray, cycles: int) -> complex:
    """Complex amplitude c of c e^{jωt} in a smooth signal over whole cycles, both ends given (trapezoids), drift taken out."""
    n = len(values) - 1
    values = values - (values[-1] - values[0]) * np.arange(n + 1) / n
    turned = values * np.exp(-2j * np.pi * cycles * np.arange(n + 1) / n)
    return complex(2 * (turned.sum() - 0.5 * (turned[0] + turned[-1])) / n)


def held_fundamental(values: np.ndarray, cycles: int) -> complex:
    """Complex amplitude of a staircase over whole cycles, each value held for one sample: exact."""
    n = len(values)
    x = 2j * np.pi * cycles / n
    return complex(2 * (values * np.exp(-x * np.arange(n))).sum() / n * (1 - np.exp(-x)) / x)
