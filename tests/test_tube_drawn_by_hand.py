"""What is drawn beside a tube, what parts hold together, and runs of a law's expressions, on numbers written down."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from linear_tube import SECTION, tube

from workbench.contract.errors import InputError
from workbench.verification.tube import beside, expressed, parts
from workbench.verification.tube import claim as claims
from workbench.verification.tube.opened import Free, Varied

STATES = ("q", "r", "u", "v", "ϑ")
MASS = Varied("load.m", "kg", 7.0, 6.5, 9.0)
DAMPING = Varied("b", "N s/m", 20.0, 18.0, 21.0)


def widths(*rows):
    """Reaches of three nodes, of q, r, u and ϑ."""
    reach = np.zeros((3, 9, 5))
    reach[:, 0, SECTION] = rows
    reach[:, 1:] = 77.0
    return reach


REACH = widths([0.2, 3.0, 0.0, 0.1], [0.4, 2.0, 0.0, 0.1], [0.1, 5.0, 1e-12, 0.1])


# ---- the figure ----------------------------------------------------------------------------------------------------------------
def test_the_share_that_a_sample_adds():
    """Of every half-width; of one that is nothing but rounding, none."""
    reach = REACH.copy()
    reach[:, 0, 2] = 0.0, 1e-12, 2.0  # rounding beside 2
    seen = SimpleNamespace(added=np.full((3, 4), 0.01), defect=np.full((3, 4), 0.03))
    found = beside.taken(tube(reach=reach), seen)
    assert found[:, 0] == pytest.approx([0.2, 0.1, 0.4])
    assert found[:, 1] == pytest.approx([0.04 / 3, 0.02, 0.008])
    assert found[:, 2] == pytest.approx([0.0, 0.0, 0.02])


@pytest.mark.parametrize("begins, runs", [(0.0, beside.RUNS), (0.5, 0)])
def test_what_a_figure_shows(monkeypatch, begins, runs):
    """Widths and hulls of what moves, what is told of the tool and of v alone, and the sample that adds most."""
    asked = {}

    def hull(run, half, numbers, starts, columns):
        asked.update(half=half, numbers=numbers, starts=starts, columns=columns)
        return np.arange(10.0)[:, None] * [1.0, 100.0]  # more rows than nodes

    monkeypatch.setattr(beside, "hull", hull)
    told = np.array(["e_q", "tool_error", "v"])
    most = np.arange(9.0).reshape(3, 3)
    monkeypatch.setattr(beside, "measured", lambda c: (None, most))
    c = tube(
        reach=REACH, told=told, splits=np.array([[1.0, 2.0, 0.0], [1.0, 3.0, 0.0], [2.0, 2.0, 0.0]])
    )
    share = np.array([[0.1, 0.2, 0.0, 0.0], [0.1, 0.3, 0.4, 0.0], [0.25, 0.2, 0.0, 0.0]])
    question = SimpleNamespace(states=STATES, free=Free((MASS,)), begins=begins)
    half = {"q": 0.3, "r": 0.0, "u": 0.2}
    found = beside.pictured("run", c, share, half, question, 1234)
    assert asked["starts"].shape == (runs, 3)  # two states and a number
    assert (asked["half"], asked["numbers"], asked["columns"]) == (half, (MASS,), [0, 1])
    assert found["t"] == pytest.approx(begins + np.array([0.0, 0.05, 0.1]))
    assert found["width"]["q"].tolist() == [0.2, 0.4, 0.1] and list(found["width"]) == ["q", "r"]
    assert found["hull"]["r"].tolist() == [0.0, 100.0, 200.0]
    assert {k: v.tolist() for k, v in found["told"].items()} == {
        "tool_error": [1, 4, 7],
        "v": [2, 5, 8],
    }
    assert found["grown"].tolist() == [0.2, 0.4, 0.25]
    assert found["tight"] == {
        "t": pytest.approx(begins + 0.05),
        "grown": 0.4,
        "by": "u",
        "edges": 2,
    }
    assert found["size"] == {"samples": 3, "states": 4, "bytes": 1234} and found["runs"] == runs
    plain = beside.pictured("run", replace(c, splits=np.zeros((0, 3))), share, half, question, 0)
    assert plain["tight"]["edges"] == 0


def test_a_run_from_other_starts_with_other_numbers(monkeypatch):
    """From the state that the run itself starts from, by the shares of what is moved; what is not moved has no share."""
    bound = {}

    def bind(loop, numbers):
        bound.update(numbers)
        return Named("other", loop.states)

    monkeypatch.setattr(beside, "bind", bind)
    monkeypatch.setattr(
        beside, "replace", lambda thing, **new: SimpleNamespace(**vars(thing) | new)
    )
    monkeypatch.setattr(
        beside, "start_state", lambda loop, rest: [1.0, 2.0, 3.0] if not rest.offset else None
    )
    loop = Named("own", tuple(SimpleNamespace(name=n) for n in "qru"))
    scenario = SimpleNamespace(offset={"q": 9.0}, duration=4.0)
    run = SimpleNamespace(
        loop=loop, scenario=scenario, demand=SimpleNamespace(start=[1.5, 2.0, 2.75])
    )
    half = {"q": 0.5, "r": 0.0, "u": 0.25}
    found, scene = beside.other(run, half, (MASS, DAMPING), np.array([1.0, -1.0, 0.5, -1.0]))
    assert scene.offset == {"q": 1.0, "u": -0.5} and scene.duration == 4.0
    assert bound == {"plant.load.m": 8.0, "plant.b": 18.0} and found.name == "other"
    bound.clear()
    found, scene = beside.other(run, half, (), np.array([0.0, 1.0]))
    assert scene.offset == {"q": 0.5} and found is loop and not bound


class Named:
    def __init__(self, name, states):
        self.name, self.states = name, states


# ---- the claim -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "tubes, question, drawn", [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_figure_is_made_of_a_tube_that_is_there(monkeypatch, tubes, question, drawn):
    verdict = SimpleNamespace(holds=None)
    whole = SimpleNamespace(
        verdict=verdict, tube="c" if tubes else None, question="q" if question else None,
        share="share", size=5, certificates=(),
    )  # fmt: skip
    monkeypatch.setattr(claims, "leaves", lambda claim, run: None)
    monkeypatch.setattr(claims, "expressed", lambda run: run)
    monkeypatch.setattr(claims, "judged", lambda claim, run, share: None)
    monkeypatch.setattr(claims.Whole, "of", lambda found: whole)
    monkeypatch.setattr(claims, "widths", lambda claim, loop: "half")
    monkeypatch.setattr(claims, "pictured", lambda *given: given)
    run = SimpleNamespace(loop=None, kept={})
    assert claims.check_tube(SimpleNamespace(parts={}, certificate="", work=3), run) is verdict
    assert run.kept == ({"tube": (run, "c", "share", "half", "q", 5)} if drawn else {})


# ---- parts ---------------------------------------------------------------------------------------------------------------------
def test_a_tube_that_holds_those_of_all_parts():
    """Around the run itself: how far the middle of each is, and its width; nodes that all of them have."""
    c = tube()
    ends = {
        "low": np.arange(5.0),
        "high": np.arange(5.0) + 10.0,
        "least": np.array([-1.0]),
        "most": np.array([4.0]),
    }
    one = replace(c, z=c.z + [0.1, 0.0, -0.2, 0.0], reach=REACH, **ends)
    ends = {"low": np.array([9.0, -1.0, 2.0, 3.0, 4.0]), "high": np.full(5, 12.5)}
    ends |= {"least": np.array([-3.0]), "most": np.array([2.0])}
    splits = np.array([[1.0, 2.0, 0.0]])
    two = replace(c, z=c.z[:2] - [0.3, 0.0, 0.0, 0.0], reach=2 * REACH[:2], splits=splits, **ends)
    found = parts.holding(c, [one, two])
    assert found.z.shape == (2, 4) and found.reach.shape == (2, 1, 5)
    expected = [[0.7, 6.0, 0.2, 0.0, 0.2], [1.1, 4.0, 0.2, 0.0, 0.2]]
    assert found.reach[:, 0] == pytest.approx(np.array(expected))
    assert (found.reach[:, 0, 0] >= [0.7, 1.1]).all()
    assert found.low.tolist() == [0.0, -1.0, 2.0, 3.0, 4.0]
    assert found.high.tolist() == [12.5, 12.5, 12.5, 13.0, 14.0]
    assert (found.least, found.most) == (-3.0, 4.0) and found.splits.tolist() == splits.tolist()
    assert parts.holding(c, [one, one]).splits is c.splits
    assert parts.holding(tube(z=c.z[:1]), [one, two]).z.shape == (1, 4)


def test_the_size_of_all_certificates():
    c = tube()
    own = sum(a.nbytes for a in c.arrays().values())
    assert parts.Whole(None, certificates=(c, c)).size == 2 * own and parts.Whole(None).size == 0


@pytest.mark.parametrize(
    "k, many, name",
    [(0, 1, "a/b.npz"), (0, 2, "a/b-1.npz"), (8, 9, "a/b-9.npz"), (8, 10, "a/b-09.npz")],
)
def test_files_of_parts(k, many, name):
    assert parts.file_of("a/b.npz", k, many) == name


# ---- a predictive law's expressions ---------------------------------------------------------------------------------------------
def logged(*rows, excess=(0.0,)):
    states = (SimpleNamespace(name="s"), SimpleNamespace(name="p"))
    log = SimpleNamespace(
        values=np.array(rows), array=lambda name: np.array(excess), time=0.5 * np.arange(len(excess))
    )  # fmt: skip
    return SimpleNamespace(log=log, loop=SimpleNamespace(plant=SimpleNamespace(states=states)))


RUN = logged(
    [0.0, 100.0, 5.0], [2.0, 100.0, 9.0], [1.0, 100.0, 7.0]
)  # s goes 2 far, p stays; the law's own


@pytest.mark.parametrize(
    "s, p, wrong",
    [
        (0.99 * 2e-6, 0.0, ""),
        (1.01 * 2e-6, 0.0, "s is off by 1e-06"),
        (-1.01 * 2e-6, 0.0, "s is off by 1e-06"),
        (0.0, 0.99e-10, ""),
        (0.0, 1.01e-10, "p is off by 1e-06"),
        (1.0, 1.0, "s is off by 0.5"),
    ],
)
def test_the_plant_does_the_same_but_for_a_share_of_its_range(s, p, wrong):
    """1e-6 of it, or 1e-12 of the size of a state that stays. Rows that both have, states of the plant alone."""
    other = logged([0.0, 100.0, 0.0], [2.0 + s, 100.0 + p, 0.0])
    for one, two in (
        (RUN, other),
        (replace_rows(RUN, 2), logged(*other.log.values, [9.0, 9.0, 9.0])),
    ):
        if not wrong:
            expressed.check_same(one, two)
            continue
        with pytest.raises(InputError) as why:
            expressed.check_same(one, two)
        assert f"asks for: {wrong}" in why.value.message


def replace_rows(run, many):
    return SimpleNamespace(loop=run.loop, log=SimpleNamespace(values=run.log.values[:many]))


def test_the_first_instant_at_which_a_limit_is_active():
    expressed.check_free(logged(excess=(-1.0, 0.0, -2.0)), "excess")
    with pytest.raises(InputError) as why:
        expressed.check_free(logged(excess=(-1.0, 0.0, 0.25, 9.0)), "excess")
    assert why.value.message.startswith(
        "at 1 s a limit of the predictive law is active (excess 0.25)"
    )
