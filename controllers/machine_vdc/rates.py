"""How fast the accompanying function of a mechanism under virtual decomposition control decays."""

from __future__ import annotations

import numpy as np

from plants.components import spatial
from plants.multibody import required
from workbench.verification.rates import certified_rate, largest_rate

POSES = 12


def matrices(law, plant) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Body → (K_A of the law, true M_A), each 6×6 in the body's frame."""
    own = {gain.name: np.array(gain.K, float).reshape(6, 6) for gain in law.gains}
    found = {}
    for known, true in zip(law.machine.bodies, plant.bodies):
        usual = law.κ * _matrix(known) + law.K_I * np.eye(6)
        found[true.name] = own.get(known.name, usual), _matrix(true)
    return found


def _matrix(body) -> np.ndarray:
    return spatial.Body(body.mass, body.com, body.inertia).matrix()


def body_rates(law, plant) -> dict[str, tuple[float, bool]]:
    """Per body: certified c with the true M_A and the applied K_A."""
    return {name: certified_rate(K, M) for name, (K, M) in matrices(law, plant).items()}


def jacobians(plant, q) -> list[np.ndarray]:
    """J_A (6×n) of every body, V_A = J_A q̇ in its own frame, at independent positions q."""
    n = plant.n
    at = required.whole(plant, list(q), [0.0] * n)
    none = [0.0] * plant.tree.n_v
    columns: list[list] = [[] for _ in plant.bodies]
    for i in range(n):
        unit = [1.0 if k == i else 0.0 for k in range(n)]
        rates = required.spread(plant, at.G, unit, [0.0] * len(at.G))
        moving = required.swept(plant, at.motion, rates, none)
        for j, (v, ω) in enumerate(moving.Z):
            speed = spatial.add(v, spatial.cross(ω, at.motion.r[j]))
            R = at.motion.R[j]
            columns[j].append([*spatial.unturn(R, speed), *spatial.unturn(R, ω)])
    return [np.array(rows, float).T for rows in columns]


def reduced_rate(law, plant, q) -> float:
    """Largest c with Σ J_Aᵀ(K_A + K_Aᵀ − c M_A)J_A ⪰ 0 at q, 1/s; 0 where there is none."""
    n = plant.n
    K, H = np.zeros((n, n)), np.zeros((n, n))
    for J, (K_A, M_A) in zip(jacobians(plant, q), matrices(law, plant).values()):
        K += J.T @ K_A @ J
        H += J.T @ M_A @ J
    return largest_rate(K, H)


def decay_along(run, law, plant, c_f: float) -> tuple[float, float]:
    """(rate of the bodies and drives alone, reduced rate over the run's poses, never smaller), 1/s; c_f: of the drives."""
    machine = plant.mechanism
    own = min([c for c, _ in body_rates(law, machine).values()] + [c_f])
    names = [plant.called.get(s.name, s.name) for s in machine.states[: machine.n]]
    q = np.column_stack([run.log.array(name) for name in names])
    picks = q[np.linspace(0, len(q) - 1, POSES).astype(int)]
    reduced = [reduced_rate(law, machine, row) for row in picks]
    return own, max(own, min([c_f, *reduced]))
