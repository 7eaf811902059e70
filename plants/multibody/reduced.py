"""Independent coordinates: all positions, rates and equations of motion from those of the joints that no closing determines.

    ż = B ẏ,  z̈ = B ÿ + ζ        Φ_z B = 0,  Φ_z ζ = −Φ̇_z ż,  loop by loop (`plants.multibody.planar_rates`)
    (Bᵀ M B) ÿ = Bᵀ (Q − M ζ)

Source: [Haug89, chapter 3]; rows as in [Jaiswal21] (9).
"""

from __future__ import annotations

from plants.multibody import linear, spatial_rates
from plants.multibody.planar import closed, turned
from workbench.contract.once import once


def dependent(mechanism) -> list[int]:
    """Numbers of the rates that follow from others, loop by loop where they have a closed form."""
    if not mechanism.closings:
        return [i for i in range(mechanism.tree.n_v) if i not in mechanism.lead]
    return [mechanism.tree.v[j][0] for k in mechanism.closings for j in k.unknown]


@once
def positions(mechanism, y) -> list:
    """All positions from the independent ones; every dependent joint has one."""
    T = mechanism.tree
    given = iter(y)
    follow = {T.z[j][0] for k in mechanism.closings for j in k.unknown}
    z = [0.0 if i in follow else next(given) for i in range(T.n_z)]
    for k in mechanism.closings:
        values, _ = closed(mechanism, k, z)
        for j, value in zip(k.unknown, values):
            z[T.z[j][0]] = value
    return z


@once
def directions(mechanism, z) -> dict[int, tuple]:
    """(cosine, sine) of every dependent joint that turns, by number of its body."""
    found: dict[int, tuple] = {}
    for k in mechanism.closings:
        found |= turned(mechanism, k, z)
    return found


def followed(mechanism, G, rates, γ) -> list:
    """Rates (or accelerations) of all joints with Φ_z ż + γ = 0, from those of the independent ones in `rates`."""
    if not mechanism.closings:
        return spatial_rates.followed(mechanism, G, rates, γ)
    found = list(rates)
    done = 0
    follow = set(dependent(mechanism))
    found = [0.0 if i in follow else v for i, v in enumerate(found)]
    for k in mechanism.closings:
        lines, i, j = G[done : done + 2], *(mechanism.tree.v[n][0] for n in k.unknown)
        (a, b), (c, d) = ((line[i], line[j]) for line in lines)
        p, q = (-linear.times([line], found)[0] - g for line, g in zip(lines, γ[done : done + 2]))
        det = a * d - b * c
        found[i], found[j] = (d * p - b * q) / det, (a * q - c * p) / det
        done += 2
    return found


def basis(mechanism, G) -> list[list]:
    """Columns of B."""
    n = mechanism.tree.n_v
    follow = set(dependent(mechanism))
    none = [0.0] * len(G)
    return [
        followed(mechanism, G, [1.0 if i == k else 0.0 for i in range(n)], none)
        for k in range(n)
        if k not in follow
    ]


def accelerations(M, Q, B, ζ) -> list:
    """ÿ."""
    MB = [linear.times(M, column) for column in B]
    rest = [q - f for q, f in zip(Q, linear.times(M, ζ))]
    H = [[linear.times([a], b)[0] for b in MB] for a in B]
    return linear.solve(linear.factors(H), linear.times(B, rest))
