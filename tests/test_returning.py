"""Other starts, and whether a loop comes back from them: laws with closed forms, both sides."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest
from ledger_cases import CRANE, PATH, sampled
from mechanisms import cart_pole
from small import Feedback, Linear

from controllers.open_loop import OpenLoop
from controllers.pid.law import PID
from controllers.vdc import VDC
from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine, System, Waypoints, verify
from workbench.cases.file import loads
from workbench.contract.parameters import Unit
from workbench.contract.system import Controller, Signal
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.practical.disturbed import disturbed, stands_still, stirred
from workbench.verification.practical.returning import (
    Judged,
    Return,
    _fall,
    curves,
    followed,
    returns,
    severity,
    worst_of,
)
from workbench.verification.practical.starts import Start, drawn, pose, positions, sizes
from workbench.verification.run import run
from workbench.verification.scales import Scale
from workbench.verification.verdict import exit_code

STILL = Scenario(reference=None, duration=2.0)


def line(rate, oscillating=0.0):
    """Two states that fall (rate < 0), stay or grow at one rate and turn at another, beside one that always falls."""
    A = ((rate, oscillating, 0.0), (-oscillating, rate, 0.0), (0.0, 0.0, -5.0))
    return Linear(
        A, ((0.0,), (0.0,), (1.0,)), ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), x0=(0.0, 0.0, 0.0)
    )


def regulated(plant):
    return ClosedLoop(plant, Feedback(plant, ((0.0, 0.5),)))


def answer(loop, scenario=STILL, **claim):
    (verdict,) = verify(
        loop, scenario, [C.PracticalStability(**{"runs": 2, "settle": 0.5, **claim})]
    )
    return verdict


# ---- starts ---------------------------------------------------------------------------------------------------------
def test_starts_come_in_opposite_pairs_and_move_everything():
    nominal = run(sampled(CRANE), Scenario(duration=0.2))
    found = drawn(nominal, 6, 0.02)
    moved = [s.name for s in CRANE.states if s.name[0] in "qxpd" and "u_s" not in s.name]
    for there, back in zip(found[::2], found[1::2]):
        assert {n: -v for n, v in there.amounts.items()} == pytest.approx(dict(back.amounts))
        assert set(moved) <= set(there.amounts) and all(there.amounts[n] for n in moved)
    assert (
        len({tuple(s.amounts.values()) for s in found}) == 6 and len(drawn(nominal, 3, 0.02)) == 3
    )
    many = drawn(nominal, 24, 0.02)
    for one, other in (("q_1", "q_2"), ("q_1", "dq_1"), ("q_2", "p_a1")):
        same = [s.amounts[one] * s.amounts[other] > 0 for s in many]
        assert any(same) and not all(same)  # every corner, not one diagonal


def test_a_start_is_as_far_as_it_is_told():
    nominal = run(sampled(CRANE), Scenario(duration=0.2))
    own = sizes(nominal, 0.03)
    assert own["q_1"] == 0.03 and own["dq_2"] == pytest.approx(2 * 0.03)
    assert own["p_a1"] == pytest.approx(0.02 * CRANE.p_s)
    assert positions(CRANE) == ["q_1", "q_2"]


@dataclass(frozen=True)
class Mixed(System):
    """A table that moves at v_0, a chamber that fills, an angle and a number that stand."""

    v_0: Annotated[float, Unit("m/s")] = 3.0
    stroke: Annotated[float, Unit("m")] = 0.0
    states = (
        Signal("s", "m"),
        Signal("ds", "m/s"),
        Signal("φ", "rad"),
        Signal("p", "Pa"),
        Signal("z", "1"),
    )
    inputs, outputs = (), states
    pressure_names = ("p",)

    def initial(self):
        return [0.0, self.v_0, 0.1, 2e5, 0.3]

    def rhs(self, t, x, u):
        return [x[1], 0.0, 0.0, -1.5e5, 0.0]

    def out(self, t, x):
        return list(x)

    def scales(self):
        return {"length": Scale(self.stroke, "stroke")} if self.stroke else {}


def alone(plant):
    return ClosedLoop(plant, OpenLoop(plant))


def test_a_state_without_a_size_is_moved_by_a_share_of_what_it_covered():
    """Over 2 s: 6 m for the table, 2 → −1 bar for the chamber; nothing for what stands, which moves by its unit's size."""
    covered = sizes(run(alone(Mixed()), STILL), 0.7)
    assert covered == pytest.approx({"s": 0.6, "ds": 1.2, "φ": 1e-2, "p": 4e3, "z": 1e-2})
    still = sizes(run(alone(Mixed(v_0=0.0)), STILL), 0.7)
    assert still["s"] == pytest.approx(1e-3) and still["ds"] == pytest.approx(2e-3)
    stated = sizes(run(alone(Mixed(v_0=0.0, stroke=4.0)), STILL), 0.7)
    assert stated == pytest.approx({"s": 4e-3, "ds": 8e-3, "p": 4e3})


def test_a_start_is_measured_from_where_the_run_begins():
    nominal = run(alone(Mixed()), STILL)
    assert pose(nominal, Start({"s": 0.25, "φ": 9.0})) == (0.25,)
    crane = run(sampled(CRANE), Scenario(duration=0.2, reference=PATH))
    q = CRANE.initial()[:2]
    assert pose(crane, Start({"q_2": -0.03})) == pytest.approx((q[0], q[1] - 0.03), abs=1e-15)


# ---- a signal that comes back, stays, grows ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rate, word",
    [(-3.0, "back"), (-0.35, "returning"), (0.0, "staying"), (0.8, "growing"), (-0.01, "staying")],
)
def test_words_of_an_exponential(rate, word):
    time = np.linspace(0.0, 4.0, 400)
    found = returned(time, np.exp(rate * time))
    assert found.word == word and found.moved
    if word == "back":
        assert found.rate == pytest.approx(3.0, rel=0.02) and found.after == pytest.approx(
            np.log(10) / 3, abs=0.02
        )


def test_a_tolerance_is_for_what_is_given_back_at_least_by_half():
    time = np.linspace(0.0, 4.0, 400)
    assert returned(time, 0.3 + 0.7 * np.exp(-3 * time), tolerance=0.4).word == "back"
    assert returned(time, 0.3 + 0.7 * np.exp(-3 * time), tolerance=0.2).word == "staying"
    assert (
        returned(time, 0.8 + 0.2 * np.exp(-3 * time), tolerance=2.0).word == "staying"
    )  # nothing brings it back


def test_a_pressure_that_stays_is_lenient_and_one_that_grows_is_not():
    time = np.linspace(0.0, 4.0, 400)
    assert returned(time, np.full(400, 3e5), pressure=True).lenient
    assert not returned(time, 1e5 * np.exp(time), pressure=True).lenient


@dataclass(frozen=True)
class Recorded:
    """What `returns` needs of a run."""

    time: np.ndarray
    values: np.ndarray

    @property
    def log(self):
        return self

    loop = ClosedLoop(line(-1.0), Feedback(line(-1.0), ((0.0, 0.5),)))

    def array(self, name):
        return self.values


def returned(time, apart, tolerance=0.0, pressure=False):
    signal = Judged("x", ("x",), "Pa" if pressure else "m", tolerance, pressure)
    (found,) = returns(Recorded(time, apart), Recorded(time, np.zeros_like(time)), [signal])
    return found


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_no_number_never_comes_back(odd):
    time = np.linspace(0.0, 4.0, 400)
    apart = np.exp(-3 * time)
    apart[300] = odd
    assert returned(time, apart).word == "growing"


def test_what_grows_decides_before_what_stays():
    time = np.linspace(0.0, 4.0, 400)
    grows, stays = returned(time, np.exp(time)), returned(time, np.ones(400))
    assert worst_of([stays, grows]) is grows and worst_of([replace(grows, moved=False)]) is None


def test_what_only_moves_late_weighs_more_than_what_stays():
    """Nothing of it was off in the first half, behind a dead band: no share of that can be left."""
    time = np.linspace(0.0, 4.0, 400)
    late = returned(time, np.where(time > 3.0, 0.2, 0.0))
    assert late.largest == 0.0 and late.word == "growing"
    weight = severity(replace(late, word="staying"))
    assert weight > severity(returned(time, np.ones(400)))
    assert worst_of([late, returned(time, np.exp(-3 * time))]) is late


# ---- loops ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rate, turning, holds",
    [
        (-2.0, 0.0, True),
        (-2.0, 9.0, True),
        (0.5, 0.0, False),
        (0.3, 9.0, False),
        (0.0, 0.0, False),
        (0.0, 9.0, False),
    ],
)
def test_a_loop_with_a_part_the_law_does_not_see(rate, turning, holds):
    """Standing still from a perfect start, every one of these loops looks alike."""
    assert np.ptp(run(regulated(line(rate, turning)), STILL).log.array("x0")) == 0
    assert answer(regulated(line(rate, turning))).holds is holds


@pytest.mark.parametrize("rate, holds", [(-1.0, True), (0.05, False), (0.3, False)])
def test_a_hidden_state_that_never_moved_is_moved(rate, holds):
    """No output shows the third state, no command moves it, and it starts at rest."""
    A = ((0.0, 1.0, 0.0), (-4.0, -3.0, 0.0), (0.0, 0.0, rate))
    plant = Linear(A, ((0.0,), (1.0,), (0.0,)), ((1.0, 0.0, 0.0),), x0=(0.0, 0.0, 0.0))
    loop = ClosedLoop(plant, Sampled(Feedback(plant, ((3.0,),), ((7.0,),)), 1e-2))
    verdict = answer(loop, Scenario(reference=Hold("output", (1.0,)), duration=6.0), settle=2.0)
    assert verdict.holds is holds and (holds or "x2" in verdict.worst)


def test_too_slow_to_be_seen_is_undecided_and_a_longer_run_decides():
    slow = regulated(line(-0.03))
    verdict = answer(slow)
    assert verdict.holds is None and "longest" in verdict.worst and verdict.data["duration"] == 30.0
    assert answer(slow, longest=150.0, within=150.0).holds is True
    assert answer(regulated(line(-0.3))).data["duration"] > 4.0  # made longer by itself


@pytest.mark.parametrize("within, holds", [(None, None), (2.5, False), (12.0, True)])
def test_what_is_back_late_is_not_called_stable_unless_so_slow_a_loop_is_meant(within, holds):
    """At 0.3 1/s the tolerance, a quarter of the size, is met after 3 to 5 s; the scenario lasts 2 s."""
    verdict = answer(regulated(line(-0.3)), within=within)
    assert verdict.holds is holds and ("back only after" in verdict.worst) is (holds is not True)


def test_a_slow_law_is_not_called_stable_because_v_is_small():
    """λ = 0.02 1/s: v is tiny, and the tool stays away."""
    scenario = Scenario(reference=Waypoints("joint", ("start", (-1.21, -1.9), "start"), 3.0))
    verdict = answer(sampled(CRANE, VDC(model=CRANE, λ=(0.02,))), scenario, runs=2, settle=1.0)
    assert verdict.holds is not True and ("tool" in verdict.worst or "q_" in verdict.worst)
    assert answer(sampled(CRANE), scenario, runs=2, settle=1.0).holds is True


@pytest.mark.parametrize("K_p, holds", [(20.0, True), (400.0, False)])
def test_a_law_that_holds_still_is_disturbed(K_p, holds):
    """PID with far too much gain stands still on a perfect start; a kick makes it swing for ever."""
    loop = ClosedLoop(CRANE, Sampled(PID(CRANE, K_p=(K_p,), K_i=(0.0,)), 1e-3))
    found = {
        v.key: v
        for v in verify(
            loop,
            Scenario(reference=Hold("joint"), duration=6.0),
            [C.PracticalStability(runs=2, settle=1.0), run_claims.Tracking(error=5e-3, settle=1.0)],
        )
    }
    assert found["practical-stability"].holds is holds
    assert (exit_code(found.values()) == 0) is holds


def test_a_pole_that_falls_is_seen():
    """The cart follows its sine; the pole, upright at first, is nobody's."""
    plant = cart_pole()
    loop = ClosedLoop(
        plant,
        Sampled(
            PID(plant, K_p=(900.0,), K_i=(0.0,), K_d=(200.0,), feed="none", damping="none"), 1e-3
        ),
    )
    scenario = Scenario(reference=Sine("output", "start", (0.05,), 0.5), duration=4.0)
    claims = [c for c in default_claims(loop, scenario) if isinstance(c, C.PracticalStability)]
    (verdict,) = verify(loop, scenario, [replace(claims[0], runs=2)])
    assert verdict.holds is False and "pole" in verdict.worst


@pytest.mark.parametrize(
    "rate, claim, duration",
    [
        (-4.0, {}, 4.0),  # twice the run, which is 2 s; it settles in 1.25 s
        (-4.0, {"duration": 3.0}, 3.0),
        (-0.5, {}, 10.0),  # five time constants
        (-0.5, {"duration": 14.0}, 14.0),
        (-0.5, {"longest": 6.5}, 6.5),
    ],
)
def test_disturbed_runs_take_twice_the_run_or_as_long_as_the_slowest_mode(rate, claim, duration):
    nominal = run(regulated(line(rate)), STILL)
    asked = C.PracticalStability(runs=2, settle=0.5, **claim)
    starts = drawn(nominal, 2, 0.02)
    found, took = disturbed(asked, nominal, starts, None, slowest_and_unstable(nominal), None)
    assert took == pytest.approx(duration, rel=1e-3) and len(found) == 2


AXIS = """
plant:
  type: Mechanism
  name: feed axis
  method: minimal
  supply: {p_s: 160 bar, p_r: 4 bar, Q_max: 80 l/min}
  pins: {foot: [0, 0]}
  bodies:
    slide: {at: ground.foot, joint: prismatic, axis: [1, 0, 0], mass: 420 kg, I_zz: 1, start: 0.3 m, hold: true}
  actuators:
    feed:
      joint: slide
      drive:
        type: ServoCylinder
        closed: 0 m
        cylinder:
          bore: 63 mm
          rod: 36 mm
          stroke: 0.6 m
          V_a0: 0.2 l
          V_b0: 0.2 l
          c_i: 1e-12
          valve: {nominal: {flow: 30 l/min, drop: 35 bar}, lag: second, frequency: 60 Hz}
          friction: {law: CoulombViscous, F_c: 250 N, b: 3500 N s/m}
controller: {law: PID, K_p: 120, K_i: 200}
loop: {sample_time: 1 ms}
scenario: {reference: {type: Hold, space: piston}, duration: 8 s}
"""


# ---- standing still ---------------------------------------------------------------------------------------------------
def test_a_run_that_stands_still_is_replaced_by_one_that_moves():
    still = run(regulated(line(-2.0)), STILL)
    assert stands_still(still) and not stands_still(stirred(still))
    moving = run(
        regulated(Linear(line(-2.0).A, line(-2.0).B, line(-2.0).C, x0=(0.1, 0.0, 0.0))), STILL
    )
    assert stirred(moving) is moving


@pytest.mark.parametrize("K_p, holds", [(600, True), (2500, False)])
def test_oil_that_settles_under_a_joint_at_rest_is_no_motion_that_a_loop_is_judged_by(K_p, holds):
    """The joint creeps by some 10 µm while its pressures find their balance; pushed off, the tight loop chatters at 23 Hz."""
    case = loads(AXIS.replace("K_p: 120", f"K_p: {K_p}"), "axis.yaml")
    seen = run(case.loop, case.scenario)
    assert 1e-6 < np.ptp(seen.log.array("x_slide")) < 1e-4 and stands_still(seen)
    (tracking,) = verify(case.loop, case.scenario, [run_claims.Tracking(error=1e-3)])
    assert tracking.holds is holds


@dataclass(frozen=True)
class Idle(Controller):
    """A law that does nothing."""

    plant: Linear

    @property
    def measured(self):
        return self.plant.outputs

    @property
    def commands(self):
        return (Signal("u0", "1", "input 0"),)

    def command(self, t, z, y, r):
        return [0.0]


def test_an_idle_law_on_an_integrator_never_holds():
    plant = Linear(((0.0,),), ((1.0,),), ((1.0,),), x0=(0.0,))
    assert answer(ClosedLoop(plant, Idle(plant))).holds is False
    assert answer(ClosedLoop(plant, Feedback(plant, ((2.0,),)))).holds is True


def test_a_bound_on_v_is_refused_where_no_law_states_one(tmp_path):
    from workbench.cases.file import loads
    from workbench.contract.errors import InputError

    text = "plant: hiab-xs031\ncontroller: PID\nscenario: {duration: 1 s}\nclaims: {practical-stability: {%s}}\n"
    asked = [c for c in loads(text % "runs: 4").claims if isinstance(c, C.PracticalStability)]
    assert [c.runs for c in asked] == [4]
    with pytest.raises(InputError, match="accompanying function"):
        loads(text % "bound: 1 J")


# ---- numbers beside the words -------------------------------------------------------------------------------------------
def come(word, last=1.0, after=2.0, pressure=False, name="a"):
    signal = Judged(name, (name,), "m", 0.1, pressure)
    return Return(signal, word, 4.0, last, after, 1.0, True)


def test_what_weighs_more_comes_first():
    held = come("staying", pressure=True)
    order = [None, held, come("back", after=1.0), come("back", after=3.0)]
    order += [come("returning", 3.9), come("staying", 1.0), come("staying", 2.0)]
    order += [come("growing", 1.0), come("growing", pressure=True, last=2.0)]
    weights = [severity(one) for one in order]
    assert weights == sorted(weights) and len(set(weights)) == len(weights)


def test_curves_come_in_the_order_of_their_worst():
    """The first signal stays first; of the others the one that was worst from any start, pressures last."""
    words = {"tool": "back", "r": "back", "q": "back", "s": "returning", "p": "growing"}
    one = [come(word, name=n, pressure=n == "p") for n, word in words.items()]
    two = [come("staying" if n == "q" else "back", name=n, pressure=n == "p") for n in words]
    apart = {n: (np.arange(2.0), np.ones(2)) for n in words}
    outcomes = [SimpleNamespace(found=tuple(found), apart=apart) for found in (one, two)]
    assert [c["signal"] for c in curves(outcomes)] == ["tool", "q", "s", "r", "p"]


def test_only_positions_are_followed_not_their_rates():
    inputs = [Signal(n, "m", "", "reference") for n in ("x_d", "dx_d", "ddx_d", "dv_d", "y@0.1_d")]
    run = SimpleNamespace(
        loop=SimpleNamespace(inputs=[*inputs, Signal("F", "N", "", "disturbance")])
    )
    assert followed(run) == ["x"]


def test_what_is_back_at_once_has_no_rate():
    """Above what is enough until t = 3 s, its largest value at t = 1 s: ln(4/2)/(3 − 1) 1/s; 0 s where it never is above."""
    time = np.arange(6.0)
    apart = np.array([3.0, 4.0, 3.0, 2.5, 1.0, 1.0])
    assert _fall(time, apart, 2.0, 4.0) == pytest.approx((3.0, np.log(2.0) / 2.0))
    assert _fall(time, apart, 5.0, 4.0) == (0.0, np.inf)
    assert _fall(time, apart, 3.5, 3.5) == (1.0, np.inf)
