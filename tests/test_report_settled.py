"""The figure of rest: the floor's band, the rest's beginning, and what moves in its last quarter."""

import numpy as np
import pytest

from reports.figures.settled import MOST, settled
from reports.style import BLUE, LIMIT, ORANGE, drawing

T = np.linspace(2.0, 8.0, 601)


def entry(name, amplitude, rest=4.0, floor=1e-3):
    error = 0.02 + amplitude * np.sin(9 * T)
    return {"signal": name, "unit": "m", "floor": floor, "rest": rest, "t": T, "error": error}


def colours(ax):
    return [line.get_color() for line in ax.get_lines()]


@pytest.mark.quick
def test_what_leaves_the_floor_in_the_last_quarter_is_orange_there():
    with drawing():
        still, moving, driven = settled(
            [entry("s_a", 0.5e-3), entry("s_b", 5e-3), entry("s_c", 5e-3, rest=None)]
        ).axes
    assert ORANGE not in colours(still) and ORANGE in colours(moving)
    assert BLUE in colours(driven) and ORANGE not in colours(driven), "no rest, no quarter of it"
    late = next(line for line in moving.get_lines() if line.get_color() == ORANGE)
    assert min(late.get_xdata()) == pytest.approx(7.0, abs=0.02)
    assert still.get_ylabel() == "mm"
    levels = [line.get_ydata() for line in still.get_lines() if line.get_color() == LIMIT]
    edges = sorted(y[0] for y in levels if y[0] == y[1])
    assert edges == pytest.approx([19.0, 21.0], abs=0.02)


@pytest.mark.quick
def test_nothing_to_draw_is_no_figure_and_too_much_is_cut():
    with drawing():
        assert settled([]) is None
        assert len(settled([entry(f"s_{k}", 0.0) for k in range(9)]).axes) == MOST
