"""What is planned: a crane, a path of its tip, a supply, limits; and one step of it as text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.planning.pressures import flows, highest, pressures
from workbench.planning.supplies import PlannedConstantPressure, Supply

# rad, how far joints stay from their ends: a solver meets limits to its own tolerance.
INSIDE = 1e-7
BIG = 1e30  # energy of what is not allowed; kernel.c has it too


@final
@dataclass(frozen=True)
class Step:
    """Energy of one step from pistons x_0 to x_1 in dt: the numbers it needs, so that they can be symbols.

    v = (x_1 − x_0)/dt is the mean speed: oil is exact for pistons that do not turn back within a step (explicit Euler (17)
    misjudges it by 0.5 %). Forces are those at the middle of the step, F = a + b u + c u² + d w with u = q̇_3, w = q̈_3.
    """

    supply: Supply
    A_a: Annotated[tuple[float, ...], Unit("m^2")]
    A_b: Annotated[tuple[float, ...], Unit("m^2")]
    v_max: Annotated[tuple[float, ...], Unit("m/s")]
    dt: Annotated[float, Unit("s")]
    Q_max: Annotated[float | None, Unit("m^3/s")] = None
    p_max: Annotated[float | None, Unit("Pa")] = None

    @property
    def areas(self):
        return list(zip(self.A_a, self.A_b))

    def motion(self, x_0, x_1, c, u, w):
        """(v, F): F is a list of zeros where the supply asks for none (c is empty)."""
        v = [(b - a) / self.dt for a, b in zip(x_0, x_1)]
        k = len(c) // 3
        if k == 0:
            return v, [0.0, 0.0, 0.0]
        F = [c[k * i] + u * (c[k * i + 1] + u * c[k * i + 2]) for i in range(3)]
        return v, F if k == 3 else [f + w * c[k * i + 3] for i, f in enumerate(F)]

    def power(self, x_0, x_1, c, u, w):
        """What the supply gives, W, whether allowed or not."""
        v, F = self.motion(x_0, x_1, c, u, w)
        return self.supply.power(v, F, self.areas)

    def excess(self, x_0, x_1, c, u, w) -> dict:
        """Limit → its quantity as a share of what is allowed (1 is just allowed)."""
        v, F = self.motion(x_0, x_1, c, u, w)
        found = {f"speed {i}": np.abs(s) / top for i, (s, top) in enumerate(zip(v, self.v_max))}
        if self.Q_max is not None:
            found["pump flow"] = sum(flows(v, self.areas)) / self.Q_max
        if (top := self.highest) is None:
            return found
        if isinstance(self.supply, PlannedConstantPressure):
            return found | {f"pressure {i}": p / top for i, p in enumerate(self._needs(v, F))}
        return found | {"pump pressure": self.supply.pressure(v, F, self.areas) / top}

    def needed(self, v, F):
        """Pressure that a limit is set for, Pa: the pump's; at constant pressure what the cylinders need."""
        constant = isinstance(self.supply, PlannedConstantPressure)
        return highest(self._needs(v, F)) if constant else self.supply.pressure(v, F, self.areas)

    def _needs(self, v, F) -> list:
        return pressures(v, F, self.areas, self.supply.back, self.supply.creep)

    @property
    def highest(self):
        """Largest pump pressure allowed, Pa, or None. At constant pressure: what a cylinder may need."""
        if isinstance(self.supply, PlannedConstantPressure):
            if not self.supply.holds:
                return None
            return (
                self.supply.p_s if self.p_max is None else np.minimum(self.supply.p_s, self.p_max)
            )
        if self.supply.high is not None:
            return self.supply.high
        return self.p_max if self.supply.needs_forces else None

    @property
    def needs_forces(self) -> bool:
        """Whether power or a limit asks for forces."""
        return self.supply.needs_forces or self.highest is not None

    def energy(self, x_0, x_1, c, u, w):
        """J; BIG where a limit is passed."""
        allowed = 1.0
        for ratio in self.excess(x_0, x_1, c, u, w).values():
            allowed = np.where(ratio > 1 + 1e-12, 0.0, allowed)
        return np.where(allowed > 0, self.power(x_0, x_1, c, u, w) * self.dt, BIG)


MOST_STEPS = 20_000
NODES = 417  # of the grid over the stroke, unless a search asks for others


@final
@dataclass(frozen=True, eq=False)
class Task:
    """A crane (see `plants.crane.planar`) whose tip follows `path`, a Cartesian reference (x, y), in equal steps.

    start, end   extension at the ends, m; end None: free
    order        1: the speed of the extension is free to jump (velocity level); 2: accelerations are limited, and the
                 crane starts and ends at rest (acceleration level)
    Q_max, p_max largest pump flow and pressure, None: not limited; at constant pressure: what cylinders may need
    room         m, kept free at both ends of every stroke
    """

    crane: Any
    path: Any
    supply: Supply
    steps: int = 150
    start: Annotated[float, Unit("m"), "extension at the start"] = 0.0
    end: Annotated[float | None, Unit("m"), "extension at the end"] = None
    order: int = 1
    Q_max: Annotated[float | None, Unit("m^3/s"), "largest pump flow", positive] = None
    p_max: Annotated[float | None, Unit("Pa"), "largest pump pressure", positive] = None
    room: Annotated[float, Unit("m"), "kept free at both ends of every stroke", nonnegative] = 0.0

    def __post_init__(self):
        check_bounds(self)
        if self.order not in (1, 2):
            raise InputError(
                f"order: {self.order!r}", mend="1 plans speeds of the extension, 2 accelerations"
            )
        if not isinstance(self.steps, int) or self.steps < 2:
            raise InputError(f"steps: {self.steps!r}", mend="give a whole number, 2 or more")
        if self.steps > MOST_STEPS:
            size = self.steps * NODES * 8 / 1e9
            raise InputError(
                f"steps: {self.steps}, expected at most {MOST_STEPS}: on a grid of {NODES} nodes their costs alone "
                f"take {size:.3g} GB",
                mend="give fewer; 150 follow a path of ten seconds",
            )
        if not np.isfinite(self.path.duration) or self.path.duration <= 0:
            raise InputError("path: it has no end", mend="give a path that ends, like Waypoints")
        if np.ptp([*self.tips, *self.middles[0]], axis=0).max() < 1e-9:
            raise InputError(
                "path: it has no length, the tip rests", mend="give points that differ"
            )
        if any(2 * self.room >= c.stroke for c in self.crane.cylinders):
            raise InputError(
                f"room: {self.room:g} m at both ends leaves nothing of a stroke", mend="give less"
            )
        low, high = self.ranges[2]
        for name, q in (("start", self.start), ("end", self.end)):
            if q is not None and not low <= q <= high:
                raise InputError(
                    f"{name}: an extension of {q:g} m is outside {low:g} … {high:g} m",
                    mend="choose one inside",
                )

    @cached_property
    def ranges(self) -> list[tuple[float, float]]:
        """(low, high) of q_1, q_2, q_3."""
        strokes = [c.stroke for c in self.crane.cylinders]
        turns = [
            (t.angle(self.room), t.angle(s - self.room))
            for t, s in zip((self.crane.lift, self.crane.tilt), strokes)
        ]
        return [*turns, (self.room, strokes[2] - self.room)]

    @property
    def dt(self) -> float:
        return self.path.duration / self.steps

    @cached_property
    def step(self) -> Step:
        c = self.crane.cylinders
        A_a, A_b = zip(*(a.areas for a in c))
        return Step(
            self.supply, A_a, A_b, tuple(a.v_max for a in c), self.dt, self.Q_max, self.p_max
        )

    @property
    def push(self) -> np.ndarray:
        """Largest change of each piston's step from one to the next, a_max dt², m."""
        return np.array([c.a_max for c in self.crane.cylinders]) * self.dt**2

    @property
    def reach(self) -> float:
        """Largest move of the extension in a step, m."""
        return self.crane.cylinders[2].v_max * self.dt

    @cached_property
    def times(self) -> np.ndarray:
        return np.linspace(0.0, self.path.duration, self.steps + 1)

    @cached_property
    def tips(self) -> np.ndarray:
        """(N+1, 2) tip positions at the nodes."""
        return self._sampled(self.times, 0)[0]

    @cached_property
    def middles(self) -> np.ndarray:
        """(3, N, 2) tip position, velocity, acceleration at the middle of every step."""
        return self._sampled(self.times[:-1] + self.dt / 2, 2)

    def _sampled(self, t, order):
        values = self.path.sample(t, order)
        if values.shape[2] != 2:
            raise InputError(
                f"path: {values.shape[2]} components", mend="a planar path has two, x and y"
            )
        return values

    def pistons(self, q3: np.ndarray, k: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """(x (3, …), allowed (…)) of the nodes q3 (stages first), at stages k: joints, reach and strokes."""
        r = [self.tips[k, i].reshape(-1, *[1] * (q3.ndim - 1)) for i in (0, 1)]
        q = self.crane.joints(r, q3)
        allowed = np.abs(self.crane.stretch(r, q3)) < 1
        for value, (low, high) in zip(q, self.ranges):
            allowed = allowed & (value >= low - 1e-12) & (value <= high + 1e-12)
        return np.stack(np.broadcast_arrays(*self.crane.pistons(q))), allowed
