"""Where a loop is linearised along a run: at rest, in motion, on the way and beside a called law, with matrices written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import Signal
from workbench.verification.linear import frozen_time as module
from workbench.verification.linear.frozen_time import SPEED, HostedPoints, TracedPoints
from workbench.verification.linear.local_claim import STILL
from workbench.verification.linear.modes import Mode, Place

PLANT = SimpleNamespace(
    states=(Signal("s", "m"), Signal("v", "m/s")),
    inputs=(Signal("u", "V"), Signal("F", "N")),
    outputs=(Signal("y", "m"),),
    defaults=lambda: {"F": 7.0, "u": -1.0},
    rhs=lambda t, x, u: [x[1] * t, u[0] + u[1] - 7.0],
)


class Log(dict):
    array = dict.__getitem__
    time = np.array([1.0, 2.0, 4.0])


def bare(kind, **given):
    """Points of a run of which only this is there."""
    own = object.__new__(kind)
    for name, value in given.items():
        object.__setattr__(own, name, value)
    return own


# ---- beside a law that is called from Python ------------------------------------------------------
def hosted(monkeypatch, law, u=(0.0, 3.0, 0.0)):
    """Points of a run whose plant moves as PLANT says; the loop's matrix is 3 ones, by differences 1 and 2 of them."""
    controller = SimpleNamespace(commands=(Signal("u", "V"),), inner=None)
    monkeypatch.setattr(module, "innermost", lambda controller: law)
    asked = []
    monkeypatch.setattr(
        module, "closed", lambda loop, at: asked.append(at) or (np.full((3, 3), 3.0),)
    )
    own = bare(
        HostedPoints,
        loop=SimpleNamespace(plant=PLANT, controller=controller),
        log=Log(u=np.array(u)),
        x=np.array([[1.0, 0.0, 9.0], [5.0, 0.0, 9.0], [5.0, 2.0, 9.0]]),
        run=None,
        place=lambda k, where, rests, M, states: Place(
            k, where, rests, (Mode(complex(M[0, 0]), 1e-9, states, where, 0.0),)
        ),
    )
    both = lambda at, k, again: asked.append(at) or (np.ones((3, 3)), np.full((3, 3), 1.5))
    monkeypatch.setattr(module, "asked_of", lambda run: SimpleNamespace(closed=both))
    return own, asked


@pytest.mark.parametrize("row, rests, u", [(0, True, 0.0), (1, False, 3.0), (2, False, 0.0)])
def test_the_plant_beside_a_law_that_says_what_it_does(monkeypatch, row, rests, u):
    """At rest where no state of the plant moves under what is commanded there; other inputs are at their defaults."""
    own, asked = hosted(monkeypatch, SimpleNamespace())
    (place,) = own.near(row, "there")
    (at,) = asked
    assert at.x == own.x[row, :2].tolist() and at.u == [u, 7.0] and at.words == "there"
    assert place.rests is rests and place.modes[0].s == 3.0
    assert place.modes[0].states == ("s", "v", "the law's memory")


@pytest.mark.parametrize("push, rests", [(0.9, True), (1.1, False)])
def test_the_plant_rests_where_nothing_moves_but_by_rounding(monkeypatch, push, rests):
    own, _ = hosted(monkeypatch, SimpleNamespace(), u=(push * STILL, 0.0, 0.0))
    (place,) = own.near(0, "there")
    assert place.rests is rests
    assert own.resting("x") == []
    own.x[2, 1] = 0.0
    (found,) = own.resting("held")
    assert found.t == 2 and found.where == "held"


def test_a_law_that_says_nothing_is_asked_by_differences(monkeypatch):
    """How far both differ is the doubt of a mode, twice."""
    law = Plain(lambda t, y, r: [0.0], ("y",), ("u",), ())
    own, _ = hosted(monkeypatch, law)
    (place,) = own.near(1, "there")
    (mode,) = place.modes
    assert mode.s == 1.0 and (mode.bound, mode.rounding) == (1.0, 1.0)


def test_a_called_loop_is_looked_at_where_it_begins_in_the_middle_and_at_its_end():
    told = []
    own = bare(HostedPoints, log=Log(), near=lambda k, where: told.append((k, where)))
    for look in own.looks():
        look()
    assert told == [(0, "at the start"), (1, "on the way, t = 2 s"), (2, "at the end")]


# ---- set in motion ----------------------------------------------------------------------------------
class Matrices:
    """A loop of a position, a speed and a bristle, a spool, and a command that is held; ż = 4 − 2 z."""

    c = None

    def __init__(self):
        self.asked = []
        flow = lambda t, x, w, c: np.array([x[1], 0.0, 4.0 - 2.0 * x[2], 0.0, 0.0])
        self.traced = SimpleNamespace(flow=flow, flow_is_timed=False)

    def slope(self, name, t, x, w):
        return np.diag([0.0, 0.0, -2.0, 0.0, 0.0])

    def value(self, name, t, x, w):
        self.asked.append((name, x.copy(), w.copy()))
        if name == "out":
            return [10.0 + x[0], 20.0]
        return x + np.array([0, 0, 0, 0, 1.0]) if name == "jump" else [0.75]

    def over_sample(self, t, x, there, w, later):
        self.last = t, x.copy(), there.copy(), w.copy(), later.copy()
        return "M"


def in_motion(period):
    states = [
        SimpleNamespace(name=name, bristle=name == "z")
        for name in ("s", "v", "z", "u_s_1", "u_held")
    ]
    plant = SimpleNamespace(outputs=(Signal("y", "m"), Signal("p", "Pa")))
    loop = SimpleNamespace(
        plant=plant, states=states, period=period, monitors=(Signal("u_1", "V"),)
    )
    own = bare(
        TracedPoints,
        loop=loop,
        matrices=Matrices(),
        log=Log(),
        x=np.array([[0.0] * 5, [2.0, 0.0, 5.0, 6.0, 0.5], [0.0] * 5]),
        w=lambda k: np.array([1.0, 2.0, 3.0, 4.0]),
        speeds=[1],
        state=["s", "v", "z", "u_s_1", "u_held"],
        demand=SimpleNamespace(live=("y_d", "dy_d", "p", "x_d")),
        commons="commons",
        place=lambda *given: given,
    )
    ((k, where, rests, M, state, commons),) = own.moving(1)
    assert (k, rests, M, state, commons) == (1, False, "M", own.state, "commons")
    assert where == f"in motion at t = 2 s, every speed {SPEED:g}"
    return own.matrices


@pytest.mark.parametrize("period, held", [(None, 0.5), (1e-3, 1.5)])
def test_a_loop_is_set_in_motion(period, held):
    """Every speed SPEED; bristles where they bend no more; what is wanted of an output is what it is; spools where they
    are asked to be; a sampled law has just taken its sample."""
    loop = in_motion(period)
    t, x, there, w, later = loop.last
    assert t == 0.0 and x == pytest.approx([2.0, SPEED, 2.0, 0.75, held])
    assert there.tolist() == x.tolist() and w.tolist() == later.tolist() == [12.0, 2.0, 3.0, 4.0]
    assert [name for name, *_ in loop.asked] == (
        ["out", "log"] if period is None else ["out", "jump", "log"]
    )


# ---- at rest ----------------------------------------------------------------------------------------
def at_rest(monkeypatch, residuals, finite=True):
    found = [
        SimpleNamespace(
            A=np.array([[1.0 if finite else np.nan]]), states=("s",), residual=r, sides=sides
        )
        for r, sides in zip(residuals, ((1,), (-1,), ()))
    ]
    asked = []
    given = lambda loop, scenario, x, alike: asked.append((x.tolist(), alike)) or found
    monkeypatch.setattr(module, "standing", given)
    own = bare(
        TracedPoints,
        matrices=SimpleNamespace(traced=SimpleNamespace(flow_is_timed=False)),
        loop=None,
        scenario=None,
        x=np.array([[1.0], [2.0]]),
        place=lambda k, where, rests, A, states: (k, where, rests),
    )
    return own.still(1, "at the end"), asked


@pytest.mark.parametrize("least, rests", [(0.9, True), (1.0, True), (1.1, False)])
def test_a_state_is_an_equilibrium_where_one_side_of_its_valves_is(monkeypatch, least, rests):
    found, asked = at_rest(monkeypatch, [9.0, least * STILL, 5.0])
    sides = [", valves to +", ", valves to −", ""]
    assert found == ([(1, f"at the end{s}", True) for s in sides] if rests else [])
    assert asked == [([2.0], True)]
    assert at_rest(monkeypatch, [0.0] * 3, finite=False)[0] == []
    assert at_rest(monkeypatch, [])[0] == []


@pytest.mark.parametrize(
    "still, rate, found",
    [
        (["equilibrium"], 9.0, ["equilibrium"]),
        ([], 0.9, ["visited 2 held"]),
        ([], -1.1, []),
        ([], 1.0, ["visited 2 held"]),
    ],
)
def test_a_run_that_rests_at_its_end_though_its_reference_is_elsewhere(still, rate, found):
    """Rates of the states are compared by their sizes; what comes behind them is not."""
    rates = lambda name, t, x, w: np.array([0.0, rate * STILL * 100.0, 9e9])
    own = bare(
        TracedPoints,
        prepare=lambda: None,
        log=Log(),
        still=lambda k, where: still,
        matrices=SimpleNamespace(value=rates),
        x=np.zeros((3, 2)),
        w=lambda k: None,
        S=np.array([1.0, 100.0]),
        visited=lambda k, where: f"visited {k} {where}",
    )
    assert own.resting("held") == found


def test_growth_on_the_way_counts_where_it_lasts():
    modes = tuple(Mode(s, 0.1, (), "", 0.0) for s in (2.0 + 0j, 0.5 + 0j, -1.0 + 0j))
    place = Place(1.0, "on the way", False, modes)
    asked = []
    own = bare(
        TracedPoints,
        matrices=SimpleNamespace(traced=SimpleNamespace(flow_is_timed=False)),
        visited=lambda k: place,
        lasts=lambda k, growth: asked.append((k, growth)) or False,
    )
    (found,) = own.frozen(3)
    assert asked == [(3, place.fastest.s.real)] and all(not m.grows for m in found.modes)
    object.__setattr__(own, "lasts", lambda k, growth: True)
    assert own.frozen(3) == [place]


def test_slopes_that_depend_on_time_are_refused():
    jac = SimpleNamespace(jac_sparsity=lambda i, j: SimpleNamespace(nnz=lambda: 1))
    matrices = SimpleNamespace(traced=SimpleNamespace(flow_is_timed=True), jac={"flow": jac})
    with pytest.raises(InputError, match="changes with time itself"):
        module.refuse_timed(matrices)
    matrices.traced.flow_is_timed = False
    module.refuse_timed(matrices)
    matrices.traced.flow_is_timed = True
    matrices.jac["flow"] = SimpleNamespace(
        jac_sparsity=lambda i, j: SimpleNamespace(nnz=lambda: i + j)
    )
    module.refuse_timed(matrices)
