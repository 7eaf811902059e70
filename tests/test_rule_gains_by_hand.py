"""Gains by relays and rules, loops that are not tuned, and the margins that are kept, on outcomes written down."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid import first
from controllers.pid_tuning import experiment, record, tune
from controllers.pid_tuning.linear import Matrices
from controllers.pid_tuning.oscillation import _way, limit_cycle
from workbench.contract.errors import InputError


# ---- gains by a rule -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("structure, τ", [("PI", 0.5), ("PID", 0.026)])
def test_gains_by_relays_on_one_actuator_after_the_other(monkeypatch, structure, τ):
    """Ziegler and Nichols: 0.45 K_u and T_u/1.2, or 0.6 K_u, T_u/2, T_u/8; the filter of the quickest, in two digits."""
    shown = [
        SimpleNamespace(K_u=8.0, T_u=2.0, T_s=0.01, command="u"),
        SimpleNamespace(K_u=5.0, T_u=1.03, T_s=0.01, command="v"),
    ]
    law = SimpleNamespace(n=2, commands=("u", "v"), measured=("y", "z", "p"), τ=0.5)
    asked, told = [], []
    monkeypatch.setattr(tune, "checked", lambda loop: None)
    monkeypatch.setattr(tune, "innermost", lambda controller: law)
    monkeypatch.setattr(tune, "_with_filter", lambda loop, τ: ("filtered", τ))
    monkeypatch.setattr(tune, "with_gains", lambda loop, free, K: (loop, free, K))
    monkeypatch.setattr(tune, "rounded", lambda made, free: (*made, free))
    monkeypatch.setattr(tune, "record", lambda *given: given)

    def experiment(self, loop, u, y):
        asked.append((u, y))
        return shown[len(asked) - 1]

    monkeypatch.setattr(tune.ByRelay, "_experiment", experiment)
    wish = tune.ByRelay("ziegler-nichols", structure, N=5.0, at={"q": 1})
    loop = SimpleNamespace(controller=None, period=0.01)
    (made, free, K, rounded), target, at, finds, words, seen = wish.tune(loop, told.append)
    assert asked == [("u", "y"), ("v", "z")] and told == [0.0, 0.5]
    assert (
        made == (("filtered", τ) if structure == "PID" else loop) and rounded == free == tune.GAINS
    )
    rows = {
        "PI": [[3.6, 3.6 / (2 / 1.2), 0.0], [2.25, 2.25 / (1.03 / 1.2), 0.0]],
        "PID": [[4.8, 4.8, 4.8 * 0.25], [3.0, 3.0 / 0.515, 3.0 * 1.03 / 8]],
    }
    assert K == pytest.approx(np.array(rows[structure]))
    assert (target, at, finds) == (None, {"q": 1}, wish.finds) and len(seen) == 2
    first_words, second = words.split("; ")
    assert (
        first_words == f"ziegler-nichols {structure} by relay: u K_u = 8, T_u = 2 s (200 samples)"
    )
    assert second == "v K_u = 5, T_u = 1.03 s (103 samples)"


def test_a_filter_is_no_shorter_than_a_sample(monkeypatch):
    law = SimpleNamespace(n=1, commands=("u",), measured=("y",))
    monkeypatch.setattr(tune, "checked", lambda loop: None)
    monkeypatch.setattr(tune, "innermost", lambda controller: law)
    monkeypatch.setattr(tune, "_with_filter", lambda loop, τ: τ)
    monkeypatch.setattr(tune, "with_gains", lambda loop, free, K: loop)
    monkeypatch.setattr(tune, "rounded", lambda made, free: made)
    monkeypatch.setattr(tune, "record", lambda loop, *given: loop)
    seen = SimpleNamespace(K_u=8.0, T_u=2.0, T_s=0.01, command="u")
    monkeypatch.setattr(tune.ByRelay, "_experiment", lambda self, loop, u, y: seen)
    loop = SimpleNamespace(controller=None, period=0.3)
    assert tune.ByRelay(structure="PID").tune(loop) == 0.3


def test_what_a_relay_is_told_of_units(monkeypatch):
    """Amplitude and bias in the command's unit, hysteresis in the output's; states alone say where it starts."""
    asked = []
    settled = [True]

    def relay(*given, **named):
        asked.append((given, named))
        return SimpleNamespace(settled=settled[0], why="it swings")

    monkeypatch.setattr(tune, "relay", relay)
    states = (SimpleNamespace(name="q"),)
    loop = SimpleNamespace(plant=SimpleNamespace(states=states))
    u, y = SimpleNamespace(name="u", unit="V"), SimpleNamespace(name="y", unit="m")
    wish = tune.ByRelay(
        amplitude="200 mV", hysteresis="3 mm", bias="-50 mV", at={"q": 1, "load": 2}
    )
    wish._experiment(loop, u, y)
    tune.ByRelay(bias=0.5)._experiment(loop, u, y)
    (given, named), (usual, _) = asked
    assert given == (loop, *map(pytest.approx, (0.2, 3e-3, -0.05)))
    assert named == {"command": "u", "at": {"q": 1}} and usual == (loop, None, 0.0, 0.5)
    settled[0] = False
    with pytest.raises(InputError, match="relay on u: it swings"):
        wish._experiment(loop, u, y)
    with pytest.raises(InputError, match="hysteresis: "):
        tune.ByRelay(hysteresis="3 V")._experiment(loop, u, y)


# ---- loops that are tuned --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "tunings, period, words", [({}, 0.1, "is for PID loops"), ({"a": 1}, None, "continuous")]
)
def test_loops_that_are_not_tuned(monkeypatch, tunings, period, words):
    law = SimpleNamespace(tunings=lambda: tunings)
    monkeypatch.setattr(tune, "innermost", lambda controller: law)
    with pytest.raises(InputError, match=words):
        tune.checked(SimpleNamespace(controller=None, period=period))
    law.tunings = lambda: {"a": 1}
    tune.checked(SimpleNamespace(controller=None, period=0.1))


@pytest.mark.parametrize("met", [True, False])
def test_a_pid_is_tuned_on_its_own_model(monkeypatch, met):
    asked = []
    monkeypatch.setattr(tune, "Sampled", lambda law, T_s: ("sampled", law, T_s))
    monkeypatch.setattr(
        tune,
        "ClosedLoop",
        type("Loop", (), {"__init__": lambda self, *given: setattr(self, "given", given)}),
    )
    monkeypatch.setattr(tune, "PID", SimpleNamespace)
    found = SimpleNamespace(met=met, law="law", disk=0.3)
    monkeypatch.setattr(
        tune.ByDiskMargin, "tune", lambda self, loop: asked.append((self, loop)) or found
    )
    pid = SimpleNamespace(model="model")
    if not met:
        with pytest.raises(
            InputError, match=r"margin of 0.6 is not reached; the largest found is 0.3"
        ):
            tune.tuned(pid, 0.6)
        return
    assert tune.tuned(pid, 0.6, T_s=0.01, free=("K_d",)) == "law"
    ((wish, loop),) = asked
    assert wish == tune.ByDiskMargin(0.6, ("K_d",)) and loop.given == (
        "model",
        ("sampled", pid, 0.01),
    )
    tune.tuned(loop)
    assert asked[1] == (tune.ByDiskMargin(0.75), loop)


@pytest.mark.parametrize("words, told", [("crossovers from 1", 0.0), ("wrong sign", None)])
def test_a_structure_of_which_nothing_is_stable_has_no_margin(monkeypatch, words, told):
    """Why a sign is wrong is said at once; other structures have other crossovers."""

    def lost(*given):
        raise InputError(words, mend="none")

    monkeypatch.setattr("controllers.pid_tuning.search.first_stable", lost)
    monkeypatch.setattr(first, "ClosedLoop", lambda *given: given)
    monkeypatch.setattr(first, "Sampled", lambda *given: given)
    law = SimpleNamespace(model="model")
    if told is None:
        with pytest.raises(InputError, match="wrong sign"):
            first._tried(law, ("K_p",))
        return
    assert first._tried(law, ("K_p",)) == (law, told)
    asked = []
    found = SimpleNamespace(controller="tuned")
    monkeypatch.setattr(
        "controllers.pid_tuning.search.first_stable",
        lambda *given: asked.append(given) or (found, 0.4),
    )
    monkeypatch.setattr(first, "innermost", lambda controller: controller)
    assert first._tried(law, ("K_p",)) == ("tuned", 0.4)
    assert asked == [(("model", (law, 1e-3)), ("K_p",), 0.75)]


# ---- margins ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "holds, kept", [((True, True), True), ((True, None), False), ((False, True), False)]
)
def test_a_margin_is_kept_where_every_verdict_of_it_holds(monkeypatch, holds, kept):
    asked = []

    def verdicts(L, name, **limits):
        asked.append((L, limits))
        return [SimpleNamespace(holds=h) for h in holds]

    monkeypatch.setattr(record, "margin_verdicts", verdicts)
    assert record._kept("L", 0.7) is kept
    assert asked == [("L", {"gain_up": None, "gain_down": None, "phase": None, "disk": 0.7})]


def test_the_margin_of_changes_at_all_commands_at_once(monkeypatch):
    """Of −C (zI − M + B C)⁻¹ B, with all commands cut."""
    rng = np.random.default_rng(9)
    M, B, C = 0.2 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    monkeypatch.setattr(record, "disk_margin", lambda L: SimpleNamespace(α=L))
    L = record._together(Matrices(M, B, C, 0.05))
    z = np.exp(0.3j * 0.05)
    assert L.at(0.3) == pytest.approx(-C @ np.linalg.solve(z * np.eye(3) - M + B @ C, B))
    assert L.T == 0.05 and math.isfinite(abs(L.at(0.3)[0, 1]))


# ---- relays ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "swings, way",
    [((1.0, 2.0, 3.0), "grows"), ((3.0, 2.0, 1.0), "dies away"), ((1.0, 3.0, 2.0), "changes")]
    + [((1.0, 2.0, 2.0), "changes"), ((2.0, 1.0, 1.0), "changes"), ((2.0, 2.0), "changes")],
)
def test_which_way_a_swing_goes(swings, way):
    assert _way(np.array(swings)) == way


def test_a_relay_starts_where_it_is_said():
    """Off the plant's own start: what is a state is an offset and a value, what is none is a command that is held."""
    states = (SimpleNamespace(name="s", unit="m"), SimpleNamespace(name="v", unit="m/s"))
    inputs = (SimpleNamespace(name="u", unit="V"), SimpleNamespace(name="w", unit="V"))
    plant = SimpleNamespace(states=states, inputs=inputs, initial=lambda: [0.5, -2.0])
    found = experiment._begin(plant, {"v": "3 m/s", "w": "20 mV"})
    assert (found.pose, found.offset) == (None, {"v": 5.0})
    assert found.x == [0.5, 3.0] and found.held == {"w": pytest.approx(0.02)}
    assert experiment._begin(plant, {}).x == [0.5, -2.0]
    with pytest.raises(InputError, match="relay, at"):
        experiment._begin(plant, {"x": 1.0})


def test_a_cycle_is_as_long_whenever_the_clock_began():
    """Ten periods of 40 samples of 2 ms, seen from 0 s or from 5 s on."""
    k = np.arange(401)
    side, e = np.where(k % 40 < 20, 1.0, -1.0), np.sin(2 * np.pi * k / 40)
    found = [limit_cycle(begin + 2e-3 * k, side, e, side) for begin in (0.0, 5.0)]
    assert [one.settled for one in found] == [True, True]
    assert [one.period for one in found] == pytest.approx([0.08, 0.08])
    assert [one.cycles[-1].period for one in found] == pytest.approx([0.08, 0.08])
    assert [one.cycles[-1].upper for one in found] == pytest.approx([0.04, 0.04])
