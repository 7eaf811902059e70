"""How fast v decays: the rate c of the ledger, checked by exact arithmetic, and the reduced rate along the path."""

from __future__ import annotations

import numpy as np

from workbench.verification.exact import definite_exactly


def largest_rate(K: np.ndarray, M: np.ndarray) -> float:
    """Largest c with K + Kᵀ − c M ⪰ 0 (floating point); 0 where M weighs what K does not damp, inf where M is zero."""
    from scipy.linalg import eigh

    S = K + K.T
    if not M.any():
        return np.inf
    # Massless directions carry no storage: only those that M sees count.
    w, V = np.linalg.eigh(M)
    keep = w > 1e-14 * w[-1]
    B = V[:, keep] / np.sqrt(w[keep])
    return max(0.0, float(eigh(B.T @ S @ B, eigvals_only=True)[0]))


def certified_rate(K: np.ndarray, M: np.ndarray) -> tuple[float, bool]:
    """(c, exact): the largest rate less a rounding share, and whether rational LDLᵀ confirms it."""
    c = largest_rate(K, M)
    if not np.isfinite(c):
        return c, True
    c *= 1 - 1e-9
    return c, definite_exactly(K + K.T - c * M)


def body_rates(law, plant) -> dict[str, tuple[float, bool]]:
    """Per body A ∈ S_j: certified c with the true M_A and the applied K_A."""
    own = {g.name: np.array(g.K).reshape(6, 6) for g in law.gains}
    found = {}
    for s_model, s_true in zip(law.model.structures, plant.structures):
        for g_model, g_true in zip(s_model.segments, s_true.segments):
            for (frame, body), (_, true) in zip(g_model.bodies, g_true.bodies):
                name = f"{s_true.name}.{frame}"
                K = own.get(name, law.κ * body.matrix() + law.K_I * np.eye(6))
                found[name] = certified_rate(K, true.matrix())
    if plant.payload.mass > 0:
        found["payload"] = certified_rate(
            law.κ * law.model.payload.matrix(), plant.payload.matrix()
        )
    return found


def joint_jacobians(plant, q) -> dict[str, np.ndarray]:
    """Per body: J (6×n) with V_A = J q̇ at joint positions q, base at rest."""
    from plants import chain

    shape, still = plant.geometry(list(q)), chain.still((0.0, 0.0, 0.0))
    columns: dict[str, list] = {}
    for i in range(plant.n):
        unit = [1.0 if k == i else 0.0 for k in range(plant.n)]
        V = chain.sweep(plant.structures, shape, still, unit).V
        for j, s in enumerate(plant.structures):
            for segment in s.segments:
                for frame, _ in segment.bodies:
                    columns.setdefault(f"{s.name}.{frame}", []).append(
                        [*V[j][frame][0], *V[j][frame][1]]
                    )
        end = V[-1][chain.end_frame(plant.structures[-1])]
        columns.setdefault("payload", []).append([*end[0], *end[1]])
    return {name: np.array(rows, float).T for name, rows in columns.items()}


def reduced_rate(law, plant, q, μ=()) -> float:
    """Largest c with Σ Jᵀ(K + Kᵀ)J − 2 diag(μ_j (dx_j/dq_j)²) − c H ⪰ 0 at q, 0 where there is none.

    Never smaller than the bodies' own, useful when a payload carries no K. μ: N s/m, how steeply the friction of each
    cylinder falls at most: part ≤ μ Δẋ². None given: it does not fall.
    """
    own = {g.name: np.array(g.K).reshape(6, 6) for g in law.gains}
    J = joint_jacobians(plant, q)
    n = plant.n
    K, H = np.zeros((n, n)), np.zeros((n, n))
    for s_model, s_true in zip(law.model.structures, plant.structures):
        for g_model, g_true in zip(s_model.segments, s_true.segments):
            for (frame, body), (_, true) in zip(g_model.bodies, g_true.bodies):
                name = f"{s_true.name}.{frame}"
                gain = own.get(name, law.κ * body.matrix() + law.K_I * np.eye(6))
                K += J[name].T @ gain @ J[name]
                H += J[name].T @ true.matrix() @ J[name]
    K += J["payload"].T @ (law.κ * law.model.payload.matrix()) @ J["payload"]
    H += J["payload"].T @ plant.payload.matrix() @ J["payload"]
    if len(μ):
        _, _, lever = plant.cylinder_motion(list(q), [0.0] * n)
        K -= np.diag(np.array(μ, float) * np.array(lever, float) ** 2)
    return largest_rate(K, H)
