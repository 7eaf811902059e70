"""The functions of `integrator` as traced text; equations there."""

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
        states = len(m.drive_states)
        rows = sum(loops.ROWS[loop.joint] for loop in m.loops)
        return {
            "z": m.tree.n_z,
            "dz": m.tree.n_v,
            "ddz": m.tree.n_v,
            "y": states,
            "dy": states,
            "λ": rows,
            "u": len(m.inputs),
            "h": 1,
            "α": 1,
        }

    @property
    def states(self):
        m = self.mechanism
        moving = m.tree.n_v
        if self.which != "residual":
            moving += m.tree.n_z
        return tuple(Signal(f"X{i}") for i in range(moving + len(m.drive_states)))

    @property
    def inputs(self):
        return tuple(Signal(f"{name}{i}") for name, n in self.sizes.items() for i in range(n))

    def initial(self):
        return [0.0] * len(self.states)

    def given(self, w) -> dict[str, list]:
        found = {}
        at = 0
        for name, n in self.sizes.items():
            found[name] = list(w[at : at + n])
            at += n
        return found

    def rhs(self, t, x, w):
        return getattr(self, self.which)(x, self.given(w))

    def residual(self, x, w):
        f, Φ, new = self._stepped(x, w)
        columns = jacobian_columns(lambda X: self._stepped(X, w)[0], x)
        return [*f, *_flat(columns), *Φ, *new]

    def _stepped(self, x, w):
        m = self.mechanism
        n = m.tree.n_v
        (h,) = w["h"]
        (α,) = w["α"]
        δ = list(x[:n])
        y = list(x[n:])
        z = m.moved(w["z"], δ)
        rates = [2 / h * d - v for d, v in zip(δ, w["dz"])]
        accelerations = _trapezoidal(h, rates, w["dz"], w["ddz"])
        slopes = _trapezoidal(h, y, w["y"], w["dy"])
        motion, pulls, own = self._pulled(z, rates, y, w["u"])
        M = tree.mass_matrix(m.tree, own, motion.b)
        Q = m.loads(motion, own, rates, pulls)
        rows = m.rows(motion)
        Φ = [row.value for row in rows]
        G = loops.jacobian(m.tree, rows, motion.b)
        multipliers = [α * a + b for a, b in zip(Φ, w["λ"])]
        held = linear.transposed_times(G, multipliers, n)
        inertial = linear.times(M, accelerations)
        flows = acting.rates(m, pulls, acting.shared_out(m, y), w["u"])
        f = [h * h / 4 * (a + b - q) for a, b, q in zip(inertial, held, Q)]
        g = [h / 2 * (a - b) for a, b in zip(slopes, flows)]
        return [*f, *g], Φ, [*z, *rates, *accelerations, *slopes]

    def _pulled(self, z, rates, y, u):
        m = self.mechanism
        motion = m.moving(z, rates)
        pulls = m.pulls(motion, z, rates, acting.shared_out(m, y), u)
        return motion, pulls, tree.inertias(m.bodies, motion)

    def _parted(self, x) -> tuple[list, list, list]:
        """z, ż, y of the states of `metric` and `bias`."""
        first = self.mechanism.tree.n_z
        last = first + self.mechanism.tree.n_v
        return list(x[:first]), list(x[first:last]), list(x[last:])

    def metric(self, x, w):
        m = self.mechanism
        n = m.tree.n_v
        (h,) = w["h"]
        (α,) = w["α"]
        z, rates, y = self._parted(x)

        def loads(X):
            speed = X[n:]
            here = m.moved(z, X[:n])
            motion, pulls, own = self._pulled(here, speed, y, w["u"])
            return m.loads(motion, own, speed, pulls)

        still = [0.0 * v for v in rates]
        slopes = jacobian_columns(loads, [*still, *rates])
        motion = m.moving(z, None)
        M = tree.mass_matrix(m.tree, tree.inertias(m.bodies, motion), motion.b)
        G = loops.jacobian(m.tree, m.rows(motion), motion.b)
        of_joint = [[row[i] for row in G] for i in range(n)]
        W = []
        stiff = []
        for j in range(n):
            by_place = slopes[j]
            by_rate = slopes[n + j]
            W += [M[i][j] - h / 2 * by_rate[i] - h * h / 4 * by_place[i] for i in range(n)]
            stiff += [h * h / 4 * α * product for product in linear.times(of_joint, of_joint[j])]
        return [*(a + b for a, b in zip(W, stiff)), *W]

    def bias(self, x, w):
        m = self.mechanism
        (h,) = w["h"]
        (α,) = w["α"]
        z, rates, _ = self._parted(x)
        motion = m.moving(z, rates)
        rows = m.rows(motion)
        G = loops.jacobian(m.tree, rows, motion.b)
        biases = [row.bias for row in rows]
        pushed = linear.transposed_times(G, biases, m.tree.n_v)
        return [h * h / 4 * α * v for v in pushed]


def _trapezoidal(h, new, old, rate) -> list:
    """Rates at the end of a step of the trapezoidal rule: 2/h (new − old) − rate."""
    return [2 / h * (a - b) - r for a, b, r in zip(new, old, rate)]


def _flat(columns) -> list:
    """All entries, column by column."""
    return [entry for column in columns for entry in column]
