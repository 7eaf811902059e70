"""Case files of the actuator: examples and their verdicts, proofs that hold and planted faults that are refused, bad input."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from scipy.linalg import expm

from controllers import LQR, MPC, PID
from plants import machine
from plants.shipped import PLANTS
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario, linearize, simulate
from workbench.cases.file import laws, load, loads
from workbench.cases.file_schema import case_schema
from workbench.commands.cli import main, verify_stability
from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.verification import claims as C
from workbench.verification import examine, run_claims, verify
from workbench.verification.linear.claims import margins
from workbench.verification.linear.loop import (
    closed,
    is_linear,
    late_command,
    linear_law,
    point,
)
from workbench.verification.linear.loop_family import family_of
from workbench.verification.predictive.of_run import predictive
from workbench.verification.predictive.run_claims import check_cost_decrease
from workbench.verification.rigorous.recheck import recheck
from workbench.verification.run import Run, run
from workbench.verification.variant import variant
from workbench.verification.verdict import exit_code

EXAMPLES = Path(__file__).parents[1] / "examples"
LINEAR = "plant: {machine: ieha-published-linear, change: {measured: states}}\n"
M = """plant: ieha-control
controller:
  law: MPC
  model: {machine: ieha-published-linear}
  Q: 1
  S: 1
  signals: [Y]
  observer: {σ_y: 1e-6, σ_d: 3e-6}
"""


def example(name, *changes):
    """Text of an example with parts exchanged; every part must be there."""
    text = (EXAMPLES / f"{name}.yaml").read_text("utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def judged(text):
    case = loads(text, "case.yaml")
    done = examine(case.loop, case.scenario, case.claims)
    return case, done, {v.key: v for v in done.verdicts}


SHORT = (("duration: 8 s", "duration: 3 s"), ("settle: 2 s", "settle: 1 s"))


# ---- examples -----------------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_predictive_control_follows_under_load():
    """1 cm sin πt under 600 N on the nonlinear plant, to a few µm, as far as a law can that knows the linear model only."""
    case, done, found = judged(example("ieha-mpc", *SHORT))
    assert exit_code(done.verdicts) == 0 and type(innermost(case.controller)) is MPC
    assert found["tracking"].data["rms"] < 3e-6 and np.abs(done.log.array("Y")).max() > 9.9e-3
    assert np.abs(done.log.array("F_ext")).max() > 590 and found["solves"].data["samples"] == len(
        done.log
    )
    assert (
        found["linear-stability"].strength == "proof"
        and "E = 0.1 mm" in found["linear-stability"].claim
    )
    (margin,) = found["linear-stability"].data["margins"]
    assert margin["gain_up"] > 1.5 and margin["phase"] > 0.5


@pytest.mark.long
def test_the_same_law_on_the_model_with_all_pistons():
    text = example(
        "ieha-mpc",
        ("detail: averaged", "detail: full"),
        ("duration: 8 s", "duration: 0.8 s"),
        ("settle: 2 s", "settle: 0.5 s"),
    )
    case, done, found = judged(text)
    assert len(case.plant.states) == 22 and exit_code(done.verdicts) == 0
    assert 0 < found["tracking"].data["rms"] < 5e-6
    assert (
        found["linear-stability"].holds is None
        and "changes with time" in found["linear-stability"].worst
    )


@pytest.mark.long
def test_too_little_weight_on_moves_is_caught():
    """The lightly damped mode of load and oil, which the model has not, in a limit cycle: run and linearised loop say so."""
    case, done, found = judged(example("ieha-unstable-mpc", *SHORT))
    assert exit_code(done.verdicts) == 1
    settled, linear = found["settled"], found["linear-stability"]
    assert (
        settled.holds is False
        and "limit cycle of Y" in settled.worst
        and settled.data["signal"] == "X"
    )
    assert 70 < settled.data["frequency"] < 105
    λ = np.linalg.eigvals(linearize(case.plant, case.plant.initial()).A)
    near = λ[np.abs(np.abs(λ) - 614).argmin()]
    assert f"{abs(near):.4g} rad/s" in settled.worst and 600 < abs(near) < 630
    assert (
        linear.holds is False
        and linear.data["radius"] > 1.05
        and 400 < linear.data["frequency"] < 614
    )
    one, other = load(EXAMPLES / "ieha-mpc.yaml"), load(EXAMPLES / "ieha-unstable-mpc.yaml")
    assert replace(innermost(one.controller), S=(0.1,)).S == innermost(other.controller).S


def test_pid_is_proven_on_a_box(tmp_path):
    text = example("ieha-pid", *SHORT, (", delay: [0 ms, 0.2 ms]", ""))
    (tmp_path / "case.yaml").write_text(text)
    files = {kind: tmp_path / f"out.{kind}" for kind in ("pdf", "json", "nc")}
    code = verify_stability(
        [
            str(tmp_path / "case.yaml"),
            "--report",
            str(files["pdf"]),
            "--json",
            str(files["json"]),
            "--log",
            str(files["nc"]),
            "--quiet",
        ]
    )
    assert (
        code == 0 and files["pdf"].read_bytes()[:4] == b"%PDF" and files["nc"].stat().st_size > 1000
    )
    said = {v["key"]: v for v in json.loads(files["json"].read_text())["verdicts"]}
    assert said["robust-stability"]["strength"] == said["linear-stability"]["strength"] == "proof"
    assert all(v["verdict"] == "holds" for v in said.values() if v["counted"])


@pytest.fixture(scope="module")
def textbook():
    return judged(example("linear-mpc"))


def test_the_textbook_case_is_proven(textbook):
    case, done, found = textbook
    assert exit_code(done.verdicts) == 0
    assert (
        found["mpc-stability"].strength == "proof" and found["cost-decrease"].strength == "sampled"
    )
    assert all(a.holds for a in found["mpc-stability"].assumptions if "solver" not in a.text)
    assert any("v_F at rest" in a.text for a in found["mpc-stability"].assumptions)
    X = done.log.array("X")
    assert X.max() == pytest.approx(case.plant.X_max) and np.abs(
        np.diff(X)
    ).max() <= 0.05 * 2e-3 * (1 + 1e-9)


def test_certificates_stand_on_their_own(textbook):
    """The exported certificates pass the checker that shares nothing with this package; with one number changed they fail."""
    _, _, found = textbook
    for key in ("mpc-stability", "linear-stability"):
        document = found[key].data["certificate"]
        assert recheck(document)[0], recheck(document)[1]
        bad = json.loads(json.dumps(document))
        bad["P"][0][0] = bad["P"][-1][-1]
        assert bad["P"][0][0] != document["P"][0][0] and not recheck(bad)[0], key


@pytest.mark.parametrize(
    "changes, words",
    [
        ([("terminal: set", "terminal: cost")], "terminal set as a constraint"),
        ([("  law: MPC", "  law: MPC\n  model: {change: {K: 116 1/s}}")], "model = plant"),
        (
            [
                (
                    "type: Hold, space: output, point: [2 mm]",
                    "type: Sine, space: output, centre: start, amplitude: [1 mm], frequency: 2 Hz",
                )
            ],
            "reference is constant",
        ),
        ([("  duration", "  disturbances: {F_ext: 20 N}\n  duration")], "no disturbance"),
        (
            [
                ("sample_time: 2 ms", "sample_time: 2 ms\n  delay: 1 ms"),
                ("  law: MPC", "  law: MPC\n  delay: 0 ms"),
            ],
            "delay",
        ),
        ([("point: [2 mm]", "point: [3 cm]")], "room"),
        ([("-0.05, high: 0.05}", "-0.05, high: 0.05, soft: true}")], "hard"),
    ],
)
def test_a_hypothesis_that_is_lost_is_named(changes, words):
    changes = [*changes, ("duration: 0.5 s", "duration: 0.02 s")]
    text = (
        example("linear-mpc", *changes)
        + "\nclaims: {mpc-stability: true, linear-stability: false}\n"
    )
    _, _, found = judged(text)
    verdict = found["mpc-stability"]
    assert verdict.holds is None and words in verdict.worst and not verdict.strength
    assert verdict.worst.count("terminal set as a constraint") <= 1


@pytest.mark.parametrize("change, code", [((), 0), ((("Q: 1", "Q: 1e-9"),), 1)])
def test_without_a_terminal_set_runs_and_the_linear_law_decide(change, code):
    """By default nothing is asked that needs a set: a law that works holds, one that hardly acts does not."""
    cost = [("terminal: set", "terminal: cost"), *change]
    _, done, found = judged(example("linear-mpc", *cost))
    assert "mpc-stability" not in found and "terminal: set" in found["unasked"].worst
    assert {"practical-stability", "linear-stability"} <= set(found)
    assert exit_code(done.verdicts) == code


def test_a_cost_that_rises_is_seen(textbook):
    case, done, _ = textbook
    log = done.log
    column = [s.name for s in log.signals].index("mpc_cost")
    values = log.values.copy()
    values[10, column] *= 1.5
    bad = Run(case.loop, case.scenario, replace(log, values=values))
    verdict = check_cost_decrease(C.CostDecrease(), bad)
    assert verdict.holds is False and "step 9" in verdict.worst


@pytest.mark.parametrize("delay", ["2 ms", "3 ms", "10.5 ms"])
def test_a_cost_falls_with_what_is_commanded_and_not_with_what_arrives(delay):
    """Whole samples of dead time and a share of one, known to the law: the same cost with what arrives rises."""
    case = loads(
        example("linear-mpc", ("sample_time: 2 ms", f"sample_time: 2 ms\n  delay: {delay}"))
    )
    done = run(case.loop, case.scenario)
    held = check_cost_decrease(C.CostDecrease(), done)
    assert held.holds is True, held.worst
    values = done.log.values.copy()
    columns = {s.name: k for k, s in enumerate(done.log.signals)}
    values[:, columns["X_held"]] = values[:, columns["X"]]
    late = Run(case.loop, case.scenario, replace(done.log, values=values))
    assert check_cost_decrease(C.CostDecrease(), late).holds is not True


def test_fallbacks_are_listed():
    """A target that the horizon cannot reach: no feasible plan at first, and the verdict says how often and since when."""
    text = example(
        "linear-mpc", ("point: [2 mm]", "point: [2 cm]"), ("duration: 0.5 s", "duration: 0.1 s")
    )
    _, done, found = judged(text)
    assert (
        found["solves"].holds is False
        and "infeasible" in found["solves"].worst
        and "first at t = 0 s" in found["solves"].worst
    )
    assert found["cost-decrease"].holds is not True
    proof = found["mpc-stability"]
    assert proof.holds is None and "this run's among them" in proof.claim
    assert (
        "this run's start is outside what is proven: its first problem is not solved" in proof.worst
    )


# ---- the loop as a linear one -------------------------------------------------------------------------------------------
def loops():
    plant = replace(machine("ieha-published-linear").plant, K=97.0, λ_2=1.9e-3)
    full = replace(plant, measured="states")
    gains = {"feed": "gain", "damping": "none", "u_max": 5e-4}
    return {
        "pid": ClosedLoop(
            plant, Sampled(PID(plant, K_p=(0.9,), K_i=(3.0,), K_d=(1e-3,), **gains), 2e-3)
        ),
        "delayed": ClosedLoop(
            plant, Delayed(Sampled(PID(plant, K_p=(0.7,), K_i=(3.0,), **gains), 2e-3), 3.1e-3)
        ),
        "lqr": ClosedLoop(
            full, Sampled(LQR.design(full, [0, 0, 0, 0, 1.0], 0.3, 2e-3, integral=1e-3), 2e-3)
        ),
        "mpc": loads(
            M.replace("ieha-control", "ieha-published-linear") + "loop: {sample_time: 2 ms}\n"
        ).loop,
        "mpc, full state": loads(example("linear-mpc")).loop,
    }


@pytest.mark.quick
@pytest.mark.parametrize("name", ["pid", "delayed", "lqr", "mpc", "mpc, full state"])
def test_the_matrix_is_what_the_simulation_does(name):
    """x after k samples is Mᵏ of the start: another path through the workbench (integrator, law called or compiled)."""
    loop = loops()[name]
    plant, n = loop.plant, len(loop.plant.states)
    Y = 1e-6
    log = simulate(loop, Scenario(0.04, Hold("output", (0.0,)), offset={"Y": Y}))
    own = closed(loop, point(plant, {}))[0]
    x = np.zeros(len(own))
    x[n - 1] = Y
    law = predictive(loop)
    if law is not None:
        memory = law.start(
            0.0, law.initial(), plant.out(0.0, x[:n]) if law.observer is None else [Y], None
        )
        x[len(x) - len(memory.x) - 1 : -1] = memory.x
    elif name != "lqr":
        x[n + (2 if name == "delayed" else 0) + 1] = -Y  # the derivative's filter starts settled
    for k in range(20):
        seen = log.values[k, :n]
        assert (
            np.abs(seen - x[:n])[n - 1] < 1e-4 * Y
            and np.abs(seen[:3] - x[:3]).max() < 1e-3 * np.abs(log.values[:, :3]).max()
        ), k
        x = own @ x


def test_margins_are_where_the_loop_goes_over():
    """The command times a factor: at the gain margin a mode is on the circle, and the loop's own matrix says so."""
    loop = loops()["pid"]
    M, B, C = closed(loop, point(loop.plant, {}))
    (row,), responses = margins(loop, point(loop.plant, {}), M, B, C)
    spectrum = np.abs(np.linalg.eigvals(M + (row["gain_up"] - 1) * B @ C))
    assert (
        spectrum.max() == pytest.approx(1, abs=1e-6)
        and row["gain_up"] > 1.2
        and list(responses) == ["X"]
    )
    plant = replace(loop.plant, K=loop.plant.K * row["gain_up"])
    assert np.abs(
        np.linalg.eigvals(closed(ClosedLoop(plant, loop.controller), point(plant, {}))[0])
    ).max() == pytest.approx(1, abs=1e-6)


def late_radius(c, τ):
    """Spectral radius of the loop with its command τ late: matrix exponentials, commands on their way as states."""
    late, rest = divmod(τ, c.T)
    n, whole = len(c.A), int(late)
    flow = np.zeros((n + 1, n + 1))
    flow[:n, :n] = c.A
    flow[:n, n] = c.b
    all_of_it, new = (c.E @ expm(flow * s)[:n, n] for s in (c.T, c.T - rest))
    m = len(c.M)
    K = c.K.reshape(1, m)
    chain = np.zeros((m + whole + 1, m + whole + 1))
    commands = np.vstack([np.hstack([K, np.zeros((1, whole + 1))]), np.eye(m + whole + 1)[m:]])
    chain[:m, :m] = c.M - np.outer(all_of_it, K)
    chain[:m] += np.outer(new, commands[whole]) + np.outer(all_of_it - new, commands[whole + 1])
    chain[m:] = commands[:-1]
    return np.abs(np.linalg.eigvals(chain)).max()


def first_late(loop, most, at=None):
    """The least delay of the command at which the linearised loop is unstable, by bisection after a scan up to `most`."""
    c = late_command(loop, at or point(loop.plant, {}), 0)
    scan = np.linspace(0, most, 1000)
    k = next(i for i, τ in enumerate(scan) if late_radius(c, τ) > 1 + 1e-9)
    low, high = scan[k - 1], scan[k]
    for _ in range(40):
        middle = (low + high) / 2
        if late_radius(c, middle) > 1:
            high = middle
        else:
            low = middle
    return low


@pytest.mark.parametrize("name", ["pid", "lqr"])
def test_margins_agree_with_the_fused_loop(name):
    """Another way to the same numbers: the whole loop traced and linearised, memory and held commands and all."""
    loop = loops()[name]
    found = {
        v.key: v
        for v in verify(
            loop, Scenario(0.01, Hold("output", (0.0,))), [C.LinearStability(), C.Linear()]
        )
    }
    (one,), (other,) = (found[key].data["margins"] for key in ("linear-stability", "linear"))
    for key in ("gain_up", "phase", "disk"):
        assert one[key] == pytest.approx(other[key], rel=1e-5), key
    edge = first_late(loop, 2 * one["delay"])
    assert (1 - 1e-4) * edge < one["delay"] <= edge
    assert other["delay"] == pytest.approx(
        edge, rel=0.01
    )  # by e^(−jωτ): exact for whole samples only


@pytest.mark.long
def test_the_delay_margin_is_where_runs_begin_to_oscillate():
    """Linearised, the nonlinear plant with the predictive law stands so much dead time; runs a little below and above it."""
    case, _, found = judged(example("ieha-mpc", *SHORT))
    edge = first_late(case.loop, 10e-3, point(case.plant, {"E": 1e-4, "X": 1e-4}))
    (margin,) = found["linear-stability"].data["margins"]
    assert (
        0.3 * edge < margin["delay"] <= edge
    )  # certain so far; the search may end before the edge
    words = {}
    for factor in (0.9, 1.1):
        delay = f"sample_time: 2 ms\n  delay: {1e3 * factor * edge:.4f} ms"
        text = example(
            "ieha-mpc",
            *SHORT,
            ("sample_time: 2 ms", delay),
            ("  law: MPC", "  law: MPC\n  delay: 0 ms"),
        )
        late = loads(text, "case.yaml")
        (settled,) = verify(late.loop, late.scenario, [run_claims.Settled()])
        words[factor] = settled.holds
    assert words == {0.9: True, 1.1: False}


def test_a_predictive_law_is_designed_anew_for_another_sample_time():
    loop = loads(M + "loop: {sample_time: 2 ms}\n").loop
    other = variant(loop, Scenario(1.0), T_s=3e-3)[0]
    assert (predictive(other).T_s, other.period, predictive(loop).T_s) == (3e-3, 3e-3, 2e-3)


def test_certificates_follow_the_eigenvalues():
    plant = machine("ieha-published-linear").plant
    for K_i in (0.0, 1.0):
        for K_p, holds in ((0.5, True), (9.0, False)):
            law = PID(plant, K_p=(K_p,), K_i=(K_i,), feed="none", damping="none", u_max=5e-4)
            loop = ClosedLoop(plant, Sampled(law, 1e-3))
            radius = np.abs(np.linalg.eigvals(closed(loop, point(plant, {}))[0])).max()
            (verdict,) = verify(loop, Scenario(0.01, Hold("output", (0.0,))), [C.LinearStability()])
            assert bool(radius < 1) is holds is verdict.holds, (K_i, K_p, radius, verdict.worst)
            # Without integral action its sum is a number, not a state with a mode at 1.
            assert any("I_Y" in a.text for a in verdict.assumptions) is (K_i == 0)


def test_a_box_with_an_unstable_corner_is_refuted():
    plant = machine("ieha-published-linear").plant
    loop = ClosedLoop(plant, Sampled(PID(plant, **PID.suited(plant)), 1e-3))
    quiet = Scenario(0.01, Hold("output", (0.0,)))
    wide, narrow = (
        C.RobustStability({"K": ends}) for ends in ((100.0, 3000.0), ("110 1/s", "118 1/s"))
    )
    bad, good = verify(loop, quiet, [wide, narrow])
    assert bad.holds is False and bad.strength == "numerical" and "unstable at K" in bad.worst
    assert good.holds is True and good.strength == "proof"


@pytest.mark.parametrize(
    "box",
    [
        {"K": (115.4, 115.4)},
        {"delay": (3.1e-3, 3.1e-3)},
        {"λ_1": (1e-3, 2e-3), "delay": (2e-3, 4e-3)},
    ],
)
def test_the_family_goes_through_the_loop(box):
    """At the loop's own parameters the family has the eigenvalues of the loop's matrix (and zeros for commands on their way)."""
    loop = loops()["delayed"]
    plant, at = loop.plant, point(loop.plant, {})
    family, limits = family_of(loop, at, box)
    own = {"K": plant.K, "λ_1": plant.λ_1, "delay": 3.1e-3} | {
        "K": 115.4 if "K" in box else plant.K
    }
    if "K" in box:
        loop = ClosedLoop(replace(plant, K=115.4), loop.controller)
    found = np.linalg.eigvals(family.at([own[name] for name in box]).mid)
    wanted = np.linalg.eigvals(closed(loop, at)[0])
    for λ in wanted[np.abs(wanted) > 1e-3]:
        assert np.abs(found - λ).min() < 1e-8, λ


@pytest.mark.long
def test_what_is_linear():
    assert is_linear(machine("ieha-published-linear").plant) and not is_linear(
        machine("ieha-control").plant
    )
    noisy = loads(M.replace("ieha-control", "ieha-published-linear") + "loop: {noise: {σ: 1 um}}\n")
    with pytest.raises(InputError, match="around a predictive"):
        linear_law(noisy.loop)
    verdicts = {
        v.key: v for v in verify(noisy.loop, replace(noisy.scenario, duration=0.05), noisy.claims)
    }
    assert verdicts["linear-stability"].holds is None


# ---- defaults -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ieha-control", "ieha-figures", "ieha-published-linear"])
@pytest.mark.long
def test_a_plant_alone_runs_and_holds(name, tmp_path):
    case = loads(f"plant: {name}\n")
    assert exit_code(verify(case.loop, case.scenario, case.claims)) == 0
    path = tmp_path / "mine.yaml"
    assert main(["init", name, "-o", str(path)]) == 0
    mine = load(path)
    assert (
        innermost(mine.controller) == innermost(case.controller)
        and mine.scenario.reference == case.scenario.reference
    )
    assert mine.claims == case.claims


def test_laws_and_models_from_files():
    text = (
        M
        + "  horizon: 12\n  limits: {Y: {low: -0.03, high: 0.02, soft: true}}\nloop: {sample_time: 3 ms}\n"
    )
    law = innermost(loads(text).controller)
    assert (law.N, law.T_s, law.u_max, law.S) == (12, 3e-3, (5e-4,), (1.0,)) and law.limits[0].soft
    assert law.model == machine("ieha-published-linear").plant and law.observer.σ_d == (3e-6,)
    assert innermost(loads(M + "  N: 12\n").controller).N == 12
    own = loads(M.replace("{machine: ieha-published-linear}", "{type: LinearActuator, K: 130 1/s}"))
    assert innermost(own.controller).model.K == 130
    changed = loads(M.replace("linear}", "linear, change: {K: 99 1/s}}"))
    assert (
        innermost(changed.controller).model.K == 99
        and changed.provenance["controller.model.K"].line == 4
    )
    assert changed.provenance["controller.model.λ_1"].source == "Alfayad16"
    delayed = loads(M + "loop: {delay: 0.3 ms}\n")
    assert innermost(delayed.controller).delay == 3e-4
    lqr = loads(
        LINEAR
        + "controller: {law: LQR, Q: [0, 0, 0, 0, 1], R: 0.3, integral: 1e-3}\nloop: {sample_time: 2 ms}\n"
    )
    assert innermost(lqr.controller) == LQR.design(
        lqr.plant, [0, 0, 0, 0, 1.0], 0.3, 2e-3, integral=1e-3
    )


# ---- what cannot work -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, words, line, key",
    [
        ("plant: ieha-figures\ncontroller: VDC\n", "open circuit", 2, "controller"),
        (
            "plant: ieha-control\ncontroller: {law: MPC, Q: 1, S: 1, relinearise: false}\n",
            "model",
            2,
            "controller",
        ),
        (
            "plant: {machine: ieha-control, change: {detail: full}}\ncontroller: MPC\n",
            "depends on time",
            2,
            "controller",
        ),
        ("plant: ieha-control\ncontroller: {law: LQR, Q: 1, R: 1}\n", "model", 2, "controller"),
        (
            "plant: ieha-control\ncontroller: {law: PID, feed: flow}\n",
            "has none at X",
            2,
            "controller.feed",
        ),
        (
            "plant: hiab-xs031\ncontroller: {law: MPC, relinearise: false}\n",
            "exactly at its edge",
            2,
            "controller",
        ),
        (M.replace("ieha-control", "hiab-xs031"), "no signal 'Y'", 2, "controller"),
        (M + "loop: {sample_time: continuous}\n", "sample time", 2, "controller"),
        (M + "  horizon: 0\n", "greater than zero", 9, "controller.horizon"),
        (M + "  horizon: 2.5\n", "whole number", 9, "controller.horizon"),
        (M + "  horizon: 3\n  N: 3\n", "keep one", 10, "controller.N"),
        (M + "  u_min: 1e-3\n  u_max: 0\n", "must be below", 9, "controller.u_min"),
        (M + "  limits: {Y: {low: 2, high: 1}}\n", "must be below", 9, "controller.limits.Y"),
        (M + "  limits: {Z: {low: 0, high: 1}}\n", "no signal 'Z'", 9, "controller.limits"),
        (M + "  known: [G]\n", "no signal 'G'", 9, "controller.known"),
        (M + "  tracked: [Z]\n", "no signal 'Z'", 9, "controller.tracked"),
        (M + "  slew: 0\n", "greater than zero", 9, "controller.slew"),
        (M + "  preview: -1\n", "0 or more", 9, "controller.preview"),
        (M + "  blocks: [10, 20]\n", "at most N = 20", 9, "controller.blocks"),
        (
            M + "  terminal: set\n  limits: {Y: {low: -0.1}}\n",
            "no middle",
            9,
            "controller.terminal",
        ),
        (M.replace("σ_y: 1e-6", "σ_y: 0"), "greater than zero", 8, "controller.observer.σ_y"),
        (M.replace("σ_d: 3e-6", "σ_d: -1"), "greater than zero", 8, "controller.observer.σ_d"),
        (M.replace("σ_y: 1e-6", "σ_y: [1e-6, 1e-6]"), "got 2", 8, "controller.observer.σ_y"),
        (M.replace("Q: 1", "Q: -1"), "zero or greater", 5, "controller.Q"),
        (
            M.replace("published-linear", "publishd-linear"),
            "did you mean ieha-published-linear",
            4,
            "controller.model.machine",
        ),
        (M + "  T_s: 1 ms\n", "no key 'T_s'", 9, "controller.T_s"),
        (
            "plant: ieha-control\nclaims: {mpc-stability: true}\n",
            "not predictive",
            2,
            "claims.mpc-stability",
        ),
        (
            "plant: ieha-control\nclaims: {linear-stability: {at: {E: 3 s}}}\n",
            "a length was expected",
            2,
            "claims.linear-stability",
        ),
        (
            "plant: ieha-published-linear\nclaims: {robust-stability: {box: {KK: [1, 2]}}}\n",
            "did you mean K",
            2,
            "claims.robust-stability.box",
        ),
        (
            "plant: ieha-published-linear\nclaims: {robust-stability: {box: {K: [2, 1]}}}\n",
            "above high",
            2,
            "claims.robust-stability.box.K",
        ),
        (M + "  horizon: 100000\n", "at most 1000 samples", 9, "controller.horizon"),
        (
            "plant: ieha-published-linear\ncontroller: {law: MPC, observer: {σ_y: 1e-6, σ_d: 1e-6}}\nloop:\n  filter: 20 Hz\n",
            "{frequency: …",
            4,
            "loop.filter",
        ),
        (
            "plant: ieha-published-linear\ncontroller: {law: MPC, observer: {σ_y: 1e-6, σ_d: 1e-6}}\nloop:\n  noise: 1e-6\n",
            "mend: write its keys: {σ: …}",
            4,
            "loop.noise",
        ),
        ("plant: ieha-control\nloop: {limit: -0.1 mm}\n", "must be positive", 2, "loop.limit"),
    ],
)
def test_bad_input(text, words, line, key):
    with pytest.raises(InputError) as caught:
        loads(text, "case.yaml")
    error = caught.value
    assert words in str(error) and error.mend, str(error)
    assert (error.file, error.line, error.key) == ("case.yaml", line, key), str(error)


def test_the_schema_knows_the_new_sections():
    schema = case_schema(PLANTS, laws(), C.Claim)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    law = {
        "law": "MPC",
        "model": {"machine": "ieha-published-linear"},
        "Q": 1,
        "horizon": 30,
        "observer": {"sigma_y": 1e-6, "σ_d": [3e-6]},
    }
    base = {
        "plant": "ieha-control",
        "controller": law,
        "claims": {
            "linear-stability": {"at": {"E": "0.1 mm"}},
            "robust-stability": {"box": {"K": [100, "130 1/s"]}},
        },
    }
    assert valid(base)
    for section, key, value in (
        ("controller", "horizon", "long"),
        ("controller", "observer", {"σ_y": "x"}),
        ("controller", "N_p", 3),
        ("claims", "mpc-stabilty", True),
        ("claims", "robust-stability", {"box": 3}),
    ):
        assert not valid(base | {section: base[section] | {key: value}}), key


def test_runs_are_what_study_says(textbook):
    """The claims read the log: the same run twice gives the same costs, to the last bit."""
    case, done, _ = textbook
    again = run(case.loop, case.scenario)
    assert np.array_equal(again.log.array("mpc_cost"), done.log.array("mpc_cost"))


def test_limits_of_a_predictive_law_have_the_units_of_its_commands():
    text = (EXAMPLES / "ieha-mpc.yaml").read_text()
    given = text.replace(
        "  horizon: 40 ", "  u_min: -0.4 mm\n  u_max: 400 um\n  slew: 5 cm/s\n  horizon: 40 "
    )
    law = innermost(loads(given).controller)
    assert (law.u_min, law.u_max, law.slew) == ((-0.4e-3,), (0.4e-3,), (0.05,))
    with pytest.raises(InputError, match="a length was expected.*voltage"):
        loads(given.replace("400 um", "4 V"))
