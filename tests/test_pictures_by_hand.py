"""What reports draw of searches and of predictive laws, from numbers written down."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import InputError, Scenario, Sine
from workbench.verification.predictive import of_run, run_claims
from workbench.verification.results import arrays
from workbench.verification.search import pictures as module
from workbench.verification.search.direction import Direction
from workbench.verification.search.of_plant import Number
from workbench.verification.search.score import Score
from workbench.verification.verdict import Verdict

T = np.array([0.0, 1.0, 2.0])


class Log(dict):
    array = dict.__getitem__
    time = T

    def signal(self, name):
        return SimpleNamespace(unit="m")


# ---- a search -------------------------------------------------------------------------------------
def test_directions_explain_as_much_of_scores_as_their_parts_spread():
    """s = 3 z₁ + 2 z₂² + 7 on a grid: 3 σ(z), 2 σ(z²); runs that could not be made are left out."""
    z = np.array([[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)], float)
    s = 3 * z[:, 0] + 2 * z[:, 1] ** 2 + 7
    found = module.importance(z, s)
    assert found == pytest.approx([3 * np.sqrt(2 / 3), 2 * np.sqrt(2 / 9), 0.0], rel=1e-2, abs=1e-9)
    lost = module.importance(np.vstack([z, z[:2]]), np.append(s, [np.nan, np.inf]))
    assert lost == pytest.approx(found)
    assert module.importance(z[:2], np.full(2, np.nan)).tolist() == [0.0] * 3
    ends = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert module.importance(ends, ends[:, 0]) == pytest.approx([0.5], rel=1e-2), (
        "z and z² together"
    )
    slight = module.importance(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    assert slight == pytest.approx([2 / 2.002])


K, M = Direction("k", 1.0, 9.0, 3.0, "1/s", Number()), Direction("m", 0.0, 2.0, 0.5, "kg", Number())


def searched(each, nominal=()):
    verdicts = [Verdict(key, f"text {key}", True, "sampled", 0.25, "m") for key in nominal]
    scores = [Score(min(v for _, v in one), "a", None, one) for one in each]
    places = [np.array([0.0, 0.0])] * len(each)
    amounts = lambda place: {K: 4.0}
    return SimpleNamespace(
        along=(K, M), places=places, scores=scores, nominal=verdicts, amounts=amounts
    )


def test_requirements_of_a_search_and_the_run_that_came_nearest():
    search = searched(
        [(("a", 0.9), ("b", 0.1)), (("a", 0.4),), (("a", 0.7), ("b", -0.2))], ("a", "b", "c")
    )
    told = [(r["claim"], r["least"], r["run"]) for r in module._requirements(search)]
    assert told == [("text a", 0.4, 1), ("text b", -0.2, 2), ("text c", np.inf, 0)]
    assert module.tried(search).tolist() == [[4.0, 0.5]] * 3
    assert module.described(search)[1] == {
        "name": "m", "low": 0.0, "high": 2.0, "nominal": 0.5, "unit": "kg"
    }  # fmt: skip


def ran(tool=None, errors=None, curve=None, reference=True):
    kept = (
        {}
        if curve is None
        else {"requirements": {"a": {"t": T, "curve": curve, "unit": "m", "clause": "e < 5 mm"}}}
    )
    demand = SimpleNamespace(reference=reference or None)
    return SimpleNamespace(
        log=Log(), tool_error=tool, error_unit="m", demand=demand, kept=kept, errors=errors or {}
    )


def drawn(monkeypatch, nominal, closest, requirement="a", limit=0.5):
    monkeypatch.setattr(module, "joint_errors", lambda run: run.errors)
    verdict = SimpleNamespace(limit=limit)
    found = SimpleNamespace(requirement=requirement, verdict=verdict)
    return module.curves(nominal, closest, found)


def test_what_is_drawn_of_the_closest_run_beside_the_nominal_one(monkeypatch):
    margins = ran(tool=T, curve=T + 1), ran(tool=2 * T, curve=T - 1)
    room, error = drawn(monkeypatch, *margins)
    assert (room["name"], room["edges"], room["unit"]) == ("room of e < 5 mm", [0.0], "m")
    assert room["nominal"][1].tolist() == [1.0, 2.0, 3.0] and room["closest"][1].tolist() == [
        -1.0,
        0.0,
        1.0,
    ]
    assert (error["name"], error["edges"]) == ("tool_error", [])
    assert error["nominal"][1].tolist() == T.tolist() and error["closest"][1].tolist() == [
        0.0,
        2.0,
        4.0,
    ]
    assert [c["name"] for c in drawn(monkeypatch, ran(tool=T), margins[1])] == ["tool_error"]


def test_edges_of_errors_are_on_both_sides_of_those_that_have_a_sign(monkeypatch):
    errors = {"x": T, "y": T - 1, "z": T}
    runs = ran(errors=errors), ran(errors=errors)
    found = drawn(monkeypatch, *runs, "tracking")
    assert [(c["name"], c["edges"]) for c in found] == [
        ("error of x", [0.5]),
        ("error of y", [-0.5, 0.5]),
    ]
    assert drawn(monkeypatch, *runs, "tracking", None)[1]["edges"] == []
    assert drawn(monkeypatch, *runs)[0]["edges"] == []
    assert drawn(monkeypatch, ran(reference=False), ran(errors=errors)) == []


# ---- a predictive law -------------------------------------------------------------------------------
def told(monkeypatch, law="one", **log):
    monkeypatch.setattr(of_run, "predictive", lambda loop: law)
    signals = {name: np.array(v, float) for name, v in log.items()}
    return SimpleNamespace(
        loop=SimpleNamespace(plant="p"), log=Log(signals), scenario=Scenario(2.0)
    )


SOLVED = {
    "mpc_status": [1, -1, 2], "mpc_fallback": [0, 2, 3], "mpc_iterations": [4, 5, 6],
    "mpc_active": [0, 1, 2], "mpc_slack": [0, 0, 0.5],
}  # fmt: skip


def test_what_a_solver_said_at_every_sample(monkeypatch):
    found = arrays.solver(told(monkeypatch, **SOLVED))
    assert found["optimal"] == pytest.approx(1 / 3)
    assert {k: v.tolist() for k, v in found["events"].items()} == {
        "infeasible": [1.0], "fallback: terminal law": [1.0], "fallback: command held": [2.0]
    }  # fmt: skip
    assert found["iterations"].tolist() == [4, 5, 6] and found["slack"].tolist() == [0, 0, 0.5]
    assert arrays.solver(told(monkeypatch, None, **SOLVED)) == {}
    assert arrays.solver(told(monkeypatch, y=[0.0] * 3)) == {}


@pytest.mark.parametrize(
    "why, push, met",
    [
        ("", 0.0, (True, True)),
        ("the reference is constant", 0.0, (False, True)),
        ("the reference is constant", 2.0, (False, False)),
        ("the reference is constant", Sine("output", "start", (1.0,), 1.0), (False, False)),
        ("no disturbance acts", 2.0, (True, False)),
    ],
)
def test_hypotheses_of_a_predictive_law(monkeypatch, why, push, met):
    law = SimpleNamespace(model="p", hypotheses=lambda: {"the weights are definite": True})
    run = told(monkeypatch, law)
    run.scenario = Scenario(2.0, None, {"F": push})
    import workbench.verification.linear.loop as linear

    monkeypatch.setattr(linear, "is_linear", lambda plant: False)
    monkeypatch.setattr(of_run, "constant", lambda run: (None, why))
    monkeypatch.setattr(run_claims, "_around", lambda loop, law: ["nothing between"])
    monkeypatch.setattr(arrays, "digest", str)
    assert arrays.hypotheses(run) == [
        ("constant reference", met[0]),
        ("no disturbance", met[1]),
        ("the plant is linear", False),
        ("the model is the plant", True),
        ("nothing between", False),
        ("the weights are definite", True),
    ]


def test_arrays_of_a_report_are_those_that_are_there(monkeypatch):
    for name in ("model", "tracking", "limits", "solver", "hypotheses"):
        monkeypatch.setattr(arrays, name, lambda *given, n=name: {} if n == "solver" else {n: 1})
    run = SimpleNamespace(loop=SimpleNamespace(plant=SimpleNamespace(structures=())), log=Log())
    assert list(arrays.run_arrays(run, ())) == ["hypotheses", "model", "tracking", "limits"]
    run.loop.plant.structures = ("a crane",)
    assert list(arrays.run_arrays(run, ())) == ["hypotheses"]
    run.loop.plant.structures = ()
    run.log.time = T[:2]
    assert list(arrays.run_arrays(run, ())) == ["hypotheses"]


@dataclass(frozen=True)
class Ahead:
    """A law that sees so many samples ahead."""

    preview: int = 9

    @property
    def ahead(self):
        return self.preview


def previewed(
    monkeypatch, law=Ahead(), adaptive=None, follows=("y",), count=3, completed=True, fails=False
):
    """Errors of the run under a law that sees nothing ahead, and which law that was."""
    import workbench.run.simulate as simulating

    class Blind(Log):
        status = SimpleNamespace(completed=completed)

        def __len__(self):
            return count

    def simulate(loop, scenario):
        if fails:
            raise InputError("limits cannot be kept")
        made.append(loop)
        return Blind(y=T)

    class Seen(Log):
        def __len__(self):
            return 3

    made = []
    monkeypatch.setattr(simulating, "simulate", simulate)
    monkeypatch.setattr(arrays, "law_of", lambda loop: law)
    monkeypatch.setattr(arrays, "followed", lambda run: list(follows))
    monkeypatch.setattr(arrays, "ClosedLoop", lambda plant, controller: controller)
    monkeypatch.setattr(arrays, "rewrapped", lambda controller, law: (controller, law))
    monkeypatch.setattr(arrays, "error", lambda log, name, settle: (name, settle))
    plant = SimpleNamespace(adaptive=adaptive)
    loop = SimpleNamespace(plant=plant, controller="around")
    run = SimpleNamespace(loop=loop, log=Seen(), scenario=None, kept={})
    found = arrays.previews(run, 0.5)
    assert arrays.previews(run, 0.5) is found
    return found, made


def test_what_looking_ahead_is_worth(monkeypatch):
    """The same law without it, where both runs reach their end."""
    assert previewed(monkeypatch) == ({"y": ("y", 0.5)}, [("around", Ahead(0))])
    pistons = SimpleNamespace(period=0.1)
    for given in ({"law": Ahead(0)}, {"follows": ()}, {"adaptive": pistons}, {"fails": True}):
        assert previewed(monkeypatch, **given) == ({}, [])
    assert previewed(monkeypatch, adaptive=SimpleNamespace(period=None))[0] == {"y": ("y", 0.5)}
    for given in ({"count": 2}, {"completed": False}):
        assert previewed(monkeypatch, **given)[0] == {}
