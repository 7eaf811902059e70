"""How a signal of a disturbed run came back, edge by edge, from distances that are written down."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Signal
from workbench.verification.practical import returning as module
from workbench.verification.practical import starts
from workbench.verification.practical.returning import Judged, Return, _fall, _returned, thinned

TIME = np.arange(12.0)


def shape(first, *sixths, at=2):
    """Twelve distances: half of it with one largest value, then two of each last sixth."""
    apart = np.zeros(12)
    apart[at] = first
    for k, value in enumerate(sixths):
        apart[6 + 2 * k] = value
    return apart


def word(apart, tolerance=0.0, least=1e-6, pressure=False):
    signal = Judged("s", ("s",), "m", tolerance, pressure)
    return _returned(signal, TIME, np.array(apart, float), least).word


@pytest.mark.parametrize(
    "apart, given, said",
    [
        (shape(1.0, 0.5, 0.3, 0.1), {}, "back"),
        (shape(1.0, 0.5, 0.3, 0.101), {}, "returning"),
        (shape(1.0, 0.5, 0.3, 0.2), {"tolerance": 0.2}, "back"),
        (shape(1.0, 0.5, 0.3, 0.201), {"tolerance": 0.2}, "returning"),
        (shape(1.0, 0.9, 0.8, 0.5), {"tolerance": 9.0}, "back"),
        (shape(1.0, 0.9, 0.8, 0.501), {"tolerance": 9.0}, "returning"),
        (shape(1.0, 0.9, 0.8, 0.7), {"least": 0.7}, "back"),
        (shape(1.0, 0.5, 0.7, 0.76), {}, "growing"),
        (shape(1.0, 0.5, 0.7, 0.75), {}, "staying"),
        (shape(1.0, 0.6, 0.7, 0.95), {"tolerance": 0.95}, "staying"),
        (shape(1.0, 0.2, 0.1, 0.31), {"least": 0.305}, "growing"),
        (shape(1.0, 0.6, 0.7, 0.95), {"pressure": True}, "staying"),
        (shape(1.0, 0.6, 0.7, 1.1), {"pressure": True}, "growing"),
        (shape(1.0, 0.6, 0.6, 0.5), {}, "staying"),
        (shape(1.0, 0.6, 0.59, 0.571), {}, "staying"),
        (shape(1.0, 0.6, 0.59, 0.569), {}, "returning"),
        (shape(1.0, 0.6, 0.5, 0.5), {}, "staying"),
        (shape(math.inf, 0.1, 0.1, 0.1), {}, "growing"),
    ],
)
def test_what_a_distance_does_in_the_second_half(apart, given, said):
    assert word(apart, **given) == said


def test_what_is_told_of_a_return():
    """From 1 at t = 2 s to below a tenth after 8 s: rate ln 10 over six seconds."""
    signal = Judged("s", ("s",), "m", 0.0)
    found = _returned(signal, TIME, shape(1.0, 0.3, 0.2, 0.05), 1e-6)
    assert (found.word, found.largest, found.last, found.moved) == ("back", 1.0, 0.05, True)
    assert found.after == 8.0 and found.rate == pytest.approx(math.log(10) / 6)
    stays = _returned(signal, TIME, shape(1.0, 0.6, 0.6, 0.6), 1e-6)
    assert (stays.after, stays.rate, stays.last) == (math.inf, 0.0, 0.6)
    late = _returned(signal, TIME, shape(0.0, 0.0, 2e-6, 0.0), 1e-6)
    assert late.moved and not _returned(signal, TIME, shape(1e-6, 0.0, 1e-6, 0.0), 1e-6).moved


def test_a_fall_from_its_largest_value():
    apart = np.array([0.0, 4.0, 2.0, 1.0, 0.4, 0.2])
    assert _fall(TIME[:6], apart, 0.4, 4.0) == (3.0, pytest.approx(math.log(10) / 2))
    assert _fall(TIME[:6], apart, 5.0, 4.0) == (0.0, math.inf)
    assert _fall(TIME[:6], apart[::-1], 0.4, 4.0) == (4.0, math.inf)
    assert _fall(TIME[:6], apart, 0.4, 0.4) == (3.0, math.inf)


def test_distances_are_thinned_by_the_largest_of_each_stretch():
    t, apart = thinned(np.arange(11.0), np.array([1, 5, 2, 0, 3, 4, 9, 8, 7, 6, 99.0]), 5)
    assert t.tolist() == [0, 2, 4, 6, 8] and apart.tolist() == [5, 2, 4, 9, 7]
    same, all_ = thinned(TIME[:3], TIME[:3])
    assert same.tolist() == all_.tolist() == [0, 1, 2]
    assert len(thinned(np.arange(900.0), np.arange(900.0))[0]) == 300


# ---- what counts as moved -------------------------------------------------------------------------
def test_a_signal_has_moved_beyond_rounding_and_its_floor(monkeypatch):
    """A billionth of the largest value that any of its columns has, or the largest of their floors."""
    floors = {"x": 1e-7, "y": 3e-7}
    monkeypatch.setattr(module, "signal_floor", lambda plant, name: floors[name])
    table = {"x": np.array([1.0, -50.0]), "y": np.array([400.0, 2.0])}
    log = SimpleNamespace(array=table.__getitem__)
    run = SimpleNamespace(log=log, loop=SimpleNamespace(plant=None))
    signal = Judged("tool", ("x", "y"), "m", 0.0)
    assert module._least(run, signal) == pytest.approx(4e-7)
    table["y"] = np.array([40.0, 2.0])
    assert module._least(run, signal) == pytest.approx(3e-7)
    assert module._least(run, Judged("x", ("x",), "m", 0.0)) == pytest.approx(1e-7)


def test_the_distance_of_a_signal_of_several_columns():
    table = lambda x, y: SimpleNamespace(
        time=np.arange(float(len(x))), array={"x": np.array(x), "y": np.array(y)}.__getitem__
    )
    run = SimpleNamespace(log=table([1.0, 4.0, 9.0], [2.0, 2.0, 9.0]))
    nominal = SimpleNamespace(log=table([1.0, 1.0], [2.0, 6.0]))
    signals = [Judged("tool", ("x", "y"), "m", 0.0), Judged("x", ("x",), "m", 0.0)]
    found = module.distances(run, nominal, signals)
    assert found["tool"].tolist() == [0.0, 5.0] and found["x"].tolist() == [0.0, 3.0]


@pytest.mark.parametrize(
    "name, word, last, largest, after, key",
    [
        ("s", "growing", 2.0, 4.0, 1.0, (3, 0.5)),
        ("s", "staying", 2.0, 4.0, 1.0, (2, 0.5)),
        ("s", "returning", 2.0, 0.0, 1.0, (1, math.inf)),
        ("s", "back", 2.0, 4.0, 7.0, (0, 7.0)),
        ("p", "staying", 2.0, 4.0, 1.0, (-1.0, 2.0)),
        ("p", "growing", 2.0, 4.0, 1.0, (3, 0.5)),
    ],
)
def test_how_much_a_return_speaks_against_a_loop(name, word, last, largest, after, key):
    signal = Judged(name, (name,), "m", 0.0, name == "p")
    assert module.severity(Return(signal, word, largest, last, after, 0.0, True)) == key
    assert module.severity(None) == (-2.0, 0.0)


# ---- other starts -----------------------------------------------------------------------------------
def started(monkeypatch, *, jointed=False, own=None, pressure=None, stated=True, **columns):
    """By how much states are moved: s (m) with its rate, q (rad) with its, p (Pa), z (1)."""
    units = {"s": "m", "ds": "m/s", "q": "rad", "dq": "rad/s", "p": "Pa", "z": "1"}
    states = tuple(Signal(name, unit) for name, unit in units.items())
    plant = SimpleNamespace(
        states=states,
        joint_names=(),
        pressure_names=("p",),
        scales=lambda: {"x": 1} if stated else {},
    )
    of = own or {}
    known = SimpleNamespace(
        of_unit=lambda unit: of.get(unit) and SimpleNamespace(value=of[unit]),
        pressure=pressure and SimpleNamespace(value=pressure),
    )
    monkeypatch.setattr(starts, "scales", lambda plant: known)
    monkeypatch.setattr(starts, "is_jointed", lambda plant: jointed)
    table = dict.fromkeys(units, np.array([1.0, 1.0])) | {
        n: np.array(v) for n, v in columns.items()
    }
    log = SimpleNamespace(array=table.__getitem__)
    return starts.sizes(SimpleNamespace(loop=SimpleNamespace(plant=plant), log=log), 0.02)


def test_sizes_of_other_starts(monkeypatch):
    """A tenth of what a state covered, a thousandth of the machine at least; rates twice that a second; 2 % of a pressure."""
    found = started(
        monkeypatch,
        s=[0.0, 0.5, -0.5, np.nan],
        z=[0.0, 3.0],
        own={"m": 2.0, "rad": 4.0},
        pressure=2e7,
    )
    assert found == pytest.approx({"s": 0.1, "q": 4e-3, "p": 4e5, "z": 0.3, "ds": 0.2, "dq": 8e-3})


def test_sizes_of_other_starts_where_nothing_is_stated(monkeypatch):
    """A millimetre, a hundredth of a rad or of 1; of the largest pressure that was seen 2 %, else a bar."""
    found = started(monkeypatch, p=[-3e6, 1e6], stated=False)
    assert found == pytest.approx(
        {"s": 1e-3, "q": 1e-2, "p": 6e4, "z": 1e-2, "ds": 2e-3, "dq": 2e-2}
    )
    assert started(monkeypatch, p=[0.0, 0.0], stated=False)["p"] == 1e5
    assert "z" not in started(monkeypatch, stated=True)
    jointed = started(monkeypatch, jointed=True, z=[0.0, 3.0], own={"m": 2.0})
    assert (jointed["s"], jointed["ds"]) == (0.02, 0.04) and "z" not in jointed
