"""How a search goes about a loop: how fast it is, which steps it takes, which edges it looks at, and what it says in the end."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from linear_tube import (
    FINER,
    FLOW,
    course,
    flowing,
    tube,
)

from workbench.verification.tube import paths, search
from workbench.verification.tube.checker.frame import FAST
from workbench.verification.tube.programs import program
from workbench.verification.tube.rounds import Result


@dataclass(frozen=True)
class Question:
    tube: Any
    scale: Any = 1.0


# ---- how fast a loop is --------------------------------------------------------------------------------------------------------
def test_the_fastest_mode_of_the_flow():
    """λ² + 3λ + 40 = 0: |λ| = √40; of a curved flow where the run comes by, just after the sample."""
    assert paths.fastest(tube()) == pytest.approx(np.sqrt(40.0))
    x, t, w = ca.SX.sym("x", 5), ca.SX.sym("t"), ca.SX.sym("w", 2)
    curved = program(
        ca.Function("f", [t, x, w], [ca.vertcat(-(x[0] ** 2) / 2, -3 * x[1], 0, 0, 0)]), 5
    )
    z = np.zeros((3, 4))
    z[:, 0] = 2.0, 7.0, 5.0
    assert paths.fastest(tube(flow=curved, z=z)) == pytest.approx(7.0)
    commanded = program(ca.Function("f", [t, x, w], [ca.vertcat(-x[0] * x[3], 0, 0, 0, 0)]), 5)
    z = np.zeros((3, 4))  # the command is of the sample: w = 3, −1, 2
    assert paths.fastest(tube(flow=commanded, z=z)) == pytest.approx(3.0)


@pytest.mark.parametrize("many", [paths.LOOKED, paths.LOOKED + 41])
def test_fast_modes_are_looked_for_from_the_first_node_to_the_last(monkeypatch, many):
    asked = []
    monkeypatch.setattr(
        paths,
        "Path",
        lambda c, nodes: asked.extend(nodes) or SimpleNamespace(slope=lambda x: -np.eye(2)[None]),
    )
    monkeypatch.setattr(paths, "starts", lambda path: None)
    assert paths.fastest(SimpleNamespace(z=np.zeros((many, 2)))) == 1.0
    assert (asked[0], asked[-1], len(asked)) == (0, many - 1, paths.LOOKED)


def test_states_just_after_samples():
    c = tube()
    own = paths.starts(paths.Path(c, np.array([0, 2])))
    for r, k in enumerate((0, 2)):
        assert own[r] == pytest.approx(course(k, c.z[k])[1][0], rel=1e-12)


# ---- polynomials ---------------------------------------------------------------------------------------------------------------
def test_polynomials_follow_a_slow_flow_exactly():
    """Of a flow without fast modes the first coefficients are those of the exponential; the state goes on to its end."""
    c = tube()
    path = paths.Path(c, np.array([1]))
    x = paths.starts(path)
    C, end = path.step(x, 0.01)
    f = FLOW @ x[0] + 0.7 * np.eye(5)[1]
    assert C.shape == (1, c.order + 1, 5)
    assert C[0, 0] == pytest.approx(x[0]) and C[0, 1] == pytest.approx(f)
    assert C[0, 2] == pytest.approx(FLOW @ f / 2) and C[0, 3] == pytest.approx(FLOW @ FLOW @ f / 6)
    assert end[0] == pytest.approx(flowing(x[0], 0.01)[0], rel=1e-12)


def test_polynomials_of_every_step_of_a_sample():
    """One before the release and two after it, twice as many of the finer node; each begins where the last one ended."""
    c = tube()
    for k in (0, 1, 2):
        each = paths.polynomials(c, np.array([k]), int(FINER[k]))
        own = [x for s, (x, _) in enumerate(course(k, c.z[k])) if s > 0]
        del own[FINER[k]]  # before the release
        assert len(each) == 3 * FINER[k]
        for C, x in zip(each, own):
            assert C[0, 0] == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("speed, paths_", [(FAST, False), (np.nextafter(FAST, 2), True)])
def test_polynomials_are_taken_where_a_mode_is_too_fast_for_a_step(monkeypatch, speed, paths_):
    monkeypatch.setattr(paths, "fastest", lambda c: speed)
    monkeypatch.setattr(paths, "longest", lambda c: 1.0)
    c = tube()
    found = paths.pathed(c)
    if not paths_:
        assert found is c
        return
    assert found.paths.shape == (3, 6, 9, 5)
    assert found.paths[0, 0, 0] == pytest.approx(course(0, c.z[0])[1][0])
    assert not found.paths[0, 3:].any() and found.paths[1, 5].any() and not found.paths[2, 3:].any()


# ---- kinks of the flow -----------------------------------------------------------------------------------------------------------
def kinked(*rates):
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", 5), ca.SX.sym("w", 2)
    return program(
        ca.Function("f", [t, x, w], [ca.vertcat(*(f(*ca.vertsplit(x)) for f in rates))]), 5
    )


def still(*x):
    return ca.SX(0.0)


def test_on_which_side_of_every_kink_a_state_is():
    flow = kinked(
        lambda q, r, u, v, ϑ: ca.fmax(q, r) + ca.fabs(u) + ca.fmin(v, 2.0),
        still,
        still,
        still,
        still,
    )
    path = paths.Path(tube(flow=flow), np.array([0, 1]))
    x = np.array([[1.0, 0.0, -1.0, 3.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.0]])
    sides = sorted(side.tolist() for side in path.sides(x))
    assert sides == [[False, True], [True, False], [True, False]]
    smooth = paths.Path(tube(), np.array([0, 1]))
    assert smooth.sides(x) == []


@pytest.mark.parametrize(
    "rate, turns",
    [
        (lambda q, r, u, v, ϑ: ca.fabs(u) - q, "uv"),  # v is u after the release
        (lambda q, r, u, v, ϑ: ca.fabs(v) - q, "v"),
        (lambda q, r, u, v, ϑ: ca.fmax(ϑ, 0.0) - q, "ϑ"),
        (lambda q, r, u, v, ϑ: ca.fabs(q) + u * v, ""),  # what moves is no held command
        (lambda q, r, u, v, ϑ: ca.fabs(u + 90.0), ""),
    ],
)
def test_held_commands_that_turn_a_kink_of_the_flow(rate, turns):
    c = tube(flow=kinked(rate, lambda q, *x: -q, still, still, still))
    assert "".join(np.array(list("qruvϑ"))[paths.turning(c)]) == turns


# ---- which steps are taken -------------------------------------------------------------------------------------------------------
HOLDS, FAILS = Result(None, None, None), Result(None, None, 2)


@pytest.mark.parametrize(
    "speed, first, asked",
    [
        (FAST / 2, HOLDS, ["plain"]),
        (FAST, FAILS, ["plain"]),
        (1.01 * FAST, HOLDS, ["plain"]),
        (1.01 * FAST, FAILS, ["plain", "paths"]),
        (search.HOPELESS, FAILS, ["plain", "paths"]),
        (search.HOPELESS, HOLDS, ["plain"]),
        (1.01 * search.HOPELESS, HOLDS, ["paths"]),
    ],
)
def test_steps_without_polynomials_are_tried_first_where_there_is_hope(
    monkeypatch, speed, first, asked
):
    """Polynomials follow where a mode is fast and there is no tube without; from |λ|h = 10 on nothing else is tried."""
    seen = []

    def at_edges(question, progress, stepped):
        seen.append("paths" if stepped is search.pathed else "plain")
        assert question == (("closed", "q") if stepped is search.as_it_is else ("prepared", "q"))
        return first if stepped is search.as_it_is else "found with polynomials"

    monkeypatch.setattr(search, "fastest", lambda c: speed / 0.5)
    monkeypatch.setattr(search, "longest", lambda c: 0.5)
    monkeypatch.setattr(search, "closed", lambda question: ("closed", "q"))
    monkeypatch.setattr(search, "prepared", lambda question, stepped: ("prepared", "q"))
    monkeypatch.setattr(search, "at_edges", at_edges)
    found = search.searched(SimpleNamespace(tube=None), None)
    assert seen == asked and found == (first if asked[-1] == "plain" else "found with polynomials")


def test_nodes_are_closed_with_the_steps_that_are_taken(monkeypatch):
    log = []
    monkeypatch.setattr(
        search, "closed", lambda q: log.append("closed") or replace(q, scale=q.scale + 1)
    )
    found = search.prepared(Question("c", 0), lambda c: log.append(c) or c + "'")
    assert log == ["c", "closed", "c'"] and found == Question("c''", 1)


@pytest.mark.parametrize(
    "weighs, rough, first, fine_known, asked",
    [
        (False, (0, 0, 1), HOLDS, True, ["coarse"]),
        (False, (0, 0, 0), FAILS, True, ["coarse"]),
        (False, (0, 0, 1), FAILS, True, ["coarse", "fine"]),  # it fails at node 2, which is rough
        (False, (1, 0, 0), FAILS, True, ["coarse", "fine"]),
        (True, (0, 1, 0), HOLDS, True, ["fine"]),
        (True, (0, 1, 0), HOLDS, False, ["coarse"]),  # finer steps enclose nothing
    ],
)
def test_finer_steps_where_edges_weigh_or_there_is_no_tube_without(
    monkeypatch, weighs, rough, first, fine_known, asked
):
    seen = []
    rough = np.array(rough, bool)
    error = lambda known: SimpleNamespace(error=np.array([1.0, 1.0 if known else np.inf]))

    def samples(c, nodes, course):
        assert course == {}
        return error(fine_known or (c.finer == 1).all())

    def tried(question, seen_, course, progress):
        fine = (question.tube.finer != 1).any()
        seen.append("fine" if fine else "coarse")
        if fine:
            assert question.tube.finer.tolist() == [search.FINER if r else 1 for r in rough]
        return first

    monkeypatch.setattr(search, "tiny", lambda question: question.tube)
    monkeypatch.setattr(search, "samples", samples)
    monkeypatch.setattr(search, "roughly", lambda question, seen: rough)
    monkeypatch.setattr(search, "weighs", lambda question, seen, rough: weighs)
    monkeypatch.setattr(search, "tried", tried)
    monkeypatch.setattr(search, "prepared", lambda question, stepped: question)
    steps = []
    c = tube(finer=np.ones(3, int))
    search.at_edges(Question(c), SimpleNamespace(step=lambda: steps.append(1)), search.as_it_is)
    assert seen == asked and steps == [1]


def test_a_tube_that_fails_before_anything_is_rough_is_not_tried_finer(monkeypatch):
    monkeypatch.setattr(search, "tiny", lambda question: question.tube)
    monkeypatch.setattr(search, "samples", lambda c, nodes, course: None)
    monkeypatch.setattr(search, "roughly", lambda question, seen: np.array([False, False, True]))
    monkeypatch.setattr(search, "weighs", lambda question, seen, rough: False)
    early = Result(None, None, 1)
    monkeypatch.setattr(search, "tried", lambda *given: early)
    bar = SimpleNamespace(step=lambda: None)
    assert search.at_edges(Question(tube()), bar, search.as_it_is) is early


# ---- what is said --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "substeps, more", [(99, "; substeps above 99 may help"), (100, ""), (101, "")]
)
def test_more_substeps_are_offered_where_there_can_be_more(substeps, more):
    c = SimpleNamespace(substeps=np.array([7, substeps]))
    text = (
        "no bounded derivative on the run itself: it crosses an edge, or changes much within a step"
    )
    assert search.unbounded(c) == text + more


def test_a_lap_is_closed_by_what_its_samples_miss():
    """δ = M₂(M₁δ + a) + b; a matrix that is not finite tells nothing, nor does what is missed."""
    first, second = np.array([[0.5, 0.2], [0.0, 0.3]]), np.array([[0.1, -0.4], [0.7, 0.2]])
    a, b = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    δ = search.repeated([(first, a), (second, b)])
    assert δ == pytest.approx(second @ (first @ δ + a) + b)
    for steps in ([(np.full((2, 2), np.inf), a)], [(first, np.array([np.nan, 0.0]))]):
        with np.errstate(all="ignore"):
            assert np.isnan(search.repeated(steps)).all()
