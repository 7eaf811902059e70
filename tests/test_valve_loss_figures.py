"""Power that valves take, by the model and by their laws: which difference is told first, where and when."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.observed import valve_claims
from workbench.verification.observed.valve_claims import Difference

NONE = np.zeros(4)


def suspect(name, size):
    return SimpleNamespace(element=name, words=f"of {name}", size=size)


def worst(monkeypatch, gap=NONE, root=NONE, suspects=(), counted=(), **off):
    """(share, words) at a bound of a hundredth; valves by (share, row, W by the model, W by the law)."""
    account = SimpleNamespace(
        suspects=suspects,
        counted=counted,
        t=np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5]),
        at=np.array([0, 2, 4, 5]),
        gap=np.array([1.0, 2.0, 3.0, 4.0]),
        pump=np.array([10.0, 20.0, 30.0, 40.0]),
    )
    monkeypatch.setattr(valve_claims, "_account", lambda key, run: account)
    run = SimpleNamespace(log=SimpleNamespace(time=np.array([0.0, 0.25, 0.75, 9.0])))
    found = {name: Difference(*row) for name, row in off.items()} or {
        "ph": Difference(0.0, 0, 0.0, 0.0)
    }
    return valve_claims._worst(0.01, run, found, np.array(gap), np.array(root))


def test_nothing_is_told_where_all_is_found_again(monkeypatch):
    share, why = worst(
        monkeypatch,
        gap=[0.0, 0.003, 0, 0],
        root=[0.01, 0, 0, 0],
        suspects=[suspect("a", 0.01)],
        counted=[suspect("b", 0.004), suspect("c", 0.008)],
        ph=(0.01, 1, 2.0, 3.0),
    )
    assert share == 0.01 and why == ""


def test_the_order_in_which_differences_are_told(monkeypatch):
    """A faulty element, the run's own root, a valve's law, the energy counted, power that is nobody's."""
    all_of_it = {
        "gap": [0.0, 0.02, 0.03, 0.0],
        "root": [0.0, 0.0, 0.04, 0.0],
        "suspects": [suspect("small", 0.01), suspect("pR", 0.05), suspect("other", 0.9)],
        "counted": [suspect("less", 0.02), suspect("E_ph", 0.06)],
        "ph": (0.03, 0, 1.0, 2.0),
        "tr": (0.07, 2, 300.0, 200.0),
    }
    share, why = worst(monkeypatch, **all_of_it)
    assert (share, why) == (0.07, "pR: of pR")
    share, why = worst(monkeypatch, **(all_of_it | {"suspects": []}))
    assert share == 0.07 and why == (
        "the run's own root leaves 4.0e-02 of the pump's flow unaccounted for at t = 0.75 s"
    )
    rest = all_of_it | {"suspects": [], "root": NONE}
    share, why = worst(monkeypatch, **rest)
    assert share == 0.07
    assert why == "tr: the model's account has 300 W, its law 200 W at t = 2.00 s"
    rest |= {"ph": (0.0, 0, 0.0, 0.0), "tr": (0.0, 0, 0.0, 0.0)}
    assert worst(monkeypatch, **rest) == (0.06, "E_ph: of E_ph")
    rest |= {"counted": []}
    share, why = worst(monkeypatch, **rest)
    assert share == 0.03 and why == "3 W of the pump's 30 W is nobody's at t = 1.00 s"


def test_the_largest_share_counts_wherever_it_is(monkeypatch):
    assert worst(monkeypatch, gap=[0.3, 0.4, 0.0, 0.0], root=[0.2, 0.5, 0.0, 0.0])[0] == 0.5
    assert worst(monkeypatch, suspects=[suspect("a", 0.6)], gap=[0.5, 0, 0, 0])[0] == 0.6


def test_where_a_valves_two_powers_are_furthest_apart():
    """By instants of the account; a valve that one of the two does not know takes nothing there."""
    account = SimpleNamespace(
        t=np.arange(6.0),
        at=np.array([0, 2, 5]),
        law={"ph": np.array([1.0, 9.0, 2.0, 9.0, 9.0, 3.0]), "tr": np.full(6, 4.0)},
        given={"ph": np.array([1.0, 5.0, 2.5]), "a": np.array([0.0, -7.0, 1.0])},
    )
    found = valve_claims._differences(account, 20.0)
    assert list(found) == ["ph", "tr", "a"]
    assert found["ph"] == Difference(3.0 / 20, 1, 5.0, 2.0)
    assert found["tr"] == Difference(4.0 / 20, 0, 0.0, 4.0)
    assert found["a"] == Difference(7.0 / 20, 1, -7.0, 0.0)
    account.given["ph"][2] = np.nan
    assert valve_claims._differences(account, 20.0)["ph"].share == np.inf


def test_the_largest_shares_of_the_pumps_energy_in_words():
    energy = {"pump": 200.0, "ph": 20.0, "tr": -80.0, "a": 1.0, "pR": 50.0, "b": 3.0}
    assert valve_claims._most(energy) == "tr -40 %, pR 25 %, ph 10 %, b 1.5 %"


def test_what_is_no_number_is_as_far_off_as_can_be():
    found = valve_claims._finite(np.array([1.0, np.nan, -np.inf, np.inf]))
    assert found == pytest.approx([1.0, np.inf, np.inf, np.inf])
