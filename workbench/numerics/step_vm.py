"""One step of driver.c as a graph of CasADi: RK4, or the exponential method where states are stiff."""

from __future__ import annotations

from typing import Any

import casadi as ca

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics import exponential
from workbench.numerics.stepping import OFFSETS


class Steps:
    """Functions of one step; z is the state followed by the power integrals, V the inputs at a step's stages."""

    def __init__(self, loop: Any, driven: bool) -> None:
        self.loop, self.traced = loop, loop.traced
        self.driven = driven and self.traced.flow_is_driven
        self.n_z, self.n_g = loop.n_x + loop.n_q, self.traced.guards.size1_out(0)

    def symbols(self) -> list[ca.MX]:
        """t, h, z, V, c"""
        inputs = self.loop.n_w * (len(OFFSETS) if self.driven else 1)
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
        return [V[i * nw : (i + 1) * nw, 0] if self.driven else V for i in range(len(OFFSETS))]

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
        flow = lambda i, y: f(t + OFFSETS[i] * h, y[:nx, 0], w[i], c)
        if self.loop.first is None:
            first = flow(0, z)
            end, last = self.classical(h, z, flow, first)
        else:
            whole = self.loop.first(t, z[:nx, 0], w[0], c)
            first, J = ca.vertsplit(whole, [0, self.loop.flow.size1_out(0), whole.numel()])
            blocks = self.blocks(J)
            slow = ca.vertcat(*self.classical(h, z, flow, first))
            stiff = ca.vertcat(*self.exponential(h, z, flow, first, blocks))
            easy = [h <= exponential.SHORT, *(exponential.gentle(h * block) for _, block in blocks)]
            taken = ca.if_else(ca.mmin(ca.vertcat(*easy)), slow, stiff, True)
            end, last = ca.vertsplit(taken, [0, self.n_z, taken.numel()])
        m = self.traced.n_moving + self.loop.n_q
        guards = slice(m, m + self.n_g)
        return ca.Function("step", [t, h, z, V, c], [end, first[guards, 0], last[guards, 0]])

    def classical(self, h: Scalar, z: Vector, flow: Any, first: Any) -> Any:
        """The step of Runge and Kutta from the flow at its beginning: (z after it, flow at its last stage)."""
        k2 = flow(1, self.moved(z, h / 2 * first))
        k3 = flow(1, self.moved(z, h / 2 * k2))
        k4 = flow(2, self.moved(z, h * k3))
        return self.moved(z, h / 6 * (first + 2 * k2 + 2 * k3 + k4)), k4

    def blocks(self, J: Any) -> list[tuple[list[int], Any]]:
        """Stiff blocks: (places of their states, their part of the Jacobian)."""
        found = []
        at = 0
        entry = 0
        for m in self.traced.blocks:
            block = ca.reshape(J[entry : entry + m * m, 0], m, m)
            found.append((list(self.traced.stiff_at[at : at + m]), block))
            at = at + m
            entry = entry + m * m
        return found

    def exponential(self, h: Scalar, z: Vector, flow: Any, first: Any, stiff: list) -> Any:
        """The step of `workbench.numerics.exponential` from the flow at its beginning: (z after it, flow at its end's stage)."""
        blocks = []
        for own, block in stiff:
            m = len(own)
            found = ca.vertsplit(exponential.weights_of(m)(h * ca.vec(block)), m * m)
            K = {name: ca.reshape(k, m, m) for name, k in zip(exponential.WEIGHTS, found)}
            blocks.append((own, block, K))

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
        return at_end(("γ", first), ("η", D_4), ("θ", D_5)), last
