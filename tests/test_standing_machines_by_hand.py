"""What drives give to hold a mechanism at rest, rates that follow from those that lead, and lines of supplies, in closed form."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.chamber import CAVITY, Oil
from plants.crane.load_sensing import LoadSensed, TwoLines
from plants.drives.contract import Line
from plants.drives.laws import Force, SpringDamper, Torque
from plants.multibody import spatial_rates
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body
from plants.multibody.static import holding
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import check_line
from plants.supplies.each import EachPressure
from workbench.contract.errors import InputError
from workbench.planning.supplies import ElectricLoadSensing, PlannedLoadSensing, TwoPressures


# ---- at rest -------------------------------------------------------------------------------------------------------------------
def lift(*actuators, gravity=(0.0, 0.0, -9.81)):
    """A car that slides upwards, and a beam that turns in it about y, its mass 0.5 m away."""
    car = Body(
        "car",
        joint="prismatic",
        axis=(0.0, 0.0, 1.0),
        mass=50.0,
        inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
    )
    beam = Body(
        "beam",
        parent="car",
        axis=(0.0, 1.0, 0.0),
        mass=8.0,
        com=(0.5, 0.0, 0.0),
        inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
    )
    return Mechanism(name="lift", bodies=(car, beam), actuators=actuators, gravity=gravity)


ROPE = Actuator("rope", Force(limit=1000.0), joint="car")
ARM = Actuator("arm", Torque(limit=60.0), joint="beam")


def needed(rig):
    found = holding(rig, rig.initial())
    return {one.name: (one.needs, one.low, one.high, one.unit) for one in found}


def test_a_rope_holds_the_car_and_a_motor_the_beam():
    """58 kg, and 8 kg 0.5 m away: about y the weight turns the beam by +39.24 N m, which the motor stands against."""
    found = needed(lift(ROPE, ARM))
    assert found["actuator rope"] == (pytest.approx(58 * 9.81), -1000.0, 1000.0, "N")
    assert found["actuator arm"] == (pytest.approx(-8 * 9.81 * 0.5), -60.0, 60.0, "N m")


def test_a_spring_takes_its_part_of_the_weight():
    spring = Actuator("spring", SpringDamper(k=2000.0, s_0=0.1), joint="car")
    assert needed(lift(ROPE, ARM, spring))["actuator rope"][0] == pytest.approx(58 * 9.81 - 200.0)


def test_two_ropes_share_the_weight_as_their_limits_allow():
    """Together all of it, each no more than it can; more than both can is told as if they could, in halves."""
    weak = Actuator("weak", Force(limit=200.0), joint="car")
    found = needed(lift(ROPE, ARM, weak))
    forces = [found[f"actuator {name}"][0] for name in ("rope", "weak")]
    assert sum(forces) == pytest.approx(58 * 9.81) and 0 < forces[1] <= 200.0
    heavy = needed(lift(ROPE, ARM, weak, gravity=(0.0, 0.0, -98.1)))
    assert heavy["actuator weak"][0] == pytest.approx(58 * 98.1 / 2, rel=1e-6)


def test_drives_without_a_limit_are_not_told():
    free = Actuator("free", Force(), joint="car")
    assert list(needed(lift(free, ARM))) == ["actuator arm"]
    assert needed(lift(free)) == {}


# ---- rates that follow -----------------------------------------------------------------------------------------------------------
G = [[1.0, 2.0, -1.0, 0.5], [0.0, 1.0, 3.0, -2.0]]
LEADS = SimpleNamespace(tree=SimpleNamespace(n_v=4), lead=[0, 2])


def test_rates_that_follow_close_what_those_that_lead_leave_open():
    """Φ_z ż + γ = 0; those that lead stay, what is given for the others does not count."""
    γ = [0.75, -1.5]
    found = spatial_rates.followed(LEADS, G, [2.0, 99.0, -1.0, 99.0], γ)
    assert found[0] == 2.0 and found[2] == -1.0
    assert np.array(G) @ found + γ == pytest.approx([0.0, 0.0], abs=1e-12)
    assert spatial_rates.followed(LEADS, [], [1.0, 2.0], []) == [1.0, 2.0]


def test_multipliers_hold_the_joints_that_follow():
    τ = [5.0, -2.0, 7.0, 3.0]
    μ = spatial_rates.multipliers(LEADS, G, τ)
    assert (np.array(G).T @ μ)[[1, 3]] == pytest.approx([-2.0, 3.0])
    assert spatial_rates.multipliers(LEADS, [], τ) == []


# ---- oil and lines ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("air, hollow", [(0.0, 0.0), (1e-9, CAVITY), (0.5, CAVITY)])
def test_oil_with_air_is_hollow_before_it_has_no_pressure(air, hollow):
    assert Oil(air=air).hollow == hollow


@pytest.mark.parametrize("p_s", [(2e7, 1e7, 1.5e7), (1e7, 2e7, 1.5e7), (1e7, 1.5e7, 2e7), (2e7,)])
def test_the_highest_of_several_lines(p_s):
    supply = EachPressure(p_s=p_s, p_r=3e5)
    assert supply.most.p_s == 2e7 and supply.line(None).p_r == 3e5
    assert [line.p_s for line in supply.lines(None, None)] == list(p_s)
    assert supply.circuit_pump.P_M == pytest.approx(2e7 - 3e5)


# ---- pumps of plans --------------------------------------------------------------------------------------------------------------
OWN = {"margin": 3e5, "nominal": 8e5, "flow": 7e-4, "standby": 0.0}
PLANNED = {"margin": 3e5, "nominal": 0.0, "standby": 9e5}


def sensed(**numbers):
    return SimpleNamespace(**{"flow": 1e-3} | numbers)


@pytest.mark.parametrize(
    "change", [{}, {"margin": 4e5}, {"nominal": 7e5}, {"flow": 6e-4}, {"standby": 1e5}]
)
def test_a_pump_that_follows_the_load_electrically_fits_a_plan_of_the_same_numbers(change):
    supply = ElectricLoadSensing(least=3e5, nominal=8e5, flow=7e-4)
    assert LoadSensed.fits(sensed(**OWN | change), supply) is (not change)


@pytest.mark.parametrize("change", [{}, {"margin": 4e5}, {"nominal": 7e5}, {"standby": 1e5}])
def test_a_pump_that_follows_the_load_fits_a_plan_of_the_same_numbers(change):
    supply = PlannedLoadSensing(margin=3e5, standby=9e5)
    assert LoadSensed.fits(sensed(**PLANNED | change), supply) is (not change)


@pytest.mark.parametrize("change", [{}, {"low": 8e6}, {"p_s": 1.7e7}, {"margin": 4e5}])
def test_a_pump_of_two_pressures_fits_a_plan_of_the_same_numbers(change):
    own = sensed(**{"low": 9e6, "p_s": 1.8e7, "margin": 3e5} | change)
    supply = TwoPressures(low=9e6, high=1.8e7, margin=3e5)
    assert TwoLines.fits(own, supply) is (not change)
    assert not LoadSensed.fits(sensed(**OWN), supply)
    assert not TwoLines.fits(own, PlannedLoadSensing())


@pytest.mark.parametrize(
    "p_r, fits", [(1e6, True), (1.6e7 - 1, True), (1.6e7, False), (1.7e7, False)]
)
def test_a_line_falls_from_supply_to_return(p_r, fits):
    line = Line(1.6e7, p_r)
    if fits:
        check_line(line)
        assert ConstantPressure(p_s=1.6e7, p_r=1e6).circuit_pump.P_M == pytest.approx(1.5e7)
        return
    with pytest.raises(InputError, match="must be below the supply pressure"):
        check_line(line)
