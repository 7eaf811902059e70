"""Edges of small things, by hand: directions that begin without a range, inputs without a default, rare draws, modes seen again."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import InputError, Scenario, Signal, Sine, Waypoints
from workbench.verification import run_claims
from workbench.verification.linear import modes_of_run
from workbench.verification.linear.called_law import Asked
from workbench.verification.linear.modes import Mode, Place
from workbench.verification.linear.systems import break_loop
from workbench.verification.observed import unseen
from workbench.verification.probability import rare
from workbench.verification.rigorous.motion import Motion
from workbench.verification.search import of_loop, slopes
from workbench.verification.search.direction import Direction
from workbench.verification.search.of_scenario import Offset


# ---- directions --------------------------------------------------
def test_noise_and_offsets_begin_where_they_are_without_a_range(monkeypatch):
    noisy = SimpleNamespace(σ=0.25, measured=(Signal("a", "m"), Signal("b", "rad")))
    monkeypatch.setattr(of_loop, "_noises", lambda controller: [noisy])
    monkeypatch.setattr(of_loop, "_meant", lambda noise, name: name == "b")
    loop = SimpleNamespace(
        controller=None, plant=SimpleNamespace(states=(Signal("a", "m"), Signal("b", "rad")))
    )
    (found,) = of_loop.Noise().named(loop, Scenario(1.0), "noise")
    assert (found.low, found.high, found.nominal, found.unit) == (0.0, 0.0, 0.25, "rad")
    assert found.least == 0.0 and not found.whole and found.of == ()
    monkeypatch.setattr(of_loop, "_meant", lambda noise, name: True)
    with pytest.raises(InputError, match="different units .m, rad."):
        of_loop.Noise().named(loop, Scenario(1.0), "noise")
    scenario = Scenario(1.0, offset={"b": 0.5})
    one, other = Offset().named(loop, scenario, "start")
    assert (one.name, one.low, one.high, one.nominal, one.unit) == ("offset.a", 0.0, 0.0, 0.0, "m")
    assert (other.name, other.low, other.high, other.nominal) == ("offset.b", 0.0, 0.0, 0.5)
    assert (one.of, other.of) == (("a",), ("b",))


def test_a_point_beyond_the_box_is_taken_to_its_edge_and_every_direction_is_told(monkeypatch):
    """What does not deviate at its nominal value."""
    placed = []

    class Asked(SimpleNamespace):
        __hash__ = object.__hash__

        def place(self, point):
            placed.append(point.tolist())
            return point

        def amounts(self, place):
            return {keys[0]: 30.0}

    keys = [Asked(nominal=3.0, whole=False), Asked(nominal=5.0, whole=True)]
    run = SimpleNamespace(loop="loop", scenario="scenario")
    search = Asked(along=keys, run=run)
    monkeypatch.setattr(slopes, "moved", lambda loop, scenario, told: (loop, scenario, told))
    own = slopes.Slopes(search)
    assert own.may == [0]
    assert own._job(np.array([1.5, -1.25])) == ("loop", "scenario", {keys[0]: 30.0, keys[1]: 5.0})
    own._job(np.array([0.5, -0.75]))
    assert placed == [[1.0, -1.0], [0.5, -0.75]]
    assert own._beside(np.array([0.9999, 0.5]), 0, 1e-3).tolist() == [1.0, 0.5]
    assert own._beside(np.array([0.5, -1.0]), 1, -1e-3).tolist() == [0.5, -1.0]
    assert own._along(None, None, np.zeros(2), 1) == 0.0


def test_the_ends_of_a_range_are_its_ends_to_the_last_digit():
    """And halfway is half of the way to the end on that side; whole numbers are the nearest."""
    rng = np.random.default_rng(2)
    for low, nominal, high in np.sort(rng.normal(size=(50, 3)), axis=1):
        one = Direction("k", low, high, nominal, "m", None)
        assert (one.at(-1.0), one.at(0.0), one.at(1.0)) == (low, nominal, high)
        assert one.at(0.5) == pytest.approx((nominal + high) / 2)
        assert one.at(-0.25) == pytest.approx(nominal + 0.25 * (low - nominal))
    whole = Direction("n", 2.0, 9.0, 4.0, "1", None, whole=True)
    assert [whole.at(s) for s in (-1.0, -0.3, -0.2, 0.3, 1.0)] == [2.0, 3.0, 4.0, 6.0, 9.0]


# ---- what is held in a question --------------------------------------------------
def test_inputs_are_held_as_stated_or_at_their_default_or_at_nothing():
    own = object.__new__(Motion)
    inputs = tuple(Signal(n) for n in ("f", "g", "h", "k", "l"))
    system = SimpleNamespace(inputs=inputs, defaults=lambda: {"g": 7.0, "f": 9.0})
    own._name(system, {"f": 3.0, "k": (1, 2), "l": (-1.0, 4.0)}, {"m": (5, 6)})
    assert own.held == {"f": 3.0, "g": 7.0, "h": 0.0}
    assert own.varying == ("k", "l", "m") and own.ranges == [(1.0, 2.0), (-1.0, 4.0), (5.0, 6.0)]


# ---- limits of a claim --------------------------------------------------
@pytest.mark.parametrize(
    "low, high, fits",
    [(1e5, None, True), (1e5, 1.01e5, True), (1e5, 1e5, False), (2e5, 1e5, False)],
)
def test_pressures_stay_between_limits_that_are_apart(low, high, fits):
    if fits:
        assert run_claims.Pressures(low=low, high=high).high == high
        return
    with pytest.raises(InputError, match="low: .* Pa is not below high"):
        run_claims.Pressures(low=low, high=high)


# ---- rare violations --------------------------------------------------
SPLIT = SimpleNamespace(levels=(1.0, 2.0), runs=70, reached=True, probability=1e-4)


def test_the_likeliest_draw_is_told_where_there_is_one(monkeypatch):
    monkeypatch.setattr(rare, "draw", lambda nearest: f"mass {nearest['m']:g}")
    told = rare._worst(SPLIT, 1e-5, 1e-3, {"m": 2.5})
    assert (
        "by splitting over 2 levels in 70 runs; the likeliest that violates it is mass 2.5; an estimate"
        in told
    )
    assert "likeliest" not in rare._worst(SPLIT, 1e-5, 1e-3, None)
    one = SimpleNamespace(levels=(1.0,), runs=70, reached=False)
    assert "the last level has at most" in rare._worst(one, 0.0, 1e-3, None)
    assert "over 1 level in" in rare._worst(one, 0.0, 1e-3, None)
    none = SimpleNamespace(levels=(), runs=70, reached=False)
    assert "over 0 levels in 70 runs nothing led towards" in rare._worst(none, 0.0, 1.0, None)


def test_the_likeliest_violates_and_is_nearest_to_the_middle(monkeypatch):
    """At a score of zero nothing is violated."""
    final = SimpleNamespace(
        z=np.array([[0.1, 0.1], [1.0, -2.0], [-1.5, 1.0], [3.0, 0.0]]),
        scores=np.array([0.0, 0.5, 0.25, 2.0]),
    )
    monkeypatch.setattr(rare, "drawn", lambda laws, z: [z.tolist()])
    runs = SimpleNamespace(laws="laws")
    assert rare._likeliest(runs, SimpleNamespace(final=final)) == [[-1.5, 1.0]]
    final.scores = -final.scores
    assert rare._likeliest(runs, SimpleNamespace(final=final)) is None


# ---- a called law, asked again --------------------------------------------------
def test_a_law_is_asked_on_from_the_nearest_row_before_and_what_is_known_is_kept():
    class Kept(SimpleNamespace):
        def copied(self):
            return Kept(n=self.n)

    steps = []

    def step(memory, y, row):
        steps.append((row, y))
        return Kept(n=memory.n + 1), None

    own = object.__new__(Asked)
    own.seen, own.y, own.step = {0: Kept(n=0)}, "abcdefgh", step
    assert own.until(3).n == 3 and steps == [(0, "a"), (1, "b"), (2, "c")]
    assert own.until(5).n == 5 and steps[3:] == [(3, "d"), (4, "e")]
    assert own.until(3).n == 3 and own.until(0).n == 0 and len(steps) == 5
    assert own.until(4).n == 4 and steps[5:] == [(3, "d")] and sorted(own.seen) == [0, 3, 4, 5]
    own.until(5).n = 99
    assert own.until(5).n == 5


# ---- modes that are the same everywhere --------------------------------------------------
@pytest.mark.parametrize("rounding, bound", [(1e-6, 1e-3), (0.5, 0.5)])
@pytest.mark.parametrize(
    "alike, again", [(modes_of_run.SAME - 1, False), (modes_of_run.SAME, True)]
)
def test_modes_seen_again_are_known_to_their_rounding_or_to_what_the_run_shows(
    monkeypatch, rounding, bound, alike, again
):
    monkeypatch.setattr(modes_of_run, "least_growth", lambda length: 1e-3)
    monkeypatch.setattr(modes_of_run, "_alike", lambda one, other, least: other.t < alike)
    made = Mode(-0.5 + 0j, 9.0, ("x",), "there", 0.0, rounding=rounding)
    places = [Place(float(k), "there", False, (made,)) for k in range(modes_of_run.SAME + 2)]
    for place in modes_of_run.seen_again(places, 10.0):
        assert place.again is again
        assert place.modes[0].bound == (bound if again else 9.0)
    rests = [Place(9.0, "at rest", True, (made,)), *places]
    assert modes_of_run.seen_again(rests, 10.0) == rests


# ---- loops that are broken --------------------------------------------------
@pytest.mark.parametrize("i, there", [(-1, False), (0, True), (1, True), (2, False), (3, False)])
@pytest.mark.parametrize("columns, rows", [(2, 3), (3, 2)])
def test_a_loop_is_broken_at_an_actuator_that_there_is(i, there, columns, rows):
    rng = np.random.default_rng(3)
    A, B, C = rng.normal(size=(4, 4)), rng.normal(size=(4, columns)), rng.normal(size=(rows, 4))
    if not there:
        with pytest.raises(
            InputError, match=f"insertion point {i}, but B has {columns} columns and C {rows}"
        ):
            break_loop(A, B, C, i)
        return
    L = break_loop(A, B, C, i, 0.5)
    assert L.A == pytest.approx(A - np.outer(B[:, i], C[i])) and L.T == 0.5
    assert L.B[:, 0] == pytest.approx(B[:, i]) and L.C[0] == pytest.approx(-C[i])


# ---- what comes after a run ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("length, words", [
    (2.0, "the push is what it never was before at t = 2."), (4.0, ""), (9.0, ""),
])  # fmt: skip
def test_a_push_that_goes_on_is_looked_at_until_it_ends(length, words):
    """From 1 to 3 in 4 s; what stays as it is, and what ends with the run, leaves nothing."""
    found = "".join(unseen._leaves("the push", Waypoints("output", ((1.0,), (3.0,)), 4.0), length))
    assert found.startswith(words) and bool(found) is bool(words)
    assert list(unseen._leaves("the push", 7.0, length)) == []
    assert list(unseen._leaves("the push", Sine("output", (0.0,), (1.0,), 0.3), length)) == []
