"""Figures of a motion of least time: speed along the path, what is used of every limit."""

from __future__ import annotations

import numpy as np

from reports.style import BLUE, CYCLE, GREEN, GREY, INK, ORANGE, RED, panels


def pace(race):
    """The tip's speed over the length of the path, and the extension over it; corners dotted."""
    law = race.found.law
    t = law.times
    ends = _corners(law)
    s = _along(law, ends)
    _, velocity = law.tip(t)[:2]
    speed = np.linalg.norm(velocity, axis=1)
    fig, axes = panels(2, 1, 1.25)
    of_tip, of_extension = axes[:, 0]
    of_tip.plot(s, speed, color=BLUE, lw=1.3)
    of_tip.set_ylabel("tip, m/s")
    of_tip.set_ylim(bottom=0)
    of_extension.plot(s, law.extension(t), color=ORANGE, lw=1.3)
    of_extension.set_ylabel("extension, m")
    of_extension.set_xlabel("along the path, m")
    for ax in axes[:, 0]:
        for corner in ends[1:-1]:
            ax.axvline(corner, color=GREY, lw=0.7, ls=":")
    return fig


def _corners(law) -> np.ndarray:
    """Where the path's edges begin, and where the last one ends, m along it."""
    lengths = law.curve.way.lengths
    return np.concatenate([[0.0], np.cumsum(lengths)])


def _along(law, ends: np.ndarray) -> np.ndarray:
    """How far along the path the tip is at every instant of the law, m."""
    curve = law.curve
    k = np.arange(len(law.times) - 1)
    τ = k % curve.n / curve.n
    length = curve.way.lengths[curve.edge]
    s = ends[curve.edge] + length * τ**2 * (3 - 2 * τ)
    return np.append(s, ends[-1])


def limits(race):
    """Share of every limit that the motion uses, over time; 1 is the limit."""
    t, shares = race.found.law.shares
    cylinders = race.task.crane.actuator_names
    pump = [name for name in shares if name.startswith("pump")]
    fig, axes = panels(3 if pump else 2, 1, 1.15, top=0.3)
    column = axes[:, 0]
    of_speeds, of_accelerations = column[:2]
    for i, (name, color) in enumerate(zip(cylinders, (BLUE, ORANGE, GREEN))):
        speed = shares[f"speed {i}"]
        of_speeds.plot(t, speed, color=color, lw=0.9, label=name)
        acceleration = shares[f"acceleration {i}"]
        of_accelerations.plot(t, acceleration, color=color, lw=0.9)
    handles, names = of_speeds.get_legend_handles_labels()
    fig.legend(handles, names, loc="upper center", ncols=3)
    for name, color in zip(pump, (RED, CYCLE[-1])):
        column[2].plot(t, shares[name], color=color, lw=0.9, label=name)
    if pump:
        column[2].legend(loc="lower right", ncols=2)
    for ax, label in zip(column, ("speeds", "accelerations", "pump")):
        ax.set_ylabel(label)
        ax.axhline(1.0, color=INK, lw=0.7, ls="--")
        ax.set_ylim(0.0, 1.08)
    column[-1].set_xlabel("t, s")
    return fig
