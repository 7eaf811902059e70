"""Figures of a motion of least time: speed along the path, what is used of every limit."""

from __future__ import annotations

import numpy as np

from reports.style import BLUE, CYCLE, GREEN, GREY, INK, ORANGE, RED, panels


def pace(race):
    """The tip's speed over the length of the path, and the extension over it; corners dotted."""
    law = race.found.law
    way = law.curve.way
    t = law.times
    k = np.arange(len(t) - 1)
    τ = k % law.curve.n / law.curve.n
    ends = np.concatenate([[0.0], np.cumsum(way.lengths)])
    s = np.append(ends[law.curve.edge] + way.lengths[law.curve.edge] * τ**2 * (3 - 2 * τ), ends[-1])
    fig, axes = panels(2, 1, 1.25)
    axes[0, 0].plot(s, np.linalg.norm(law.tip(t)[1], axis=1), color=BLUE, lw=1.3)
    axes[1, 0].plot(s, law.extension(t), color=ORANGE, lw=1.3)
    for ax, label in zip(axes[:, 0], ("tip, m/s", "extension, m")):
        ax.set_ylabel(label)
        for corner in ends[1:-1]:
            ax.axvline(corner, color=GREY, lw=0.7, ls=":")
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_xlabel("along the path, m")
    return fig


def limits(race):
    """Share of every limit that the motion uses, over time; 1 is the limit."""
    crane, (t, shares) = race.task.crane, race.found.law.shares
    pump = [name for name in shares if name.startswith("pump")]
    fig, axes = panels(3 if pump else 2, 1, 1.15, top=0.3)
    for i, (name, color) in enumerate(zip(crane.actuator_names, (BLUE, ORANGE, GREEN))):
        axes[0, 0].plot(t, shares[f"speed {i}"], color=color, lw=0.9, label=name)
        axes[1, 0].plot(t, shares[f"acceleration {i}"], color=color, lw=0.9)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=3)
    for name, color in zip(pump, (RED, CYCLE[-1])):
        axes[2, 0].plot(t, shares[name], color=color, lw=0.9, label=name)
    if pump:
        axes[2, 0].legend(loc="lower right", ncols=2)
    for ax, label in zip(axes[:, 0], ("speeds", "accelerations", "pump")):
        ax.set_ylabel(label)
        ax.axhline(1.0, color=INK, lw=0.7, ls="--")
        ax.set_ylim(0.0, 1.08)
    axes[-1, 0].set_xlabel("t, s")
    return fig
