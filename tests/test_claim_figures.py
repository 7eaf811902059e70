"""Margins and predictive controllers: the numbers beside each verdict, from closed forms and logs written by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Delayed
from workbench.contract.plain import Plain
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.linear.margin_verdicts import margin_verdicts
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.practical import returning, starts
from workbench.verification.practical.starts import Start
from workbench.verification.predictive import run_claims as mpc_run_claims
from workbench.verification.predictive.claims import cost_on_log
from workbench.verification.verdict import Verdict

# ---- margins of k/(τ s + 1)³: limit gain 8/k, phase π − 3 atan √(k^⅔ − 1) at ω = √(k^⅔ − 1)/τ ------------------------------
K, LAG = 3.2, 0.05
CROSSOVER = math.sqrt(K ** (2 / 3) - 1) / LAG
PHASE = math.pi - 3 * math.atan(CROSSOVER * LAG)


def lag(k=K):
    a = -1 / LAG
    return LinearSystem(
        [[a, 0, 0], [-a, a, 0], [0, -a, a]], [[-a * k], [0], [0]], [[0, 0, 1.0]], [[0.0]]
    )


def asked(L=None, **limits):
    none = {"gain_up": None, "gain_down": None, "phase": None}
    stable, *found = margin_verdicts(L or lag(), "lag", **(none | limits))
    return found[0] if found else stable


@pytest.mark.parametrize(
    "key, found, unit, claim",
    [
        ("gain_up", 8 / K, "1", "gain times {} keeps it stable"),
        ("phase", PHASE, "rad", "phase margin at least {} rad"),
        ("delay", PHASE / CROSSOVER, "s", "{} s of delay keeps it stable"),
    ],
)
def test_a_margin_on_both_sides_of_what_is_required(key, found, unit, claim):
    """Holds below it, violated above, undecided within 1e-8 of it."""
    name = "margin-" + key.replace("_", "-")
    for share, holds in (
        (0.9, True),
        (1 - 3e-8, True),
        (1 + 3e-8, False),
        (1.1, False),
        (1.0, None),
    ):
        limit = found * share
        v = asked(**{key: limit})
        assert v.key == name and v.holds is holds and v.unit == unit and v.limit == limit
        assert v.claim == f"lag: {claim.format(limit)}"
        assert v.margin == pytest.approx(found - limit, abs=1e-9 * found)
        assert v.data["found"] == pytest.approx(found, rel=1e-9)
        assert v.strength == (None if holds is None else "numerical")
        assert v.worst.startswith("margin ") and ("edge within rounding" in v.worst) is (
            holds is None
        )
        assert ("re-checked" in v.source) is (key != "delay")


def test_what_never_destabilises_has_no_number():
    v = asked(lag(0.9), phase=3.0)
    assert v.holds is True and v.margin is None and v.limit == 3.0
    assert v.worst == "no change of this kind destabilises" and v.strength == "numerical"
    up = asked(LinearSystem([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), gain_up=1e6)
    assert up.holds is True and up.margin is None


def test_a_gain_that_may_fall():
    """20 (s + 2)²/s³ is stable from a twentieth of its gain upwards."""
    L = LinearSystem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0], [0], [1]], [[80, 80, 20.0]], [[0.0]])
    for limit, holds in ((0.06, True), (0.04, False)):
        v = asked(L, gain_down=limit)
        assert v.holds is holds and v.margin == pytest.approx(limit - 0.05, abs=1e-9)
    assert v.data["found"] == pytest.approx(0.05)


@pytest.mark.parametrize("k, holds", [(9.0, False), (8.0, None)])
def test_no_margin_of_a_loop_that_is_not_stable(k, holds):
    v = asked(lag(k), gain_up=2.0)
    assert v.holds is holds and v.margin is None and v.limit == 2.0
    assert v.worst.startswith("no margin: ") and v.strength == (
        None if holds is None else "numerical"
    )


def test_what_is_asked_where_nothing_is_said():
    """Twice and half the gain, thirty degrees; neither delay nor disk."""
    found = {v.key: v.limit for v in margin_verdicts(lag(), "lag")}
    assert found == {
        "linear-stability": None,
        "margin-gain-up": 2.0,
        "margin-gain-down": 0.5,
        "margin-phase": pytest.approx(math.pi / 6),
    }


# ---- a predictive controller's log -------------------------------------------------------------------------------------------
def solved(
    status=(1, 1, 2, 1), fallback=(0, 0, 0, 0), iterations=(3, 9, 4, 2), completed=True, **more
):
    columns = {"mpc_status": status, "mpc_fallback": fallback, "mpc_iterations": iterations} | more
    n = len(status)
    log = Log(
        np.arange(n) * 0.5,
        np.column_stack([np.asarray(c, float) for c in columns.values()]),
        tuple(Signal(name, "1") for name in columns),
        {},
        Status(completed, "completed" if completed else "diverged: Y", 2.0),
    )
    return SimpleNamespace(log=log, loop=None)


def solves(monkeypatch, run, share=0.0):
    monkeypatch.setattr(mpc_run_claims, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(mpc_run_claims, "predictive", lambda loop: None)
    return mpc_run_claims.check_solves(SimpleNamespace(share=share, counted=False), run)


def test_every_sample_solved(monkeypatch):
    found = solves(monkeypatch, solved())
    assert found.holds is True and found.strength == "sampled" and found.counted is False
    assert found.worst == "all 4 samples optimal, at most 9 iterations"
    assert (found.margin, found.limit, found.unit) == (0.0, 0.0, "1")
    assert found.data == {"samples": 4, "not_optimal": {}}
    assert found.claim == "every sample solved to optimality"


@pytest.mark.parametrize("share, holds", [(0.0, False), (0.74, False), (0.75, True), (0.8, True)])
def test_samples_that_were_not_solved(monkeypatch, share, holds):
    """Infeasible with the last solution, two of an unknown status: three of four, the first at half a second."""
    found = solves(monkeypatch, solved((1, -1, 7, 7), (0, 1, 0, 0)), share)
    assert found.holds is holds and found.margin == pytest.approx(share - 0.75)
    assert found.limit == share
    assert found.data["not_optimal"] == {"infeasible": 1, "status 7": 2, "last solution": 1}
    assert found.worst == "infeasible: 1, status 7: 2, last solution: 1; the first at t = 0.5 s"
    if share:
        assert found.claim.startswith(f"at most {100 * share:g} % of the samples")


def test_a_fallback_after_an_optimal_solve_is_one_too(monkeypatch):
    found = solves(monkeypatch, solved((1, 1, 2, 1), (0, 0, 3, 0)))
    assert found.holds is False and found.margin == -0.25
    assert found.data["not_optimal"] == {"command held": 1}


def test_a_predictive_run_that_ended_early(monkeypatch):
    found = solves(monkeypatch, solved(completed=False))
    assert found.holds is False and found.worst == "diverged: Y" and found.margin is None


@pytest.mark.parametrize(
    "status, fallback, why",
    [
        ((1, -1), (0, 1), None),
        ((2, 1), (0, 0), None),
        ((-1, 1), (0, 0), "infeasible"),
        ((-10, 1), (1, 0), "no finite model"),
        ((9, 1), (0, 0), "status 9"),
        ((1, 1), (2, 0), "terminal law"),
        ((2, 1), (8, 0), "fallback"),
    ],
)
def test_a_proof_about_feasible_starts_needs_one(status, fallback, why):
    proof = Verdict("mpc-stability", "text", True, "proof", 0.1, "1", worst="proven")
    run = solved(status, fallback, (1, 1))
    found = mpc_run_claims._begins_feasible(run, proof)
    if why is None:
        assert found is proof
        return
    assert found.holds is None and found.strength is None and found.margin is None
    assert f"not solved ({why}); from feasible starts: proven" in found.worst
    open_ = Verdict("mpc-stability", "text", None, worst="left")
    assert mpc_run_claims._begins_feasible(run, open_) is open_


def test_what_stands_between_controller_and_plant():
    law = SimpleNamespace(delay=0.0, T_s=2e-3)
    host = Plain(lambda t, y, r: [0.0], ("Y",), ("X",), ())

    def lost(inner=host, loops_delay=None, **own):
        sampled = SimpleNamespace(inner=inner)
        controller = sampled
        if loops_delay is not None:
            controller = object.__new__(Delayed)
            object.__setattr__(controller, "inner", sampled)
            object.__setattr__(controller, "delay", loops_delay)
        loop = SimpleNamespace(controller=controller, period=2e-3)
        return mpc_run_claims._around(loop, SimpleNamespace(**(vars(law) | own)))

    assert lost() == [] == lost(loops_delay=4e-3, delay=4e-3)
    for loops, own in ((4e-3, 0.0), (4e-3, 6e-3), (None, 6e-3)):
        (late,) = lost(loops_delay=loops, delay=own)
        assert "delay is the one the controller predicts" in late
    (late,) = lost(T_s=1e-3)
    assert "sample time" in late
    (filtered,) = lost(inner=SimpleNamespace(inner=host))
    assert "nothing (filter" in filtered


def test_the_cost_of_a_log_step_by_step():
    """V = 8, 5, 3, 2 and ℓ = 2, 2, 0.5: V⁺ − V + ℓ is −1, 0, −0.5, the last without a next one."""
    V, ℓ, fine = [8.0, 5.0, 3.0, 2.0], [2.0, 2.0, 0.5, 9.0], ["optimal"] * 4
    found = cost_on_log(V, ℓ, fine)
    assert found.holds is True and found.margin == 0.0 and found.strength == "sampled"
    assert found.worst == "V⁺ − V + ℓ = 0 at step 1"
    assert found.data == {"not_optimal": [], "steps": 4, "broken": []}
    noisy = cost_on_log(V, ℓ, fine, floor=0.25)
    assert noisy.holds is True and noisy.margin == 0.25
    broken = cost_on_log(V, [2.0, 2.5, 1.25, 9.0], fine, floor=0.2)
    assert broken.holds is False and broken.margin == pytest.approx(-0.3)
    assert broken.data["broken"] == [1, 2] and broken.worst == "V⁺ − V + ℓ = 0.5 at step 1"
    edge = cost_on_log(V, [2.0, 2.25, 0.5, 9.0], fine, floor=0.25)
    assert edge.holds is True and edge.data["broken"] == []


def test_steps_of_a_log_that_are_no_evidence():
    V, ℓ, fine = [8.0, 5.0, 3.0, 2.0], [2.0, 2.0, 0.5, 9.0], ["optimal"] * 4
    fell = cost_on_log(V, ℓ, fine, [False, False, False, True])
    assert fell.holds is None and fell.margin is None
    assert fell.worst == "1 steps not solved to optimality, the first 3 (optimal, fallback)"
    assert fell.data["not_optimal"] == [{"step": 3, "status": "optimal", "fallback": True}]
    other = cost_on_log(V, ℓ, ["optimal", "late", "optimal", "optimal"])
    assert other.worst == "1 steps not solved to optimality, the first 1 (late)"
    allowed = cost_on_log(V, ℓ, ["late"] * 4, optimal=("late",))
    assert allowed.holds is True
    apart = cost_on_log(V, ℓ, ["optimal", "late", "optimal", "late"])
    assert apart.holds is None and apart.worst == "no two successive optimal solves"
    lost = cost_on_log(V, [2.0, math.nan, 0.5, 9.0], fine)
    assert [row["step"] for row in lost.data["not_optimal"]] == [1]


def test_the_cost_along_a_run(monkeypatch):
    """The floor is a share of the largest cost; every sample must be in the log, the reference constant."""
    monkeypatch.setattr(mpc_run_claims, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(mpc_run_claims, "predictive", lambda loop: None)
    law = SimpleNamespace(
        follows=(), commands=(), stage_costs=lambda y, r, u: np.array([2.0, 2.0, 0.5, 9.0])
    )
    monkeypatch.setattr(mpc_run_claims, "predictive", lambda loop: law)
    monkeypatch.setattr(mpc_run_claims.np, "column_stack", lambda parts: parts)

    def asked(V=(8.0, 5.0, 3.0, 2.0), why="", period=0.5, floor=0.01, **more):
        run = SimpleNamespace(
            log=SimpleNamespace(
                time=np.arange(4) * 0.5,
                array=lambda name: np.array(
                    {"mpc_cost": V, "mpc_status": (1, 2, 1, 1), "mpc_fallback": (0,) * 4}[name],
                    float,
                ),
            ),
            loop=SimpleNamespace(period=period),
        )
        monkeypatch.setattr(mpc_run_claims, "constant", lambda run: (None, why))
        return mpc_run_claims.check_cost_decrease(SimpleNamespace(floor=floor, counted=False), run)

    found = asked()
    assert found.holds is True and found.key == "cost-decrease" and found.counted is False
    assert found.limit == pytest.approx(0.08) and found.margin == pytest.approx(0.08)
    assert found.worst == "V⁺ − V + ℓ = 0 at step 1; 4 samples, noise allowed 0.08"
    assert asked(V=(8.0, 5.0, math.nan, 2.0)).holds is None
    assert asked(period=0.25).worst.startswith("every sample must be in the log")
    assert asked(why="the reference is constant").worst == "only where the reference is constant"


# ---- which signals come back ---------------------------------------------------------------------------------------------------
def test_signals_whose_return_is_judged(monkeypatch):
    """The tool, what follows a reference, positions, other states that are moved, free joints, pressures; rates are left out.

    States that only count are, too.
    """
    monkeypatch.setattr(returning, "meters", lambda plant: ())
    states = tuple(
        Signal(n, u)
        for n, u in (("q", "rad"), ("dq", "rad/s"), ("z", "1"), ("p", "Pa"), ("w", "m"))
    )
    names = ("tcp_x", "tcp_z", "y", "q", "dq", "z", "p", "f", "w")
    free = SimpleNamespace(name="ball", unit="rad", positions=(Signal("f"), Signal("g")))
    gone = SimpleNamespace(name="gone", unit="m", positions=(Signal("absent"),))
    plant = SimpleNamespace(
        states=states,
        outputs=(Signal("y", "m"),),
        joint_names=("q",),
        pressure_names=("p", "absent"),
        free_joints=lambda commands: (free, gone),
        scales=lambda: {"pressure": SimpleNamespace(value=1e7)},
        limits=dict,
        inputs=(),
    )
    inputs = tuple(
        Signal(n, "", "", kind)
        for n, kind in (("y_d", "reference"), ("dy_d", "reference"), ("F", "disturbance"))
    )
    log = Log(np.zeros(1), np.zeros((1, len(names))), tuple(map(Signal, names)), {}, None)
    run = SimpleNamespace(
        log=log,
        loop=SimpleNamespace(plant=plant, inputs=inputs, controller=SimpleNamespace(commands=())),
    )
    sizes = {"q": 0.04, "dq": 0.08, "z": 2.0, "p": 1e5}
    found = {s.name: s for s in returning.judged(run, sizes, 3e-3)}
    assert list(found) == ["tool", "y", "q", "z", "ball", "p"]
    assert found["tool"].columns == ("tcp_x", "tcp_z") and found["tool"].tolerance == 3e-3
    assert (found["y"].unit, found["y"].tolerance) == ("m", 3e-3)
    assert (found["q"].unit, found["q"].tolerance) == ("rad", 0.01)
    assert (found["z"].unit, found["z"].tolerance) == ("1", 0.5)
    assert found["ball"].columns == ("f", "g") and found["ball"].tolerance == 0.25 * 0.02
    assert found["p"].pressure and found["p"].tolerance == 0.02 * 1e7 and found["p"].unit == "Pa"
    assert not any(found[n].pressure for n in ("tool", "y", "q", "z", "ball"))
    assert returning.judged(run, sizes, None)[0].tolerance == 0.0
    assert returning.followed(run) == ["y"]
    monkeypatch.setattr(returning, "meters", lambda plant: ("z",))
    assert "z" not in [s.name for s in returning.judged(run, sizes, 3e-3)]


def test_a_start_outside_the_strokes_is_drawn_closer(monkeypatch):
    """Nine tenths as far each time until the machine can stand there; refused where it never can."""
    monkeypatch.setattr(starts, "stands", lambda run, start: abs(start.amounts["x"]) <= 0.75)
    assert starts._fitting(None, Start({"x": -1.0, "y": 2.0})).amounts == pytest.approx(
        {"x": -0.729, "y": 1.458}
    )
    assert starts._fitting(None, Start({"x": 0.5})).amounts == {"x": 0.5}
    assert starts._fitting(None, Start({"x": 0.749})).amounts == {"x": 0.749}
    on_the_end = starts._fitting(None, Start({"x": 0.75})).amounts
    assert on_the_end == pytest.approx({"x": 0.675})
    monkeypatch.setattr(starts, "stands", lambda run, start: False)
    with pytest.raises(Exception, match="no other start fits"):
        starts._fitting(None, Start({"x": 1.0}))
