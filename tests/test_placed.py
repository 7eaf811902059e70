"""Figures that break to a new page: made smaller, floated, or left, by layouts made for the test and by Typst's own."""

from dataclasses import replace

import numpy as np
import pytest

from reports.placed import HEIGHT, Layout, chosen, options, outlined, placed, white

NEW, LOW = 23.0, 240.0  # mm: at a page's head, near its foot


def layouts(answers, base):
    """layout(changes) that knows some answers; anything else changes nothing."""
    asked = []

    def layout(changes):
        asked.append(dict(changes))
        return answers.get(tuple(sorted(changes.items())), base)

    return layout, asked


def at(figures, headings=((1, 30.0), (2, 150.0)), end=(4, 100.0)):
    return Layout(tuple(figures), tuple(headings), end)


def test_a_figure_that_fits_when_smaller_is_made_smaller():
    base = at([(2, NEW)])
    fits = at([(1, LOW)], end=(3, 200.0))
    layout, asked = layouts({(("1", "0.82"),): fits}, base)
    assert chosen(layout, base, lambda _: [0.3, 0.0, 0.0, 0.0]) == {"1": "0.82"}
    assert asked == [{"1": "0.82"}]


def test_a_float_is_kept_where_what_follows_moves_up_and_figures_stay_in_order():
    base = at([(2, NEW), (2, 180.0)])
    up = at([(2, NEW), (2, 180.0)], headings=((1, 30.0), (1, 200.0)))
    layout, _ = layouts({(("1", "float"),): up}, base)
    assert chosen(layout, base, lambda _: [0.3] * 4) == {"1": "float"}
    mixed = at([(2, NEW), (1, LOW)], headings=((1, 30.0), (1, 200.0)))
    layout, _ = layouts({(("1", "float"),): mixed}, base)
    assert chosen(layout, base, lambda _: [0.3] * 4) == {}


def test_a_figure_directly_below_its_heading_does_not_float_and_little_white_is_left_alone():
    base = at([(2, 30.0)], headings=((2, NEW),))
    layout, asked = layouts({}, base)
    assert chosen(layout, base, lambda _: [0.3] * 4) == {} and {"1": "float"} not in asked
    layout, asked = layouts({}, base)
    assert chosen(layout, base, lambda _: [0.05] * 4) == {} and not asked


def test_a_figure_too_high_for_the_white_before_it_is_not_laid_out_smaller():
    base = replace(at([(2, NEW)]), heights=(100.0,))
    layout, asked = layouts({}, base)
    assert chosen(layout, base, lambda _: [0.2, 0.0, 0.0, 0.0]) == {} and asked == [{"1": "float"}]
    layout, asked = layouts({}, base)
    assert chosen(layout, base, lambda _: [0.3, 0.0, 0.0, 0.0]) == {} and {"1": "0.82"} not in asked
    assert {"1": "0.7"} in asked
    layout, asked = layouts({}, base)
    assert chosen(layout, base, lambda _: [0.4, 0.0, 0.0, 0.0]) == {} and {"1": "0.82"} in asked


def test_a_figure_fits_where_the_one_above_it_gives_way_too():
    """Both are tried together last, where they fit by their heights, and never a figure that was changed before."""
    base = replace(at([(1, 100.0), (2, NEW)]), heights=(80.0, 100.0))
    up = replace(at([(1, 100.0), (1, LOW)], end=(3, 200.0)), heights=base.heights)
    both = {"1": "0.82", "2": "0.7"}
    layout, asked = layouts({tuple(sorted(both.items())): up}, base)
    assert chosen(layout, base, lambda _: [0.25, 0.0]) == both and {"2": "0.7"} not in asked
    layout, asked = layouts({tuple(sorted(both.items())): up}, base)
    assert chosen(layout, base, lambda _: [0.2, 0.0]) == {} and both not in asked
    assert both not in options(base, {"1": "0.7"}, 1)
    apart = at([(1, 100.0), (3, NEW)])
    assert both in options(base, {}, 1) and both not in options(apart, {}, 1)


def test_the_white_before_a_figure_is_that_of_the_pages_as_they_are_then():
    """What one figure changed moves the foot that the next one is measured against."""
    base = replace(at([(2, NEW), (3, NEW)]), heights=(60.0, 100.0))
    moved = replace(at([(1, LOW), (3, NEW)], end=(4, 50.0)), heights=base.heights)
    last = replace(at([(1, LOW), (2, LOW)], end=(3, 50.0)), heights=base.heights)
    answers = {(("1", "0.82"),): moved, (("1", "0.82"), ("2", "0.82")): last}
    whites = lambda changes: [0.0, 0.5, 0.0] if changes else [0.3, 0.05, 0.0]
    layout, _ = layouts(answers, base)
    assert chosen(layout, base, whites) == {"1": "0.82", "2": "0.82"}


def test_the_boxes_that_stand_for_figures_have_their_size():
    drawn = b'<svg width="340pt" height="170pt" viewBox="0 0 340 170" xmlns="http://www.w3.org/2000/svg"></svg>'
    boxed = outlined({"a.svg": drawn, "main": b"= A"})
    assert boxed["main"] == b"= A"
    assert boxed["a.svg"].startswith(drawn.removesuffix(b"</svg>")) and b"<rect" in boxed["a.svg"]


def test_white_is_what_is_below_the_last_ink_between_the_margins():
    page = np.full((297, 20), 255, np.uint8)
    page[285] = 0  # the page's number
    assert white(page) == 1.0
    page[100] = 0
    assert white(page) == pytest.approx((297 - 21 - 101) / (HEIGHT - 44))


def test_typst_moves_a_figure_up_that_left_a_third_of_a_page_white():
    pytest.importorskip("typst")
    pytest.importorskip("PIL")
    from reports.document import TEMPLATES

    style = (TEMPLATES / "style.typ").read_bytes()
    text = """#import "style.typ": *
#show: report.with(title: "t")
= One
#block(height: 150mm)[text]
#figure(block(width: 100%, height: 40mm)[#rect(width: 100%, height: 100%)], caption: [small])
#figure(layout(size => rect(width: size.width, height: size.width * 0.55)), caption: [large])
"""
    found = placed({"style.typ": style, "main": text.encode()})
    assert found == {"placing": "{}"} or '"2"' in found["placing"]
    tight = text.replace("150mm", "105mm")
    assert '"2": "0.' in placed({"style.typ": style, "main": tight.encode()})["placing"]
