"""Which joints of a mechanism the drives hold, and which they leave free.

With Φ_z the rows of the loops and s_k the lengths that driven actuators prescribe, the motions that no drive feels are

    N = { ż : Φ_z ż = 0,  ∂s_k/∂z ż = 0 for every actuator that is driven }

A joint is free where some motion in N moves it. Springs hold nothing here: what hangs on one is watched as well.

Source: [Haug89, chapter 3], driving constraints.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from plants.multibody.virtual_work import at_rest, lever_arms
from workbench.contract.machine_limits import FreeJoint

MOVES = 1e-7  # share of a unit motion below which a joint stands


def driven(mechanism, commands) -> tuple[int, ...]:
    """Numbers of the actuators that hold: their inputs are among `commands` (None: all inputs are), or oil is shut in them."""
    found = []
    for k, a in enumerate(mechanism.actuators):
        own = [s.name for s in a.drive.inputs(a.name)]
        commanded = own and (commands is None or set(own) <= set(commands))
        if commanded or a.drive.states(a.name):
            found.append(k)
    return tuple(found)


@lru_cache(maxsize=64)
def free_motions(mechanism, ks: tuple[int, ...]) -> np.ndarray:
    """Basis of N at the assembled start, (n_v, how many)."""
    z = list(mechanism.assembly.z)
    arms = np.array(lever_arms(mechanism, *at_rest(mechanism, z)), float)
    rows = [*mechanism.constraints(z)[1], *(arms[k] for k in ks)]
    if not rows:
        return np.eye(mechanism.tree.n_v)
    table = np.array(rows)
    size = np.linalg.norm(table, axis=1, keepdims=True)
    table = table / np.where(size > 0.0, size, 1.0)
    _, σ, Vt = np.linalg.svd(table)
    return Vt[int((σ > 1e-8).sum()) :].T


def free_joints(mechanism, commands=None) -> tuple[FreeJoint, ...]:
    """As `System.free_joints`, at the mechanism's start."""
    N = free_motions(mechanism, driven(mechanism, commands))
    found = []
    T = mechanism.tree
    for body, (at, many), (first, count) in zip(mechanism.bodies, T.z, T.v):
        if count and np.abs(N[first : first + count]).max(initial=0.0) > MOVES:
            positions = mechanism.coordinates[at : at + many]
            unit = "m" if body.joint == "prismatic" else "rad"
            found.append(
                FreeJoint(body.name, positions, mechanism.rates[first : first + count], unit)
            )
    return tuple(found)
