"""Wrenches at all cuts of a mechanism: its joints, the joints that close its loops, the pins of its actuators.

    w_j = F*_j + Σ_children w − (actuators and cut joints on j),    Gᵀ μ = τ − Σ f ∂s/∂z  at the joints that follow

Statics does not determine some reactions of a loop (the out-of-plane ones of a planar loop). Of these the smallest that balance the
bodies are taken; where the loop is solved in closed form they are zero.

Source: [Petrovic22] eqs (59)–(69) for one machine.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.spatial import plus
from plants.multibody import linear, loops, planar_rates, spatial_rates
from plants.multibody.loops import opposite
from plants.multibody.required import Lines, Whole, joint_forces, scaled
from plants.multibody.tree import ZERO6


class Cuts(NamedTuple):
    """Wrenches (force N, moment N m) about the origin.

    joint   of every body: the wrench of its parent on it, at their joint
    loop    of every loop, in the order of `closed`: the wrench on its place b
    sizes   of every body: the sum of the magnitudes whose difference is `joint`. Rounding errors are compared with it: a slide
            beside cylinders that carry a platform bears about zero, as a difference of large forces
    """

    joint: list
    loop: list
    sizes: list


def cuts(mechanism, at: Whole, own: Lines, nets, forces, passive) -> Cuts:
    """Wrenches at all cuts for net wrenches of the bodies, forces of the actuators and generalised forces `passive` of the joints.

    Required net wrenches go with required forces, true ones with true forces: both sides of virtual decomposition use this.
    """
    asked = joint_forces(mechanism, at.motion, nets)
    left = [
        a - p - linear.times([[row[i] for row in own.by_joint]], forces)[0]
        for i, (a, p) in enumerate(zip(asked, passive))
    ]
    μ = _multipliers(mechanism, at.G, left)
    loop_wrenches = _held(mechanism, at, μ)
    acting = _acting(mechanism, own, forces, loop_wrenches)
    sizes = [(j, _magnitudes(wrench)) for j, wrench in acting]
    return Cuts(
        _inward(mechanism.tree, nets, [(j, opposite(wrench)) for j, wrench in acting]),
        loop_wrenches,
        _inward(mechanism.tree, map(_magnitudes, nets), sizes),
    )


def closed(mechanism) -> list[int]:
    """Indices of the loops, in the order in which they are closed."""
    if mechanism.closings:
        return [k.loop for k in mechanism.closings]
    return list(range(len(mechanism.loops)))


def _held(mechanism, at: Whole, μ) -> list[tuple]:
    """Wrench on place b of every loop of `closed`."""
    if mechanism.closings:
        rows = [
            (n, wrench)
            for n, k in enumerate(mechanism.closings)
            for wrench in planar_rates.wrenches(mechanism, k, at.motion)
        ]
    else:
        of_row = loops.loop_of_row(mechanism.loops)
        acting = zip(mechanism.used, spatial_rates.rows(mechanism, at.motion))
        rows = [(of_row[i], row.wrench) for i, row in acting]
    found = [ZERO6] * len(mechanism.loops)
    for (n, wrench), value in zip(rows, μ):
        found[n] = plus(found[n], scaled(value, wrench))
    return found


def _multipliers(mechanism, G, left) -> list:
    """μ with Gᵀ μ = left at the joints that follow; the rows of a closing do not depend on the joints of later closings."""
    if not mechanism.closings:
        return spatial_rates.multipliers(mechanism, G, left)
    μ = [0.0] * len(G)
    for n in reversed(range(len(mechanism.closings))):
        i, j = (mechanism.tree.v[b][0] for b in mechanism.closings[n].unknown)
        later = range(2 * n + 2, len(G))
        p, q = (
            left[k] - linear.times([[G[r][k] for r in later]], [μ[r] for r in later])[0]
            for k in (i, j)
        )
        (a, b), (c, d) = ((G[r][i], G[r][j]) for r in (2 * n, 2 * n + 1))
        det = a * d - b * c
        μ[2 * n] = (d * p - c * q) / det
        μ[2 * n + 1] = (a * q - b * p) / det
    return μ


def _acting(mechanism, own: Lines, forces, loop_wrenches) -> list[tuple]:
    """(body, wrench) of all that acts on bodies beside their joints: both ends of every actuator and of every loop."""
    found = []
    for actuator, wrench, f in zip(mechanism.actuators, own.wrench, forces):
        if wrench is not None:
            on_b = scaled(f, wrench)
            found.append((mechanism.number(actuator.b.body), on_b))
            found.append((mechanism.number(actuator.a.body), opposite(on_b)))
    for loop, wrench in zip(closed(mechanism), loop_wrenches):
        a, b = mechanism.cuts[loop]
        found.append((b, wrench))
        found.append((a, opposite(wrench)))
    return [(j, wrench) for j, wrench in found if j >= 0]


def _inward(tree, nets, more: list[tuple]) -> list:
    """Of every body: the sum of `nets` and of the pairs (body, wrench) in `more`, over it and all bodies that hang on it."""
    sums = list(nets)
    for j, wrench in more:
        sums[j] = plus(sums[j], wrench)
    for j in reversed(tree.order):
        if tree.parent[j] >= 0:
            sums[tree.parent[j]] = plus(sums[tree.parent[j]], sums[j])
    return sums


def _magnitudes(W) -> tuple:
    """|W|, component by component."""
    force, moment = W
    return [abs(v) for v in force], [abs(v) for v in moment]
