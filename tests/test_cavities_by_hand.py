"""Suction checks and torn oil, by hand: what was drawn, for how long, which chamber falls, and the edges of what is allowed."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.observed import valve_claims as module

T = np.array([0.0, 1.0, 2.0, 4.0])
DRAWN = {"left": [0.0, 2e-6, 2e-6, 0.0], "right": [0.0, 0.0, 1e-6, 0.0]}  # 5 and 1.5 cm³
RANGES = {
    "a": ([9e5, 8e5, 7e5, 9e5], [9e5, 9e5, 9e5, 9e5]),
    "b": ([6e5, 5e5, 5.5e5, 9e5], [9e5, 6e5, 9e5, 9e5]),
}


def cavitation(monkeypatch, drawn=5e-6, low=4e5, t=T, ranges=RANGES, gone=None):
    account = SimpleNamespace(
        t=np.array(t),
        drawn={name: np.array(q[: len(t)]) for name, q in DRAWN.items()},
        ranges={name: tuple(np.array(e[: len(t)]) for e in ends) for name, ends in ranges.items()},
    )
    monkeypatch.setattr(module, "_account", lambda key, run: account)
    monkeypatch.setattr(module, "diverged", lambda *given: gone)
    return module.check_cavitation(SimpleNamespace(drawn=drawn, low=low, counted=True), None)


@pytest.mark.parametrize("drawn, holds", [(5e-6, True), (4.99e-6, False), (6e-6, True)])
def test_the_check_that_draws_most_decides(monkeypatch, drawn, holds):
    found = cavitation(monkeypatch, drawn)
    assert found.holds is holds and found.unit == "m^3" and found.limit == drawn
    assert found.margin == pytest.approx(drawn - 5e-6) and "left" in found.worst
    assert found.data["drawn"] == pytest.approx({"left": 5e-6, "right": 1.5e-6})
    assert found.data["open"] == pytest.approx({"left": 2.5, "right": 1.5})
    assert found.data["fastest"] == {"left": 2e-6, "right": 1e-6}
    assert found.data["least"] == {"a": 7e5, "b": 5e5}


@pytest.mark.parametrize(
    "low, holds, words",
    [
        (5e5, True, "left"),
        (5.1e5, None, "b may fall to 5 bar at t = 1.00 s"),
        (6e5, None, "b may fall to 5 bar at t = 1.00 s"),
        (6.1e5, False, "b falls to 5 bar at t = 1.00 s"),
    ],
)
def test_the_chamber_that_falls_lowest_decides_where_it_surely_falls(
    monkeypatch, low, holds, words
):
    """Surely where even the upper end of what balances is below the limit."""
    found = cavitation(monkeypatch, low=low)
    assert found.holds is holds and words in found.worst
    if holds is not True:
        assert (
            found.unit == "Pa" and found.margin == pytest.approx(5e5 - low) and found.limit == low
        )


def test_a_chamber_that_falls_weighs_more_than_what_is_drawn_unless_it_only_may(monkeypatch):
    found = cavitation(monkeypatch, drawn=1e-6, low=9.1e5)
    assert found.holds is False and found.unit == "Pa"
    found = cavitation(monkeypatch, drawn=1e-6, low=5.1e5)
    assert found.holds is False and found.unit == "m^3"


@pytest.mark.parametrize("t", [(1.0,), (1.0, 1.0)])
def test_a_run_of_no_length_shows_nothing(monkeypatch, t):
    found = cavitation(monkeypatch, t=t)
    assert found.holds is None and found.worst == "the run has no length"
    assert cavitation(monkeypatch, gone="it diverged") == "it diverged"


def test_little_oil_opens_no_check(monkeypatch):
    """A thousandth of what is allowed, all through the run: 1e-3 · 4 cm³ over 4 s is 1e-9 m³/s."""
    monkeypatch.setitem(DRAWN, "right", [1e-9, 1e-9, 1.1e-9, 1.1e-9])
    assert cavitation(monkeypatch, drawn=4e-6).data["open"]["right"] == pytest.approx(2.5)
