"""How figures look: colours, thinning for drawing, symbols, and the way from a Matplotlib Figure to SVG.

Nothing is computed here but what ink needs. Text stays text in the SVG, so it is set in the document's font.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager

import numpy as np

# Okabe and Ito's palette, told apart by colour-blind readers; the same quantity has the same colour in every figure.
BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#F0E442",
)
INK, GREY, FAINT = "#222222", "#8A8A8A", "#D9D9D9"
WANTED, OBTAINED, LIMIT = "#F3C46B", BLUE, GREY
CYCLE = (BLUE, ORANGE, GREEN, RED, SKY, PURPLE, INK, GREY)

FONT = "Libertinus Serif"
WIDTH = 6.7  # inches, the text width of an A4 page
_RC = {
    "font.family": [FONT, "DejaVu Serif"],
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8.5,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.titley": 1.0,  # nothing stands above a panel that a title would have to make room for
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.5,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "axes.grid": True,
    "grid.color": "#ECECEC",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 0.9,
    "lines.solid_joinstyle": "round",
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.borderaxespad": 0.1,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "axes.formatter.use_mathtext": False,
    "axes.formatter.useoffset": False,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "fluidproof",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}


@contextmanager
def drawing():
    """Matplotlib settings of the report for the figures drawn inside."""
    import logging

    import matplotlib

    # The document's fonts live in Typst; Matplotlib measures with its own and must not complain about it.
    quiet = logging.getLogger("matplotlib.font_manager")
    level = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        with matplotlib.rc_context(_RC):
            yield
    finally:
        quiet.setLevel(level)


def figure(height: float, width: float = WIDTH):
    """An empty Figure, sizes in inches, without a window behind it."""
    from workbench.run.figure import ShownFigure

    return ShownFigure(figsize=(width, height))


def panels(
    rows: int,
    columns: int = 1,
    height: float = 1.3,
    *,
    sharex: bool = True,
    left: float = 0.62,
    gap: float = 0.3,
    top: float = 0.22,
    width: float = WIDTH,
):
    """(Figure, axes (rows, columns)) with panels of `height` inches and margins in inches, so that panels line up."""
    bottom = 0.42
    right = 0.08
    total = rows * height + (rows - 1) * gap + top + bottom
    fig = figure(total, width)
    inner = width - left * columns - right
    place = {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / total,
        "top": 1 - top / total,
        "hspace": gap / height,
        "wspace": left / (inner / columns),
    }
    axes = fig.subplots(
        rows, columns, squeeze=False, sharex="col" if sharex else False, gridspec_kw=place
    )
    for ax in axes.flat:
        ax.yaxis.set_label_coords(-(left - 0.14) / (inner / columns), 0.5)
    return fig, axes


def svg(fig) -> bytes:
    """The figure as SVG, the same bytes for the same figure."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    FigureCanvasSVG(fig).print_svg(stream, metadata={"Date": None, "Creator": None})
    return _SUBSCRIPT.sub(_lowered, stream.getvalue()).encode()


_SUBSCRIPT = re.compile("\\$([^$_{}<>&\u200b]{1,12})(?:_\\{([^${}<>&\u200b]{1,24})\\})?\\$")


def _lowered(match) -> str:
    base = match.group(1)
    sub = match.group(2)
    text = f'<tspan font-style="italic">{base}</tspan>'
    # A zero-width space carries the pen back to the line.
    return text + (
        f'<tspan font-size="75%" dy="1.8">{sub}</tspan><tspan dy="-1.8">\u200b</tspan>'
        if sub
        else ""
    )


def symbol(name: str) -> str:
    """A signal's name as people write it: "p_a1" → "$p_{a1}$", "dq_1" → "$q̇_{1}$", "tcp_x" → "tcp x"."""
    name = clean(name, 40).replace("$", "")
    stem, _, sub = name.partition("_")
    dots = re.fullmatch(r"(d{1,3})([a-zA-Zα-ω])", stem)
    if dots:
        stem = dots.group(2) + "\u0307\u0308\u20db"[len(dots.group(1)) - 1]
    if len(stem) > 2 or "{" in name or "}" in name:
        return name.replace("_", " ")
    return f"${stem}_{{{sub.replace('_', ' ')}}}$" if sub else f"${stem}$"


_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)


def clean(text: object, most: int | None = None) -> str:
    """Text without control characters, cut after `most` characters."""
    text = _CONTROL.sub("\ufffd", str(text).replace("\r\n", "\n").replace("\r", "\n"))
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def named(text: object, most: int) -> str:
    """A user's name for a figure: shown as it is, dollars included."""
    return clean(text, most).replace("$", "$\u200b")


def grid(count: int, height: float = 0.95, columns: int = 2):
    """(Figure, axes (count,)): panels over one axis of time, `columns` side by side."""
    columns = min(count, columns)
    rows = -(-count // columns)
    fig, axes = panels(rows, columns, height, left=0.66, gap=0.34)
    for spare in axes.flat[count:]:
        spare.remove()
    for ax in axes.flat[:count][-columns:]:
        ax.set_xlabel("time, s")
        ax.tick_params(labelbottom=True)
    return fig, axes.flat[:count]


def thinned(t, y, buckets: int = 420):
    """(t, y) for drawing: the smallest and the largest value of each stretch of time, so that no peak is lost."""
    t = np.asarray(t, float)
    y = np.asarray(y, float)
    keep = extremes(y, buckets)
    return t[keep], y[keep]


def extremes(y, buckets: int) -> np.ndarray:
    """Indices of the smallest and the largest finite value of each of `buckets` stretches, and of both ends; of all where
    there are few."""
    y = np.asarray(y, float)
    size = len(y) // buckets
    if size < 3:
        return np.arange(len(y))
    n = len(y) // size
    block = y[: n * size].reshape(n, size)
    finite = np.isfinite(block)
    low = np.where(finite, block, np.inf).argmin(1)
    high = np.where(finite, block, -np.inf).argmax(1)
    keep = np.sort(np.stack([low, high], 1), 1) + size * np.arange(n)[:, None]
    return np.unique(np.concatenate([[0], keep.ravel(), np.arange(n * size, len(y)), [len(y) - 1]]))


def upper(t, y, buckets: int = 300):
    """(t, y) for drawing: the largest value of each stretch of time."""
    t = np.asarray(t, float)
    y = np.asarray(y, float)
    size = max(1, len(t) // buckets)
    n = len(t) // size
    y = np.where(np.isfinite(y), y, -np.inf)[: n * size].reshape(n, size).max(1)
    return t[: n * size].reshape(n, size).mean(1), np.where(np.isfinite(y), y, np.nan)


def reach(*arrays) -> tuple[float, float] | None:
    """Limits that show what a run did before it blew up; None when nothing runs away."""
    found = np.concatenate([np.asarray(a, float).ravel() for a in arrays] or [np.zeros(0)])
    found = found[np.isfinite(found)]
    if not found.size:
        return 0.0, 1.0
    low, high = np.quantile(found, [0.25, 0.75])
    span = high - low or max(abs(high), 1e-12)
    ran_away = found.max() > high + 30 * span or found.min() < low - 30 * span
    return (float(low - 2 * span), float(high + 2 * span)) if ran_away else None


def line(ax, t, y, color=None, **keywords):
    """One curve, thinned; what is not finite leaves a gap."""
    t, y = thinned(t, y)
    with np.errstate(invalid="ignore"):
        y = np.where(np.abs(y) < 1e100, y, np.nan)
    return ax.plot(t, y, color=color, **keywords)


def legend(ax, right: float = 1.0):
    """Legend above the panel in one row that ends at `right` (share of the width)."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            handles, labels, loc="lower right", bbox_to_anchor=(right, 1.0), ncols=len(labels)
        )
