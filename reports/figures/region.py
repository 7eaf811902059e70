"""Figures of proofs in the plane: regions of attraction, and the circle or Popov plot of a loop with a sector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reports.signals import unit_for
from reports.style import (
    BLUE,
    GREEN,
    GREY,
    LIMIT,
    ORANGE,
    RED,
    WIDTH,
    figure,
    legend,
    named,
    symbol,
)

MOST = 4  # regions drawn


def regions(entries: Sequence[Mapping]):
    """Cuts through regions of attraction: what is proven (filled), the box it was proven in, the run's path."""
    if not entries:
        return None
    entries = list(entries)[:MOST]
    rows = -(-len(entries) // 2)
    columns = min(2, len(entries))
    height = 2.55 * rows + 0.1
    width = WIDTH if columns > 1 else WIDTH * 0.62
    fig = figure(height, width)
    for i, entry in enumerate(entries):
        left = (i % 2) / columns
        bottom = (rows - 1 - i // 2) * 2.55 / height
        ax = fig.add_axes(
            (
                left + 0.62 / width,
                bottom + 0.42 / height,
                1 / columns - 0.78 / width,
                (2.55 - 0.72) / height,
            )
        )
        _region(ax, entry)
    return fig


def _region(ax, entry):
    edge = np.asarray(entry["boundary"], float).reshape(-1, 2)
    box = _box(entry.get("box"))
    path = entry.get("path")
    path = np.zeros((0, 2)) if path is None else np.asarray(path, float).reshape(-1, 2)
    shown = [a for a in (edge, box) if a is not None]
    sizes = [
        unit_for(entry.get(f"unit_{c}", "1"), *(a[:, i] for a in shown)) for i, c in enumerate("xy")
    ]
    kind = named(entry.get("kind") or "region", 26)
    scale = np.array([size for _, size in sizes])
    for k, loop in enumerate(_closed(edge / scale)):
        ax.fill(*loop.T, color=GREEN, alpha=0.18, lw=0, zorder=2)
        ax.plot(
            *np.vstack([loop, loop[:1]]).T, color=GREEN, lw=1.2, zorder=3, label="" if k else kind
        )
    if box is not None:
        ax.plot(
            *np.vstack([box, box[:1]]).T / scale[:, None],
            color=LIMIT,
            lw=0.7,
            ls=(0, (4, 2)),
            zorder=1,
            label="box",
        )
    limits = ax.get_xlim(), ax.get_ylim()
    if len(path):
        step = max(1, len(path) // 3000)
        ax.plot(*(path[::step] / scale).T, color=BLUE, lw=0.7, zorder=4, label="run")
        ax.plot(*(path[0] / scale), "o", color=BLUE, ms=3, zorder=5)
        inside = all(a <= v <= b for (a, b), v in zip(limits, path[0] / scale))
        if (
            inside
            and (np.abs(path / scale).max(axis=0) > [3 * max(map(abs, e)) for e in limits]).any()
        ):
            # a run that went far away must not hide the region.
            ax.set(xlim=limits[0], ylim=limits[1])
    for i, c in enumerate("xy"):
        unit = sizes[i][0]
        getattr(ax, f"set_{c}label")(symbol(entry[c]) + (f", {unit}" if unit != "1" else ""))
    ax.set_title(named(entry.get("title", ""), 46))
    ax.locator_params(nbins=5)
    ax.legend(loc="upper right", fontsize=6.5, frameon=True, framealpha=0.85, edgecolor="none")


def _box(given):
    """Corners of a box given as ((x_low, x_high), (y_low, y_high)) or in one row; None without one."""
    if given is None or not np.size(given):
        return None
    (a, b), (c, d) = np.asarray(given, float).reshape(2, 2)
    return np.array([[a, c], [b, c], [b, d], [a, d]])


def _closed(edge) -> list[np.ndarray]:
    """The boundary's closed curves, which rows of nan set apart."""
    gone = ~np.isfinite(edge).all(axis=1)
    pieces = np.split(edge, np.flatnonzero(gone))
    pieces = [piece[np.isfinite(piece).all(axis=1)] for piece in pieces]
    return [piece for piece in pieces if len(piece) > 2]


def sector(data: Mapping):
    """G(jω) of the linear part against what the sector forbids: the circle, or Popov's line in the plane Re G, ω Im G."""
    if not data or not len(data.get("ω", ())):
        return None
    ω = np.asarray(data["ω"], float)
    G = np.asarray(data["G"], complex).ravel()
    popov = str(data.get("criterion", "circle")) == "popov"
    low, high = _ends(data["k"])
    x = G.real
    y = ω * G.imag if popov else G.imag
    fig = figure(2.7, WIDTH * 0.62)
    ax = fig.add_axes((0.16, 0.17, 0.8, 0.74))
    edge = -1 / high
    near = np.hypot(x, y) < 40 * max(abs(edge), 1e-300) if not popov else np.abs(x) < 40 * abs(edge)
    ax.plot(np.where(near, x, np.nan), np.where(near, y, np.nan), color=BLUE, label="$G$")
    if not popov:
        ax.plot(
            np.where(near, x, np.nan),
            np.where(near, -y, np.nan),
            color=BLUE,
            lw=0.5,
            ls=(0, (4, 2)),
        )
    span = _span(x[near], y[near], low, high)
    if popov:  # the ordinate is in units of its own
        top = float(np.abs(y[near & (x > span[0][0])]).max(initial=0.0)) or 1.0
        span = span[0], (-1.15 * top, 0.6 * top)
    if popov:
        slope = data.get("q")
        if slope:
            at = np.array([-1.0, 1.0]) * max(abs(v) for v in span[1])
            ax.plot(
                edge + np.asarray(slope, float) * at, at, color=RED, lw=0.9, label="Popov's line"
            )
    else:
        _forbidden(ax, low, high, span)
    ax.plot(edge, 0, "+", color=RED, ms=7, mew=1.2)
    ax.axhline(0, color=GREY, lw=0.4, zorder=0)
    ax.axvline(0, color=GREY, lw=0.4, zorder=0)
    ax.set(xlim=span[0], ylim=span[1], xlabel="Re G", ylabel="ω Im G" if popov else "Im G")
    ax.locator_params(nbins=5)
    legend(ax)
    return fig


def _ends(k) -> tuple[float, float]:
    """(low, high) of the sector: a pair, or its upper end alone."""
    both = np.atleast_1d(np.asarray(k, float)).ravel()
    return (0.0, float(both[0])) if both.size == 1 else (float(both[0]), float(both[-1]))


def _span(x, y, low, high):
    """Axes that hold the curve near the forbidden set, and as much of that as there is room for; twice as wide as high."""
    edge = 1 / high
    left = (
        min(max(1 / low if low > 0 else 2.4 * edge, 2.4 * edge), 8 * edge)
        if low >= 0
        else 1.15 * edge
    )
    right = 1 / -low if low < 0 else 0.4 * edge
    near = np.abs(x) < 2 * left
    right = max(right, min(float(x[near].max(initial=0.0)), left))
    span = 1.15 * (left + right)
    return (right - span + 0.1 * left, right + 0.1 * left), (-span / 3.4, span / 3.4)


def _forbidden(ax, low, high, span):
    """What G(jω) must stay out of: a disk (both ends positive), a half plane (from zero); else it must stay inside a disk."""
    from matplotlib.patches import Circle, Rectangle

    style = {
        "fc": ORANGE,
        "alpha": 0.18,
        "ec": "none",
        "zorder": 1,
        "label": f"sector {low:.3g} … {high:.3g}".replace("-", "−"),
    }
    if low == 0:
        left = span[0][0] - abs(span[0][0])
        ax.add_patch(
            Rectangle((left, 10 * span[1][0]), -1 / high - left, -20 * span[1][0], **style)
        )
        ax.axvline(-1 / high, color=ORANGE, lw=1.0)
        return
    ends = sorted((-1 / low, -1 / high))
    at = (ends[0] + ends[1]) / 2
    size = (ends[1] - ends[0]) / 2
    inside = low < 0 < high
    ax.add_patch(Circle((at, 0), size, **(style | {"fc": GREEN if inside else ORANGE})))
    ax.add_patch(
        Circle((at, 0), size, fill=False, ec=GREEN if inside else ORANGE, lw=1.0, zorder=2)
    )
    ax.set_aspect("equal", adjustable="box")
