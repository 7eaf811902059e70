"""The functions of `plants.multibody.penalty` as traced text; equations there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from plants.multibody import acting, linear, loops, tree
from workbench.contract.system import Signal, System
from workbench.numerics.calculus import jacobian_columns


@final
@dataclass(frozen=True)
class Text(System):
    """One of the method's functions of a mechanism as a System, so that it can be traced: `rhs` is the function.

    residual   (δ, y; z_k, ż_k, z̈_k, y_k, ẏ_k, λ, u, h, α) → f, tangent by columns, Φ, z, ż, z̈, ẏ
    metric     (z, ż, y; …) → W + (h²/4) Φ_zᵀ α Φ_z by columns, W by columns
    bias       (z, ż, y; …) → (h²/4) α Φ_zᵀ Φ̇_z ż
    """

    mechanism: Any
    which: str

    @property
    def sizes(self) -> dict[str, int]:
        m = self.mechanism
        ny, rows = len(m.drive_states), sum(loops.ROWS[loop.joint] for loop in m.loops)
        many = {"z": m.tree.n_z, "dz": m.tree.n_v, "ddz": m.tree.n_v, "y": ny, "dy": ny, "λ": rows}
        return {**many, "u": len(m.inputs), "h": 1, "α": 1}

    @property
    def states(self):
        m = self.mechanism
        first = m.tree.n_v if self.which == "residual" else m.tree.n_z + m.tree.n_v
        return tuple(Signal(f"X{i}") for i in range(first + len(m.drive_states)))

    @property
    def inputs(self):
        return tuple(Signal(f"{name}{i}") for name, n in self.sizes.items() for i in range(n))

    def initial(self):
        return [0.0] * len(self.states)

    def given(self, w) -> dict[str, list]:
        found, at = {}, 0
        for name, n in self.sizes.items():
            found[name] = list(w[at : at + n])
            at += n
        return found

    def rhs(self, t, x, w):
        return getattr(self, self.which)(x, self.given(w))

    def residual(self, x, w):
        f, Φ, new = self._stepped(x, w)
        columns = jacobian_columns(lambda X: self._stepped(X, w)[0], x)
        return [*f, *(e for column in columns for e in column), *Φ, *new]

    def _stepped(self, x, w):
        m, (h,), (α,) = self.mechanism, w["h"], w["α"]
        n = m.tree.n_v
        δ, y = list(x[:n]), list(x[n:])
        z = m.moved(w["z"], δ)
        rates = [2 / h * d - v for d, v in zip(δ, w["dz"])]
        accelerations = [2 / h * (v - old) - a for v, old, a in zip(rates, w["dz"], w["ddz"])]
        slopes = [2 / h * (a - b) - r for a, b, r in zip(y, w["y"], w["dy"])]
        motion, pulls, own = self._pulled(z, rates, y, w["u"])
        M, Q = tree.mass_matrix(m.tree, own, motion.b), m.loads(motion, own, rates, pulls)
        rows = m.rows(motion)
        Φ = [row.value for row in rows]
        G = loops.jacobian(m.tree, rows, motion.b)
        held = linear.transposed_times(G, [α * a + b for a, b in zip(Φ, w["λ"])], n)
        flows = acting.rates(m, pulls, acting.shared_out(m, y), w["u"])
        f = [h * h / 4 * (a + b - q) for a, b, q in zip(linear.times(M, accelerations), held, Q)]
        return (
            [*f, *(h / 2 * (a - b) for a, b in zip(slopes, flows))],
            Φ,
            [*z, *rates, *accelerations, *slopes],
        )

    def _pulled(self, z, rates, y, u):
        m = self.mechanism
        motion, parts = m.moving(z, rates), acting.shared_out(m, y)
        return motion, m.pulls(motion, z, rates, parts, u), tree.inertias(m.bodies, motion)

    def metric(self, x, w):
        m, (h,), (α,) = self.mechanism, w["h"], w["α"]
        n, nz = m.tree.n_v, m.tree.n_z
        z, rates, y = list(x[:nz]), list(x[nz : nz + n]), list(x[nz + n :])

        def loads(X):
            here, speed = m.moved(z, X[:n]), X[n:]
            motion, pulls, own = self._pulled(here, speed, y, w["u"])
            return m.loads(motion, own, speed, pulls)

        slopes = jacobian_columns(loads, [*[0.0 * v for v in rates], *rates])
        motion = m.moving(z, None)
        M = tree.mass_matrix(m.tree, tree.inertias(m.bodies, motion), motion.b)
        G = loops.jacobian(m.tree, m.rows(motion), motion.b)
        W = [
            [M[i][j] - h / 2 * slopes[n + j][i] - h * h / 4 * slopes[j][i] for i in range(n)]
            for j in range(n)
        ]
        stiff = [
            [
                h * h / 4 * α * linear.times([[g[i] for g in G]], [g[j] for g in G])[0]
                for i in range(n)
            ]
            for j in range(n)
        ]
        return [
            *(a + b for c, d in zip(W, stiff) for a, b in zip(c, d)),
            *(e for c in W for e in c),
        ]

    def bias(self, x, w):
        m, (h,), (α,) = self.mechanism, w["h"], w["α"]
        n, nz = m.tree.n_v, m.tree.n_z
        motion = m.moving(list(x[:nz]), list(x[nz : nz + n]))
        rows = m.rows(motion)
        G = loops.jacobian(m.tree, rows, motion.b)
        return [
            h * h / 4 * α * v for v in linear.transposed_times(G, [row.bias for row in rows], n)
        ]
