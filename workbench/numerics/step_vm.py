"""One step of driver.c as a graph of CasADi: RK4, or the exponential method where the system names stiff states."""

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
