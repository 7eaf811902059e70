"""Figures of an identification: records beside the model, tests of the residuals, frequency responses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports import tables
from reports.axes import decades, time_axis, whole
from reports.signals import unit_for
from reports.style import (
    BLUE,
    CYCLE,
    GREY,
    LIMIT,
    ORANGE,
    RED,
    WANTED,
    legend,
    line,
    named,
    panels,
    symbol,
)


def record(curve: Mapping, output: str):
    """Inputs of one record, its output measured and modelled, and what is left."""
    inputs = curve["inputs"][:2]
    fig, axes = panels(len(inputs) + 2, 1, 0.8, gap=0.34)
    for ax, (name, unit, values) in zip(axes[:, 0], inputs):
        shown, size = unit_for(unit, values)
        line(ax, curve["t"], values / size, ORANGE, lw=0.8)
        ax.set_ylabel(shown)
        ax.set_title(symbol(name))
    fit, rest = axes[-2:, 0]
    shown, size = unit_for(curve["unit"], curve["measured"])
    line(fit, curve["t"], curve["measured"] / size, WANTED, lw=2.4, label="measured")
    line(fit, curve["t"], curve["modelled"] / size, BLUE, lw=0.8, label="model")
    fit.set_ylabel(shown)
    fit.set_title(f"{symbol(output)}, fit {curve['percent']:.4g} %")
    legend(fit)
    shown, size = unit_for(curve["unit"], curve["residual"])
    rest.axhline(0, color=LIMIT, lw=0.5)
    line(rest, curve["t"], curve["residual"] / size, "#666666", lw=0.7)
    rest.set_ylabel(shown)
    rest.set_title("residual, measured minus model")
    for ax in axes[:, 0]:
        ax.locator_params(axis="y", nbins=4)
    return time_axis(fig, axes)


def residuals(checked):
    """Autocorrelation of residuals with its band, and their correlation with past inputs, limits dashed."""
    fig, axes = panels(1, 2 if checked.cross else 1, 1.3, sharex=False, top=0.26)
    ax = axes[0, 0]
    white = checked.whiteness
    lags = np.arange(1, len(white.autocorrelation) + 1)
    _stems(ax, lags, white.autocorrelation, white.band, BLUE)
    ax.axhspan(-white.band, white.band, color=GREY, alpha=0.18, lw=0)
    ax.set_title("autocorrelation of the residuals")
    ax.set_xlabel("lag, samples")
    if checked.cross:
        ax = axes[0, 1]
        n = len(checked.cross)
        for i, (cross, color) in enumerate(zip(checked.cross, CYCLE)):
            at = np.arange(len(cross.z)) + 0.6 * (i / n - (n - 1) / (2 * n))
            _stems(ax, at, cross.z, cross.limit, color, named(cross.input, 20))
            for sign in (1, -1):
                ax.axhline(sign * cross.limit, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
        ax.set_title("correlation with inputs before, in σ")
        ax.set_xlabel("lag, samples")
        if n > 1:
            legend(ax)
    for ax in axes[0]:
        ax.locator_params(axis="y", nbins=5)
    return fig


def _stems(ax, at, values, limit, color, label=""):
    """Values as stems; those beyond the limit in red."""
    out = np.abs(values) > limit
    for keep, paint in ((~out, color), (out, RED)):
        ax.vlines(np.asarray(at)[keep], 0, np.asarray(values)[keep], color=paint, lw=1.1)
    ax.plot(at, values, "o", color=color, ms=1.8, label=label)
    ax.axhline(0, color=LIMIT, lw=0.5)


def responses(parts: Mapping, units: Mapping):
    """|G| and arg G of every channel, over the frequencies of its records."""
    if not parts:
        return None
    parts = dict(list(parts.items())[:3])
    fig, axes = panels(2, len(parts), 1.05, left=0.78 if len(parts) > 1 else 0.62, top=0.26)
    for (gain, phase), (name, (ω, G)) in zip(axes.T, parts.items()):
        f = np.asarray(ω) / (2 * np.pi)
        unit = tables.ratio(units[name])
        gain.plot(f, np.abs(G), color=BLUE)
        phase.plot(f, np.degrees(np.unwrap(np.angle(G))), color=BLUE)
        gain.set(xscale="log", yscale="log", ylabel="|G|" + (f", {unit}" if unit != "1" else ""))
        gain.set_title(f"from {symbol(name)}")
        phase.set(xlabel="frequency, Hz", ylabel="arg G, °")
        whole(phase.xaxis)
        decades(gain, 4, low=False)
        phase.locator_params(axis="y", nbins=5)
    return fig
