"""Figures of a plan: the crane in its workspace, motions over time, what the supply gives, energies, the cost to go."""

from __future__ import annotations

import numpy as np

from reports.style import (
    BLUE,
    CYCLE,
    FAINT,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    WIDTH,
    clean,
    figure,
    panels,
)

POSES = 7


def workspace(found):
    """Where the tip can be, the path, and the crane along the plan."""
    task = found.task
    plan = found.best
    crane = task.crane
    radius = crane.L_1 + float(np.hypot(crane.L_2 + task.ranges[2][1], crane.h))
    X, Y = np.meshgrid(*(np.linspace(c - radius, c + radius, 141) for c in crane.origin))
    inside = np.zeros(X.shape, bool)
    for q_3 in np.linspace(*task.ranges[2], 41):
        near = np.abs(crane.stretch([X, Y], q_3)) < 1
        for q, (low, high) in zip(crane.joints([X, Y], q_3)[:2], task.ranges):
            near &= (q >= low) & (q <= high)
        inside |= near
    fig = figure(3.3, 4.4)
    ax = fig.add_axes((0.1, 0.12, 0.88, 0.86))
    ax.contourf(X, Y, inside, levels=[0.5, 1.5], colors=[FAINT], alpha=0.6)
    ax.contour(X, Y, inside, levels=[0.5], colors=[GREY], linewidths=0.6)
    for k, i in enumerate(np.linspace(0, task.steps, POSES).astype(int)):
        _draw(ax, crane, plan.signals["q"][i], first=k == 0)
    ax.plot(*task.tips.T, color=ORANGE, lw=1.3, zorder=5)
    ax.plot(*task.tips[0], "o", color=ORANGE, ms=4, zorder=6)
    ax.set_aspect("equal", adjustable="box")
    ax.set(
        xlabel="x, m",
        ylabel="y, m",
        xlim=(min(X[inside].min(), crane.origin[0]) - 0.2, X[inside].max() + 0.2),
        ylim=(Y[inside].min() - 0.2, Y[inside].max() + 0.2),
    )
    return fig


def _draw(ax, crane, q, first: bool):
    c1 = np.cos(q[0])
    s1 = np.sin(q[0])
    c2 = np.cos(q[0] + q[1])
    s2 = np.sin(q[0] + q[1])
    o = np.array(crane.origin)
    elbow = o + crane.L_1 * np.array([c1, s1])
    tube = elbow + crane.L_2 * np.array([c2, s2]) + crane.h * np.array([-s2, c2])
    tip = np.array(crane.tip(q))
    color = INK if first else GREY
    ax.plot(*np.stack([o, elbow]).T, color=color, lw=2.2 if first else 1.0, zorder=3)
    ax.plot(*np.stack([elbow, tube]).T, color=color, lw=1.8 if first else 0.9, zorder=3)
    ax.plot(*np.stack([tube, tip]).T, color=BLUE, lw=1.4 if first else 0.8, zorder=3)
    ax.plot(*np.stack([o, elbow]).T, "o", color=color, ms=3 if first else 1.5, zorder=4)


def shown(found) -> list:
    """The plans that are drawn: the optimum and at most four others."""
    return [r for r in found.rows if r.plan is not None][:5]


def motion(found):
    """Extension under every planner; joints, pistons and their speeds under the optimum."""
    task = found.task
    fig, axes = panels(4, 1, 1.05, top=0.42)
    for r, color in zip(shown(found), CYCLE):
        axes[0, 0].plot(
            task.times,
            r.plan.q_3,
            color=color,
            lw=1.5 if r is found.rows[0] else 0.9,
            label=clean(r.name, 40),
        )
    fig.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="upper center",
        ncols=5,
        columnspacing=0.9,
        fontsize=6.8,
    )
    s = found.best.signals
    middle = (task.times[:-1] + task.times[1:]) / 2
    for i, (name, color) in enumerate(zip(task.crane.actuator_names, (BLUE, ORANGE, GREEN))):
        if i < 2:
            axes[1, 0].plot(task.times, np.degrees(s["q"][:, i]), color=color)
        axes[2, 0].plot(task.times, s["x"][:, i], color=color, label=name)
        axes[3, 0].step(middle, 1e3 * s["v"][:, i], where="mid", color=color, lw=0.8)
    axes[2, 0].legend(loc="upper right", ncols=3)
    for ax, label in zip(axes[:, 0], ("extension, m", "joints, °", "pistons, m", "speed, mm/s")):
        ax.set_ylabel(label)
    axes[3, 0].set_xlabel("t, s")
    return fig


def supply(found):
    """Flow, pressure and power of the optimum beside the weighted pseudo-inverse."""
    task = found.task
    fig, axes = panels(3, 1, 1.1)
    middle = (task.times[:-1] + task.times[1:]) / 2
    for r, color in zip(
        [r for r in shown(found) if r.name in ("dynamic programming", "pseudo-inverse, weighted")],
        (BLUE, RED),
    ):
        s = r.plan.signals
        for ax, y in zip(axes[:, 0], (6e4 * s["Q"], 1e-5 * s["p"], 1e-3 * s["P"])):
            ax.step(middle, y, where="mid", color=color, lw=0.9, label=r.name)
    axes[0, 0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    for ax, label in zip(axes[:, 0], ("flow, l/min", "pump, bar", "power, kW")):
        ax.set_ylabel(label)
        ax.set_ylim(bottom=0)
    axes[2, 0].set_xlabel("t, s")
    return fig


def energies(found):
    """Energy of every planner's motion, and once it is smoothed to be driven; the lower bound."""
    rows = [r for r in found.rows if r.energy is not None]
    fig = figure(0.32 * len(rows) + 0.55, WIDTH)
    ax = fig.add_axes(
        (0.27, 0.36 / (0.32 * len(rows) + 0.55), 0.7, 1 - 0.55 / (0.32 * len(rows) + 0.55))
    )
    at = -np.arange(len(rows), dtype=float)
    ax.barh(at + 0.18, [1e-3 * r.energy for r in rows], 0.34, color=BLUE, label="planned")
    ax.barh(
        at - 0.18,
        [1e-3 * r.driven for r in rows],
        0.34,
        color="#A8CBE3",
        label="smoothed to be driven",
    )
    if found.bound is not None:
        ax.axvline(1e-3 * found.bound, color=INK, lw=0.8, ls="--", label="no motion needs less")
    ax.set_yticks(at, [clean(r.name, 40) for r in rows])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("energy, kJ")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return fig


def value(found):
    """Least energy from every extension at every time to the end, and the plan."""
    plan = found.best
    if plan.value is None:
        return None
    task = found.task
    fig = figure(2.5, WIDTH)
    ax = fig.add_axes((0.075, 0.16, 0.83, 0.8))
    columns = max(1, plan.value.shape[1] // 130)
    J = np.where(plan.value < 1e29, 1e-3 * plan.value, np.nan)[:, ::columns].T
    drawn = ax.contourf(
        task.times[: len(plan.value)], plan.nodes[0, ::columns], J, 24, cmap="cividis"
    )
    ax.plot(task.times, plan.q_3, color="white", lw=1.4)
    ax.set(xlabel="t, s", ylabel="extension, m")
    ax.grid(visible=False)
    bar = fig.colorbar(drawn, cax=fig.add_axes((0.92, 0.16, 0.015, 0.8)))
    bar.set_label("energy to the end, kJ")
    bar.ax.tick_params(labelsize=7)
    return fig
