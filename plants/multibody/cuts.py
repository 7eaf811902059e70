"""Wrenches at all cuts of a mechanism: its joints, the joints that close its loops, the pins of its actuators.

    w_j = F*_j + Σ_children w − (actuators and cut joints on j),    Gᵀ μ = τ − Σ f ∂s/∂z  at the joints that follow

What statics leaves open of a loop (the out-of-plane reactions of a planar one) is the least that closes it, in a closed form zero.

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
    """Wrenches about the origin: of its parent on every body at its joint, and on place b of every loop of `closed`."""

    joint: list
    loop: list


def cuts(mechanism, at: Whole, own: Lines, nets, forces, passive) -> Cuts:
    """Wrenches at all cuts for net wrenches of the bodies, forces of the actuators and generalised forces `passive` of the joints.

    Every pair is one of the two sides of virtual decomposition: required nets with required forces, true with true.
    """
    asked = joint_forces(mechanism, at.motion, nets)
    left = [
        a - p - linear.times([[row[i] for row in own.by_joint]], forces)[0]
        for i, (a, p) in enumerate(zip(asked, passive))
    ]
    μ = _multipliers(mechanism, at.G, left)
    loop_wrenches = _held(mechanism, at, μ)
    return Cuts(_inward(mechanism, own, nets, forces, loop_wrenches), loop_wrenches)


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
    """μ with Gᵀ μ = left at the joints that follow; a closing's rows do not know the joints of later ones."""
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


def _inward(mechanism, own: Lines, nets, forces, loop_wrenches) -> list:
    """w_j from leaf to ground."""
    T, wrenches = mechanism.tree, list(nets)
    for actuator, wrench, f in zip(mechanism.actuators, own.wrench, forces):
        if wrench is not None:
            on_b = scaled(f, wrench)
            _take(wrenches, mechanism.number(actuator.b.body), on_b)
            _take(wrenches, mechanism.number(actuator.a.body), opposite(on_b))
    for loop, wrench in zip(closed(mechanism), loop_wrenches):
        a, b = mechanism.cuts[loop]
        _take(wrenches, b, wrench)
        _take(wrenches, a, opposite(wrench))
    for j in reversed(T.order):
        if T.parent[j] >= 0:
            wrenches[T.parent[j]] = plus(wrenches[T.parent[j]], wrenches[j])
    return wrenches


def _take(wrenches: list, j: int, W) -> None:
    """What acts on body j otherwise need not come through its joint."""
    if j >= 0:
        wrenches[j] = plus(wrenches[j], opposite(W))
