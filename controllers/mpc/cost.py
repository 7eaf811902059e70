"""The cost of a predictive law, written once, over whatever stands for states and commands.

    V = Σ_{k<N} ℓ_k + |ξ_N − ξ_s|²_P + Σ_i (ρ₁ s_i + ρ₂ s_i²),   ξ = (x, u_{−1})
    ℓ_k = |y_k − r_k|²_Q + |u_k − u_{s,k}|²_R + |u_k − u_{k−1}|²_S

Without a terminal cost the last error counts, too: |y_N − r_N|²_Q in place of the term with P. The deviations may be rows over
(θ, z) (the QP, `residuals`), symbols (`controllers.mpc.convex`), matrices over (ξ, u) (`stage_form`) or numbers of a log
(`stage_costs`).

Source: [RawlingsMayneDiehl17] section 1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from controllers.mpc.problem import Problem


class Stage(NamedTuple):
    """What ℓ weighs at one sample: y − r, u − u_s (None where R = 0), u − u_{−1}; in the units of outputs and commands."""

    error: Any
    command: Any
    move: Any


def weighed(q: Problem, stage: Stage) -> dict[str, tuple[np.ndarray, Any]]:
    """Letter of the weight → (weight, deviation): ℓ is the sum of |deviation|²_weight."""
    terms = {"Q": (q.Q, stage.error), "S": (q.S, stage.move)}
    if q.R.any():
        terms["R"] = q.R, stage.command
    return terms


def terms(
    q: Problem, stage: Callable[[int], Stage], last_error: Any, end: Callable[[], Any]
) -> Iterator[tuple[str, np.ndarray, Any]]:
    """(letter, weight, deviation) of every square of V but those of the slack.

    stage(k) of sample k < N; last_error: y_N − r_N; end(): ξ_N − ξ_s.
    """
    for k in range(q.N):
        for letter, (weight, deviation) in weighed(q, stage(k)).items():
            yield letter, weight, deviation
    if q.P is None:
        yield "Q", q.Q, last_error
    else:
        yield "P", q.P, end()


def root(M: np.ndarray) -> np.ndarray:
    """F with FᵀF = M ⪰ 0."""
    d = np.sqrt(np.maximum(np.diag(M), 0.0))
    d = np.where(d > 0, d, 1.0)
    w, V = np.linalg.eigh((M + M.T) / 2 / d[:, None] / d)
    return np.sqrt(np.maximum(w, 0.0))[:, None] * V.T * d


def residuals(q: Problem) -> np.ndarray:
    """Rows E over (θ, z) whose squares make up V (without ρ₁), weight by weight: Q, S, R, P, then the slack."""
    _, u, y = q.predicted
    rows = list(q.track)
    weighs = q.R.any()

    def error(k: int) -> np.ndarray:
        return y[k][rows] - q.reference(k)

    def stage(k: int) -> Stage:
        away = u[k + 1] - q.steady(k)[1] if weighs else None
        return Stage(error(k), away, u[k + 1] - u[k])

    weights: dict[str, np.ndarray] = {}
    deviations: dict[str, list] = {letter: [] for letter in "QSRP"}
    for letter, weight, deviation in terms(q, stage, error(q.N), q.terminal):
        weights[letter] = weight
        deviations[letter].append(deviation)
    width = q.n_θ + q.n_z
    found = [
        (root(weights[letter]) @ np.array(stack)).reshape(-1, width)
        for letter, stack in deviations.items()
        if stack
    ]
    found += [np.sqrt(q.ρ2[i]) * q.slack(i) for i in range(len(q.soft))]
    return np.vstack(found)


def stage_form(q: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Q, R, S) of ℓ = ξᵀQξ + 2 ξᵀS u + uᵀR u about a steady state, ξ = (x, u_{−1})."""
    n, m = q.model.B.shape
    C = q.model.C[list(q.track)]
    one = np.eye(m)
    no_u = np.zeros((m, m))
    no_x = np.zeros((m, n))
    no_y = np.zeros((len(C), m))
    # Deviations as blocks over x, u_{−1} and u.
    stage = Stage((C, no_y, no_y), (no_x, no_u, one), (no_x, -one, one))
    whole = np.zeros((n + 2 * m, n + 2 * m))
    places = slice(0, n), slice(n, n + m), slice(n + m, n + 2 * m)
    for weight, blocks in weighed(q, stage).values():
        for a, left in zip(places, blocks):
            for b, right in zip(places, blocks):
                whole[a, b] += left.T @ weight @ right
    ξ = slice(0, n + m)
    u = places[2]
    return whole[ξ, ξ], whole[u, u], whole[ξ, u]


def stage_costs(q: Problem, y, r, u, u_s) -> np.ndarray:
    """ℓ_k of a run: tracked outputs y (K, q), references r (q,), commands u (K, m) from u_{−1} = 0, steady command u_s (m,)."""
    moves = np.diff(u, axis=0, prepend=np.zeros((1, u.shape[1])))
    squares = {
        letter: np.einsum("ki,ij,kj->k", deviation, weight, deviation)
        for letter, (weight, deviation) in weighed(q, Stage(y - r, u - u_s, moves)).items()
    }
    return sum(squares[letter] for letter in "QRS" if letter in squares)
