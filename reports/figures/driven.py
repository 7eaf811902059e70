"""Figures of plans driven: planned against metered energy term by term; pump and tip over time."""

from __future__ import annotations

import numpy as np

from reports.style import BLUE, GREEN, GREY, INK, ORANGE, RED, WIDTH, clean, figure, panels


def account(drives):
    """Planned energy, every term, metered energy, motion by motion."""
    done = drives.done
    if not done:
        return None
    causes = list(done[0][1].account.terms)
    height = 0.2 * (len(causes) + 3) * len(done[:3]) + 0.5
    fig = figure(height, WIDTH)
    ax = fig.add_axes((0.3, 0.36 / height, 0.67, 1 - 0.46 / height))
    y = 0.0
    ticks = []
    for name, drive in done[:3]:
        a = drive.account
        ax.barh(y, 1e-3 * a.planned, 0.7, color=BLUE)
        ticks.append((y, f"{clean(name, 30)}: planned"))
        level = a.planned
        for cause in causes:
            y -= 1.0
            value = a.terms[cause]
            ax.barh(y, 1e-3 * value, 0.7, left=1e-3 * level, color=ORANGE if value > 0 else GREEN)
            level += value
            ticks.append((y, cause))
        y -= 1.0
        ax.barh(y, 1e-3 * a.metered, 0.7, color=INK)
        ticks.append((y, "metered"))
        y -= 1.8
    ax.set_yticks(*zip(*ticks), fontsize=7)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("energy at the pump, kJ")
    return fig


def run(drives):
    """Supply pressure planned and run, power of the pump, error of the tip, under the optimum."""
    drive = drives.rows[0][1]
    if drive is None:
        return None
    log = drive.log
    task = drive.plan.task
    s = drive.plan.signals
    fig, axes = panels(3, 1, 1.15)
    middle = (task.times[:-1] + task.times[1:]) / 2
    E = log.array("E_supply")
    axes[0, 0].step(middle, 1e-5 * s["p"], where="mid", color=GREY, lw=0.9, label="planned")
    for name, color in zip([n for n in log.names if n.startswith("p_s")], (BLUE, ORANGE, GREEN)):
        axes[0, 0].plot(
            log.time,
            1e-5 * log.array(name),
            color=color,
            lw=0.8,
            label=f"run{name[3:] and ', cylinder ' + name[3:]}",
        )
    axes[1, 0].step(middle, 1e-3 * np.cumsum(s["E"]), where="mid", color=GREY, lw=0.9)
    axes[1, 0].plot(log.time, 1e-3 * (E - E[0]), color=BLUE, lw=1.0)
    axes[2, 0].plot(log.time, 1e3 * drive.error, color=RED, lw=0.8)
    axes[0, 0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4)
    for ax, words in zip(axes[:, 0], ("pump, bar", "energy, kJ", "tip error, mm")):
        ax.set_ylabel(words)
        ax.set_ylim(bottom=0)
    axes[2, 0].set_xlabel("t, s")
    return fig
