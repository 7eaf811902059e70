"""Labels that do not lie on each other: each is tried at several places around its point, the one in the way of least is taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROUND = 16  # directions that are tried
FAR = (6.0, 14.0, 26.0, 42.0, 62.0, 86.0, 116.0)  # points between a label and what it names
SWEEPS = 6  # how often every label is placed again


class Note(NamedTuple):
    """A text for the point `at` (data coordinates); where it goes is for `place` to find."""

    text: str
    at: tuple[float, float]
    color: str
    size: float = 7.5
    weight: str = "normal"


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float


def place(ax, notes: list[Note], lines: list[np.ndarray], spots: np.ndarray) -> None:
    """Write `notes` on the axes, off each other, the `lines` (each (n, 2)) and the `spots` (m, 2), all in data coordinates.

    The figure needs a canvas that draws (Agg), and limits that stay.
    """
    renderer = ax.figure.canvas.get_renderer()
    dpi = ax.figure.dpi / 72.0
    frame = ax.get_window_extent(renderer)
    paths = [_dense(ax.transData.transform(line)) for line in lines if len(line) > 1]
    ink = np.vstack([*paths, np.empty((0, 2))])
    dots = ax.transData.transform(np.asarray(spots, float).reshape(-1, 2))
    anchors = ax.transData.transform(np.array([note.at for note in notes], float))
    sizes = [_size(ax, note, renderer) for note in notes]
    tried = [_candidates(at, size, dpi) for at, size in zip(anchors, sizes)]
    own = [_own_cost(boxes, frame, ink, dots) for boxes in tried]
    chosen = [int(np.argmin(cost)) for cost in own]
    for _ in range(SWEEPS):
        for i, boxes in enumerate(tried):
            others = [tried[k][chosen[k]] for k in range(len(tried)) if k != i]
            cost = own[i] + np.array([sum(_overlap(box, o) for o in others) for box in boxes])
            chosen[i] = int(np.argmin(cost))
    for note, at, boxes, k in zip(notes, anchors, tried, chosen):
        _write(ax, note, at, boxes[k], dpi)


def _size(ax, note: Note, renderer) -> tuple[float, float]:
    text = ax.text(0, 0, note.text, fontsize=note.size, fontweight=note.weight)
    box = text.get_window_extent(renderer)
    text.remove()
    return box.width + 4.0, box.height + 3.0


def _candidates(at, size, dpi) -> list[_Box]:
    """Boxes of this size around a point, near ones first."""
    found = []
    for far in FAR:
        for k in range(ROUND):
            angle = 2 * np.pi * k / ROUND
            ahead = np.array([np.cos(angle), np.sin(angle)])
            middle = at + ahead * (far * dpi + 0.5 * np.abs(ahead) @ np.array(size))
            low = middle - 0.5 * np.array(size)
            found.append(_Box(*low, *(low + size)))
    return found


def _own_cost(boxes, frame, ink, dots) -> np.ndarray:
    """What each box costs by itself: distance, ink and spots below it, and what lies outside the axes."""
    cost = []
    for i, box in enumerate(boxes):
        out = max(0.0, frame.x0 - box.left) + max(0.0, box.right - frame.x1)
        out += max(0.0, frame.y0 - box.bottom) + max(0.0, box.top - frame.y1)
        below = 1.5 * _inside(ink, box, 1.0) + 40.0 * _inside(dots, box, 4.0)
        cost.append(8.0 * (i // ROUND) + below + 400.0 * out)
    return np.array(cost)


def _inside(points, box: _Box, margin: float) -> int:
    x, y = points.T
    across = (x > box.left - margin) & (x < box.right + margin)
    return int((across & (y > box.bottom - margin) & (y < box.top + margin)).sum())


def _overlap(a: _Box, b: _Box) -> float:
    wide = min(a.right, b.right) - max(a.left, b.left)
    high = min(a.top, b.top) - max(a.bottom, b.bottom)
    return 100.0 + wide * high if wide > 0 and high > 0 else 0.0


def _dense(line, gap: float = 3.0) -> np.ndarray:
    """Points along a line, `gap` pixels apart."""
    found = []
    for a, b in zip(line[:-1], line[1:]):
        many = max(2, int(np.hypot(*(b - a)) / gap) + 1)
        found.append(a + np.linspace(0, 1, many)[:, None] * (b - a))
    return np.vstack(found)


def _write(ax, note: Note, at, box: _Box, dpi) -> None:
    """The text in its box, with a thin line to its point where it is not beside it."""
    back = ax.transData.inverted()
    x, y = back.transform((0.5 * (box.left + box.right), 0.5 * (box.bottom + box.top)))
    near = np.clip(at, (box.left, box.bottom), (box.right, box.top))
    if np.hypot(*(near - at)) > 11.0 * dpi:
        ends = back.transform(np.array([at, near]))
        ax.plot(*ends.T, color=note.color, lw=0.4, alpha=0.7, zorder=8)
    ax.text(
        x,
        y,
        note.text,
        fontsize=note.size,
        fontweight=note.weight,
        color=note.color,
        ha="center",
        va="center",
        zorder=9,
        linespacing=1.15,
        bbox={"boxstyle": "square,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.72},
    )
