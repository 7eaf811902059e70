"""The machine drawn along its path: links, cylinders, joints, structure names."""

from __future__ import annotations

import numpy as np

from workbench.log import Log

from .style import BLUE, FAINT, GREY, INK, ORANGE, WIDTH, figure, named

STEEL, CASE = "#5A6472", "#0072B2"


def poses(plant, q) -> list[dict[str, np.ndarray]]:
    """Per structure the points to draw, metres in W: frame name → (x, y, z)."""
    from plants.chain import reach

    found = reach(plant.structures, plant.geometry(list(q)), plant.base.R, plant.base.r)
    return [{name: np.array(frame.r, float) for name, frame in row.items()} for row in found]


def chosen(plant, log: Log | None, count: int) -> list[np.ndarray]:
    """`count` joint positions, evenly spaced in time, within the strokes; without a log the plant's start."""
    if log is None or any(n not in log for n in plant.joint_names):
        return [np.array(plant.initial()[: plant.n], float)]
    q = np.stack([log.array(n) for n in plant.joint_names], 1)
    if not log.status.completed:
        count = 1  # what blew up no longer looks like a machine
    return [q[int(i)] for i in np.linspace(0, len(q) - 1, count)]


def machine(plant, log: Log | None = None, *, height: float = 2.75, width: float = WIDTH, ghosts: int = 5,
            bare: bool = False):
    """The machine at its start, faint copies along the run, and the path of its tool; None for other plants.

    bare: without axes and names.
    """
    if not hasattr(plant, "structures") or not hasattr(plant, "joint_names"):
        return None
    fig = figure(height, width)
    ax = fig.add_axes((0, 0, 1, 1) if bare else (0.42 / width, 0.36 / height, 1 - 0.5 / width, 1 - 0.44 / height))
    stops = chosen(plant, log, ghosts + 1 if ghosts else 1)
    for q in stops[1:]:
        _draw(ax, plant, q, faint=True)
    if log is not None and {"tcp_x", "tcp_y"} <= set(log.names):
        x, y = log.array("tcp_x"), log.array("tcp_y")
        keep = np.hypot(x - x[0], y - y[0]) < (np.inf if log.status.completed else 5.0)
        step = max(1, len(x) // 1500)
        ax.plot(np.where(keep, x, np.nan)[::step], np.where(keep, y, np.nan)[::step], color=ORANGE, lw=1.1, zorder=6)
    _draw(ax, plant, stops[0], names=not bare)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=6)
    ax.set(xlabel="x, m", ylabel="y, m")
    ax.margins(0.06)
    if bare:
        ax.set_axis_off()
    return fig


def _draw(ax, plant, q, faint: bool = False, names: bool = False):
    steel, case, rod = (FAINT, "#CFE0EC", FAINT) if faint else (STEEL, CASE, GREY)
    z = 2 if faint else 4
    for structure, p in zip(plant.structures, poses(plant, q)):
        r = structure.revolute
        pin, end = p["Tc"], p["E1"]
        _line(ax, [p["B0"], p["B1"]], steel, 3.0, z)
        _line(ax, [p["B1"], pin, end], steel, 3.0, z)
        along = (pin - p["B0"]) / np.linalg.norm(pin - p["B0"])
        mouth = p["B0"] + along * r.x0 * 0.92
        _line(ax, [p["B0"], pin], rod, 1.3, z + 0.1)
        _line(ax, [p["B0"] + along * 0.06 * r.x0, mouth], case, 4.0, z + 0.2)
        if structure.prismatic is not None:
            _line(ax, [p["E1"], p["B5"], p["P3"]], steel, 3.0, z)
            _line(ax, [p["E1"], 0.5 * (p["E1"] + p["P3"])], case, 3.0, z + 0.2)
            _line(ax, [p["P3"], p["E2"]], steel, 2.2, z)
        if faint:
            continue
        joints = np.array([p["B0"], p["B1"], pin])
        ax.plot(joints[:, 0], joints[:, 1], "o", ms=3.6, mfc="white", mec=INK, mew=0.8, zorder=z + 0.5)
        if names:
            _name(ax, named(r.name, 24), 0.5 * (p["B0"] + mouth), along, p["B1"])
            if structure.prismatic is not None:
                _name(ax, named(structure.prismatic.name, 24), 0.75 * p["E1"] + 0.25 * p["P3"], p["P3"] - p["E1"],
                      p["B0"])
    if not faint:
        _base(ax, plant)
        tip = p["E2"] if "E2" in p else p["E1"]
        ax.plot(tip[0], tip[1], "o", ms=4.5, color=ORANGE, zorder=z + 2)
        if names:
            ax.annotate("tool", (tip[0], tip[1]), (6, -2), textcoords="offset points", fontsize=7.5, va="top")


def _line(ax, points, color, width, z):
    points = np.array(points)
    ax.plot(points[:, 0], points[:, 1], color=color, lw=width, solid_capstyle="round", zorder=z)


def _name(ax, text, at, along, away):
    """A name beside a cylinder, on the side turned away from the point `away`."""
    across = np.array([-along[1], along[0]]) / (np.hypot(along[0], along[1]) or 1.0)
    if across @ (np.array(away[:2]) - at[:2]) > 0:
        across = -across
    ax.annotate(text, (at[0], at[1]), tuple(8 * across), textcoords="offset points", fontsize=7.5, color=BLUE,
                ha="left" if across[0] > 0.3 else "right" if across[0] < -0.3 else "center", zorder=9,
                va="bottom" if across[1] > 0.3 else "top" if across[1] < -0.3 else "center",
                bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75})


def _base(ax, plant):
    x, y = plant.base.r[0], plant.base.r[1]
    ax.plot([x - 0.25, x + 0.25], [y, y], color=INK, lw=1.2, zorder=3)
    for i in range(7):
        at = x - 0.25 + i * 0.5 / 6
        ax.plot([at, at - 0.05], [y, y - 0.06], color=INK, lw=0.5, zorder=3)
