"""What is said of a linear loop: its slowest mode, its margins, a delay by samples, in words and numbers that are checked."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, Sampled
from workbench.verification import claims as C
from workbench.verification import judge
from workbench.verification.cause import named
from workbench.verification.linear import claims as module
from workbench.verification.linear import local
from workbench.verification.linear.claims import _margin_words, _rounded_down, margins
from workbench.verification.linear.loop import closed, point
from workbench.verification.regions import claims as regions
from workbench.verification.verdict import Verdict, answers_stability

PLANT = Linear(((-1.0,),), ((1.0,),), ((1.0,),))
TWO = Linear(
    ((-1.0, 0.0), (0.0, -2.0)), ((1.0, 0.0), (0.0, 1.0)), ((1.0, 0.0), (0.0, 1.0))
)  # two that know nothing of each other


def checked(plant, K, T=None, delay=None):
    law = Feedback(plant, K)
    law = law if T is None else Sampled(law, T)
    loop = ClosedLoop(plant, law if delay is None else Delayed(law, delay))
    return module.check_linear_stability(C.LinearStability(), SimpleNamespace(loop=loop))


# ---- the slowest mode -----------------------------------------------------------------------------
def test_the_slowest_mode_of_flows_and_of_samples():
    """ẋ = −x − 3 x; held over 0.1 s: e^{−0.1} − 3 (1 − e^{−0.1})."""
    flows = checked(PLANT, ((3.0,),))
    assert flows.holds is True and "; slowest mode Re λ = -4 1/s; u0: gain × " in flows.worst
    assert flows.data["frequency"] == 0.0 and "radius" not in flows.data
    λ = math.exp(-0.1) - 3 * (1 - math.exp(-0.1))
    steps = checked(PLANT, ((3.0,),), 0.1)
    assert f"slowest mode |λ| = {λ:.6g}; u0" in steps.worst
    assert steps.data["radius"] == pytest.approx(λ)


@pytest.mark.parametrize("T", [None, 0.05])
def test_the_slowest_mode_turns(T):
    """Poles −1 ± 3j beside −2: 3 rad/s, by samples as well."""
    A = ((-1.0, 3.0, 0.0), (-3.0, -1.0, 0.0), (0.0, 0.0, -2.0))
    plant = Linear(A, ((0.0,), (0.0,), (1.0,)), ((0.0, 0.0, 1.0),))
    found = checked(plant, ((0.0,),), T)
    assert " at 3 rad/s (0.477 Hz)" in found.worst
    assert found.data["frequency"] == pytest.approx(3.0)
    assert found.worst.count("hidden mode: ") == 1


def test_a_loop_that_is_not_stable_has_no_margins():
    lost = checked(PLANT, ((-3.0,),))
    assert lost.holds is False and lost.data["margins"] == [] and "gain ×" not in lost.worst
    assert lost.strength == "numerical" and lost.data["loops"] == {}


# ---- margins --------------------------------------------------------------------------------------
def rows(plant, K, T=None, delay=None):
    law = Feedback(plant, K)
    law = law if T is None else Sampled(law, T)
    loop = ClosedLoop(plant, law if delay is None else Delayed(law, delay))
    at = point(plant, {})
    return margins(loop, at, *closed(loop, at))


def test_margins_of_each_command_with_the_others_closed():
    """L = 5/(s + 1): any gain; |L| = 1 at √24; the second, 1/(s + 2), never reaches one."""
    (first, second), drawn = rows(TWO, ((5.0, 0.0), (0.0, 1.0)))
    phase = math.pi - math.atan(math.sqrt(24))
    assert (first["actuator"], second["actuator"]) == ("u0", "u1") and list(drawn) == ["u0", "u1"]
    assert (first["gain_up"], first["gain_down"]) == (np.inf, 0.0)
    assert first["phase"] == pytest.approx(phase) and second["phase"] == np.inf
    assert first["delay"] == pytest.approx(phase / math.sqrt(24)) and first["delay_found"] is True
    assert (second["delay"], second["delay_found"]) == (np.inf, True)


def test_a_delay_of_a_sampled_loop_is_the_edge_itself():
    """x⁺ = φ x + (1 − φ) u held, u = −3 x that comes later: a whole sample or a part of it."""
    ((found,), _) = rows(PLANT, ((3.0,),), 0.1)
    edge = found["delay"]
    radius = lambda τ: np.abs(
        np.linalg.eigvals(
            closed(
                ClosedLoop(PLANT, Delayed(Sampled(Feedback(PLANT, ((3.0,),)), 0.1), τ)),
                point(PLANT, {}),
            )[0]
        )
    ).max()
    assert found["delay_found"] is True and radius(0.999 * edge) < 1 < radius(1.001 * edge)


def test_margins_in_words():
    given = {"actuator": "u", "gain_down": 0.25, "gain_up": 3.456, "phase": 0.5, "delay": 0.012399}
    assert (
        _margin_words(given | {"delay_found": True})
        == "u: gain × 0.25 … 3.46, phase 28.6°, delay 12.3 ms"
    )
    assert _margin_words(given | {"delay_found": False}).endswith(
        "delay 12.3 ms at least (no further looked)"
    )


ROUNDED = {
    0.012399: 0.0123, 1.0: 1.0, 0.1: 0.1, 9.999: 9.99, 123456.0: 123000.0, 0.5: 0.5, 0.0: 0.0, np.inf: np.inf,
    -2.5: -2.5,
}  # fmt: skip


@pytest.mark.parametrize("value, told", ROUNDED.items())
def test_a_margin_is_rounded_down_to_three_digits(value, told):
    assert _rounded_down(value) == pytest.approx(told, rel=1e-12) and _rounded_down(
        value
    ) <= value * (1 + 1e-12 if value > 0 else 1)


# ---- plants that say what they are near a point -----------------------------------------------------
@dataclass(frozen=True)
class Says:
    """A plant that linearises itself."""

    derivatives: tuple = ("estimated", "differences of the simulator")

    def linearised(self, x, u):
        return None


def test_a_verdict_on_a_plant_that_says_what_it_is_is_no_stronger_than_that(monkeypatch):
    monkeypatch.setattr(module, "LinearisesItself", Says)
    found = Verdict("k", "t", True, "proof", 0.5)
    strength, notes = module._by_itself(Says(), found, ("before",))
    assert strength == "estimated" and notes[0] == "before" and len(notes) == 2
    assert (notes[1].text, notes[1].source) == (
        "derivatives are right",
        "differences of the simulator",
    )
    assert module._by_itself(PLANT, found, ()) == ("proof", ())
    open_ = Verdict("k", "t", None)
    assert module._by_itself(Says(), open_, ()) == (None, ())


# ---- starts of a region ------------------------------------------------------------------------------
def test_a_run_leaves_from_the_start_itself(monkeypatch):
    """The loop rests at 10: what is 3 off begins at 13."""
    begun = []
    monkeypatch.setattr(regions, "_leaves", lambda own, x: begun.append(x.tolist()) or 7)
    region = SimpleNamespace(reach=lambda d: 0.5, holds=lambda d: False)
    run = SimpleNamespace(loop=SimpleNamespace(plant=PLANT))
    claim = SimpleNamespace(starts=({"x0": 13.0},))
    blank = Verdict("region-of-attraction", "text", None)
    found = regions._of_starts(
        claim, run, None, region, np.array([10.0]), [np.array([3.0])], {"x0": "1"}, 1e-6, blank
    )
    assert begun == [[13.0]] and found.holds is False and "after 7 samples" in found.worst


# ---- common pressures ----------------------------------------------------------------------------------
@pytest.mark.parametrize("seen, gone", [(0.0, 1), (1e-5, 1), (0.5, 0), (-0.5, 0)])
def test_a_common_pressure_that_a_command_reads_is_kept(seen, gone):
    """Both chambers push alike where p_a : p_b = A_b : A_a; a command that reads just that direction leaks."""
    cylinder = SimpleNamespace(A_a=3.0, A_b=4.0)
    plant = SimpleNamespace(labels=("1",), cylinders=(cylinder,))
    C = seen * np.array([[0.8, 0.6]])
    given = local.Local(
        (), np.zeros((2, 2)), np.array([[1.0], [0.0]]), C, None, ("p_a1", "p_b1"), 0.0, 0, 0.0
    )
    found = local._deflate(given, plant, np.ones(2))
    assert (found.deflated, found.leak) == (gone, pytest.approx(abs(seen)))
    assert found.states == (("f_p1",) if gone else ("p_a1", "p_b1"))


# ---- answers ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rows, stable",
    [
        ([("tracking", True, True), ("linear-stability", True, True)], True),
        ([("tube", None, True), ("supplied", True, True)], True),
        ([("tracking", True, True), ("settled", True, True)], False),
        ([("linear-stability", True, False)], False),
        ([("linear-stability", False, True), ("linear", None, True)], False),
        ([], False),
    ],
)
def test_a_loop_is_called_stable_where_one_claim_about_it_holds_and_counts(rows, stable):
    verdicts = [
        Verdict(key, "t", holds, None if holds is None else "proof", counted=counted)
        for key, holds, counted in rows
    ]
    assert answers_stability(verdicts) is stable


# ---- causes ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "verdicts, asked",
    [
        (((True, True), (True, True)), False),
        (((True, True), (None, False)), False),
        (((True, True), (None, True)), True),
        (((False, True), (True, True)), True),
        ((), False),
    ],
)
def test_a_cause_is_sought_where_a_counted_claim_does_not_hold(monkeypatch, verdicts, asked):
    made = [
        Verdict("k", "t", holds, None if holds is None else "sampled", counted=counted)
        for holds, counted in verdicts
    ]
    monkeypatch.setattr(named, "with_cause", lambda run, verdicts: "asked")
    assert judge._with_cause(None, made) == ("asked" if asked else made)
