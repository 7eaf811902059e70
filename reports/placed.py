"""Placing of figures so that no page ends in a large white space: figures are made smaller, or float.

A figure that does not fit on the rest of a page goes to the next page and leaves white space behind. For each such figure, in
order, these changes are tried: 82 % of its width; 70 %; a float, at the head of its page, so that the text after it fills the page
before; last 70 %, with the figure above it at 82 %. A change is kept if something moves to an earlier page by it and figures stay
in the order of their numbers. A figure directly below a heading never floats, as the heading would stand alone.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np

SMALLER, SMALLEST, FLOAT = "0.82", "0.7", "float"
HEIGHT, TOP, BOTTOM = 297.0, 23.0, 21.0  # mm, of a page and of its margins
PAGE = HEIGHT - TOP - BOTTOM
COARSE = 20.0  # dots an inch, of pictures of pages
INK = 250  # grey values below are ink
LEFT = 0.1  # share of a page: white that is left as it is
FIRST = 45.0  # mm from the page's edge within which the first thing on it begins
DIRECT = 16.0  # mm below a heading within which nothing but the heading stands
TRIES = 16  # layouts at most
SKIMMED = {"skimmed": "yes"}  # input of the templates: what stands behind the chapters is left out


@dataclass(frozen=True)
class Layout:
    """Where things are: (page, mm from its top) of all figures, of all headings, and of the end of the chapters.

    heights: of the figures without captions, mm at full width; () where they were not measured.
    """

    figures: tuple[tuple[int, float], ...]
    headings: tuple[tuple[int, float], ...]
    end: tuple[int, float]
    heights: tuple[float, ...] = ()

    @property
    def length(self) -> float:
        """Pages up to the end."""
        page, y = self.end
        return page + y / PAGE

    @property
    def ordered(self) -> bool:
        """Whether figures stand in the order of their numbers."""
        return list(self.figures) == sorted(self.figures)

    def gained(self, before: Layout, k: int, how: str) -> bool:
        """Whether a change of figure k helped: it is on an earlier page; or, where it floats, something after it is."""
        if self.length > before.length:
            return False
        if how != FLOAT:
            return self.figures[k][0] < before.figures[k][0]
        pairs = zip(
            self.headings + self.figures[k + 1 :], before.headings + before.figures[k + 1 :]
        )
        return any(new[0] < old[0] for new, old in pairs)

    def may_fit(self, k: int, change: Mapping[str, str], room: float) -> bool:
        """Whether figure k may fit into `room` mm after a change; True where it floats, or heights are not known."""
        how = change[str(k + 1)]
        if how == FLOAT or not self.heights:
            return True
        others = [int(name) - 1 for name in change if name != str(k + 1)]
        won = sum((1.0 - float(change[str(i + 1)])) * self.heights[i] for i in others)
        return float(how) * self.heights[k] <= room + won

    def begins_page(self, k: int) -> bool:
        """Whether figure k is the first thing on its page, after the first."""
        page, y = self.figures[k]
        return page > 1 and y < FIRST

    def below_heading(self, k: int) -> bool:
        """Whether figure k stands directly below a heading."""
        page, y = self.figures[k]
        return any(p == page and 0 <= y - top < DIRECT for p, top in self.headings)


def placed(files: Mapping[str, bytes]) -> dict[str, str]:
    """The inputs that the templates take where figures shall not leave pages white."""
    from workbench.run.workers import Workers

    with Workers(1) as pool:
        return _placed(outlined(files), pool)


def _placed(whole: Mapping[str, bytes], pool: Executor) -> dict[str, str]:
    """As `placed`, of files with boxes for figures. A layout has its pages drawn beside it: a change that is kept needs both."""
    import typst

    fonts = {"ignore_system_fonts": True}
    options = {"field": "value", "one": True, **fonts}

    drawn: dict[str, Future] = {}

    def layout(changes: Mapping[str, str]) -> Layout:
        asked = inputs(changes) | SKIMMED
        drawn[asked["placing"]] = pool.submit(pages, asked)
        found = typst.query(whole, "<layout>", sys_inputs=asked, **options)
        value = json.loads(found)
        pair = lambda spot: (int(spot["page"]), float(spot["y"]))
        every = {name: tuple(map(pair, value[name])) for name in ("figures", "headings")}
        heights = tuple(map(float, value["heights"]))
        return Layout(every["figures"], every["headings"], pair(value["end"]), heights)

    def pages(asked: dict[str, str]) -> list[bytes]:
        pictures = typst.compile(whole, format="png", ppi=COARSE, sys_inputs=asked, **fonts)
        return [pictures] if isinstance(pictures, bytes) else pictures

    def feet(changes: Mapping[str, str]) -> list[float]:
        return [foot(picture) for picture in drawn[inputs(changes)["placing"]].result()]

    now = layout({})
    if not any(map(now.begins_page, range(len(now.figures)))):
        return inputs({})
    return inputs(chosen(layout, now, feet))


def outlined(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with a black box of its size for every figure: pages break alike, and Typst need not read what is drawn."""
    pictures = {name for name in files if name.endswith(".svg")}
    return {name: _box(text) if name in pictures else text for name, text in files.items()}


def _box(picture: bytes) -> bytes:
    """An SVG of the size of `picture` that is black all over; `picture` itself where it does not begin as SVG does."""
    head = re.search(rb"(<svg\b[^>]*?)/?>", picture)
    return picture if head is None else head[1] + b'><rect width="100%" height="100%"/></svg>'


def foot(picture: bytes) -> float:
    """Share of the text's height that is white at the foot of a page."""
    from PIL import Image

    return white(np.asarray(Image.open(io.BytesIO(picture)).convert("L")))


def white(page: np.ndarray) -> float:
    """Share of white rows at the foot of a page given as grey values (rows, columns)."""
    rows = len(page)
    first = round(TOP / HEIGHT * rows)
    last = round((HEIGHT - BOTTOM) / HEIGHT * rows)
    inked = np.flatnonzero((page[first:last] < INK).any(axis=1))
    end = inked[-1] if len(inked) else -1
    return float(last - first - 1 - end) / (last - first)


def inputs(changes: Mapping[str, str]) -> dict[str, str]:
    """Changes of figures, by number from 1 on, as the templates read them."""
    return {"placing": json.dumps(dict(changes))}


def chosen(layout: Any, now: Layout, feet: Any) -> dict[str, str]:
    """The changes to make, figure → change.

    layout(changes) gives the Layout with these changes, `now` is the one without any; feet(changes) gives, for each page, the share
    of its height that is white at the foot.
    """
    changes: dict[str, str] = {}
    whites = feet(changes)
    tries = 0
    for k in range(len(now.figures)):
        if not now.begins_page(k) or whites[now.figures[k][0] - 2] < LEFT:
            continue
        room = PAGE * whites[now.figures[k][0] - 2]
        for change in options(now, changes, k):
            if not now.may_fit(k, change, room):
                continue
            if tries == TRIES:
                return changes
            tries += 1
            new = layout(changes | change)
            if new.ordered and new.gained(now, k, change[str(k + 1)]):
                changes = changes | change
                now = new
                whites = feet(changes)
                break
    return changes


def options(now: Layout, changes: Mapping[str, str], k: int) -> list[dict[str, str]]:
    """Changes to try for figure k, in this order."""
    own = str(k + 1)
    found = [{own: SMALLER}, {own: SMALLEST}]
    if not now.below_heading(k):
        found.append({own: FLOAT})
    above = k > 0 and now.figures[k - 1][0] == now.figures[k][0] - 1 and str(k) not in changes
    return [*found, {str(k): SMALLER, own: SMALLEST}] if above else found
