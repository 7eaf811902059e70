"""Drives against the weight they carry: enough, and too small, for every plant that knows what its drives can give."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest

from controllers import OpenLoop
from plants import (
    Arm,
    FourBar,
    LinearActuator,
    MeteredArms,
    MeteredCrane,
    MeteredTwin,
    ThrottledCircuit,
    machine,
)
from plants.crane.load_sensing import LoadSensed
from plants.drives.laws import Force, SpringDamper, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator
from plants.valve_circuits import Pump
from workbench import ClosedLoop, InputError, Scenario, simulate, verify
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.observed.holding import at_start, check_holding
from workbench.verification.run import Run

CRANE = machine("hiab-xs031").plant


def asked(plant, end=0.02, start=None, disturbances=None):
    loop, scenario = (
        ClosedLoop(plant, OpenLoop(plant)),
        Scenario(end, start=start, disturbances=disturbances or {}),
    )
    return check_holding(
        run_claims.HoldsWeight(), Run(loop, scenario, simulate(loop, scenario, compiled=False))
    )


def pendulum(drive, start="0 deg", **options):
    """A bar of 40 kg and 1.6 m on a torque: 40 · 9.81 · 0.8 = 313.9 N m when level."""
    return Mechanism(
        (mechanisms.bar("arm", "ground", 1.6, 40.0, start=start),),
        actuators=(Actuator("m", drive, joint="arm"),),
        **options,
    )


# ---- numbers by hand -----------------------------------------------------------------------------------------------------------
def test_a_torque_must_reach_the_weight():
    verdict = asked(pendulum(Torque(limit=320.0)))
    assert (verdict.holds, verdict.strength, verdict.counted) == (True, "numerical", True)
    assert verdict.data["needs"]["actuator m"] == pytest.approx(40 * 9.81 * 0.8)
    weak = asked(pendulum(Torque(limit=310.0)))
    assert weak.holds is False and weak.margin == pytest.approx((310 - 313.92) / 620)
    assert weak.worst.startswith(
        "actuator m cannot hold: needs 314 N m at t = 0.00 s, can give -310 N m … 310 N m (its limit)"
    )
    assert asked(pendulum(Torque(limit=310.0), start="30 deg")).holds is True
    assert "actuators.m.drive" in weak.worst


def test_poses_on_the_way_count():
    """It hangs at the start and falls through level: there the torque is too small."""
    swinging = pendulum(Torque(limit=310.0), start="-60 deg")
    assert asked(swinging).holds is True
    thrown = replace(swinging, bodies=(replace(swinging.bodies[0], rate=6.0),))
    late = asked(thrown, 0.4)
    assert late.holds is False and "t = 0.00 s" not in late.worst


def test_springs_help_and_several_drives_share():
    spring = Actuator("spring", SpringDamper(k=900.0, s_0=0.1), joint="arm")
    helped = pendulum(Torque(limit=310.0))
    helped = replace(helped, actuators=(*helped.actuators, spring))
    assert asked(helped).data["needs"]["actuator m"] == pytest.approx(313.92 - 90.0)
    unequal = pendulum(Torque(limit=290.0))
    unequal = replace(
        unequal, actuators=(*unequal.actuators, Actuator("n", Torque(limit=40.0), joint="arm"))
    )
    verdict = asked(unequal)
    assert verdict.holds is True and sum(verdict.data["needs"].values()) == pytest.approx(313.92)
    assert (
        asked(
            replace(
                unequal,
                actuators=(unequal.actuators[0], Actuator("n", Torque(limit=20.0), joint="arm")),
            )
        ).holds
        is False
    )


def test_what_no_drive_feels_is_nobodys_to_hold():
    """A pole that leans, on a cart that a weak force pushes: the cart needs nothing."""
    machine_ = mechanisms.cart_pole()
    leaning = replace(machine_, bodies=(machine_.bodies[0], replace(machine_.bodies[1], start=0.4)))
    assert asked(leaning).data["needs"]["actuator rail"] == pytest.approx(0.0, abs=1e-9)


def test_a_cylinder_of_a_mechanism_is_that_of_the_four_bar():
    a, b = (at_start(p)[0] for p in (FourBar(), mechanisms.hydraulic("projected")))
    assert (
        a.needs == pytest.approx(-386.0, abs=0.1)
        and a.needs == pytest.approx(b.needs)
        and (a.low, a.high) == (b.low, b.high)
    )
    assert a.high == pytest.approx(np.pi / 4 * (0.08**2 * 7.6e6 - (0.08**2 - 0.035**2) * 0.1e6))


# ---- every plant, from both sides ---------------------------------------------------------------------------------------------
PRESSED = {"pressures": ((40e5, 30e5), (40e5, 30e5), (30e5, 30e5))}
HEAVY = replace(CRANE, payload=replace(CRANE.payload, mass=CRANE.payload.mass + 1500.0), **PRESSED)
BARS = mechanisms.hydraulic()
PAIRS = {
    "crane": (CRANE, HEAVY),
    "load sensing": (LoadSensed(CRANE), LoadSensed(HEAVY)),
    "metered crane": (MeteredCrane(CRANE), MeteredCrane(CRANE, pump=Pump(Q=100e-3 / 60, P_M=90e5))),
    "metered arms": (MeteredArms(), MeteredArms(pump=Pump(P_M=4e6))),
    "metered arms, bleed": (
        MeteredArms(arms=(Arm(M=9000.0),)),
        MeteredArms(arms=(Arm(M=9000.0),), pump=Pump(Q=1e-3), u_b=0.3),
    ),
    "metered twin": (MeteredTwin(), MeteredTwin(of=MeteredArms(pump=Pump(P_M=4e6)))),
    "four-bar": (FourBar(), FourBar(circuit=ThrottledCircuit(p_P=0.2e6))),
    "mechanism": (
        BARS,
        replace(BARS, actuators=(replace(BARS.actuators[0], drive=ThrottledCircuit(p_P=0.2e6)),)),
    ),
}


@pytest.mark.parametrize("plant, small", PAIRS.values(), ids=PAIRS)
def test_enough_holds_and_too_little_is_violated_with_numbers(plant, small):
    assert all(h.room > 0 for h in at_start(plant))
    weak = min(at_start(small), key=lambda h: h.room)
    assert weak.room < 0
    loop = ClosedLoop(small, OpenLoop(small))
    run = Run(loop, Scenario(0.01), simulate(loop, Scenario(0.01), compiled=False))
    verdict = check_holding(run_claims.HoldsWeight(), run)
    assert (
        verdict.holds is False
        and "cannot hold: needs" in verdict.worst
        and "more from" in verdict.worst
    )
    assert run_claims.HoldsWeight in [type(c) for c in default_claims(loop)]


def test_a_load_at_the_tip_counts():
    calm = asked(MeteredArms())
    assert (
        calm.holds is True and asked(MeteredArms(), disturbances={"f_ey_1": -1.2e5}).holds is False
    )


def test_asked_of_drives_without_a_limit_is_refused_and_not_asked_by_itself():
    for plant in (mechanisms.four_bar(), LinearActuator()):
        loop = ClosedLoop(plant, OpenLoop(plant))
        assert run_claims.HoldsWeight not in [type(c) for c in default_claims(loop)]
        with pytest.raises(InputError, match="knows no limit of its drives"):
            verify(loop, Scenario(0.01), (run_claims.HoldsWeight(),))
    assert (
        Force().bears(None) == (-np.inf, np.inf)
        and ThrottledCircuit().bears()[0] < 0 < ThrottledCircuit().bears()[1]
    )
