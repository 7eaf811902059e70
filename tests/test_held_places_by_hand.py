"""What is held where a run is, what drives it and what is commanded, from numbers written down."""

from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE

from workbench import Hold, Saturated, Scenario, Sine, Waypoints
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.verification.observed import commanded, pump, reachable, shares, tail
from workbench.verification.practical import elsewhere
from workbench.verification.practical.branches import edges, ways
from workbench.verification.predictive import of_run, run_claims
from workbench.verification.verdict import Verdict

T = np.array([0.0, 1.0, 4.0, 6.0])


class Log(dict):
    array = dict.__getitem__
    time = T


# ---- what drives a loop -------------------------------------------------------------------------
def driven(reference=None, **disturbances):
    return SimpleNamespace(scenario=Scenario(9.0, reference, disturbances))


def test_periods_of_what_drives_a_loop():
    """Half a second of a sine; a path of 4 s with rests of 1 s, walked twice: (9 + 1)/2; once it has no period."""
    lap = lambda repeat: Waypoints("output", ((0.0,), (0.1,), (0.0,)), 2.0, 1.0, repeat=repeat)
    assert lap(2).duration == pytest.approx(commanded.commanded_periods(driven(lap(2)))[0] * 2 - 1)
    assert commanded.commanded_periods(driven(lap(1))) == []
    sine = Sine("output", "start", (0.1,), 2.0)
    assert commanded.commanded_periods(driven(sine, F=sine, G=3.0)) == [0.5]
    assert commanded.commanded_waves(driven(lap(2), F=sine)) == [2.0]


def test_what_a_period_explains_is_taken_off_where_it_fits_three_times():
    time = np.arange(0.0, 3.001, 0.25)
    error = np.sin(2 * np.pi * time) + 5.0 * time
    t, left = commanded.uncommanded(time, error, [1.0])
    assert t.tolist() == time[4:].tolist() and left == pytest.approx(np.full(9, 5.0))
    short, same = commanded.uncommanded(time[:-1], error[:-1], [1.0])
    assert short.tolist() == time[:-1].tolist() and same.tolist() == error[:-1].tolist()


# ---- limits of commands -----------------------------------------------------------------------------
def test_ranges_of_commands_are_narrowed_by_every_limit_around_the_law():
    inner = Saturated(IDLE, -3.0, 4.0)
    outer = Saturated(inner, -2.0, 9.0)
    plant = SimpleNamespace(limits=lambda: {"u0": (-2.5, 8.0), "other": (0.0, 1.0)})
    found = shares.command_limits(SimpleNamespace(plant=plant, controller=outer))
    assert found == {"u0": (-2.0, 4.0), "other": (0.0, 1.0)}
    free = SimpleNamespace(limits=dict)
    assert shares.command_limits(SimpleNamespace(plant=free, controller=inner)) == {
        "u0": (-3.0, 4.0)
    }


def test_a_tail_whose_mean_moves_by_a_quarter_of_its_width_swings(monkeypatch):
    """Quarters that go from −2 to 2 about 0, 1 and 2: steps of one beside a width of four, and a little more."""
    quiet = SimpleNamespace(detected=False, few=False, trend="")
    monkeypatch.setattr(tail, "limit_cycle", lambda *given, **more: quiet)
    monkeypatch.setattr(tail, "_swings", lambda error: True)
    quarter = np.tile([-2.0, 2.0], 8)
    time = np.arange(64.0)
    word = lambda step: (
        tail._rest(
            "e", time, np.concatenate([quarter + k * step for k in (-1, 0, 1, 2)]), 1e-3, False
        ).word
    )
    assert [word(s) for s in (1.0, -1.0, 1.125, -1.125)] == ["restless"] * 2 + ["creeping"] * 2


# ---- supplies -----------------------------------------------------------------------------------------
def supplied(*pressures, bounds=(10e5, 110e5)):
    names = [f"p_{k}" for k in range(len(pressures))]
    log = Log({name: np.array(p, float) for name, p in zip(names, pressures)})
    plant = SimpleNamespace(supply_range=bounds, supply_names=names)
    return SimpleNamespace(loop=SimpleNamespace(plant=plant), log=log)


@pytest.mark.parametrize(
    "p, word",
    [
        ([10e5, 10.09e5], "stayed at 10 bar, the least"),
        ([10e5, 10.11e5], ""),
        ([110e5, 109.91e5], "stayed at 110 bar, the most"),
        ([110e5, 109.89e5], ""),
        ([60e5, 60e5], ""),
        ([10e5, 110e5], ""),
    ],
)
def test_a_pump_that_stays_at_an_end_did_nothing(p, word):
    """Within a thousandth of its range of 100 bar, all along."""
    found = pump.unmoved(supplied(p, p))
    assert len(found) == bool(word) and (not word or word in found[0].worst)
    assert pump.unmoved(supplied(p, [60e5, 60e5])) == ()
    assert pump.unmoved(supplied(p, bounds=None)) == ()


@pytest.mark.parametrize(
    "p, room, holds",
    [
        ([20e5, 100e5], 10e5, True),
        ([15e5, 100e5], 5e5, True),
        ([10e5 - 10.0, 60e5], -10.0, True),
        ([10e5 - 12.0, 60e5], -12.0, False),
        ([60e5, 110e5 + 12.0], -12.0, False),
    ],
)
def test_a_supply_stays_within_its_range_to_rounding(p, room, holds):
    (found,) = pump.within(supplied(p))
    assert found.holds is holds and found.margin == pytest.approx(room) and found.unit == "Pa"
    assert found.text.startswith("supply pressure within 10 … 110 bar")
    assert list(pump.within(supplied(p, bounds=None))) == []


# ---- held elsewhere -----------------------------------------------------------------------------------
def held(monkeypatch, row, push=3.0, end=""):
    """The scenario in which a loop is held where its run is at a row."""
    made = []
    monkeypatch.setattr(
        elsewhere, "_moved", lambda run, scenario, row: made.append(row) or scenario
    )
    there = SimpleNamespace(end=end)
    run = lambda loop, scenario: made.append(scenario) or there
    monkeypatch.setattr(elsewhere, "simulated", run)
    path = Waypoints("output", ((0.0,), (0.5,), (0.3,)), (2.0, 4.0))
    scenario = Scenario(8.0, path, {"F": push}, log_period=0.5)
    own = SimpleNamespace(
        demand=SimpleNamespace(reference=path), scenario=scenario, log=Log(), loop=None
    )
    found = elsewhere.held_at(own, row)
    return found and made


@pytest.mark.parametrize("row, at", [(-1, 0.3), (0, 0.0), (1, 0.25), (-2, 0.4)])
def test_a_loop_is_held_where_its_path_is_at_a_row(monkeypatch, row, at):
    """At t = 1 s halfway up, at 4 s halfway down; its end is where the scenario ends, half of ten seconds at most."""
    moved, scenario = held(monkeypatch, row)
    assert moved == row and scenario.reference.point == (pytest.approx(at),)
    assert scenario.duration == 5.0 and scenario.log_period is None
    assert isinstance(scenario.reference, Hold) and scenario.disturbances == {"F": 3.0}


def test_a_disturbance_that_comes_to_rest_is_held_too(monkeypatch):
    step = Waypoints("output", ((0.0,), (7.0,)), 2.0)
    assert held(monkeypatch, -1, push=step)[1].disturbances == {"F": 7.0}
    until = Waypoints("output", ((0.0,), (7.0,)), 8.0)
    assert held(monkeypatch, -1, push=until)[1].disturbances["F"] == pytest.approx(
        until.sample(np.array([6.0]), 0)[0].item()
    )
    longer = Waypoints("output", ((0.0,), (7.0,)), 8.5)
    assert held(monkeypatch, -1, push=longer)[1].disturbances == {"F": longer}
    assert held(monkeypatch, -1, end="diverged") is None


# ---- edges of laws ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "u, leaps",
    [
        ([[0.0, 1.0, 1.26, 1.0]], True),
        ([[0.0, 1.0, 1.24, 1.0]], False),
        ([[0.0, 1.0, 1.0, 2.0]], False),
        ([[5.0, 1.0, 0.1, 0.0]], False),
        ([[4.0, 1.0, 0.1, 0.0]], True),
        ([[1.0] * 4, [1.0, -1.0, 1.0, 1.0]], True),
        ([[0.0] * 4], False),
    ],
)
def test_a_held_command_leaps_by_a_fifth_of_its_largest(u, leaps):
    """From its second to its third value alone."""
    assert ways._leaps(np.array(u)) is leaps


def test_rows_at_which_a_reference_is_at_an_end():
    table = np.array([[9.0, 0.0, 5.0], [0.0, 2.0, 6.0], [1.0, -3.0, 4.0], [7.0, 1.0, 9.0]])
    demand = SimpleNamespace(
        live=("F", "y_d", "z_d"),
        kinds={"F": "disturbance", "y_d": "reference", "z_d": "reference"},
        at=lambda t: table,
    )
    run = SimpleNamespace(demand=demand, log=Log())
    assert edges._wishes(run) == [1, 3, 2, 2][: edges.MOST_WISHES]


# ---- predictive laws ----------------------------------------------------------------------------------
def tracked(monkeypatch, reference, push=0.0, **values):
    names = tuple(values)
    law = SimpleNamespace(follows=[Signal(name, "m") for name in names])
    monkeypatch.setattr(of_run, "predictive", lambda loop: law)
    monkeypatch.setattr(of_run, "target_name", lambda name, order: name)
    scenario = SimpleNamespace(disturbances={"F": push})
    log = Log({name: np.array(v, float) for name, v in values.items()})
    demand = SimpleNamespace(reference=reference)
    return of_run.constant(SimpleNamespace(loop=None, log=log, demand=demand, scenario=scenario))


def test_what_a_predictive_law_tracks_is_constant_in_every_part(monkeypatch):
    hold = Hold("output", (0.5, 2.0))
    r, why = tracked(monkeypatch, hold, y=[0.5] * 4, z=[2.0] * 4)
    assert r.tolist() == [0.5, 2.0] and why == ""
    assert tracked(monkeypatch, hold, y=[0.5] * 4, z=[2.0, 2.1, 2.0, 2.0]) == (
        None,
        "the reference is constant",
    )
    sine = Sine("output", "start", (0.1,), 1.0)
    assert tracked(monkeypatch, sine, y=[0.5] * 4)[1] == "the reference is constant"
    assert tracked(monkeypatch, hold, 1.0, y=[0.5] * 4) == (None, "no disturbance acts")


class Plans:
    follows = ("y", "z")
    terminal = "set"
    asked: tuple = ()

    def ingredients(self, r, lost=()):
        Plans.asked = (r, lost)
        raise InputError("no terminal set")


@pytest.mark.parametrize("r, wanted", [(None, [0.0, 0.0]), ([0.5, 2.0], [0.5, 2.0])])
def test_a_predictive_law_is_asked_about_the_origin_where_its_reference_moves(
    monkeypatch, r, wanted
):
    monkeypatch.setattr(run_claims, "predictive", lambda loop: Plans())
    monkeypatch.setattr(run_claims, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(run_claims, "_lost", lambda run, law: (r, ["model = plant"]))
    claim, run = SimpleNamespace(counted=True), SimpleNamespace(loop=None)
    found = run_claims.check_mpc_stability(claim, run)
    assert found.holds is None and found.worst == "no terminal set"
    assert Plans.asked == (wanted, ("model = plant",))


# ---- what a machine could exceed ------------------------------------------------------------------------
@pytest.mark.parametrize(
    "margin, told", [(99.0, False), (100.0, True), (101.0, True), (None, False)]
)
def test_a_sentence_whose_room_the_machine_cannot_use(monkeypatch, margin, told):
    monkeypatch.setattr(reachable, "FARTHEST", 10.0)
    own = SimpleNamespace(of_unit=lambda unit: SimpleNamespace(value=10.0, source="the supply"))
    monkeypatch.setattr(reachable, "scales", lambda plant: own)
    run = SimpleNamespace(loop=SimpleNamespace(plant=None), demand=None, error_unit="m", log=None)
    text = "always (p <= 9 bar)"
    data = {"clause": text, "clauses": [{"text": text, "margin": margin, "unit": "Pa"}]}
    verdict = Verdict("k", "t", True, "sampled", margin, "Pa", data=data)
    said = reachable.sentence(None, run, verdict)
    assert bool(said) is told
    if told:
        assert said.endswith("is 10 times what is large for the machine (the supply)")
