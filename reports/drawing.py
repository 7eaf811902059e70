"""A machine at its start as a drawing: names of bodies and pins, lengths and strokes of cylinders, angles, the reach of its tool.

A `Mechanism` is drawn with all that it knows; other plants as in their reports (`sketch`). Axes are equal, in metres.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from plants.multibody.mechanism import Mechanism
from plants.multibody.reach import tool_points
from reports.outline import picture
from reports.outline_mechanism import directions
from reports.picture import Picture
from workbench.contract.errors import InputError
from workbench.contract.system import System, check_system
from workbench.files.atomic import write_atomic

from .drawing_table import SOFT, cylinders, signed, table, telescopes, turning
from .placing import Note, place
from .sketch import draw_outline, feet, machine, stand
from .style import BLUE, INK, ORANGE, RED, SKY, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".svg", ".png")
WITHOUT_WINDOWS = ("agg", "svg", "pdf", "ps", "cairo", "template")
SIZE = (12.0, 7.2)  # inches
DPI = 160
POINT = 1.0  # m: taken as the size of a machine that is a point, as a drum without pins
EDGE = 0.3  # share of a cell, smoothed, from which it is in reach
WIDE = 0.93  # of the page: a line of the heading
SAME = 5e-3  # m: places that are no further apart are told as one
LEAST = 7.0  # points: letters of a heading
CELLS = 200  # across the picture in which the reach of a tool is traced


def check_drawable(plant, path: str | os.PathLike | None) -> None:
    """InputError for a plant that looks like nothing, or a file that is no picture."""
    if path is not None and os.path.splitext(path)[1].lower() not in KINDS:
        raise InputError(
            f"{os.fspath(path)}: a drawing is written as {' or '.join(KINDS)}",
            mend=f"call it machine{KINDS[0]}",
        )
    if picture(plant) is None:
        raise InputError(
            f"a {type(plant).__name__} has no shape to draw",
            mend="draw a machine with bodies: a Mechanism, a Manipulator, a four-bar, arms",
        )


def draw(plant: System, path: str | os.PathLike | None = None, title: str = "") -> Figure:
    """A machine at its start: names of bodies and pins, lengths and strokes of cylinders, angles, the reach of its tool.

    plant   a machine with a shape: a Mechanism, a Manipulator, a four-bar, arms
    path    a file ending in .svg or .png that the drawing is written to; None: no file
    title   the heading; left out, the machine's own name

        fp.draw(fp.machine("excavator").plant, "excavator.svg")

    Returns a Matplotlib figure, which notebooks show. Raises InputError for a plant without a shape and a file of another
    kind, or one that cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from workbench.run.figure import ShownFigure

    check_system(plant)
    check_drawable(plant, path)
    with _settings():
        fig = ShownFigure(figsize=SIZE, dpi=DPI, layout="none")
        FigureCanvasAgg(fig)
        draw_on(fig, plant, title or plant.title)
        if path is not None:
            kind = os.path.splitext(path)[1].lower()[1:]
            write_atomic(path, lambda stream: fig.savefig(stream, format=kind, dpi=DPI))
    return fig


def show_drawing(plant, title: str = "") -> bool:
    """The drawing in a window, until it is closed; False where no window can be opened."""
    import matplotlib
    import matplotlib.pyplot as plt

    with _settings():
        try:
            fig = plt.figure(figsize=SIZE)
        except (ImportError, RuntimeError):  # no toolkit for windows, or its display is silent
            return False
        if matplotlib.get_backend().lower() in WITHOUT_WINDOWS:
            plt.close(fig)
            return False
        draw_on(fig, plant, title)
        plt.show()
    return True


@contextmanager
def _settings():
    """The report's settings with a font that every machine has; letters as outlines, the same for every viewer."""
    import matplotlib

    with drawing(), matplotlib.rc_context({"svg.fonttype": "path", "font.family": ["DejaVu Sans"]}):
        yield


def draw_on(fig, plant, title: str = "") -> None:
    """The drawing on an empty Figure; its canvas draws with Agg."""
    if isinstance(plant, Mechanism):
        _mechanism(fig, plant, title)
        return
    machine(plant, height=SIZE[1], width=SIZE[0], fig=fig)
    fig.axes[0].set_position((0.06, 0.07, 0.92, 0.85))
    _fitted(fig, 0.945, title, 13.0, fontweight="bold")


def _mechanism(fig, plant: Mechanism, title: str) -> None:
    """Left the machine with its names; right what its tool reaches, and angles and strokes in numbers."""
    ax = fig.add_axes((0.05, 0.07, 0.60, 0.83))
    drawn = picture(plant)
    shape = drawn.at(drawn.start)
    draw_outline(ax, shape)
    stand(ax, drawn)
    _frame(ax, drawn, [stroke.points for stroke in shape.strokes] + [shape.pins], 0.16)
    reached = _reach(fig, plant, drawn, shape)
    _heading(fig, plant, title, reached)
    table(fig, plant)
    fig.canvas.draw()
    notes = [*_body_notes(plant, shape), *_pin_notes(plant), *_cylinder_notes(plant, shape)]
    place(ax, notes, [*(stroke.points for stroke in shape.strokes), *feet(drawn)], shape.pins)


def _frame(ax, drawn: Picture, parts, room: float) -> None:
    """Equal axes around `parts` and the ground, with a share of `room` around them."""
    every = np.vstack([*parts, drawn.stands])
    low = every.min(axis=0)
    high = every.max(axis=0)
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low) + room * (max(high - low) or POINT)
    box = ax.get_window_extent()
    scale = max(half[0] / box.width, half[1] / box.height)  # m a pixel, the same both ways
    ax.set_aspect("equal")
    ax.set_xlim(middle[0] - scale * box.width, middle[0] + scale * box.width)
    ax.set_ylim(middle[1] - scale * box.height, middle[1] + scale * box.height)
    ax.set(xlabel=drawn.drawn[0], ylabel=drawn.drawn[1])


def _heading(fig, plant, title: str, reached) -> None:
    """The machine's name; below it degrees of freedom, mass, and the reach of the tool."""
    many = plant.assembly.mobility
    parts = [f"{many} degree{'s' if many != 1 else ''} of freedom"]
    parts.append(f"{sum(b.mass for b in plant.bodies):.4g} kg")
    if reached is not None:
        parts.append(f"{plant.tcp.name or 'tool'} reaches {_extent(plant, reached)}")
    _fitted(fig, 0.955, title or plant.name, 13.0, fontweight="bold")
    _fitted(fig, 0.92, signed(" · ".join(parts)), 8.5, color=SOFT)


def _fitted(fig, y: float, text: str, size: float, **looks) -> None:
    """One line across the page: in smaller letters where it is long, and cut where those would be too small to read."""
    line = fig.text(0.05, y, text, fontsize=size, va="baseline", **looks)
    room = WIDE * fig.bbox.width
    while line.get_window_extent().width > room and line.get_fontsize() > LEAST:
        line.set_fontsize(line.get_fontsize() - 0.5)
    while line.get_window_extent().width > room and len(text) > 1:
        text = text[:-2].rstrip()
        line.set_text(f"{text}…")


def _extent(plant, points: np.ndarray) -> str:
    """How far (n, 3) points lie across and up, where the drawing is seen level; else along those axes of the ground on which
    they differ.
    """
    view = directions(plant)
    weight = np.array(plant.gravity, float)
    if np.allclose(weight @ view[:, 1], -np.linalg.norm(weight)):
        across, up = map(_range, (points @ view).T)
        return f"{across} across, {up} up"
    along = [f"{name} {_range(own)}" for name, own in zip("xyz", points.T) if np.ptp(own) > SAME]
    return f"{', '.join(along) or 'one place'} over the strokes of its cylinders"


def _range(values) -> str:
    least, largest = (round(float(v), 2) + 0.0 for v in (values.min(), values.max()))
    return f"{least:.2f} … {largest:.2f} m"


def _reach(fig, plant, drawn: Picture, shape) -> np.ndarray | None:
    """The area that the tool sweeps over all strokes, beside the machine; its points in space."""
    if plant.tcp is None:
        return None
    swept = tool_points(plant)
    points = swept @ directions(plant)
    ax = fig.add_axes((0.715, 0.45, 0.275, 0.43))
    x, y, inside = _traced(points)
    ax.contourf(x, y, inside, levels=[EDGE, 2.0], colors=[SKY], alpha=0.16, zorder=0.5)
    ax.contour(x, y, inside, levels=[EDGE], colors=[SKY], linewidths=0.9, zorder=0.6)
    small = [stroke for stroke in shape.strokes]
    for stroke in small:
        closed = stroke.kind == "plate"
        line = np.vstack([stroke.points, stroke.points[:1]]) if closed else stroke.points
        ax.plot(*line.T, color=BLUE if stroke.kind == "case" else SOFT, lw=0.9, zorder=3)
    ax.plot(*shape.tip, "o", ms=3.5, color=ORANGE, zorder=4)
    _frame(ax, drawn, [points, *(stroke.points for stroke in small)], 0.05)
    ax.set_title(f"reach of {plant.tcp.name or 'the tool'}", fontsize=8.5)
    return swept


def _traced(points):
    """(x, y, share of each cell that is swept), closed and smoothed by the width of a cell."""
    from scipy.ndimage import binary_closing, gaussian_filter

    low = points.min(axis=0)
    high = points.max(axis=0)
    cell = max(max(high - low), 1e-3) / CELLS
    many = np.ceil((high - low) / cell).astype(int) + 24
    at = np.floor((points - low) / cell).astype(int) + 12
    found = np.zeros(tuple(many), bool)
    found[at[:, 0], at[:, 1]] = True
    found = binary_closing(found, structure=np.ones((3, 3)), iterations=4)
    x = low[0] + (np.arange(many[0]) - 11.5) * cell
    y = low[1] + (np.arange(many[1]) - 11.5) * cell
    return x, y, gaussian_filter(found.T.astype(float), 1.2)


# ---- what is written -------------------------------------------------------------------------------------------------
def _body_notes(plant, shape) -> list[Note]:
    labels = shape.labels[: len(plant.bodies)]
    return [Note(label.text, tuple(label.at), INK, 9.5, "bold") for label in labels]


def _cylinder_notes(plant, shape) -> list[Note]:
    labels = shape.labels[len(plant.bodies) :]
    at = [label.at for label in labels]
    at += [_middle_of_slide(plant, a.joint) for a, _ in telescopes(plant)]
    found = []
    for (a, s), spot in zip((*cylinders(plant), *telescopes(plant)), at):
        low, high = a.span
        color = BLUE if low <= s <= high else RED
        found.append(Note(f"{a.name} {s:.3f} m", tuple(spot), color, 8.0))
    return found


def _middle_of_slide(plant, joint: str) -> np.ndarray:
    """Where the way of a prismatic joint has its middle at the start, as drawn."""
    body = next(b for b in plant.bodies if b.name == joint)
    view = directions(plant)
    ends = _spot(plant, view, body.parent, body.point), _spot(plant, view, joint, (0.0, 0.0, 0.0))
    return np.mean(ends, axis=0)


def _pin_notes(plant) -> list[Note]:
    """One note a place: the names of all pins there; and one for the angle of each joint."""
    places: dict[tuple, list[str]] = {}
    angles: list[tuple[tuple, str]] = []
    for at, name in _named_places(plant):
        names = places.setdefault(at, [])
        if name and name not in names:
            names.append(name)
    view = directions(plant)
    for body, _, angle in turning(plant):
        at = _spot(plant, view, body.parent, body.point)
        angles.append((at, signed(f"{body.name} ∠ {np.degrees(angle):.1f}°")))
    notes = [Note(" · ".join(names), at, SOFT, 7.5) for at, names in places.items() if names]
    return [*notes, *(Note(text, at, RED, 7.5) for at, text in angles)]


def _named_places(plant) -> list[tuple[tuple, str]]:
    """(place in the drawing, name) of every pin."""
    pins = [(b.parent, b.point, b.joint_name) for b in plant.bodies]
    pins += [(p.body, p.point, p.name) for loop in plant.loops for p in (loop.a, loop.b)]
    pins += [(p.body, p.point, p.name) for a in plant.actuators if a.a for p in (a.a, a.b)]
    pins += [(b.name, p.point, p.name) for b in plant.bodies for p in b.pins]
    pins += [("ground", p.point, p.name) for p in plant.pins]
    if plant.tcp is not None:
        pins.append((plant.tcp.body, plant.tcp.point, plant.tcp.name or "tool"))
    view = directions(plant)
    return [(_spot(plant, view, body, point), name) for body, point, name in pins]


def _spot(plant, view, body: str, point) -> tuple:
    """Where a point of a body is drawn at the start."""
    motion = plant.moving([float(v) for v in plant.assembly.z], None)
    j = plant.number(body)
    at = np.array(point, float)
    if j >= 0:
        at = np.array(motion.r[j], float) + np.array(motion.R[j], float).reshape(3, 3) @ at
    return tuple(np.round(at @ view, 6))
