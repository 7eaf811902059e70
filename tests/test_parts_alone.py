"""Small parts of laws, plants and claims by themselves, on inputs whose answer is known by hand."""

from dataclasses import MISSING, fields, replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from controllers.mpc.along import Held
from controllers.mpc.loop import commands_of, logged
from controllers.mpc.terminal_set import _needed
from controllers.pid.law import PID
from controllers.pid_tuning.oscillation import limit_cycle
from controllers.vdc.drives.servo_valve_ledger import unsaturated
from plants import LinearActuator
from plants.components.radial_pump import Piston, RadialPump
from plants.valve_circuits import Circuit, Openings, accounts
from plants.valve_circuits.diagnosis import Left, _blamed
from plants.valve_circuits.inverse import opening
from workbench import ClosedLoop, Sampled, Scenario, System
from workbench.numerics import linearisation
from workbench.verification.claims import Claim
from workbench.verification.linear.step_matrix import Matrices
from workbench.verification.observed import oscillation
from workbench.verification.observed.holding import _poses
from workbench.verification.practical.limits import claims as limits
from workbench.verification.practical.limits.foundation import Foundation
from workbench.verification.regions.saturation import Region
from workbench.verification.rigorous.balls import Ball, exponential
from workbench.verification.run_claims import Unasked


def test_a_valve_without_end_stops_opens_beyond_its_dead_band():
    """D_± times what the voltage exceeds the dead band by, on either side; nothing within."""
    valve = SimpleNamespace(dead_band=0.7)
    at = lambda volt: float(unsaturated(valve, volt, 3.0, 5.0))
    assert at(2.7) == pytest.approx(3.0 * 2.0)
    assert at(-2.7) == pytest.approx(-5.0 * 2.0)
    assert [at(volt) for volt in (-0.7, -0.3, 0.0, 0.3, 0.7)] == [0.0] * 5
    assert at(40.7) == pytest.approx(120.0)  # no end stop


def test_rows_that_the_others_imply_are_left_out_wherever_they_stand():
    """|x| ≤ 1, |y| ≤ 1 imply |x| ≤ 2, |y| ≤ 5 and |x + y| ≤ 4, also one after the other."""
    needed = [[1.0, 0.0], [0.0, 1.0]]
    for rows in (
        [[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, 0.2]],
        [[0.5, 0.0], [1.0, 0.0], [0.25, 0.25], [0.0, 0.2], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.25, 0.25]],
    ):
        assert _needed(np.array(rows)).tolist() == needed


def region(P) -> Region:
    one = np.eye(2)
    return Region(-one, one, -one, np.ones(2), None, np.array(P), np.zeros((2, 2)), np.ones(2))


def test_a_region_contains_its_own_edge_and_nothing_beyond():
    """x²/4 + y² ≤ 1 in exact numbers."""
    found = region([[0.25, 0.0], [0.0, 1.0]])
    beyond = np.nextafter(2.0, 3.0)
    assert found.holds([2.0, 0.0]) and found.holds([0.0, -1.0])
    assert not found.holds([beyond, 0.0]) and not found.holds([0.0, -beyond / 2])


def solution(**changes):
    base = {"z": np.array([0.2, -0.4, 0.3, 1.2]), "λ": np.zeros(3), "status": 1, "iterations": 7}
    return SimpleNamespace(**(base | changes))


def last(found, ρ2=(4.0, 9.0)):
    problem = SimpleNamespace(soft=(0, 1), ρ2=np.array(ρ2))
    dense = SimpleNamespace(
        problem=problem, value=lambda θ, z: float(z @ z), kkt=lambda θ, z, λ: float(len(λ))
    )
    return (None, found, None, 2, dense)


def test_a_sample_of_a_predictive_law_is_told():
    """Slacks are the last unknowns over √ρ₂; a limit is active where its multiplier is not lost beside the largest."""
    row = logged(last(solution(**{"λ": np.array([5.0, -1e-11, 0.0])})))
    assert row[:2] == [1, 7] and row[4:6] == [2, 2]
    assert row[2] == pytest.approx(0.2**2 + 0.4**2 + 0.3**2 + 1.2**2)
    assert row[3] == pytest.approx(max(0.3 / 2, 1.2 / 3)) and row[6] == 3.0
    assert logged(last(solution(**{"λ": np.array([5.0, -1e-12, 4e-12])})))[5] == 1
    assert logged(last(solution()))[5] == 0
    none = logged(last(solution(**{"λ": np.zeros(0), "z": np.array([1.0, 0.0, -0.1, -0.1])})))
    assert none[3] == 0.0 and np.isnan(none[6])
    lost = logged(last(solution(z=np.array([np.nan, 0.0, 0.0, 0.0]), status=-1)))
    assert (
        lost[:2] == [-1, 7] and lost[4:6] == [2, 0] and np.isnan([lost[2], lost[3], lost[6]]).all()
    )


def test_a_plan_is_read_block_by_block_from_its_age_on():
    problem = SimpleNamespace(N=5, blocks=np.array([1, 2, 2]), stroke=np.array([10.0]))
    z = np.array([1.0, 2.0, 3.0, 99.0])
    assert commands_of(problem, z).ravel().tolist() == [10.0, 20.0, 20.0, 30.0, 30.0]
    assert commands_of(problem, z, 3).ravel().tolist() == [30.0, 30.0, 30.0, 30.0, 30.0]


class Followed(System):
    """What PID's own settings look at, beside what every plant has."""

    states = inputs = ()

    def initial(self):
        return []

    def rhs(self, t, x, u):
        return []

    def __init__(self, **own):
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def limits(self):
        return {"u": (-3.0, 4.0), "w": (-2.0, 1.0)}


def test_gains_for_a_plant_whose_command_sets_a_velocity():
    """K_p k is the loop's rate and K_i/K_p that of the sum, whatever the gain k; the smallest limit is the law's."""
    one = PID.suited(Followed(velocity_gain=0.25))
    assert (one["K_p"], one["K_i"], one["K_v"]) == ((180.0,), (900.0,), (4.0,))
    assert one["u_max"] == 2.0 and one["feed"] == "gain" and one["damping"] == "none"
    own = PID.suited(Followed(velocity_gains=(0.5, 4.0), loop_rate=6.0, integral_rate=0.3))
    assert own["K_p"] == pytest.approx((12.0, 1.5)) and own["K_v"] == pytest.approx((2.0, 0.25))
    assert own["K_i"] == pytest.approx((3.6, 0.45))
    ninth = PID.suited(Followed(velocity_gain=2.0, loop_rate=18.0))
    assert ninth["K_i"][0] / ninth["K_p"][0] == pytest.approx(2.0)
    assert PID.suited(Followed(cylinders=("lift",))) == {}


def test_a_slope_without_a_derivative_is_a_central_difference():
    """Of an affine flow any secant is the slope; of x|x| the one between equal steps h = 4 is h."""
    A = np.array([[2.0, -3.0], [0.5, 7.0]])
    flow = lambda t, x, w, c: A @ x + np.array([1.0, x[1] * abs(x[1])])
    nowhere = A.copy()
    nowhere[:, 1] = np.nan
    frozen = SimpleNamespace(
        S=np.array([1.0, 4e6]),
        c=None,
        jac={"flow": lambda *_: [nowhere]},
        traced=SimpleNamespace(flow=flow, project=None),
    )
    found = Matrices.slope(frozen, "flow", 0.0, np.zeros(2), None)
    assert found == pytest.approx(A + np.array([[0.0, 0.0], [0.0, 4.0]]), rel=1e-9)


class Asked(Exception):
    """Carries what a scan was asked for."""


@pytest.mark.parametrize("to", [0.2, 5.0])
def test_a_parameter_is_scanned_from_itself_to_where_it_is_asked(monkeypatch, to):
    """Nine values, rising by equal factors, or falling in equal steps."""

    class Scanning(limits.Scan):
        def along(self, values, *_):
            raise Asked([float(v) for v in values], self.make)

    monkeypatch.setattr(limits, "Scan", Scanning)
    monkeypatch.setattr(limits, "lasting", lambda run, settle: run)
    monkeypatch.setattr(limits, "diverged", lambda *_: None)
    monkeypatch.setattr(limits, "unfounded", lambda *_: None)
    plant = LinearActuator()
    loop = ClosedLoop(plant, Sampled(PID(plant, **PID.suited(plant)), 1e-3))
    run = SimpleNamespace(loop=loop, scenario=Scenario(duration=0.1), log=None)
    claim = SimpleNamespace(
        parameter="K", to=to, at_least=None, counted=True, bound=None, error=0.05
    )
    with pytest.raises(Asked) as told:
        limits.check_parameter(claim, run, Foundation.known(1.0))
    values, make = told.value.args
    assert make(1.7)[0].plant == replace(plant, K=1.7 * plant.K)
    assert make(1.7)[0].controller == loop.controller
    assert len(values) == 9 and values[0] == 1.0 and values[-1] == pytest.approx(to)
    steps = np.diff(values) if to < 1 else np.diff(np.log(values))
    assert steps == pytest.approx([steps[0]] * 8)


def test_a_rod_chamber_between_pump_and_tank_is_not_left_open():
    """With p–r and r–t open the pump's oil runs through the rod chamber: a standing rod leaves no range there."""
    c = Circuit()
    for openings, crossed in (
        (Openings(u_pr=0.3, u_tr=0.2), True),
        (Openings(u_ph=0.3, u_th=0.2), True),
        (Openings(u_pr=0.3), False),
        (Openings(u_tr=0.2), False),
    ):
        row = c.rows(openings)[0]
        section = accounts.Section(row, *map(np.array, (0.0, 1e4, 3e6, 4e6)))
        heads, rods = accounts.open_ranges(section, np.array(5e6), c.pump.Q)
        is_open = heads[1] > heads[0] or rods[1] > rods[0]
        assert bool(is_open) is not crossed, openings


def test_an_exponential_keeps_what_underflows():
    """(e^X)_13 = a²/2 of a nilpotent X with a on its first diagonal above; a² is no number any more."""
    a = 1e-170
    found = exponential(Ball.of(np.array([[0.0, a, 0.0], [0.0, 0.0, a], [0.0, 0.0, 0.0]])))
    assert found.mid[0, 2] == 0.0 and found.rad[0, 2] > 0.0


def swinging(*modes):
    """A with modes (ω, ζ) of its own, block by block."""
    A = np.zeros((2 * len(modes), 2 * len(modes)))
    for k, (ω, ζ) in enumerate(modes):
        A[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[0.0, 1.0], [-(ω**2), -2 * ζ * ω]]
    return A


@pytest.mark.parametrize(
    "ω, said",
    [
        (10.0, ["damping 0.05 at 10 rad/s (1.59 Hz)"]),
        (14.9, ["damping 0.05 at 10 rad/s"]),  # 30 is farther; 15 at damping 0.21 is no such mode
        (29.0, ["damping 0.19 at 30 rad/s (4.77 Hz)"]),
        (61.0, []),  # more than half of it away
        (6.6, []),
    ],
)
def test_a_mode_near_what_was_seen_is_named(monkeypatch, ω, said):
    """Damping below 0.2, nearest in frequency, within half of it."""
    A = swinging((10.0, 0.05), (15.0, 0.21), (30.0, 0.19))
    monkeypatch.setattr(linearisation, "linearize", lambda plant, x: SimpleNamespace(A=A))
    run = SimpleNamespace(
        loop=SimpleNamespace(plant=SimpleNamespace(states=range(6))),
        log=SimpleNamespace(values=np.zeros((1, 6))),
    )
    found = oscillation._mode(run, ω)
    assert len(found) == len(said) and all(part in text for part, text in zip(said, found))


def left_over(sizes) -> Left:
    """60 l/min in at the first instant and out at the second: no element does that by its own law."""
    return Left(np.array([1e-3, -1e-3]), np.array(sizes), np.array([True, True]))


TWICE = np.array([1.0, 1.0])


@pytest.mark.parametrize(
    "sizes, words", [([0.2, 0.1], "passes 60 l/min"), ([0.1, 0.2], "would have to take back 60")]
)
def test_oil_the_pump_leaves_over_has_a_direction(sizes, words):
    (found,) = _blamed([0.5, 0.75], {}, {}, {"pump": left_over(sizes)}, 50e5 * TWICE, 2e-3)
    assert found.element == "pR" and found.size == 0.2
    assert words in found.words and "at 50 bar" in found.words
    assert f"t = {0.5 if sizes[0] > sizes[1] else 0.75:.2f} s" in found.words


@pytest.mark.parametrize("side, bar", [("h", 30), ("r", 40)])
@pytest.mark.parametrize(
    "sizes, what, words",
    [([0.2, 0.1], "R", "passes 60 l/min out"), ([0.1, 0.2], "S", "60 l/min come into the")],
)
def test_oil_a_chamber_leaves_over_has_a_side_and_a_direction(side, bar, sizes, what, words):
    row = Circuit().rows(Openings())[0]
    section = accounts.Section(row, 0.0 * TWICE, 0.0 * TWICE, 30e5 * TWICE, 40e5 * TWICE)
    none = accounts.Flows(*(0.0 * TWICE for _ in accounts.Flows._fields))
    left = {("arm", side): left_over(sizes)}
    (found,) = _blamed([0.5, 0.75], {"arm": section}, {"arm": none}, left, 50e5 * TWICE, 2e-3)
    assert found.element == f"{side}{what}_arm"
    assert words in found.words and f"at {bar} bar" in found.words
    assert {"h": "head", "r": "rod"}[side] in found.words


def test_nothing_left_over_blames_nobody():
    none = Left(0.0 * TWICE, 0.0 * TWICE, TWICE > 0)
    assert _blamed([0.5, 0.75], {}, {}, {"pump": none}, 50e5 * TWICE, 2e-3) == []


def test_commands_on_their_way_act_oldest_first():
    """Of each command the newest comes first in the state; planned ones follow the last of them."""
    along = SimpleNamespace(commands=2, split=(3, 0.25), length=4, size_x=(1.0, 1.0))
    x = np.array([7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0])
    planned = np.array([[100.0 + k, 200.0 + k] for k in range(5)])
    found = Held.acting(along, x, planned)
    assert found.tolist() == [[3, 30], [2, 20], [1, 10], [100, 200], [101, 201]]
    assert Held.acting(along, x, planned[:2]).tolist() == [[3, 30], [2, 20]]
    at_once = SimpleNamespace(commands=2, split=(0, 0.0), length=0, size_x=(1.0, 1.0))
    assert Held.acting(at_once, x[:2], planned).tolist() == planned.tolist()


class Logged(dict):
    """A log of three instants by its columns."""

    time = np.array([0.0, 1.0, 2.0])

    def array(self, name):
        return np.array(self[name])


def test_poses_of_a_run_take_inputs_from_the_log_or_their_defaults():
    """An input that is neither logged nor has a default is zero; instants that are not finite are left out."""
    signal = lambda name: SimpleNamespace(name=name)
    plant = SimpleNamespace(
        states=(signal("a"),),
        inputs=(signal("u"), signal("g"), signal("f")),
        defaults=lambda: {"g": 9.0},
    )
    log = Logged(a=[1.0, np.nan, 3.0], u=[4.0, 5.0, 6.0])
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), log=log)
    assert list(_poses(run)) == [(0.0, [1.0], [4.0, 9.0, 0.0]), (2.0, [3.0], [6.0, 9.0, 0.0])]


def test_a_delay_is_scanned_by_equal_factors_with_its_own_and_what_is_asked_for(monkeypatch):
    """Nine values from the first one on, by factors of √2 here, the loop's own delay and the one that is asked for."""

    class Scanning(limits.Scan):
        def along(self, values, *_):
            raise Asked(values)

    monkeypatch.setattr(limits, "Scan", Scanning)
    monkeypatch.setattr(limits, "diverged", lambda *_: None)
    monkeypatch.setattr(limits, "windows", lambda *_: ())
    monkeypatch.setattr(limits, "unfounded", lambda *_: None)
    run = SimpleNamespace(loop=SimpleNamespace(period=1e-3))
    claim = SimpleNamespace(up_to=16e-3, bound=None, counted=True, error=0.05)
    with pytest.raises(Asked) as told:
        clock = limits.Clock("delay", 0.0, 1e-3, 3e-3, None)
        limits._limit(clock, claim, run, Foundation.known(1.0), None)
    (values,) = told.value.args
    wanted = sorted([0.0, 3e-3, *(1e-3 * 2 ** (k / 2) for k in range(9))])
    assert values == pytest.approx(wanted)


def test_ports_of_a_radial_pump_open_one_after_the_other():
    """Half open at sin θ = ε/2, wholly from ε on; port 2 is the mirror of port 1."""
    pump = RadialPump(ε=0.08)
    at = lambda sine: tuple(map(float, pump.openings(Piston(sine, 0.0, 0.0, 0.0))))
    assert at(0.04) == pytest.approx((0.5, 0.0)) and at(-0.04) == pytest.approx((0.0, 0.5))
    for beyond in (0.08, 0.3, 1.0):
        assert at(beyond) == (1.0, 0.0) and at(-beyond) == (0.0, 1.0)
    assert at(0.0) == (0.0, 0.0) and 0 < at(0.02)[0] < 0.5 < at(0.06)[0] < 1


def complete(kind) -> bool:
    """Whether a claim can be asked without a number of the user's."""
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind))


def test_what_counts_by_default():
    """All but the hypotheses of VDC's theorem, its inequality and the margins of the linearised loop."""
    kinds = [kind for kind in get_args(Claim) if kind is not Unasked]
    made = [kind() for kind in kinds if complete(kind)]
    assert len(made) >= 15
    information = {type(claim).__name__ for claim in made if not claim.counted}
    assert information == {"Hypotheses", "Inequality", "Linear", "Sensitivity"}
    assert all(kind.counted for kind in kinds if not complete(kind))


@pytest.mark.parametrize("v", [0.01, -0.01])
def test_an_opening_carries_the_reliefs_of_the_sides_it_feeds_and_drains(v):
    circuit = Circuit()
    (section,) = circuit.sections
    forwards, back = (circuit.rows(Openings.command(u))[0] for u in (1.0, -1.0))
    row = [np.maximum(a, b) for a, b in zip(forwards, back)]
    found = opening(row, v, 2e4 * v / abs(v), 20e6)
    sides = [(section.A_h, section.P_hM), (section.A_r, section.P_rM)]
    (A, fed), (_, drained) = sides if v > 0 else sides[::-1]
    assert (found.A, found.P_iM, found.P_oM) == pytest.approx((A, fed, drained))
    assert found.push == pytest.approx(A * 20e6 - 2e4)


def test_the_last_six_cycles_of_a_relay_are_measured_to_their_end():
    """A square wave of 40 samples: nine rising edges, eight cycles between them, of which the last six count."""
    T, n = 1e-3, 40
    t = T * np.arange(9 * n + 5)
    side = np.where((np.arange(len(t)) - 7) % n < n // 2, 1.0, -1.0)
    side[:7] = -1.0
    error = -np.sin(2 * np.pi * (np.arange(len(t)) - 7) / n)
    found = limit_cycle(t, side, error, 0.3 * side)
    assert found.settled and len(found.cycles) == 6
    assert [c.period for c in found.cycles] == pytest.approx([n * T] * 6)
    rising = np.flatnonzero((side[1:] > 0) & (side[:-1] < 0)) + 1
    assert found.cycles[-1].begin == pytest.approx(T * rising[-2])
