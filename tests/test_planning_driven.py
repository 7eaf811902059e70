"""Plans driven on the machine: the account of the energy under every supply, what is said of it, the command line."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID, VDC
from plants import machine
from plants.crane.load_sensing import LoadSensed, TwoLines, on_supply
from plants.crane.planar import planar_crane
from plants.crane.planar_whole import WholeCrane
from workbench import InputError
from workbench.cases.edit import changed
from workbench.commands import cli
from workbench.numerics import c_code
from workbench.planning import (
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Task,
    TwoPressures,
    driven_table,
    optimise,
)
from workbench.planning.account import TERMS, Account, account, filled, planned
from workbench.planning.driven import SETTINGS, Drives, claims, drive, inside, loop, scenario
from workbench.run.reference import Waypoints
from workbench.run.simulate import simulate
from workbench.verification.ledger import balance as ledger

EXAMPLES = Path(__file__).parents[1] / "examples"
CRANE = machine("hiab-xs031").plant
PATH = Waypoints("cartesian", ((2.4, 0.4), (3.3, 1.6)), 6.0)


LEAKS = {
    f"{joint}.{c}": f"{q} m^3/(s Pa)"
    for joint in ("lift", "tilt")
    for c, q in (("c_i", 1e-12), ("c_e", 5e-13))
}
HEAVY = changed(CRANE, {"payload.mass": "90 kg", "lift.bore": "90 mm", **LEAKS})
SUPPLIES = {
    "LS": PlannedLoadSensing(η=0.8, standby=40e5),
    "CP": PlannedConstantPressure(170e5),
    "electric": ElectricLoadSensing(8e5, 35e5, creep=3e-3),
    "two": TwoPressures(75e5, 180e5),
}
PATHS = {
    "electric": Waypoints("cartesian", ((3.3, 1.5), (2.5, 0.3)), 5.0)
}  # downwards, a heavier load on a larger cylinder


@pytest.fixture(scope="module")
def plans():
    """One edge under every supply; the electric one with another load, cylinder and path."""
    search, found = Search(nodes=105, finest=1e-4), {}
    for name, supply in SUPPLIES.items():
        crane = HEAVY if name == "electric" else CRANE
        limited = 165e5 if name in ("LS", "electric") else None
        task = Task(
            WholeCrane.of(crane),
            PATHS.get(name, PATH),
            supply,
            60,
            start=0.05,
            room=0.02,
            p_max=limited,
        )
        found[name] = optimise(task, search)
    return found


@pytest.fixture(scope="module")
def drives(plans):
    """All of them, under PID."""
    return {name: drive(plan, closed(plan), name="PID") for name, plan in plans.items()}


def closed(plan):
    """PID on the plan's machine and supply."""
    plant = on_supply(plan.task.crane.machine, plan.task.supply)
    return loop(plant, PID(plant.machine or plant))


# ---- the account ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("supply", SUPPLIES)
@pytest.mark.long
def test_the_terms_explain_what_is_metered(drives, supply):
    found = drives[supply]
    a, log, plant = found.account, found.log, closed(found.plan).plant
    assert abs(a.gap) < 0.02
    lines = {"CP": lambda k: 170e5, "two": lambda k: log.array(f"p_s{k}")}.get(
        supply, lambda k: log.array("p_s")
    )
    P = sum(lines(k) * log.array(f"Q_s{k}") for k in plant.labels)
    assert a.metered == pytest.approx(
        float(np.trapezoid(P, log.time)), rel=2e-3
    )  # beside the integrator's own account
    assert 1.0 < a.metered / a.planned < 2.5 and list(a.terms) == [t for t in TERMS if t in a.terms]
    assert set(a.terms) == (
        {"smoothing", "tracking error", "leakage", "compression"} if supply == "CP" else set(TERMS)
    )
    assert {v.key: v.holds for v in found.examination.verdicts}["energy-balance"]
    assert a.motor == pytest.approx(a.metered / found.plan.task.supply.η, rel=2e-3)


@pytest.mark.long
def test_oil_that_leaks_is_found_in_both_chambers(drives):
    """Where a valve fills a or b: the pump's oil is that of the motion, the leakage and the compression, at every instant."""
    found = drives["electric"]
    log, plant = found.log, closed(found.plan).plant
    assert found.account.terms["leakage"] > 0.01 * found.account.metered
    seen = set()
    for i, k in enumerate(plant.labels[:2]):
        moved, leaked, squeezed = (Q[:, i] for Q in filled(plant, log))
        steady = np.abs(squeezed) < 1e-6  # elsewhere ṗ is but a difference of the log
        at = log.array(f"u_s_{k}")
        for side, here in (("a", steady & (at > 1.0)), ("b", steady & (at < -1.0))):
            if here.any():
                off = (log.array(f"Q_s{k}") - moved - leaked - squeezed)[here]
                assert np.median(np.abs(off)) < 0.05 * np.median(np.abs(leaked[here])), (k, side)
                seen.add(side)
    assert seen == {"a", "b"}


@pytest.mark.long
def test_friction_is_what_the_plan_would_ask_for_with_it(drives):
    """The term against (33) written out: the highest pressure with the run's friction, times the reference's oil."""
    from workbench.planning.drive import extension

    found = drives["LS"]
    log, task = found.log, found.plan.task
    tips, q_3 = task.path.sample(log.time, 0)[0], extension(found.plan, log.time)
    x = np.stack(
        np.broadcast_arrays(*task.crane.pistons(task.crane.joints([tips[:, 0], tips[:, 1]], q_3))),
        axis=1,
    )
    dt = np.diff(log.time)
    v = np.diff(x, axis=0) / dt[:, None]
    f_f = np.stack(
        [(log.array(f"f_f{k}")[1:] + log.array(f"f_f{k}")[:-1]) / 2 for k in CRANE.labels], axis=1
    )
    A_a, A_b = (
        np.array([c.A_a for c in CRANE.cylinders]),
        np.array([c.A_b for c in CRANE.cylinders]),
    )
    Q = np.where(v > 0, A_a * v, -A_b * v).sum(axis=1)
    sink = lambda F: np.maximum(
        np.where(F * v > 0, np.where(F > 0, F / A_a, -F / A_b), 0.0).max(axis=1) + 20e5, 40e5
    )
    from workbench.planning.dynamic import motion

    F = motion(replace(task, steps=len(dt), Q_max=None, p_max=None), q_3)["F"]
    assert found.account.terms["friction"] == pytest.approx(
        float((Q * (sink(F + f_f) - sink(F)) * dt).sum()), rel=1e-6
    )


@pytest.mark.long
def test_the_certificate_is_checked_while_a_plan_is_driven(monkeypatch):
    """VDC on a load-sensing pump: balance and cuts hold, what a machine does not meet is named; one short edge, not compiled."""
    monkeypatch.setattr(c_code, "library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})
    monkeypatch.setattr(import_module("workbench.run.fused"), "_loops", {})
    short = Waypoints("cartesian", ((2.4, 0.4), (2.8, 0.9)), 2.0)
    task = Task(
        WholeCrane.of(CRANE), short, PlannedLoadSensing(creep=3e-3), 30, start=0.05, room=0.02
    )
    own = loop(on_supply(CRANE, task.supply), VDC(CRANE, **SETTINGS["VDC"]))
    found = drive(optimise(task, Search(nodes=105, finest=1e-3)), own, claims(own), "VDC")
    said = {v.key: v for v in found.examination.verdicts}
    assert all(
        said[key].holds
        for key in ("tracking", "pressures", "energy-balance", "identity", "power-flows")
    )
    assumed = {a["text"]: a["holds"] for a in said["hypotheses"].data["assumptions"]}
    assert (
        not said["hypotheses"].counted
        and said["hypotheses"].holds is False
        and assumed["continuous law, no hold"] is False
    )
    assert (
        assumed["the law is told the supply pressure"]
        and assumed["the controller's model is the plant"]
    )
    assert assumed["no valve waits for its pump"] is False
    assert "nothing unknown between plant and law" not in assumed
    assert abs(found.account.gap) < 0.05 and found.error.max() < 1e-3


def test_a_constant_supply_plans_its_oil_times_its_pressure(plans):
    plan = plans["CP"]
    assert planned(plan) == pytest.approx(
        170e5 * float((plan.signals["Q"] * plan.task.dt).sum()), rel=1e-12
    )
    dear = replace(plan, task=replace(plan.task, supply=replace(plan.task.supply, η=0.8)))
    assert planned(dear) == pytest.approx(
        planned(plan), rel=1e-12
    )  # the meter is at the pump, not at its motor


@pytest.mark.parametrize("fault", ["volume", "area", "meter"])
def test_a_wrong_term_leaves_a_gap(drives, fault):
    """The sum is no tautology: cylinders or a meter other than those of the run are noticed."""
    found = drives["CP"]
    plant, log = on_supply(CRANE, found.plan.task.supply), found.log
    if fault == "meter":
        assert abs(replace(found.account, metered=1.1 * found.account.metered).gap) > 0.05
        return
    wrong = {"volume": {"all.V_a0": "40 l", "all.V_b0": "40 l"}, "area": {"all.bore": "90 mm"}}[
        fault
    ]
    assert abs(account(found.plan, changed(plant, wrong), log).gap) > max(
        0.02, 3 * abs(found.account.gap)
    )


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
    log, plant = drives["CP"].log, on_supply(CRANE, PlannedConstantPressure(170e5))
    Q = sum(log.array(f"Q_s{k}") for k in plant.labels)
    assert np.sqrt(np.mean((sum(filled(plant, log)).sum(axis=1) - Q) ** 2)) < 0.02 * np.abs(Q).max()


@pytest.mark.quick
def test_the_gap_in_closed_form():
    assert Account(60.0, 100.0, {"friction": 25.0, "leakage": 5.0}).gap == pytest.approx(0.1)


def test_what_cannot_be_driven_is_refused(plans):
    plan = plans["CP"]
    with pytest.raises(InputError, match="machine: hiab-xs031"):
        scenario(replace(plan, task=replace(plan.task, crane=planar_crane())))
    for plant in (CRANE, LoadSensed(CRANE), TwoLines(CRANE)):
        with pytest.raises(InputError, match="another supply"):
            drive(plan, loop(plant, PID(CRANE)))
    asked = [type(c).__name__ for c in claims(loop(LoadSensed(CRANE), VDC(CRANE)), practical=True)]
    assert (
        asked[:5]
        == [type(c).__name__ for c in claims()]
        == ["Tracking", "Pressures", "Saturation", "Settled", "EnergyBalance"]
    )
    assert asked[5:] == ["Identity", "PowerFlows", "PracticalStability", "Hypotheses", "Inequality"]


# ---- in words, and from the command line ------------------------------------------------------------------------------
def test_words_say_what_survives_and_what_does_not_hold(drives):
    good, a = drives["LS"], drives["LS"].account
    bad = replace(good, account=Account(1.6 * a.planned, 0.9 * a.metered, {}))
    dear = replace(good, account=Account(1.6 * a.planned, 1.2 * a.metered, {}))
    found = Drives(
        "PID",
        (
            ("dynamic programming", good, ""),
            ("other", bad, ""),
            ("pseudo-inverse", dear, ""),
            ("third", None, "runs into its end"),
        ),
    )
    said = driven_table.text((found,))
    assert "saving over pseudo-inverse: planned 37.5 %, metered 16.7 %: 44 % of it survives" in said
    assert (
        "runs into its end" in said
        and "cheaper once driven: other" in said
        and "saving over other" not in said
    )
    assert (
        "at the motor" in said
        and f"{good.plan.creeping()} of 60 planned steps lean on creeping" in said
    )
    told = driven_table.document((found, found))
    assert told["driven"]["motions"][0]["terms"] == a.terms and told["driven_beside"] == [
        told["driven"]
    ]
    assert (
        told["driven"]["motions"][3] == {"name": "third", "note": "runs into its end"}
        and driven_table.document(()) == {}
    )
    assert "cannot drive the optimum: why" in driven_table.text(
        (Drives("PID", (("dynamic programming", None, "why"),)),)
    )


def test_only_claims_that_count_are_missed(drives):
    """What is information does not hold on any real machine; it is told, and no failure."""
    good = drives["LS"]
    v = good.examination.verdicts[0]
    examination = replace(
        good.examination,
        verdicts=[
            replace(v, key="a", holds=False),
            replace(v, key="b", holds=None),
            replace(
                v,
                key="hypotheses",
                claim="2 of 3 met",
                worst="not met: x",
                holds=False,
                counted=False,
            ),
        ],
    )
    bad = replace(good, examination=examination)
    assert driven_table.failing(bad) == "a, b (undecided)"
    held = driven_table.held(bad)
    assert (
        held[0].startswith("under the optimum 0 of 2 claims hold")
        and held[-1] == "2 of 3 met; not met: x"
        and len(held) == 4
    )


def test_an_optimum_whose_chambers_ran_empty_is_told_what_supply_it_needs(drives):
    good = drives["LS"]
    log = good.log
    values = log.values.copy()
    at = [s.name for s in log.signals].index
    values[5:, at("p_b1")] = -1e5  # below vacuum, as the lift sinks fast on little pressure
    for name, value in (("u_s_1", -3.0), ("dx_1", -0.1), ("f_p1", 6e4), ("p_s", 30e5)):
        values[5:, at(name)] = value
    bad = replace(
        good,
        examination=replace(
            good.examination,
            log=replace(log, values=values),
            run=replace(good.examination.run, log=replace(log, values=values)),
        ),
    )
    said = driven_table.remarks(Drives("PID", (("dynamic programming", bad, ""),)), verdicts=False)
    assert (
        any("supply fills cylinder 1" in line and "not the 5" in line for line in said)
        and "standby" in said[-1]
    )
    assert driven_table.starved(good) == []


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


def test_a_pump_without_a_margin_is_refused_before_anything_is_planned(tmp_path, capsys):
    text = (
        (EXAMPLES / "hiab-triangle-driven.yaml")
        .read_text()
        .replace("margin: 20 bar", "margin: 0 bar")
    )
    (tmp_path / "none.yaml").write_text(text)
    assert cli.main(["plan", str(tmp_path / "none.yaml"), "--drive", "VDC", "--quiet"]) == 3
    said = capsys.readouterr().err
    assert "none.yaml, supply: the machine's pump cannot be that of the plan" in said
    assert "margin: 0 Pa; it must be greater than zero" in said and "mend:" in said


def test_a_plan_without_room_is_refused_before_anything_is_planned(tmp_path, capsys):
    file = tmp_path / "tight.yaml"
    file.write_text(
        "crane: {machine: hiab-xs031}\npath: {points: [[2.4 m, 0.4 m], [3.3 m, 1.6 m]], leg: 6 s}\n"
    )
    assert cli.main(["plan", str(file), "--drive", "PID", "--report", str(tmp_path / "p.pdf")]) == 3
    assert "limits.room" in capsys.readouterr().err and not (tmp_path / "p.pdf").exists()


@pytest.mark.long
def test_the_example_is_planned_driven_and_written(tmp_path, capsys):
    file = tmp_path / "short.yaml"
    text = (EXAMPLES / "hiab-triangle-driven.yaml").read_text("utf-8")
    points = "[[2.4 m, -0.4 m], [3.6 m, -0.4 m], [3.6 m, 0.8 m], [2.4 m, -0.4 m]]"
    assert points in text and "steps: 150" in text
    short = text.replace(points, "[[2.4 m, 0.4 m], [3.3 m, 1.6 m]]").replace(
        "steps: 150", "steps: 60"
    )
    file.write_text(
        short.replace("leg: 10 s", "leg: 6 s") + "\nsearch: {nodes: 105, finest: 0.1 mm}\n"
    )
    written = tmp_path / "d.json", tmp_path / "p.pdf"
    assert (
        cli.main(
            [
                "plan",
                str(file),
                "--drive",
                "PID",
                "--json",
                str(written[0]),
                "--report",
                str(written[1]),
            ]
        )
        == 0
    )
    driven = json.loads(written[0].read_text("utf-8"))["driven"]
    assert driven["law"] == "PID" and all(
        abs(m["gap"]) < 0.02 for m in driven["motions"] if "gap" in m
    )
    assert "driven by PID" in capsys.readouterr().out and written[1].read_bytes().startswith(
        b"%PDF"
    )
