"""How fast v decays: the rate c of the ledger, checked by exact arithmetic, and the reduced rate along the path."""

from __future__ import annotations

import numpy as np

from workbench.verification.rigorous.exact import definite_exactly


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


def matrices(law, plant) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Body → (K_A of the law, true M_A), each 6×6 in the frame that its numbers are given in."""
    own = {gain.name: np.array(gain.K, float).reshape(6, 6) for gain in law.gains}
    found = {}
    for known, true in zip(law.model.mechanism.bodies, plant.mechanism.bodies):
        K_I = 0.0 if known.carried else law.K_I
        usual = law.κ * _matrix(known, law.model.axes) + K_I * np.eye(6)
        found[true.name] = own.get(known.name, usual), _matrix(true, plant.axes)
    return found


def _matrix(body, axes) -> np.ndarray:
    from plants.components.spatial import Body

    M = Body(body.mass, body.com, body.inertia).matrix()
    if body.name not in axes:
        return M
    R = np.kron(np.eye(2), np.reshape(np.array(axes[body.name], float), (3, 3)))
    return R.T @ M @ R


def body_rates(law, plant) -> dict[str, tuple[float, bool]]:
    """Per body: certified c with the true M_A and the applied K_A."""
    return {name: certified_rate(K, M) for name, (K, M) in matrices(law, plant).items()}


def joint_jacobians(plant, q) -> dict[str, np.ndarray]:
    """Per body: J (6×n) with V_A = J q̇ in the frame its numbers are given in, at joint positions q, on firm ground."""
    from plants.components.spatial import add, compose, cross, unturn
    from plants.multibody import required

    machine = plant.mechanism
    n = len(machine.lead)
    at = required.whole(machine, list(q), [0.0] * len(machine.own[1]))
    still = [0.0] * machine.tree.n_v
    columns: dict[str, list] = {body.name: [] for body in machine.bodies}
    for i in range(n):
        unit = [1.0 if k == i else 0.0 for k in range(n)]
        rates = required.spread(machine, at.G, unit, [0.0] * len(at.G))
        moving = required.swept(machine, at.motion, rates, still)
        for j, (body, (v, ω)) in enumerate(zip(machine.bodies, moving.Z)):
            R = at.motion.R[j]
            if body.name in plant.axes:
                R = compose(R, plant.axes[body.name])
            speed = add(v, cross(ω, at.motion.r[j]))
            columns[body.name].append([*unturn(R, speed), *unturn(R, ω)])
    return {name: np.array(rows, float).T for name, rows in columns.items()}


def levers(plant, q) -> np.ndarray:
    """∂s/∂q of the drives, (drives, n)."""
    from plants.multibody import drive_forces

    return np.array(drive_forces.rows_at(plant.mechanism, list(q)), float)


def reduced_rate(law, plant, q, μ=()) -> float:
    """Largest c with Σ Jᵀ(K + Kᵀ)J − 2 Σ μ_j (∂s_j/∂q)ᵀ(∂s_j/∂q) − c H ⪰ 0 at q, 0 where there is none.

    Never smaller than the bodies' own, useful when a payload carries no K. μ: N s/m, how steeply the friction of each
    cylinder falls at most: part ≤ μ Δẋ². None given: it does not fall.
    """
    n = len(plant.mechanism.lead)
    J = joint_jacobians(plant, q)
    K = np.zeros((n, n))
    H = np.zeros((n, n))
    for name, (gain, M) in matrices(law, plant).items():
        K += J[name].T @ gain @ J[name]
        H += J[name].T @ M @ J[name]
    if len(μ):
        arms = levers(plant, q)
        K -= arms.T @ np.diag(np.array(μ, float)) @ arms
    return largest_rate(K, H)
