"""The figure of other starts: one curve a start, the tolerance, what is drawn first."""

import numpy as np

from reports.figures.returns import COLOURS, MOST, returns
from reports.style import drawing


def entry(name, words, tolerance=1e-3):
    t = np.linspace(0.0, 4.0, 50)
    curves = [
        {"t": t, "distance": 0.02 * np.exp(-k * t), "word": word} for k, word in enumerate(words)
    ]
    return {"signal": name, "unit": "m", "tolerance": tolerance, "curves": curves}


def test_every_start_is_a_curve_in_the_colour_of_its_word():
    with drawing():
        fig = returns(
            [entry("tool", ("growing", "back", "staying")), entry("x_1", ("back",), tolerance=0.0)]
        )
        first, second = fig.axes[:2]
        lines = [line for line in first.get_lines() if len(line.get_xdata()) == 50]
        assert [line.get_color() for line in lines] == [
            COLOURS[w] for w in ("growing", "back", "staying")
        ]
        assert (
            len(first.get_lines()) == 4 and len(second.get_lines()) == 1
        )  # the tolerance, where there is one
        assert (
            first.get_title(loc="left") == "tool"
            and first.get_yscale() == "log"
            and first.get_ylabel() == "mm"
        )
        np.testing.assert_allclose(lines[1].get_ydata()[0], 20.0)


def test_nothing_to_draw_is_no_figure_and_too_much_is_cut():
    with drawing():
        assert returns([]) is None
        assert returns([{"signal": "x", "unit": "m", "tolerance": 0.0, "curves": []}]) is None
        assert len(returns([entry(f"x_{k}", ("back",)) for k in range(9)]).axes) == MOST


def test_the_axis_of_time_ends_soon_after_the_last_curve_is_gone():
    t = np.linspace(0.0, 60.0, 601)
    curve = {"t": t, "distance": 0.02 * np.exp(-9.3 * t), "word": "back"}  # 1e-4 of it at 0.99 s
    stays = {"t": t, "distance": np.full(len(t), 0.02), "word": "staying"}
    shown = {"signal": "x_1", "unit": "m", "tolerance": 1e-3}
    with drawing():
        (soon,) = returns([shown | {"curves": [curve]}]).axes
        (late,) = returns([shown | {"curves": [curve, stays]}]).axes
    assert 1.0 < soon.get_xlim()[1] < 1.5 and late.get_xlim()[1] == 60.0
