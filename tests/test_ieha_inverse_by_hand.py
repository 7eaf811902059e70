"""The input–output equation of the actuator term by term, at one motion that is written down, and what it refuses."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from plants.components.micro_valve import MicroValve
from plants.components.radial_pump import RadialPump
from plants.ieha.actuator import IEHA
from plants.ieha.inverse import (
    InputOutput,
    coefficients,
    feedforward,
    terms,
    valve_position,
)
from workbench.contract.errors import InputError
from workbench.contract.system import names

OWN = IEHA(
    m=7.3, b_v=41.0, S_e=1.51e-4, v_e=0.09e-6, m_e=0.12, V_A0=21e-6, V_B0=21e-6, S_A=1.9e-4, S_B=1.9e-4,
    pump=RadialPump(S_p=0.17e-4, k_p=2e-14, ω=271.0, P_rp=7.1e5), valve=MicroValve(width=1e-3),
)  # fmt: skip
GAIN = 15 * 0.17e-4 * 271.0 / pi  # flow per metre of eccentricity
K_10 = 1.9e-4 / GAIN
K_11 = K_10 * 21e-6 / (2 * 8e8 * 1.9e-4**2)
K_P = 15 * 0.17e-4 / (4 * 7.3e-3)
F = [210.0, -3e3, 4e4, 5e6, -6e8]


def motion(speed):
    """Y … Y⁽⁶⁾, the eccentricity about K_10 Ẏ."""
    return [0.01, speed, 0.3, -20.0, 3e3, -4e5, 5e7]


def delivering(E, P):
    """F_p (20) at the eccentricity E and the load's pressure P."""
    return -K_P * (7.1e5 * E + E**2 / np.sqrt(E**2 + 4e-6**2) * P / 2)


def test_the_constants():
    K = coefficients(OWN)
    c = 0.62 * np.sqrt(2 / 840)
    window = c * 0.18 * 2 * pi * 2.5e-3
    assert pytest.approx(window * 8e8 * np.sqrt(5e5)) == K.K_7
    assert (K.K_8, K.K_9) == pytest.approx((8e8 * 1.51e-4, 0.09e-6 / (2 * 1.51e-4)))
    assert (K.K_10, K.K_11, K.K_11m) == pytest.approx((K_10, K_11, 7.3 * K_11))
    assert pytest.approx(K_P) == K.K_p


@pytest.mark.parametrize("speed", [4e-3, -4e-3, 8e-4, 0.06])
@pytest.mark.parametrize("reduced", [False, True])
def test_terms_of_the_equation(speed, reduced):
    """(19)–(22); Ḟ_p by moving E and P_L a little along their rates; (25) has K_10 Ẏ in the carriage's force."""
    Y = motion(speed)
    found = terms(OWN, Y, F, reduced)
    E = [
        K_10 * Y[k + 1] + K_11 * (7.3 * Y[k + 3] + 41.0 * Y[k + 2] + F[k + 1])
        for k in range(2 if reduced else 4)
    ]
    carried = [K_10 * Y[k + 1] for k in range(4)] if reduced else E
    assert found.E == pytest.approx([*E[:2], *carried[2:]])
    P, dP = ((7.3 * Y[k + 2] + 41.0 * Y[k + 1] + F[k]) / 1.9e-4 for k in (0, 1))
    assert found.P_L == pytest.approx(P)
    ε = 1e-9
    ahead, behind = (delivering(carried[0] + s * carried[1], P + s * dP) for s in (ε, -ε))
    assert found.dF_p == pytest.approx((ahead - behind) / (2 * ε), rel=1e-6)
    drop = (0.12 * carried[2] - delivering(carried[0], P)) / (1.51e-4 * 1e6)
    assert found.drop == pytest.approx(drop)


@pytest.mark.parametrize("curl", [5e7, -5e7])
@pytest.mark.parametrize("reduced", [False, True])
def test_the_position_of_the_valve(curl, reduced):
    """X = E + B/(K_7 √(1 − sgn(B) 2ζ/P_s)), B = K_8 Ė + K_9 (m_e E⁽³⁾ − Ḟ_p) of either sign."""
    Y = [*motion(4e-3)[:2], curl / 1e7, curl / 1e6, *motion(4e-3)[4:6], curl]
    part = terms(OWN, Y, F, reduced)
    K = coefficients(OWN)
    B = K.K_8 * part.E[1] + K.K_9 * (0.12 * part.E[3] - part.dF_p)
    assert np.sign(B) == np.sign(curl) and abs(part.drop) > 1e-3
    opened = K.K_7 * np.sqrt(1 - np.sign(B) * part.drop)
    assert valve_position(OWN, Y, F, reduced) == pytest.approx(part.E[0] + B / opened)
    loss = 15 * 271.0 / (2 * pi) * 0.17e-4 * (7.3e-3 + abs(part.E[0]) - 6.7e-3) / 8e8
    loss = loss * (7.1e5 - part.P_L / 2) - 7.5 * 2e-14 * part.P_L / 2
    fed = valve_position(OWN, Y, F, reduced) - loss / GAIN
    assert part.E[0] > 0 and feedforward(OWN, Y, F, reduced) == pytest.approx(fed)


@pytest.mark.parametrize("curl", [5e7, -5e7])
def test_the_root_of_the_valve_is_the_micro_valves(curl):
    """v(P_s/2 (1 − sgn(B) 2ζ/P_s)) over its width, in place of the plain root."""
    wide = replace(OWN, valve=MicroValve(width=4e5))
    Y = [*motion(4e-3)[:2], curl / 1e7, curl / 1e6, *motion(4e-3)[4:6], curl]
    part, K = terms(wide, Y, F), coefficients(wide)
    B = K.K_8 * part.E[1] + K.K_9 * (0.12 * part.E[3] - part.dF_p)
    P = 5e5 * (1 - np.sign(B) * part.drop)
    opened = K.K_7 * P / (P * P + 4e5**2) ** 0.25 / np.sqrt(5e5)
    assert valve_position(wide, Y, F) == pytest.approx(part.E[0] + B / opened)


def test_what_the_pump_loses_is_made_up_for_on_either_side():
    """The mirrored motion under the mirrored force has the mirrored position."""
    for Y in (motion(4e-3), motion(0.06)):
        mirrored = [-y for y in Y], [-f for f in F]
        assert feedforward(OWN, *mirrored) == pytest.approx(-feedforward(OWN, Y, F))
        assert valve_position(OWN, *mirrored) == pytest.approx(-valve_position(OWN, Y, F))


def test_no_force_is_none_of_its_derivatives():
    """By default F_ext and all of its derivatives are zero, and the equation is the whole one."""
    Y = motion(4e-3)
    assert valve_position(OWN, Y) == valve_position(OWN, Y, [0.0] * 5, False)
    assert feedforward(OWN, Y) == feedforward(OWN, Y, [0.0] * 5, False)
    assert terms(OWN, Y, F) == terms(OWN, Y, F, False)


@pytest.mark.parametrize("reduced, most", [(False, 6), (True, 4)])
def test_derivatives_that_are_missing_are_told(reduced, most):
    Y, force = motion(4e-3)[: most + 1], F[: most - 1]
    assert np.isfinite(valve_position(OWN, Y, force, reduced))
    for fewer in ((Y[:-1], force), (Y, force[:-1])):
        with pytest.raises(InputError) as why:
            valve_position(OWN, *fewer, reduced)
        counts = f"{len(fewer[0]) - 1} of Y and {len(fewer[1]) - 1} of F_ext"
        assert (
            why.value.message == f"the input–output equation needs more derivatives than {counts}"
        )
        assert why.value.mend == (
            f"give {most + 1} numbers, Y … Y⁽{most}⁾, and {most - 1}, F_ext … F_ext⁽{most - 2}⁾"
        )


@pytest.mark.parametrize("order", [6, 4])
def test_solved_for_the_highest_derivative(order):
    """Its rates are the states one further; the last one gives X again, on both sides of the valve's middle."""
    own = InputOutput(OWN, order)
    assert names(own.states) == ["Y", "dY", *("d" * k + "Y" for k in range(2, order))]
    given = ["X", "F_ext", *("d" * k + "F_ext" for k in range(1, order - 1))]
    assert names(own.inputs) == given
    units = ["m", "N", "N/s", *(f"N/s^{k}" for k in range(2, order - 1))]
    assert [s.unit for s in own.inputs] == units
    assert [s.kind for s in own.inputs] == ["", *["disturbance"] * order][: len(given)]
    x, force = motion(4e-3)[:order], F[: order - 1]
    for X in (3e-4, -3e-4):
        rates = own.rhs(0.0, x, [X, *force])
        assert rates[:-1] == x[1:]
        again = valve_position(OWN, [*x, rates[-1]], force, order == 4)
        assert again == pytest.approx(X, rel=1e-9)
    part = terms(OWN, [*x, 0.0], force, order == 4)
    assert own.monitor(0.0, x, [0.0, *force]) == [part.E[0], part.P_L]
    assert own.out(0.0, x) == x[:2] and own.initial() == [0.0] * order
    assert names(own.outputs) == ["Y", "dY"] and names(own.monitors) == ["E", "P_AB"]
    assert own.scales() == OWN.scales()


def test_errors_of_steps_weigh_derivatives_alike():
    """About the load's mode of 100 Hz; by default it is of order six, of an actuator as it is by itself."""
    own = InputOutput()
    assert (own.order, own.actuator) == (6, IEHA())
    assert own.adaptive.errors == pytest.approx([1e-10 * (200 * pi) ** k for k in range(6)])
    with pytest.raises(InputError, match="holds for the closed, symmetric circuit"):
        InputOutput(replace(IEHA(), circuit="open"))
