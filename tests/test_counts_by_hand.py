"""Counts and their edges, by hand: samples that are enough, laws that are held, verdicts by their word, effects over a range."""

from dataclasses import make_dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification import accuracy
from workbench.verification.cause import foresight
from workbench.verification.observed import oscillation
from workbench.verification.practical.switches import called as called_switches
from workbench.verification.practical.switches.margins import HELD
from workbench.verification.results.verdict_json import document
from workbench.verification.sensitivity import morris
from workbench.verification.verdict import Verdict


# ---- samples of a search for oscillations -------------------------------------------------------------------------------------
@pytest.mark.parametrize("count, looked", [(31, []), (32, ["a", "b"]), (47, ["a", "b"])])
def test_errors_of_32_samples_are_looked_at(monkeypatch, count, looked):
    time = np.arange(count) * 0.1
    errors = {"a": np.sin(time), "b": np.cos(time)}
    asked = []
    monkeypatch.setattr(oscillation, "commanded_periods", lambda run: [0.5])
    monkeypatch.setattr(oscillation, "joint_errors", lambda run: errors)
    monkeypatch.setattr(oscillation, "uncommanded", lambda t, e, periods: (t, 2 * e))
    monkeypatch.setattr(oscillation, "signal_floor", lambda plant, name: {"a": 0.1, "b": 0.3}[name])
    monkeypatch.setattr(
        oscillation, "limit_cycle", lambda t, e, floor: asked.append((e, floor)) or floor
    )
    fine = SimpleNamespace(log=SimpleNamespace(time=time))
    run = SimpleNamespace(fine=fine, loop=SimpleNamespace(plant=None))
    found = oscillation.looked_at(run, 0.2)
    assert list(found) == looked
    if looked:
        assert found == {"a": 0.2, "b": 0.3} and asked[0][0] == pytest.approx(2 * np.sin(time))


def test_what_time_drives_is_in_both_runs(monkeypatch):
    """Errors of a run from another start are taken off, at its own instants; no period is then left out."""
    time, later = np.arange(40) * 0.1, np.arange(80) * 0.05
    run = SimpleNamespace(loop=SimpleNamespace(plant=None))
    run.fine = SimpleNamespace(log=SimpleNamespace(time=time), errors={"a": 3.0 + time})
    other = SimpleNamespace()
    other.fine = SimpleNamespace(log=SimpleNamespace(time=later), errors={"a": later})
    asked = []
    monkeypatch.setattr(oscillation, "commanded_periods", lambda run: [0.5])
    monkeypatch.setattr(oscillation, "joint_errors", lambda run: run.errors)
    monkeypatch.setattr(oscillation, "signal_floor", lambda plant, name: 0.0)
    monkeypatch.setattr(oscillation, "uncommanded", lambda t, e, p: asked.append(p) or (t, e))
    monkeypatch.setattr(oscillation, "limit_cycle", lambda t, e, floor: e)
    assert oscillation.looked_at(run, 0.2, other)["a"] == pytest.approx(np.full(40, 3.0))
    oscillation.looked_at(run, 0.2)
    assert asked == [[], [0.5]]


# ---- a law that is held -------------------------------------------------------------------------------------------------------
def held(monkeypatch, remembers, fails=None):
    """(command, samples made) of a law that remembers these numbers after so many samples, commanding their count."""
    made = []

    def step(memory, y, row):
        made.append((memory, tuple(y), row))
        if len(made) == fails:
            raise InputError("it fails")
        return len(made), np.array([float(len(made)), 0.5])

    monkeypatch.setattr(called_switches, "counted", lambda memory: [remembers(memory)])
    asked = SimpleNamespace(step=step, law=SimpleNamespace(commands=("u", "w")))
    u = called_switches.Called._held(None, asked, 0, [2.0], 7)
    assert made[0] == (0, (2.0,), 7) and made[-1][0] == len(made) - 1
    return u.tolist(), len(made)


def test_a_law_is_held_until_it_remembers_nothing_new(monkeypatch):
    assert held(monkeypatch, lambda n: min(n, 30)) == ([40.0, 0.5], 40)
    assert held(monkeypatch, lambda n: 1) == ([20.0, 0.5], 20)
    assert held(monkeypatch, lambda n: n) == ([float(HELD), 0.5], HELD)


def test_a_law_that_fails_while_it_is_held_commands_no_number(monkeypatch):
    u, count = held(monkeypatch, lambda n: n, fails=13)
    assert np.isnan(u).all() and len(u) == 2 and count == 13


# ---- verdicts, counted by their word ------------------------------------------------------------------------------------------
def test_only_verdicts_that_count_are_counted():
    rows = [
        Verdict("a", "c", True, "sampled", data={"pole": np.array([-2 + 3j])}),
        Verdict("b", "c", True, "sampled", counted=False),
        Verdict("c", "c", False, "sampled"),
        Verdict("d", "c", False, "sampled"),
        Verdict("e", "c", None),
        Verdict("f", "c", None, counted=False, margin=float("inf"), unit="m"),
    ]
    status = SimpleNamespace(completed=True, message="", t_end=2.5)
    log = SimpleNamespace(status=status, provenance={"seed": 3})
    case = SimpleNamespace(path="a.yaml", name="a", text="plant: b\n")
    found = document(case, SimpleNamespace(verdicts=rows, log=log), 1)
    assert found["counts"] == {"holds": 1, "violated": 2, "undecided": 1}
    assert found["exit_code"] == 1 and len(found["verdicts"]) == 6
    assert found["run"] == {"completed": True, "message": "", "t_end": 2.5, "seed": 3}
    assert found["verdicts"][5]["margin"] is None
    assert found["verdicts"][0]["data"] == {"pole": [{"real": -2.0, "imag": 3.0}]}
    assert found["not_finite"] == {"verdicts.5.margin": "infinite"}


# ---- effects over a range -----------------------------------------------------------------------------------------------------
def test_effects_are_means_over_all_paths_and_their_spread_is_that_of_a_sample():
    """m = 3 x y − 2 y over factors of 0.9 … 1.1: of x 3 y, of y 3 x − 2, for a tenth; n − 1 in the spread."""
    asked = []

    def margins(points):
        asked.extend(points)
        return [[3 * p["x"] * p["y"] - 2 * p["y"], 7.0] for p in points]

    (x, y), still = morris.effects(margins, ["x", "y"], seed=4)
    paths = 1 + morris.REACH * (2 * morris.paths(2, 4) - 1)
    slopes = {"x": [], "y": []}
    for first, second, third in paths:
        for a, b in ((first, second), (second, third)):
            moved, other = ("x", 1) if a[0] != b[0] else ("y", 0)
            slopes[moved].append(0.1 * (3 * a[other] - (0 if moved == "x" else 2)))
    for found, name in ((x, "x"), (y, "y")):
        assert found.tenth == pytest.approx(np.mean(slopes[name]), rel=1e-9)
        assert found.error == pytest.approx(np.std(slopes[name], ddof=1), rel=1e-9)
        assert found.name == name and found.by == morris.MORRIS
    assert len(asked) == 3 * morris.PATHS and [s.tenth for s in still] == [0.0, 0.0]


# ---- laws with exactly the settings that are loosened -------------------------------------------------------------------------
@pytest.mark.parametrize(
    "settings, tried",
    [(foresight.KNOWN, 1), (foresight.KNOWN | {"Q"}, 1), (foresight.KNOWN - {"N"}, 0)],
)
def test_a_law_with_all_known_settings_is_loosened(monkeypatch, settings, tried):
    law = make_dataclass("Law", sorted(settings))(*sorted(settings))
    monkeypatch.setattr(foresight, "predictive", lambda loop: law)
    monkeypatch.setattr(foresight, "_looser", lambda loop, law: [("words", {"slew": ()})])
    monkeypatch.setattr(foresight, "_called", lambda loop, made: made)
    found = list(foresight.foresight_trials(None))
    assert len(found) == tried
    if tried:
        assert found[0].law.slew == () and found[0].oddness == foresight.ODD


# ---- accuracy that is asked for -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "completed, words", [(True, "the plant brings its own integrator"), (False, "it diverged")]
)
def test_why_an_accuracy_cannot_be_told(completed, words):
    status = SimpleNamespace(completed=completed, message="it diverged")
    run = SimpleNamespace(
        log=SimpleNamespace(status=status), scenario=SimpleNamespace(accuracy=1e-3)
    )
    found = accuracy.asked(run, {})
    assert found.holds is None and found.worst == f"its own error cannot be told: {words}"
    assert found.claim == "the run is exact to 0.001 of the largest value of every state"


@pytest.mark.parametrize("share, holds", [(1e-3, True), (1.01e-3, None), (0.0, True)])
def test_an_accuracy_is_reached_up_to_the_share_that_is_asked_for(monkeypatch, share, holds):
    monkeypatch.setattr(
        accuracy, "share_of", lambda log, known, states: (share, "x" if share else "")
    )
    monkeypatch.setattr(accuracy, "names", lambda states: ["x"])
    log = SimpleNamespace(signal=lambda name: SimpleNamespace(unit="m"))
    run = SimpleNamespace(
        log=log, scenario=SimpleNamespace(accuracy=1e-3), loop=SimpleNamespace(states=())
    )
    found = accuracy.asked(run, {"x": 2e-3})
    assert found.holds is holds and found.data == {"share": share, "state": "x" if share else ""}
    assert found.worst.startswith(f"{share:.2g} of x, 2 mm" if share else "no state differs")
    assert holds is None or (found.margin, found.limit) == (1e-3 - share, 1e-3)
