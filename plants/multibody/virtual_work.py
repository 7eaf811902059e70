"""What actuators and weight do to the joints of a mechanism at rest, by virtual work.

weight + Σ_k F_k ∂s_k/∂z − Φ_zᵀ λ = 0,   ∂s_k/∂z: the lever arms of actuator k
"""

from __future__ import annotations

from collections.abc import Sequence

from plants.components.scalars import plain_sum
from plants.multibody import acting, tree
from plants.multibody.acting import Pull
from plants.multibody.tree import Motion

WEIGHTLESS = (0.0, 0.0, 0.0)


def at_rest(mechanism, z) -> tuple[Motion, list[Pull]]:
    """(poses, actuators with their lengths) of positions z without velocity; z: numbers or expressions."""
    still = [0.0] * mechanism.tree.n_v
    motion = mechanism.moving(z, still)
    return motion, mechanism.pulls(motion, z, still, None, None)


def loads(
    mechanism, motion: Motion, pulls: list[Pull], forces: Sequence, gravity: Sequence
) -> list:
    """Forces on the joints, N or N m, of these forces of the actuators and of the weight."""
    own = tree.inertias(mechanism.bodies, motion)
    wrenches, direct = acting.applied(mechanism, pulls, forces)
    through_bodies = tree.forces(mechanism.tree, own, motion, gravity, wrenches)
    return list(map(plain_sum, through_bodies, direct))


def lever_arms(mechanism, motion: Motion, pulls: list[Pull]) -> list[list]:
    """∂s_k/∂z of every actuator: what a unit force of it does to the joints."""
    numbers = range(len(pulls))
    units = ([1.0 if i == k else 0.0 for i in numbers] for k in numbers)
    return [loads(mechanism, motion, pulls, unit, WEIGHTLESS) for unit in units]
