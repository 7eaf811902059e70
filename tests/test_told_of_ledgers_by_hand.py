"""What a report is told of a ledger, of scans and of tracking, from numbers written down."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_told_by_hand import logged

from workbench import Scenario, Sine
from workbench.verification.ledger.balance import Balance
from workbench.verification.results import analysis
from workbench.verification.verdict import Verdict


# ---- the ledger's arrays --------------------------------------------------------------------------
def a_ledger():
    """Two structures, a with two components, b with one; a cut between them and one to the tip."""
    each = np.array([1.0, 2.0, 4.0])
    entries = (("a", "rod"), ("a", "oil"), ("b", "rod"))
    table = lambda *factors: np.column_stack([k * each for k in factors])
    flows = {
        ("a", "rod", "joint 1"): 5 * each,
        ("b", "rod", "joint 1"): -4 * each,
        ("b", "rod", "tip"): 0.5 * each,
    }
    perturbations = {("a", "oil", "hold"): 0.25 * each, ("b", "rod", "hold"): -2 * each}
    return Balance(
        np.array([0.0, 0.5, 1.0]),
        entries,
        table(1.0, 2.0, 10.0),
        table(-3.0, -0.5, 8.0),
        table(0.1, 0.2, 0.7),
        np.ones((3, 3)),
        flows,
        perturbations,
        {"undamped z": 3 * each},
    )


def arrays(monkeypatch, b):
    import workbench.verification.hypotheses as hypotheses

    monkeypatch.setattr(hypotheses, "path_rate", lambda run: (0.5, 2.0))
    monitors = {"lever": np.array([3.0, 2.0, 1.0])}
    own = SimpleNamespace(monitors=lambda b: monitors)
    law = SimpleNamespace(certificate=lambda plant: own)
    monkeypatch.setattr(analysis, "innermost", lambda controller: law)
    loop = SimpleNamespace(controller=None, plant=None)
    return analysis.ledger_arrays(SimpleNamespace(balance=b, loop=loop))


def test_arrays_of_a_ledger_by_structure(monkeypatch):
    each = np.array([1.0, 2.0, 4.0])
    found = arrays(monkeypatch, a_ledger())
    told = found["ledger"]
    assert (told["rate"], told["reduced_rate"]) == (0.5, 2.0)
    assert told["v"] == pytest.approx(13 * each) and told["vdot"] == pytest.approx(4.5 * each)
    a, b = told["per_subsystem"]["a"], told["per_subsystem"]["b"]
    assert a["v"] == pytest.approx(3 * each) and b["v"] == pytest.approx(10 * each)
    assert a["vdot"] == pytest.approx(-3.5 * each) and b["vdot"] == pytest.approx(8 * each)
    assert a["bound"] == pytest.approx(4.7 * each) and b["bound"] == pytest.approx(-4.2 * each)
    assert told["vdot_bound"] == pytest.approx(0.5 * each)
    assert list(told["power_flows"]) == ["joint 1"]
    assert told["power_flows"]["joint 1"] == pytest.approx(5 * each)
    assert told["cancellation"] == pytest.approx(each)
    assert told["perturbations"]["hold"] == pytest.approx(-1.75 * each)
    assert told["perturbations"]["tip"] == pytest.approx(0.5 * each)
    assert told["v_bound"][0] == 13.0 and told["t"].tolist() == [0.0, 0.5, 1.0]


def test_monitors_beside_a_ledger(monkeypatch):
    """(99) leaves out 0.25 of a and −2 + 0.5 of b, against the largest |v̇| = 18."""
    each = np.array([1.0, 2.0, 4.0])
    monitors = arrays(monkeypatch, a_ledger())["assumptions"]
    assert list(monitors) == ["lever", "(99) at this instant"]
    assert monitors["lever"]["margin"].tolist() == [3.0, 2.0, 1.0]
    assert monitors["(99) at this instant"]["margin"] == pytest.approx(1.25 * each / 18)
    assert monitors["(99) at this instant"]["t"].tolist() == [0.0, 0.5, 1.0]


def test_a_ledger_of_less_than_two_instants_is_not_drawn(monkeypatch):
    b = a_ledger()
    assert arrays(monkeypatch, b.part(np.array([True, False, False]))) == {}
    assert arrays(monkeypatch, b.part(np.array([True, False, True])))


# ---- what scans found -----------------------------------------------------------------------------
def test_scans_of_sample_time_and_delay():
    data = {"values": (1.0, 2.0), "v": (3.0, None), "error": (4.0, 5.0), "ok": (1, 0), "good": 1.5}
    found = analysis.reaches(
        [
            Verdict("delay-limit", "text", True, "sampled", limit=7.0, data=data),
            Verdict(
                "sample-time-limit", "text", True, "sampled", limit=6.0, data=data | {"good": 2.5}
            ),
        ]
    )
    assert list(found) == ["sample_time", "delay"]
    assert found["delay"]["delay"].tolist() == found["sample_time"]["T_s"].tolist() == [1.0, 2.0]
    assert (found["delay"]["limit"], found["delay"]["bound"]) == (1.5, 7.0)
    assert (found["sample_time"]["limit"], found["sample_time"]["bound"]) == (2.5, 6.0)
    assert found["delay"]["stable"].tolist() == [True, False]
    assert found["delay"]["error_max"].tolist() == [4.0, 5.0]
    assert found["delay"]["v_max"][0] == 3.0 and np.isnan(found["delay"]["v_max"][1])
    assert analysis.reaches([Verdict("delay-limit", "text", None)]) == {} == analysis.reaches([])


def test_statistics_of_outputs_that_follow_a_path(monkeypatch):
    """Two outputs at (3, 4) m/s: |v| = 5; errors of each beside those of both."""
    import workbench.verification.observed.requirements as requirements

    t = np.linspace(0.0, 2.0, 5)
    errors = {"y": -2e-3 * t, "z": 0 * t}
    monkeypatch.setattr(requirements, "joint_errors", lambda run: errors)
    monkeypatch.setattr(analysis, "has_ledger", lambda loop: False)
    run = SimpleNamespace(
        log=logged(t, y=3 * t, z=4 * t),
        tool_error=2e-3 * t,
        demand=SimpleNamespace(reference=Sine("output", "start", (0.1,), 1.0)),
        loop=None,
        energy=None,
        scenario=Scenario(2.0),
    )
    found = analysis.statistics(run)
    assert found["tracking error, largest"] == (pytest.approx(4e-3), "m")
    assert found["ρ = max|e|/max|v|"] == (pytest.approx(4e-3 / 5), "s")
    assert found["error of y, largest"] == (pytest.approx(4e-3), "m")
    assert found["error of z, L2 norm"] == (0.0, "m s^0.5")
    run.demand.reference = None
    assert not [name for name in analysis.statistics(run) if name.startswith("error of")]


@pytest.mark.parametrize("last, late", [(10.0, 3.0), (2.0, 1.8)])
def test_statistics_of_a_law_with_a_ledger(monkeypatch, last, late):
    """From 3 s on, or of a short run its last tenth: v there, and max d/c of what drives it."""
    import workbench.verification.hypotheses as hypotheses

    t = np.linspace(0.0, last, 101)
    early = t < late - 1e-9
    b = SimpleNamespace(t=t, total=np.where(early, 50.0, 1 + t), drive=lambda c: 100 * early + c)
    rate = [0.25]
    monkeypatch.setattr(hypotheses, "path_rate", lambda run: (0.1, rate[0]))
    monkeypatch.setattr(analysis, "has_ledger", lambda loop: True)
    log = logged(t, y=0 * t)
    run = SimpleNamespace(log=log, tool_error=None, balance=b, loop=None, energy=None)
    run.demand = SimpleNamespace(reference=None)
    found = analysis.statistics(run)
    assert found["v, largest after settling"] == (pytest.approx(1 + last), "J")
    assert found["rate c of v"] == (0.25, "1/s")
    assert found["v bound from the ledger, max d / c"] == (pytest.approx(1.0), "J")
    b.drive = lambda c: -1.0 + 0 * t
    assert analysis.statistics(run)["v bound from the ledger, max d / c"] == (0.0, "J")
    rate[0] = 0.0
    assert "v bound from the ledger, max d / c" not in analysis.statistics(run)
