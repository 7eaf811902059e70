"""Figures of truth against the controller's model: frequency and step responses, a column an input."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports import tables
from reports.axes import decades, tens, whole
from reports.signals import unit_for
from reports.style import BLUE, LIMIT, ORANGE, legend, line, panels, symbol

PAIR = (("model", ORANGE, 2.2, "model"), ("truth", BLUE, 0.9, "machine"))


def bode(data: Mapping):
    """|G| and arg G of machine and model from every input to the output that is followed."""
    channels = data.get("channels") or ()
    if not channels:
        return None
    fig, axes = panels(2, len(channels), 1.1, left=0.78 if len(channels) > 1 else 0.62, top=0.26)
    for (gain, phase), c in zip(axes.T, channels):
        f = np.asarray(c["ω"]) / (2 * np.pi)
        turns = {}
        for key, color, width, label in PAIR:
            gain.plot(f, np.abs(c[key]), color=color, lw=width, label=label)
            turns[key] = np.degrees(np.unwrap(np.angle(c[key])))
        # Both start from the same turn.
        turns["model"] -= 360 * np.round((turns["model"][0] - turns["truth"][0]) / 360)
        for key, color, width, _ in PAIR:
            phase.plot(f, turns[key], color=color, lw=width)
        gain.set(xscale="log", yscale="log")
        gain.set_title(f"from {symbol(c['input'])} to {symbol(c['output'])}")
        unit = tables.ratio(c["unit"])
        gain.set_ylabel("|G|" + (f", {unit}" if unit != "1" else ""))
        phase.set(ylabel="arg G, °", xlabel="frequency, Hz")
        (tens if len(channels) > 1 else whole)(phase.xaxis)
        decades(gain, 4, low=False)
        phase.locator_params(axis="y", nbins=5)
    legend(axes[0, -1])
    return fig


def steps(data: Mapping):
    """Responses of machine and model to a step as large as the input's largest value in the run, from rest."""
    channels = data.get("channels") or ()
    if not channels:
        return None
    outputs = list(channels[0]["steps"])
    fig, axes = panels(
        len(outputs),
        len(channels),
        1.0,
        left=0.78 if len(channels) > 1 else 0.62,
        gap=0.34,
        top=0.26,
    )
    for j, c in enumerate(channels):
        for ax, name in zip(axes[:, j], outputs):
            step = c["steps"][name]
            unit, size = unit_for(step["unit"], step["truth"], step["model"])
            for key, color, width, label in PAIR:
                line(
                    ax,
                    1e3 * np.asarray(c["t"]),
                    np.asarray(step[key]) / size,
                    color,
                    lw=width,
                    label=label,
                )
            ax.axhline(0, color=LIMIT, lw=0.5)
            ax.set_ylabel(unit)
            ax.set_title(
                f"{symbol(name)}, step of {symbol(c['input'])} by {tables.quantity(c['size'], c['size_unit'], 3)}"
            )
            ax.locator_params(axis="y", nbins=4)
        axes[-1, j].set_xlabel("time, ms")
        axes[-1, j].margins(x=0.01)
    handles, labels = axes[-1, -1].get_legend_handles_labels()
    axes[-1, -1].legend(handles, labels, loc="best", ncols=1)
    return fig
