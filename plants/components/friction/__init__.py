"""Friction between piston and bore: each law with its slope, its storage and its part in the stability ledger.

Every law is a frozen dataclass with

    states(name)            its memory as Signals of the kind "friction", none for a static law; z, ẑ below are of that length
    force(v, z)             f_f [N], opposing motion when subtracted as in f_c = f_p − f_f                    (78)
    rate(v, z)              ż
    steady(v)               f_f after sliding at v for long
    slope(v_max)            floats (low, high) that enclose df_f/dv of steady sliding over 0 < |v| ≤ v_max
    monotone(v_max)         True only if f_f is proved to be an increasing function of v there
    stored(z)               energy in the bristles, J;  loss(v, z) = f_f v − d/dt stored, the power made heat, W
    guards(v, z)            what changes its sign where force or rates have a kink
    stiff(name)             names of the states that may be fast

and for the stability of a loop whose controller knows the law, v_r the required speed,

    observer(v, v_r, ẑ)     required friction f_fr [N] and the rates ẑ̇ of its memory
    after(T, v, ẑ, ẑ̇)       the memory T seconds later at constant speeds: stable for every T
    storage(ẑ, z)           W [J], what the law adds to the accompanying function;  strain(ẑ, z) = ∂W/∂ẑ = −∂W/∂z
    part(v, v_r, z, ẑ)      −(v_r − v)(f_fr − f_f) + Ẇ [W], what the law adds to its derivative
    power_limit()           speed [m/s] up to which `part` ≤ 0 is proved for dynamic laws; inf for static ones, whose
                            sign is a question of slope
    domain(z)               margins that must not be negative for that proof

A static law has f_fr = f_f(v_r), W = 0, and part ≤ 0 wherever f_f is increasing: (C.13) of the paper. Slopes of
nonmonotone laws may be negative: with df_f/dv ≥ −μ the part is at most μ (v_r − v)². All laws use the same names: F_c, F_s,
v_s, b (σ_2 in [Jaiswal21]), σ_0, σ_1, so that one can be put in place of another.

To add a law: a class in this folder, its name in `Friction`, a line in the tests' lists.
Source: [Petrovic22] eq. (78) and App. C; [Jaiswal21] eqs (21)–(34); LuGre [Canudas95].
"""

from plants.components.friction.bristles import LuGre
from plants.components.friction.modified_lugre import ModifiedLuGre
from plants.components.friction.static import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Frictionless,
    Stribeck,
)

__all__ = [
    "Friction",
    "CoulombViscous",
    "Stribeck",
    "BengisuAkay",
    "BrownMcPhee",
    "LuGre",
    "ModifiedLuGre",
    "Frictionless",
]

Friction = (
    CoulombViscous | Stribeck | LuGre | Frictionless | BengisuAkay | BrownMcPhee | ModifiedLuGre
)
