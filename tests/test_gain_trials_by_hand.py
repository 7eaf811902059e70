"""Which gains are put right, and to what, from numbers written down: halfway, a tenth and tenfold, integral action, weights."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from small import IDLE, Linear

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf
from workbench.contract.plain import Plain
from workbench.contract.system import Controller
from workbench.verification.cause import gains as module

PLANT = Linear(((-1.0,),), ((1.0,),), ((1.0,),))


def leaf(path, value, constant=False):
    return Leaf(path, value, SimpleNamespace(unit="1"), constant)


def numbered(**values):
    paths = {name.replace("__", "."): value for name, value in values.items()}
    return {path: leaf(path, value) for path, value in paths.items()}


# ---- halfway to the default ---------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, right, between",
    [
        (310.0, 10.0, math.sqrt(3100.0)),
        (290.0, 10.0, None),
        (10.0, 310.0, math.sqrt(3100.0)),
        (10.0, 290.0, None),
        (-310.0, -10.0, -math.sqrt(3100.0)),
        (310.0, -10.0, None),
        (0.0, 10.0, None),
    ],
)
def test_a_gain_thirty_times_off_is_put_halfway(value, right, between):
    found = list(module._halfway("words", numbered(K=value), {"K": right}))
    assert [one.numbers for one in found] == ([] if between is None else [{"K": between}])
    if found:
        assert (found[0].kind, found[0].words, found[0].oddness) == ("gain", "words", 0.5)


def test_halfway_only_where_all_that_differ_are_far_off():
    numbers = numbered(a=900.0, b=20.0, c=7.0)
    assert list(module._halfway("w", numbers, {"a": 1.0, "b": 10.0})) == []
    (found,) = module._halfway("w", numbers, {"a": 1.0})
    assert found.numbers == {"a": 30.0}
    (both,) = module._halfway("w", numbered(a=900.0, b=-1.0), {"a": 1.0, "b": -100.0})
    assert both.numbers == {"a": 30.0, "b": -10.0}


# ---- integral action ----------------------------------------------------------------------------
def integral(**values):
    loop = SimpleNamespace(controller=SimpleNamespace(inner=None))
    return [one.numbers for one in module._integral(loop, numbered(**values))]


def test_integral_action_where_there_is_none_at_two_rates():
    given = {"controller__K_p__0": 4.0, "controller__K_p__1": 10.0}
    none = {"controller__K_i__0": 0.0, "controller__K_i__1": 0.0}
    slow, fast = integral(**given, **none)
    assert slow == pytest.approx({"controller.K_i.0": 1.2, "controller.K_i.1": 3.0})
    assert fast == pytest.approx({"controller.K_i.0": 12.0, "controller.K_i.1": 30.0})
    assert integral(**given, **(none | {"controller__K_i__1": 0.1})) == []
    assert integral(**none, controller__K_p__0=4.0) == [] == integral(**given)
    (first, _) = module._integral(
        SimpleNamespace(controller=SimpleNamespace(inner=None)), numbered(**given, **none)
    )
    assert (first.kind, first.oddness) == ("gain", 0.4)
    assert first.words == "no integral action (controller.K_i: 0)"


# ---- a tenth and tenfold --------------------------------------------------------------------------
def tenths(known, plant=IDLE.plant, model=None):
    law = SimpleNamespace(inner=None, model=model)
    loop = SimpleNamespace(controller=law, plant=plant)
    return [(one.kind, dict(one.numbers), one.oddness) for one in module._tenths(loop, known)]


def test_gains_of_a_law_without_a_model_are_tried_a_tenth_and_tenfold():
    """Those whose names begin with K or k, and are not zero; of a plant of one's own every number that may change."""
    known = numbered(
        controller__K_x=20.0, controller__k_y=-3.0, controller__K_z=0.0, controller__T_s=0.5
    )
    found = tenths(known)
    assert found == [
        ("gain 0.1", {"controller.K_x": 2.0}, 0.4),
        ("gain 10", {"controller.K_x": 200.0}, 0.4),
        ("gain 0.1", {"controller.k_y": pytest.approx(-0.3)}, 0.4),
        ("gain 10", {"controller.k_y": -30.0}, 0.4),
    ]
    plant = {
        "plant.m": leaf("plant.m", 5.0),
        "plant.n": leaf("plant.n", 7.0, constant=True),
        "plant.zero": leaf("plant.zero", 0.0),
    }
    assert tenths(plant) == [
        ("machine 0.1", {"plant.m": 0.5}, 0.2),
        ("machine 10", {"plant.m": 50.0}, 0.2),
    ]


def test_of_a_plant_and_a_law_of_ours_nothing_is_tried(monkeypatch):
    known = numbered(controller__K_x=20.0, plant__m=5.0)
    monkeypatch.setattr(module, "usual_law", lambda law, model: law)
    assert [kind for kind, *_ in tenths(known, model="known")] == ["machine 0.1", "machine 10"]
    monkeypatch.setattr(module, "usual_law", lambda law, model: None)
    assert len(tenths(known, model="known")) == 4
    ours = type("Ours", (), {"__module__": "plants.crane"})()
    assert [kind for kind, *_ in tenths(known, plant=ours)] == ["gain 0.1", "gain 10"]


# ---- weights of a predictive law --------------------------------------------------------------------
def test_weights_of_moves_and_commands_are_tried():
    law = Plain(lambda t, y, r: [0.0], ("y0",), ("u0",), ())
    known = numbered(
        controller__law__S__0=2.0,
        controller__law__R=5.0,
        controller__law__Q=7.0,
        controller__law__S__1=0.0,
        controller__S=3.0,
    )
    loop = SimpleNamespace(controller=law, plant=PLANT)
    found = list(module._weights(loop, known))
    assert [one.numbers for one in found] == [
        {"controller.law.S.0": pytest.approx(0.2)},
        {"controller.law.S.0": 20.0},
        {"controller.law.R": 0.5},
        {"controller.law.R": 50.0},
    ]
    assert {one.oddness for one in found} == {0.4} and found[0].kind == "weight 0.1"
    assert list(module._weights(SimpleNamespace(controller=IDLE, plant=PLANT), known)) == []


# ---- a law's own default gains ----------------------------------------------------------------------
@dataclass(frozen=True)
class Own(Controller):
    """A law with two kinds of gains and a name for its signals; `suited` says what is usual for a model."""

    model: Any = None
    K_p: tuple = (1.0, 1.0)
    K_d: float = 2.0
    signals: tuple = ("s",)
    counted: float = field(default=0.0, init=False)
    measured = commands = ()

    @classmethod
    def suited(cls, model):
        return {"K_p": (4.0, 8.0), "K_d": 0.5} if model != "unknown" else {"K_x": 1.0}


def gains_of(law, **values):
    loop = SimpleNamespace(controller=law, plant=PLANT)
    return list(module._gains(loop, numbered(**values)))


KNOWN = {"controller__K_p__0": 8.0, "controller__K_p__1": 1.0, "controller__K_d": 0.5}


def test_gains_are_put_to_the_defaults_of_the_model_field_by_field():
    """K_p: 8 and 1 against 4 and 8: told of the one that is further off; K_d is the default."""
    (found,) = gains_of(Own("known"), **KNOWN)
    assert found.numbers == {"controller.K_p.0": 4.0, "controller.K_p.1": 8.0}
    assert found.words == "gain controller.K_p is 0.125 × the default, 8 (1)"
    assert found.oddness == pytest.approx(0.85 * 1.2) and found.kind == "gain"
    (found,) = gains_of(Own("known"), **(KNOWN | {"controller__K_p__1": 8.0}))
    assert found.numbers == {"controller.K_p.0": 4.0}
    assert found.words == "gain controller.K_p is 2 × the default, 4 (8)"
    assert found.oddness == pytest.approx(0.85 * (0.5 + math.log10(2)))


def test_a_law_whose_defaults_nobody_knows_is_left_alone():
    assert gains_of(Own(None), **KNOWN) == []
    assert gains_of(Own("unknown"), **KNOWN) == []  # it has no K_x
    law = SimpleNamespace(inner=None, model="known", suited=lambda model: {})
    assert gains_of(law, **KNOWN) == []
    more = KNOWN | {"controller__K_p__2": 1.0}
    assert gains_of(Own("known"), **more) == []  # three numbers, two defaults


def test_a_usual_law_keeps_what_it_is_told_about_signals():
    law = module.usual_law(Own("known", (9.0, 9.0), 9.0, ("a", "b")), "known")
    assert (law.model, law.K_p, law.K_d) == ("known", (4.0, 8.0), 0.5)
    assert law.signals == ("a", "b")

    @dataclass(frozen=True)
    class Refuses(Own):
        def __post_init__(self):
            if self.K_p == (4.0, 8.0):
                raise InputError("no such gains")

    assert module.usual_law(Refuses("known"), "known") is None


@dataclass(frozen=True)
class Fed(Own):
    """Such a law that feeds forward, as PID does."""

    feed: str = "none"
    u_max: float = 3.0


def test_a_law_that_feeds_forward_needs_gains_of_its_model_or_cylinders():
    assert module.feeds_forward(Fed()) and not module.feeds_forward(Own())
    assert not module.feeds_forward(SimpleNamespace(feed="none"))
    known = SimpleNamespace(cylinders=())
    assert module.usual_law(Fed(known), known).K_p == (4.0, 8.0)

    class Nothing(Fed):
        @classmethod
        def suited(cls, model):
            return {}

    assert module.usual_law(Nothing(known), known) is None
    driven = SimpleNamespace(cylinders=(1,))
    assert module.usual_law(Nothing(driven), driven).K_p == (1.0, 1.0)


@pytest.mark.parametrize("share, tried", [(0.94, True), (0.96, False)])
def test_a_limit_below_the_largest_of_the_machine(share, tried):
    """The machine takes 2 and 5: the largest counts."""
    plant = SimpleNamespace(limits=lambda: {"u": (-9.0, 2.0), "v": (-1.0, 5.0)})
    loop = SimpleNamespace(controller=Fed(u_max=share * 5.0), plant=plant)
    known = numbered(controller__u_max=share * 5.0)
    found = list(module._bounded(loop, known))
    assert bool(found) is tried
    if tried:
        assert found[0].numbers == {"controller.u_max": 5.0}
        assert found[0].oddness == pytest.approx(0.5 - math.log10(share))
        assert found[0].words == "controller.u_max limits commands to 4.7, the machine takes 5"
    assert list(module._bounded(loop, {})) == []
    other = SimpleNamespace(controller=Own(), plant=plant)
    assert list(module._bounded(other, known)) == []
    free = SimpleNamespace(controller=Fed(), plant=SimpleNamespace(limits=dict))
    assert list(module._bounded(free, known)) == []
