"""What reports show of valves is what the circuit says: of arms, of their twin with compressible oil, of a crane."""

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from controllers import PID, OpenLoop
from plants import FourBar, MeteredTwin
from plants.metered.arm import Arm, MotorArm
from plants.metered.arms import MeteredArms
from plants.valve_circuits import Γ, Openings, operating
from reports import accounts, document, force_map, metering, outline, style
from reports import valve_words as behind
from reports.content import Content
from reports.figures import circuit as figures_circuit
from reports.figures import metering as figures_metering
from workbench import ClosedLoop, Scenario, Sine, Steps, load, simulate
from workbench.cases.file import loads

pypdf = pytest.importorskip("pypdf")
EXAMPLES = Path(__file__).parents[1] / "examples"


BLANK = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9" height="9"/>'


def pages(plant, log=None, controller=None):
    """The report's words, with blanks for figures."""
    content = Content("a machine", "?", log=log, plant=plant, controller=controller)
    drawn = dict.fromkeys(
        ("circuit", "operating_points", "valve_states") if log else ("circuit",), BLANK
    )
    pdf = document.typeset("report", drawn, document.data(content, list(drawn)))
    return " ".join(
        re.sub(r"\s+", " ", p.extract_text()) for p in pypdf.PdfReader(io.BytesIO(pdf)).pages
    )


@pytest.fixture(scope="module")
def run():
    """Two arms on one pump: case and log."""
    case = load(EXAMPLES / "two-arms-one-pump.yaml")
    return case.plant, simulate(case.loop, case.scenario)


@pytest.fixture(scope="module")
def crane():
    """The crane with its bleed so far open that the pump's relief stays shut, and that run."""
    case = load(EXAMPLES / "hiab-imv.yaml")
    plant = replace(case.plant, u_b=0.15, P_hM=122e5)
    return plant, simulate(ClosedLoop(plant, case.controller), replace(case.scenario, duration=3.0))


@pytest.fixture(scope="module")
def twin():
    """One arm with compressible oil, lowered and stopped."""
    plant = MeteredTwin(of=MeteredArms(arms=(Arm(θ_0=0.3),), u_b=0.27), β=0.8e9)
    moved = Steps("output", (0.05, 0.35), ((0.55,), (0.0,)))
    return plant, simulate(plant, Scenario(0.7, disturbances={"u_c_1": moved}))


def test_the_run_is_on_the_map_of_its_arm(run):
    """Γ̂ of (107) at the logged pressure of the pump holds the logged force of each arm, at any instant."""
    plant, log = run
    for i in range(20, len(log.time) - 1, 173):
        for j, name in enumerate(plant.names):
            v, f = log.array(f"v_{name}")[i], log.array(f"f_{name}")[i]
            c = force_map.held_at(plant.circuit, j, log.array("P")[i])
            low, high = Γ(c, Openings.command(log.array(f"u_c_{name}")[i]), 0.0, v)
            assert low[0] - 20.0 <= f <= high[0] + 20.0, (log.time[i], name)


def test_valve_states_and_shares(run):
    plant, log = run
    found = metering.states(log, plant)
    assert found.lasts.sum() == pytest.approx(log.time[-1] - found.t[0]) and np.all(
        found.lasts[:-1] > 0
    )
    for i in range(0, len(found.t), 37):
        at = int(np.abs(log.time - found.t[i]).argmin())
        u = tuple(Openings.command(log.array(f"u_c_{n}")[at]) for n in plant.names)
        now = operating(
            plant.circuit,
            u,
            plant.u_b,
            *([log.array(f"{k}_{n}")[at] for n in plant.names] for k in "vf"),
        )
        assert found.open["pR"][i] == now.pR and [found.rows[n][i] for n in plant.names] == [
            s.segment for s in now.sections
        ]
        for n, s in zip(plant.names, now.sections):
            assert all(found.open[f"{key}_{n}"][i] == getattr(s, key) for key in behind.VALVES)
    relieved = found.t[
        found.open["rR_2"]
    ]  # arm 2 is stopped at 2 s: its rod side is at its relief for a while
    at_limit = log.time[log.array("P_r_2") > 40e6 * (1 - 1e-9)]
    assert [relieved[0], relieved[-1]] == pytest.approx(
        [at_limit[0], at_limit[-1]], abs=0.02
    ) and not found.open["rR_1"].any()
    facts = accounts.facts(log, plant)
    share = {valve: (open_.split()[0], first.split()[0]) for valve, open_, first in facts["valves"]}
    assert (
        facts["several"]
        and share["pump check, arm 2"] == ("33.3", "1")
        and share["rod relief, arm 1"] == ("never", "–")
    )


def test_the_pumps_energy_is_shared_out(run):
    plant, log = run
    energy = {
        where: float(share.replace("\u202f", " ").replace("\xa0", " ").replace("−", "-").split()[0])
        for where, _, share in accounts.spent(log, plant)
    }
    assert energy.pop("given by the pump") == 100.0
    assert sum(energy.values()) == pytest.approx(100.0, abs=0.3)  # three digits each


def test_other_plants_have_no_valves_to_show(run):
    assert (
        not any(accounts.facts(run[1], FourBar()).values())
        and accounts.facts(None, run[0])["valves"] == []
    )
    assert figures_metering.operating_points(run[1], FourBar()) is None
    assert figures_metering.valve_states(None, run[0]) is None


def test_a_run_that_blew_up_has_no_chapter(run):
    plant, log = run
    lost = replace(
        log,
        values=np.where(np.arange(len(log.signals)) == log.names.index("v_2"), np.nan, log.values),
    )
    assert (
        accounts.facts(lost, plant)["valves"] == []
        and figures_metering.operating_points(lost, plant) is None
    )


def test_a_delayed_command_counts_when_it_arrives():
    """What the valves got is shown, not what the controller said."""
    text = (EXAMPLES / "arm-imv.yaml").read_text("utf-8")
    case = loads(
        text[: text.index("controller:")]
        + "controller: PID\nloop: {sample_time: 10 ms, delay: 25 ms}\n"
        "scenario: {duration: 1 s}\n",
        "delayed.yaml",
    )
    log = simulate(case.loop, case.scenario)
    later = log.time > 0.05
    assert metering.column(log, "u_c_1")[later] == pytest.approx(
        log.array("u_c_1_applied")[later], abs=1e-12
    )


def test_a_command_that_never_rests_is_drawn_in_equal_stretches():
    plant = MeteredArms()
    log = simulate(
        plant, Scenario(1.0, disturbances={"u_c_1": Sine("output", (0.0,), (0.6,), 1.0)})
    )
    parts = figures_metering.phases(log, plant)
    assert len(parts) == 4 and parts[0][0] == 0 and parts[-1][1] == len(log.time)
    assert len(figures_metering.operating_points(log, plant).axes) == 4


def test_chapter_of_the_report(run):
    plant, log = run
    assert set(document.figures(Content("two arms", "?", log=log, plant=plant))) >= {
        "machine",
        "circuit",
        "operating_points",
        "valve_states",
        "pressures",
    }
    words = pages(plant, log)
    for said in (
        "Valves",
        "rod relief, arm 2",
        "given by the pump",
        "The force–velocity map",
        "head suction check, arm 2",
    ):
        assert said in words, said


# ---- the crane -----------------------------------------------------------------------------------------------------------------
def test_the_cranes_run_is_on_its_maps(crane):
    plant, log = crane
    course = metering.course(log, plant)
    for j, label in enumerate(plant.labels):
        rod = log.array(f"rod_{label}")
        assert np.diff(rod) == pytest.approx(
            np.diff(log.time) * 0.5 * (course.v[1:, j] + course.v[:-1, j]), abs=2e-8
        )
        assert course.f[:, j] == pytest.approx(log.array(f"f_{label}"), rel=1e-12)
        for i in range(50, len(log.time), 400):
            circuit, opened, u_b, _ = force_map.seen(plant, j, course.u_c[i, j], course.P[i])
            low, high = Γ(circuit, opened, u_b, course.v[i, j])
            assert low[0] - 1.0 <= course.f[i, j] <= high[0] + 1.0


def test_the_cranes_pump_has_a_pressure_of_its_own(crane):
    """Its relief is open where P says so, not because a section takes what it likes at P."""
    plant, log = crane
    found, P = (
        metering.states(log, plant),
        np.interp(metering.states(log, plant).t, log.time, log.array("P")),
    )
    assert (found.open["pR"] == (P > plant.pump.P_M)).all() and not found.open["pR"].any()
    names = {name for n in plant.labels for name in found.rows[n]}
    assert names & {"+1a", "-1a", "+3", "-3"} and not names & {"+2a", "-2a", "+2b", "-2b"}
    seen = force_map.seen_map(plant, 0, 0.1, 100e5, -0.05, 0.05)
    assert {name for _, _, name in seen.bands} >= {"+1a"} and "+2a" not in {
        name for _, _, name in seen.bands
    }
    assert "+2a" in {
        name
        for _, _, name in force_map.seen_map(plant, 0, 0.1, plant.pump.P_M + 1e5, -0.05, 0.05).bands
    }


@pytest.mark.parametrize("which", ["crane", "twin"])
def test_what_is_left_of_the_pumps_energy_is_in_the_oil(which, request):
    """The account is closed by what is left; that is the oil's own energy, in closed form."""
    plant, log = request.getfixturevalue(which)
    energy = accounts.energies(log, plant)
    change = lambda name, V, β: 0.5 * V / β * float(np.diff(log.array(name)[[0, -1]] ** 2)[0])
    if which == "crane":
        stored = change("P", plant.V_p, plant.crane.oil.β)
    else:
        stored = (
            change("P", plant.V_p, plant.β)
            + change("P_h_1", plant.V_h, plant.β)
            + change("P_r_1", plant.V_r, plant.β)
        )
        assert energy["head to tank"] == 0.0 < energy["rod to tank"]
    *_, (_, left) = energy.items()
    assert left == pytest.approx(stored, abs=1e-4 * energy["given by the pump"])
    lost = [E for where, E in energy.items() if not where.startswith(("work", "stored"))]
    assert min(lost) >= -1e-9 * energy["given by the pump"]


def test_what_passes_a_relief_is_told_apart(crane):
    """With a head relief below what the weight needs, oil leaves through it."""
    plant, log = crane
    P_h = log.array("P_h_1")
    relieved = P_h[:-1] >= plant.P_hM * (1 - 1e-9)
    taken = -np.diff(log.array("E_hR_1"))
    told = accounts.energies(log, plant)["head relief, lift"]
    assert told == pytest.approx(taken.sum(), rel=1e-12)
    shut = ~relieved & ~np.roll(relieved, 1) & ~np.roll(relieved, -1)
    assert told > 0.0 and np.abs(taken[shut]).max() < 1e-9 * told
    assert relieved.any() and metering.states(log, plant).open["hR_1"].any()


# ---- the twin ------------------------------------------------------------------------------------------------------------------
def test_valves_of_the_twin_are_those_of_its_pressures(twin):
    plant, log = twin
    found = metering.states(log, plant)
    i = np.searchsorted(log.time, found.t)
    P, P_h, P_r, section = (
        *(log.array(n)[i] for n in ("P", "P_h_1", "P_r_1")),
        plant.of.arms[0].section,
    )
    assert (found.open["pR"] == (P > plant.of.pump.P_M + 1e-3)).all() and (
        found.open["hSC_1"] == (P_h < -1e-4)
    ).all()
    assert (found.open["rR_1"] == (P_r > section.P_rM + 1e-4)).all()
    assert (found.open["check_1"] == ((P > P_h) & (log.array("u_c_1")[i] > 0))).all()
    assert found.open["check_1"].any() and not found.open["check_1"].all()


# ---- motors and regeneration ---------------------------------------------------------------------------------------------------
def test_motors_and_regeneration_are_told(monkeypatch):
    monkeypatch.setattr(
        "workbench.numerics.c_code.library", lambda source: None
    )  # 19,000 operations for half a second of motion
    plant = MeteredArms(
        arms=(Arm(name="boom", regeneration="input"), MotorArm(i=90.0, name="swing")), u_b=0.25
    )
    given = {
        "u_c_boom": Steps("output", (0.0,), ((0.5,),)),
        "u_a_boom": Steps("output", (0.0, 0.3), ((0.0,), (0.7,))),
        "u_c_swing": Steps("output", (0.1,), ((0.4,),)),
    }
    log = simulate(plant, Scenario(0.5, disturbances=given))
    run, found = metering.course(log, plant), metering.states(log, plant)
    assert (
        set(run.u_a[log.time < 0.299, 0]) == {0.0}
        and set(run.u_a[log.time > 0.301, 0]) == {0.7}
        and not run.u_a[:, 1].any()
    )
    regenerated = np.array(["a" in name.split() for name in found.rows["boom"]])
    higher = log.array("P_r_boom") > log.array("P_h_boom") + 1.0
    assert (
        regenerated == (higher & (run.u_a[:, 0] > 0))[np.searchsorted(log.time, found.t)]
    ).all() and regenerated.any()
    energy = accounts.energies(log, plant)
    assert (
        sum(energy.values()) == pytest.approx(2 * energy["given by the pump"], rel=1e-6)
        and energy["regeneration, arm boom"] > 0
    )
    assert [row[1] for row in accounts.sections(plant)] == ["240 cm²", "40\xa0cm³/rad"]
    with style.drawing():
        shown = [text.get_text() for text in figures_circuit.circuit(plant).axes[0].texts]
        labels = {ax.get_ylabel() for ax in figures_metering.operating_points(log, plant).axes}
        strokes = outline.picture(plant).at([0.1, 0.2]).strokes
    assert shown.count("$u_{a}$") == 1 and labels >= {
        "force of arm boom, kN",
        "torque of arm swing, kN m",
    }
    assert [s.kind for s in strokes] == ["plate", "rod", "case", "link", "plate"]
    assert figures_metering.phases(log, plant) == [
        (0, 300),
        (300, 501),
    ]  # where the opening changes, too


# ---- pictures and pages --------------------------------------------------------------------------------------------------------
def test_arms_are_drawn_with_their_cylinders(run):
    plant, log = run
    drawn = outline.picture(plant)
    assert (
        drawn.names == ["θ_1", "θ_2"]
        and outline.picture(MeteredTwin(of=plant)).names == drawn.names
    )
    for k in (0, 900, 2400):
        shown = drawn.at([log.array(n)[k] for n in drawn.names])
        rods = [np.linalg.norm(np.diff(s.points, axis=0)) for s in shown.strokes if s.kind == "rod"]
        assert rods == pytest.approx([log.array(f"l_{n}")[k] for n in plant.names], rel=1e-9)
        shut = [
            np.linalg.norm(np.diff(s.points, axis=0)) for s in shown.strokes if s.kind == "case"
        ]
        assert all(case < rod for case, rod in zip(shut, rods))
    joints = drawn.at([0.0, 0.0]).pins[[0, 3]]
    assert joints[1, 0] - joints[0, 0] > plant.arms[0].L_f - plant.arms[1].r_bx  # side by side


def test_the_diagram_tells_the_circuit(crane):
    with style.drawing():
        shown = {text.get_text() for text in figures_circuit.circuit(crane[0]).axes[0].texts}
        assert figures_circuit.circuit(FourBar()) is None
        many = MeteredArms(arms=tuple(Arm(name=str(k)) for k in range(5)))
        assert "… 2 more" in {
            text.get_text() for text in figures_circuit.circuit(many).axes[0].texts
        }
    assert {
        "lift",
        "tilt",
        "extension",
        "$u_{ph}$",
        "$u_{b}$",
        "$V_{p}$",
        "122\xa0bar",
        "250\xa0bar",
        "175\xa0bar",
    } <= {text.replace(" bar", "\xa0bar") for text in shown}


def test_every_cylinder_has_its_maps(crane):
    """Of a crane's three, with commands that never rest: four stretches each, where the map that is drawn goes through the ring."""
    plant, log = crane
    with style.drawing():
        fig = figures_metering.operating_points(log, plant)
    assert len(fig.axes) == 12 and [ax.get_ylabel() for ax in fig.axes[::4]] == [
        "force of lift, kN",
        "force of tilt, kN",
        "force of extension, kN",
    ]
    course = metering.course(log, plant)
    for k, (ax, (a, b)) in enumerate(zip(fig.axes[:4], figures_metering.phases(log, plant))):
        ring = ax.lines[-1].get_xydata()[0]
        at = a + np.abs(course.u_c[a:b, 0]).argmax()
        assert ring == pytest.approx([course.v[at, 0], 1e-3 * course.f[at, 0]]), k
    low = min(text.get_window_extent().y1 for text in fig.legends[0].get_texts())
    assert low < min(ax.get_window_extent().y0 for ax in fig.axes)


def test_pages_of_crane_and_twin(crane, twin):
    words = pages(*crane)
    for said in (
        "The valve circuit",
        "pump’s line holds oil",
        "head relief, lift",
        "work on the rod, tilt",
        "122 bar",
        "Maps are those at the pump’s pressure",
        "[Kikuuwe21] (68)–(70)",
    ):
        assert said in words, said
    assert "± 10 V" not in words and "second order" not in words  # servo valves it does not have
    words = pages(*twin)
    for said in ("Oil is compressible in every volume", "Lumped volumes", "stored in the oil"):
        assert said in words, said


def test_an_open_loop_has_no_model_to_speak_of(run):
    plant, _ = run
    open_ = pages(plant, controller=OpenLoop(plant))
    assert "Nothing controls it" in open_ and "controller’s model" not in open_
    closed = pages(
        plant, controller=PID(plant, signals=("l_1", "l_2"), feed="gain", damping="none")
    )
    assert "Nothing controls it" not in closed and "same parameters as the machine" in closed


def test_commands_that_meet_no_limit_are_drawn_once(run):
    from reports.chapters import planned

    plant, log = run
    far = {"kind": "command", "share": 0.0}
    drawn = lambda *limits: set(
        planned(Content("two arms", "?", log=log, plant=plant, analysis={"limits": limits}))
    )
    assert not {"limits", "voltages"} & drawn(far)
    assert "limits" in drawn(far, far | {"share": 0.1}) and "limits" in drawn(
        far | {"kind": "output"}
    )
