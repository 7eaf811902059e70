"""What a report draws, against formulas and python-control; what is large for a machine, by its own numbers."""

from types import SimpleNamespace

import control
import numpy as np
import pytest

from plants import IEHA, Arm, LinearActuator, MeteredArms, MotorArm, machine
from plants import scales as large
from plants.valve_circuits import Openings, accounts
from workbench import InputError
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.observed.expression import formula
from workbench.verification.results.arrays import around, excluded, frequencies
from workbench.verification.rigorous import pictures as certificate_pictures
from workbench.verification.rigorous.pictures import certificate_arrays

s = control.tf("s")


def system(g) -> LinearSystem:
    return LinearSystem.from_control(control.ss(g))


@pytest.mark.parametrize("α", [0.3, 0.75, 1.0, 1.9])
def test_the_circle_of_a_disk_margin(α):
    """It meets the real axis at −1/f of both ends of the disk, and has −1 inside."""
    centre, radius = excluded(α)
    f = (1 + α / 2) / (1 - α / 2)
    assert centre - radius == pytest.approx(-f) and centre + radius == pytest.approx(-1 / f)
    assert centre == pytest.approx(-(1 + α**2 / 4) / (1 - α**2 / 4))
    assert radius > 0 and abs(-1 - centre) < radius


def test_no_circle_without_a_margin_or_beyond_two():
    assert [excluded(α) for α in (0.0, -0.1, 2.0, 3.0, float("nan"))] == [None] * 5


LIGHT = 7.0  # rad/s, at a damping of 0.05


def test_frequencies_are_dense_where_a_mode_rings():
    ringing = system(1 / (s**2 + 2 * 0.05 * LIGHT * s + LIGHT**2))
    heavy = system(1 / (s**2 + 2 * 0.4 * LIGHT * s + LIGHT**2))
    ω = frequencies(ringing)
    assert ω[0] == 0.1 and ω[-1] == pytest.approx(1e3) and (np.diff(ω) > 0).all()
    damped = LIGHT * np.sqrt(1 - 0.05**2)
    at = int(np.abs(ω - damped).argmin())
    assert ω[at] == pytest.approx(damped, rel=1e-12)
    assert ω[at + 1] - ω[at] == pytest.approx(0.05 * LIGHT * np.sinh(0.2), rel=1e-6)
    plain = frequencies(heavy)
    assert np.diff(np.log(plain)) == pytest.approx(np.log(1e4) / 239)
    assert len(plain) == 240 and 270 < len(ω) <= 281  # some of the 41 lie below 0.1 rad/s


def test_frequencies_of_a_sampled_loop_end_at_half_its_rate():
    T = 0.02
    ringing = control.c2d(control.ss(1 / (s**2 + 2 * 0.05 * LIGHT * s + LIGHT**2)), T)
    ω = frequencies(LinearSystem.from_control(ringing))
    assert ω[0] == 0.1 and ω[-1] == pytest.approx(np.pi / T)
    assert np.abs(ω - LIGHT * np.sqrt(1 - 0.05**2)).min() < 1e-9


def test_frequencies_of_a_loop_whose_poles_are_real_and_one_is_negative():
    """It changes its sign at every sample: the logarithm of such a pole is complex."""
    one = np.ones((2, 1))
    alternating = LinearSystem(np.diag([-0.5, 0.9]), one, one.T, np.zeros((1, 1)), 0.02)
    with np.errstate(all="raise"):
        ω = frequencies(alternating)
    assert np.isfinite(ω).all() and len(ω) == 240


def test_curves_of_a_broken_loop_are_those_of_python_control():
    """|S|, |T| of the first loop; the peaks are those of the worst."""
    gains = (3.0, 9.0)
    loops = [k / (s * (0.1 * s + 1) * (0.02 * s + 1)) for k in gains]
    found = around([system(L) for L in loops], 0.5)
    ω = found["ω"]
    L = control.frequency_response(loops[0], ω).complex
    assert found["L"] == pytest.approx(L, rel=1e-9)
    assert found["S"] == pytest.approx(np.abs(1 / (1 + L)), rel=1e-9)
    assert found["T"] == pytest.approx(np.abs(L / (1 + L)), rel=1e-9)
    fine = np.geomspace(1, 100, 200001)
    worst = control.frequency_response(loops[1], fine).complex
    for peak, at, curve in (("M_S", "ω_S", 1 / (1 + worst)), ("M_T", "ω_T", worst / (1 + worst))):
        k = int(np.abs(curve).argmax())
        assert found[peak] == pytest.approx(float(np.abs(curve[k])), rel=1e-6)
        assert found[at] == pytest.approx(fine[k], rel=1e-3)
    assert found["disk"] == excluded(0.5)


# ---- regions -----------------------------------------------------------------------------------------------------------
class Columns(dict):
    """A log by its columns."""

    def array(self, name):
        return np.array(self[name])


def logged(**columns):
    return SimpleNamespace(log=Columns(columns))


def level_set(V, level, centre=(0.0, 0.0), box=((-4.0, 4.0), (-4.0, 4.0)), run=None):
    data = {
        "V": V,
        "level": level,
        "box": {"a": box[0], "b": box[1]},
        "centre": {"a": centre[0], "b": centre[1]},
        "units": {"a": "m", "b": "rad"},
    }
    verdict = SimpleNamespace(key="supplied", data=data)
    (drawn,) = certificate_arrays(run or logged(a=[1.0, 2.0], b=[3.0, 4.0]), [verdict])["region"]
    return drawn


def test_a_level_set_is_drawn_where_it_is():
    """a²/4 + b² = 1, an ellipse with half axes 2 and 1, to the second order of the steps."""
    drawn = level_set("a**2/4 + b**2", 1.0)
    a, b = drawn["boundary"].T
    assert a**2 / 4 + b**2 == pytest.approx(np.ones(181), abs=1e-4)
    assert (a.max(), a.min(), b.max(), b.min()) == pytest.approx((2, -2, 1, -1), abs=2e-3)
    assert (drawn["x"], drawn["y"], drawn["unit_x"], drawn["unit_y"]) == ("a", "b", "m", "rad")
    assert drawn["kind"] == "section" and drawn["box"] == ((-4.0, 4.0), (-4.0, 4.0))
    assert drawn["path"].tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_a_level_set_about_another_centre_ends_at_its_box():
    """(a − 1)² + 4 (b + 2)² = 1 about (1, −2); of a larger level the box is what is drawn."""
    V = "(a - 1)**2 + 4*(b + 2)**2"
    a, b = level_set(V, 1.0, (1.0, -2.0), ((-3.0, 3.0), (-5.0, 2.0)))["boundary"].T
    assert (a - 1) ** 2 + 4 * (b + 2) ** 2 == pytest.approx(np.ones(181), abs=2e-3)
    a, b = level_set(V, 1e4, (1.0, -2.0), ((-3.0, 3.0), (-5.0, 2.0)))["boundary"].T
    edges = np.minimum.reduce([np.abs(a + 3), np.abs(a - 3), np.abs(b + 5), np.abs(b - 2)])
    assert edges.max() < 1e-9
    assert (a.min(), a.max(), b.min(), b.max()) == pytest.approx((-3, 3, -5, 2), abs=1e-2)


def test_a_region_of_attraction_is_its_shadow_about_its_centre(monkeypatch):
    """{xᵀPx ≤ 1} reaches √(P⁻¹)_ii along axis i, wherever its centre is."""
    monkeypatch.setattr(certificate_pictures, "_driver", lambda *_: 2)
    P = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
    data = {
        "P": P.tolist(),
        "along": ["a"],
        "centre": [3.0, 4.0, -5.0],
        "units": ["m", "rad", "Pa"],
    }
    states = tuple(SimpleNamespace(name=name) for name in "abc")
    run = logged(a=[1.0], c=[2.0])
    run.loop = SimpleNamespace(plant=SimpleNamespace(states=states))
    verdict = SimpleNamespace(key="region-of-attraction", data=data)
    (drawn,) = certificate_arrays(run, [verdict])["region"]
    reach = np.sqrt(np.diag(np.linalg.inv(P)))
    first, third = drawn["boundary"].T
    assert (first.min(), first.max()) == pytest.approx((3 - reach[0], 3 + reach[0]), abs=1e-3)
    assert (third.min(), third.max()) == pytest.approx((-5 - reach[2], -5 + reach[2]), abs=1e-3)
    assert (drawn["x"], drawn["y"], drawn["unit_y"]) == ("a", "c", "Pa")
    assert drawn["kind"] == "projection" and drawn["box"] is None


@pytest.mark.parametrize("level", [None, 0.0, -1.0])
def test_no_level_no_picture(level):
    data = {"V": "a**2", "level": level, "box": {"a": (-1, 1), "b": (-1, 1)}}
    verdict = SimpleNamespace(key="supplied", data=data)
    assert certificate_arrays(None, [verdict]) == {}


def test_the_linear_part_is_drawn_with_its_sector():
    data = {"response": ("ω", "G"), "low": 0.2, "high": 3.0, "criterion": "circle"}
    found = certificate_arrays(None, [SimpleNamespace(key="sector", data=data)])
    assert found == {"sector": {"ω": "ω", "G": "G", "k": (0.2, 3.0), "criterion": "circle"}}


# ---- where a formula is wrong --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, at", [("a + zz", 5), ("zz", 1), ("a*a + b**0.5", 7)])
def test_a_wrong_part_of_a_formula_is_told_by_its_column(text, at):
    with pytest.raises(InputError, match=rf"column {at}\b"):
        formula(text, ["a", "b"])


# ---- what is large for a machine -----------------------------------------------------------------------------------------
def sizes(found) -> dict:
    return {name: scale.value for name, scale in found.items()}


def test_scales_of_an_actuator_with_unlike_sides():
    """Force at full speed; the smaller side has the larger pressure."""
    plant = machine("ieha-figures").plant
    found = sizes(large.of_ieha(plant))
    speed = plant.velocity_gain * plant.stop_E.limit
    force = plant.b_v * speed + plant.m * 9.81
    assert plant.S_A < plant.S_B
    assert found == pytest.approx(
        {
            "energy": force * 0.1,
            "pressure": force / plant.S_A,
            "force": force,
            "length": 0.1,
            "velocity": speed,
        }
    )
    assert sizes(large.of_ieha(IEHA()))["force"] > force  # b_v counts


def test_scales_of_the_linear_model():
    plant = LinearActuator(K=50.0, X_max=2e-3)
    assert sizes(large.of_linear_actuator(plant)) == pytest.approx({"length": 0.1, "velocity": 0.1})


def test_scales_of_a_crane_are_those_of_its_weakest_cylinder():
    crane = machine("hiab-xs031").plant
    found = sizes(large.of_crane(crane))
    lift, tilt, slide = crane.cylinders
    p = 185e5
    assert found["pressure"] == p and found["length"] == min(c.stroke for c in crane.cylinders)
    assert found["force"] == pytest.approx(p * slide.A_b)  # the smallest rod side
    volume = lift.A_a * lift.stroke + tilt.A_a * tilt.stroke + slide.A_a * slide.stroke
    assert found["energy"] == pytest.approx(p * volume)
    ranges = dict(zip(crane.joint_names, crane.joint_range()))
    spans = [high - low for name, (low, high) in ranges.items() if name.startswith("q")]
    assert found["angle"] == pytest.approx(min(spans)) and len(spans) == 2
    assert found["velocity"] == pytest.approx(
        min(large._crane_speed(c, 175e5) for c in crane.cylinders)
    )
    assert found["rate"] == pytest.approx(found["velocity"] * found["angle"] / found["length"])


def test_scales_of_arms_with_a_motor():
    plant = MeteredArms(arms=(MotorArm(i=100.0, name="slew"), Arm("boom")))
    found = sizes(large.of_arms(plant))
    P = plant.pump.P_M
    slew, boom = (high - low for low, high in plant.joint_range())
    travel = 2 * plant.arms[1].longest_lever
    assert found["pressure"] == P and found["angle"] == min(slew, boom)
    assert found["force"] == P * 0.012 and found["torque"] == pytest.approx(P * 40e-6)
    assert found["length"] == travel
    assert found["energy"] == pytest.approx(P * (40e-6 * 100 * slew + 0.024 * travel))
    gain = plant.velocity_gain
    assert found["rate"] == pytest.approx(min(gain / 100.0, gain * boom / travel))
    assert "velocity" not in found
    only = sizes(large.of_arms(MeteredArms()))
    assert "torque" not in only and only["velocity"] == MeteredArms().velocity_gain


# ---- pressure behind the pump's check --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "open_, behind",
    [
        (Openings(u_ph=0.5), 80e5),
        (Openings(u_pr=0.5), 60e5),
        (Openings(u_ph=0.5, u_pr=0.5), 70e5),
        (Openings(u_ph=0.6, u_pr=0.3), (4 * 80e5 + 60e5) / 5),
        (Openings(), 50e5),
    ],
)
def test_behind_a_shut_check_the_chambers_meet(open_, behind):
    """Above the pump's 50 bar no oil flows through the check: what one chamber gives the other takes."""
    row = MeteredArms().circuit.rows(open_)[0]
    section = accounts.Section(row, *map(np.array, (0.0, 0.0, 80e5, 60e5)))
    found = accounts.section_flows(section, np.array(50e5))
    assert found.P_c == pytest.approx(behind, rel=1e-12)
    assert found.Q_ph + found.Q_pr == pytest.approx(0.0, abs=1e-12)
    pumped = accounts.section_flows(section, np.array(90e5))
    assert pumped.P_c == 90e5 and pumped.Q_ph + pumped.Q_pr >= 0
