"""Modes of a loop: eigenvalues of the loop linearised where a run starts, goes and ends.

    ẋ = A x                                          continuous: s = λ(A)
    x_{k+1} = M x_k,  M = J e^{A(T − l)} R e^{A l}   sampled: s = ln λ(M)/T
                                                     J the jump, R the release, l the lag

Three kinds of points are looked at (`frozen_time`). At rest, where the run starts and ends: the
reference is where the plant is, every valve is open by a hair, and the common mode of a cylinder's
pressures is taken out (`local`). On the way: A and M at states that the run visited, as if time
stood still there. Set in motion, where the run itself hardly moves: every speed at
`frozen_time.SPEED`, since smoothed dry friction at rest is a damper so strong that it hides what
the loop would do in motion.

A mode grows where its growth exceeds what rounding can move it, and on the way only where it would
grow by the factor e within the run: frozen time says nothing about slower ones. Where a run never
rests, but has the same modes at several points, time does not matter to them: they count as at rest.
Where it has not, another run is held where the path ends, to see what grows there.
Source: [AstromMurray08] section 5.4 (linearised stability).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.linear.stability import spectral

ASIDE = 0.9  # share of a mode in common modes of pressures, or in friction's memory
NEUTRAL = 1e-3  # growth over the run below which a mode at rest is neutral
UNSURE = 1e3  # times the bound of rounding by which a linearisation may be off that is made of many operations
BRIEF = 100.0  # s: the growth over this time, where a run is shorter; what grows by e within a day does grow


@final
@dataclass(frozen=True)
class Mode:
    """e^{s t} at one operating point.

    s         complex, 1/s; the real part is the growth, the imaginary one the angular frequency
    bound     1/s, how far the growth may be off by rounding (and, on the way, by frozen time)
    states    names of the states that take part most
    where     the operating point in words;  t  its time in the run, s
    aside     it moves the pressures of a cylinder without its force, or friction's memory alone
    rounding  1/s, what rounding alone leaves of `bound`
    """

    s: complex
    bound: float
    states: tuple[str, ...]
    where: str
    t: float
    aside: bool = False
    rounding: float = 0.0

    @property
    def grows(self) -> bool:
        return self.s.real > self.bound

    @property
    def decays(self) -> bool:
        return self.s.real < -self.bound

    @property
    def time_constant(self) -> float:
        """1/|growth|, s: to grow or to decay by the factor e; inf for a neutral mode."""
        return 1 / abs(self.s.real) if self.grows or self.decays else np.inf

    @property
    def period(self) -> float:
        """Period of its oscillation, s; inf where it does not oscillate within its time constant."""
        ω = abs(self.s.imag)
        return 2 * np.pi / ω if ω > abs(self.s.real) else np.inf

    @property
    def settles(self) -> float:
        """The length that a run needs to show the mode, s: five time constants, or three periods if longer."""
        if np.isinf(self.period):
            return 5 * self.time_constant
        return max(5 * self.time_constant, 3 * self.period)

    @property
    def words(self) -> str:
        """The mode in words, for example "grows by e in 3.1 s, swinging with a period of 6.2 s (q_1, dq_1)"."""
        who = f"({', '.join(self.states)})"
        if not (self.grows or self.decays):
            return f"neutral {who}"
        what = "grows" if self.grows else "decays"
        what += f" by e in {say(self.time_constant, 's', 3)}"
        if np.isfinite(self.period):
            what += f", swinging with a period of {say(self.period, 's', 3)}"
        return f"{what} {who}"


@final
@dataclass(frozen=True)
class Place:
    """An operating point: its time in the run, words for it, whether the loop rests, its modes.

    again: on the way, where its modes are those of other points as well, so that time does not matter to them
    """

    t: float
    where: str
    rests: bool
    modes: tuple[Mode, ...]
    again: bool = False

    @property
    def lasts(self) -> bool:
        """Whether the loop has these modes for longer than an instant."""
        return self.rests or self.again

    @property
    def fastest(self) -> Mode | None:
        """The mode that grows most; None: none grows."""
        return max((m for m in self.modes if m.grows), key=_growth, default=None)


def _growth(mode: Mode) -> float:
    return mode.s.real


def _settles(mode: Mode) -> float:
    return mode.settles


@final
@dataclass(frozen=True)
class Modes:
    """What the linearised loop says about a run, and in `reasons` where and why it says nothing.

    unread: why what the law remembers was linearised nowhere; "" where it was, or where it remembers nothing.
    """

    places: tuple[Place, ...]
    reasons: tuple[str, ...] = ()
    unread: str = ""

    @cached_property
    def unstable(self) -> tuple[Mode, ...]:
        """The fastest growing mode of every place where one grows, the fastest first."""
        found = [place.fastest for place in self.places if place.fastest is not None]
        return tuple(sorted(found, key=_growth, reverse=True))

    @cached_property
    def slowest(self) -> Mode | None:
        """The mode that takes longest to settle, at rest if the run rests; None: none decays.

        Neutral modes do not count, nor the common modes of pressures, of which no force shows
        anything, nor what dry friction remembers while nothing slides.
        """
        at = [p for p in self.places if p.lasts] or self.places
        known = [m for p in at for m in p.modes if m.decays and not m.aside]
        return max(known, key=_settles, default=None)

    @cached_property
    def slowest_on_the_way(self) -> Mode | None:
        """Of a run that never rests: the fastest among the slowest modes of all looks; None where some look has none.

        Frozen time says little of a mode slower than the run; that every look has one is a sign that it is there.
        """
        each = [[m for m in p.modes if m.s.real < -m.rounding and not m.aside] for p in self.places]
        if not all(each) or any(p.lasts for p in self.places):
            return None
        found = [min(own, key=lambda m: -m.s.real) for own in each]
        fastest = min(found, key=_growth, default=None)
        return fastest and replace(fastest, bound=fastest.rounding)

    @property
    def words(self) -> str:
        """The fastest growing mode and where, or the slowest decaying one, or the reasons."""
        if self.unstable:
            return f"{self.unstable[0].where}: a mode {self.unstable[0].words}"
        if self.slowest:
            return f"slowest mode {self.slowest.words}"
        return "; ".join(self.reasons) or "no mode decays and none grows"


def least_growth(length: float) -> float:
    """Growth at rest (1/s) below which a mode is neutral in a run of this length."""
    return NEUTRAL / max(length, BRIEF)


def modes_of(
    M, T, states, length, where="", t=0.0, rests=True, commons=None, rubs=frozenset()
) -> tuple[Mode, ...]:
    """Modes of ẋ = M x (T None) or x_{k+1} = M x_k, the least stable first; one of each pair.

    length: of the run, s, against which growth is measured. rests: the point is an equilibrium.
    commons: rows that span the common modes of pressures, where M still has them. rubs: names of what friction remembers.
    """
    found = spectral(M, T)
    λ = found.eigenvalues
    s = λ.astype(complex)
    rounding = found.bounds
    if T is not None:
        size = np.maximum(np.abs(λ), 1e-300)
        s = np.log(np.where(np.abs(λ) > 0, λ, 1e-300).astype(complex)) / T
        rounding = found.bounds / size / T
    rounding = _parted(s, rounding)
    bounds = np.maximum(rounding, least_growth(length) if rests else 1.0 / length)
    memory = [n in rubs for n in states]
    shares = np.maximum(_shares(M, λ, commons), found.participation[:, memory].sum(axis=1))
    made = []
    for i in np.argsort(-s.real, kind="stable"):
        if s[i].imag < 0 and np.isclose(s, s[i].conjugate()).any():
            continue
        part = found.participation[i]
        top = [states[j] for j in np.argsort(-part, kind="stable")[:2] if part[j] > 0.15]
        aside = bool(shares[i] > ASIDE)
        made.append(
            Mode(
                complex(s[i]),
                float(bounds[i]),
                tuple(dict.fromkeys(top)),
                where,
                t,
                aside,
                float(rounding[i]),
            )
        )
    return tuple(made)


def _parted(s: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Bounds of rounding [1/s] for eigenvalues s, widened where rounding may have split a double eigenvalue.

    A defective double eigenvalue, such as of two rates that a constraint leaves free, is split by the square root of the error of
    the matrix: into one that grows and one that decays. Eigenvalues that are closer to each other than their conditioning resolves
    count as one at their mean, which is not sensitive in this way; the bound is then the distance to the mean at least.
    """
    apart = np.abs(s[:, None] - s[None, :])
    alike = apart <= UNSURE * np.minimum.outer(rounding, rounding)
    group = connected(alike)
    mean = {g: s[group == g].mean() for g in np.unique(group).tolist()}
    return np.maximum(rounding, np.abs(s - [mean[g] for g in group.tolist()]))


def connected(alike: np.ndarray) -> np.ndarray:
    """(n,): of each item the first one in its connected group; alike (n, n): symmetric, whether two are neighbours."""
    reached = alike | np.eye(len(alike), dtype=bool)
    while True:
        further = reached @ reached
        if (further == reached).all():
            return reached.argmax(axis=1)
        reached = further


def _shares(M, λ, commons) -> np.ndarray:
    """How much of each mode (of eigenvalue λ) lies in the common modes of pressures, 0 … 1."""
    if commons is None or not len(commons):
        return np.zeros(len(λ))
    values, vectors = np.linalg.eig(M)
    inside = (np.abs(commons @ vectors) ** 2).sum(axis=0)
    return np.array([inside[np.argmin(np.abs(values - v))] for v in λ])
