"""What tubes hold for beside starts, and what draws stand for, on numbers written down: bounds that are not in the middle."""

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound
from workbench.verification.probability.draws import Law, _check_ends, drawn
from workbench.verification.tube import opened as opened_of
from workbench.verification.tube.opened import Free, Late, Noise, Varied, opened

MASS = Varied("load.m", "kg", 7.0, 6.5, 9.0)
HEARD = Noise("y", "m", 0.02)
LATE = Late(lag=0.003, period=0.01, low=0.001, high=0.0035)


# ---- bounds ------------------------------------------------------------------------------------------------------------
def test_the_farther_bound_of_a_number_counts():
    assert MASS.half == np.nextafter(2.0, 3.0)
    assert Varied("m", "kg", 7.0, 3.0, 9.0).half == np.nextafter(4.0, 5.0)
    assert Varied("m", "kg", 7.0, 7.0, 7.0).half == 0.0


def test_a_share_of_the_way_to_either_bound():
    assert MASS.at(0.5) == 8.0 and MASS.at(-0.5) == 6.75 and MASS.at(0.0) == 7.0
    assert MASS.at(1.0) == 9.0 and MASS.at(-1.0) == 6.5


@pytest.mark.parametrize(
    "low, high, far", [(0.001, 0.0035, 2 / 3), (0.0025, 0.006, 1.0), (0.003, 0.0045, 0.5)]
)
def test_a_dead_time_may_be_off_by_the_share_of_its_farther_bound(low, high, far):
    half = Late(0.003, 0.01, low, high).half
    assert far < half == pytest.approx(far, rel=1e-11)
    assert Late(0.003, 0.01, low, high).rest == pytest.approx(0.007)


def test_of_each_that_is_free_its_name_unit_value_and_how_far_it_is_off():
    """Numbers and the dead time are off from the start on and stay, noise is off anew at every sample, the pace follows."""
    all_ = Free((MASS,), (HEARD,), LATE)
    assert all_.names == ["load.m", "noise_y", "delay", "pace"]
    assert all_.units == ["kg", "m", "1", "1"]
    assert all_.values == [7.0, 0.0, 1.0, 1.0]
    assert all_.halves == [MASS.half, 0.02, LATE.half, 0.0]
    assert all_.fresh == [0.0, 0.02, 0.0, 0.0]
    punctual = Free((MASS,), (HEARD,))
    assert punctual.names == ["load.m", "noise_y"] and punctual.units == ["kg", "m"]
    assert punctual.values == [7.0, 0.0] and punctual.halves == [MASS.half, 0.02]
    assert punctual.fresh == [0.0, 0.02]


# ---- the larger loop ---------------------------------------------------------------------------------------------------
def traced():
    """Two states, inputs (load, noise_y), numbers (plant.b, plant.load.m); every function a sum that shows its arguments."""
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("w", 2)
    c, p = ca.SX.sym("c", 1), ca.SX.sym("p", 2)
    rows = ca.vertcat(x[0] + 10 * w[0] + 100 * w[1], x[1] * c[0] + t)
    made = {name: ca.Function(name, [t, x, w, c], [k * rows]) for k, name in enumerate(NAMES, 1)}
    prelude = ca.Function("prelude", [p], [p[0] * p[1]])
    return SimpleNamespace(
        n_states=2,
        live=("load", "noise_y"),
        paths=("plant.b", "plant.load.m"),
        prelude=prelude,
        **made,
    )


NAMES = ("jump", "release", "flow", "start")
B, AT = 3.0, (2.0, 5.0, 7.5, 0.25, 0.8, 1.1)  # b; x, then mass, noise, share, pace
T0, W = 0.5, 4.0
OWN = np.array([2.0 + 10 * W + 100 * 0.25, 5.0 * B * 7.5 + T0])


@pytest.fixture(scope="module")
def rows():
    """Every function of the larger loop at one state."""
    found = opened(traced(), Free((MASS,), (HEARD,), LATE), told())
    constants = found["prelude"]([B, MASS.value])
    return {name: np.array(found[name](T0, AT, W, constants)).ravel() for name in (*NAMES, "out")}


def test_a_sample_keeps_numbers_and_share_and_ends_the_noise(rows):
    assert rows["jump"] == pytest.approx([*OWN, 7.5, 0.0, 0.8, 0.8])


def test_a_release_sets_the_pace_of_what_is_left_of_the_sample(rows):
    """(T − ρ lag)/(T − lag)."""
    assert rows["release"] == pytest.approx([*(2 * OWN), 7.5, 0.25, 0.8, (0.01 - 0.0024) / 0.007])


def test_states_flow_at_their_pace_and_what_is_free_stays(rows):
    assert rows["flow"] == pytest.approx([*(3 * 1.1 * OWN), 0.0, 0.0, 0.0, 0.0])


def test_starts_are_what_they_are(rows):
    assert rows["start"] == pytest.approx([*(4 * OWN), 7.5, 0.25, 0.8, 1.1])


def test_what_is_told_knows_the_noise_and_the_numbers_as_they_are(rows):
    assert rows["out"] == pytest.approx([2.0 + 5.0 * W + 0.25 + T0, B * 7.5**2])


def test_a_loop_with_nothing_free_does_what_it_does():
    own = traced()
    found = opened(own, Free(), told())
    x, w, p = AT[:2], [W, 0.25], [B, 7.0]
    c = found["prelude"](p)
    for name in NAMES:
        alone = getattr(own, name)(T0, x, w, own.prelude(p))
        assert np.array(found[name](T0, x, w, c)).tolist() == np.array(alone).tolist()
    assert np.array(found["out"](T0, x, w, c)).ravel() == pytest.approx([22.75, B * 49.0])


def told():
    """What is told of a sample: a sum of everything, and one of numbers alone."""
    t, x, w, p = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("w", 2), ca.SX.sym("p", 2)
    return ca.Function(
        "told", [t, x, w, p], [ca.vertcat(x[0] + x[1] * w[0] + w[1] + t, p[0] * p[1] ** 2)]
    )


# ---- draws -------------------------------------------------------------------------------------------------------------
def a_law(kind, a, b):
    info = SimpleNamespace(unit="kg", bound=Bound())
    return Law("m", kind, a, b, (SimpleNamespace(info=info),))


def test_draws_at_known_normal_numbers():
    """Φ(−∞) = 0, Φ(0) = 1/2, Φ(1) = 0.8413…."""
    z = np.array([[-40.0, 0.0, 2.0], [0.0, 1.0, -1.0], [1.0, 0.0, 0.0]])
    by = [a_law("uniform", 2.0, 6.0), a_law("log_uniform", 1.0, 100.0), a_law("normal", 5.0, 0.3)]
    by = [Law(name, one.kind, one.a, one.b, one.named) for name, one in zip("uln", by)]
    Φ = 0.5 * (1 + math.erf(math.sqrt(0.5)))
    found = drawn(by, z)
    assert found[0] == pytest.approx({"u": 2.0, "l": 10.0, "n": 5.6})
    assert found[1] == pytest.approx({"u": 4.0, "l": 100.0**Φ, "n": 4.7})
    assert found[2] == pytest.approx({"u": 2.0 + 4.0 * Φ, "l": 10.0, "n": 5.0})


@pytest.mark.parametrize("a", [0.0, -1.0])
def test_only_a_logarithm_begins_above_zero(a):
    _check_ends(a_law("uniform", a, 3.0))
    _check_ends(a_law("log_uniform", 1e-9, 3.0))
    with pytest.raises(InputError, match="m has no logarithm at"):
        _check_ends(a_law("log_uniform", a, 3.0))


def test_a_range_has_a_lower_and_an_upper_end():
    for ends in ((3.0, 3.0), (3.0, 2.0)):
        with pytest.raises(InputError, match="empty range"):
            _check_ends(a_law("uniform", *ends))


# ---- noise of measurements ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Outer:
    """A wrapper of another law; of none, where it reads its measurements by itself."""

    inner: Any


def test_noise_is_put_to_what_the_samples_read(monkeypatch):
    """Inside the innermost sampling, whatever is around it; a loop without noise stays as it is."""

    @dataclass(frozen=True)
    class Sampling(Outer):
        pass

    monkeypatch.setattr(opened_of, "Sampled", Sampling)
    monkeypatch.setattr(opened_of, "Noisy", lambda inner, size, signals: (inner, size, signals))
    heard = (HEARD, Noise("p", "Pa", 3.0))
    loop = SimpleLoop(Outer(Outer(Sampling("law"))))
    found = opened_of.noisy(loop, heard)
    assert found.controller == Outer(Outer(Sampling(("law", 1.0, ("y", "p")))))
    assert opened_of.noisy(loop, ()) is loop
    with pytest.raises(InputError, match="the law reads its measurements by itself"):
        opened_of.noisy(SimpleLoop(Outer(None)), heard)


@dataclass(frozen=True)
class SimpleLoop:
    controller: Any
