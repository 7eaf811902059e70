"""Closed forms of one section without regeneration: the map Γ(v) and its resolvent Λ(β, f̄), for any scalar.

    Γ(v) = gsgn(Γ₋(v), v, Γ₊(v)),   Γ₊ = Γ_h+ − Γ_r+,   Γ₋ = Γ_h− − Γ_r−                                    (61)–(65)
    βv + f̄ ∈ Γ(v)  ⇔  v = Λ(β, f̄),  β > 0                                                                  (69), (73), (74)

Extending and retracting are one text: a retracting section is an extending one with head and rod exchanged and v, f reversed,

    "in" side: fed by the pump, area A, relief F_i = A P_iM, opening a_i = û² = (c u)²/A³
    "out" side: to tank, relief F_o = A_o P_oM, opening a_o.

Where [Kikuuwe21] cannot be followed: (29) says bx + c for b x₁ + c; it and (73) give 0/0 or a discriminant below zero where
the bleed is shut; dividing by max(ε, û²) instead of û² is off by 91 kN at u_b = 0.003 of (66), as û² itself is of that size.
Here x/0 is a limit, and discriminants are sums of what is not negative. With the bleed shut Γ is set-valued at v = Q/A_h and
−Q/A_r too.

Source: [Kikuuwe21] (20), (29), (61)–(65), (73), (74), corrected as said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FAR = 1e150
_LEAST = 1e-200  # the same under a root, or in a divisor, whose derivatives have to be numbers
_TINY = 1e-290  # keeps 0/0 away, is below rounding of anything it is added to, and forces over it stay finite


class Side(NamedTuple):
    """A section moving one way: A, F_i, F_o [N], a_i, a_o, a_b [1/N (m/s)²], F_M = A P_M [N], x_1 = Q/A [m/s]."""

    A: object
    F_i: object
    F_o: object
    a_i: object
    a_o: object
    a_b: object
    F_M: object
    x_1: object


def sides(row, supply) -> tuple[Side, Side]:
    """The section extending, and retracting; row and supply as `Circuit.rows`, `Circuit.supply` give them."""
    A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr = row[:8]
    Q, P_M, k_b = supply
    h3 = A_h * A_h * A_h
    r3 = A_r * A_r * A_r
    F_h = A_h * P_hM
    F_r = A_r * P_rM
    extending = Side(
        A=A_h,
        F_i=F_h,
        F_o=F_r,
        a_i=k_ph * k_ph / h3,
        a_o=k_tr * k_tr / r3,
        a_b=k_b * k_b / h3,
        F_M=A_h * P_M,
        x_1=Q / A_h,
    )
    retracting = Side(
        A=A_r,
        F_i=F_r,
        F_o=F_h,
        a_i=k_pr * k_pr / r3,
        a_o=k_th * k_th / h3,
        a_b=k_b * k_b / r3,
        F_M=A_r * P_M,
        x_1=Q / A_r,
    )
    return extending, retracting


def Φ_A(b, c, a):
    """Root x of S(x)/a + b x + c = 0, S(x) = x|x|, a ≥ 0, b > 0; a = 0 is the limit, x = 0.  (20), Proposition 1

    Nothing is divided by a: the derivatives are numbers where a = 0, too.
    """
    r = np.sqrt(a + _LEAST)
    discriminant = a * b * b + 4.0 * np.abs(c) + _LEAST
    return -2.0 * c * r / (b * r + np.sqrt(discriminant))


def Φ_B(b, c, a_0, a_1, x_1):
    """Root x of S(x)/a_0 + S(x − x_1)/a_1 + b x + c = 0 where it is positive, 0 where it is not; x_1 > 0.  (29), Proposition 2

    h = x_1² + a_0 (b x_1 + c) decides. h ≤ 0: x = x_1 + y, y²(a_0 + a_1)/a_1 + B y + h = 0, B = a_0 b + 2 x_1.
    h > 0: x = x_1 − z, z the smaller root of z²(a_1 − a_0)/a_1 − B z + h = 0.
    """
    h = x_1 * x_1 + a_0 * (b * x_1 + c)
    B = a_0 * b + 2.0 * x_1
    r = np.sqrt(a_1)
    below = a_0 * (a_0 * a_1 * b * b + 4.0 * (h - a_1 * c))
    beyond = a_1 * B * B - 4.0 * (a_0 + a_1) * h
    below = np.where(below > 0.0, below, 0.0)
    beyond = np.where(beyond > 0.0, beyond, 0.0)
    root = np.sqrt(np.where(h > 0.0, below, beyond))
    x = x_1 - 2.0 * h * r / (B * r + root + _TINY)
    positive = np.where(x > 0.0, x, 0.0)
    return np.where(a_0 > 0.0, positive, 0.0)


def ratio(x, y):
    """x/y for y ≥ 0, and 1e150 x for y = 0: larger than anything it is compared with, with finite derivatives."""
    some = y > 0.0
    divisor = np.where(some, y, 1.0)
    return np.where(some, x / divisor, _FAR * x)


def rising(s: Side, β, f):
    """Root v > 0 of βv + f = Γ₊(v); meaningless unless f < Γ₊(0).  (73), (74g)"""
    through_both = Φ_B(β, f, in_series(s), s.a_b, s.x_1)
    at_relief = Φ_B(β, f + s.F_o, s.a_i, s.a_b, s.x_1)
    bled = np.maximum(through_both, at_relief)
    return rising_at(s, β, f, bled)


def in_series(s: Side):
    """Opening a_s of both orifices in series: 1/a_s = 1/a_i + 1/a_o, 0 where one is shut."""
    return ratio(s.a_i * s.a_o, s.a_i + s.a_o)


def rising_at(s: Side, β, f, most=np.inf):
    """Root v > 0 of βv + f = Γ₊(v) on a pump that holds the pressure F_M/A at any flow.  (122)

    most: largest v that the pump's flow allows, which bounds v while the in side is fed.
    """
    a_s = in_series(s)
    in_relief = Φ_A(β, f - s.F_i, s.a_o)
    both_reliefs = (s.F_i - s.F_o - f) / β
    relieved = np.maximum(in_relief, both_reliefs)
    through_both = Φ_A(β, f - s.F_M, a_s)
    out_relief = Φ_A(β, f - s.F_M + s.F_o, s.a_i)
    limited = np.maximum(through_both, out_relief)
    fed = np.minimum(np.minimum(relieved, limited), most)
    unfed = Φ_A(β, f, s.a_o)
    unfed_relief = (-s.F_o - f) / β
    return np.maximum(np.maximum(fed, unfed), unfed_relief)


def standing(s: Side):
    """Γ₊(0): the least force of the set at v = 0.  (65)"""
    dead = ratio(s.x_1 * s.x_1, s.a_b)  # A Q²/U_b² as force
    pushed = np.minimum(np.minimum(s.F_i, s.F_M), dead)
    F_in = np.where(s.a_i > 0.0, pushed, 0.0)
    F_out = np.where(s.a_o > 0.0, 0.0, s.F_o)
    return F_in - F_out


def moving(s: Side, v, upper):
    """Forces of the in and of the out side at v > 0, N.  (61b), (62b)

    Where the bleed is shut, the force of the in side at v = Q/A is an interval: its upper end if `upper`, else its lower one.
    """
    w = v - s.x_1
    p = ratio(v * v, s.a_i)
    gone = np.where(upper, w > 0.0, w >= 0.0)  # the pump cannot follow
    bled = -ratio(w * np.abs(w), s.a_b)
    shut = np.where(gone, -np.inf, np.inf)
    left = np.where(s.a_b > 0.0, bled, shut)
    pushed = np.maximum(np.minimum(s.F_M, left) - p, 0.0)
    F_i = np.minimum(pushed, s.F_i)
    F_o = np.minimum(ratio(v * v, s.a_o), s.F_o)
    return F_i, F_o


def Γ(row, supply, v, upper=False):
    """Lower (or `upper`) end of the set of forces Γ(v), N; they differ where Γ is set-valued."""
    out, back = sides(row, supply)
    forth = np.maximum(v, _TINY)
    in_out, out_out = moving(out, forth, upper)
    against = np.maximum(-v, _TINY)
    in_back, out_back = moving(back, against, np.logical_not(upper))
    still = np.where(upper, -standing(back), standing(out))
    retracting = np.where(v < 0.0, out_back - in_back, still)
    return np.where(v > 0.0, in_out - out_out, retracting)


def Λ(row, supply, β, f):
    """v [m/s] with βv + f ∈ Γ(v), for a section without regeneration that is open one way only.  (74)"""
    out, back = sides(row, supply)
    extends = f < standing(out)
    v_out = rising(out, β, f)
    retracts = f > -standing(back)
    v_back = -rising(back, β, -f)
    return np.where(extends, v_out, np.where(retracts, v_back, 0.0))
