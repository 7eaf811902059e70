"""Figures of the ledger show its largest terms whole, whatever stands beside them."""

import numpy as np
import pytest

from reports.figures.proof import MOST, ledger, perturbations, scan, subsystems

T = np.linspace(0.0, 3.0, 900)
SPIKE = 230.0 * np.exp(-((T - 1.0) ** 2) / 1e-4)


def drawn(figure):
    """(label → curve, limits) of the first panel."""
    ax = figure.axes[0]
    return {
        line.get_label(): np.asarray(line.get_ydata()) for line in ax.get_lines()
    }, ax.get_ylim()


@pytest.mark.parametrize(
    "beside",
    [
        {f"rounding {k}": 3e-15 * (2 + np.sin(k * T)) for k in range(5)},
        {f"small {k}": 2e-6 * (2 + np.cos(k * T)) for k in range(6)},
        {},
    ],
)
def test_the_largest_curve_is_inside_its_panel(beside):
    curves, (low, high) = drawn(
        perturbations({"t": T, "perturbations": beside | {"valve": -SPIKE}})
    )
    assert low < np.nanmax(curves["valve"]) < high
    assert np.nanmax(curves["valve"]) == pytest.approx(SPIKE.max(), rel=1e-9)


def test_what_is_rounding_throughout_is_left_out_and_the_largest_comes_first():
    terms = {
        "rounding": 1e-14 * np.ones_like(T),
        "hold": 4.0 + np.sin(T),
        "zero": 0 * T,
        "valve": 50 * (2 + np.cos(T)),
    }
    curves, _ = drawn(perturbations({"t": T, "perturbations": terms}))
    assert list(curves) == ["valve", "hold"]
    many = {f"term {k}": np.full_like(T, 1.0 + k) for k in range(MOST + 3)}
    curves, _ = drawn(perturbations({"t": T, "perturbations": many}))
    assert list(curves) == [f"term {k}" for k in range(MOST + 2, 2, -1)]


def test_a_run_that_blows_up_leaves_what_came_before_readable():
    v = np.where(T < 2.95, 1e-3 * (2 + np.sin(T)), 1e40)
    _, (low, high) = drawn(ledger({"t": T, "v": v}))
    assert low < 1e-3 < 3e-3 < high < 1e6
    # A bound far above what it bounds is no such run.
    _, (low, high) = drawn(
        ledger({"t": T, "v": 1e-6 * (2 + np.sin(T)), "v_bound": 30 * (2 + np.cos(T))})
    )
    assert high > 90


def test_ticks_of_delays_from_zero_stand_apart():
    delays = np.array([0, 0.25, 0.5, 0.9, 1.6, 2.0, 2.3, 4.0, 20.0]) * 1e-3
    held = delays < 2.2e-3
    data = {"delay": delays, "error_max": np.geomspace(1e-5, 2e-4, 9), "stable": held}
    fig = scan(data, "delay")
    fig.canvas.draw()
    for ax in fig.axes:
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert len(boxes) >= 4 and all(a.x1 < b.x0 for a, b in zip(boxes, boxes[1:]))


def test_a_subsystem_that_stores_nothing_is_left_out():
    part = {"v": 2 + np.sin(T), "vdot": np.cos(T), "bound": 1 + np.cos(T)}
    parts = {"boom": part, "ground": {"v": 0 * T, "vdot": 1e-17 + 0 * T, "bound": 0 * T}}
    figure = subsystems({"t": T, "per_subsystem": parts})
    titles = [ax.get_title(loc=side) for ax in figure.axes for side in ("left", "center")]
    assert [title for title in titles if title] == ["boom"]
    assert subsystems({"t": T, "per_subsystem": {"ground": parts["ground"]}}) is None
