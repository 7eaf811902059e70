"""Memory of ḟ_pr by its equations, continuous, after a sample and at the start; a law freed of its own limits."""

import math
from types import SimpleNamespace

import pytest

from controllers.unlimited import instant, unlimited, waits
from controllers.vdc import force_rate
from workbench.contract.wrappers import Saturated

F = [4.0, -8.0, 5.0]
SLOW = [1.0, -2.0, 7.0]
RATES = [30.0, -40.0, 60.0]
ω = 2 * math.pi * 5.0


def law(kind):
    return SimpleNamespace(derivative=kind, τ=0.2, cutoff=5.0)


# ---- ḟ_pr ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["model", "desired", "zero"])
def test_what_is_exact_or_none_remembers_nothing(kind):
    assert force_rate.memory(kind, "ab") == []
    assert force_rate.flow(law(kind), [], F) == force_rate.after(law(kind), 0.1, [], F) == []
    assert force_rate.begun(law(kind), F) == [] and force_rate.rate(law(kind), [], F) == [0.0] * 3


def test_a_dirty_derivative():
    """τ ṡ = f − s: its rate is the derivative; exact over a sample; from s = f on."""
    own = law("dirty")
    assert [(s.name, s.unit) for s in force_rate.memory("dirty", "ab")] == [
        ("f_pra_slow", "N"),
        ("f_prb_slow", "N"),
    ]
    slope = [15.0, -30.0, -10.0]
    assert force_rate.rate(own, SLOW, F) == pytest.approx(slope)
    assert force_rate.flow(own, SLOW, F) == pytest.approx(slope)
    left = math.exp(-0.5)
    found = force_rate.after(own, 0.1, SLOW, F)
    assert found == pytest.approx([f + left * (s - f) for f, s in zip(F, SLOW)])
    assert force_rate.begun(own, F) == F


def test_a_filtered_difference():
    """d⁺ = d + (1 − e^{−ωT}) ((f − f₋)/T − d); in continuous time ω (f − s), with d = 0 for ever."""
    own, kept = law("difference"), [*SLOW, *RATES]
    signals = [(s.name, s.unit) for s in force_rate.memory("difference", "ab")]
    last = [("f_pra_last", "N"), ("f_prb_last", "N")]
    assert signals == [*last, ("df_pra_filtered", "N/s"), ("df_prb_filtered", "N/s")]
    away = [3.0, -6.0, -2.0]
    assert force_rate.rate(own, kept, F) == pytest.approx([d + ω * a for d, a in zip(RATES, away)])
    assert force_rate.flow(own, kept, F) == pytest.approx([*(ω * a for a in away), 0.0, 0.0, 0.0])
    left = math.exp(-ω * 0.02)
    filtered = [left * d + (1 - left) * a / 0.02 for d, a in zip(RATES, away)]
    assert force_rate.after(own, 0.02, kept, F) == pytest.approx([*F, *filtered])
    assert force_rate.begun(own, F) == [*F, 0.0, 0.0, 0.0]


# ---- wrappers --------------------------------------------------------------------------------------------------------
class Wrapper(SimpleNamespace):
    """A controller around another one, or a law by itself."""


def wrapped(inner=None, period=None, waits=False):
    return Wrapper(inner=inner, period=period, waits=waits)


def saturated(inner):
    made = object.__new__(Saturated)
    object.__setattr__(made, "inner", inner)
    return made


def test_what_holds_and_delays_is_taken_off_from_outside():
    bare = wrapped()
    assert instant(bare) is bare
    filtered = wrapped(wrapped(bare, period=0.1))
    assert instant(wrapped(wrapped(filtered, period=0.01), period=0.01)) is filtered


@pytest.mark.parametrize("waiting", [False, True])
def test_limits_are_taken_off_wherever_they_are(waiting):
    """What waits for its pump still does where that is asked, and the law that was given is left as it was."""
    bare = wrapped()
    given = saturated(wrapped(saturated(wrapped(saturated(bare))), waits=True))
    found = unlimited(given, waiting)
    assert found.waits is waiting and found.inner.waits is False
    assert found.inner.inner is bare and waits(found) is waiting
    assert given.inner.waits is True and isinstance(given.inner.inner, Saturated)
    assert unlimited(bare, waiting) is bare
    assert unlimited(given).waits is False, "by itself it does not wait"


@pytest.mark.parametrize("outer, inner, found", [(1, 0, True), (0, 1, True), (0, 0, False)])
def test_a_law_waits_where_any_of_its_wrappers_does(outer, inner, found):
    assert waits(wrapped(wrapped(wrapped(), waits=bool(inner)), waits=bool(outer))) is found
