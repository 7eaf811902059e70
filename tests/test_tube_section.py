"""Whether a certificate is one at all: a small one by hand that is, and the ways in which numbers, shapes and programs are not."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.section import (
    MOST_FINER,
    MOST_STATES,
    Refused,
    check_shape,
    constant,
    handed_on,
    released,
)
from workbench.verification.tube.programs import program

K, STATES = 3, 4  # nodes; a place, a held command, a parameter, and what no sample reads
SECTION = np.array([0, 1, 2])

t, w, c = ca.SX.sym("t"), ca.SX.sym("w", 2), ca.SX.sym("c")
x = ca.SX.sym("x", STATES)
PLACE, HELD, FIXED, UNREAD = ca.vertsplit(x)
HANDED = (PLACE, HELD, FIXED, UNREAD)
SAMPLED = (PLACE, HELD, FIXED, PLACE)


def made(*rows):
    """A program of (t, x, w, what the prelude gives)."""
    return program(ca.Function("f", [t, x, w, c], [ca.vertcat(*rows)]))


JUMP = made(PLACE, 2 * PLACE - w[0] + FIXED, FIXED, PLACE)
TIMED = made(PLACE + t, HELD, FIXED, PLACE)
FLOW = made(HELD - PLACE + w[1], 0, 0, PLACE - UNREAD)
OUT = made(PLACE, 3 * PLACE + HELD)
parameters = ca.SX.sym("p", 2)


def tube(**other):
    n, finer = len(SECTION), np.array([1, 2, 1])
    given = {
        "prelude": program(ca.Function("g", [parameters], [parameters[0] * parameters[1]])),
        "jump": JUMP,
        "release": made(*HANDED),
        "flow": FLOW,
        "start": made(*HANDED),
        "out": OUT,
        "parameters": np.array([2.0, 3.0]),
        "states": STATES,
        "section": SECTION,
        "T": 0.01,
        "lag": 0.004,
        "substeps": np.array([1, 2]),
        "finer": finer,
        "order": 4,
        "z": np.zeros((K, n)),
        "R": np.eye(n),
        "σ": 0.5,
        "reach": np.ones((K, 2 + 3 * 2 + 1, STATES)),
        "segments": np.zeros((K, n, n + 2)),
        "balls": np.zeros((K, n, n)),
        "w": np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]),
        "slack": np.array([0.1, 0.0]),
        "after": np.array([1, 2, -1]),
        "splits": np.zeros((0, 3)),
        "paths": np.zeros((0, 0, 0, 0)),
        "x0": np.zeros(STATES),
        "half": np.full(STATES, 0.1),
        "fresh": np.array([0.1, 0.0, 0.0, 0.0]),
        "low": np.full(STATES, -np.inf),
        "high": np.full(STATES, np.inf),
        "least": np.array([-0.5, 0.0]),
        "most": np.array([0.5, 0.0]),
        "told": np.array(["y", "v"]),
        "names": np.array(list("abcd")),
    }
    return Tube(**given | other)


def refused(**other):
    """What is said of the certificate with these changes."""
    with pytest.raises(Refused) as why:
        check_shape(tube(**other))
    return str(why.value)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"after": np.array([1, 2, 0])},
        {"after": np.array([1, 2, 2])},
        {"σ": 1e-300, "half": np.zeros(STATES), "fresh": np.zeros(STATES), "slack": np.zeros(2)},
        {"reach": np.zeros((K, 9, STATES))},
        {"order": 2},
        {"order": 12},
        {"lag": 0.0, "substeps": np.array([0, 3]), "reach": np.ones((K, 8, STATES))},
        {"substeps": np.array([0, 999]), "lag": 0.0, "reach": np.ones((K, 2000, STATES))},
        {"finer": np.array([1, 1, MOST_FINER]), "reach": np.ones((K, 3003, STATES))},
        {"paths": np.zeros((K, 6, 5, STATES))},
        {"segments": np.zeros((K, 3, 3))},
        {"splits": np.array([[0.0, 1.0, 0.0], [2.0, 1.0, 3.0], [1.0, 2.0, 0.5]])},
        {"start": made(*HANDED, t)},
        {"jump": TIMED},
    ],
)
def test_certificates(change):
    check_shape(tube(**change))


@pytest.mark.parametrize(
    "name, shape",
    [
        ("section", (2,)),
        ("R", (3, 4)),
        ("reach", (K, 8, STATES)),
        ("reach", (K, 10, STATES)),
        ("reach", (K, 9, 3)),
        ("reach", (2, 9, STATES)),
        ("segments", (K, 2, 2)),
        ("segments", (2, 3, 5)),
        ("balls", (K, 3, 2)),
        ("w", (2, 2)),
        ("slack", (3,)),
        ("after", (2,)),
        ("finer", (2,)),
        ("x0", (3,)),
        ("half", (5,)),
        ("fresh", (3,)),
        ("low", (3,)),
        ("high", (5,)),
        ("substeps", (3,)),
        ("names", (3,)),
        ("least", (1,)),
        ("most", (3,)),
        ("most", (2, 1)),
        ("told", (1,)),
        ("paths", (K, 5, 5, STATES)),
        ("paths", (K, 6, 4, STATES)),
        ("paths", (K, 6, 5, 3)),
        ("paths", (2, 6, 5, STATES)),
    ],
)
def test_arrays_of_another_shape(name, shape):
    whole = name in ("section", "after", "finer", "substeps")
    value = np.full(shape, 2 if name == "finer" else 1, int if whole else float)
    assert refused(**{name: value}).startswith(name)


NUMBERS = (
    "z",
    "R",
    "reach",
    "segments",
    "balls",
    "w",
    "slack",
    "parameters",
    "x0",
    "half",
    "fresh",
)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", [*NUMBERS, "paths", "σ"])
def test_what_is_no_number(name, bad):
    known = (
        np.zeros((K, 6, 5, STATES)) if name == "paths" else np.array(getattr(tube(), name), float)
    )
    known[(-1,) * known.ndim] = bad
    assert refused(**{name: known if known.ndim else float(known)}) == f"{name}: not a number"


@pytest.mark.parametrize(
    "change, said",
    [
        ({"after": np.array([1, 2, 3])}, "after: a transition"),
        ({"after": np.array([1, 2, -2])}, "after: a transition"),
        ({"after": np.array([1.0, 2.0, -1.0])}, "after: a transition"),
        ({"after": np.array([2, 2, -1])}, "after: a node that is not the last"),
        ({"after": np.array([1, 1, -1])}, "after: a node that is not the last"),
        ({"section": np.array([0, 1, 1])}, "section: not places"),
        ({"section": np.array([0, 1, 4])}, "section: not places"),
        ({"section": np.array([0, 1, -1])}, "section: not places"),
        ({"names": np.array([*tube().names[:-1], tube().names[0]])}, "names, told: two of them"),
        ({"told": np.array([tube().names[0], *tube().told[1:]])}, "names, told: two of them"),
        ({"reach": np.full((K, 9, STATES), -1e-300)}, "reach, σ"),
        ({"σ": 0.0}, "reach, σ"),
        ({"half": np.array([0, 0, 0, -1e-300])}, "half, slack, fresh"),
        ({"slack": np.array([-1e-300, 0.0])}, "half, slack, fresh"),
        ({"fresh": np.array([0, 0, -1e-300, 0])}, "half, slack, fresh"),
        ({"T": 0.0, "lag": 0.0, "reach": np.ones((K, 8, STATES))}, "T, lag, order"),
        ({"lag": 0.01}, "T, lag, order"),
        ({"lag": -1e-9, "reach": np.ones((K, 8, STATES))}, "T, lag, order"),
        ({"order": 1}, "T, lag, order"),
        ({"order": 13}, "T, lag, order"),
        ({"substeps": np.array([0, 3])}, "substeps: expected at least one"),
        ({"substeps": np.array([3, 0])}, "substeps: expected at least one"),
        ({"substeps": np.array([1, 1000]), "reach": np.ones((K, 2005, STATES))}, "substeps: expected"),
        ({"lag": 0.0, "reach": np.ones((K, 8, STATES))}, "substeps: there is no release"),
        ({"finer": np.array([1, 0, 2])}, "finer: expected"),
        ({"finer": np.array([1, 1, 1001]), "reach": np.ones((K, 3006, STATES))}, "finer: expected"),
    ],
)  # fmt: skip
def test_numbers_out_of_range(change, said):
    assert refused(**change).startswith(said)


def test_a_certificate_has_nodes_and_states_and_not_too_many():
    assert "no node" in refused(z=np.zeros(3), **no_nodes())
    assert "no node" in refused(z=np.zeros((0, 3)), **no_nodes(3))
    many = MOST_STATES + 1
    wide = {name: np.zeros(many) for name in ("x0", "half", "fresh", "low", "high")}
    wide |= {"names": np.zeros(many, str), "reach": np.ones((K, 9, many)), "states": many}
    assert refused(**wide).startswith(f"states: {many}")
    assert refused(**few(MOST_STATES)).startswith("jump")
    assert "no state" in refused(**few(2))


def few(states):
    """That many states, of which three are read."""
    found = {name: np.zeros(states) for name in ("x0", "half", "fresh", "low", "high")}
    return found | {
        "names": np.zeros(states, str),
        "reach": np.ones((K, 9, states)),
        "states": states,
    }


def no_nodes(n=0):
    found = {"after": np.zeros(0, int), "finer": np.zeros(0, int), "section": np.arange(n)}
    found |= {"R": np.eye(n), "w": np.zeros((0, 2)), "balls": np.zeros((0, n, n))}
    return found | {"segments": np.zeros((0, n, n)), "reach": np.zeros((0, 6, STATES))}


# ---- what programs read -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["jump", "release", "flow", "start"])
def test_programs_of_all_states_over_all_inputs(name):
    short = made(*HANDED[:3])
    assert refused(**{name: short}).startswith(f"{name}: 8 inputs")
    y = ca.SX.sym("y", 9)
    wide = program(ca.Function("f", [y], [y[1:5]]))
    assert refused(**{name: wide}).startswith(f"{name}: 9 inputs, expected 8")


def test_outputs_and_preludes_over_their_own_inputs():
    y = ca.SX.sym("y", 9)
    wide = program(ca.Function("f", [y], [y[1:3]]))
    assert refused(out=wide) == "out: 9 inputs, expected 8"
    assert refused(parameters=np.ones(3)).startswith("prelude")


LAPS = {"after": np.array([1, 2, 0])}


@pytest.mark.parametrize(
    "change, said",
    [
        ({"fresh": np.array([0, 0, 0, 0.1])}, "fresh: of a state that no sample reads"),
        ({"jump": made(PLACE, UNREAD, FIXED, UNREAD)}, "section: a sample reads"),
        ({"out": made(PLACE, HELD + UNREAD)}, "out: it reads a state"),
        ({"jump": TIMED} | LAPS, "a loop that knows the time"),
        ({"release": TIMED} | LAPS, "a loop that knows the time"),
        ({"out": made(PLACE, PLACE + t)} | LAPS, "a loop that knows the time"),
        ({"flow": made(HELD + t, 0, 0, PLACE)}, "flow: it depends on the time"),
        ({"flow": made(HELD + w[0], 0, 0, PLACE)}, "flow: what disturbs it changes"),
        ({"slack": np.array([0.0, 0.1])}, "flow: what disturbs it changes"),
        ({"w": np.array([[1, 7], [2, 7], [3, 7.1]])}, "flow: what disturbs it changes"),
    ],
)  # fmt: skip
def test_what_must_not_be_read(change, said):
    """What a program gives beyond its states may read anything."""
    assert refused(**change).startswith(said)


def test_what_may_be_read():
    check_shape(tube(out=made(PLACE + t, PLACE)))
    check_shape(tube(out=made(HELD, PLACE), **LAPS))
    check_shape(tube(release=TIMED, out=made(PLACE, PLACE + t)))
    check_shape(
        tube(
            flow=made(HELD + UNREAD, 0, 0, PLACE),
            slack=np.array([0.1, 0.2]),
            w=np.arange(6.0).reshape(3, 2),
        )
    )
    check_shape(tube(jump=made(*SAMPLED, UNREAD, t), flow=made(HELD, 0, 0, PLACE, t, w[0]), **LAPS))


# ---- splits ---------------------------------------------------------------------------------------------------------------------
CHANGED = made(PLACE, PLACE, FIXED, UNREAD)


@pytest.mark.parametrize(
    "splits, said",
    [
        ([1.0, 1.0, 0.0], "splits: expected node"),
        ([[1.0, 1.0]], "splits: expected node"),
        ([[1.0, 1.0, 0.0, 0.0]], "splits: expected node"),
        ([[1.0, 4.0, 0.0]], "splits: expected node"),
        ([[1.0, -1.0, 0.0]], "splits: expected node"),
        ([[3.0, 1.0, 0.0]], "splits: a state that is not held"),
        ([[-1.0, 1.0, 0.0]], "splits: a state that is not held"),
        ([[1.0, 0.0, 0.0]], "splits: a state that is not held"),
        ([[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]], "splits: a state that is not held"),
    ],
)
def test_splits_of_what_is_not_held(splits, said):
    assert refused(splits=np.array(splits)).startswith(said)


def test_a_state_that_changes_at_the_release_is_not_held():
    split = np.array([[1.0, 1.0, 0.0]])
    assert refused(splits=split, release=CHANGED).startswith("splits: a state that is not held")
    at_once = {"lag": 0.0, "substeps": np.array([0, 3]), "reach": np.ones((K, 8, STATES))}
    check_shape(tube(splits=split, release=CHANGED, **at_once))


def test_states_that_are_handed_on_released_and_constant():
    assert handed_on(JUMP, STATES).tolist() == [True, False, True, False]
    assert handed_on(made(HELD, PLACE, FIXED + 0 * t, 0), STATES).tolist() == [
        False,
        False,
        True,
        False,
    ]
    c = tube(release=CHANGED)
    assert released(c).tolist() == [False, True, False, False]
    assert not released(replace(c, lag=0.0)).any()
    assert constant(tube()).tolist() == [False, False, True, False]
    assert constant(tube(jump=made(*HANDED))).tolist() == [False, True, True, False]
    assert constant(tube(jump=made(*HANDED), release=CHANGED)).tolist() == [
        False,
        False,
        True,
        False,
    ]


# ---- what is told of a sample -------------------------------------------------------------------------------------------
def test_what_is_told_is_bounded_over_the_reaches_of_the_states_it_reads():
    """y = 3 x_d + w_0 and x_a² over states (a, c, d): each within its own reach, references within their slack."""
    from workbench.verification.tube.checker.judge import measured

    section = np.array([0, 2, 3])
    reach = np.zeros((K, 9, STATES))
    reach[:, 0] = [[0.5, 70.0, 80.0, 0.1], [0.5, 70.0, 80.0, 0.2], [2.0, 70.0, 80.0, 0.3]]
    told = tube(
        section=section,
        z=np.array([[1.0, 9.0, 10.0], [2.0, 9.0, 20.0], [-1.0, 9.0, 30.0]]),
        reach=reach,
        slack=np.array([0.25, 0.0]),
        out=made(3 * UNREAD + w[0], PLACE**2),
    )
    low, high = measured(told)
    own = 3 * np.array([10.0, 20.0, 30.0]) + np.array([1.0, 2.0, 3.0])
    off = 3 * np.array([0.1, 0.2, 0.3]) + 0.25
    assert low[:, 0] == pytest.approx(own - off) and high[:, 0] == pytest.approx(own + off)
    assert (low[:, 0] <= own - off).all() and (high[:, 0] >= own + off).all()
    assert high[:, 1] == pytest.approx([2.25, 6.25, 9.0]) and (low[:, 1] <= [0.25, 2.25, 0]).all()
