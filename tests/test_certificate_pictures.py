"""What a report draws of certificates, against the curves' own equations."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.numerics import linearisation
from workbench.run.log import Log, Status
from workbench.verification.rigorous import pictures
from workbench.verification.verdict import Verdict


def ran(A=None, monkeypatch=None, **columns):
    """A run of a plant of three states; A is its flow's matrix."""
    names = ("a", "b", "c")
    signals = tuple(Signal(n, "m") for n in columns)
    values = np.column_stack(list(columns.values())) if columns else np.zeros((2, 0))
    plant = SimpleNamespace(states=tuple(map(Signal, names)), initial=lambda: [0.0] * 3)
    if monkeypatch:
        found = SimpleNamespace(A=np.array(A, float))
        monkeypatch.setattr(linearisation, "linearize", lambda plant, x: found)
    log = Log(np.arange(float(len(values))), values, signals, {}, Status(True, "ended", 1.0))
    return SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant))


def verdict(key, **data):
    return Verdict(key, "text", None, data=data)


P = np.array([[5.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.0]])


@pytest.mark.parametrize("along, second", [("a", "b"), ("b", "c")])
def test_the_shadow_of_an_ellipsoid(monkeypatch, along, second):
    """Its support in every direction d of the plane is √(dᵀ P⁻¹ d): the boundary touches it and never passes it."""
    A = [[0, 2, 1], [0, 0, 3], [0, 0, -1]]
    run = ran(A, monkeypatch, a=[0.0, 1.0], b=[0.0, 1.0], c=[0.0, 1.0])
    centre = {"a": 0.3, "b": -0.2, "c": 0.7}
    data = {"P": P.tolist(), "along": [along], "centre": list(centre.values()), "units": "xyz"}
    found = pictures._ellipsoid(run, verdict("region-of-attraction", **data))
    assert (found["x"], found["y"], found["kind"], found["box"]) == (
        along,
        second,
        "projection",
        None,
    )
    pair = ["abc".index(along), "abc".index(second)]
    assert [found["unit_x"], found["unit_y"]] == ["xyz"[i] for i in pair]
    Q = np.linalg.inv(P)[np.ix_(pair, pair)]
    off = found["boundary"] - [centre[along], centre[second]]
    assert len(off) == 181 and np.einsum(
        "ni,ij,nj->n", off, np.linalg.inv(Q), off
    ) == pytest.approx(1.0)
    assert off[0] == pytest.approx(off[-1])
    assert off[:, 0].max() == pytest.approx(np.sqrt(Q[0, 0]), rel=1e-3)
    assert (found["path"] == np.array([[0.0, 0.0], [1.0, 1.0]])).all()


@pytest.mark.parametrize(
    "swept, driver",
    [
        ((1.0, 1.0, 1.0), "b"),
        ((1.0, 0.1, 1.0), "c"),  # |A| times how far each went in the run
        ((9.0, 0.0, 0.0), "b"),  # only the first moved: how far each may go counts
        ((0.0, 0.0, 0.0), "b"),
    ],
)
def test_the_state_that_drives_another(monkeypatch, swept, driver):
    run = ran(
        [[9, -2, 1], [0, 0, 0], [0, 0, 0]],
        monkeypatch,
        **{n: [0.0, v] for n, v in zip("abc", swept)},
    )
    found = pictures._driver(run, ["a", "b", "c"], 0, np.array([1.0, 1.0, 1.5]))
    assert "abc"[found] == driver
    may = pictures._driver(
        ran([[9, -2, 1], [0] * 3, [0] * 3], monkeypatch), ["a", "b", "c"], 0, np.array([1, 1, 2.5])
    )
    assert "abc"[may] == "c"  # no log: what it may do


def test_two_states_are_enough_for_a_shadow(monkeypatch):
    run = ran([[0, 1], [-1, 0]], monkeypatch, a=[0.0, 1.0], b=[0.0, 1.0])
    run.loop.plant.states = (Signal("a"), Signal("b"))
    data = {"P": [[4.0, 0.0], [0.0, 1.0]], "along": ["a"], "centre": [0.3, -0.2], "units": "xy"}
    found = pictures._ellipsoid(run, verdict("region-of-attraction", **data))
    assert (found["x"], found["y"]) == ("a", "b")
    assert found["boundary"].max(axis=0) == pytest.approx([0.8, 0.8], abs=1e-3)


def test_no_shadow_without_a_matrix_or_a_second_state():
    run = ran()
    assert pictures._ellipsoid(run, verdict("k")) is None
    run.loop.plant.states = (Signal("a"),)
    assert pictures._ellipsoid(run, verdict("k", P=[[1.0]])) is None


def level(V="a**2/4 + b**2 + c**2", level=1.0, box=None, centre=None, **more):
    box = box or {"a": (-5.0, 5.0), "b": (-4.0, 4.0), "c": (-9.0, 9.0)}
    data = {
        "V": V,
        "level": level,
        "box": box,
        "centre": centre or dict.fromkeys(box, 0.0),
        "units": {n: f"[{n}]" for n in box},
    } | more
    return pictures._level_set(ran(), verdict("supplied", **data))


def test_a_level_set_is_where_its_function_says():
    found = level()
    a, b = found["boundary"].T
    assert len(a) == 181 and a**2 / 4 + b**2 == pytest.approx(1.0, abs=2e-4)
    assert a[0] == pytest.approx(2.0, rel=1e-4) and b.max() == pytest.approx(1.0, rel=1e-3)
    assert (found["x"], found["y"], found["kind"]) == ("a", "b", "section")
    assert found["box"] == ((-5.0, 5.0), (-4.0, 4.0))
    assert (found["unit_x"], found["unit_y"], found["path"]) == ("[a]", "[b]", None)
    assert found["title"] == "V = a**2/4 + b**2 + c**2 at its level 1"


def test_a_level_set_about_another_centre_and_through_the_others():
    """The third state stays at its centre: a²/4 + b² = 1 − 0.36 about (1, 0.5)."""
    V = "(a - 1)**2/4 + (b - 0.5)**2 + c**2"
    a, b = level(V, centre={"a": 1.0, "b": 0.5, "c": 0.6})["boundary"].T
    assert (a - 1) ** 2 / 4 + (b - 0.5) ** 2 == pytest.approx(0.64, abs=2e-4)


def test_a_level_set_in_a_box_that_is_not_even():
    """About (1, 0.5) in −2 … 8 by −4 … 1: the whole of a²/9 + b² = 0.16 around it, and all of the box where the level is high."""
    box = {"a": (-2.0, 8.0), "b": (-4.0, 1.0)}
    centre = {"a": 1.0, "b": 0.5}
    a, b = level("(a - 1)**2/9 + (b - 0.5)**2", 0.16, box, centre)["boundary"].T
    assert (a - 1) ** 2 / 9 + (b - 0.5) ** 2 == pytest.approx(0.16, abs=2e-4)
    turned = np.unwrap(np.arctan2((b - 0.5) / 2.5, (a - 1.0) / 5.0))
    assert turned == pytest.approx(np.linspace(0, 2 * np.pi, 181), abs=1e-9)
    a, b = level("a + 0*b", 99.0, box, centre)["boundary"].T
    on_edge = np.isclose(a, -2) | np.isclose(a, 8) | np.isclose(b, -4) | np.isclose(b, 1)
    assert on_edge.all() and (a.min(), a.max(), b.min(), b.max()) == pytest.approx((-2, 8, -4, 1))
    narrow = level("4.0 + 0*a", 4.0, box, centre)["boundary"]
    assert np.isclose(narrow[:, 0], 8).any()  # a constant that is not above its level


def test_a_path_needs_both_signals():
    run = ran(a=[0.0, 1.0])
    assert pictures._picture(run, ["a", "b"], "mm", None, "", None, "")["path"] is None


def test_a_level_set_ends_at_its_box():
    """Only |a| matters: b goes to the box, and a to the level or, where that is beyond, to the box."""
    a, b = level("a**2")["boundary"].T
    assert np.abs(a).max() == pytest.approx(1.0, rel=1e-3) and np.abs(b).max() == pytest.approx(4.0)
    inside = (np.abs(a) < 1 - 1e-3) & (np.abs(np.abs(b) - 4.0) > 1e-9)
    assert not inside.any()
    a, b = level("a**2", level=99.0)["boundary"].T
    assert np.maximum(np.abs(a) / 5, np.abs(b) / 4) == pytest.approx(1.0)


def test_what_has_no_level_is_not_drawn():
    assert level(level=0.0) is None and level(level=-1.0) is None and level(level=None) is None
    assert level(box={"a": (-1.0, 1.0)}) is None
    assert pictures._level_set(ran(), verdict("supplied")) is None


def test_what_is_drawn_of_verdicts(monkeypatch):
    monkeypatch.setattr(pictures, "_ellipsoid", lambda run, v: {"kind": "e"})
    monkeypatch.setattr(pictures, "_level_set", lambda run, v: None)
    sector = verdict("sector", response=("ω", "G"), low=0.0, high=2.0, criterion="circle")
    both = [verdict("region-of-attraction"), verdict("supplied"), sector]
    assert pictures.certificate_arrays(None, both) == {
        "region": [{"kind": "e"}],
        "sector": {"ω": "ω", "G": "G", "k": (0.0, 2.0), "criterion": "circle"},
    }
    assert pictures.certificate_arrays(None, [verdict("supplied"), verdict("sector")]) == {}
