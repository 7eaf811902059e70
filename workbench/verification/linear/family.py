"""Matrices of parameters: a linear loop as plain text of θ, enclosed over boxes of θ.

A Family is ẋ = A(θ) x, x⁺ = A(θ) x, or a sampled loop as a product of stages (a jump, or a flow e^{A(θ)t} over a time
t), x_{k+1} = M_s(θ) … M_1(θ) x_k. Over a box it is enclosed by its value in the middle and its derivatives over the box.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.expressions import column, symbols
from workbench.numerics.intervals.enclosure import box
from workbench.verification.linear.sampled_data import whole_and_rest
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.rigorous.balls import Ball, blocks, exponential, up
from workbench.verification.rigorous.lifting import Lifted, lift

Text = Callable[[Sequence], Sequence[Sequence]]


@final
@dataclass(frozen=True, eq=False)
class Family:
    """Matrices of named parameters θ: `stages` of (text θ → rows, time), applied first to last.

    time None: the matrix itself (a jump, or all of ẋ = A x when T is None); a number or a text θ → number: e^{A t}.
    """

    names: tuple[str, ...]
    stages: tuple[tuple[Text, object], ...]
    T: float | None = None

    @cached_property
    def traced(
        self,
    ) -> tuple[Lifted, ca.Function, np.ndarray, np.ndarray, tuple[tuple[int, int, bool], ...]]:
        """(entries and times that depend on θ, they and their derivatives as a function, all values with the constant
        ones in place, where the others belong, (rows, columns, timed) by stage)."""
        θ, entries = symbols("θ", len(self.names))
        values = []
        shapes = []
        for text, time in self.stages:
            rows = [list(row) for row in text(entries)]
            values += [e for row in rows for e in row]
            shapes.append((len(rows), len(rows[0]), time is not None))
            if time is not None:
                values.append(time(entries) if callable(time) else float(time))
        whole = column(values)
        moving = np.array([i for i in range(len(values)) if not whole[i].is_constant()], dtype=int)
        fixed = np.array([0.0 if i in moving else float(whole[i]) for i in range(len(values))])
        if not np.isfinite(fixed).all():
            raise InputError(
                "family: an entry of the matrix is not a number",
                mend="check the text and its constants",
            )
        own = lift(θ, ca.vertcat(*[whole[int(i)] for i in moving]) if len(moving) else ca.SX(0, 1))
        return (
            own,
            own.function(own.expression, ca.jacobian(own.expression, θ)),
            fixed,
            moving,
            tuple(shapes),
        )

    @cached_property
    def affine(self) -> bool:
        """Whether the matrix is affine in θ: one stage, no exponential, derivative constant, nothing that may jump."""
        own, _, _, _, shapes = self.traced
        first = ca.jacobian(own.expression, own.x)
        return (
            len(shapes) == 1
            and not shapes[0][2]
            and not own.steps
            and not ca.depends_on(first, own.x)
        )

    def cover(self, low, high) -> tuple[Ball, list[Ball], np.ndarray]:
        """(M, D, r): every matrix of the box is M + Σ δ_k D_k with |δ_k| ≤ r_k, by the mean value theorem.

        M at the middle, D_k the derivative by θ_k over the box. Where the text may jump in the box, D is empty and M
        alone covers it.
        """
        own, f, fixed, moving, shapes = self.traced
        low = np.asarray(low, float)
        high = np.asarray(high, float)
        middle = low + (high - low) / 2
        r = np.where(high > low, np.nextafter(np.maximum(high - middle, middle - low), np.inf), 0.0)
        vary = np.flatnonzero(r)
        n = len(moving)

        def evaluated(a, b):
            found = own.enclose(f, [box(v, w) for v, w in zip(a, b)])
            bounds = np.array(
                [[e.low[0], e.high[0]] if e.sure[0] else [-np.inf, np.inf] for e in found]
            ).reshape(-1, 2)
            parts = []
            for k in range(len(self.names) + 1):
                whole = np.repeat((fixed if k == 0 else 0 * fixed)[:, None], 2, axis=1)
                whole[moving] = bounds[k * n : (k + 1) * n]
                parts.append(whole)
            return parts

        over = evaluated(low, high)
        if own.steps and len(vary):
            return _product(over[0], [], shapes)[0], [], r[:0]
        M, _ = _product(evaluated(middle, middle)[0], [], shapes)
        return (
            M,
            _product(over[0], [over[1 + k] for k in vary], shapes)[1] if len(vary) else [],
            r[vary],
        )

    def at(self, θ) -> Ball:
        """The matrix at one θ, enclosed."""
        return self.cover(θ, θ)[0]


def corners_of(M: Ball, D: list[Ball], r: np.ndarray) -> list[Ball]:
    """Balls whose convex hull holds every M + Σ δ_k D_k, |δ_k| ≤ r_k."""
    spread = sum((up(Δ.rad * h) for Δ, h in zip(D, r)), np.zeros_like(M.mid))
    M = Ball(M.mid, up(M.rad + spread, len(D)))
    return [
        sum((Ball.of(Δ.mid).scaled(s * h) for s, Δ, h in zip(signs, D, r)), M)
        for signs in itertools.product((1.0, -1.0), repeat=len(D))
    ]


def _product(values, slopes, shapes) -> tuple[Ball, list[Ball]]:
    """The product of all stages and its derivatives, from bounds of entries (and times) and of their derivatives."""
    at = 0
    whole = None
    found = []
    for n, m, timed in shapes:
        X = _matrix(values, at, n, m)
        dX = [_matrix(s, at, n, m) for s in slopes]
        at += n * m
        if timed:
            t = values[at]
            dt = [s[at] for s in slopes]
            at += 1
            dX = [d.scaled(*t) + X.scaled(*e) for d, e in zip(dX, dt)]
            X = X.scaled(*t)
            # e of [[X, dX], [0, X]] has the derivative of e^X in its corner: [VanLoan78].
            dX = [exponential(blocks([[X, d], [Ball.of(0 * X.mid), X]])).part(n) for d in dX]
            X = exponential(X)
        found = dX if whole is None else [d @ whole + X @ e for d, e in zip(dX, found)]
        whole = X if whole is None else X @ whole
    return whole, found


def _matrix(bounds, at: int, n: int, m: int) -> Ball:
    low, high = bounds[at : at + n * m].T.reshape(2, n, m)
    if not np.isfinite(low).all() or not np.isfinite(high).all():
        return Ball(np.zeros((n, m)), np.full((n, m), np.inf))
    return Ball.between(low, high)


def continuous(names: Sequence[str], A: Text) -> Family:
    """ẋ = A(θ) x."""
    return Family(tuple(names), ((A, None),))


def stepped(names: Sequence[str], A: Text, T: float) -> Family:
    """x⁺ = A(θ) x, samples every T seconds."""
    return Family(tuple(names), ((A, None),), T)


def sampled_loop(names: Sequence[str], A: Text, B: Text, K, T: float, delay: float = 0.0) -> Family:
    """ẋ = A(θ) x + B(θ) u(t − delay) with u_k = −K x(kT) held over T: exact, states (x, command applied, last commands).

    K is known (the controller's), delay any number ≥ 0: with delay = dT + τ' the command of d samples ago is applied
    τ' after the sample.
    """
    LinearSystem(0.0, 0.0, 0.0, 0.0, T)  # refuses a bad T
    K = np.atleast_2d(np.asarray(K, float))
    m, n = K.shape
    d, rest = whole_and_rest(delay, T)
    N = n + m * (d + 2)
    place = lambda i: slice(n + m * i, n + m * (i + 1))  # 0: applied, 1 …: newest, older
    jump = np.eye(N)
    release = np.eye(N)
    for i in range(d, 0, -1):
        jump[place(i + 1)], jump[place(i + 1), place(i)] = 0.0, np.eye(m)
    jump[place(1)], jump[place(1), :n] = 0.0, -K
    release[place(0)], release[place(0), place(d + 1)] = 0.0, np.eye(m)

    def flow(θ):
        return [[*a, *b, *[0.0] * (N - n - m)] for a, b in zip(A(θ), B(θ))] + [
            [0.0] * N for _ in range(N - n)
        ]

    early = ((flow, rest),) if rest else ()
    return Family(
        tuple(names),
        (
            (lambda θ: jump.tolist(), None),
            *early,
            (lambda θ: release.tolist(), None),
            (flow, T - rest),
        ),
        T,
    )
