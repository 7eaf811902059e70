"""What the drives of a mechanism must give to hold it at rest, by virtual work, within what they can give.

    weight + Σ_k F_k ∂s_k/∂z − Φ_zᵀ λ = 0,   low_k ≤ F_k ≤ high_k

by least squares with these bounds: several drives on one motion share it as their limits allow. Springs give what they give.
What no drive feels (a joint that is free) is left over with the bounds and without: it is nobody's to hold.
"""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from plants.multibody.virtual_work import at_rest, lever_arms, loads
from workbench.contract.machine_limits import Holding

_LEFT = 1e-6  # share of the weight: more left over than without bounds is not held


def holding(mechanism, x) -> tuple[Holding, ...]:
    """As `System.holding`; drives without a limit are left out."""
    from scipy.optimize import lsq_linear

    z, _, _ = mechanism.split([float(v) for v in x])
    known, arms, G = _virtual_work(mechanism, [float(v) for v in z])
    driven = [k for k, a in enumerate(mechanism.actuators) if a.drive.inputs(a.name)]
    line = mechanism.line_at_most
    bears = {k: mechanism.actuators[k].drive.bears(line) for k in driven}
    limited = [k for k in driven if isfinite(bears[k][1])]
    if not limited:
        return ()
    columns = np.vstack([*(arms[k] for k in driven), -G]).T
    free = np.linalg.lstsq(columns, -known, rcond=1e-10)[0]
    low = [*(bears[k][0] for k in driven), *[-inf] * len(G)]
    high = [*(bears[k][1] for k in driven), *[inf] * len(G)]
    size = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    bounded = (
        lsq_linear(
            columns / size, -known, (np.multiply(low, size), np.multiply(high, size)), tol=1e-13
        ).x
        / size
    )
    more = np.linalg.norm(columns @ bounded + known) - np.linalg.norm(columns @ free + known)
    forces = bounded if more <= _LEFT * np.linalg.norm(known) else free
    found = []
    for k, F in zip(driven, forces):
        if k in limited:
            a = mechanism.actuators[k]
            found.append(
                Holding(
                    f"actuator {a.name}",
                    float(F),
                    *bears[k],
                    _unit(mechanism, a),
                    a.drive.bears_by(line),
                    f"actuators.{a.name}.drive",
                )
            )
    return tuple(found)


def _unit(mechanism, actuator) -> str:
    turns = any(b.joint == "revolute" for b in mechanism.bodies if b.name == actuator.joint)
    return "N m" if turns else "N"


def _virtual_work(mechanism, z) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(forces of weight and springs on the joints, lever arms of every actuator, Φ_z)."""
    motion, pulls = at_rest(mechanism, z)
    springs = [
        0.0 if a.drive.inputs(a.name) else float(a.drive.force([], p.s, 0.0, [], None))
        for a, p in zip(mechanism.actuators, pulls)
    ]
    known = loads(mechanism, motion, pulls, springs, mechanism.gravity)
    arms = lever_arms(mechanism, motion, pulls)
    return np.array(known, float), np.array(arms, float), mechanism.constraints(z)[1]
