"""How a function V of the state moves along a loop, as expressions with rigorous bounds: V̇, or ΔV over a sample.

    continuous    V̇ = ∇V · f(x)
    sampled       ΔV = V(J(x)) − V(x) + Σ_{k<p} T^k/k! L_f^k V(J(x)) + T^p/p! L_f^p V(ξ),   ξ on the path of the sample

J is what happens at the sample instant (the new command; a release later than that is not covered); the path is enclosed
by Picard's operator. Where V or f has a kink or a step on the path, p = 1. A loop that only jumps has f = 0. Numbers of
the loop (parameters, constants) are symbols held at their values, so no derivative is rounded before it is enclosed. Every
entry of f and J may be off by a share of itself (`data_margin`): what the last digits decide is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import factorial

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import System, find, names
from workbench.numerics.calculus import column, symbols, trace
from workbench.numerics.intervals import box
from workbench.verification.curvature import Curvature
from workbench.verification.data_margin import NEUTRAL
from workbench.verification.lifting import lift
from workbench.verification.paving import Bound

ORDER = 3  # of the Taylor expansion over a sample


class Motion:
    """V and its motion over z = (states of the box, inputs that vary, parameters that vary).

    inputs: numbers (others at their default), or (low, high) for any course between; parameters, by path: (low, high).
    Raises InputError where the flow depends on time, or the motion on a state that is not in the box.
    """

    def __init__(
        self,
        system: System,
        V: Callable[[Sequence], object],
        states: Sequence[str],
        inputs: Mapping[str, object] | None = None,
        parameters: Mapping[str, tuple[float, float]] | None = None,
    ):
        inputs = dict(inputs or {})
        parameters = dict(parameters or {})
        _fits(system, inputs)
        t = trace(system, tuple(inputs))
        if t.flow_is_timed:
            raise InputError(
                "the loop depends on time explicitly",
                key="certificate",
                mend="leave the time-dependent part out, or make it an input with bounds",
            )
        self._name(system, states, inputs, parameters)
        self.period = None if system.period is None else float(system.period)
        self.flows = t.n_moving > 0
        n = t.n_states
        x, xs = symbols("x", n)
        w, c, vary, fixed, values = _numbers(system, t, inputs, parameters)

        def at(name, y):
            return getattr(t, name)(0.0, y, w, c)[:n]

        η = ca.SX.sym("η", 2 * n)  # relative changes of the flow and of what jumps
        T = ca.SX.sym("T")
        fixed = ca.vertcat(fixed, η)
        jumped = x if self.period is None else at("release", at("jump", x))
        base = ca.vertcat(x, vary, fixed)
        supplied_value = column([V([xs[i] for i in self.at])])
        whole = lift(base, ca.vertcat(supplied_value, at("flow", x), jumped))
        self.fixed = ca.vertcat(fixed, whole.κ, T)
        self.η = slice(len(values), len(values) + η.numel())
        numbers = [*values, *[0.0] * η.numel(), *whole.constants, self.period or 0.0]
        self.values = [box(v, v) for v in numbers]
        self.bear(NEUTRAL)
        self.x = x
        self.vary = vary
        self.z = ca.vertcat(*[xs[i] for i in self.at], vary)
        value = whole.expression[0]
        flow = whole.expression[1 : n + 1] * (1 + η[:n])
        self.V = self._bound(value)
        if self.period is None:
            self._move_on(value, flow)
            return
        self._sample(value, flow, _changed(whole.expression[n + 1 :], x, η[n:]), T)
        self.edges = lift(base, ca.vertcat(supplied_value, at("flow", x)))

    def _name(self, system: System, states: Sequence[str], inputs: dict, parameters: dict) -> None:
        """Which states are in the box, which inputs are held, and what varies between which bounds."""
        self.names = names(system.states)
        self.at = [
            self.names.index(find(system.states, n, "certificate, box").name) for n in states
        ]
        defaults = system.defaults()
        held = {s.name: inputs.get(s.name, defaults.get(s.name, 0.0)) for s in system.inputs}
        self.held = {name: float(v) for name, v in held.items() if not np.ndim(v)}
        between = {name: v for name, v in inputs.items() if np.ndim(v)}
        self.varying = (*between, *parameters)
        self.ranges = [tuple(map(float, v)) for v in (*between.values(), *parameters.values())]

    def _move_on(self, value: ca.SX, flow: ca.SX) -> None:
        """V̇ of a loop in continuous time."""
        fall = ca.jtimes(value, self.x, flow)
        self.fall = self._known(fall)
        own = (self.z, len(self.at))
        self.curved = [Curvature(*own, part, self.fixed, self.values) for part in (value, fall)]

    def _sample(self, value: ca.SX, flow: ca.SX, jumped: ca.SX, T: ca.SX) -> None:
        """ΔV of a sampled loop: what jumps, then the Taylor expansion along the flow."""
        x = self.x
        self.curved = None
        slopes = [value]
        for _ in range(ORDER if self.flows else 0):
            slopes.append(ca.jtimes(slopes[-1], x, flow))

        def after(expression):
            return ca.substitute([expression], [x], [jumped])[0]

        parts = [T**k / factorial(k) * after(d) for k, d in enumerate(slopes[:ORDER]) if k]
        self.fall = self._known(after(value) - value + sum(parts, ca.SX(0)))
        self._known(jumped[self.at])
        n = x.numel()
        self.jump = [None if self._outside(jumped[i]) else self._bound(jumped[i]) for i in range(n)]
        along = ca.vertcat(x, self.vary)
        self.flow = [Bound(along, flow[i], self.fixed, self.values) for i in range(n)]
        self.rest = None
        if self.flows:
            self.rest = [Bound(along, slopes[k], self.fixed, self.values) for k in (1, ORDER)]
        self.leap = self._known(after(value) - value)

    def bear(self, change: float) -> None:
        """From now on bounds hold after any relative change of ẋ and of x⁺, entry by entry, of up to so much."""
        self.values[self.η] = [box(-change, change)] * (self.η.stop - self.η.start)

    def _bound(self, e: ca.SX) -> Bound:
        return Bound(self.z, e, self.fixed, self.values)

    def _outside(self, e: ca.SX) -> list[int]:
        return [
            i for i in range(self.x.numel()) if i not in self.at and ca.depends_on(e, self.x[i])
        ]

    def _known(self, e: ca.SX) -> Bound | None:
        """The bound of what may depend on states of the box only."""
        left = self._outside(e)
        if left:
            gone = ", ".join(self.names[i] for i in left)
            raise InputError(
                f"V moves with {gone}, which the box gives no range",
                key="box",
                mend="give every state that matters a range in the box",
            )
        return self._bound(e) if e.numel() == 1 else None

    def change(self, low, high):
        """(lower, upper, weights) of V̇ or ΔV on boxes of z, and bounds of the states on their way (None: continuous)."""
        a, b, weights = self.fall.over(low, high)
        if self.period is None:
            return a, b, weights, None
        r_low, r_high, way, smooth = self._path(low, high)
        if not smooth.all():
            down, above, _ = self.leap.over(low, high)
            a = np.where(smooth, a, down)
            b = np.where(smooth, b, above)
        with np.errstate(all="ignore"):
            a = np.nextafter(a + r_low, -np.inf)
            b = np.nextafter(b + r_high, np.inf)
        return np.where(np.isnan(a), -np.inf, a), np.where(np.isnan(b), np.inf, b), weights, way

    def _path(self, low, high):
        """(bounds of the remainder of ΔV, bounds of the box's states over the sample, whether it is that of order p)."""
        n = len(low)
        extra = slice(len(self.at), None)
        nothing = (np.full(n, -np.inf), np.full(n, np.inf))
        start = [b.over(low, high)[:2] if b else nothing for b in self.jump]
        X = np.array([s[0] for s in start]).T, np.array([s[1] for s in start]).T
        if not self.flows:
            return np.zeros(n), np.zeros(n), (X[0][:, self.at], X[1][:, self.at]), np.ones(n, bool)
        wide = lambda B: (np.hstack([B[0], low[:, extra]]), np.hstack([B[1], high[:, extra]]))
        B = self._picard(X, lambda B: [f.plain(*wide(B))[:2] for f in self.flow])
        smooth = self._smooth(*wide(B))
        (a1, b1, _), (a, b, _) = (g.plain(*wide(B)) for g in self.rest)
        with np.errstate(all="ignore"):
            T = self.period * (1 + 1e-15)
            high_T = self.period**ORDER / factorial(ORDER) * (1 + 1e-14)
            a = np.where(
                smooth,
                np.minimum(a, 0) * high_T,
                np.minimum(a1 * T, a1 * self.period * (1 - 1e-15)),
            )
            b = np.where(
                smooth,
                np.maximum(b, 0) * high_T,
                np.maximum(b1 * T, b1 * self.period * (1 - 1e-15)),
            )
        return a, b, (B[0][:, self.at], B[1][:, self.at]), smooth

    def _smooth(self, low, high) -> np.ndarray:
        """Whether V and f have neither kinks nor steps on the boxes (of all states and what varies)."""
        own = self.edges
        n = len(low)
        marks = own.steps + own.kinks
        if not marks:
            return np.ones(n, bool)
        f = own.function(ca.vertcat(*marks))
        held = self.values[: own.x.numel() - low.shape[1]]
        found = own.enclose(f, [*(box(low[:, i], high[:, i]) for i in range(low.shape[1])), *held])
        return np.all([np.broadcast_to(e.low == e.high, (n,)) for e in found], axis=0)

    def _picard(self, X, flow):
        """B ⊇ X + [0, T] f(B): then every path from X stays in B for the whole sample. ±∞ where none was found."""

        def image(B):
            slopes = flow(B)
            with np.errstate(all="ignore"):
                down, above = (np.array([s[i] for s in slopes]).T * self.period for i in (0, 1))
                return (
                    np.nextafter(X[0] + np.minimum(0, down) * (1 + 1e-14), -np.inf),
                    np.nextafter(X[1] + np.maximum(0, above) * (1 + 1e-14), np.inf),
                )

        (down, above), B, ok = image(X), X, np.zeros(len(X[0]), bool)
        for _ in range(8):
            with np.errstate(all="ignore"):
                room = 0.2 * np.maximum(above - X[1], X[0] - down) + 1e-12 * (1 + np.abs(above))
                B = tuple(
                    np.where(ok[:, None], old, new)
                    for old, new in zip(B, (down - room, above + room))
                )
                down, above = image(B)
            ok |= ((down >= B[0]) & (above <= B[1])).all(axis=1)
            if ok.all():
                break
        for _ in range(2):  # an enclosure of all paths gives a narrower one
            down, above = image(B)
            B = np.maximum(B[0], down), np.minimum(B[1], above)
        return tuple(np.where(ok[:, None], b, e) for b, e in zip(B, (-np.inf, np.inf)))


def _changed(jumped: ca.SX, x: ca.SX, η: ca.SX) -> ca.SX:
    """What jumps, every entry off by a share of itself; an entry that stays is exact."""
    found = []
    for i in range(x.numel()):
        stays = jumped[i].element_hash() == x[i].element_hash()
        found.append(jumped[i] if stays else jumped[i] * (1 + η[i]))
    return ca.vertcat(*found)


def _fits(system: System, inputs: Mapping) -> None:
    if system.hosted:
        raise InputError(
            "the loop's controller is called from Python and has no expression",
            key="certificate",
            mend="a supplied V needs a law written as an expression",
        )
    if system.period is not None and system.lag:
        raise InputError(
            "a command released between samples is not covered by a supplied certificate",
            key="certificate",
            mend="take the delay out, or a whole number of samples",
        )
    for name in inputs:
        find(system.inputs, name, "certificate, inputs")


def _numbers(system, t, inputs: Mapping, parameters: Mapping):
    """(w, c as expressions; symbols that vary; symbols held, and at which values)."""
    held = []
    values = []
    vary = []

    def symbol(name, value):
        s = ca.SX.sym(name)
        if value is None:
            vary.append(s)
        else:
            held.append(s)
            values.append(float(value))
        return s

    w = [symbol(n, None if np.ndim(v) else v) for n, v in inputs.items()]
    for path in parameters:
        if path not in t.paths:
            raise InputError(
                f"no parameter {path!r}", key="parameters", mend=f"such as {', '.join(t.paths[:8])}"
            )
    if parameters:
        own = {leaf.path: leaf.value for leaf in leaves(system)}
        c = t.prelude(
            column([symbol(path, None if path in parameters else own[path]) for path in t.paths])
        )
        order = [path for path in t.paths if path in parameters]
        tail = vary[len(vary) - len(order) :]
        vary[len(vary) - len(order) :] = [tail[order.index(path)] for path in parameters]
    else:
        c = column([symbol(f"c{i}", v) for i, v in enumerate(t.constants(system))])
    stack = lambda e: ca.vertcat(*e) if e else ca.SX(0, 1)
    return column(w), c, stack(vary), stack(held), values
