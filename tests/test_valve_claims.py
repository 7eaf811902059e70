"""Claims on a metered machine's valves, from both sides: energy valve by valve with faults planted in one, oil that suction checks
draw, pressures judged by the worst of what balances, the loop under a law that is stable and one that is not."""

from dataclasses import replace
from pathlib import Path

import metering_cases as cases
import numpy as np
import pytest

from controllers import OpenLoop
from plants import Arm, MeteredArms, MeteredCrane, MeteredTwin
from plants.metered.arm import MotorArm
from plants.valve_circuits import Pump, Section, accounts, operating
from workbench import ClosedLoop, InputError, Log, Scenario, Steps, load, simulate, verify
from workbench.cases.file import loads
from workbench.contract.parameters import bind
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.observed.requirements import check_pressures
from workbench.verification.observed.valve_claims import check_cavitation, check_valve_losses
from workbench.verification.results.analysis import statistics
from workbench.verification.run import Run

EXAMPLES = Path(__file__).parents[1] / "examples"
TWO = MeteredArms(arms=(Arm(), Arm("2", θ_0=np.radians(-20))))
BOTH = {
    "u_c_1": Steps("output", (0.0, 0.1, 0.8), (0.0, -0.6, 0.0)),
    "u_c_2": Steps("output", (0.0, 0.2, 0.6), (0.0, 0.6, 0.0)),
}


def run(plant, disturbances=BOTH, end=1.0, compiled=None):
    scenario = Scenario(end, disturbances=disturbances)
    loop = ClosedLoop(plant, OpenLoop(plant))
    return Run(loop, scenario, simulate(loop, scenario, compiled=compiled))


@pytest.fixture(scope="module")
def runs():
    case = load(EXAMPLES / "hiab-imv.yaml")
    scenario = replace(case.scenario, duration=6.0)
    return {
        MeteredArms: run(TWO),
        MeteredTwin: run(MeteredTwin(of=TWO)),
        MeteredCrane: Run(case.loop, scenario, simulate(case.loop, scenario)),
    }


PLANTS = pytest.mark.parametrize("kind", [MeteredArms, MeteredTwin, MeteredCrane])


def again(r: Run) -> Run:
    """The same run, nothing read off it yet."""
    return Run(r.loop, r.scenario, r.log)


# ---- energy --------------------------------------------------------------------------------------------------------------------
@PLANTS
def test_the_pumps_energy_is_found_again_valve_by_valve(runs, kind):
    r = runs[kind]
    verdict = check_valve_losses(run_claims.ValveLosses(share=1e-9), r)
    assert (verdict.holds, verdict.strength) == (True, "numerical") and max(
        verdict.data["off"].values()
    ) < 1e-10
    by = verdict.data["by"]
    assert by["pump"] > 1e5 and all(
        J > -1e-9 * by["pump"] for name, J in by.items() if not name.startswith("rod")
    )
    asked = [type(c) for c in default_claims(r.loop, r.scenario)]
    assert {
        run_claims.ValveLosses,
        run_claims.NoCavitation,
        run_claims.Pressures,
        run_claims.EnergyBalance,
    } <= set(asked) and len(set(asked)) == len(asked)
    assert (C.SampleTimeLimit in asked) is (kind is MeteredCrane)  # the one that is a sampled loop


def planted(honest, valve, change):
    """`powers` of a plant with one valve's power changed."""

    def told(*given):
        found = honest(*given)
        return [change(p) if k == valve else p for k, p in zip(given[0].power_names, found)]

    return told


@pytest.mark.parametrize(
    "kind, valve",
    [
        (MeteredArms, "th_1"),
        (MeteredArms, "bleed"),
        (MeteredArms, "rR_2"),
        (MeteredTwin, "ph_2"),
        (MeteredTwin, "relief"),
        (MeteredCrane, "th_2"),
        (MeteredCrane, "ph_1"),
    ],
)
@pytest.mark.parametrize(
    "change",
    [lambda p: 0.0 * p, lambda p: -p, lambda p: 1.02 * p],
    ids=["dropped", "sign", "coefficient"],
)
def test_a_fault_in_one_valve_is_found_at_that_valve(runs, kind, valve, change, monkeypatch):
    monkeypatch.setattr(kind, "powers", planted(kind.powers, valve, change))
    verdict = check_valve_losses(run_claims.ValveLosses(), again(runs[kind]))
    assert (
        verdict.holds is False
        and verdict.worst.startswith(f"{valve}: the model's account has")
        and verdict.margin < 0
    )


@pytest.mark.parametrize(
    "path, valve",
    [("sections.1.c_pr", "pr_1"), ("sections.2.c_tr", "tr_2"), ("sections.2.c_ph", "ph_2")],
)
def test_a_coefficient_that_the_model_has_not_is_found_at_its_valve(runs, path, valve, monkeypatch):
    circuit = bind(TWO.circuit, {path: 0.9 * 2.9e-6})
    monkeypatch.setattr(MeteredArms, "circuit", circuit)
    verdict = check_valve_losses(run_claims.ValveLosses(), again(runs[MeteredArms]))
    assert verdict.holds is False and verdict.worst.startswith(valve)


def test_a_root_that_was_not_found_is_no_balance(runs, monkeypatch):
    r, array = again(runs[MeteredArms]), Log.array
    monkeypatch.setattr(Log, "array", lambda log, name: array(log, name) + 3e-6 * (name == "r_P"))
    verdict = check_valve_losses(run_claims.ValveLosses(), r)
    assert verdict.holds is False and verdict.worst.startswith(
        "the run's own root leaves 3.0e-06 of the pump's flow"
    )


@pytest.mark.parametrize(
    "u_b, u_c, f_ey",
    [(0.0, -1.0, 0.0), (1.0, -0.9, -3e4)],
    ids=["all flow to one rod", "relief carries"],
)
def test_where_pressures_hang_on_the_force_or_on_steep_orifices(u_b, u_c, f_ey):
    """Bleed shut: at v = Q/A the pump's pressure is whatever f asks for. A load that its relief lets down passes more than the
    pump gives; a check is shut then, with no drop over its orifice."""
    arm = Arm(section=Section(P_rM=14e6 if f_ey else 40e6))
    plant = MeteredArms(arms=(arm,), u_b=u_b, pump=Pump(Q=4e-3))
    r = run(plant, {"u_c_1": Steps("output", (0.0, 0.1), (0.0, u_c)), "f_ey_1": f_ey}, 0.5)
    verdict = check_valve_losses(run_claims.ValveLosses(share=1e-9), r)
    assert verdict.holds is True
    by, v = verdict.data["by"], r.log.array("v_1")
    assert by["rR_1"] > by["pump"] if f_ey else np.mean(np.abs(v + 4e-3 / 0.012) < 1e-9) > 0.5


SINKING, TURNED = Arm(θ_0=0.5, regeneration="input"), MotorArm(150.0, "2")


@pytest.mark.parametrize(
    "plant, valve",
    [
        (MeteredArms(arms=(SINKING,)), "a_1"),
        (MeteredArms(arms=(replace(SINKING, regeneration="none"), TURNED)), "pr_2"),
        (MeteredTwin(of=MeteredArms(arms=(SINKING, TURNED))), "a_1"),
    ],
    ids=["regeneration", "motor", "twin"],
)
def test_regeneration_and_motors_are_accounted_for(plant, valve):
    """An arm that sinks, another turned by a motor; without one valve's loss the account is refused."""
    signals = {"u_c_1": Steps("output", (0.0, 0.05), (0.0, 0.5)), "u_a_1": 0.8, "u_c_2": -0.3}
    r = run(
        plant,
        {s.name: signals[s.name] for s in plant.inputs if s.name in signals},
        0.2,
        compiled=False,
    )
    verdict = check_valve_losses(run_claims.ValveLosses(), r)
    assert verdict.holds is True and verdict.data["by"][valve] > 100.0
    r.__dict__["valves"] = r.valves._replace(
        given={**r.valves.given, valve: 0.0 * r.valves.given[valve]}
    )
    assert check_valve_losses(run_claims.ValveLosses(), r).worst.startswith(valve)


def test_oil_that_is_nobodys_shows_as_a_gap(runs):
    r = again(runs[MeteredArms])
    k = r.log.names.index("v_1")
    values = r.log.values.copy()
    values[:, k] *= 1.01
    bent = Run(r.loop, r.scenario, replace(r.log, values=values))
    assert check_valve_losses(run_claims.ValveLosses(), bent).holds is False
    account = TWO.valve_account(bent.log)
    assert np.abs(account.gap).max() > 1e-3 * account.pump.max()


# ---- oil through suction checks, pressures -----------------------------------------------------------------------------------
def test_fast_lowering_with_a_starved_pump_cavitates_and_slow_lowering_does_not():
    """What the head side takes less what the pump gives comes through the suction check; the twin's oil expands besides."""
    starved = MeteredArms(pump=Pump(Q=0.5e-3), arms=(Arm(θ_0=0.3),), u_b=0.0)
    fast, slow = ({"u_c_1": Steps("output", (0.0, 0.1), (0.0, u))} for u in (0.8, 0.02))
    for plant in (starved, MeteredTwin(of=starved)):
        r = run(plant, fast, 0.6)
        verdict = check_cavitation(run_claims.NoCavitation(), r)
        assert (verdict.holds, verdict.strength) == (
            False,
            "sampled",
        ) and "P_h_1: check open" in verdict.worst
        drawn, open_ = verdict.data["drawn"]["P_h_1"], verdict.data["open"]["P_h_1"]
        k = np.searchsorted(r.log.time, 0.1)
        change = {n: r.log.array(n)[-1] - r.log.array(n)[k] for n in ("x_1", "P_h_1", "P")}
        missing = 0.024 * change["x_1"] - 0.5e-3 * 0.5
        if plant is not starved:
            missing += (plant.V_h * change["P_h_1"] + plant.V_p * change["P"]) / plant.β
        assert drawn == pytest.approx(missing, rel=1e-3)
        expands = 0.0 if plant is starved else 0.05  # s at most, before the twin's oil draws more
        assert 0.5 - expands - r.log.time[1] < open_ < 0.5 + r.log.time[1]
        assert check_cavitation(run_claims.NoCavitation(drawn=1.05 * drawn), r).holds is True
        calm = check_cavitation(run_claims.NoCavitation(), run(plant, slow, 0.6))
        assert calm.holds is True and "stay shut" in calm.worst


def test_a_check_that_hardly_opens_lets_pressure_fall():
    """Next to no oil is drawn, and no chamber is full: the twin's pressures say so."""
    torn = run(MeteredTwin(G=1e-9), {"f_ey_1": 5e5}, 0.5)
    verdict = check_cavitation(run_claims.NoCavitation(drawn=1.0), torn)
    assert verdict.holds is False and "falls to" in verdict.worst and verdict.unit == "Pa"
    fine = run(MeteredTwin(), {"f_ey_1": 2e5}, 0.5)
    assert check_cavitation(run_claims.NoCavitation(drawn=1.0), fine).holds is True


def test_pressures_are_judged_by_the_worst_of_what_balances():
    """Shut valves hold any pressure up to the relief: below it, a limit is not known to be kept; above it, it is."""
    r = run(MeteredArms(), {}, 0.3)
    least = max(
        r.log.array(f"P_{side}_1").max() for side in "hr"
    )  # those logged are the least that balance
    ask = lambda high, low=-1e4: check_pressures(run_claims.Pressures(low=low, high=high), r)
    assert ask(300e5).holds is None and "anywhere between" in ask(300e5).worst
    assert (
        ask(420e5).holds is True
        and ask(0.99 * least).holds is False
        and ask(1.01 * least).holds is None
    )
    assert ask(420e5, 10e5).holds is None and ask(420e5, 10e5).margin == -10e5
    assert [check_cavitation(run_claims.NoCavitation(low=low), r).holds for low in (10e5, 0.0)] == [
        None,
        True,
    ]


def test_ranges_of_standing_rods_are_the_circuits():
    """Against `operating`, which finds them by limits from either side; sections that stand, open one way or shut."""
    rng, compared = np.random.default_rng(5), 0
    while compared < 40:
        c, u_b, o = (
            cases.circuit(rng),
            cases.bleed(rng),
            cases.openings(rng, int(rng.choice((-1, 0, 1)))),
        )
        at = operating(c, o, u_b, [0.0])
        low, high = at.f.low[0], at.f.high[0]
        if not high > low:
            continue
        f = rng.uniform(low, high)
        found, s = operating(c, o, u_b, [0.0], [f]), c.sections[0]
        h, r = float(found.sections[0].P_h.low), float(found.sections[0].P_r.low)
        section = accounts.Section(c.rows(o)[0], *map(np.array, (0.0, f, h, r)))
        (h_0, h_1), (r_0, r_1) = accounts.open_ranges(section, found.P.low, c.pump.Q)
        assert (h_0, h_1) == pytest.approx(
            tuple(map(float, found.sections[0].P_h)), abs=1e-6 * s.P_hM
        )
        assert (r_0, r_1) == pytest.approx(
            tuple(map(float, found.sections[0].P_r)), abs=1e-6 * s.P_rM
        )
        compared += 1


# ---- loops, files --------------------------------------------------------------------------------------------------------------
def test_a_loop_whose_gain_is_too_high_is_violated():
    """At 1 kHz the limit is at some 2.5 ms; sampled more slowly it chatters, and the scan says where."""
    text = (EXAMPLES / "arm-imv-pid.yaml").read_text("utf-8")
    steep = text.replace("law: PID", "law: PID\n  K_p: 800")
    slow = loads(steep.replace("scenario:", "loop: {sample_time: 8 ms}\n\nscenario:", 1))
    asked = [
        c
        for c in slow.claims
        if isinstance(
            c, run_claims.Tracking | run_claims.Settled | C.SampleTimeLimit | run_claims.ValveLosses
        )
    ]
    found = {v.key: v.holds for v in verify(slow.loop, slow.scenario, asked)}
    assert found == {
        "tracking": False,
        "settled": False,
        "valve-losses": True,
        "sample-time-limit": False,
    }


def test_asked_of_a_plant_without_valves_is_refused():
    other = load(EXAMPLES / "four-bar-cycle.yaml")
    for claim, words in (
        (run_claims.ValveLosses(), "valve-losses"),
        (run_claims.NoCavitation(), "no-cavitation"),
        (C.UniqueVelocity(), "unique-"),
    ):
        with pytest.raises(InputError, match=words):
            verify(other.loop, Scenario(0.02), (claim,))


@pytest.mark.parametrize(
    "line, words",
    [
        ("no-cavitation: {drawn: -1 l}", "zero or greater"),
        ("valve-losses: {share: 2}", "and 1"),
        ("unique-velocity: {samples: 0}", "expected 1 to"),
        ("no-cavitation: {drwn: 1 l}", "drawn"),
    ],
)
def test_refused_with_its_line(line, words):
    with pytest.raises(InputError) as refusal:
        loads((EXAMPLES / "arm-imv.yaml").read_text("utf-8") + f"  {line}\n", "arm.yaml")
    assert "arm.yaml" in str(refusal.value) and words in str(refusal.value)


def test_without_a_reference_there_is_no_error_to_tell():
    """Inputs given over time: an arm's angle is no error."""
    r = run(MeteredArms(), {"u_c_1": -0.4}, 0.1, compiled=False)
    assert not any(
        "error" in name for name in statistics(r)
    ) and "energy that passed through" in statistics(r)
