"""The machine drawn along its path: links, cylinders, joints, names."""

from __future__ import annotations

import numpy as np

from reports.outline import picture
from reports.picture import Outline, Picture
from workbench.run.log import Log

from .placing import Note, place
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
NAMES = {"body": INK, "cylinder": BLUE}


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
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn = picture(plant)
    if drawn is None:
        return None
    if fig is None:
        fig = figure(height, width)
        FigureCanvasAgg(fig)  # measures the names
    ax = fig.add_axes(
        (0, 0, 1, 1) if bare else (0.42 / width, 0.36 / height, 1 - 0.5 / width, 1 - 0.44 / height)
    )
    stops = chosen(drawn, log, ghosts + 1 if ghosts else 1)
    for q in stops[1:]:
        draw_outline(ax, drawn.at(q), faint=True)
    if (tool := drawn.tool(log)) is not None:
        _tool_path(ax, tool, log.status.completed)
    shape = drawn.at(stops[0])
    draw_outline(ax, shape)
    stand(ax, drawn)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=6)
    ax.set(xlabel=drawn.drawn[0], ylabel=drawn.drawn[1])
    ax.margins(0.06)
    if bare:
        ax.set_axis_off()
    else:
        write_names(ax, drawn, shape)
    return fig


def _tool_path(ax, tool: np.ndarray, completed: bool) -> None:
    """The path of the tool; of a run that diverged only what is within 5 m of the start."""
    x, y = tool.T
    keep = np.hypot(x - x[0], y - y[0]) < (np.inf if completed else 5.0)
    step = max(1, len(x) // 1500)
    ax.plot(
        np.where(keep, x, np.nan)[::step],
        np.where(keep, y, np.nan)[::step],
        color=ORANGE,
        lw=1.1,
        zorder=6,
    )


def draw_outline(ax, shape: Outline, faint: bool = False):
    """An outline on the axes; faint: a copy in the background."""
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
    if shape.tip is not None:
        ax.plot(*shape.tip, "o", ms=4.5, color=ORANGE, zorder=z + 2)


def write_names(ax, drawn: Picture, shape: Outline):
    """The names of bodies, cylinders and tool, off the machine and off each other; the axes keep their limits."""
    ax.figure.canvas.draw()
    ax.autoscale(False)
    notes = [
        Note(named(label.text, 24), tuple(label.at), NAMES[label.of]) for label in shape.labels
    ]
    if shape.tip is not None:
        notes.append(Note("tool", tuple(shape.tip), INK))
    place(ax, notes, [*(stroke.points for stroke in shape.strokes), *feet(drawn)], shape.pins)


def feet(drawn: Picture) -> list[np.ndarray]:
    """The ground's lines under the machine, as `stand` draws them."""
    return [np.array([at - (drawn.foot, 0.0), at + (drawn.foot, 0.0)]) for at in drawn.stands]


def stand(ax, drawn: Picture):
    """Ground under the points where the machine stands."""
    for x, y in drawn.stands:
        w = drawn.foot
        ax.plot([x - w, x + w], [y, y], color=INK, lw=1.2, zorder=3)
        for at in np.linspace(x - w, x + w, 7):
            ax.plot([at, at - 0.2 * w], [y, y - 0.24 * w], color=INK, lw=0.5, zorder=3)
