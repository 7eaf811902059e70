"""The tail of a run, quarter by quarter, by hand: still, decaying, creeping, restless, and their edges."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.observed import tail as module
from workbench.verification.observed.tail import (
    CREEP,
    DECAY,
    SHORTEST,
    _pace,
    _rest,
    _swings,
    _turns,
)

N = 25  # instants a quarter


def quarters(*widths, means=(0.0, 0.0, 0.0, 0.0)):
    """An error of these widths and means, quarter by quarter, to and fro from instant to instant."""
    saw = np.resize([0.5, -0.5], N)
    return np.concatenate([mean + width * saw for width, mean in zip(widths, means)])


def cycle(detected=False, amplitude=np.nan, frequency=7.0, few=False, trend="steady"):
    return SimpleNamespace(
        detected=detected, amplitude=amplitude, frequency=frequency, few=few, trend=trend
    )


@pytest.fixture
def rest(monkeypatch):
    """(word, width) of an error with a floor of 0.1, where the search for a cycle says what is given."""

    def asked(error, found=None, noise=False, floor=0.1):
        told = []
        monkeypatch.setattr(
            module,
            "limit_cycle",
            lambda t, e, floor, settled: told.append((floor, settled)) or found or cycle(),
        )
        made = _rest("e", np.arange(len(error)) * 0.5, error, floor, noise)
        assert told in ([], [(floor, 0.75)]) and made.name == "e"
        return made

    return asked


@pytest.mark.parametrize(
    "count, word", [(4 * SHORTEST - 1, "decaying"), (4 * SHORTEST, "restless")]
)
def test_a_tail_of_few_instants_says_nothing(rest, count, word):
    found = rest(np.resize([3.0, -3.0], count))
    assert found.word == word and found.width == (0.0 if word == "decaying" else 6.0)


@pytest.mark.parametrize("last, word", [(0.2, "still"), (0.21, "restless")])
def test_what_is_not_wider_than_twice_the_floor_stands_still(rest, last, word):
    found = rest(quarters(9.0, 0.15, 0.15, last))
    assert found.word == word and found.width == pytest.approx(last)


@pytest.mark.parametrize(
    "widths, word",
    [
        ((9.0, 4.0, 3.9, DECAY * 4.0 - 0.01), "decaying"),
        ((9.0, 4.0, 3.9, DECAY * 4.0 + 0.01), "restless"),
        ((1.0, 4.0, 3.0, 3.0), "restless"),
        ((9.0, 3.0, 4.0, 2.0), "restless"),
    ],
)
def test_what_is_narrower_from_quarter_to_quarter_decays(rest, widths, word):
    """The first quarter is left to settle."""
    assert rest(quarters(*widths)).word == word


@pytest.mark.parametrize("amplitude, width", [(0.75, 1.5), (np.nan, 3.0), (np.inf, 3.0)])
def test_a_cycle_that_is_found_is_restless_with_its_width(rest, amplitude, width):
    found = rest(quarters(3.0, 3.0, 3.0, 3.0), cycle(True, amplitude), noise=True)
    assert (found.word, found.width, found.frequency) == ("restless", width, 7.0)


@pytest.mark.parametrize(
    "step, word", [(CREEP * 3.0 + 0.01, "creeping"), (CREEP * 3.0 - 0.01, "restless")]
)
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_mean_that_moves_one_way_creeps(rest, step, word, way):
    means = way * step * np.arange(4)
    assert rest(quarters(3.0, 3.0, 3.0, 3.0, means=means)).word == word
    back = way * step * np.array([0.0, 0.0, 1.0, 0.0])
    assert rest(quarters(3.0, 3.0, 3.0, 3.0, means=back)).word == "restless"


@pytest.mark.parametrize(
    "found, noise, word",
    [
        (cycle(few=True), True, "creeping"),
        (cycle(few=True), False, "restless"),
        (cycle(), True, "still"),
        (cycle(trend="decaying"), False, "decaying"),
        (cycle(trend="decaying"), True, "still"),
    ],
)
def test_of_a_loop_with_noise_only_a_cycle_counts(rest, found, noise, word):
    assert rest(quarters(3.0, 3.0, 3.0, 3.0), found, noise).word == word


def test_what_turns_too_seldom_creeps(rest):
    """Five passes through the middle of the last three quarters are too few, six are three periods."""

    def passing(turns):
        sides = np.repeat(np.resize([1.0, -1.0], turns + 1), 12)
        return np.concatenate([np.zeros(len(sides) // 3), sides])

    for turns, word in ((5, "creeping"), (6, "restless")):
        error = passing(turns)
        assert _turns(error) == turns and _swings(error) is (turns == 6)
        assert rest(error).word == word


def test_the_pace_of_a_tail_is_half_its_passes_over_its_last_three_quarters():
    time = np.arange(80) * 0.25
    for turns, pace in (
        (4, 4 / 2 / (0.75 * 79 * 0.25)),
        (3, 3 / 2 / (0.75 * 79 * 0.25)),
        (2, None),
    ):
        sides = np.repeat(np.resize([1.0, -1.0], turns + 1), 60 // (turns + 1))
        error = np.concatenate([np.zeros(80 - len(sides)), sides])
        assert _turns(error) == turns
        assert (
            np.isnan(_pace(time, error))
            if pace is None
            else _pace(time, error) == pytest.approx(pace)
        )
