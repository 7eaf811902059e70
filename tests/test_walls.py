"""Hoses and the cylinder's tube in series with the oil: one modulus in pressure rates, gains of the law and energy."""

from dataclasses import replace

import numpy as np
import pytest
from crane_as_mechanism import as_mechanism
from mechanisms import lift
from scipy.integrate import solve_ivp

from plants import ConstantPressure, Cylinder, Oil, ServoCylinder, Walls, machine
from plants.components.friction import CoulombViscous
from workbench import InputError, Scenario, simulate

OIL = Oil(β=1.65e9, air=0.004)
PLAIN = Cylinder(0.1, 0.056, 0.535, V_a0=0.285 * np.pi / 4 * 0.1**2, c_i=2e-13, c_e=1e-13)
WALLS = Walls(B_h=0.7e9, V_ha=1.9002e-4, V_hb=2.5335e-4, B_c=210e9)
SOFT = replace(PLAIN, walls=WALLS)


def states(rng, n=20):
    for _ in range(n):
        p = rng.uniform(1e5, 180e5, 2)
        yield (
            float(rng.uniform(0.01, 0.52)),
            float(rng.normal() * 0.3),
            tuple(map(float, p)),
            float(rng.uniform(-9, 9)),
        )


def test_without_walls_every_number_is_that_of_the_oil_alone():
    """Bit by bit: rates, gains and volumes as (80), (81) write them."""
    c = PLAIN
    for x, v, (p_a, p_b), _ in states(np.random.default_rng(1)):
        V_a, V_b = c.V_a0 + c.A_a * x, c.V_b0 + c.A_b * (c.stroke - x)
        β_a, β_b = OIL.stiffness(p_a), OIL.stiffness(p_b)
        q_i, q_ea, q_eb = c.leakage(p_a, p_b)
        assert c.volumes(x) == (V_a, V_b)
        assert c.pressure_rates(OIL, x, v, p_a, p_b, 1e-4, -2e-4) == (
            β_a / V_a * (1e-4 - c.A_a * v - q_i - q_ea),
            β_b / V_b * (-2e-4 + c.A_b * v + q_i - q_eb),
        )
        assert c.gains(OIL, x, p_a, p_b) == (
            c.A_a * β_a / (OIL.β * V_a),
            c.A_b * β_b / (OIL.β * V_b),
        )


def test_oil_hose_and_tube_give_way_one_after_the_other():
    """What a flow compresses is the sum of three: oil in chamber and hose, the hose, the tube around the chamber."""
    for x, _, (p_a, p_b), _ in states(np.random.default_rng(2)):
        V_a, V_b = SOFT.volumes(x)
        tube_a, tube_b = PLAIN.volumes(x)
        assert (V_a, V_b) == pytest.approx((tube_a + 1.9002e-4, tube_b + 2.5335e-4), rel=1e-15)
        still = replace(SOFT, c_i=0.0, c_e=0.0)
        rate_a, rate_b = still.pressure_rates(OIL, x, 0.0, p_a, p_b, 1.0, 1.0)
        assert 1.0 / rate_a == pytest.approx(
            V_a / OIL.stiffness(p_a) + 1.9002e-4 / 0.7e9 + tube_a / 210e9, rel=1e-13
        )
        assert 1.0 / rate_b == pytest.approx(
            V_b / OIL.stiffness(p_b) + 2.5335e-4 / 0.7e9 + tube_b / 210e9, rel=1e-13
        )
        g_a, g_b = SOFT.gains(OIL, x, p_a, p_b)
        assert (g_a, g_b) == pytest.approx((SOFT.A_a * rate_a / OIL.β, SOFT.A_b * rate_b / OIL.β))
    rigid = replace(SOFT, walls=replace(WALLS, B_h=1e30, B_c=None))
    assert rigid.moduli(OIL, 0.2, 50e5, 60e5) == pytest.approx(
        (OIL.stiffness(50e5), OIL.stiffness(60e5)), rel=1e-15
    )


def test_the_rod_with_both_ports_shut_is_a_spring_of_that_stiffness():
    pure = replace(OIL, air=0.0)
    for cylinder in (replace(PLAIN, c_i=0.0, c_e=0.0), replace(SOFT, c_i=0.0, c_e=0.0)):
        rate_a, rate_b = cylinder.pressure_rates(pure, 0.2, 1.0, 50e5, 60e5, 0.0, 0.0)
        assert -cylinder.force(rate_a, rate_b) == pytest.approx(
            pure.β * cylinder.shut_in(pure, 0.2), rel=1e-13
        )


@pytest.mark.parametrize("cylinder", [PLAIN, SOFT], ids=["oil", "oil and walls"])
def test_powers_add_up_to_what_the_rod_gives(cylinder):
    """And an account that compresses the oil alone does not, where there are walls."""
    for x, v, pair, u in states(np.random.default_rng(3)):
        work = cylinder.at_work(OIL, pair, [], u, x, v, 185e5, 10e5)
        powers = cylinder.powers(OIL, pair, x, v, 730.0, work, 185e5, 10e5)
        given = (cylinder.force(*pair) - 730.0) * v
        size = sum(map(abs, powers))
        assert sum(powers) == pytest.approx(given, abs=1e-13 * size)
        if cylinder.walls is not None:
            V_a, V_b = cylinder.volumes(x)
            oil = pair[0] * work.rate_a * V_a / OIL.stiffness(pair[0])
            oil += pair[1] * work.rate_b * V_b / OIL.stiffness(pair[1])
            assert abs(-powers[4] - oil) > 1e-3 * abs(oil)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"B_h": 0.0}, "B_h: .*greater than zero"),
        ({"V_ha": -1e-4}, "V_ha: .*zero or greater"),
        ({"B_c": -1.0}, "B_c: .*greater than zero"),
    ],
)
def test_wrong_walls_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        replace(WALLS, **change)


def heavy(walls):
    cylinder = replace(
        PLAIN, stroke=0.6, V_b0=1e-4, friction=CoulombViscous(0.0, 900.0), walls=walls
    )
    return lift(ServoCylinder(cylinder, 0.0, replace(OIL, air=0.0)))


@pytest.mark.long
def test_soft_hoses_are_followed_and_converge_with_the_step():
    """Against an implicit method of another library: halving the step divides the error by the method's order, four."""
    plant = heavy(WALLS)
    command = Scenario(0.2, disturbances={"u_c": 4.0})
    start = [float(v) for v in plant.initial()]
    exact = solve_ivp(
        lambda t, x: [float(v) for v in plant.rhs(t, x, [4.0])],
        (0.0, 0.2),
        start,
        method="Radau",
        rtol=1e-11,
        atol=[1e-12, 1e-12, 1e-5, 1e-5],
    ).y[:, -1]
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        log = simulate(plant, replace(command, max_step=step))
        assert log.status.completed
        errors.append(abs(log.array("p_a_c")[-1] - exact[2]))
    assert errors[0] < 1e-3 * exact[2]
    assert errors[1] < errors[0] / 6 and errors[2] < errors[1] / 6


def test_hoses_lower_the_frequency_of_the_load_on_the_oil():
    """By as much as their stiffness in series says: it counts what crossings of the mean say."""
    found = {}
    for name, walls in (("oil", None), ("walls", WALLS)):
        plant = heavy(walls)
        log = simulate(plant, Scenario(0.5, offset={"dx_load": 0.02}))
        v = log.array("dx_load")
        up = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
        found[name] = (len(up) - 1) / (log.time[up[-1]] - log.time[up[0]])
        c = plant.actuators[0].drive
        wanted = np.sqrt(c.oil.β * c.cylinder.shut_in(c.oil, 0.3) / 310.0) / (2 * np.pi)
        assert found[name] == pytest.approx(wanted, rel=0.02)
    assert found["walls"] < 0.9 * found["oil"]


def test_the_crane_with_walls_agrees_as_a_mechanism():
    crane = machine("hiab-xs031").plant.locked(extension=0.5)
    structures = tuple(
        replace(s, revolute=replace(s.revolute, cylinder=replace(s.revolute.cylinder, walls=WALLS)))
        for s in crane.structures
    )
    soft = replace(crane, structures=structures)
    x = soft.initial()
    u = [0.7, -0.9, *[soft.defaults().get(s.name, 0.0) for s in soft.inputs[2:]]]
    mechanism = as_mechanism(
        soft,
        x[:2],
        drive=lambda segment, closed: ServoCylinder(segment.cylinder, closed, soft.oil),
        method="minimal",
        supply=ConstantPressure(soft.p_s, soft.p_r, soft.Q_max),
    )
    rates = soft.rhs(0.0, x, u)[4:8]
    stiff = crane.rhs(0.0, x, u)[4:8]
    assert mechanism.rhs(0.0, mechanism.initial(), u[:2])[4:6] == pytest.approx(rates[:2], rel=1e-9)
    assert np.abs(np.array(rates) / np.array(stiff) - 1.0).max() > 0.01
