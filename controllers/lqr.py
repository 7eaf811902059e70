"""Linear–quadratic regulators: the gain, with its Riccati solution re-checked, and the law that uses it.

    x⁺ = A x + B u,   Σ xᵀQx + 2 xᵀS u + uᵀR u,   u = −K x,   K = (R + BᵀPB)⁻¹(BᵀPA + Sᵀ)
    P = AᵀPA − (AᵀPB + S)K + Q

Source: [AstromWittenmark97] chapter 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from controllers.riccati import riccati
from workbench.contract.errors import InputError, miscounted
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Controller, Signal, System, controls, find, names
from workbench.run.targets import target_name
from workbench.verification.linear.sampled_data import sampled
from workbench.verification.linear.systems import LinearSystem


def target_map(A, B, C, right) -> tuple[np.ndarray, float]:
    """(M, residual): M maps parameters p to a steady state, (x_s; u_s) = M p.

        x_s = A x_s + B u_s + right_x p,   C x_s = right_y p

    A (n×n), B (n×m), C (q×n), right (n+q)×k, M (n+m)×k: the smallest solution where there are several. residual: relative;
    above about 1e-8 where no steady state gives an output its wanted value.
    """
    n = len(A)
    q = len(C)
    K = np.block([[np.eye(n) - A, -B], [C, np.zeros((q, B.shape[1]))]])
    rows = np.abs(K).max(axis=1)
    K = K / rows[:, None]
    right = right / rows[:, None]
    columns = np.abs(K).max(axis=0)
    columns = np.where(columns > 0, columns, 1.0)
    M = np.linalg.lstsq(K / columns, right, rcond=1e-11)[0]
    residual = np.abs(K / columns @ M - right).max(axis=0) / np.maximum(
        np.abs(right).max(axis=0), 1e-300
    )
    return M / columns[:, None], float(residual.max(initial=0.0))


@final
@dataclass(frozen=True)
class LQR(Controller):
    """State feedback on the measured states, sampled every T_s, with integral action on the tracked outputs.

        u = u_0 + F (r − y_0) − K (x − x_0) − K_i ζ,   ζ⁺ = ζ + (y − r)   (ζ⁺ = ζ while the command is at its limit)

    model   the plant as the controller knows it; every state must be measured by name (else use MPC with an Observer)
    K, K_i, F   gains row by row, one row a command; design them with `LQR.design`
    tracked names of the outputs that follow references "…_d"
    x_0, y_0, u_0   the point the model was linearised at
    Raises ValueError for gains of the wrong length, InputError for states that are not measured.
    """

    model: System
    K: Annotated[tuple[float, ...], Unit("1"), "state gains, row by row"]
    F: Annotated[tuple[float, ...], Unit("1"), "gains from references, row by row"]
    K_i: Annotated[
        tuple[float, ...],
        Unit("1"),
        "gains of the summed errors, row by row; none: no integral action",
    ]
    tracked: tuple[str, ...]
    x_0: Annotated[tuple[float, ...], Unit("1"), "states at the operating point"]
    y_0: Annotated[tuple[float, ...], Unit("1"), "tracked outputs there"]
    u_0: Annotated[tuple[float, ...], Unit("1"), "commands there"]
    u_max: Annotated[
        float | None, Unit("1"), "limit of every command about u_0, both ways", positive
    ] = None
    T_s: Annotated[float, Unit("s"), "sample time the gains are made for", positive] = 1e-3

    def __post_init__(self):
        check_bounds(self)
        n = len(self.model.states)
        m = len(self.commands)
        q = len(self.tracked)
        for field, count in (
            ("K", (m * n,)),
            ("F", (m * q,)),
            ("K_i", (0, m * q)),
            ("x_0", (n,)),
            ("y_0", (q,)),
            ("u_0", (m,)),
        ):
            if len(getattr(self, field)) not in count:
                raise InputError(
                    f"{field}: expected {' or '.join(map(str, count))} numbers, got {len(getattr(self, field))}"
                )
        known = names(self.model.outputs)
        missing = [s.name for s in self.model.states if s.name not in known]
        if missing:
            raise InputError(
                f"LQR: {', '.join(missing)} of {type(self.model).__name__} are not measured",
                mend="use MPC with an Observer, or measure every state",
            )

    @classmethod
    def design(
        cls, model, Q, R, T_s=1e-3, tracked=(), integral=None, x=None, u=None, u_max=None
    ) -> LQR:
        """The gains for weights Q (of states; a number, a vector or a matrix), R (of commands), integral (of summed errors).

        x, u: where to linearise (the initial state and zero by default). Raises InputError as `riccati` does, and when a
        tracked output cannot be brought to rest.
        """
        return cls(
            model, **_designed(model, Q, R, T_s, tracked, integral, x, u), u_max=u_max, T_s=T_s
        )

    @property
    def commands(self):
        return controls(self.model)

    @property
    def measured(self):
        outside = [name for name in self.tracked if name not in names(self.model.states)]
        return tuple(
            find(self.model.outputs, name, "LQR") for name in (*names(self.model.states), *outside)
        )

    @property
    def references(self):
        found = (find(self.model.outputs, name, "LQR, tracked") for name in self.tracked)
        return tuple(
            Signal(target_name(s.name, 0), s.unit, f"desired {s.meaning or s.name}", "reference")
            for s in found
        )

    @property
    def states(self):
        return tuple(
            Signal(f"ζ_{name}", "1", f"summed error of {name}") for name in self.tracked if self.K_i
        )

    @property
    def monitors(self):
        return tuple(
            Signal(f"e_{s.name[:-2]}", s.unit, f"error of {s.name[:-2]}") for s in self.references
        )

    def errors(self, y, r) -> list:
        """r − y of the tracked outputs."""
        at = dict(zip(names(self.measured), y))
        return [ri - at[name] for ri, name in zip(r, self.tracked)]

    def _raw(self, z, y, r):
        ahead = [a - b for a, b in zip(r, self.y_0)]
        away = [a - b for a, b in zip(y, self.x_0)]
        sums = _times(self.K_i, z) if self.K_i else [0.0] * len(self.u_0)
        return [
            u + f - k - i
            for u, f, k, i in zip(self.u_0, _times(self.F, ahead), _times(self.K, away), sums)
        ]

    def step(self, t, z, y, r):
        raw = self._raw(z, y, r)
        if self.u_max is None:
            u = raw
            stands = 0.0
        else:
            u = [np.clip(v, c - self.u_max, c + self.u_max) for v, c in zip(raw, self.u_0)]
            stands = sum(np.where(a == b, 0.0, 1.0) for a, b in zip(u, raw))
        grown = [ζ - np.where(stands > 0, 0.0, e) for ζ, e in zip(z, self.errors(y, r))]
        return grown, u

    def monitor(self, t, z, y, r):
        return self.errors(y, r)


def _designed(model: System, Q, R, T_s, tracked, integral, x, u) -> dict:
    """The gains, the tracked outputs and the point that `LQR.design` gives its law, by name."""
    from workbench.numerics.linearisation import linearize

    own = controls(model)
    x = [float(v) for v in (model.initial() if x is None else x)]
    commands = np.zeros(len(own)) if u is None else u
    given = {**model.defaults(), **dict(zip(names(own), commands))}
    w = [float(given.get(s.name, 0.0)) for s in model.inputs]
    flat = linearize(model, x, w, inputs=names(own))
    plant = sampled(flat.A, flat.B, flat.C, flat.D, T_s)
    outputs = names(model.outputs)
    tracked = tuple(tracked) or tuple(outputs[: len(own)])
    rows = [outputs.index(find(model.outputs, name, "LQR, tracked").name) for name in tracked]
    C = plant.C[rows]
    n = len(x)
    q = len(rows)
    K, K_i = gains(plant, C, _weight("Q", Q, n), _weight("R", R, len(own)), integral)
    M, miss = target_map(plant.A, plant.B, C, np.vstack([np.zeros((n, q)), np.eye(q)]))
    if miss > 1e-8:
        raise InputError(
            f"LQR: {', '.join(tracked)} cannot be brought to rest where a reference wants it",
            mend="track at most as many outputs as there are commands",
        )
    y = model.out(0.0, x)
    return {
        "K": _flat(K),
        "F": _flat(M[n:] + K @ M[:n]),
        "K_i": _flat(K_i),
        "tracked": tracked,
        "x_0": _flat(x),
        "y_0": _flat([y[i] for i in rows]),
        "u_0": _flat([given.get(s.name, 0.0) for s in own]),
    }


def _flat(values) -> tuple[float, ...]:
    """Numbers row by row."""
    return tuple(float(v) for v in np.ravel(values))


def gains(plant: LinearSystem, C, Q, R, integral=None) -> tuple[np.ndarray, np.ndarray]:
    """(K, K_i) of a sampled plant: states weighed by Q, commands by R, summed errors ζ⁺ = ζ + C x by `integral`."""
    n, m = plant.B.shape
    if integral is None:
        return riccati(plant.A, plant.B, Q, R).K, np.zeros((0, 0))
    q = len(C)
    A = np.block([[plant.A, np.zeros((n, q))], [C, np.eye(q)]])
    whole = np.zeros((n + q, n + q))
    whole[:n, :n], whole[n:, n:] = Q, _weight("integral", integral, q)
    K = riccati(A, np.vstack([plant.B, np.zeros((q, m))]), whole, R).K
    return K[:, :n], K[:, n:]


def _weight(name: str, given, n: int) -> np.ndarray:
    """The n×n matrix of a weight: a number for all, one for each, or the matrix itself."""
    given = np.asarray(given, float)
    if given.shape not in ((), (1,), (n,), (n, n)):
        raise miscounted(name, " × ".join(map(str, given.shape)), n)
    return given if given.ndim == 2 else np.diag(np.broadcast_to(given, (n,)))


def _times(M, v) -> list:
    k = len(v)
    return [sum((M[i * k + j] * v[j] for j in range(k)), 0.0) for i in range(len(M) // k)]
