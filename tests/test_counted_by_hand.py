"""What counted runs decide, which disturbances are drawn, and comparisons with time of a plant, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.verification.practical.later.timed import _Plant
from workbench.verification.probability import fixed
from workbench.verification.results import arrays


# ---- bounds of probabilities --------------------------------------------------------------------
def said(monkeypatch, least, bounds, at_most=0.1):
    m = len(bounds)
    monkeypatch.setattr(fixed, "words", lambda claim: "asked")
    monkeypatch.setattr(fixed, "draw", lambda one: "drawn")
    claim = SimpleNamespace(
        at_most=at_most, sentences=tuple(f"s{k}" for k in range(m)), seed=3, counted=None
    )
    all_met = np.ones((4, m), bool)
    seen = fixed.Seen(all_met, all_met)
    return fixed.told(claim, [{}] * 4, seen, least, bounds, "more runs", "runs")


@pytest.mark.parametrize(
    "least, bounds, holds",
    [
        ([0.0], [0.1], True),
        ([0.0], [0.11], None),
        ([0.1], [0.2], None),
        ([0.11], [0.2], False),
        ([0.0, 0.3], [0.05, 0.5], False),
        ([0.3, 0.0], [0.5, 0.05], False),
        ([0.0, 0.0], [0.05, 0.5], None),
        ([0.0, 0.0], [0.05, 0.06], True),
    ],
)
def test_every_sentence_must_be_rare_and_one_that_is_not_is_enough(
    monkeypatch, least, bounds, holds
):
    """What is allowed is allowed: at most 0.1, up to 0.1 itself."""
    found = said(monkeypatch, least, bounds)
    assert found.holds is holds
    assert found.strength == (None if holds is None else "sampled")
    assert (f", s{int(np.argmax(bounds))}" in found.worst) is (len(bounds) > 1)
    assert ("more runs" in found.worst) is (holds is None)
    assert ("at least" in found.worst) is (holds is not True)


# ---- what follows, what disturbs -----------------------------------------------------------------
class Log(dict):
    array = dict.__getitem__
    time = np.array([0.0, 1.0])

    def signal(self, name):
        return Signal(name, "m")


def test_disturbances_are_those_that_are_there_and_not_zero(monkeypatch):
    monkeypatch.setattr(arrays, "followed", lambda run: ["y"])
    monkeypatch.setattr(arrays, "error", lambda log, name, settle: {})
    loads = [Signal(n, "N", kind="disturbance") for n in ("pushes", "once", "rests", "unlogged")]
    plant = SimpleNamespace(inputs=(Signal("u", "V"), *loads))
    log = Log(
        {
            "y": np.ones(2),
            arrays.target_name("y", 0): np.zeros(2),
            "u": np.ones(2),
            "pushes": np.ones(2),
            "once": np.array([0.0, 1.0]),
            "rests": np.zeros(2),
        }
    )
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant))
    found = arrays.tracking(run, [])
    assert [one["name"] for one in found["disturbances"]] == ["pushes", "once"]
    assert found["settle"] == 0.0 and [one["name"] for one in found["outputs"]] == ["y"]


# ---- comparisons of a plant with time ------------------------------------------------------------
def test_margins_of_a_plant_are_those_of_its_comparisons():
    times = np.array([1.0, 2.0, 3.0])
    own = object.__new__(_Plant)
    own.plant, own.x, own.u = "plant", np.zeros(1), [0.0]
    traced = SimpleNamespace(constants=lambda plant: plant)
    for own.traced, own.compared in ((None, None), (traced, None)):
        assert own.margins(times).shape == (0, 3)
    own.traced = traced
    own.compared = lambda t, x, u, c: t - 2.0 if c == "plant" else None
    assert own.margins(times) == pytest.approx(np.array([[-1.0, 0.0, 1.0]]))
