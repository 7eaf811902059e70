"""What a verification asks of a predictive law: ingredients of the stability argument, its value, its linear law."""

from __future__ import annotations

import numpy as np

from controllers.mpc.signals import MPCSignals
from controllers.mpc.terminal_set import Terminal


class VerifiableMPC(MPCSignals):
    """Answers of an `MPC` about itself, in deviations from the steady state where matrices are meant."""

    @property
    def terminal_data(self) -> Terminal | None:
        """P, K, A_K and the set, on ξ = (x, u_{−1}) in deviations from the steady state; None without a terminal cost."""
        return self.prepared.terminal

    @property
    def stage(self) -> dict[str, np.ndarray]:
        """Weights of ℓ = |C_t x − r|²_Q + |u − u_s|²_R + |Δu|²_S, and C_t."""
        q = self.prepared.problem
        return {"Q": q.Q, "R": q.R, "S": q.S, "C": q.model.C[list(q.track)]}

    def parameter(self, x, r, d=(), v=(), u=None) -> np.ndarray:
        """θ for constant r, v, from model state x, disturbance d and last command u (0 where not given)."""
        q = self.prepared.problem
        part = lambda given, n: np.broadcast_to(
            np.asarray(given, float) if np.size(given) else 0.0, (n,)
        )
        n_d = q.model.B_d.shape[1]
        n_v = q.model.E0.shape[1]
        θ = [
            part(x, len(q.model.A)),
            part(0.0 if u is None else u, len(self.commands)),
            part(d, n_d),
            np.tile(part(r, len(q.track)), q.p + 1),
            np.tile(part(v, n_v), q.p + 1),
            [1.0],
        ]
        return np.concatenate(θ)

    def value(self, x, r, d=(), v=(), u=None) -> float:
        """Lowest cost V from there; ∞ where the limits cannot be kept."""
        θ = self.parameter(x, r, d, v, u)
        solution = self.solver(self.prepared).solve(θ)
        if solution.status not in (1, 2):
            return float("inf")
        return self.prepared.dense.value(θ, solution.z)

    def gain(self) -> dict[str, np.ndarray]:
        """u_0 = Σ gain[part] · part of θ while no limit is active: parts x, u, d, r, v, one."""
        G = self.prepared.dense.gain()
        return {name: G[:, s] for name, s in self.prepared.problem.at.items()}

    def linear_law(self) -> tuple[np.ndarray, ...]:
        """(A, B, C, D) while no limit is active, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import linear_law

        return linear_law(self)

    def unconstrained(self):
        """The law as expressions while no limit is active, see `controllers.mpc.unconstrained`."""
        from controllers.mpc.unconstrained import unconstrained

        return unconstrained(self)

    def ingredients(self, r, lost: tuple[str, ...] = ()):
        """What the stability argument is about, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import ingredients

        return ingredients(self, r, lost)

    def stage_costs(self, y, r, u) -> np.ndarray:
        """ℓ_k of a run, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import stage_costs

        return stage_costs(self, y, r, u)

    def hypotheses(self) -> dict[str, bool]:
        """What the textbook's stability argument assumes, and whether this controller has it."""
        return {
            "terminal cost of the unconstrained law": self.prepared.terminal is not None,
            "terminal set as a constraint": self.terminal == "set",
            "every sample has its own move": not self.blocks
            or max(self.blocks) == 1 == self.lengths[-1],
            "limits on outputs are hard": not any(limit.soft for limit in self.limits),
            "full state measured": self.observer is None,
            "no known disturbance": not self.known,
            "one model": not self.relinearise,
            "nothing added by the user": self.extra is None,
        }
