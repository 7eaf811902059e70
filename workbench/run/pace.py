"""Steps that an integrator can follow, by the eigenvalues λ of the flow where a run begins and along it.

The explicit methods of driver.c follow a mode that decays where |λ| h ≤ 2.5 (the stability limit of four stages of order four
is 2.785). To the damping ratio ζ = |Re λ|/|λ| of a mode that turns they add (|λ| h)⁵/144. A mode that turns or grows is followed
where |λ| h ≤ 0.7 and what they add is at most a tenth of ζ, or of 0.1/(|λ| t) where ζ is smaller than that: then it changes the
amplitude by 1 % within the length t of the run. Where a run has faster modes its steps become smaller, or, where those that
decay without turning are fast, implicit (RODAS, L-stable, see `workbench.numerics.stiff`): such a mode is over within a step and
need not be followed. States that the exponential method treats exactly (`System.stiff`) count as slow.

Source: [Hairer96] sections IV.2 (stability of explicit methods) and VI.4 (RODAS).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Vector
from workbench.numerics.calculus import Traced
from workbench.numerics.direct import Direct, direct
from workbench.numerics.on_floats import Called, Text
from workbench.numerics.overflow import may_overflow

DECAYING = 2.5  # |λ| h of a mode that decays without turning, at most
TURNING = 0.7  # |λ| h of one that turns or grows, at most
ADDED = 0.1  # share of a damping ratio that the method may add to it
# Change of the logarithm of an amplitude over a run below which a mode counts as undamped.
UNDAMPED = 0.1
# So many times more explicit steps than implicit ones are taken before steps are made implicit.
EXPLICIT = 20
MOST_STEPS = 10_000_000  # of a run
BEYOND = 1e12  # 1/s: faster than any mode of a machine; a run that has such ones has left all numbers, and diverges by itself
STRICTER = 0.8  # a step that need not be shorter than this share of the one taken is left as it is


@dataclass(frozen=True)
class Pace:
    """How an integrator goes: its longest step (s), whether it is implicit, and which mode asks for that, in words.

    tolerance    share of the error a step may make, of those that find their steps by it (`workbench.numerics.adaptive`)
    """

    longest: float = inf
    implicit: bool = False
    why: str = ""
    tolerance: float = 1.0

    def follows(self, other: Pace) -> bool:
        """Whether this one will do where `other` is asked for."""
        if other.implicit and not self.implicit:
            return False
        return self.longest <= other.longest / STRICTER

    def with_those_of(self, other: Pace) -> Pace:
        """The pace that follows what both follow."""
        return replace(
            self, longest=min(self.longest, other.longest), implicit=self.implicit or other.implicit
        )

    def told(self) -> dict:
        """Plain data for a log."""
        return {
            "longest": self.longest if isfinite(self.longest) else None,
            "implicit": self.implicit,
            "why": self.why,
            "tolerance": self.tolerance,
        }

    def finer(self, most: float, halvings: int = 1) -> Pace:
        """This pace with steps halved so many times; a method of order four then errs by a sixteenth."""
        if not halvings:
            return self
        return replace(
            self,
            longest=min(self.longest, most) / 2**halvings,
            tolerance=self.tolerance / 16**halvings,
        )

    def quartered(self, most: float) -> Pace:
        """This pace with steps a quarter as long."""
        return replace(self, longest=min(self.longest, most) / 4)


def modes(
    traced: Traced | Text, t: float, x: Sequence[float], w: Sequence[float], c: np.ndarray
) -> np.ndarray:
    """Eigenvalues (1/s) of the flow at (t, x, w), by differences; none where the flow is not finite.

    Of the states named stiff their own block is left out, which the exponential method takes exactly.
    """
    return modes_at(traced, [(t, np.array(x, dtype=float), np.asarray(w, dtype=float))], c)[0]


def modes_at(
    traced: Traced | Text, instants: Sequence[tuple[float, np.ndarray, np.ndarray]], c: np.ndarray
) -> list[np.ndarray]:
    """`modes` at several (t, x, w)."""
    n = traced.n_moving
    if not n:
        return [np.zeros(0) for _ in instants]
    slopes = _slopes(traced, instants, c)
    finite = np.isfinite(slopes).all(axis=(1, 2))
    found = iter(np.linalg.eigvals(slopes[finite]))
    return [next(found) if followed else np.zeros(0) for followed in finite]


def _columns(traced: Traced | Text) -> Direct | Called:
    """The flow of the moving states, for numbers given one by one."""
    if isinstance(traced, Text):
        return traced.motion.columns(traced.n_states, len(traced.live))
    return direct(traced.motion)


def _slopes(
    traced: Traced | Text, instants: Sequence[tuple[float, np.ndarray, np.ndarray]], c: np.ndarray
) -> np.ndarray:
    """∂ẋ/∂x of the moving states at every (t, x, w), by differences, without the blocks that are stiff."""
    n = traced.n_moving
    x = np.array([at for _, at, _ in instants])[:, :n]
    steps = 1e-6 * np.maximum(np.abs(x), 1e-3)
    flow = _columns(traced)
    flow.give(3, c)
    moved = flow.given[1]
    rates = np.empty((len(instants), n + 1, n))
    for (t, whole, w), there, made in zip(instants, (x + steps).tolist(), rates):
        for i, value in enumerate((t, whole, w)):
            flow.give(i, value)
        made[0] = flow.now()[:n]
        for i, value in enumerate(there):
            moved[i] = value
            made[i + 1] = flow.now()[:n]
            moved[i] = whole[i]
    with may_overflow():
        J = ((rates[:, 1:] - rates[:, :1]) / steps[:, :, None]).transpose(0, 2, 1)
    begin = 0
    for size in traced.blocks:
        block = np.array(traced.stiff_at[begin : begin + size])
        J[:, block[:, None], block] = 0.0
        begin += size
    return J


def needed(λ: np.ndarray, most: float, length: float, implicit: bool = False) -> Pace:
    """The pace that follows modes λ with steps of at most `most` (s) over `length` (s), in MOST_STEPS at most.

    implicit: it is that already.
    """
    if _slow(λ, most, length):
        return Pace(implicit=implicit)
    λ = λ[(np.abs(λ) > 0) & (np.abs(λ) < BEYOND)]
    turns = (np.abs(λ.imag) > np.abs(λ.real)) | (λ.real > 0)
    turning = float(np.max(np.abs(λ[turns]), initial=0.0))
    decaying = 0.0 if implicit else float(np.max(np.abs(λ[~turns]), initial=0.0))
    largest = min(most, max(_longest(λ[turns], length), length / MOST_STEPS))
    explicit = min(largest, DECAYING / decaying if decaying else inf)
    if explicit == most:
        return Pace(implicit=implicit)
    why = (
        f"a mode of {turning:.3g} rad/s"
        if largest < most
        else f"a mode that decays at {decaying:.3g} 1/s"
    )
    if largest > explicit * EXPLICIT:
        return Pace(largest, True, f"a mode that decays at {decaying:.3g} 1/s")
    return Pace(explicit, implicit, why)


def _slow(λ: np.ndarray, most: float, length: float) -> bool:
    """Whether the fastest mode would be followed at `most` even if it turned with no damping: then every mode is."""
    fastest = float(np.abs(λ).max(initial=0.0))
    if fastest == 0.0:
        return True
    return bool(most * fastest <= _allowed(UNDAMPED / (length * fastest)))


def _allowed(ζ: Vector) -> Vector:
    """Largest |λ| h of modes that turn with damping ratios ζ, or grow."""
    return np.minimum(TURNING, (144 * ADDED * ζ) ** 0.2)


def check(λ: np.ndarray, length: float) -> None:
    """InputError for a mode that turns too fast to be followed over `length` (s) at all."""
    λ = λ[(np.abs(λ.imag) > np.abs(λ.real)) & (np.abs(λ) < BEYOND)]
    steps = length / _longest(λ, length)
    if steps > MOST_STEPS:
        raise InputError(
            f"scenario: the flow has a mode of {np.abs(λ).max():.3g} rad/s, and steps that follow it are "
            f"{steps:.2g} for this run",
            key="duration",
            mend="look for a size in a wrong unit, shorten the run, or leave that mode out (a stiff spring: make it rigid)",
        )


def _longest(λ: np.ndarray, length: float) -> float:
    """Longest step (s) that follows modes λ that turn or grow."""
    size = np.abs(λ)
    ζ = np.maximum(np.abs(λ.real), UNDAMPED / length) / size
    return float(np.min(_allowed(ζ) / size, initial=inf))


def at_first(start: np.ndarray, most: float, length: float) -> Pace:
    """The pace of a run that begins with modes `start`. Raises InputError for a mode that nothing follows."""
    found = needed(start, most, length)
    # Else no mode asks for shorter steps than these.
    if found != Pace() or length / most > MOST_STEPS:
        check(start, length)
    return found
