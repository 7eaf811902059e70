"""The law of two chambers behind a servo valve, of a cylinder or a motor, under virtual decomposition control.

    u_fr = ḟ_pr/β + h ẋ + ℓ + k_x (ẋ_r − ẋ) + k_f (f_pr − f_p)                           (90), (92) with leakage
    u    = valve⁻¹(u_fr)                                                                 (91), (93)

Source: [Petrovic22].
"""

from __future__ import annotations

from typing import NamedTuple

from controllers.vdc.gains import USUAL_K_X, agreed
from plants.components.chamber import Oil
from plants.components.cylinder import Cylinder
from plants.components.motor import Motor
from plants.components.two_chambers import TwoChambers

SHARE_OF_H = 0.15  # k_x of a motor by default: about what 6 mm are of h of a common cylinder


def bearable_k_x(cylinder: Cylinder, oil: Oil) -> float:
    """k_x [m] by default: 6 mm, but no more than h at half stroke (`Cylinder.shut_in`; A_a²/V_a + A_b²/V_b without hoses).

    The flow β k_x Δẋ acts on the rod's mass beside β h ẋ of (90), the stiffness of the oil itself, which the law takes away through
    a valve that lags. Where k_x is several times h, the pair swings at the valve's own frequency.
    """
    return float(min(USUAL_K_X, cylinder.shut_in(oil, 0.5 * cylinder.stroke)))


def motor_k_x(motor: Motor, oil: Oil) -> float:
    """k_x [m³/rad²] of a motor by default: a share of its h = 2 D_i²/V, as `bearable_k_x` has for a cylinder."""
    return float(SHARE_OF_H * motor.shut_in(oil, 0.0))


def usual_k_x(cylinders, oil: Oil) -> tuple[float, ...]:
    """k_x [m] of cylinders by default (`bearable_k_x`); one where all agree."""
    return agreed(bearable_k_x(c, oil) for c in cylinders)


class Valve(NamedTuple):
    """Chambers as their law knows them: supply and return pressure in Pa, k_x in m, k_f = βk_f/β with the law's own β."""

    cylinder: TwoChambers
    oil: Oil
    p_s: object
    p_r: object
    k_x: object
    k_f: object

    def flow(self, x, xd, pair, f_pr, f_pr_rate, xd_r):
        """u_fr (90), (92)."""
        c = self.cylinder
        return (
            f_pr_rate / self.oil.β
            + c.drift(self.oil, x, xd, *pair)
            + self.k_x * (xd_r - xd)
            + self.k_f * (f_pr - c.force(*pair))
        )

    def denominators(self, x, pair):
        """D₊, D₋ of (89)."""
        g = self.cylinder.gains(self.oil, x, *pair)
        return self.cylinder.valve.denominators(*g, *pair, self.p_s, self.p_r)

    def voltage(self, x, pair, u_fr):
        """u (91), (93)."""
        return self.cylinder.valve.invert(u_fr, *self.denominators(x, pair))
