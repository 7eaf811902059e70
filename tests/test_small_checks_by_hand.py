"""Small places of checks, from numbers written down: signals of sentences, paths of effects, hidden modes."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from small import Linear, Wired
from test_predictive_by_hand import NONE

from workbench.contract.errors import InputError
from workbench.contract.units import quantity
from workbench.verification.cause import badness
from workbench.verification.linear import loop as loops
from workbench.verification.linear.hidden import hidden_modes
from workbench.verification.observed import shares
from workbench.verification.practical.branches.ways import SMALL, _jumps
from workbench.verification.practical.later.crossings import crossings
from workbench.verification.practical.switches import own_plant
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.predictive.local import unconstrained
from workbench.verification.rigorous import motion_text
from workbench.verification.rigorous.lifting import lift
from workbench.verification.rigorous.motion_sample import Sample
from workbench.verification.sensitivity import morris
from workbench.verification.temporal import ready, signals


# ---- limits ---------------------------------------------------------------------------------
def test_a_limit_is_measured_by_its_width_or_by_what_is_limited():
    limit = lambda low, high: SimpleNamespace(low=low, high=high)
    values = np.array([0.0, -3.0, 2.0])
    assert shares.size_of_limit(limit(-1.0, 4.0), values) == 5.0
    assert shares.size_of_limit(limit(0.0, np.inf), values) == 3.0
    assert shares.size_of_limit(limit(-np.inf, 7.0), values) == 7.0
    assert shares.size_of_limit(limit(-8.0, np.inf), 0 * values) == 8.0
    assert shares.size_of_limit(limit(0.0, np.inf), 0 * values) > 0


# ---- signals of sentences -----------------------------------------------------------------------
def test_an_error_of_the_tool_is_desired_minus_actual():
    fine = SimpleNamespace(
        demand=SimpleNamespace(desired_tool=lambda t: np.outer(t, [1.0, 2.0, 3.0])),
        log=SimpleNamespace(time=np.array([1.0, 2.0]), array=lambda name: np.array([0.25, 0.5])),
    )
    assert signals._tool(fine, 1).tolist() == [1.75, 3.5]
    fine.demand.desired_tool = lambda t: None
    assert signals._tool(fine, 1) is None


def stored(monkeypatch, ledger=True, rows=3):
    monkeypatch.setattr(signals, "has_ledger", lambda loop: ledger)
    fine = SimpleNamespace(log=SimpleNamespace(time=np.array([0.0, 0.1, 0.2, 0.3])))
    return signals.storage(
        SimpleNamespace(
            loop=None,
            fine=fine,
            log=SimpleNamespace(time=np.arange(rows)),
            storage=(np.array([0.0, 0.1, 0.1, 0.3]), [4.0, 1.0, 3.0, 2.0]),
        )
    )


def test_a_function_that_samples_make_jump_is_its_largest_since_the_step_before(monkeypatch):
    assert stored(monkeypatch).tolist() == [4.0, 3.0, 3.0, 2.0]
    assert stored(monkeypatch, rows=2) is not None
    assert stored(monkeypatch, rows=1) is None and stored(monkeypatch, ledger=False) is None


def test_numbers_are_written_so_that_they_read_back():
    assert ready.written(1 / 3, "m") == "0.3333333333333333 m"
    assert ready.written(1 / 3, "1") == "0.3333333333333333"
    assert (ready.written(5e-3, "m"), ready.written(0.25, "1")) == ("5 mm", "25 %")
    for value, unit in ((1 / 3, "rad"), (2e-3 / 3, "rad"), (0.1 + 0.2, "Pa"), (1e-7, "m/s")):
        assert quantity(ready.written(value, unit), unit) == value


def test_a_box_is_smooth_where_no_mark_lies_inside():
    """Marks are the values of comparisons: x < 2 is 1 left of 2, 0 from there on, and either on a box across it."""
    x = ca.SX.sym("x", 2)
    edges = lift(x, ca.if_else(x[0] < 2, x[0], 5 * x[1]))
    own = SimpleNamespace(text=SimpleNamespace(edges=edges, values=[]))
    low = np.array([[0.0, 1.0], [1.5, 1.0], [2.5, 1.0]])
    high = np.array([[1.0, 2.0], [2.5, 2.0], [3.0, 2.0]])
    assert Sample._smooth(own, low, high).tolist() == [True, False, True]
    none = SimpleNamespace(text=SimpleNamespace(edges=lift(x, x[0] * x[1]), values=[]))
    assert Sample._smooth(none, low, high).tolist() == [True] * 3


# ---- how far numbers move a margin --------------------------------------------------------------
def test_neighbours_of_a_path_of_effects_differ_in_one_number_by_two_thirds():
    """On the grid 0, 1/3, 2/3, 1, every number once."""
    points = morris.paths(5, seed=4)
    assert points.shape == (morris.PATHS, 6, 5)
    assert np.abs(3 * points - np.round(3 * points)).max() < 1e-12
    assert points.min() == 0.0 and points.max() == pytest.approx(1.0)
    steps = np.diff(points, axis=1)
    assert (np.abs(steps) > 1e-12).sum(axis=2).tolist() == [[1] * 5] * morris.PATHS
    assert np.abs(steps).max(axis=2) == pytest.approx(np.full((morris.PATHS, 5), 2 / 3))
    assert (np.abs(steps).max(axis=1) > 0.5).all() and steps.min() < 0 < steps.max()


def test_effects_of_a_plane_are_its_slopes():
    """m = 3 a − 5 b: +10 % of a is 0.3, without a deviation; a product of two numbers has one."""
    plane = lambda rows: [[3 * row["a"] - 5 * row["b"], row["a"] * row["b"]] for row in rows]
    first, second = morris.effects(plane, ("a", "b"), seed=3)
    assert [s.name for s in first] == ["a", "b"]
    assert [s.tenth for s in first] == pytest.approx([0.3, -0.5])
    assert [s.error for s in first] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert [s.tenth for s in second] == pytest.approx([0.1, 0.1], abs=0.011)
    assert all(s.error > 1e-4 for s in second)


# ---- hidden modes -------------------------------------------------------------------------------
def test_an_integrator_that_nothing_moves_is_hidden_though_all_is_zero():
    (found,) = hidden_modes([[0.0]], [[0.0]], [[1.0]], ("s",))
    assert found.why == "no command moves it" and found.states == ("s",)
    (found,) = hidden_modes([[0.0]], [[0.0]], [[0.0]], ("s",))
    assert found.why == "no command moves it and no measurement shows it"
    assert hidden_modes([[0.0]], [[1.0]], [[1.0]], ("s",)) == ()


@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e7])
def test_a_mode_is_hidden_in_slow_and_fast_machines_alike(speed):
    """Of two modes that are mixed by a turn of 0.7 rad the command moves one; rounding is of the size of the other."""
    c, s = np.cos(0.7), np.sin(0.7)
    R = np.array([[c, -s], [s, c]])
    A = speed * R @ np.diag([-1.0, -3.0]) @ R.T
    (found,) = hidden_modes(A, speed * R[:, :1], np.eye(2), ("p", "q"))
    assert found.eigenvalue == pytest.approx(-3 * speed) and found.why == "no command moves it"
    assert hidden_modes(A, speed * (R[:, :1] + 1e-3 * R[:, 1:]), np.eye(2), ("p", "q")) == ()


def test_memory_that_neither_itself_nor_a_measurement_moves_is_constant(monkeypatch):
    """The first decays, the second is moved by a measurement, the third by another; the fourth stays; some of a row is zero."""
    A = np.zeros((4, 4))
    A[0, 0], A[2, 0] = -1.0, 2.0
    B = np.zeros((4, 2))
    B[1, 1] = 3.0
    monkeypatch.setattr(
        loops, "law_slopes", lambda law, flows: (A, B, None, None) if flows else None
    )
    law = SimpleNamespace(states=tuple(SimpleNamespace(name=n) for n in "abcd"))
    assert loops.constant_memory(SimpleNamespace(period=None, controller=law)) == ("d",)


class Rooted(Wired):
    """u = √y_0 + 2 y_1: no derivative by the one at rest, one by the other."""

    def command(self, t, z, y, r):
        return [np.sqrt(y[0]) + 2 * y[1]]


@pytest.mark.parametrize("curved", [False, True])
def test_one_slope_that_is_none_is_enough(curved):
    plant = Linear(((0.0, 1.0), (0.0, 0.0)), ((0.0,), (1.0,)), ((1.0, 0.0), (0.0, 1.0)))
    with pytest.raises(InputError, match="no derivative at rest"):
        loops.law_slopes(Rooted(plant), curved=curved)


# ---- branches --------------------------------------------------------------------------------
@pytest.mark.parametrize("step, jumps", [(0.9, False), (1.1, True)])
@pytest.mark.parametrize("across", [1e-3, 40.0])
def test_a_jump_is_a_share_of_what_changes_near_by(across, step, jumps):
    """Of values that change by `across` altogether, small or large ones."""
    jump = step * SMALL * across
    f = 7.0 + np.array([[0.0, 0.0, jump, across], [0.0, 0.0, 0.0, 1.0]])
    assert _jumps(f) is jumps and not _jumps(np.full((1, 4), 5.0))


def test_what_no_law_commands_is_at_its_default():
    """Of three inputs, the second commanded; of the others what is stated, or nothing."""
    signals = lambda *every: tuple(SimpleNamespace(name=n) for n in every)
    plant = SimpleNamespace(inputs=signals("load", "u", "wind"), defaults=lambda: {"load": 3.0})
    controller = SimpleNamespace(commands=signals("u"))
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant, controller=controller))
    found = own_plant._inputs(run, np.array([[5.0, 6.0]]))
    assert found.tolist() == [[3.0, 3.0], [5.0, 6.0], [0.0, 0.0]]


# ---- others -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "e, most",
    [(None, 0.0), ([], 0.0), ([3.0, -4.0], 0.0), ([1.0, -5.0, 2.0], 5.0), ([1, np.inf, 2], 0.0)],
)
def test_a_run_of_two_rows_has_no_largest_error(e, most):
    assert badness.largest_error(SimpleNamespace(tool_error=e and np.array(e))) == most


@pytest.mark.parametrize("t_0", [700.3, 1234.5, 2718.2, 3141.5, 5001.7])
def test_a_short_excursion_between_instants_of_the_grid_is_found(t_0):
    """It lasts a part of 10⁸ of the time until then: 4 to 30 µs, up to hours after a run of 10 s."""
    half = 5e-9 * t_0
    (found,) = crossings(lambda t: (np.abs(t - t_0) - half)[None], 10.0)
    assert abs(found - t_0) < half


@pytest.mark.parametrize("units", [(1e-6, 1.0), (1.0, 1e6), (1e-5, 1e5)])
def test_commands_in_other_units_have_their_gains_in_other_units(units):
    """One in µV, one in MV: each row of the gain is its own multiple, and its enclosure as narrow as before."""
    A, B = np.array([[1.1, 0.2], [0.0, 0.9]]), np.array([[0.1, 0.7], [0.5, -0.2]])
    R, S, P = np.array([[0.3, 0.1], [0.1, 0.2]]), np.zeros((2, 2)), np.diag([9.0, 3.0])
    K = np.array([[1.0, 0.8], [0.2, -0.1]])
    none = NONE | {"F": np.zeros((0, 2))}
    usual = TerminalIngredients(A=A, B=B, Q=np.diag([2, 0.5]), R=R, S=S, P=P, K=K, N=2, **none)
    U = np.diag(units)
    other = replace(usual, B=B @ U, R=U @ R @ U, K=np.linalg.solve(U, K))
    X, found = unconstrained(usual), unconstrained(other)
    own = np.tile(units, 2)[:, None]
    assert found.mid * own == pytest.approx(X.mid, rel=1e-9)
    assert (found.rad * own <= 10 * X.rad).all()


def test_what_jumps_is_off_by_a_share_of_itself_and_what_stays_is_exact():
    x, η = ca.SX.sym("x", 3), ca.SX.sym("η", 3)
    jumped = motion_text._changed(ca.vertcat(2 * x[1], x[1], x[0] + x[2]), x, η)
    value = ca.Function("f", [x, η], [jumped])([3.0, 5.0, 7.0], [0.1, 0.2, -0.5])
    assert np.array(value).ravel() == pytest.approx([11.0, 5.0, 5.0])


def test_eight_numbers_are_named_where_one_is_not_known():
    traced = SimpleNamespace(paths=tuple(f"p{i}" for i in range(12)))
    with pytest.raises(InputError, match="no parameter 'q'") as refused:
        motion_text._numbers(None, traced, {}, {"q": None})
    assert refused.value.mend == "such as p0, p1, p2, p3, p4, p5, p6, p7"
