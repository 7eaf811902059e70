"""What a tube is asked of: how runs end, what repeats, which outputs follow what, and what is refused, by hand."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.tube import posed as module
from workbench.verification.tube.measures import followed
from workbench.verification.tube.posed import (
    SAME,
    before,
    check,
    check_disturbances,
    ending,
    repeats,
    scales,
)


def signals(*names, unit="m", kind=""):
    return [SimpleNamespace(name=n, unit=unit, kind=kind) for n in names]


# ---- how a run ends -------------------------------------------------------------------------------------------------------
T = np.arange(40) * 0.01


def references(*columns):
    return np.column_stack([np.broadcast_to(c, 40) for c in columns]).astype(float)


@pytest.mark.parametrize("until, rest", [(0, True), (34, True), (35, False), (39, False)])
def test_a_run_ends_at_rest_where_its_last_tenth_stands(until, rest):
    """The last reference that is another one than at the end is at `until`."""
    w = references(2.0, np.where(np.arange(40) <= until, -1.0 - np.arange(40), 5.0))
    how, nodes, after, slack = ending(w, None, T)
    assert (how == "rest") is rest and nodes.tolist() == list(range(40))
    assert after[:-1].tolist() == list(range(1, 40)) and after[-1] == (39 if rest else -1)
    assert slack.tolist() == [0.0, 0.0] and (how == "horizon") is not rest


def test_without_references_a_run_rests():
    how, _, after, slack = ending(np.zeros((40, 0)), None, T)
    assert how == "rest" and after[-1] == 39 and slack.size == 0
    assert ending(references(3.0), None, T)[0] == "rest"


def test_references_that_repeat_lead_back_by_a_period():
    """Of 8 samples, the sizes 2 and 3; within half of SAME of their size, over two periods at least."""
    swing = np.sin(2 * np.pi * np.arange(40) / 8)
    w = references(2 * swing, 3 * np.roll(swing, 2))
    how, _, after, slack = ending(w, None, T)
    assert (how, after[-1]) == ("period", 32) and slack == pytest.approx(
        SAME * np.array([2.0, 3.0])
    )
    size = np.abs(w).max(axis=0)
    late = np.where(np.arange(40) < 10, 9.0, 0.0)
    assert repeats(w + late[:, None], size) == 8, "the first quarter may be another one"
    for off, period in ((0.49, 8), (0.51, 0)):
        other = w.copy()
        other[30, 1] += off * SAME * 3.0
        assert repeats(other, size) == period
    long = references(np.sin(2 * np.pi * np.arange(40) / 16))
    assert repeats(long, np.ones(1)) == 0, "no two periods in three quarters of it"
    assert repeats(references(np.sin(2 * np.pi * np.arange(40) / 15)), np.ones(1)) == 15
    assert repeats(references(np.arange(40) % 2), np.ones(1)) == 2


# ---- states, outputs, units ---------------------------------------------------------------------------------------------------
def test_states_before_a_sample():
    """What flows is as logged, what only jumps as it was a sample before; the first row is what it starts with."""
    x = ca.SX.sym("x", 3)
    traced = SimpleNamespace(
        flow=ca.Function("f", [x], [ca.vertcat(-x[0], 0, x[1] * 0 + x[2])]), n_states=3
    )
    X = np.arange(12.0).reshape(4, 3)
    found = before(X, np.array([-1.0, -2.0, -3.0]), traced)
    assert found.tolist() == [[-1, -2, -3], [3, 1, 5], [6, 4, 8], [9, 7, 11]]
    assert X[0, 0] == 0.0


def test_scales_of_states():
    Z = np.array([[1.0, -5.0, 0.0], [4.0, -5.0, 0.0], [2.0, -5.0, 0.0]])
    assert scales(Z).tolist() == [3.0, 5.0, 1e-9]


def test_outputs_that_follow_a_reference():
    """y and z, not w, which nothing is wanted of, nor dy, the rate of y."""
    loop = SimpleNamespace(outputs=signals("w", "y", "dy", "z"))
    assert followed(loop, ("z_d", "x_d", "dy_d", "y_d")) == ["y", "z"]
    assert followed(loop, ()) == []


@pytest.mark.parametrize(
    "drives, w, fine", [(1, [1.0, 1.0], True), (0, [1.0, 2.0], True), (1, [1.0, 2.0], False)]
)
def test_what_disturbs_the_flow_is_constant(drives, w, fine):
    given = np.array([[False, False], [False, bool(drives)]]), np.column_stack([w, [3.0, 3.0]])
    if fine:
        check_disturbances(*given)
    else:
        with pytest.raises(InputError, match="changes along the run"):
            check_disturbances(*given)


# ---- what is refused ------------------------------------------------------------------------------------------------------------
def asked(monkeypatch, time=T, completed=True, kind="reference", project=None, **other):
    plant = {"on_floats": False, "dead_ends": {}}
    plant |= {k: other.pop(k) for k in tuple(other) if k in plant}
    given = {
        "hosted": False,
        "no_derivative": "",
        "period": 0.01,
        "inputs": signals("r", kind=kind),
    }
    loop = SimpleNamespace(plant=SimpleNamespace(**plant), **given | other)
    status = SimpleNamespace(completed=completed, message="gone")
    run = SimpleNamespace(
        log=SimpleNamespace(time=np.asarray(time), status=status),
        demand=SimpleNamespace(live=("r", "n")),
    )
    monkeypatch.setattr(module, "trace", lambda loop, live: SimpleNamespace(project=project))
    try:
        check(loop, run)
    except InputError as why:
        return why.message
    return ""


@pytest.mark.parametrize(
    "change, said",
    [
        ({}, ""),
        ({"time": T * (1 + 1e-13)}, ""),
        ({"hosted": True}, "no expressions"),
        ({"no_derivative": "a table"}, "no expressions"),
        ({"period": None}, "not sampled"),
        ({"on_floats": True}, "more than its rates"),
        ({"project": "a function"}, "more than its rates"),
        ({"dead_ends": {"gap": "in line"}}, "dead ends"),
        ({"kind": "noise"}, "r is noise"),
        ({"completed": False}, "the run did not end: gone"),
        ({"time": T[::2]}, "not one row a sample"),
        ({"time": T + 1e-6}, "not one row a sample"),
        ({"time": T * (1 + 1e-9)}, "not one row a sample"),
    ],
)
def test_loops_that_no_tube_can_be_asked_of(monkeypatch, change, said):
    found = asked(monkeypatch, **change)
    assert said in found and bool(found) is bool(said)
