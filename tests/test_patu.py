"""The PATU 655 against what its sources publish, and against its own geometry by other text."""

import sys
from dataclasses import replace
from math import acos, atan2, cos, hypot, radians, sin
from pathlib import Path

import numpy as np
import pytest

from controllers import VDC
from plants import machine
from plants.multibody.strokes import strokes
from workbench import ClosedLoop, Sampled, Scenario, Steps, changed, load, simulate, verify
from workbench.contract.parameters import leaves
from workbench.verification.claims import Identity, PowerFlows, Tracking

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
CRANE, PROVENANCE, SOURCES = machine("patu-655")
JOINT, CASE = np.array([-0.09, 1.4261]), np.array([0.17, 0.386113249])
LIFT = radians(-1.2273437496515)
TILT = radians(-1.5820314868659)


def turned(angle, point):
    c, s = cos(angle), sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def joints():
    return dict(zip((s.name for s in CRANE.coordinates), CRANE.assembly.z))


def test_the_closed_start_is_that_of_the_published_angles():
    """Both booms are at the published angles; brackets and cylinders follow from the closed loop."""
    q = joints()
    assert q["q_lift"] == pytest.approx(LIFT, abs=1e-14)
    assert q["q_lift"] + q["q_tilt"] == pytest.approx(TILT, abs=1e-14)
    first = q["q_lift"] + q["q_bracket_1"]
    assert np.degrees(first) == pytest.approx(-30.651598525, abs=1e-8)
    assert np.degrees(first + q["q_bracket_2"]) == pytest.approx(-180.315403265, abs=1e-8)
    out = dict(zip((s.name for s in CRANE.outputs), CRANE.out(0.0, CRANE.initial())))
    assert out["s_lift"] == pytest.approx(0.929400434, abs=1e-9)
    assert out["s_tilt"] == pytest.approx(1.050744138, abs=1e-9)
    assert "s_tilt" in CRANE.spans and out["s_tilt"] - CRANE.spans["s_tilt"][0] < 0.8e-3


def test_lengths_by_hand():
    """Pins in the plane, the brackets' two circles met with the cosine rule."""
    rod = JOINT + turned(LIFT, (0.3025, -0.105))
    assert hypot(*(rod - CASE)) == pytest.approx(0.929400434, abs=1e-9)
    foot = JOINT + turned(LIFT, (2.69, -0.006592554))
    eye = JOINT + turned(LIFT, (2.881080943, 0.021592554)) + turned(TILT, (-0.095, 0.24043237))
    a, b, d = hypot(0.457227402, 0.0425), 0.475, hypot(*(eye - foot))
    inner = acos((a * a + d * d - b * b) / (2 * a * d))
    far = foot + a * np.array([cos(x := atan2(*(eye - foot)[::-1]) + inner), sin(x)])
    case = JOINT + turned(LIFT, (1.263, 0.206702194))
    assert hypot(*(far - case)) == pytest.approx(1.050744138, abs=1e-9)


def test_areas_and_hoses_are_the_published_ones():
    for a in CRANE.actuators:
        c = a.drive.cylinder
        assert (c.A_a, c.A_b) == pytest.approx((7.853982e-3, 5.390973e-3), rel=1e-6)
        assert c.walls.V_ha == pytest.approx(1.5 * np.pi / 4 * 12.7e-3**2, rel=1e-4)
    lift, tilt = (a.drive.cylinder.valve for a in CRANE.actuators)
    assert lift.c_p1 * 9.9 * 35e5**0.5 * 60e3 == pytest.approx(24.0)
    assert tilt.c_p1 * 9.9 * 35e5**0.5 * 60e3 == pytest.approx(54.0)


def test_every_number_of_the_crane_says_where_it_comes_from():
    """Those of the machine: what its classes give by default (axes, leakage, air) is theirs."""
    for path, origin in PROVENANCE.items():
        assert origin.tag in "VDIA", path
        assert origin.source in SOURCES if origin.tag in "VD" else origin.note, path
    known = {
        leaf.path.rsplit(".", 1)[0] if leaf.path[-1].isdigit() else leaf.path
        for leaf in leaves(CRANE)
    }
    for part in ("mass", "com", "inertia"):
        assert all(f"bodies.{b.name}.{part}" in PROVENANCE for b in CRANE.bodies)
    points = [f"bodies.{b.name}.point" for b in CRANE.bodies[1:]]
    points += [f"actuators.{a.name}.{end}.point" for a in CRANE.actuators for end in "ab"]
    points += [f"loops.brackets.{end}.point" for end in "ab"]
    assert set(points) <= set(PROVENANCE) & known
    assert PROVENANCE["actuators.tilt.b.point"] == PROVENANCE["bodies.bracket_2.point"]


def test_neither_stroke_passes_a_dead_point():
    lift, tilt = strokes(CRANE)
    assert not lift.dead_at and not tilt.dead_at
    assert (lift.lengths[0], lift.lengths[-1]) == pytest.approx((0.82, 1.355), abs=1e-6)
    assert (tilt.lengths[0], tilt.lengths[-1]) == pytest.approx((1.05, 1.83), abs=1e-6)


def test_the_supply_holds_it_at_full_reach():
    """Both booms level and stretched: each cylinder carries what virtual work asks for, within supply and return pressure."""
    for h in CRANE.holding(CRANE.initial(), None):
        assert h.low < h.needs < h.high
    masses = {b.name: (b.mass, np.array(b.com[:2])) for b in CRANE.bodies}
    q, at = joints(), {}
    at["lift"] = (JOINT, LIFT)
    at["tilt"] = (JOINT + turned(LIFT, (2.881080943, 0.021592554)), TILT)
    foot = JOINT + turned(LIFT, (2.69, -0.006592554))
    at["bracket_1"] = (foot, LIFT + q["q_bracket_1"])
    far = foot + turned(at["bracket_1"][1], (-0.457227402, 0.0425))
    at["bracket_2"] = (far, at["bracket_1"][1] + q["q_bracket_2"])
    moment = sum(
        masses[name][0] * 9.81 * ((r + turned(angle, masses[name][1]))[0] - JOINT[0])
        for name, (r, angle) in at.items()
    )
    arm = (JOINT + turned(LIFT, (0.3025, -0.105))) - CASE
    offset = CASE - JOINT
    lever = (offset[0] * arm[1] - offset[1] * arm[0]) / hypot(*arm)
    assert CRANE.holding(CRANE.initial(), None)[0].needs == pytest.approx(moment / lever, rel=1e-9)


def test_the_stiffness_of_a_chamber_is_that_of_oil_hose_and_tube_in_series():
    """1/B_e = 1/B_oil + V_h/(V B_h) + A l/(V B_c), as published; without hoses the crane is stiffer."""
    for a, s in zip(CRANE.actuators, (0.929400434, 1.050744138)):
        c, x = a.drive.cylinder, s - a.drive.closed
        own = c.moduli(a.drive.oil, x, 50e5, 30e5)
        for B_e, tube in zip(own, (c.A_a * x, c.A_b * (c.stroke - x))):
            V = 1.9002e-4 + tube
            want = 1 / (1 / 1650e6 + 1.9002e-4 / (V * 700e6) + tube / (V * 210e9))
            assert B_e == pytest.approx(want, rel=1e-12) and B_e < 0.95 * 1650e6


def test_steps_of_a_millisecond_are_fine_enough():
    """Steps of both voltages: angles at 1 ms within 1e-4 of their range, of those at 0.05 ms."""
    steps = {
        "u_lift": Steps("output", (0.0, 0.05), (0.0, 5.0)),
        "u_tilt": Steps("output", (0.0, 0.05), (0.0, 4.0)),
    }
    coarse, fine = (
        simulate(CRANE, Scenario(0.5, disturbances=steps, max_step=h, log_period=1e-3))
        for h in (1e-3, 5e-5)
    )
    for name in ("q_lift", "q_tilt", "q_bracket_1", "q_bracket_2"):
        a, b = coarse[name].values, fine[name].values
        assert np.ptp(b) > 1e-3 and np.abs(a - b).max() < 1e-4 * np.ptp(b), name


def test_exudyn_agrees():
    """The same crane in exudyn under the same voltages: the difference halves with its step."""
    pytest.importorskip("exudyn")
    from exudyn_patu import ExudynPlanar
    from patu import PIECES, ours, to_ground

    angles = to_ground(ours(CRANE, 1e-3))
    gaps = []
    for step in (5e-4, 2.5e-4):
        times, found, _ = ExudynPlanar(CRANE).run(PIECES[:2], step)
        turns = np.round((angles[0] - found[0]) / (2 * np.pi)) * 2 * np.pi
        gaps.append(np.abs(found + turns - angles[np.round(times / 1e-3).astype(int)]).max())
    assert gaps[1] < 5e-4 * np.ptp(angles[:1401], axis=0).max() and 1.7 < gaps[0] / gaps[1] < 2.4


@pytest.mark.long
def test_vdc_drives_it_and_a_wrong_model_is_seen():
    """First leg of the shipped path: the ledger's identities, and 0.1 mm of error; a pin believed 3 cm off misses that."""
    case = load(Path(__file__).parents[1] / "examples" / "patu-655.yaml")
    asked = [Tracking(error=1e-4, settle=0.5), Identity(), PowerFlows()]
    short = replace(case.scenario, duration=3.0)
    assert [v.holds for v in verify(case.loop, short, asked)] == [True] * 3
    wrong = changed(CRANE, {"lift.b.point": [0.3325, -0.105]})
    loop = ClosedLoop(CRANE, Sampled(VDC(wrong), 1e-3))
    assert verify(loop, short, asked[:1])[0].holds is False
