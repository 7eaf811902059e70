"""References: frozen functions of time with as many derivatives as asked for.

Every reference has
    space               "joint" | "piston" | "cartesian" | "output": what its components are
    sample(t, order)    t (N,) s → (order+1, N, n): position, velocity, acceleration, …; for every real t
    duration            time (s) after which it no longer moves (Sine: inf, Hold: 0)
    jerk_jumps()        times (K,) s at which the third derivative jumps, and by how much (K, n)
    names(n)            names of its n components as reference signals
    resolve(start)      the same reference with "start" replaced by a point (n,)
All are C² on the whole real line; where a derivative jumps, `sample` gives its value just after the jump.
Kinds: Hold, Waypoints and Sine here, Spline (given samples, CSV) in `workbench.run.spline`, Deviated (off another one) in
`workbench.run.deviated`; Steps in `workbench.run.steps` jumps, and has `jumps()`, the instants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Protocol, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.run.sampling import (
    Point,
    Space,
    _known,
    _numbers,
    _point,
    check_space,
    component_names,
    fix,
    merged_jumps,
    sample_times,
)

MOST_LEGS = 100_000  # of a path, repeats written out
# s(τ), rest to rest: s = s' = s'' = 0, then 1, 0, 0.
QUINTIC = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])


class Reference(Protocol):
    """What the module's docstring says."""

    space: Space

    @property
    def duration(self) -> float: ...
    def sample(self, t: np.ndarray, order: int) -> np.ndarray: ...
    def jerk_jumps(self) -> tuple[np.ndarray, np.ndarray]: ...
    def names(self, n: int) -> tuple[str, ...]: ...
    def resolve(self, start) -> Reference: ...


@final
@dataclass(frozen=True)
class Hold:
    """r(t) = point, for ever. `point` is a tuple, or "start" for where the machine is."""

    space: Space
    point: Annotated[Point, "where it is held; start: where the machine is"] = "start"

    def __post_init__(self):
        check_space(self.space)
        fix(self, point=_point(self.point, "point"))

    duration = 0.0

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); the module's docstring has the contract."""
        t, order = sample_times(t, order)
        result = np.zeros((order + 1, t.size, len(_known(self.point))))
        result[0] = self.point
        return result

    def jerk_jumps(self):
        """None: (0,), (0, n)."""
        return np.zeros(0), np.zeros((0, len(_known(self.point))))

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start) -> Hold:
        """The point, where it was "start"."""
        return replace(self, point=start) if self.point == "start" else self


@final
@dataclass(frozen=True)
class Waypoints:
    """Quintic rest-to-rest legs through points, a pause at each, the last one held.

        r(t) = P_k + (P_{k+1} − P_k) s(τ),  s(τ) = 10τ³ − 15τ⁴ + 6τ⁵,  τ = (t − t_k)/T_k ∈ [0, 1]

    points   tuples of equal length (at least two of them), any of them may be "start"
    leg      T_k, one time for all legs or one a leg
    dwell    pause between a leg and the next
    repeat   how often the path is walked; more than once needs last point = first point

    The jerk is ±60 (P_{k+1} − P_k)/T_k³ at the ends of a leg and jumps there.
    Source: [Petrovic22] Section V, quintic rest-to-rest path.
    """

    space: Space
    points: tuple[Point, ...]
    leg: Annotated[float | tuple[float, ...], Unit("s"), "time of a leg", positive]
    dwell: Annotated[float, Unit("s"), "pause between legs", nonnegative] = 0.0
    repeat: int = 1

    def __post_init__(self):
        check_space(self.space)
        if isinstance(self.points, str) or len(self.points) < 2:
            raise InputError(
                "points: a path needs at least two of them", mend="add points, or use Hold"
            )
        points = tuple(_point(p, f"points.{i}") for i, p in enumerate(self.points))
        if len({len(p) for p in points if p != "start"}) > 1:
            raise InputError(
                f"points: of unequal length: {', '.join(map(str, points))}",
                mend="give every point the same number of components",
            )
        leg = _numbers(self.leg, "leg")
        if isinstance(leg, tuple) and len(leg) != len(points) - 1:
            raise InputError(
                f"leg: {len(leg)} times for {len(points) - 1} legs",
                mend="give one time, or one a leg",
            )
        if not isinstance(self.repeat, int) or self.repeat < 1:
            raise InputError(f"repeat: {self.repeat!r}; it must be a whole number, 1 or more")
        if self.repeat * (len(points) - 1) > MOST_LEGS:
            raise InputError(
                f"repeat: more than {MOST_LEGS} legs in all",
                mend="walk the path less often; the run need not be longer than what is to be seen",
            )
        if self.repeat > 1 and points[0] != points[-1]:
            raise InputError(
                "repeat: the path does not end where it begins",
                mend="add the first point at the end, or write the repeats out as points",
            )
        fix(self, points=points, leg=leg)
        check_bounds(self)

    @property
    def legs(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin and end (s) of every leg, repeats written out."""
        times = np.tile(
            np.broadcast_to(np.asarray(self.leg, float), len(self.points) - 1), self.repeat
        )
        ends = np.cumsum(times) + self.dwell * np.arange(times.size)
        return np.concatenate([[0.0], ends[:-1] + self.dwell]), ends

    @property
    def duration(self) -> float:
        """End of the last leg, s."""
        return float(self.legs[1][-1])

    @property
    def periods(self) -> tuple[float, ...]:
        """Time of one round with the rest after it, s; none of a path that is walked once."""
        return ((self.duration + self.dwell) / self.repeat,) if self.repeat > 1 else ()

    def _corners(self) -> np.ndarray:
        points = np.array([_known(p) for p in self.points])
        return np.concatenate([points[:1], np.tile(points[1:], (self.repeat, 1))])

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); the module's docstring has the contract."""
        t, order = sample_times(t, order)
        corners, (begins, ends) = self._corners(), self.legs
        leg = np.searchsorted(begins, t, side="right") - 1
        moving = (leg >= 0) & (t < ends[leg])
        result = np.zeros((order + 1, t.size, corners.shape[1]))
        # Rest: the first point before the path, else the point reached.
        result[0] = corners[leg + 1]
        k = leg[moving]
        T = (ends - begins)[k, None]
        step = corners[k + 1] - corners[k]
        τ = np.minimum((t[moving] - begins[k])[:, None] / T, 1.0)
        result[0, moving] = corners[k] + step * QUINTIC(τ)
        for i in range(1, min(order, 5) + 1):
            result[i, moving] = step * QUINTIC.deriv(i)(τ) / T**i
        return result

    def jerk_jumps(self):
        """Ends of the legs: +60 ΔP/T³ where one begins, −60 ΔP/T³ where one ends, both where they meet."""
        corners, (begins, ends) = self._corners(), self.legs
        jerk = 60.0 * np.diff(corners, axis=0) / ((ends - begins) ** 3)[:, None]
        return merged_jumps(np.concatenate([begins, ends]), np.concatenate([jerk, -jerk]))

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start) -> Waypoints:
        """Every "start" replaced by the point `start`."""
        return replace(self, points=tuple(start if p == "start" else p for p in self.points))


@final
@dataclass(frozen=True)
class Sine:
    """Sine whose amplitude grows from rest over the first `ramp` seconds, then goes on for ever.

        r(t) = c + A s(t/ramp) sin(2πf t + φ),  s as for Waypoints, s = 1 after the ramp

    With ramp = 0 the amplitude is full from t = 0 on, s = 1: for a run that starts in motion (`scenario.offset`). With a
    ramp the jerk jumps by 60 A sin φ/ramp³ at t = 0 and by −60 A sin(2πf ramp + φ)/ramp³ at t = ramp.
    """

    space: Space
    centre: Annotated[Point, "centre c of every component; start: where the machine begins"]
    amplitude: Annotated[tuple[float, ...], "amplitude A of every component"]
    frequency: Annotated[float, Unit("Hz"), "frequency f", positive]
    phase: Annotated[float | tuple[float, ...], Unit("rad"), "phase φ, one or one a component"] = (
        0.0
    )
    ramp: Annotated[float, Unit("s"), "time until the full amplitude", nonnegative] = 1.0

    def __post_init__(self):
        check_space(self.space)
        amplitude = _point(self.amplitude, "amplitude")
        centre = _point(self.centre, "centre")
        phase = _numbers(self.phase, "phase")
        if amplitude == "start":
            raise InputError("amplitude: expected numbers", mend="only the centre may be 'start'")
        for name, value in (("centre", centre), ("phase", phase)):
            if isinstance(value, tuple) and len(value) != len(amplitude):
                raise InputError(
                    f"{name}: {len(value)} components, the amplitude has {len(amplitude)}",
                    mend="give both the same number of components",
                )
        fix(self, amplitude=amplitude, centre=centre, phase=phase)
        check_bounds(self)

    duration = math.inf

    @property
    def periods(self) -> tuple[float, ...]:
        """1/f, s."""
        return (1.0 / self.frequency,)

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, n); the module's docstring has the contract."""
        t, order = sample_times(t, order)
        ω = 2 * math.pi * self.frequency
        envelope = self._envelope(t, order)
        angle = ω * t[:, None] + np.asarray(self.phase)
        s = np.asarray(self.amplitude) * np.sin(angle)
        c = np.asarray(self.amplitude) * np.cos(angle)
        wave = [ω**i * (s, c, -s, -c)[i % 4] for i in range(order + 1)]
        result = np.stack(
            [
                sum(math.comb(k, i) * envelope[i] * wave[k - i] for i in range(k + 1))
                for k in range(order + 1)
            ]
        )
        result[0] += _known(self.centre)
        return result

    def _envelope(self, t: np.ndarray, order: int) -> list[np.ndarray]:
        """s(t/ramp) and its derivatives, (N, 1) each."""
        if not self.ramp:
            return [np.ones((t.size, 1))] + [np.zeros((t.size, 1))] * order
        τ = np.clip(t / self.ramp, 0.0, 1.0)[:, None]
        ramping = ((t >= 0) & (t < self.ramp))[:, None]
        rates = [ramping * QUINTIC.deriv(i)(τ) / self.ramp**i for i in range(1, order + 1)]
        return [QUINTIC(τ), *rates]

    def jerk_jumps(self):
        """At 0 and at the end of the ramp, by what the class says; none without a ramp."""
        if not self.ramp:
            return np.zeros(0), np.zeros((0, len(self.amplitude)))
        angle = np.array([[0.0], [2 * math.pi * self.frequency * self.ramp]]) + np.asarray(
            self.phase
        )
        sign = np.array([[60.0], [-60.0]]) / self.ramp**3
        return merged_jumps(
            np.array([0.0, self.ramp]), sign * np.asarray(self.amplitude) * np.sin(angle)
        )

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start) -> Sine:
        """The centre, where it was "start"."""
        return replace(self, centre=start) if self.centre == "start" else self
