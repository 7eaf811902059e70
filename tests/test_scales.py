"""A machine's own scales, and the floors below which a number of a run is rounding."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from test_every_plant import PLANTS, Odd

from plants import MeteredArms, MotorArm, machine
from plants.crane.load_sensing import LoadSensed
from plants.drives.laws import Force, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body
from plants.scales import _crane_speed
from workbench.cases.file import loads
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.scales import (
    FRACTION,
    KINDS,
    energy_scale,
    power_floor,
    scales,
    signal_floor,
    storage_floor,
)

CRANE = machine("hiab-xs031").plant


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_every_plant_states_positive_scales_with_their_source(plant):
    own = scales(plant)
    stated = [getattr(own, kind) for kind in KINDS if getattr(own, kind) is not None]
    assert all(
        np.isfinite(s.value) and s.value > 0 and s.source for s in [*stated, *own.command.values()]
    )
    assert set(own.command) == set(plant.limits())
    if plant.pressure_names:
        assert own.pressure is not None and own.energy is not None
        assert own.force is not None or own.torque is not None  # of cylinders; of motors


def test_scales_of_a_crane_by_hand():
    own, (first, *_) = scales(CRANE), CRANE.cylinders
    volume = sum(np.pi / 4 * c.bore**2 * c.stroke for c in CRANE.cylinders)
    assert own.energy.value == pytest.approx(185e5 * volume, rel=1e-12)
    assert own.pressure.value == 185e5
    assert own.length.value == min(c.stroke for c in CRANE.cylinders)
    assert own.command["u_t2"].value == first.valve.u_max
    # Fully open at that speed and no force, pressure drops of both notches use up the supply.
    fast = own.velocity.value
    drops = []
    for c in CRANE.cylinders:
        opened = c.valve.u_max - c.valve.dead_band
        drops += [
            (c.A_a * fast / (c.valve.c_p1 * opened)) ** 2
            + (c.A_b * fast / (c.valve.c_n2 * opened)) ** 2,
            (c.A_b * fast / (c.valve.c_p2 * opened)) ** 2
            + (c.A_a * fast / (c.valve.c_n1 * opened)) ** 2,
        ]
    assert max(drops) == pytest.approx(CRANE.p_s - CRANE.p_r, rel=1e-12)


@pytest.mark.parametrize("tight", ["c_p1", "c_n1", "c_p2", "c_n2"])
def test_the_narrowest_notch_of_a_valve_sets_the_speed(tight):
    """Whichever of the four it is: out of the slower direction both drops use up what the supply has."""
    c = CRANE.cylinders[0]
    valve = replace(c.valve, **{tight: 0.2 * getattr(c.valve, tight)})
    c = replace(c, valve=valve)
    speed = _crane_speed(c, 170e5) / (valve.u_max - valve.dead_band)
    a, b = c.A_a * speed, c.A_b * speed
    drops = (
        (a / valve.c_p1) ** 2 + (b / valve.c_n2) ** 2,
        (b / valve.c_p2) ** 2 + (a / valve.c_n1) ** 2,
    )
    assert max(drops) == pytest.approx(170e5, rel=1e-12)
    assert drops.index(max(drops)) == (0 if tight in ("c_p1", "c_n2") else 1)


def test_what_a_machine_is_made_of_changes_its_scales():
    stronger = replace(CRANE, p_s=2 * CRANE.p_s)
    assert energy_scale(stronger).value == pytest.approx(2 * energy_scale(CRANE).value)
    assert scales(stronger).force.value == pytest.approx(2 * scales(CRANE).force.value)
    assert scales(LoadSensed(CRANE)) == scales(
        CRANE
    )  # a pump around a machine does not make it another
    turned = scales(MeteredArms(arms=(MotorArm(i=80.0),)))
    assert turned.force is None and turned.length is None
    assert turned.torque.value == pytest.approx(36e6 * 40e-6)


def test_a_plant_that_states_nothing_calls_nothing_small():
    odd = Odd()
    assert all(getattr(scales(odd), kind) is None for kind in KINDS) and not scales(odd).command
    run = SimpleNamespace(loop=SimpleNamespace(plant=odd))
    assert storage_floor(run) == power_floor(run) == signal_floor(odd, "x") == 0.0


def test_a_mechanism_has_the_scales_of_its_limited_actuators():
    cart = Body("cart", "ground", "prismatic", axis=(1.0, 0.0, 0.0), mass=3.0)
    wheel = Body("wheel", "cart", "revolute", mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    motor = Actuator("motor", Force(limit=40.0), joint="cart", shortest=-1.5, longest=1.0)
    brake = Actuator("brake", Torque(limit=7.0), joint="wheel")
    own = scales(Mechanism((cart, wheel), actuators=(motor, brake)))
    assert (own.force.value, own.length.value, own.torque.value) == (40.0, 2.5, 7.0)
    assert own.angle is None and own.energy.value == 100.0
    free = scales(Mechanism((cart, wheel), actuators=(replace(motor, drive=Force()),)))
    assert free.force is None and free.energy is None and not free.command


def test_floors():
    run = SimpleNamespace(loop=SimpleNamespace(plant=CRANE))
    assert 5.4e-22 < storage_floor(run) == FRACTION**2 * energy_scale(CRANE).value < 1e-5
    assert signal_floor(CRANE, "q_1") == FRACTION * scales(CRANE).angle.value
    assert signal_floor(CRANE, "x_t2") == FRACTION * scales(CRANE).length.value
    assert signal_floor(CRANE, "u_1") == FRACTION * 10.0
    assert signal_floor(CRANE, "p_a1") == FRACTION * 185e5
    assert signal_floor(CRANE, "Q_s1") == 0.0  # no scale of flows
    actuator = machine("ieha-published-linear").plant
    assert 0.00566e-6 < signal_floor(actuator, "Y") < 1e-6


@pytest.mark.parametrize("plant", ["ieha-control", "ieha-published-linear"])
def test_a_path_that_no_machine_follows_makes_no_tolerance_larger(plant):
    """Tolerances go with the path, up to a few lengths of the machine itself."""

    def tolerances(amplitude):
        path = f"type: Sine, space: output, centre: start, amplitude: [{amplitude}], frequency: 0.5"
        case = loads(f"plant: {plant}\nscenario: {{duration: 3, reference: {{{path}}}}}\n")
        asked = {type(c): c for c in default_claims(case.loop, case.scenario)}
        return asked[run_claims.Tracking].error, asked[run_claims.Settled].floor

    assert tolerances(0.02) == (pytest.approx(0.002), pytest.approx(2e-5))
    error, floor = tolerances(1e297)
    assert error == tolerances(1e100)[0] < 2.0 and floor < 0.02
