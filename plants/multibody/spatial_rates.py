"""Rates, accelerations and forces around loops of any kind, without a closed form.

With rates l that lead and f that follow (`plants.multibody.leading`), and all rows of Φ_z that act:

    Φ_z ż + γ = 0     ż_f = −(Φ_fᵀ Φ_f)⁻¹ Φ_fᵀ (Φ_l ż_l + γ)
    Φ_fᵀ μ = τ_f      μ   = Φ_f (Φ_fᵀ Φ_f)⁻¹ τ_f

Rows that follow from others change neither: what fits is met by least squares exactly. Both are solved once more for what rounding
has left, since Φ_fᵀ Φ_f squares the condition of Φ_f. A row's power on any twists Z_r, its wrench w on b and −w on a, is

    Φ̇_r = wᵀ (Z_rb − Z_ra),     (Φ_z)˙ ż_r = ẇᵀ (Z_rb − Z_ra) + wᵀ (Ż_rb − Ż_ra) with z̈_r = 0

Source: [Haug89, chapter 9] for loops in space.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.spatial import minus, power
from plants.multibody import linear, loops
from plants.multibody.linear import Factors
from plants.multibody.tree import Ground, Motion
from workbench.contract.once import once


class Following(NamedTuple):
    """Rows of Φ_z as columns of the rates that follow, which those are, and Φ_fᵀ Φ_f factored."""

    rates: list[int]
    columns: list
    squares: Factors


@once
def following(mechanism, G) -> Following:
    """Which rates follow from the leading ones, with the columns of G and the factors that solve for them."""
    rates = [i for i in range(mechanism.tree.n_v) if i not in mechanism.lead]
    columns = [[row[i] for row in G] for i in rates]
    squares = [linear.times(columns, column) for column in columns]
    return Following(rates, columns, linear.factors(squares))


def rows(mechanism, motion: Motion) -> list[loops.Row]:
    """The independent rows of the constraints, in order."""
    found = mechanism.rows(motion)
    return [found[i] for i in mechanism.used]


@once
def jacobian(mechanism, motion: Motion) -> list[list]:
    """Φ_z of the rows that act."""
    return loops.jacobian(mechanism.tree, rows(mechanism, motion), motion.b)


def followed(mechanism, G, rates, γ) -> list:
    """Rates (or accelerations) of all joints with Φ_z ż + γ = 0, from those that lead in `rates`."""
    if not G:
        return list(rates)
    own = following(mechanism, G)
    found = [v if i in mechanism.lead else 0.0 for i, v in enumerate(rates)]
    for _ in range(2):
        left = [-a - b for a, b in zip(linear.times(G, found), γ)]
        step = linear.solve(own.squares, linear.times(own.columns, left))
        for i, v in zip(own.rates, step):
            found[i] = found[i] + v
    return found


def multipliers(mechanism, G, τ) -> list:
    """μ with Φ_zᵀ μ = τ at the joints that follow."""
    if not G:
        return []
    own = following(mechanism, G)
    left = [τ[i] for i in own.rates]
    μ = [0.0] * len(G)
    for _ in range(2):
        share = linear.solve(own.squares, left)
        step = linear.transposed_times(own.columns, share, len(G))
        μ = [a + b for a, b in zip(μ, step)]
        left = [τ[i] - v for i, v in zip(own.rates, linear.times(own.columns, μ))]
    return μ


def biases(mechanism, motion: Motion, wanted, ground: Ground) -> list:
    """(Φ_z)˙ ż_r along the true motion; wanted: twists Z_r and their rates at z̈_r = 0 (`required.swept`), on such a ground."""
    twist = lambda j: ground.Z if j < 0 else wanted.Z[j]
    rate = lambda j: ground.rate if j < 0 else wanted.rate[j]
    turning = []
    for loop, (a, b) in zip(mechanism.loops, mechanism.cuts):
        turning += loops.turning(loop, motion, a, b)
    found = []
    for i, row in zip(mechanism.used, rows(mechanism, motion)):
        apart = minus(twist(row.b), twist(row.a))
        speeding = minus(rate(row.b), rate(row.a))
        found.append(power(apart, turning[i]) + power(speeding, row.wrench))
    return found
