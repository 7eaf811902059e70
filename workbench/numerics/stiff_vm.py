"""stiff.c without a compiler: the same steps, its functions in CasADi's virtual machine."""

from __future__ import annotations

from math import floor, inf
from typing import Any

import numpy as np

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics import rodas
from workbench.numerics.samples import Samples

_K = np.arange(len(rodas.NODES))


def run(loop: Any, asked: Samples) -> int:
    """As `run` in stiff.c, for a `stiff.StiffLoop`."""
    return _Run(loop, asked).samples()


class _Run:
    """One call of `run`, and where it stands: the state, the step to go on with, the rows that are kept."""

    def __init__(self, loop: Any, asked: Samples) -> None:
        self.loop, self.traced, self.asked = loop, loop.traced, asked
        self.x = asked.state[: loop.n_x]
        self.h = loop.FIRST
        self.out = None if asked.rows is None else asked.rows.reshape(-1, loop.row)
        self.kept = 0
        self.pieces = None
        if asked.F is not None and loop.traced.flow_is_driven:
            shape = (-1, asked.n1 + asked.n2, len(rodas.NODES), loop.n_w)
            self.pieces = asked.F.reshape(shape)

    def samples(self) -> int:
        """Run them all; how many were done."""
        asked = self.asked
        for place in range(asked.n):
            k = asked.first + place
            t = k * asked.T
            w = asked.W[place]
            if asked.jumping:
                self._move(self.traced.jump, t, w)
            if not np.isfinite(self.x).all():
                return place
            if asked.every and k % asked.every == 0:
                self._keep(t, w)
            if not self._cross(place, t, w):
                return place + 1
        return asked.n

    def _cross(self, place: int, t: Scalar, w: Vector) -> bool:
        """From one sample to the next; False where the state leaves the numbers."""
        asked = self.asked
        s = 0
        while s < asked.n1 + asked.n2:
            end = self._end(s)
            here = self._instant(t, s)
            if asked.n1 and s == asked.n1:
                self._move(self.traced.release, here, w)
            rows = w if self.pieces is None else self.pieces[place, s]
            if not asked.every:
                self._keep(here, rows[0] if s and self.pieces is not None else w)
            if not self._forward(rows, here, self._instant(t, end)):
                self.x[0] = np.nan
                self._lose(asked.n1 + asked.n2 - s - 1)
                return False
            s = end
        return True

    def _end(self, s: int) -> int:
        """The step up to which inputs and rows let the integrator go from step s."""
        asked = self.asked
        if self.loop.fixed or self.traced.flow_is_driven or not asked.every:
            return s + 1
        return asked.n1 if s < asked.n1 else asked.n1 + asked.n2

    def _instant(self, t: Scalar, s: int) -> Scalar:
        """When step s of a sample begins."""
        asked = self.asked
        if asked.n1 and s <= asked.n1:
            return t + s * asked.h1
        return t + asked.n1 * asked.h1 + (s - asked.n1) * asked.h2

    def _forward(self, rows: Any, here: Scalar, there: Scalar) -> bool:
        """The state from one instant to another; False where no step is small enough."""
        fixed = self.loop.fixed
        inputs = (_Stages if fixed else _Inputs)(rows, here, there - here)
        step = _step if fixed else _advance
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is refused
            h = step(self.loop, here, there, self.asked.state, inputs, self.asked.c, self.h)
        self.h = h
        return h is not None

    def _value(self, f: Any, t: Scalar, w: Vector) -> np.ndarray:
        return np.array(f(t, self.x, w, self.asked.c[: self.loop.n_c])).ravel()

    def _move(self, f: Any, t: Scalar, w: Vector) -> None:
        """A jump of the state, after which the integrator begins anew."""
        self.x[:] = self._value(f, t, w)
        self.h = self.loop.FIRST

    def _keep(self, t: Scalar, w: Vector) -> None:
        """A row of the log."""
        if self.out is not None:
            self.out[self.kept] = np.concatenate(
                [self.asked.state, self._value(self.traced.log, t, w)]
            )
            self.kept += 1

    def _lose(self, steps: int) -> None:
        """Rows of steps that the sample does not reach are no numbers."""
        if self.out is not None and not self.asked.every:
            self.out[self.kept : self.kept + steps] = np.nan


class _Inputs:
    """Inputs over an interval and their rate: one row that holds, or the polynomial through several."""

    def __init__(self, rows: Any, t0: Scalar, span: Any) -> None:
        self.rows, self.t0, self.span = rows, t0, span

    def at(self, t: Scalar, stage: Any = 0) -> Any:
        if self.rows.ndim == 1:
            return self.rows, np.zeros_like(self.rows)
        s = (t - self.t0) / self.span * _K[-1]
        value = np.ones(len(_K))
        slope = np.zeros(len(_K))
        for l in _K:
            other = _K != l
            slope[other] = (slope[other] * (s - l) + value[other]) / (_K[other] - l)
            value[other] = value[other] * ((s - l) / (_K[other] - l))
        first = self.rows[0]
        change = self.rows - first
        return first + value @ change, slope @ change * _K[-1] / self.span


class _Stages(_Inputs):
    """Inputs at the stages of one equal step, and their rate at its beginning."""

    def at(self, t: Scalar, stage: Any = 0) -> Any:
        if self.rows.ndim == 1:
            return self.rows, np.zeros_like(self.rows)
        change = self.rows - self.rows[0]
        return self.rows[rodas.ROW[stage]], np.array(rodas.SLOPE) @ change / self.span


def _rodas(
    loop: Any, t: Scalar, h: Scalar, z: Vector, inputs: Any, J: Any, rate: Any, c: Any
) -> Any:
    """One step: (where it ends, its error against what is allowed)."""
    m = loop.traced.n_moving
    nx = loop.n_x
    L = loop.lu(J, 1.0 / (h * rodas.GAMMA))
    U = np.zeros((6, len(rate)))
    y = z[:nx].copy()
    for s in range(6):
        y[:m] = z[:m] + sum(a * u[:m] for a, u in zip(rodas.A[s], U))
        at = t + rodas.AT[s] * h
        f = np.array(loop.traced.motion(at, y, inputs.at(at, s)[0], c[: loop.n_c])).ravel()
        r = f + sum(b * u for b, u in zip(rodas.C[s], U)) / h + rodas.D[s] * h * rate
        U[s] = np.array(loop.solve(L, r)).ravel()
    to = z.copy()
    to[:m] = y[:m] + U[5, :m]
    to[nx:] = z[nx:] + U[5, m:] + sum(a * u[m:] for a, u in zip(rodas.A[5], U))
    if not np.isfinite(to[:m]).all():
        return to, inf
    if loop.fixed:
        return to, 0.0
    allowed = c[loop.n_c : loop.n_c + m] + c[-1] * np.abs(to[:m])
    return to, float(np.max(np.abs(U[5, :m]) / allowed))


def _step(loop: Any, t: Scalar, t1: Scalar, z: Vector, inputs: Any, c: Any, h: Scalar) -> Any:
    """z from t to t1 in one step, in place; h, None when the flow leaves the numbers."""
    w, dw = inputs.at(t)
    J, rate = loop.slope(t, z[: loop.n_x], w, dw, c[: loop.n_c])
    to, error = _rodas(loop, t, t1 - t, z, inputs, J, np.array(rate).ravel(), c)
    if error > 0:
        return None
    z[:] = to
    _project(loop, t1, z, w, c)
    return h


def _project(loop: Any, t: Scalar, z: Vector, w: Vector, c: Any) -> None:
    """z put back on the system's constraints, in place."""
    if loop.traced.project is not None:
        z[: loop.n_x] = np.array(loop.traced.project(t, z[: loop.n_x], w, c[: loop.n_c])).ravel()


def _stretch(t: Scalar, t1: Scalar, period: Scalar, near: float) -> tuple[Scalar, Scalar, bool]:
    """(up to when the flow has no edge in time, the longest step on the way, whether there is an edge at the end)."""
    if not period > 0:
        return t1, inf, False
    following = (floor(t / period + 1e-7) + 1.0) * period
    most = max(0.5 * (following - t), near)
    if following <= t1 + 1e-7 * period:
        return min(following, t1), most, True
    return t1, most, False


def _until_edge(a: Scalar, b: Scalar, edges: Vector) -> float:
    """The share of a step from a to b after which the watched state meets its first edge; 1 where it meets none."""
    shares = [float((e - a) / (b - a)) for e in edges if (a - e) * (b - e) < 0]
    return min(shares, default=1.0)


def _fitted(step: Scalar, room: Scalar) -> Scalar:
    """A step that leaves no splinter: what is left is taken whole, or in two halves."""
    if step < 0.5 * room:
        return step
    return 0.5 * room if step < room else room


def _advance(loop: Any, t: Scalar, t1: Scalar, z: Vector, inputs: Any, c: Any, h: Scalar) -> Any:
    """z from t to t1, in place; the step to go on with, None when no step is small enough."""
    m = loop.traced.n_moving
    period = c[loop.n_c + m]
    edges = c[loop.n_c + m + 1 : -1]
    last = 0.0
    before = 1.0
    fresh = False
    looked = 0
    failed = False
    while t < t1:
        stop, most, edge = _stretch(t, t1, period, loop.NEAR)
        room = stop - t
        if not fresh:
            w, dw = inputs.at(t)
            J, rate = loop.slope(t, z[: loop.n_x], w, dw, c[: loop.n_c])
            rate = np.array(rate).ravel()
            fresh = True
        step = _fitted(min(h, most), room)
        if step < room and step < 1e-15 + 1e-14 * abs(t):
            return None
        to, error = _rodas(loop, t, step, z, inputs, J, rate, c)
        grow = 0.9 * max(error, 1e-12) ** -0.25
        if not error <= 1.0:
            h = step * (0.25 if failed else max(0.2, min(grow, 0.9)))
            failed = True
            continue
        part = _until_edge(z[loop.watched], to[loop.watched], edges)
        if part < 0.98 and looked < 2:
            h = step * max(part * 1.01, 1e-3)
            looked = looked + 1
            continue
        if last > 0:
            grow = min(grow, 0.9 * step / last * (before / max(error * error, 1e-12)) ** 0.25)
        grow = max(0.2, min(grow, 1.0 if failed else 6.0))
        last = step
        before = max(error, 1e-2)
        t, z[:] = stop if step == room else t + step, to
        _project(loop, t, z, w, c)
        landed = part < 1.0 or (edge and step == room)
        h = loop.FIRST if landed else max(step * grow, h if step < h else 0.0)
        fresh = False
        looked = 0
        failed = False
    return h
