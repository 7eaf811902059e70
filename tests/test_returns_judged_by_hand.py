"""Which signals have to return after a disturbance, and to what, by hand."""

from types import SimpleNamespace

import pytest

from workbench import Signal
from workbench.verification.practical import returning
from workbench.verification.practical.returning import FREE, TOLERANCE, Judged


# ---- what has to return ----------------------------------------------------------------------------------------------------
def run(logged, references=(), pressures=(), free=()):
    plant = SimpleNamespace(
        outputs=(Signal("y", "rad"), Signal("tcp_x", "m")),
        states=(
            Signal("x", "m"),
            Signal("dx", "m/s"),
            Signal("p", "Pa"),
            Signal("n", "1"),
            Signal("q", "rad"),
        ),
        pressure_names=pressures,
        free_joints=lambda commands: free,
    )
    inputs = tuple(Signal(name, "1", "", "reference") for name in references)
    loop = SimpleNamespace(
        plant=plant, inputs=inputs, controller=SimpleNamespace(commands=(Signal("u"),))
    )
    return SimpleNamespace(loop=loop, log=set(logged))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(returning, "meters", lambda plant: ("n",))
    monkeypatch.setattr(returning, "positions", lambda plant: ("x", "y"))
    monkeypatch.setattr(returning, "unbalanced", lambda run: 4e4)


@pytest.mark.parametrize("allowed, told", [(5e-3, 5e-3), (None, 0.0)])
def test_the_tool_and_what_follows_return_to_what_is_allowed(allowed, told):
    """Axes of the tool that are logged; a rate that is wanted, and a preview, follow nothing."""
    own = run(("tcp_x", "tcp_z", "y", "x"), ("y_d", "dy_d", "y_d@0.1"))
    found = returning.judged(own, {"x": 0.5}, allowed)
    assert found == [
        Judged("tool", ("tcp_x", "tcp_z"), "m", told),
        Judged("y", ("y",), "rad", told),
        Judged("x", ("x",), "m", TOLERANCE * 0.5),
    ]
    assert returning.judged(run(("tcp_z",)), {}, allowed) == []


def test_states_that_are_moved_return_to_a_quarter_of_it_and_pressures_to_their_balance():
    """Rates, counters, pressures and what is in no log are no such states; a position that nobody moves has to stay."""
    sizes = {"x": 0.5, "dx": 3.0, "p": 1e5, "n": 2.0, "q": 0.25}
    own = run(("x", "dx", "p", "n", "q"), pressures=("p", "lost"))
    assert returning.judged(own, sizes, None) == [
        Judged("x", ("x",), "m", TOLERANCE * 0.5),
        Judged("q", ("q",), "rad", TOLERANCE * 0.25),
        Judged("p", ("p",), "Pa", 4e4, pressure=True),
    ]
    still = returning.judged(run(("x", "y")), {}, None)
    assert still == [Judged("x", ("x",), "m", 0.0), Judged("y", ("y",), "rad", 0.0)]


def test_a_free_joint_returns_by_all_of_its_columns_unless_it_is_judged_already():
    joint = lambda name, *columns: SimpleNamespace(
        name=name, positions=tuple(Signal(c) for c in columns), unit="1"
    )
    free = (joint("ball", "e_0", "e_1"), joint("rail", "x"), joint("lost", "e_9"))
    found = returning.judged(run(("x", "e_0", "e_1"), free=free), {}, None)
    assert found == [
        Judged("x", ("x",), "m", 0.0),
        Judged("ball", ("e_0", "e_1"), "1", TOLERANCE * FREE),
    ]
