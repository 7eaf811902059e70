"""Elements of metered circuits that do not do what their characteristics say: each is refused by its name."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from controllers import OpenLoop
from plants import Arm, MeteredArms, MeteredTwin
from plants.valve_circuits import Pump, Section, accounts
from plants.valve_circuits.diagnosis import suspects
from workbench import ClosedLoop, Scenario, Steps, changed, load, simulate
from workbench.verification import run_claims
from workbench.verification.observed.valve_claims import check_valve_losses
from workbench.verification.run import Run

ARM = Arm(section=Section(P_hM=16e6, P_rM=14e6))
TWO = MeteredArms(arms=(ARM, Arm("2", θ_0=np.radians(-20))))
BLED = replace(TWO, u_b=1.0)
SIGNALS = {
    "u_c_1": Steps("output", (0.0, 0.1, 0.3, 0.6), (0.0, -0.6, 0.5, 0.0)),
    "u_c_2": Steps("output", (0.0, 0.2, 0.6), (0.0, 0.6, 0.0)),
    "f_ey_1": Steps("output", (0.0, 0.62, 0.68), (0.0, 3e5, -4e5)),
}


def judged(whole, broken):
    """The verdict that the plant `whole` gives on a run of the plant `broken`."""
    scenario = Scenario(0.85, disturbances=SIGNALS)
    log = simulate(ClosedLoop(broken, OpenLoop(broken)), scenario, compiled=False)
    return check_valve_losses(
        run_claims.ValveLosses(), Run(ClosedLoop(whole, OpenLoop(whole)), scenario, log)
    )


def with_section(plant, **change):
    first, *others = plant.arms
    return replace(plant, arms=(replace(first, section=replace(first.section, **change)), *others))


def half(key):
    return {key: 0.5 * getattr(ARM.section, key)}


@pytest.mark.parametrize("plant", [TWO, BLED, MeteredTwin(of=TWO)], ids=["arms", "bled", "twin"])
def test_what_is_whole_holds(plant):
    verdict = judged(plant, plant)
    assert verdict.holds is True and verdict.margin > 0.9e-6


ELEMENTS = {
    "hR stays shut": (
        TWO,
        with_section(TWO, P_hM=90e6),
        "hR_1: relief of the head side stays shut",
    ),
    "rR stays shut": (TWO, with_section(TWO, P_rM=90e6), "rR_1: relief of the rod side stays shut"),
    "hR open": (TWO, with_section(TWO, P_hM=1e5), "hR_1: relief"),
    "rR open": (TWO, with_section(TWO, P_rM=1e5), "rR_1: relief"),
    **{
        key: (TWO, with_section(TWO, **half(f"c_{key}")), f"{key}_1: orifice")
        for key in ("ph", "pr", "th", "tr")
    },
    "pump": (TWO, replace(TWO, pump=Pump(Q=0.9 * TWO.pump.Q)), "pump: gives 90 % of its flow"),
    "pump, bled": (
        BLED,
        replace(BLED, pump=Pump(Q=0.9 * TWO.pump.Q)),
        "pump: gives 90 % of its flow",
    ),
    "bleed": (BLED, replace(BLED, u_b=0.8), "bleed: "),
    "pR stays shut": (
        TWO,
        replace(TWO, pump=Pump(P_M=60e6)),
        "pR: the pump's relief stays shut at 600 bar",
    ),
    "pR early": (
        TWO,
        replace(TWO, pump=Pump(P_M=10e6)),
        "pR: the pump's relief (or a pump that gives less) passes",
    ),
}


@pytest.mark.parametrize("whole, broken, words", ELEMENTS.values(), ids=ELEMENTS)
def test_an_element_that_fails_is_refused_by_name(whole, broken, words):
    verdict = judged(whole, broken)
    assert verdict.holds is False and verdict.worst.startswith(words), verdict.worst


@pytest.mark.parametrize(
    "broken, words",
    [(with_section(TWO, **half("c_pr")), "pr_1"), (with_section(TWO, P_rM=90e6), "r_limits_1")],
    ids=["pr", "relief"],
)
def test_so_it_is_in_the_twin_whose_run_counts_other_energies(broken, words):
    verdict = judged(MeteredTwin(of=TWO), MeteredTwin(of=broken))
    assert verdict.holds is False and verdict.worst.startswith(f"{words}: the run counted")


def test_and_on_the_crane():
    case = load(Path(__file__).parents[1] / "examples" / "hiab-imv.yaml")
    scenario, plant = replace(case.scenario, duration=3.0), case.plant
    lift = plant.cylinders[0].valve
    kinds = {
        None: plant,
        "pump: the run counted": replace(plant, pump=replace(plant.pump, Q=0.9 * plant.pump.Q)),
        "tr_1: orifice (rod to tank) passes 50 %": changed(
            plant, {"lift.valve.c_n2": 0.5 * lift.c_n2}
        ),
        "ph_1: orifice (pump to head) passes 50 %": changed(
            plant, {"lift.valve.c_p1": 0.5 * lift.c_p1}
        ),
        "hR_1: relief": replace(plant, P_hM=30e5),
    }
    for words, broken in kinds.items():
        log = simulate(ClosedLoop(broken, case.loop.controller), scenario)
        verdict = check_valve_losses(run_claims.ValveLosses(), Run(case.loop, scenario, log))
        assert verdict.holds is (words is None) and (
            words is None or verdict.worst.startswith(words)
        ), verdict.worst


# ---- by hand: what no parameter breaks --------------------------------------------------------------------------------
def standing(P, P_h, P_r, v, **k):
    """Suspects of a section over time, on a pump with its bleed at 1e-6 m³/(s √Pa)."""
    row = [0.02, 0.01, 40e6, 40e6, *(k.get(key, 0.0) for key in ("ph", "pr", "th", "tr", "a"))]
    s = accounts.Section(row, v, row[0] * P_h - row[1] * P_r, P_h, P_r)
    return suspects(
        np.linspace(0, 1, len(P)),
        {"1": s},
        {"1": accounts.section_flows(s, P)},
        (3e-3, 36e6, 1e-6),
        P,
        held=False,
    )


def test_a_check_that_leaks_is_named():
    """Its load presses oil back through the open pump valve: more than the pump's flow goes through the bleed."""
    leak = 1e-3 * np.linspace(0.2, 1.0, 40)
    P = ((3e-3 + leak) / 1e-6) ** 2
    P_h, k = P + (leak / 2e-6) ** 2, 2e-6
    found = standing(P, P_h, np.zeros(40), -leak / 0.02, ph=k)
    assert found[0].element == "check_1" and "the pump's check leaks" in found[0].words


def test_a_check_that_stays_shut_is_named():
    """Pulled out with both sides shut, the head side falls below the tank's pressure instead of drawing oil."""
    P_h = -np.linspace(0.0, 5e5, 20)
    found = standing(np.full(20, 9e6), P_h, np.zeros(20), np.zeros(20))
    assert (
        found[0].element == "hS_1"
        and "suction check of the head side stays shut at -5 bar" in found[0].words
    )


def test_a_force_that_is_none_of_its_velocity_is_named():
    """Shut in at pressures within all limits, it would stand; it is said to move, drawing no oil and letting none out."""
    found = standing(np.full(20, 9e6), np.full(20, 20e6), np.full(20, 30e6), np.full(20, 0.01))
    assert [s.element for s in found] == ["hS_1", "section 1"] and "from nowhere" in found[0].words
    assert standing(np.full(20, 9e6), np.full(20, 20e6), np.full(20, 30e6), np.zeros(20)) == []
