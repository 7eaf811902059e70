"""Objects built in Python are checked as files are: every choice, length, sign and number of every
public class.
"""

import dataclasses
import math
import types
import typing
from typing import Annotated, Any, Literal

import pytest
from objects import CRANE, classes, sound

import workbench
from controllers import PID, VDC
from plants import MeteredArms
from workbench import InputError, Sampled, Scenario
from workbench.contract.kinds import declared, options, refusal
from workbench.contract.parameters import Unit, check_bounds, field_infos, positive

WRONG = {
    "choice": "Model?",
    "nan": math.nan,
    "inf": math.inf,
    "text": "1",
    "pair": (1.0, "x"),
    "nothing": [],
    "object": object(),
}


def wrong_values(hint) -> list:
    """What no field of this annotation may be given."""
    kept = []
    for value in WRONG.values():
        known = [option for option in options(hint)]
        if isinstance(value, str) and any(option in (str, Any, object) for option in known):
            continue
        if any(option in (Any, object) for option in known):
            continue
        kept.append(value)
    return kept


def _fields(cls) -> list:
    """(field, annotation) of choices and annotated numbers."""
    infos = field_infos(cls)
    return [
        (name, hint) for name, hint in declared(cls) if infos[name] is not None or _choices(hint)
    ]


def _choices(hint) -> bool:
    return any(typing.get_origin(option) is Literal for option in options(hint))


def test_every_class_refuses_wrong_values_in_every_field():
    tried, sneaked = 0, []
    for path, cls in classes().items():
        if not _fields(cls):
            continue
        healthy = sound(path, cls)
        assert isinstance(healthy, cls), f"{path}: give tests/objects.py a sound object, in GIVEN"
        for field, hint in _fields(cls):
            for value in wrong_values(hint):
                tried += 1
                try:
                    dataclasses.replace(healthy, **{field: value})
                except ValueError as why:
                    if isinstance(why, InputError) or str(why).startswith(f"{field}: "):
                        continue
                    sneaked.append(f"{path}.{field} = {value!r}: {why}")
                except Exception as why:
                    sneaked.append(f"{path}.{field} = {value!r}: {type(why).__name__}: {why}")
                else:
                    sneaked.append(f"{path}.{field} = {value!r} is taken")
    assert not sneaked, "\n".join(sneaked)
    assert tried > 1000


# ---- lengths -------------------------------------------------------------------------------------
LONG = (1.0,) * 7
LENGTHS = [
    (VDC, {"model": CRANE}, ("λ", "βk_f"), ((), LONG)),
    (VDC, {"model": CRANE}, ("k_x",), ((1.0,) * 4, LONG)),
    (VDC, {"model": MeteredArms()}, ("λ", "k_m", "Kk_f"), ((), LONG)),
    (PID, {"model": CRANE}, ("K_p", "K_i", "K_d", "K_v", "K_f"), ((), LONG)),
]


@pytest.mark.parametrize("law, given, fields, wrongs", LENGTHS)
def test_gains_that_are_not_one_a_joint(law, given, fields, wrongs):
    for field in fields:
        for wrong in wrongs:
            with pytest.raises(ValueError, match=f"{field}: expected .*got {len(wrong)}"):
                law(**given, **{field: wrong})


def test_only_an_empty_tuple_leaves_a_gain_out():
    """VDC chooses k_x where it is left out; any other nothing is a wrong value."""
    assert VDC(CRANE, k_x=()) == VDC(CRANE)
    assert len(VDC(CRANE, k_x=()).k_x) in (1, CRANE.n)
    for wrong in ([], "", 0.0, False, {}):
        with pytest.raises(ValueError, match="^k_x: "):
            VDC(CRANE, k_x=wrong)


def test_points_that_are_not_one_a_joint():
    """A path's components are counted against the machine before anything runs, and against each
    other before that.
    """
    loop = workbench.ClosedLoop(CRANE, Sampled(PID(CRANE)))
    for reference in (
        workbench.Hold("joint", (0.1, 0.2, 0.3)),
        workbench.Sine("joint", "start", (0.1,), 1.0),
        workbench.Waypoints("piston", ((0.1,), (0.2,)), 1.0),
        workbench.Spline("joint", (0.0, 1.0), ((0.1,), (0.2,))),
    ):
        with pytest.raises(
            InputError, match=r"components in (joint|piston) space, the plant has 2"
        ):
            workbench.simulate(loop, Scenario(0.01, reference), compiled=False)
    with pytest.raises(InputError, match="unequal length"):
        workbench.Waypoints("joint", ((0.1, 0.2), (0.3,)), 1.0)
    with pytest.raises(InputError, match="components, the amplitude has 1"):
        workbench.Sine("joint", (0.1, 0.2), (0.3,), 1.0)


@pytest.mark.parametrize("start", [(0.1,), (0.1, 0.2, 0.3), (math.nan, 0.1), ("a", "b"), 0.3])
def test_a_start_that_is_not_one_number_a_joint(start):
    loop = workbench.ClosedLoop(CRANE, Sampled(PID(CRANE)))
    with pytest.raises(InputError, match="start"):
        workbench.simulate(loop, Scenario(0.01, start=start), compiled=False)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"offset": {"q_1": "1 deg"}}, "offset: q_1: expected a number"),
        ({"offset": {"q_1": math.nan}}, "offset: q_1"),
        ({"offset": [0.1]}, "offset: expected a mapping"),
        ({"seed": 1.5}, "seed: expected a whole number"),
        ({"seed": True}, "seed: expected a whole number"),
        ({"duration": math.inf}, "duration: expected a finite number in s"),
        ({"duration": -1.0}, "greater than zero"),
        ({"log_period": 0.0}, "log_period"),
        ({"max_step": "1 ms"}, "max_step"),
    ],
)
def test_a_scenario_that_is_none(given, words):
    with pytest.raises(InputError, match=words):
        Scenario(**{"duration": 1.0, **given})


# ---- the mechanism -------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Every:
    """A field of every kind."""

    word: Literal["model", "zero"] = "zero"
    flag: bool = False
    count: int = 3
    text: str = "a"
    free: float = 1.0
    pair: tuple[float, float] = (1.0, 2.0)
    many: tuple[str, ...] = ()
    deep: tuple[tuple[float, ...], ...] = ()
    table: typing.Mapping[str, float] = dataclasses.field(default_factory=dict)
    either: Literal["start"] | tuple[float, ...] = "start"
    part: Scenario | None = None
    measured: Annotated[float | None, Unit("m"), "length", positive] = None

    def __post_init__(self):
        check_bounds(self)


SOUND = [
    {},
    {"word": "model"},
    {"count": 4},
    {"free": math.inf},
    {"free": 2},
    {"pair": [1.0, 2]},
    {"many": ("a", "b")},
    {"deep": ((1.0,), (2.0, 3.0))},
    {"table": {"a": 1.0}},
    {"either": (1.0,)},
    {"part": Scenario(1.0)},
    {"measured": 2},
    {"table": types.MappingProxyType({"a": 1.0})},
]
UNSOUND = [
    (
        {"word": "Model"},
        "word: expected one of model, zero, got 'Model'\n  mend: did you mean 'model'",
    ),
    ({"word": 1}, "word"),
    ({"flag": 1}, "flag: expected True or False, got 1"),
    ({"flag": "false"}, "flag"),
    ({"count": 3.0}, "whole number"),
    ({"count": True}, "whole number"),
    ({"text": 3}, "text: expected text"),
    ({"free": math.nan}, "free: expected a number"),
    ({"free": "1"}, "free"),
    ({"pair": (1.0,)}, "pair: expected 2 entries, got 1"),
    ({"pair": (1.0, "b")}, "pair: its entry number 2"),
    ({"many": "ab"}, "many: expected a tuple"),
    ({"many": ("a", 2)}, "its entry number 2: expected text"),
    ({"deep": ((1.0,), 2.0)}, "deep: its entry number 2"),
    ({"table": {"a": "b"}}, "table: a: expected a number"),
    ({"either": "stop"}, "either: expected one of start or a tuple, each entry a number"),
    ({"part": "here"}, "part: expected Scenario"),
    ({"part": 3}, "part"),
    ({"part": Scenario}, "part"),
    ({"measured": -1.0}, "greater than zero"),
    ({"measured": "2"}, "finite"),
    ({"measured": math.inf}, "finite"),
    ({"measured": (1.0, 2.0)}, "measured"),
]


@pytest.mark.parametrize("given", SOUND)
def test_what_fits_is_taken(given):
    assert Every(**given)


@pytest.mark.parametrize("given, words", UNSOUND)
def test_what_does_not_fit_is_refused(given, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        Every(**given)


def test_unions_take_what_one_of_them_takes():
    hint = Annotated[float | tuple[float, ...] | Literal["auto"], Unit("m")]
    assert [refusal(hint, v) for v in (1.0, (1.0,), "auto")] == [None] * 3
    assert refusal(hint, "Auto")[1] == "did you mean 'auto'?"
