"""A loop and its first variation as one loop: states x beside s = dx/dε, where ε moves its start, its inputs and its numbers.

    ẋ = f(t, x, w, c)         ṡ = ∂f/∂x s + ∂f/∂w w' + ∂f/∂c c'
    x⁺ = g(t, x, w, c)        s⁺ = ∂g/∂x s + ∂g/∂w w' + ∂g/∂c c'        the same for what is logged and for power integrals

A prime is d/dε. The derivatives are those of the expression graph, and an integrator takes both with the steps of the loop alone: s
is the derivative of the computed run where the method is that of Runge and Kutta and the flow has no kinks, else it is of the
order of the method. Steps end on kinks of the flow, where s goes on unchanged because the flow is continuous, but its derivative
jumps: at its ends a step takes that a hair inside itself, at x ± η ẋ, so that it is that of the step's own side.

Source: [Hairer93] section I.14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from workbench.numerics.calculus import Traced


@dataclass(frozen=True, eq=False)
class Varied:
    """A loop beside its variation: `traced` steps both, `along` gives c' from the numbers p and p'.

    States that flow come first, x of the loop and then s of its variation; after them those that only jump, in the same order.
    """

    bare: Traced
    traced: Traced
    along: ca.Function

    def paired(self, x: np.ndarray, s: np.ndarray) -> np.ndarray:
        """One state of the loop with its variation."""
        m = self.bare.n_moving
        return np.concatenate([x[:m], s[:m], x[m:], s[m:]])

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where in a row of the integrator the loop's own row lies, and where its variation."""
        t = self.bare
        n = t.n_states
        q = t.n_powers
        m = t.log.size1_out(0)
        moving = np.arange(t.n_moving)
        held = np.arange(t.n_moving, n)
        own = [moving, held + t.n_moving, 2 * n + np.arange(q), 2 * (n + q) + np.arange(m)]
        other = [moving + t.n_moving, held + n, own[2] + q, own[3] + m]
        return np.concatenate(own), np.concatenate(other)


_made: dict[int, tuple[Traced, Varied]] = {}


def varied(traced: Traced) -> Varied:
    """The loop of a trace with its variation, made once."""
    if id(traced) not in _made:
        _made[id(traced)] = (traced, _varied(traced))
    return _made[id(traced)][1]


class _Pair:
    """Arguments (t, x, w, c) of the loop with its variation, and functions of the loop on them."""

    def __init__(self, traced: Traced) -> None:
        self.t = traced
        n = traced.n_states
        moving = traced.n_moving
        size = lambda i, copies, beside: copies * traced.flow.size1_in(i) + beside
        whole = [ca.SX.sym(name, size(i, *rest)) for i, (name, *rest) in enumerate(SIZES)]
        self.arguments = whole
        time, X, W, C = whole
        w = W.numel() // 2
        c = C.numel() // 2
        self.side = C[2 * c]
        self.own = [time, ca.vertcat(X[:moving], X[2 * moving : moving + n]), W[:w], C[:c]]
        self.other = [ca.vertcat(X[moving : 2 * moving], X[moving + n :]), W[w:], C[c : 2 * c]]

    def flow(self) -> list[ca.SX]:
        """The flow and its variation, which is taken at x + η ẋ."""
        m = self.t.n_moving
        n = self.t.n_states
        value, slope = self.of(self.t.flow)
        time, x, w, c = self.own
        beside = ca.vertcat(x[:m] + self.side * value[:m], x[m:])
        (slope,) = ca.substitute([slope], [x], [beside])
        return [value[:m], slope[:m], value[m:n], slope[m:n], value[n:], slope[n:]]

    def of(self, function: ca.Function) -> tuple[ca.SX, ca.SX]:
        """(value, variation) of one of the loop's functions."""
        given = [ca.SX.sym(function.name_in(i), function.size1_in(i)) for i in range(4)]
        value = ca.densify(function(*given))
        at = ca.vertcat(*given[1:])
        direction = ca.SX.sym("d", at.numel())
        slope = ca.densify(ca.jtimes(value, at, direction))
        into = [*given, direction]
        told = [*self.own, ca.vertcat(*self.other)]
        value, slope = ca.substitute([value, slope], into, told)
        return value, slope

    def states(self, function: ca.Function) -> list[ca.SX]:
        """Both, for a function that gives states, in the order of the pair's states."""
        value, slope = self.of(function)
        m = self.t.n_moving
        n = self.t.n_states
        return [value[:m], slope[:m], value[m:n], slope[m:n], value[n:], slope[n:]]

    def function(self, name: str, *parts: ca.SX) -> ca.Function:
        whole = ca.cse(ca.vertcat(*parts))
        return ca.Function(name, self.arguments, [whole], ["t", "x", "w", "c"], ["y"])


# Copies of each, and numbers beside them: η in c.
SIZES = (
    ("t", 1, 0),
    ("x", 2, 0),
    ("w", 2, 0),
    ("c", 2, 1),
)


def _varied(traced: Traced) -> Varied:
    pair = _Pair(traced)
    flow = pair.flow() if traced.guards.size1_out(0) else pair.states(traced.flow)
    stiff, _ = pair.of(traced.stiff)
    guards, _ = pair.of(traced.guards)
    out, _ = pair.of(traced.out)
    jumping = {
        name: pair.function(name, *pair.states(getattr(traced, name)))
        for name in ("jump", "release", "start")
    }
    made = replace(
        traced,
        live=(*traced.live, *(f"d {name}" for name in traced.live)),
        n_states=2 * traced.n_states,
        n_powers=2 * traced.n_powers,
        n_moving=2 * traced.n_moving,
        flow=pair.function("flow", *flow),
        motion=pair.function("motion", *flow[:2], *flow[4:]),
        log=pair.function("log", *pair.of(traced.log)),
        out=pair.function("out", out),
        guards=pair.function("guards", guards),
        stiff=pair.function("stiff", stiff, stiff),
        blocks=2 * traced.blocks,
        stiff_at=(*traced.stiff_at, *(i + traced.n_moving for i in traced.stiff_at)),
        project=_projected(pair),
        sided=pair.arguments[3].numel() - 1,
        **jumping,
    )
    return Varied(traced, made, _along(traced.prelude))


def _projected(pair: _Pair) -> ca.Function | None:
    project = pair.t.project
    return None if project is None else pair.function("project", *pair.states(project))


def _along(prelude: ca.Function) -> ca.Function:
    """(p, p') → c'."""
    p = ca.SX.sym("p", prelude.size1_in(0))
    d = ca.SX.sym("d", p.numel())
    return ca.Function("along", [p, d], [ca.densify(ca.jtimes(prelude(p), p, d))])


def constants(made: Varied, numbers: Sequence[float], moved: Sequence[float], c: Any) -> np.ndarray:
    """c and c' for numbers p of the loop that move as p' does, and room for η."""
    slope = np.array(made.along(numbers, moved)).ravel()
    return np.concatenate([c, slope, [0.0]])
