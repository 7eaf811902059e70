"""The force–velocity map behind metering valves, drawn with its bands."""

from __future__ import annotations

from reports import force_map
from reports.segments import TABLE_1, colour, hatch, label, words
from reports.style import INK, ORANGE

COLUMNS = 2  # of a legend


def draw_map(ax, found: force_map.Map, least: float = 0.05) -> None:
    """Γ on axes of m/s and kN; segments shaded, named where wider than a share `least` of the axis, sets thick."""
    span = found.v[-1] - found.v[0]
    for low, high, name in found.bands:
        ax.axvspan(low, high, facecolor=colour(name), alpha=0.16, lw=0)
        if hatch(name):
            ax.axvspan(low, high, facecolor="none", edgecolor="#B0B0B0", hatch=hatch(name), lw=0)
        if low > found.v[0]:
            ax.axvline(low, color="white", lw=0.8, zorder=0.9)
        if high - low > least * max(1.0, 0.2 * _length(name)) * span:
            ax.annotate(
                label(name),
                (0.5 * (low + high), 1.0),
                (0, -2),
                ("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7,
            )
    ax.plot(found.v, 1e-3 * found.f, color=INK, lw=1.1)
    for v, low, high in found.sets:
        ax.plot([v, v], [1e-3 * low, 1e-3 * high], color=ORANGE, lw=3.2, solid_capstyle="butt")
    ax.set_xlim(found.v[0], found.v[-1])


def _length(name) -> int:
    """Letters of a label as they are seen."""
    return sum(c not in "${}_" for c in label(name))


def legend(where, names, ncols: int = COLUMNS, **place):
    """Segments in words, on a figure or an axis, in the order of `names`."""
    from matplotlib.patches import Patch

    entries = _entries(names)
    if entries:
        where.legend(
            [
                Patch(fc=_pale(colour(name)), hatch=hatch(name), ec="#B0B0B0", lw=0.4)
                for name in entries
            ],
            list(entries.values()),
            ncols=ncols,
            **place,
        )


def _entries(names) -> dict[str, str]:
    """One of each kind of segment → words, segments with the same valves open together."""
    found: dict = {}
    for name in dict.fromkeys(names):
        if name != "0":
            found.setdefault((colour(name), hatch(name), words(name)), []).append(name)
    rows = {
        same[0]: ", ".join(label(name) for name in same if name in TABLE_1)
        for same in found.values()
    }
    return {
        first: f"{which}: {what}" if which else what
        for (first, which), (_, _, what) in zip(rows.items(), found)
    }


def _rows(names) -> int:
    return -(-len(_entries(names)) // COLUMNS)


def _pale(color):
    from matplotlib.colors import to_rgb

    return tuple(1 - 0.3 * (1 - c) for c in to_rgb(color))
