"""Input–output equation of the actuator: the valve position X that a motion Y(t) under a force F_ext(t) needs.

Closed, symmetric circuit, no leakage, constant volumes, pump averaged. With Y⁽ᵏ⁾ the derivatives of Y,

    E    = K_10 Ẏ + K_11m Y⁽³⁾ + K_11 (b_v Ÿ + Ḟ_ext),   P_L = (m Ÿ + b_v Ẏ + F_ext)/S        (19)
    F_p  = −K_p (P_rp E + σ E P_L/2),   K_p = N S_p/(4 R_b),   σ = E/√(E² + E_d²)          (20)
    2ζ   = (m_e Ë − F_p)/S_e                                                               (21), (22)
    X    = A + B/C,   A = E,   B = K_8 Ė + K_9 (m_e E⁽³⁾ − Ḟ_p),   C = K_7 √(1 − sgn(B) 2ζ/P_s)        (24)

where σ, the side that delivers, turns within the distributor's overlap. It is of order six in Y and four in F_ext.
Leaving the oil's compression out of the carriage's force, E ≈ K_10 Ẏ in F_p, m_e Ë and m_e E⁽³⁾, makes it of order four
and two: (25). The coefficients of the paper, its 2π mended:

    K_7 = 2π C_d f_w r_tig β √(P_s/ρ)   K_8 = β S_e   K_9 = v_e/(2 S_e)
    K_10 = π S/(N S_p ω)   K_11 = π v_c/(2 β S N S_p ω)   K_11m = m K_11

The paper's F_p is one piston's at the shaft's frequency (cos ωt, sin ωt in its K_3, K_4, K_16–K_18); that of all pistons
has a mean along E and no such term. Friction beyond b_v Ẏ (`IEHA.friction`) is left out. Source: [Alfayad16] eqs (19)–(25).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Literal, NamedTuple, final

import numpy as np

from plants.components.orifice import root
from plants.ieha.actuator import IEHA
from workbench.contract.errors import InputError
from workbench.contract.parameters import check_bounds
from workbench.contract.system import Signal, System
from workbench.contract.units import derived
from workbench.numerics.adaptive import Adaptive


class Coefficients(NamedTuple):
    """K_7 … K_11m and K_p; SI units."""

    K_7: float
    K_8: float
    K_9: float
    K_10: float
    K_11: float
    K_11m: float
    K_p: float


def coefficients(plant: IEHA) -> Coefficients:
    """The constants of (24) for a plant."""
    pump = plant.pump
    β = plant.oil.β
    K_10 = plant.S_A / pump.mean_flow(1.0)
    K_11 = K_10 * plant.V_A0 / (2 * β * plant.S_A**2)
    K_7 = plant.valve.gain(plant.c) * β * (plant.valve.P_s / 2) ** 0.5
    return Coefficients(
        K_7,
        β * plant.S_e,
        plant.v_e / (2 * plant.S_e),
        K_10,
        K_11,
        plant.m * K_11,
        pump.N * pump.S_p / (4 * pump.R_b),
    )


class Terms(NamedTuple):
    """What (24) is made of, the highest derivative of Y taken as zero where it is not given."""

    E: list  # E, Ė, and E⁽²⁾, E⁽³⁾ of the carriage's force
    P_L: object
    dF_p: object
    drop: object  # 2ζ/P_s


def terms(plant: IEHA, Y, F, reduced: bool = False) -> Terms:
    """Terms of (24), or of (25), from Y … Y⁽⁶⁾ and F … F⁽⁴⁾ (Y … Y⁽⁴⁾ and F … F⁽²⁾)."""
    K = coefficients(plant)
    S = plant.S_A
    P_rp = plant.pump.P_rp
    soft = range(2 if reduced else 4)  # derivatives of E with the oil's compression
    E = [
        K.K_10 * Y[k + 1] + K.K_11m * Y[k + 3] + K.K_11 * (plant.b_v * Y[k + 2] + F[k + 1])
        for k in soft
    ]
    # E as the carriage's force sees it.
    slow = [K.K_10 * Y[k + 1] for k in range(4)] if reduced else E
    P_L, dP_L = ((plant.m * Y[k + 2] + plant.b_v * Y[k + 1] + F[k]) / S for k in (0, 1))
    side = slow[0] / np.sqrt(slow[0] ** 2 + plant.distributor.E_d**2)
    F_p = -K.K_p * (P_rp * slow[0] + side * slow[0] * P_L / 2)
    dF_p = -K.K_p * (
        P_rp * slow[1] + side * ((2 - side * side) * slow[1] * P_L + slow[0] * dP_L) / 2
    )
    drop = (plant.m_e * slow[2] - F_p) / (plant.S_e * plant.valve.P_s)
    return Terms([*E[:2], *slow[2:]], P_L, dF_p, drop)


def _openings(K: Coefficients, plant: IEHA, part: Terms):
    """C of (24) for B > 0 and for B < 0, the root regularised as the valve's."""
    P = plant.valve.P_s / 2
    return [
        K.K_7 * root(P * (1.0 - side * part.drop), plant.valve.width) / P**0.5
        for side in (1.0, -1.0)
    ]


def valve_position(plant: IEHA, Y, F=(0.0,) * 5, reduced: bool = False):
    """X [m] by (24), or by (25) when `reduced`.

    Y     Y, Ẏ, … Y⁽⁶⁾ (to Y⁽⁴⁾ when reduced), m/sᵏ
    F     F_ext, … F_ext⁽⁴⁾ (to F_ext⁽²⁾), N/sᵏ

    Raises InputError for an open circuit and for too few derivatives.
    """
    _check(plant)
    order = 4 if reduced else 6
    if len(Y) <= order or len(F) < order - 1:
        raise InputError(
            f"the input–output equation needs more derivatives than {len(Y) - 1} of Y and {len(F) - 1} of F_ext",
            mend=f"give {order + 1} numbers, Y … Y⁽{order}⁾, and {order - 1}, F_ext … F_ext⁽{order - 2}⁾",
        )
    K = coefficients(plant)
    part = terms(plant, Y, F, reduced)
    E, dE, _, dddE = part.E
    B = K.K_8 * dE + K.K_9 * (plant.m_e * dddE - part.dF_p)
    opened = _openings(K, plant, part)
    return E + np.maximum(B, 0.0) / opened[0] + np.minimum(B, 0.0) / opened[1]


def feedforward(plant: IEHA, Y, F=(0.0,) * 5, reduced: bool = False):
    """Valve position X [m] that moves the averaged plant along Y(t) under F_ext(t), the pump's losses compensated.

        X = X_24 − sgn(E) ΔQ(E, p)/Q'

    X_24: `valve_position`, which assumes a pump without losses. ΔQ [m³/s], below zero: what decompression and leakage of the
    pistons change of the pump's flow at the present delivery pressure p. Q' [m²/s]: its mean flow per eccentricity.

    Y        Y, Ẏ, … Y⁽⁶⁾ (to Y⁽⁴⁾ when reduced), m/sᵏ
    F        F_ext, … F_ext⁽⁴⁾ (to F_ext⁽²⁾), N/sᵏ
    reduced  whether (25) is taken for X_24 in place of (24)

    Raises InputError for an open circuit and for too few derivatives.
    """
    X = valve_position(plant, Y, F, reduced)
    part = terms(plant, Y, F, reduced)
    side = np.where(part.E[0] > 0, 1.0, -1.0)
    return X - side * plant.pump.mean_loss(
        part.E[0], side * part.P_L / 2, plant.oil.β
    ) / plant.pump.mean_flow(1.0)


def _check(plant):
    if plant.circuit != "closed":
        raise InputError(
            "the input–output equation holds for the closed, symmetric circuit",
            mend="take a plant with circuit: closed",
        )


@final
@dataclass(frozen=True)
class InputOutput(System):
    """The actuator as one differential equation: (24) of order six, or (25) of order four, solved for the highest Y⁽ᵏ⁾.

    States: Y [m] and its derivatives below that order. Inputs: X [m], F_ext [N] and the derivatives of F_ext in the equation,
    each an input of its own, 0 where it is not given. Leakage and the distributor's switching are left out. Equations, with
    their source, in `plants.ieha.inverse`. Raises InputError for an actuator with an open circuit.
    """

    actuator: IEHA = IEHA()
    order: Literal[6, 4] = 6

    def __post_init__(self):
        check_bounds(self)
        _check(self.actuator)

    @property
    def states(self):
        return (
            Signal("Y", "m", "position of the load"),
            Signal("dY", "m/s", "velocity of the load"),
            *(
                Signal("d" * k + "Y", derived("m", k), f"derivative {k} of Y")
                for k in range(2, self.order)
            ),
        )

    @property
    def inputs(self):
        return (
            Signal("X", "m", "position of the micro-valve"),
            Signal("F_ext", "N", "external force, opposing +Y", "disturbance"),
            *(
                Signal(
                    "d" * k + "F_ext",
                    derived("N", k),
                    f"derivative {k} of F_ext",
                    "disturbance",
                )
                for k in range(1, self.order - 1)
            ),
        )

    def scales(self):
        return self.actuator.scales()

    outputs = (
        Signal("Y", "m", "position of the load"),
        Signal("dY", "m/s", "velocity of the load"),
    )
    monitors = (
        Signal("E", "m", "eccentricity"),
        Signal("P_AB", "Pa", "pressure difference P_A − P_B"),
    )

    def initial(self):
        return [0.0] * self.order

    def _parts(self, x, u):
        return terms(self.actuator, [*x, 0.0], u[1:], self.order == 4)

    def rhs(self, t, x, u):
        plant = self.actuator
        K = coefficients(plant)
        part = self._parts(x, u)
        E, dE, _, dddE = part.E
        opened = _openings(K, plant, part)
        B = np.maximum(u[0] - E, 0.0) * opened[0] + np.minimum(u[0] - E, 0.0) * opened[1]
        left = B - K.K_8 * dE - K.K_9 * (plant.m_e * dddE - part.dF_p)
        # What the highest derivative, taken as zero in the terms, brings into B.
        weight = (
            K.K_9 * plant.m_e * K.K_11m
            if self.order == 6
            else K.K_8 * K.K_11m + K.K_9 * plant.m_e * K.K_10
        )
        return [*x[1:], left / weight]

    def out(self, t, x):
        return [x[0], x[1]]

    def monitor(self, t, x, u):
        part = self._parts(x, u)
        return [part.E[0], part.P_L]

    @property
    def adaptive(self):
        size = 2 * pi * 100.0  # 1/s: about the load's mode, to weigh derivatives alike
        return Adaptive(tuple(1e-10 * size**k for k in range(self.order)))
