"""stiff.c without a compiler: the same steps, its functions in CasADi's virtual machine."""

from __future__ import annotations

from math import floor, inf
from typing import Any

import numpy as np

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics import stiff

_K = np.arange(len(stiff.NODES))


def run(
    loop: Any,
    first: Any,
    n: Any,
    every: Any,
    jumping: Any,
    T: Scalar,
    n1: Any,
    h1: Scalar,
    n2: Any,
    h2: Scalar,
    state: Vector,
    W: Any,
    F: Any,
    c: Any,
    rows: Any,
) -> int:
    """As `run` in stiff.c, for a `stiff.StiffLoop`."""
    p = loop.traced
    constants = c[: loop.n_c]
    h = loop.FIRST
    jumped = lambda f, t, x, w: np.array(f(t, x, w, constants)).ravel()
    out = None if rows is None else rows.reshape(-1, loop.row)
    kept = 0
    pieces = (
        None
        if F is None or not p.flow_is_driven
        else F.reshape(-1, n1 + n2, len(stiff.NODES), loop.n_w)
    )
    x = state[: loop.n_x]
    for k in range(first, first + n):
        t = k * T
        w = W[k - first]
        if jumping:
            x[:], h = jumped(p.jump, t, x, w), loop.FIRST
        if not np.isfinite(x).all():
            return k - first
        if out is not None and every and k % every == 0:
            out[kept] = np.concatenate([state, jumped(p.log, t, x, w)])
            kept += 1
        s = 0
        while s < n1 + n2:
            end = (
                s + 1 if loop.fixed or p.flow_is_driven or not every else n1 if s < n1 else n1 + n2
            )
            here, there = (
                t + i * h1 if i <= n1 and n1 else t + n1 * h1 + (i - n1) * h2 for i in (s, end)
            )
            if n1 and s == n1:
                x[:], h = jumped(p.release, here, x, w), loop.FIRST
            if out is not None and not every:
                now = pieces[k - first, s, 0] if s and pieces is not None else w
                out[kept] = np.concatenate([state, jumped(p.log, here, x, now)])
                kept += 1
            inputs = (_Stages if loop.fixed else _Inputs)(
                w if pieces is None else pieces[k - first, s], here, there - here
            )
            with np.errstate(
                over="ignore", invalid="ignore"
            ):  # a step that leaves the numbers is refused
                h = (_step if loop.fixed else _advance)(loop, here, there, state, inputs, c, h)
            if h is None:
                x[0] = np.nan
                if out is not None and not every:
                    out[kept : kept + n1 + n2 - s - 1] = np.nan  # steps this sample does not reach
                return k + 1 - first
            s = end
    return n


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
        return value @ self.rows, slope @ self.rows * _K[-1] / self.span


class _Stages(_Inputs):
    """Inputs at the stages of one equal step, and their rate at its beginning."""

    def at(self, t: Scalar, stage: Any = 0) -> Any:
        if self.rows.ndim == 1:
            return self.rows, np.zeros_like(self.rows)
        return self.rows[stiff.ROW[stage]], np.array(stiff.SLOPE) @ self.rows / self.span


def _rodas(
    loop: Any, t: Scalar, h: Scalar, z: Vector, inputs: Any, J: Any, rate: Any, c: Any
) -> Any:
    """One step: (where it ends, its error against what is allowed)."""
    m = loop.traced.n_moving
    nx = loop.n_x
    L = loop.lu(J, 1.0 / (h * stiff.GAMMA))
    U = np.zeros((6, len(rate)))
    y = z[:nx].copy()
    for s in range(6):
        y[:m] = z[:m] + sum(a * u[:m] for a, u in zip(stiff.A[s], U))
        at = t + stiff.AT[s] * h
        f = np.array(loop.traced.motion(at, y, inputs.at(at, s)[0], c[: loop.n_c])).ravel()
        r = f + sum(b * u for b, u in zip(stiff.C[s], U)) / h + stiff.D[s] * h * rate
        U[s] = np.array(loop.solve(L, r)).ravel()
    to = z.copy()
    to[:m] = y[:m] + U[5, :m]
    to[nx:] = z[nx:] + U[5, m:] + sum(a * u[m:] for a, u in zip(stiff.A[5], U))
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
        stop = t1
        most = inf
        edge = False
        if period > 0:
            following = (floor(t / period + 1e-7) + 1.0) * period
            most = max(0.5 * (following - t), loop.NEAR)
            if following <= t1 + 1e-7 * period:
                stop, edge = min(following, t1), True
        room = stop - t
        if not fresh:
            w, dw = inputs.at(t)
            J, rate = loop.slope(t, z[: loop.n_x], w, dw, c[: loop.n_c])
            rate, fresh = np.array(rate).ravel(), True
        step = min(h, most)
        step = step if step < 0.5 * room else 0.5 * room if step < room else room
        if step < room and step < 1e-15 + 1e-14 * abs(t):
            return None
        to, error = _rodas(loop, t, step, z, inputs, J, rate, c)
        grow = 0.9 * max(error, 1e-12) ** -0.25
        if not error <= 1.0:
            h, failed = step * (0.25 if failed else max(0.2, min(grow, 0.9))), True
            continue
        a = z[loop.watched]
        b = to[loop.watched]
        part = min((float((e - a) / (b - a)) for e in edges if (a - e) * (b - e) < 0), default=1.0)
        if part < 0.98 and looked < 2:
            h, looked = step * max(part * 1.01, 1e-3), looked + 1
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
        fresh, looked, failed = False, 0, False
    return h
