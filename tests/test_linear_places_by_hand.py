"""Small places of linear analysis, from numbers written down: units, rates at rest, instants, moves that are not convex."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from small import Linear
from test_limits_by_hand import loop
from test_predictive_by_hand import ingredients

from workbench.contract.errors import InputError
from workbench.verification.linear import modes_of_run
from workbench.verification.linear.called_law import Unread
from workbench.verification.linear.loop import is_linear
from workbench.verification.linear.modes import Place
from workbench.verification.linear.quadratic import quadratic_certificate
from workbench.verification.predictive import local
from workbench.verification.regions.saturation import Region
from workbench.verification.rigorous.balls import Ball, definite_ball


# ---- certificates -------------------------------------------------------------------------------
def test_a_rate_is_told_a_second_or_a_sample():
    flows = quadratic_certificate([[-2.0]])
    assert flows.worst.startswith("xᵀPx falls at rate 1.99999 1/s; ") and flows.unit == "1"
    steps = quadratic_certificate([[0.25]], 0.1)
    assert steps.worst.startswith("xᵀPx falls at rate 0.74999")
    assert " 1 a sample (1 − ρ); " in steps.worst
    assert quadratic_certificate([[2.0]]).unit == "1/s"
    assert quadratic_certificate([[1.5]], 0.1).unit == "1"
    assert quadratic_certificate([[2.0]]).margin == pytest.approx(-2.0)


def test_a_matrix_that_is_no_certificate_is_told_apart_from_none_found():
    given = quadratic_certificate([[-1.0, 9.0], [0.0, -1.0]], P=np.eye(2))
    assert given.holds is None and given.worst.startswith("the matrix given is no certificate; ")
    none = quadratic_certificate([[0.0]])
    assert none.holds is None and none.worst.startswith("no certificate found; ")


@pytest.mark.parametrize("place", [(0, 1), (1, 1)])
def test_a_ball_with_an_entry_that_is_no_number_is_not_definite(place):
    mid = np.array([[2.0, 0.5], [0.5, 2.0]])
    assert definite_ball(Ball.of(mid, 0.1))
    mid[place] = np.nan
    assert not definite_ball(Ball.of(mid, 0.1))
    rad = np.zeros((2, 2))
    rad[place] = np.inf
    assert not definite_ball(Ball(np.eye(2), rad))


@pytest.mark.parametrize("u, P, G", [(2.0, 1.0, 0.3), (3.0, 0.25, -0.2), (1.5, 4.0, 0.5)])
def test_planes_beside_an_ellipsoid_bear_a_change_of_the_gain(u, P, G):
    """u² P > (|K − G| + ε |K|)² at a plane; ẋ = −10 x + 0.1 sat(K x) falls whatever is changed by as much."""
    K = 0.6
    one = lambda v: np.array([[v]])
    own = Region(one(-10.0), one(0.1), one(K), np.array([u]), None, one(P), one(G), np.array([1.0]))
    edge = (u * np.sqrt(P) - abs(K - G)) / K
    shared = min(edge, 0.4)
    assert own.bears(0.99 * shared) and (edge > 0.4 or not own.bears(1.01 * edge))
    tight = Region(
        own.A,
        own.B,
        own.K,
        np.array([(0.2 * K + abs(K - G)) / np.sqrt(P)]),
        None,
        own.P,
        own.G,
        own.τ,
    )
    assert tight.bears(0.199) and not tight.bears(0.201)


@dataclass(frozen=True)
class Own(Linear):
    """ẋ = −x + u + what a function adds, y = x."""

    adds: object = None
    on_floats: bool = False

    def rhs(self, t, x, u):
        return [-x[0] + u[0] + self.adds(t, x[0])]


@pytest.mark.parametrize(
    "adds, floats, linear",
    [
        (lambda t, x: 0.0, False, True),
        (lambda t, x: 0.0, True, False),
        (lambda t, x: 0.1, False, False),
        (lambda t, x: t, False, False),
        (lambda t, x: t * x, False, False),
        (lambda t, x: x**2, False, False),
        (lambda t, x: abs(x), False, False),
    ],
)
def test_a_plant_is_linear_without_an_offset_a_curve_a_switch_or_time(adds, floats, linear):
    """Of one that is called from Python that is not known."""
    plant = Own(((-1.0,),), ((1.0,),), ((1.0,),), adds=adds, on_floats=floats)
    assert is_linear(plant) is linear


# ---- a loop with limits at rest -------------------------------------------------------------------
@pytest.mark.parametrize("drift, rests", [(0.0, True), (1e-10, False), (1.0, False)])
def test_a_loop_that_drifts_does_not_rest_however_slowly(drift, rests):
    """x, which decays, and an integrator that nothing moves but a drift."""
    own = loop(
        M=np.diag([0.5, 1.0]), E=np.zeros((2, 1)), K=np.array([[0.1, 0.0]]), w=np.zeros(1),
        o=np.array([0.0, drift]), start=np.zeros(2), states=("x", "a"),
    )  # fmt: skip
    if rests:
        assert own.rest()[1] == pytest.approx([2.0])
        return
    with pytest.raises(InputError, match="does not come to rest at this reference"):
        own.rest()


# ---- modes along a run ------------------------------------------------------------------------------
class Points:
    """Points of a run of which each look gives a place, or raises."""

    made: tuple = ()
    rest: tuple = ()

    def __init__(self, run):
        pass

    def looks(self):
        if isinstance(self.made, InputError):
            raise self.made
        return [self._look(one) for one in self.made]

    def _look(self, one):
        def look():
            if isinstance(one, InputError):
                raise one
            return [one]

        return look

    def come_to_rest(self):
        return list(self.rest)


def along(monkeypatch, *made, rest=(), hosted=False, looks=None):
    asked = []

    def again(places, length):
        asked.append(length)
        return places

    kind = type("Own", (Points,), {"made": looks or made, "rest": rest})
    other = "TracedPoints" if hosted else "HostedPoints"
    monkeypatch.setattr(modes_of_run, "HostedPoints" if hosted else "TracedPoints", kind)
    monkeypatch.setattr(modes_of_run, other, None)
    monkeypatch.setattr(modes_of_run, "seen_again", again)
    log = SimpleNamespace(time=np.array([0.0, 3.0, 7.0]))
    run = SimpleNamespace(loop=SimpleNamespace(hosted=hosted), log=log)
    return modes_of_run.slowest_and_unstable(run), asked


MOVING, STILL = Place(1.0, "on the way", False, ()), Place(2.0, "at the end", True, ())


@pytest.mark.parametrize("hosted", [True, False])
def test_places_of_a_run_and_where_they_are_seen_again(monkeypatch, hosted):
    """Over its whole length; where nothing rests it is brought to rest."""
    found, asked = along(monkeypatch, MOVING, STILL, hosted=hosted)
    assert found.places == (MOVING, STILL) and asked == [7.0] and found.unread == ""
    found, _ = along(monkeypatch, MOVING, rest=(STILL,), hosted=hosted)
    assert found.places == (MOVING, STILL)
    found, _ = along(monkeypatch, STILL, rest=(MOVING,), hosted=hosted)
    assert found.places == (STILL,)
    assert along(monkeypatch, rest=(STILL,))[0].places == ()


def test_reasons_of_a_run_that_is_not_linearised_are_told_once(monkeypatch):
    bent, unread = InputError("it is bent", mend="run it"), Unread("it remembers", mend="keep it")
    found, _ = along(monkeypatch, bent, MOVING, bent, InputError("no derivative"))
    assert found.reasons == ("it is bent", "no derivative") and found.unread == ""
    found, _ = along(monkeypatch, unread, bent)
    assert found.reasons == ("it remembers", "it is bent") and found.places == ()
    assert found.unread == "it remembers; keep it"
    assert along(monkeypatch, unread, MOVING)[0].unread == ""
    whole = along(monkeypatch, looks=unread)[0]
    assert (whole.places, whole.reasons) == ((), ("it remembers",))
    assert (
        whole.unread == "it remembers; keep it" and along(monkeypatch, looks=bent)[0].unread == ""
    )


# ---- a predictive law near the origin -----------------------------------------------------------------
def test_moves_whose_cost_may_be_flat_have_no_gain(monkeypatch):
    """The cost's middle is convex; enclosed, it need not be."""
    assert local.unconstrained(ingredients()) is not None
    steps = local.predictions(ingredients())
    off = [(Ball(x.mid, x.rad + 0.5), Ball(u.mid, u.rad + 0.5)) for x, u in steps]
    monkeypatch.setattr(local, "predictions", lambda t: off)
    assert local.unconstrained(ingredients()) is None
