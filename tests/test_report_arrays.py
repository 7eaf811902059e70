"""Arrays a report draws of an actuator's loop: closed forms, exact peaks, and that nothing is drawn which is not so."""

from dataclasses import replace

import numpy as np
import pytest

from controllers import MPC, PID, OpenLoop
from plants import LinearActuator, machine
from reports.figures import linear as figures_linear
from tests.actuator import Actuator, mpc
from workbench import ClosedLoop, Sampled, Scenario, simulate
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.run.reference import Hold, Sine
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.linear.margins import disk_margin
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.results import arrays
from workbench.verification.results import limits as report_limits
from workbench.verification.results import model as report_model
from workbench.verification.run import Run

K, λ, X_MAX = 87.0, (2.3e-3, 1.4e-3, 0.9e-3), 2e-4
SINE = Sine(space="output", centre="start", amplitude=(1.5e-3,), frequency=4.0, ramp=0.05)
LOAD = {"F_ext": Sine(space="output", centre=(0.0,), amplitude=(350.0,), frequency=5.0, ramp=0.05)}


def actuator(**changes):
    own = {
        "K": K,
        "λ_1": λ[0],
        "λ_2": λ[1],
        "λ_3": λ[2],
        "K_F": -4.7e-6,
        "λ_F": 3e-3,
        "X_max": X_MAX,
    }
    return LinearActuator(**(own | changes))


def ran(plant, law, T=2e-3, reference=SINE, disturbances=None, duration=0.3):
    loop = ClosedLoop(plant, Sampled(law, T))
    scenario = Scenario(duration=duration, reference=reference, disturbances=disturbances or {})
    return Run(loop, scenario, simulate(loop, scenario))


def pid(model, **changes):
    return PID(
        model,
        **(
            {"K_p": (0.5,), "K_i": (1.5,), "feed": "none", "damping": "none", "u_max": X_MAX}
            | changes
        ),
    )


# ---- sensitivity ------------------------------------------------------------------------------------------------------
def second_order(ζ=0.17, ω_0=38.0):
    """L = ω_0²/(s (s + 2ζω_0)), whose T is the textbook's."""
    return LinearSystem([[0, 1], [0, -2 * ζ * ω_0]], [[0], [1]], [[ω_0**2, 0]], [[0]])


def test_peaks_are_exact():
    ζ, ω_0 = 0.17, 38.0
    found = arrays.around([second_order(ζ, ω_0)], 0.3)
    assert found["M_T"] == pytest.approx(1 / (2 * ζ * np.sqrt(1 - ζ**2)), rel=1e-9)
    assert found["ω_T"] == pytest.approx(ω_0 * np.sqrt(1 - 2 * ζ**2), rel=1e-5)
    assert found["S"].max() <= found["M_S"] and found["T"].max() <= found["M_T"] * (1 + 1e-12)
    L = ω_0**2 / (1j * found["ω"] * (1j * found["ω"] + 2 * ζ * ω_0))
    np.testing.assert_allclose(found["S"], abs(1 / (1 + L)), rtol=1e-9)
    np.testing.assert_allclose(found["T"], abs(L / (1 + L)), rtol=1e-9)


def test_no_resonance_is_missed():
    ζ, ω_0, b = 2e-3, 211.0, 4.3
    L = LinearSystem(
        [[0, 1, 0], [-(ω_0**2), -2 * ζ * ω_0, 0], [0, 0, -b]],
        [[0], [1], [b]],
        [[ω_0**2, 0, 1]],
        [[0]],
    )
    part = arrays.around([L], 0.5)
    assert (
        np.abs(part["L"]).max() == pytest.approx(1 / (2 * ζ), rel=0.01)
        and (np.diff(part["ω"]) > 0).all()
    )
    turn = np.abs(np.diff(np.angle(part["L"])))
    assert np.minimum(turn, 2 * np.pi - turn).max() < 0.35  # rad from point to point


def test_the_worst_of_several_linearisations_counts():
    found = arrays.around([second_order(0.6), second_order(0.17), second_order(0.4)], 0.3)
    assert found["M_T"] == pytest.approx(1 / (2 * 0.17 * np.sqrt(1 - 0.17**2)), rel=1e-9)


def test_the_curve_touches_the_disk_and_stays_out():
    L = second_order()
    margin = disk_margin(L)
    centre, radius = arrays.excluded(margin.α)
    away = lambda ω: abs(L.at(ω)[0, 0] - centre) / radius
    assert away(margin.ω) == pytest.approx(1, abs=1e-7)
    assert min(away(ω) for ω in np.geomspace(0.1, 1e4, 500)) >= 1 - 1e-9
    # The circle is −1/f for f on the edge of the disk of factors.
    for δ in margin.α * np.exp(1j * np.random.default_rng(4).uniform(0, 2 * np.pi, 20)):
        f = (1 + δ / 2) / (1 - δ / 2)
        assert abs(-1 / f - centre) == pytest.approx(radius, rel=1e-9)
    assert arrays.excluded(0.0) is None and arrays.excluded(2.5) is None


def test_sensitivities_come_with_margins_only():
    run = ran(actuator(), pid(actuator()))
    from workbench.verification import examine

    found = examine(run.loop, run.scenario, (C.LinearStability(),))
    assert set(found.analysis["sensitivity"]) == {"X"} == set(found.analysis["loops"])
    row, part = found.analysis["margins"][0], found.analysis["sensitivity"]["X"]
    # Classical bounds: a disk margin α keeps |S − T| ≤ 2/α, hence |S| ≤ (1 + 2/α)/2.
    assert 1 <= part["M_S"] <= (1 + 2 / row["disk"]) / 2 * (1 + 1e-9)
    wild = ClosedLoop(actuator(), Sampled(pid(actuator(), K_p=(40.0,)), 2e-3))
    assert "sensitivity" not in examine(wild, run.scenario, (C.LinearStability(),)).analysis


# ---- truth and model ----------------------------------------------------------------------------------------------------
def test_step_responses_are_exact():
    G = LinearSystem([[-3.0, 0], [1, 0]], [[3.0 * 1.7], [0]], [[0, 1], [1, 0]], [[0], [0]])
    t = np.linspace(0, 2.1, 57)
    y = report_model.step_response(G, 2.1, 57)
    np.testing.assert_allclose(y[:, 1], 1.7 * (1 - np.exp(-3 * t)), atol=1e-12)
    np.testing.assert_allclose(y[:, 0], 1.7 * (t - (1 - np.exp(-3 * t)) / 3), atol=1e-12)


def test_machine_and_model_are_set_side_by_side():
    truth, belief = actuator(), actuator(K=110.0, λ_1=1e-3)
    run = ran(truth, pid(belief), disturbances=LOAD)
    found = report_model.model(run, ())
    assert [c["input"] for c in found["channels"]] == ["X", "F_ext"] and "run" in found["where"]
    command, load = found["channels"]
    s = 1j * command["ω"]
    for key, p in (("truth", truth), ("model", belief)):
        G = p.K / (s * (1 + p.λ_1 * s) * (1 + p.λ_2 * s) * (1 + p.λ_3 * s))
        np.testing.assert_allclose(command[key], G, rtol=1e-9)
        np.testing.assert_allclose(
            load[key], p.K_F / (1j * load["ω"] * (1 + p.λ_F * 1j * load["ω"])), rtol=1e-9
        )
    assert load["size"] == pytest.approx(350.0, rel=0.02) and load["steps"]["dY"]["unit"] == "m/s"
    settled = command["size"] * truth.K
    assert command["steps"]["dY"]["truth"][-1] == pytest.approx(settled, rel=1e-6)
    assert command["t"][-1] == pytest.approx(100 * 2e-3)


def test_one_and_the_same_is_not_compared():
    assert report_model.model(ran(actuator(), pid(actuator())), ()) == {}


def test_a_claim_says_where_it_is_linearised_and_turning_pistons_are_refused():
    plant = machine("ieha-control").plant
    run = ran(plant, pid(actuator(), signals=("Y",)), duration=0.02)
    claim = C.LinearStability(at={"E": 1e-4, "X": 1e-4})
    assert "E = 0.1 mm" in report_model.model(run, (claim,))["where"]
    turning = ran(replace(plant, detail="ripple"), pid(actuator(), signals=("Y",)), duration=0.004)
    refused = report_model.model(turning, (claim,))
    assert "channels" not in refused and "time itself" in refused["why"]


# ---- the run --------------------------------------------------------------------------------------------------------------
def test_tracking_is_measured_after_settling():
    run = ran(actuator(), pid(actuator()), disturbances=LOAD)
    found = arrays.tracking(run, (run_claims.Tracking(error=1.0, settle=0.1),))
    (y,), (load,) = found["outputs"], found["disturbances"]
    e = run.log.array("Y_d") - run.log.array("Y")
    late = run.log.time >= 0.1
    assert (
        y["largest"] == np.abs(e[late]).max() == abs(e[run.log.time == y["at"]][0])
        and y["at"] >= 0.1
    )
    mean = np.sum(
        (e[late][1:] ** 2 + e[late][:-1] ** 2) / 2 * np.diff(run.log.time[late])
    ) / np.ptp(run.log.time[late])
    assert y["rms"] == pytest.approx(np.sqrt(mean), rel=1e-12)
    assert load["name"] == "F_ext" and np.abs(load["values"]).max() == pytest.approx(350, rel=0.02)
    assert arrays.previews(run) == {}  # a PID looks ahead of nothing


def test_errors_of_a_run_that_blew_up_are_those_it_had():
    t = np.linspace(0, 1, 11)
    y = np.where(t < 0.65, 0.1 * t, np.nan)
    log = Log(
        t,
        np.stack([0 * t, y], 1),
        (Signal("Y_d", "m"), Signal("Y", "m")),
        {},
        Status(False, "diverged", 0.6),
    )
    found = arrays.error(log, "Y", 0.9)
    assert (
        found["largest"] == pytest.approx(0.06)
        and found["at"] == pytest.approx(0.6)
        and np.isfinite(found["rms"])
    )


def test_a_law_of_ones_own_is_asked_for_nothing_it_has_not():
    class Law:
        """Attributes by names that mean something else here."""

        model, limits, slew, u_max, ahead = "none", 3.0, "fast", "high", 7

        def command(self, t, z, y, r):
            return [1e-5]

    from workbench.contract.plain import Plain

    run = ran(actuator(), Plain(Law(), ("Y",), (), ()), reference=None, duration=0.05)
    assert (
        report_model.model(run, ()) == arrays.solver(run) == arrays.previews(run) == {}
        and arrays.hypotheses(run) == []
    )
    assert [(e["kind"], e["high"], e["share"]) for e in report_limits.limits(run)] == [
        ("command", X_MAX, 0.0)
    ]


def test_knowing_ahead_is_what_makes_the_difference():
    run = ran(Actuator(), mpc(), T=1e-3, disturbances=LOAD, duration=0.15)
    seen, blind = arrays.tracking(run, ())["outputs"][0], arrays.previews(run)["Y"]
    assert blind["rms"] > 3 * seen["rms"] and len(blind["error"]) == len(run.log)
    assert arrays.previews(ran(Actuator(), mpc(preview=0), T=1e-3, duration=0.05)) == {}


# ---- limits and solver ----------------------------------------------------------------------------------------------------
def test_limits_are_told_when_they_are_reached():
    run = ran(
        actuator(), pid(actuator(), K_p=(2.0,)), reference=Hold(space="output", point=(2e-3,))
    )
    (command,) = report_limits.limits(run)
    u = run.log.array("X")
    assert (command["name"], command["kind"], command["low"], command["high"]) == (
        "X",
        "command",
        -X_MAX,
        X_MAX,
    )
    np.testing.assert_array_equal(command["active"], u >= X_MAX * (1 - 1e-12))
    assert 0 < command["share"] == np.mean(u >= X_MAX * (1 - 1e-12)) < 0.5
    loose = ran(
        actuator(X_max=5e-3),
        pid(actuator(), K_p=(0.2,), u_max=4e-3),
        reference=Hold(space="output", point=(2e-3,)),
    )
    assert (
        report_limits.limits(loose)[0]["share"] == 0
        and report_limits.limits(loose)[0]["high"] == 4e-3
    )


def test_slew_and_soft_limits_are_listed():
    from controllers.mpc.law import Limit

    law = MPC(
        actuator(measured="states"),
        Q=(1.0,),
        R=(0.1,),
        S=(1.0,),
        N=12,
        T_s=2e-3,
        u_min=(-X_MAX,),
        u_max=(X_MAX,),
        slew=(0.04,),
        limits=(Limit("Y", -1e-2, 0.7e-3, soft=True, quadratic=50.0),),
        preview=0,
    )
    run = ran(
        actuator(measured="states"),
        law,
        reference=Hold(space="output", point=(1e-3,)),
        duration=0.1,
    )
    found = {(e["name"], e["kind"]): e for e in report_limits.limits(run)}
    assert set(found) == {("X", "command"), ("X", "slew"), ("Y", "output")}
    slew, soft = found["X", "slew"], found["Y", "output"]
    np.testing.assert_allclose(slew["value"][1:], np.diff(run.log.array("X")) / 2e-3)
    assert slew["share"] > 0 and np.abs(slew["value"]).max() <= 0.04 * (1 + 1e-9)
    assert soft["soft"] and soft["share"] > 0.3 and soft["value"].max() > 0.7e-3
    solved = arrays.solver(run)
    assert solved["optimal"] == 1 and not solved["events"] and solved["slack"].max() > 0
    # Rates are known at samples only: a run logged less often has none.
    sparse = Run(run.loop, run.scenario, simulate(run.loop, replace(run.scenario, log_period=0.01)))
    assert ("X", "slew") not in {(e["name"], e["kind"]) for e in report_limits.limits(sparse)}


def test_samples_that_were_not_solved_are_named():
    run = ran(Actuator(), mpc(), T=1e-3, duration=0.02)
    log = run.log
    names = [s.name for s in log.signals]
    values = log.values.copy()
    values[3, names.index("mpc_status")], values[3, names.index("mpc_fallback")] = -1, 1
    values[7, names.index("mpc_status")], values[7, names.index("mpc_fallback")] = 4, 3
    found = arrays.solver(Run(run.loop, run.scenario, replace(log, values=values)))
    assert {name: list(t) for name, t in found["events"].items()} == {
        "infeasible": [log.time[3]],
        "inaccurate": [log.time[7]],
        "fallback: last solution": [log.time[3]],
        "fallback: command held": [log.time[7]],
    }
    assert found["optimal"] == 1 - 2 / len(log.time)
    assert arrays.solver(ran(actuator(), pid(actuator()), duration=0.02)) == {}


def test_hypotheses_are_those_of_the_loop():
    plant = actuator(measured="states")
    law = MPC(
        plant,
        Q=(1.0,),
        R=(0.1,),
        S=(1.0,),
        N=25,
        T_s=2e-3,
        u_min=(-X_MAX,),
        u_max=(X_MAX,),
        terminal="set",
        preview=0,
    )
    target = Hold(space="output", point=(5e-4,))
    held = ran(plant, law, reference=target, duration=0.02)
    assert all(met for _, met in arrays.hypotheses(held))
    lost = lambda run: {text for text, met in arrays.hypotheses(run) if not met}
    assert lost(ran(plant, law, duration=0.02)) == {"constant reference"}
    assert lost(ran(plant, law, reference=target, disturbances=LOAD, duration=0.02)) == {
        "no disturbance"
    }
    assert lost(ran(replace(plant, K=91.0), law, reference=target, duration=0.02)) == {
        "the model is the plant"
    }
    assert arrays.hypotheses(ran(actuator(), pid(actuator()), duration=0.02)) == []


def test_eigenvalues_decades_apart_have_few_ticks_in_plain_figures():
    fig = figures_linear.eigenvalues(
        np.array([-2.3e6, -430.0, -22.0 + 250j, -22.0 - 250j, -5.7, 3.1])
    )
    (ax,) = fig.axes
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert (
        shown[0] == "0"
        and "−10⁶" in shown
        and len(shown) <= 7
        and not any("$" in label for label in shown)
    ), shown


def test_an_open_loops_model_is_asked_nothing():
    """It has no command whose size could say where to linearise."""
    loop = ClosedLoop(actuator(), OpenLoop(actuator(K=110.0)))
    scenario = Scenario(duration=0.02)
    run = Run(loop, scenario, simulate(loop, scenario))
    assert report_model.model(run, ()) == {} and "model" not in arrays.run_arrays(run, ())
