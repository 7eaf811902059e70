"""Figures of an analysis: the ledger, power flows at the cuts, assumptions over time, studies of sampling and delay.

Accompanying functions and virtual power flows are those of [Zhu10] and [Petrovic22] section 5.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports.axes import decades, from_zero, whole
from reports.signals import unit_for
from reports.style import (
    BLUE,
    CYCLE,
    GREEN,
    LIMIT,
    ORANGE,
    RED,
    WIDTH,
    figure,
    legend,
    line,
    named,
    panels,
    thinned,
    upper,
)

MOST = 8  # subsystems, perturbations or cuts drawn; the largest ones


def ledger(data: Mapping):
    """v beside its bound v̂ on a logarithmic axis, and v̇ beside its bound, whole loop."""
    if "v" not in data:
        return None
    fig, axes = panels(2 if "vdot" in data else 1, 1, 1.35)
    ax = axes[0, 0]
    if "v_bound" in data:
        _log_line(ax, data["t"], data["v_bound"], ORANGE, lw=1.6, label="bound $v̂$")
    _log_line(ax, data["t"], data["v"], BLUE, label="$v$")
    ax.set_ylabel("J")
    legend(ax)
    decades(ax)
    if "vdot" in data:
        _rates(axes[1, 0], data["t"], data["vdot"], data.get("vdot_bound"))
        legend(axes[1, 0])
    return _time(axes, fig)


def subsystems(data: Mapping):
    """Per subsystem: v on a logarithmic axis (left), v̇ and its bound (right); the ground, which stores nothing, is left out."""
    parts = {n: p for n, p in (data.get("per_subsystem") or {}).items() if np.any(p["v"])}
    if not parts:
        return None
    names = _largest({n: p["v"] for n, p in parts.items()})
    fig, axes = panels(len(names), 2, 0.8 if len(names) > 3 else 1.0, left=0.56)
    for (left, right), name in zip(axes, names):
        part = parts[name]
        _log_line(left, data["t"], part["v"], BLUE)
        left.set_title(named(name, 44))
        left.set_ylabel("J")
        decades(left, 3)
        _rates(right, data["t"], part["vdot"], part.get("bound"))
        right.locator_params(axis="y", nbins=3)
    legend(axes[0, 1])
    axes[-1, 1].set_xlabel("time, s")
    return _time(axes, fig)


def perturbations(data: Mapping):
    """Size of each named perturbation term over time, largest first."""
    terms = {
        name: np.abs(np.asarray(d, float)) for name, d in (data.get("perturbations") or {}).items()
    }
    peaks = {name: float(np.nanmax(d, initial=0.0)) for name, d in terms.items()}
    drawn = {
        name: terms[name]
        for name in sorted(peaks, key=peaks.get, reverse=True)
        if _seen(terms[name], terms)
    }
    names = _largest(drawn)
    if not names:
        return None
    fig, axes = panels(1, 1, 1.8, top=0.4)
    ax = axes[0, 0]
    for name, color in zip(names, CYCLE):
        _log_line(ax, *upper(data["t"], terms[name]), color, lw=0.9, label=named(name, 30))
    ax.set_ylabel("|$d_{k}$|, W")
    decades(ax, 5)
    _columns(ax)
    return _time(axes, fig)


def _seen(own, terms: Mapping) -> bool:
    """Whether a term is more than rounding beside all of them at some instant."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((own > 1e-12 * sum(terms.values())).any())


def flows(data: Mapping):
    """Virtual power flows at the cuts, and the rest of their sum, which has to be zero."""
    cuts = data.get("power_flows") or {}
    if not cuts:
        return None
    names = _largest(cuts)
    rest = data.get("cancellation")
    fig, axes = panels(2 if rest is not None else 1, 1, 1.2, top=0.4)
    ax = axes[0, 0]
    unit, size = unit_for("W", *cuts.values())
    for name, color in zip(names, CYCLE):
        line(
            ax,
            data["t"],
            np.asarray(cuts[name], float) / size,
            color,
            lw=0.8,
            label=named(name, 16),
        )
    ax.set_ylabel(unit)
    _columns(ax)
    if rest is not None:
        _log_line(axes[1, 0], *upper(data["t"], np.abs(rest)), "#666666", lw=0.8)
        axes[1, 0].set_title("what is left of their sum")
        axes[1, 0].set_ylabel("W")
        decades(axes[1, 0], 3)
    return _time(axes, fig)


def assumptions(monitors: Mapping):
    """Normalised margin of every monitored assumption over time; filled red where it is not met."""
    if not monitors:
        return None
    names = list(monitors)[:16]
    row = 0.3
    top = 0.1
    bottom = 0.42
    left = 2.05
    height = row * len(names) + top + bottom
    fig = figure(height)
    ax = fig.add_axes(
        (left / WIDTH, bottom / height, 1 - (left + 0.62) / WIDTH, 1 - (top + bottom) / height)
    )
    for i, name in enumerate(names):
        _margin(ax, monitors[name], len(names) - 1 - i)
    ax.set_yticks(range(len(names)), [named(n, 44) for n in names[::-1]])
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.set(ylim=(-0.6, len(names) - 0.4), xlabel="time, s")
    ax.annotate(
        "smallest",
        (1.0, 0),
        (7, -11),
        "axes fraction",
        textcoords="offset points",
        fontsize=7,
        color="#666666",
        va="center",
    )
    ax.margins(x=0)
    return fig


def _margin(ax, monitor: Mapping, base: float) -> None:
    """One margin over time around the line at `base`, and its smallest value beside it."""
    t = np.asarray(monitor["t"], float)
    raw = np.asarray(monitor["margin"], float)
    t, m = thinned(t, raw, 120)
    height_of = np.clip(np.nan_to_num(m, nan=-1.0), -1, 1) * 0.42
    ax.axhline(base, color="#C8C8C8", lw=0.5, zorder=1)
    ax.fill_between(
        t, base, base + np.maximum(height_of, 0), color=GREEN, alpha=0.35, lw=0, zorder=2
    )
    ax.fill_between(t, base, base + np.minimum(height_of, 0), color=RED, alpha=0.9, lw=0, zorder=2)
    ax.plot(t, base + height_of, color="#3B6E5E" if (m >= 0).all() else RED, lw=0.6, zorder=3)
    worst = np.nanmin(raw) if np.isfinite(raw).any() else np.nan
    ax.annotate(
        f"{worst:.2g}".replace("-", "−"),
        (1.0, base),
        (7, 0),
        ("axes fraction", "data"),
        ha="left",
        va="center",
        textcoords="offset points",
        color="#222222" if worst >= 0 else RED,
        fontsize=7.5,
    )


def scan(data: Mapping, quantity: str = "sample time"):
    """v and error over a swept time: what held, what did not, the limit found and the bound claimed."""
    key = next((k for k in ("T_s", "delay", "T") if k in data), None)
    if key is None:
        return None
    T = 1e3 * np.asarray(data[key], float)
    good = np.asarray(data.get("stable", np.ones(len(T))), bool)
    said = lambda name: (
        name in data and (np.nan_to_num(np.asarray(data[name], float), posinf=0.0) > 0).any()
    )
    panes = [
        (n, u, w)
        for n, u, w in (("v_max", "J", "largest $v$"), ("error_max", "m", "largest error"))
        if said(n)
    ]
    if not panes:
        return None
    fig, axes = panels(1, len(panes), 1.3, left=0.62, sharex=False)
    for ax, (name, unit, title) in zip(axes[0], panes):
        y = np.asarray(data[name], float)
        unit, size = unit_for(unit, y[good] if good.any() else y)
        y = np.where(np.isfinite(y) & (y > 0), y / size, np.nan)
        ax.plot(T[good], y[good], "o-", color=BLUE, ms=3.2, lw=0.8, label="bounded")
        ax.plot(T[~good], y[~good], "x", color=RED, ms=4.5, mew=1.1, label="not bounded")
        if name == "v_max" and np.isfinite(data.get("bound", np.nan)):
            _mark(ax, "y", data["bound"] / size, "claimed")
        if np.isfinite(data.get("limit", np.nan)):
            _mark(ax, "x", 1e3 * data["limit"], "limit")
        ax.set(xlabel=f"{quantity}, ms", ylabel=unit)
        if np.isfinite(y).any():
            ax.set_yscale("log")
        ax.set_title(title)
        if (T > 0).all():
            ax.set_xscale("log")
            whole(ax.xaxis)
        else:
            from_zero(ax, T)
        decades(ax, 4, low=False)
    legend(axes[0, -1])
    return fig


def _mark(ax, axis, value, name):
    draw, at = (ax.axhline, (1.0, value)) if axis == "y" else (ax.axvline, (value, 1.0))
    draw(value, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    where = ("axes fraction", "data") if axis == "y" else ("data", "axes fraction")
    ax.annotate(
        name,
        at,
        (-1, 2) if axis == "y" else (-2, -1),
        where,
        textcoords="offset points",
        fontsize=7,
        color="#666666",
        ha="right",
        va="bottom" if axis == "y" else "top",
        rotation=0 if axis == "y" else 90,
    )


def _rates(ax, t, vdot, bound):
    """v̇ and its bound; a symmetric logarithmic axis, linear near zero."""
    if bound is not None:
        line(ax, t, bound, ORANGE, lw=1.6, label="bound on $v̇$")
    line(ax, t, vdot, BLUE, lw=0.7, label="$v̇$")
    ax.axhline(0, color=LIMIT, lw=0.5)
    ax.set_ylabel("W")
    ax.locator_params(axis="y", nbins=4)


def _log_line(ax, t, y, color, **keywords):
    y = np.asarray(y, float)
    line(ax, t, np.where(y > 0, y, np.nan), color, **keywords)
    if (y > 0).any() and np.isfinite(y[y > 0]).any():
        ax.set_yscale("log")


def _largest(terms: Mapping) -> list[str]:
    """Names of the largest terms, at most MOST, in their own order."""
    size = {n: np.nanmax(np.abs(np.asarray(v, float)), initial=0.0) for n, v in terms.items()}
    keep = set(sorted(size, key=size.get, reverse=True)[:MOST])
    return [n for n in terms if n in keep]


def _columns(ax):
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles, labels, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(len(labels), 4)
    )


def _time(axes, fig):
    for ax in axes[-1]:
        ax.set_xlabel("time, s")
        ax.margins(x=0.01)
        ax.locator_params(axis="x", nbins=9 if len(axes[-1]) == 1 else 5)
    return fig
