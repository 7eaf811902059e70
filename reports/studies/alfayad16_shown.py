"""What the study of [Alfayad16] shows: its tables as text, Figs 5 to 13 as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reports.studies.alfayad16_control import SETTLED, Edge, error

if TYPE_CHECKING:
    from reports.studies.alfayad16 import Results


def text(found: Results) -> str:
    """Every row, fits of the linear models, what the averaged pump leaves out, tracking, and its edge."""
    parts = (_rows(found), _fits(found), _apart(found), _tracking(found))
    return "\n\n".join("\n".join(lines) for lines in parts)


def _rows(found: Results) -> list[str]:
    lines = [f"{'Fig.':5}{'what':40}{'published':>11}{'ours':>11}  unit      why"]
    for r in found.rows:
        published = "–" if np.isnan(r.published) else f"{r.published:.4g}"
        lines.append(f"{r.where:5}{r.what:40}{published:>11}{r.ours:>11.4g}  {r.unit:10}{r.why}")
    return lines


def _fits(found: Results) -> list[str]:
    lines = ["12 is a block diagram. Fit of linear models to the virtual one, %:"]
    for name, fits in found.fits.items():
        shares = ", ".join(f"{which} {value:.2f}" for which, value in fits.items())
        lines.append(f"  {name:8}{shares}")
    return lines


def _apart(found: Results) -> list[str]:
    lines = ["largest difference of Y from the averaged pump, µm, and what Y covers:"]
    for name, apart in found.apart.items():
        ripple, full, whole = (1e6 * apart[key] for key in ("ripple", "full", "range"))
        lines.append(f"  {name:8}ripple {ripple:6.2f}   full {full:6.2f}   of {whole:8.1f}")
    return [
        *lines,
        "  overlap: X of 8 µm about the distributor's 4 µm. A way that is open a hair already passes all that the pistons",
        "  displace; averaged and ripple scale the flow with the opening.",
    ]


def _tracking(found: Results) -> list[str]:
    errors = ", ".join(f"{name} {1e6 * e:.2g} µm" for name, e in found.errors.items())
    return [
        f"tracking 1 cm sin(πt) under 600 N, full pump, rms error: {errors}",
        *(_edge(move, edge) for move, edge in found.edge.items()),
    ]


def _edge(move: float, edge: Edge) -> str:
    """One line on a move weight."""
    margin = "unstable" if np.isnan(edge.gain) else f"gain margin {edge.gain:.3g}"
    linear = f"linearised: {margin}, least damped at {edge.frequency:.3g} Hz"
    seen = "quiet"
    if edge.seen.detected:
        amplitude = 1e6 * edge.seen.amplitude
        seen = f"limit cycle, {edge.seen.frequency:.3g} Hz, {amplitude:.3g} µm of X"
    return f"  move weight {move:<5g} {linear}; run: {seen}"


def draw(found: Results, path: str) -> None:
    """Figs 5 to 13."""
    from matplotlib.figure import Figure

    fig = Figure((10, 11), layout="constrained")
    axes = fig.subplots(4, 2).ravel()
    panels = (
        ("5", "E", 1e3, "mm", 20),
        ("6", "Q", 1e6, "cm³/s", 20),
        ("7", "P_AB", 1e-5, "bar", 400),
        ("8", "dY", 100, "cm/s", 400),
        ("9", "Y", 1e3, "mm", 400),
    )
    for ax, (figure, name, size, unit, end) in zip(axes, panels):
        for detail, style in (("averaged", "C0"), ("ripple", "C1"), ("full", "k:")):
            log = found.step[detail]
            shown = log.time <= 1e-3 * end
            ax.plot(1e3 * log.time[shown], size * log.array(name)[shown], style, lw=1, label=detail)
        ax.set(title=f"{figure}  {name}", ylabel=unit, xlabel="t, ms")
    for name, log in found.chirp.items():
        axes[5].plot(log.time, 100 * log.array("Y"), label=name)
    axes[5].set(title="10  Y under a chirp, virtual and linear", ylabel="cm", xlabel="t, s")
    late = found.held.time > 0.4
    Y = 1e3 * found.held.array("Y")[late]
    axes[6].plot(found.held.time[late], Y)
    axes[6].set(
        title="13  closed at 0.5 s, ±600 N from 0.7 s: Y",
        ylabel="mm",
        xlabel="t, s",
        ylim=(Y[-1] - 1, Y[-1] + 1),
    )
    for name, log in found.tracked.items():
        axes[7].plot(log.time[log.time > SETTLED], 1e6 * error(log), lw=1, label=name)
    axes[7].set(title="13  error under 600 N, full pump", ylabel="µm", xlabel="t, s")
    for ax in (axes[0], axes[5], axes[7]):
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    fig.savefig(path)
