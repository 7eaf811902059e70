"""A linear predictive law as numbers: what it multiplies, bounds and solves at a sample. Its quadratic program is solved by DAQP.

    x ← x + L (y − h − C_a x),  θ = (x, u_{−1}, d, r, 1),  z = argmin ½ zᵀHz + (F θ + c₁)ᵀz  within bounds that follow θ,
    u = stroke · (first move of z),  x ← next θ + B u

DAQP has H = RᵀR as R⁻¹, and the constraints as M = G R⁻¹, rows of both of length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.contract.system import Signal

ZERO = 1e-11  # squared length of a row below which DAQP leaves it out
REFINED = 1e6  # cond(H) above which it refines its solution


@dataclass(frozen=True, eq=False)
class LinearCore:
    """The numbers of a linear predictive law's problem, and the words of its template."""

    law: Any

    template = "mpc.c.in"
    allowed = 1e-9  # of the largest command: sums are taken in another order than in the run
    functions: Sequence[str] = ()

    @property
    def initial(self) -> np.ndarray:
        """The model's start, nothing commanded, no solution."""
        start = np.asarray(self.law.prepared.start_x, float)
        return np.concatenate([start, np.zeros(len(self.memory) - len(start))])

    @cached_property
    def memory(self) -> tuple[Signal, ...]:
        """What the law itself remembers."""
        law = self.law
        dense = self.law.prepared.dense
        q = dense.problem
        n_z = len(dense.H)
        states = [
            Signal(f"estimate_{i}", "", f"of the model's state {i}") for i in range(len(q.model.A))
        ]
        offs = len(law.prepared.start_x) - len(states)
        return (
            *states,
            *(Signal(f"disturbance_{i}", "", "estimated") for i in range(offs)),
            *(Signal(f"{s.name}_before", s.unit, f"last {s.name}") for s in law.commands),
            *(Signal(f"solution_{i}", "1", "last solution") for i in range(n_z)),
            Signal("solution_age", "1", "samples since it was found, and one; 0: there is none"),
            *(
                Signal(f"active_{i}", "1", "number of an active limit, < 0 a lower one, 0 none")
                for i in range(n_z + 1)
            ),
            Signal(
                "status", "1", "of the last solve: 1 optimal, 2 soft limits exceeded, else none"
            ),
            Signal("iterations", "1", "of the last solve"),
            Signal("fallback", "1", "0 none, 1 the last solution, 2 the terminal law, 3 held"),
        )

    @cached_property
    def ldp(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(R⁻¹ with rows of length one, M likewise, their scaling, which rows of M are zero)."""
        dense = self.law.prepared.dense
        inverse = np.linalg.inv(np.linalg.cholesky((dense.H + dense.H.T) / 2).T)
        M = dense.G @ inverse
        lengths = np.linalg.norm(np.vstack([inverse, M]), axis=1)
        zero = np.square(lengths) < ZERO
        zero[: len(inverse)] = False
        scaling = 1 / np.where(zero, 1.0, lengths)
        n = len(inverse)
        return scaling[:n, None] * inverse, scaling[n:, None] * M, scaling, zero[n:]

    @cached_property
    def condition(self) -> float:
        """An estimate of cond(H), as DAQP makes it."""
        return condition_of(self.law.prepared.dense.H)

    @cached_property
    def fields(self) -> dict[str, np.ndarray]:
        """Name of a member of the constants → its numbers, in order."""
        law = self.law
        made = self.law.prepared
        dense = made.dense
        q = dense.problem
        inverse, M, scaling, _ = self.ldp
        law_of_rest = _terminal(q)
        found = {
            **_observer(made),
            "rows": np.vstack([dense.F, dense.G_θ]),
            "c1": dense.c1,
            "low": np.concatenate([dense.z_low, dense.low]),
            "high": np.concatenate([dense.z_high, dense.high]),
            "G": dense.G,
            "M": M,
            "Rinv": inverse[np.triu_indices(len(inverse))],
            "scaling": scaling,
            "stroke": q.stroke,
            "per_stroke": 1 / q.stroke,
            "slew": q.slew,
            "slew_per_stroke": np.clip(q.slew / q.stroke, 0.0, 1e30),
            "u_min": q.u_min,
            "u_max": q.u_max,
            "next": made.next_θ,
            "B": q.model.B,
            **law_of_rest,
            **({"overlap": law.overlap.u_d} if law.overlap else {}),
        }
        return found

    @property
    def operations(self) -> int:
        """Outside the solver, at most; one iteration of the solver takes about as many as `per_iteration` says."""
        dims = self.sizes
        products = dims["x"] * dims["y"] * 2 + (dims["z"] + dims["g"]) * (dims["t"] + 3 * dims["z"])
        return 2 * (products + dims["a"] * (dims["t"] + dims["u"])) + 8 * (dims["z"] + dims["g"])

    @property
    def per_iteration(self) -> int:
        """Operations of an iteration of the solver, about: products with all rows, a factor's update, two triangular solves."""
        z = self.sizes["z"]
        return 2 * z * (z + self.sizes["g"]) + 6 * z * z

    @property
    def sizes(self) -> dict[str, int]:
        made = self.law.prepared
        dense = made.dense
        return {
            "x": len(made.start_x),
            "a": len(dense.problem.model.A),
            "y": len(self.law.measured),
            "r": len(self.law.references),
            "u": len(self.law.commands),
            "t": dense.problem.n_θ,
            "z": len(dense.H),
            "g": len(dense.G),
            "n": dense.problem.N,
        }

    def words(self) -> dict[str, str]:
        law = self.law
        made = law.prepared
        q = law.prepared.problem
        at = np.arange(q.n_θ)
        given = np.concatenate([at[q.at["r"]], at[q.at["v"]]])
        observed = made.L is not None
        return {
            "theta_x": listed(at[q.at["x"]]),
            "theta_u": ", ".join(map(str, at[q.at["u"]])),
            "theta_d": listed(at[q.at["d"]]),
            "theta_r": listed(given),
            "reads": listed(() if observed else made.reads),
            "n_reads": str(0 if observed else len(made.reads)),
            "block_of": ", ".join(map(str, np.repeat(np.arange(len(q.blocks)), q.blocks)[: q.N])),
            "zero_row": listed(self.ldp[3].astype(int)),
            "observed": str(int(observed)),
            "fitted": str(q.model.n),
            "ill": str(int(self.condition > REFINED)),
            "law": str(int(q.K is not None)),
            "checked": str(int(not all(x.startswith("slew") for x in made.dense.labels))),
            "command": command_of(law),
        }


def command_of(law: Any) -> str:
    """The command that is given for u: the valves' overlap is made up for."""
    if not law.overlap:
        return "u[i]"
    return f"u[i] + k->overlap[i] * most(-1.0, least(1.0, u[i] / {law.overlap.w!r}))"


def _observer(made: Any) -> dict[str, np.ndarray]:
    """What the estimate is corrected by, and fitted by to the first measurement: the nearest state that explains it."""
    return {} if made.L is None else {"L": made.L, **measured_by(made)}


def measured_by(made: Any) -> dict[str, np.ndarray]:
    """How the estimate is seen in the measurement at the operating point, and what it is fitted by to the first one."""
    model = made.problem.model
    scaled = model.C[:, : model.n] * made.sizes
    fit = made.sizes[:, None] * np.linalg.pinv(scaled, rcond=1e-10)
    return {"C_a": made.C_a, "h": np.asarray(model.h), "start": fit}


def _terminal(q: Any) -> dict[str, np.ndarray]:
    """The terminal law, and the rest it leads to."""
    if q.K is None:
        return {}
    x_s, u_s = (M[:, : q.n_θ] for M in q.steady(q.N))
    return {"x_s": x_s, "u_s": u_s, "K": q.K}


def listed(values: Sequence[int] | np.ndarray) -> str:
    """Numbers as an initialiser in C, with a 0 behind them: C has no empty arrays."""
    return ", ".join([*map(str, values), "0"])


def condition_of(H: np.ndarray) -> float:
    """An estimate of cond(H), as DAQP makes it."""
    return float(np.linalg.inv(H).diagonal().max() * H.diagonal().max())
