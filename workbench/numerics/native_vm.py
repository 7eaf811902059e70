"""driver.c without a compiler: the same steps as one graph, run over many samples in CasADi's virtual machine.

Rare branches (a kink, how often to double φ functions) are CasADi's switches, which evaluate only what is taken.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics import exponential, native


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
    """As `run` in driver.c, for a `native.Loop`."""
    asked = bool(jumping), n1, n2, F is not None, not every
    sample = _kept(loop, _Graph(loop, *asked).sample, *asked)
    t = (first + np.arange(n)) * T
    inputs = W if F is None else np.hstack([W, F.reshape(n, -1)])
    many, held = _many(loop, sample, n, np.array([h1, h2]), np.asarray(c))
    end, out = many(state, t[None, :], inputs.T, *held)
    out = np.array(out).T
    bad = np.flatnonzero(~np.isfinite(out[:, : loop.n_x]).all(axis=1))
    done = int(bad[0]) if len(bad) else n
    if rows is not None:
        kept = (
            out[:done][((first + np.arange(done)) % every) == 0]
            if every
            else out[:done].reshape(-1, loop.row)
        )
        rows.reshape(-1, loop.row)[: len(kept)] = kept
    state[:] = np.array(end)[:, -1] if done == n else out[done, : len(state)]
    return done


def _kept(loop: Any, make: Any, *key: Any) -> Any:
    if key not in loop.maps:
        loop.maps[key] = make()
    return loop.maps[key]


def _many(loop: Any, sample: Any, n: Any, *held: Any) -> Any:
    """`sample` over n samples, and its arguments that stay the same, once a sample: both are slow to make, so they are kept."""
    many = _kept(loop, lambda: sample.mapaccum("many", n) if n > 1 else sample, sample, n)
    given = (n, *(v.tobytes() for v in held))
    kept = loop.maps.get("held")  # read once: another thread may put its own there
    if kept is None or kept[0] != given:
        kept = loop.maps["held"] = given, [ca.DM(np.tile(v[:, None], (1, n))) for v in held]
    return many, kept[1]


class _Graph:
    """Functions that make up a sample; z is the state followed by the power integrals, V the inputs at a step's stages."""

    def __init__(
        self, loop: Any, jumping: bool, n1: int, n2: int, driven: bool, each_step: bool
    ) -> None:
        self.loop, self.traced = loop, loop.traced
        self.jumping, self.n1, self.n2 = jumping, n1, n2
        self.driven = driven and self.traced.flow_is_driven
        self.rows_given = driven
        self.each_step = each_step
        self.n_z, self.n_g = loop.n_x + loop.n_q, self.traced.guards.size1_out(0)

    def sample(self) -> ca.Function:
        """(z, t, inputs, (h1, h2), c) → (z at the next sample, row of the log, or one at the beginning of each step)."""
        f = self.traced
        nx = self.loop.n_x
        nw = self.loop.n_w
        S = len(native.OFFSETS)
        n = self.n1 + self.n2
        s = ca.MX.sym("s", self.n_z)
        t = ca.MX.sym("t")
        T = ca.MX.sym("h", 2)
        W = ca.MX.sym("W", nw * (1 + S * n if self.rows_given else 1))
        c = ca.MX.sym("c", f.flow.size1_in(3))
        z, w = s, W[:nw, 0]  # columns even when empty
        jumped = lambda jump, at: ca.vertcat(jump(at, z[:nx, 0], w, c), z[nx:, 0])
        if self.jumping:
            z = jumped(f.jump, t)

        def logged(at: Any, now: Any) -> Any:
            return ca.vertcat(z, f.log(at, z[:nx, 0], now, c))

        rows = [] if self.each_step else [logged(t, w)]
        advance = self.advance()
        for k in range(n):
            h = T[0] if k < self.n1 else T[1]
            at = t + k * T[0] if k < self.n1 else t + self.n1 * T[0] + (k - self.n1) * T[1]
            if self.n1 and k == self.n1:
                z = jumped(f.release, at)
            V = W[nw * (1 + S * k) : nw * (1 + S * (k + 1)), 0] if self.driven else w
            if self.each_step:
                rows.append(logged(at, V[:nw, 0] if self.driven and k else w))
            z = advance(at, h, z, V, c)
            if f.project is not None:
                z = jumped(f.project, at + h)
        return ca.Function("sample", [s, t, W, T, c], [z, ca.vertcat(*rows)])

    # ---- one step ---------------------------------------------------------------------------------------------------
    def symbols(self) -> list[ca.MX]:
        """t, h, z, V, c"""
        inputs = self.loop.n_w * (len(native.OFFSETS) if self.driven else 1)
        return [
            ca.MX.sym("t"),
            ca.MX.sym("h"),
            ca.MX.sym("z", self.n_z),
            ca.MX.sym("V", inputs),
            ca.MX.sym("c", self.traced.flow.size1_in(3)),
        ]

    def inputs(self, V: Any) -> list:
        """At the beginning, the middle and the end of a step."""
        nw = self.loop.n_w
        return [
            V[i * nw : (i + 1) * nw, 0] if self.driven else V for i in range(len(native.OFFSETS))
        ]

    def moved(self, z: Vector, step: Any) -> Any:
        """z with its moving states and the integrals advanced."""
        m = self.traced.n_moving
        nx = self.loop.n_x
        return ca.vertcat(
            z[:m, 0] + step[:m, 0], z[m:nx, 0], z[nx:, 0] + step[m : m + self.loop.n_q, 0]
        )

    def step(self) -> ca.Function:
        """(t, h, z, V, c) → (z after the step, guards before, guards at the last stage)."""
        t, h, z, V, c = self.symbols()
        f = self.loop.flow
        nx = self.loop.n_x
        w = self.inputs(V)
        flow = lambda i, y: f(t + native.OFFSETS[i] * h, y[:nx, 0], w[i], c)
        if self.loop.first is not None:
            end, first, last = self.exponential(h, z, flow, self.loop.first(t, z[:nx, 0], w[0], c))
        else:
            k1 = first = flow(0, z)
            k2 = flow(1, self.moved(z, h / 2 * k1))
            k3 = flow(1, self.moved(z, h / 2 * k2))
            k4 = last = flow(2, self.moved(z, h * k3))
            end = self.moved(z, h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        m = self.traced.n_moving + self.loop.n_q
        guards = slice(m, m + self.n_g)
        return ca.Function("step", [t, h, z, V, c], [end, first[guards, 0], last[guards, 0]])

    def exponential(self, h: Scalar, z: Vector, flow: Any, first: Any) -> Any:
        """The step of `workbench.numerics.exponential`, from the flow and J at its beginning: (z after it, flow at both ends)."""
        first, J = ca.vertsplit(first, [0, self.loop.flow.size1_out(0), first.numel()])
        blocks = []
        at = 0
        entry = 0
        for m in self.traced.blocks:
            block = J[entry : entry + m * m, 0]
            found = ca.vertsplit(exponential.weights_of(m)(h * block), m * m)
            K = {name: ca.reshape(k, m, m) for name, k in zip(exponential.WEIGHTS, found)}
            blocks.append((list(self.traced.stiff_at[at : at + m]), ca.reshape(block, m, m), K))
            at = at + m
            entry = entry + m * m

        def at_end(*terms: Any) -> Any:
            step = sum(exponential.PLAIN[name] * v for name, v in terms)
            for own, _, K in blocks:
                step[own] = sum(K[name] @ v[own] for name, v in terms)
            return self.moved(z, h * step)

        def beyond(i: Any, y: Vector) -> Any:
            f = flow(i, y)
            D = f - first
            for own, block, _ in blocks:
                D[own] -= block @ (y[own] - z[own])
            return D, f

        D_2, _ = beyond(1, at_end(("α", first)))
        D_3, _ = beyond(1, at_end(("α", first), ("β", D_2)))
        D_4, last = beyond(2, at_end(("γ", first), ("δ", D_2 + D_3)))
        D_5, _ = beyond(1, at_end(("α", first), ("ε", D_2 + D_3), ("ζ", D_4)))
        return at_end(("γ", first), ("η", D_4), ("θ", D_5)), first, last

    # ---- kinks ------------------------------------------------------------------------------------------------------
    def advance(self) -> ca.Function:
        """(t, h, z, V, c) → z after a step that ends on kinks on its way."""
        step = self.step()
        own = self.symbols()
        if not self.n_g:
            return ca.Function("advance", own, [step(*own)[0]])
        rest = self.rest(step, native.KINKS)
        return ca.Function("advance", own, [rest(*own, 0.0, ca.DM.zeros(self.n_g))])

    def rest(self, step: Any, left: int) -> ca.Function:
        """(t, h, z, V, c, fraction done, guards passed) → z after the step, ending on `left` more kinks at most."""
        own = self.symbols()
        a = ca.MX.sym("a")
        passed = ca.MX.sym("passed", self.n_g)
        z, g_0, g_1 = self.part(step, own, a, 1.0)
        if left:
            theirs = [
                *own,
                a,
                passed,
                ca.MX.sym("end", self.n_z),
                *(ca.MX.sym(n, self.n_g) for n in ("g_0", "g_1")),
            ]
            through = ca.Function("through", theirs, [self.through(step, left, *theirs)])
            past = ca.Function("past", theirs, [theirs[7]])
            crossed = self.crossing(g_0, g_1, passed) <= 1
            z = ca.Function.if_else("kink", through, past)(crossed, *own, a, passed, z, g_0, g_1)
        return ca.Function("rest", [*own, a, passed], [z])

    def through(
        self,
        step: Any,
        left: Any,
        t: Scalar,
        h: Scalar,
        z: Vector,
        V: Any,
        c: Any,
        done: Any,
        passed: Any,
        _: Any,
        g_0: Any,
        g_1: Any,
    ) -> Any:
        """z after the step: up to the first kink by false position, then the rest."""
        own = [t, h, z, V, c]
        low = 0.0
        high = 1.0
        g_low = g_0
        g_high = g_1
        at = self.crossing(g_0, g_1, passed)
        for look in range(native.LOOKS):
            to = done + at * (1 - done)
            end, _, g = self.part(step, own, done, to)
            if look + 1 < native.LOOKS:
                over = self.crossing(g_0, g, passed) <= 1
                low = ca.if_else(over, low, at)
                g_low = ca.if_else(over, g_low, g)
                high = ca.if_else(over, at, high)
                g_high = ca.if_else(over, g, g_high)
                share = self.crossing(g_low, g_high, passed)
                at = low + (high - low) * ca.if_else(share > 1, 0, share)
        passed = ca.fmax(passed, ca.fabs(g) <= native.PASSED * ca.fabs(g_0 - g_1))
        return self.rest(step, left - 1)(t, h, end, V, c, to, passed)

    def crossing(self, g_0: Any, g_1: Any, passed: Any) -> Any:
        """First part of a step at which a guard changes its sign, on a straight line; 2 where none does."""
        changes = ca.logic_and(g_0 * g_1 < 0, ca.logic_not(passed))
        return ca.mmin(ca.vertcat(2, ca.if_else(changes, g_0 / (g_0 - g_1), 2)))

    def part(self, step: Any, own: Any, a: Any, b: Any) -> Any:
        """`step` from fraction a of its length to b, with inputs on the parabola through its stages."""
        t, h, z, V, c = own
        if self.driven:
            w = self.inputs(V)
            rows = []
            for s in (a, (a + b) / 2, b):
                rows.append(
                    (1 - s) * (1 - 2 * s) * w[0] + 4 * s * (1 - s) * w[1] + s * (2 * s - 1) * w[2]
                )
            V = ca.vertcat(*rows)
        return step(t + a * h, (b - a) * h, z, V, c)
