"""Plans driven on the machine: the load-sensing pump, the law that is told its pressure, the account of the energy."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID, VDC
from plants import IEHA, machine
from plants.load_sensing import LoadSensed, on_supply
from plants.planar_crane import planar_crane
from plants.planar_whole import WholeCrane
from workbench import InputError, Sampled, cli
from workbench.edit import changed
from workbench.planning import ConstantPressure, LoadSensing, Search, Task, TwoPressures, driven_table, optimise
from workbench.planning.driven import TERMS, Account, Drives, account, claims, drive, filled, inside, loop, planned, scenario
from workbench.planning.told import SupplyTold
from workbench.reference import Waypoints
from workbench.simulate import simulate

EXAMPLES = Path(__file__).parents[1] / "examples"
CRANE = machine("hiab-xs031").plant
PUMP = LoadSensed(CRANE, 1.7e6, 0.031, 0.05)
PATH = Waypoints("cartesian", ((2.4, 0.4), (3.3, 1.6)), 6.0)


def state(rng, plant=PUMP):
    """Somewhere inside, at pressures of a crane at work."""
    x = np.array(plant.initial())
    n = plant.n
    x[:n] += rng.uniform(-0.1, 0.1, n)
    x[n: 2 * n] = rng.normal(0.0, 0.05, n)
    x[2 * n: 4 * n] = rng.uniform(20e5, 160e5, 2 * n)
    x[4 * n: -1] = rng.normal(0.0, 2.0, len(x) - 4 * n - 1)
    x[-1] = rng.uniform(60e5, 180e5)
    return [float(v) for v in x]


def inputs(plant, rng):
    """Voltages drawn, weight as it is."""
    u = [plant.defaults().get(s.name, 0.0) for s in plant.inputs]
    u[: plant.n] = [float(v) for v in rng.normal(0.0, 3.0, plant.n)]
    return u


@pytest.fixture(scope="module")
def plans():
    """One edge in 60 steps, under both supplies."""
    task = Task(WholeCrane.of(CRANE), PATH, LoadSensing(), 60, start=0.05, room=0.02, p_max=165e5)
    search = Search(nodes=105, finest=1e-4)
    return {"LS": optimise(task, search), "CP": optimise(replace(task, supply=ConstantPressure(170e5), p_max=None), search)}


@pytest.fixture(scope="module")
def drives(plans):
    """Both, under PID."""
    return {name: drive(plan, loop(on_supply(CRANE, plan.task.supply), PID(CRANE)), name="PID") for name, plan in plans.items()}


# ---- the pump -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_the_machine_on_a_following_pump_is_the_machine_at_that_pressure(seed):
    rng = np.random.default_rng(seed)
    x = state(rng)
    u = inputs(PUMP, rng)
    fixed = replace(CRANE, p_s=x[-1])
    np.testing.assert_allclose(PUMP.rhs(0.0, x, u)[:-1], fixed.rhs(0.0, x[:-1], u), rtol=1e-12)
    np.testing.assert_allclose(PUMP.monitor(0.0, x, u)[:-1], fixed.monitor(0.0, x[:-1], u), rtol=1e-12)
    np.testing.assert_allclose(PUMP.powers(0.0, x, u), fixed.powers(0.0, x[:-1], u), rtol=1e-12)


def test_the_pump_feels_the_highest_open_port_and_comes_with_its_lag():
    rng = np.random.default_rng(5)
    x = state(rng)
    parts = CRANE.split(x)
    at = {s.name: i for i, s in enumerate(PUMP.states)}
    for label, spool in zip(CRANE.labels, (4.0, -3.0, 0.0)):
        x[at[f"u_s_{label}"]] = spool
    u = inputs(PUMP, rng)
    highest = max(parts.p[0][0], parts.p[1][1], CRANE.p_r)  # the extension's valve is shut: neither of its ports is felt
    assert PUMP.felt(x, u) == pytest.approx(highest, rel=1e-12)
    assert PUMP.rhs(0.0, x, u)[-1] == pytest.approx((min(highest + 1.7e6, CRANE.p_s) - x[-1]) / 0.031, rel=1e-12)
    for label in CRANE.labels:
        x[at[f"u_s_{label}"]] = 0.0
    assert PUMP.felt(x, u) == CRANE.p_r
    assert PUMP.rhs(0.0, x, u)[-1] == pytest.approx((CRANE.p_r + 1.7e6 - x[-1]) / 0.031, rel=1e-12)


def test_at_rest_the_pump_is_above_every_chamber():
    x = PUMP.initial()
    assert len(x) == len(PUMP.states) and x[-1] >= max(p for pair in CRANE.split(x).p for p in pair)
    with pytest.raises(InputError, match="margin"):
        LoadSensed(CRANE, margin=180e5)


def test_supplies_become_machines():
    assert on_supply(CRANE, ConstantPressure(150e5)).p_s == 150e5
    assert on_supply(CRANE, LoadSensing(15e5)).margin == 15e5
    with pytest.raises(InputError, match="TwoPressures"):
        on_supply(CRANE, TwoPressures())


# ---- the law that is told ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", [VDC, PID])
def test_a_law_that_is_told_the_pressure_is_the_law_with_that_pressure(law):
    rng = np.random.default_rng(7)
    told = SupplyTold(law(CRANE))
    x = state(rng)
    at = {s.name: v for s, v in zip(PUMP.outputs, PUMP.out(0.0, x))}
    at["p_s"] = 30e5 + max(v for s, v in zip(CRANE.outputs, CRANE.out(0.0, x[:-1])) if s.unit == "Pa")
    y = [at[s.name] for s in told.measured]
    r = [float(v) for v in rng.normal(0.0, 0.1, len(told.references))]
    z = told.start(0.0, told.initial(), y, r)
    other = law(replace(CRANE, p_s=at["p_s"]))
    np.testing.assert_allclose(told.command(0.0, z, y, r), other.command(0.0, z, y[:-1], r), rtol=1e-12)
    np.testing.assert_allclose(told.step_at(1e-3, 0.0, z, y, r)[1], other.step_at(1e-3, 0.0, z, y[:-1], r)[1], rtol=1e-12)
    if law is PID:  # at a pump that is late it counts on the floor, and does not ask the valves for what no voltage gives
        late = told.command(0.0, z, [*y[:-1], 11e5], r)
        top = max(v for s, v in zip(told.measured, y) if s.unit == "Pa" and s.name != "p_s") + told.floor
        np.testing.assert_allclose(late, law(replace(CRANE, p_s=top)).command(0.0, z, y[:-1], r), rtol=1e-12)


def test_only_a_law_with_a_supply_is_told_it():
    for wrong in (Sampled(PID(CRANE), 1e-3), PID(IEHA(), **PID.suited(IEHA()))):
        with pytest.raises(InputError, match="SupplyTold"):
            SupplyTold(wrong)


# ---- the account ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("supply", ["LS", "CP"])
def test_the_terms_explain_what_is_metered(drives, supply):
    found = drives[supply]
    a, log, plant = found.account, found.log, on_supply(CRANE, found.plan.task.supply)
    assert abs(a.gap) < 0.02
    p_s = log.array("p_s") if supply == "LS" else 170e5
    P = p_s * sum(log.array(f"Q_s{k}") for k in plant.labels)
    assert a.metered == pytest.approx(float(np.trapezoid(P, log.time)), rel=2e-3)  # beside the integrator's own account
    assert 1.0 < a.metered / a.planned < 2.5 and list(a.terms) == [t for t in TERMS if t in a.terms]
    assert set(a.terms) == (set(TERMS) if supply == "LS" else {"smoothing", "tracking error", "leakage", "compression"})
    assert {v.key: v.holds for v in found.study.verdicts}["energy-balance"]


def test_a_constant_supply_plans_its_oil_times_its_pressure(plans):
    plan = plans["CP"]
    assert planned(plan) == pytest.approx(170e5 * float((plan.signals["Q"] * plan.task.dt).sum()), rel=1e-12)
    dear = replace(plan, task=replace(plan.task, supply=replace(plan.task.supply, η=0.8)))
    assert planned(dear) == pytest.approx(planned(plan), rel=1e-12)  # the meter is at the pump, not at its motor


@pytest.mark.parametrize("fault", ["volume", "area", "meter"])
def test_a_wrong_term_leaves_a_gap(drives, fault):
    """The sum is no tautology: cylinders or a meter other than those of the run are noticed."""
    found = drives["CP"]
    plant, log = on_supply(CRANE, found.plan.task.supply), found.log
    if fault == "meter":
        assert abs(replace(found.account, metered=1.1 * found.account.metered).gap) > 0.05
        return
    wrong = {"volume": {"all.V_a0": "40 l", "all.V_b0": "40 l"}, "area": {"all.bore": "90 mm"}}[fault]
    assert abs(account(found.plan, changed(plant, wrong), log).gap) > max(0.02, 3 * abs(found.account.gap))


def test_oil_that_leaks_is_found_again(plans):
    """Twice the leak, twice the term; nothing else explains it."""
    plan, terms = plans["CP"], []
    for leak in (2e-12, 4e-12):
        plant = changed(on_supply(CRANE, plan.task.supply), {"all.c_e": leak})
        log = simulate(loop(plant, PID(plant)), scenario(plan))
        a = account(plan, plant, log)
        assert abs(a.gap) < 0.02
        terms.append(a.terms["leakage"])
    assert terms[0] > 100.0 and terms[1] == pytest.approx(2 * terms[0], rel=0.1)


def test_flows_into_the_filled_chambers_are_the_valves_own(drives):
    """Motion, leakage and compression together are Q_s, instant by instant where the valves are open."""
    log, plant = drives["CP"].log, on_supply(CRANE, ConstantPressure(170e5))
    Q = sum(log.array(f"Q_s{k}") for k in plant.labels)
    assert np.sqrt(np.mean((sum(filled(plant, log)) - Q) ** 2)) < 0.02 * np.abs(Q).max()


def test_the_gap_in_closed_form():
    assert Account(60.0, 100.0, {"friction": 25.0, "leakage": 5.0}).gap == pytest.approx(0.1)


def test_what_cannot_be_driven_is_refused(plans):
    plan = plans["CP"]
    with pytest.raises(InputError, match="machine: hiab-xs031"):
        scenario(replace(plan, task=replace(plan.task, crane=planar_crane())))
    other = replace(plan, task=replace(plan.task, supply=TwoPressures()))
    with pytest.raises(InputError, match="TwoPressures"):
        drive(other, loop(CRANE, PID(CRANE)))
    for plant in (CRANE, LoadSensed(CRANE)):
        with pytest.raises(InputError, match="another supply"):
            drive(plan, loop(plant, PID(CRANE)))
    assert [type(c).__name__ for c in claims()] == ["Tracking", "Pressures", "Saturation", "Settled", "EnergyBalance"]


# ---- in words, and from the command line ------------------------------------------------------------------------------
def test_words_say_what_survives_and_what_does_not_hold(drives):
    good, bad = drives["LS"], replace(drives["LS"], account=Account(40e3, 0.9 * drives["LS"].account.metered, {}))
    found = Drives("PID", (("dynamic programming", good, ""), ("other", bad, ""), ("third", None, "runs into its end")))
    said = driven_table.text(found)
    share = bad.account.metered / good.account.metered - 1
    assert f"{share:+.1%}" in said and "runs into its end" in said and "cheaper once driven: other" in said
    told = driven_table.document(found)["motions"]
    assert told[0]["terms"] == good.account.terms and told[2] == {"name": "third", "note": "runs into its end"}
    assert "cannot drive the optimum: why" in driven_table.text(Drives("PID", (("dynamic programming", None, "why"),)))


def test_a_piston_that_leaves_its_cylinder_is_no_drive(plans):
    plan, n = plans["CP"], CRANE.cylinders[2].stroke
    rows = {"x_1": [0.1, 0.2], "x_2": [0.3, 0.3], "x_t2": [n - 0.01, n + 0.001]}
    log = SimpleNamespace(time=np.array([0.0, 0.5]), array=lambda name: np.array(rows[name]))
    with pytest.raises(InputError, match="piston x_t2 runs into its end at 0.5 s"):
        inside(CRANE, log)
    rows["x_t2"][1] = n - 0.001
    inside(CRANE, log)
    still = replace(plan.task, path=Waypoints("cartesian", ((2.4, 0.4), (2.4, 0.4001)), 6.0))
    with pytest.raises(InputError, match="room: 10 mm"):
        scenario(replace(plan, task=still, q_3=np.zeros(len(plan.q_3))))


def test_a_crane_that_is_no_machine_is_refused_before_anything_is_planned(capsys):
    assert cli.main(["plan", str(EXAMPLES / "hiab-triangle-ls.yaml"), "--drive", "PID"]) == 3
    assert "machine: hiab-xs031" in capsys.readouterr().err


def test_a_plan_without_room_is_refused_before_anything_is_planned(tmp_path, capsys):
    file = tmp_path / "tight.yaml"
    file.write_text("crane: {machine: hiab-xs031}\npath: {points: [[2.4 m, 0.4 m], [3.3 m, 1.6 m]], leg: 6 s}\n")
    assert cli.main(["plan", str(file), "--drive", "PID", "--report", str(tmp_path / "p.pdf")]) == 3
    assert "limits.room" in capsys.readouterr().err and not (tmp_path / "p.pdf").exists()


def test_the_example_is_planned_driven_and_written(tmp_path, capsys):
    file = tmp_path / "short.yaml"
    text = (EXAMPLES / "hiab-triangle-driven.yaml").read_text("utf-8")
    points = "[[2.4 m, -0.4 m], [3.6 m, -0.4 m], [3.6 m, 0.8 m], [2.4 m, -0.4 m]]"
    assert points in text and "steps: 150" in text
    short = text.replace(points, "[[2.4 m, 0.4 m], [3.3 m, 1.6 m]]").replace("steps: 150", "steps: 60")
    file.write_text(short.replace("leg: 10 s", "leg: 6 s") + "\nsearch: {nodes: 105, finest: 0.1 mm}\n")
    written = tmp_path / "d.json", tmp_path / "p.pdf"
    assert cli.main(["plan", str(file), "--drive", "PID", "--json", str(written[0]), "--report", str(written[1])]) == 0
    driven = json.loads(written[0].read_text("utf-8"))["driven"]
    assert driven["law"] == "PID" and all(abs(m["gap"]) < 0.02 for m in driven["motions"] if "gap" in m)
    assert "driven by PID" in capsys.readouterr().out and written[1].read_bytes().startswith(b"%PDF")
