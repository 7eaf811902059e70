"""Figures of a linearised loop: eigenvalues, Bode and Nyquist plots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports.axes import decades, mirrored, tens, whole
from reports.style import BLUE, CYCLE, GREY, LIMIT, RED, WIDTH, figure, legend, named, panels


def eigenvalues(data, sampled: bool = False):
    """Eigenvalues in the complex plane: (K,), or {"values": …, "sampled": bool}; sampled: with the unit circle."""
    sampled = bool(data.get("sampled", sampled)) if isinstance(data, Mapping) else sampled
    values = np.asarray(data["values"] if isinstance(data, Mapping) else data, complex).ravel()
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    fig = figure(2.5, WIDTH * 0.48)
    ax = fig.add_axes((0.17, 0.18, 0.79, 0.72))
    if sampled:
        angle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(angle), np.sin(angle), color=LIMIT, lw=0.7)
        bad = np.abs(values) >= 1
        ax.set_aspect("equal", adjustable="datalim")
    else:
        ax.axvline(0, color=LIMIT, lw=0.7)
        bad = values.real >= 0
        for set_scale, axis, part in (
            (ax.set_xscale, ax.xaxis, values.real),
            (ax.set_yscale, ax.yaxis, values.imag),
        ):
            size = np.abs(part)
            typical = max(float(np.median(size[size > 0])) if (size > 0).any() else 1.0, 1e-9)
            if size.max() > 100 * typical:
                set_scale("symlog", linthresh=typical)
                mirrored(axis, part, typical)
    ax.plot(values.real[~bad], values.imag[~bad], "x", color=BLUE, ms=4.5, mew=0.9)
    ax.plot(values.real[bad], values.imag[bad], "s", mfc="none", color=RED, ms=4.5, mew=0.9)
    ax.set(
        xlabel="real part" + ("" if sampled else ", 1/s"),
        ylabel="imaginary part" + ("" if sampled else ", 1/s"),
    )
    for axis, scale in (("x", ax.get_xscale()), ("y", ax.get_yscale())):
        if scale == "linear":
            ax.locator_params(axis=axis, nbins=5)
    return fig


def bode(loops: Mapping):
    """Gain and phase of each broken loop over frequency."""
    if not loops:
        return None
    fig, axes = panels(2, 1, 1.15)
    for (name, (ω, L)), color in zip(loops.items(), CYCLE):
        ω = np.asarray(ω, float)
        L = np.asarray(L, complex)
        keep = (ω > 0) & (np.abs(L) > 0)
        f = ω[keep] / (2 * np.pi)
        axes[0, 0].plot(f, np.abs(L[keep]), color=color, label=named(name, 24))
        turn = np.degrees(np.unwrap(np.angle(L[keep])))
        # It begins between −360° and 0.
        axes[1, 0].plot(f, turn - 360 * np.ceil(turn[:1] / 360), color=color)
    gain, phase = axes[:, 0]
    gain.set(xscale="log", yscale="log", ylabel="|L|")
    gain.axhline(1, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    phase.axhline(-180, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    phase.set(ylabel="arg L, °", xlabel="frequency, Hz")
    whole(phase.xaxis)
    decades(gain, 4)
    legend(gain)
    return fig


def nyquist(loops: Mapping, sensitivity: Mapping | None = None):
    """L(jω) near −1, with the circle |L| = 1 and, filled, the disks that the disk margins keep L out of."""
    if not loops:
        return None
    fig = figure(2.5, WIDTH * 0.48)
    ax = fig.add_axes((0.15, 0.18, 0.81, 0.72))
    angle = np.linspace(0, 2 * np.pi, 200)
    for name, color in zip(loops, CYCLE):
        if disk := ((sensitivity or {}).get(name) or {}).get("disk"):
            (centre, radius) = disk
            ax.fill(
                centre + radius * np.cos(angle),
                radius * np.sin(angle),
                color=color,
                alpha=0.12,
                lw=0,
                zorder=1,
            )
            ax.plot(
                centre + radius * np.cos(angle),
                radius * np.sin(angle),
                color=color,
                lw=0.5,
                zorder=2,
            )
    ax.plot(np.cos(angle), np.sin(angle), color=LIMIT, lw=0.6, ls=(0, (4, 2)))
    for (name, (_, L)), color in zip(loops.items(), CYCLE):
        L = np.asarray(L, complex)
        near = np.abs(L) < 12
        ax.plot(
            np.where(near, L.real, np.nan),
            np.where(near, L.imag, np.nan),
            color=color,
            label=named(name, 24),
        )
    ax.plot(-1, 0, "+", color=RED, ms=7, mew=1.2)
    ax.axhline(0, color=GREY, lw=0.4)
    ax.axvline(0, color=GREY, lw=0.4)
    ax.set(xlim=(-2.6, 1.6), ylim=(-1.7, 1.7), xlabel="Re L", ylabel="Im L")
    ax.set_aspect("equal")
    ax.locator_params(nbins=5)
    legend(ax)
    return fig


def sensitivities(parts: Mapping):
    """|S| and |T| of each broken loop over frequency, with their exact peaks."""
    if not parts:
        return None
    fig, axes = panels(1, 2, 1.35, top=0.26)
    for ax, key, title in zip(axes[0], "ST", ("sensitivity |S|", "complementary sensitivity |T|")):
        for (name, part), color in zip(parts.items(), CYCLE):
            ax.plot(
                np.asarray(part["ω"]) / (2 * np.pi), part[key], color=color, label=named(name, 24)
            )
            peak = part[f"M_{key}"]
            ω = part[f"ω_{key}"]
            if np.isfinite(peak) and ω > 0:
                ax.plot(ω / (2 * np.pi), peak, "o", color=color, ms=3.5)
        ax.set(xscale="log", yscale="log", xlabel="frequency, Hz")
        ax.set_title(title)
        ax.axhline(1, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-3))
        tens(ax.xaxis)
        decades(ax, 4, low=False)
    if len(parts) > 1:
        axes[0, 0].legend(loc="lower right")
    return fig
