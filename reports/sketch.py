"""The machine drawn along its path: links, cylinders, joints, names."""

from __future__ import annotations

import numpy as np

from workbench.run.log import Log

from .outline import Outline, Picture, picture
from .style import BLUE, FAINT, GREY, INK, ORANGE, WIDTH, figure, named

# colour, faint colour, width in points, layer
STYLES = {
    "link": ("#5A6472", FAINT, 3.0, 0.0),
    "plate": ("#5A6472", FAINT, 2.0, 0.0),
    "slide": ("#5A6472", FAINT, 2.2, 0.05),
    "rod": (GREY, FAINT, 1.3, 0.1),
    "case": (BLUE, "#CFE0EC", 4.0, 0.2),
    "tube": (BLUE, "#CFE0EC", 3.0, 0.2),
}
PLATE = "#E3E6EA"


def chosen(drawn: Picture, log: Log | None, count: int) -> list[np.ndarray]:
    """`count` positions, evenly spaced in time; without a log the start."""
    q = drawn.positions(log)
    if log is not None and not log.status.completed:
        count = 1  # what blew up no longer looks like a machine
    return [q[int(i)] for i in np.linspace(0, len(q) - 1, count)]


def machine(
    plant,
    log: Log | None = None,
    *,
    height: float = 2.75,
    width: float = WIDTH,
    ghosts: int = 5,
    bare: bool = False,
    fig=None,
):
    """The machine at its start, faint copies along the run, and the path of its tool; None for plants that look like nothing.

    bare: without axes and names; fig: an empty Figure of this size to draw on.
    """
    drawn = picture(plant)
    if drawn is None:
        return None
    if fig is None:
        fig = figure(height, width)
    ax = fig.add_axes(
        (0, 0, 1, 1) if bare else (0.42 / width, 0.36 / height, 1 - 0.5 / width, 1 - 0.44 / height)
    )
    stops = chosen(drawn, log, ghosts + 1 if ghosts else 1)
    for q in stops[1:]:
        draw_outline(ax, drawn.at(q), faint=True)
    if log is not None and {"tcp_x", "tcp_y"} <= set(log.names):
        x, y = log.array("tcp_x"), log.array("tcp_y")
        keep = np.hypot(x - x[0], y - y[0]) < (np.inf if log.status.completed else 5.0)
        step = max(1, len(x) // 1500)
        ax.plot(
            np.where(keep, x, np.nan)[::step],
            np.where(keep, y, np.nan)[::step],
            color=ORANGE,
            lw=1.1,
            zorder=6,
        )
    draw_outline(ax, drawn.at(stops[0]), names=not bare)
    stand(ax, drawn)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=6)
    ax.set(xlabel=drawn.drawn[0], ylabel=drawn.drawn[1])
    ax.margins(0.06)
    if bare:
        ax.set_axis_off()
    return fig


def draw_outline(ax, shape: Outline, faint: bool = False, names: bool = False):
    """An outline on the axes; faint: a copy in the background, names: with its labels."""
    z = 2 if faint else 4
    for kind, points in shape.strokes:
        color, pale, width, layer = STYLES[kind]
        if kind == "plate":
            ax.fill(
                *points.T,
                fc="none" if faint else PLATE,
                ec=pale if faint else color,
                lw=width,
                joinstyle="round",
                zorder=z,
            )
            continue
        ax.plot(
            *points.T,
            color=pale if faint else color,
            lw=width,
            solid_capstyle="round",
            zorder=z + layer,
        )
    if faint:
        return
    ax.plot(*shape.pins.T, "o", ms=3.6, mfc="white", mec=INK, mew=0.8, zorder=z + 0.5)
    for label in shape.labels if names else ():
        _name(ax, *label)
    if shape.tip is not None:
        ax.plot(*shape.tip, "o", ms=4.5, color=ORANGE, zorder=z + 2)
        if names:
            ax.annotate(
                "tool",
                tuple(shape.tip),
                (6, -2),
                textcoords="offset points",
                fontsize=7.5,
                va="top",
            )


def _name(ax, text, at, along, away):
    """A name beside a line, on the side turned away from the point `away`."""
    across = np.array([-along[1], along[0]]) / (np.hypot(*along) or 1.0)
    if across @ (away - at) > 0:
        across = -across
    ax.annotate(
        named(text, 24),
        tuple(at),
        tuple(8 * across),
        textcoords="offset points",
        fontsize=7.5,
        color=BLUE,
        ha="left" if across[0] > 0.3 else "right" if across[0] < -0.3 else "center",
        zorder=9,
        va="bottom" if across[1] > 0.3 else "top" if across[1] < -0.3 else "center",
        bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
    )


def stand(ax, drawn: Picture):
    """Ground under the points where the machine stands."""
    for x, y in drawn.stands:
        w = drawn.foot
        ax.plot([x - w, x + w], [y, y], color=INK, lw=1.2, zorder=3)
        for at in np.linspace(x - w, x + w, 7):
            ax.plot([at, at - 0.2 * w], [y, y - 0.24 * w], color=INK, lw=0.5, zorder=3)
