"""What the study of [Nurmi17] shows: plans and drives as text; as a picture the plans beside the paper's range, and the pump."""

from __future__ import annotations

import numpy as np

from reports.studies.nurmi17 import ASKED, BEST, PAPER, Findings, case

MARKS = {
    "pseudo-inverse, weighted": "o",
    "pseudo-inverse": "s",
    "pointwise, pump flow": "^",
    "pointwise, LoadSensing": "v",
}


def inside(over: np.ndarray) -> int:
    """How many lie in the paper's range."""
    return int(((over >= PAPER[0]) & (over <= PAPER[1])).sum())


def text(found: Findings) -> str:
    """Every plan, ranges by supply, every drive."""
    t = found.table
    names = [c.name for c in t.columns if c.parameter]
    cases = [
        ", ".join(v if isinstance(v := t[name][i], str) else f"{v:g}" for name in names)
        for i in range(len(t))
    ]
    wide = max(map(len, cases))
    lines = [
        f"paper: some competing approaches use up to {PAPER[0]:.0%} … {PAPER[1]:.0%} more energy",
        "",
        f"{'energy, and over it':{wide}} {'kJ':>6}  "
        + "  ".join(f"{p:>24}" for p in found.planners),
    ]
    percent = lambda v: "–" if np.isnan(v) else f"{v:+.1%}"
    for i, what in enumerate(cases):
        lines.append(
            f"{what:{wide}} {t[f'{BEST}.energy'][i] / 1e3:6.1f}  "
            + "  ".join(f"{percent(found.over(p)[i]):>24}" for p in found.planners)
        )
    for supply in dict.fromkeys(t["supply"]):
        for planner in found.planners:
            if np.isfinite(over := found.over(planner)[found.where(supply=supply)]).any():
                lines.append(
                    f"{supply}, {planner}: {percent(np.nanmin(over))} … {percent(np.nanmax(over))}, "
                    f"{inside(over)} of {np.isfinite(over).sum()} within the paper's range"
                )
    lines += [
        f"at most {np.nanmax(t[f'{BEST}.estimate'] / t[f'{BEST}.energy']):.2%} is left to finer grids",
        "",
    ]
    for (law, name), d in found.drives.items():
        a = d.account
        terms = ", ".join(f"{cause} {value / 1e3:.1f}" for cause, value in a.terms.items())
        held = ", ".join(f"{v.key} {v.word}" for v in d.examination.verdicts)
        lines.append(
            f"{law}, {name}: planned {a.planned / 1e3:.1f}, metered {a.metered / 1e3:.1f} kJ ({terms}; gap {a.gap:.1%}); "
            f"tip {1e3 * d.error.max():.1f} mm; {held}"
        )
    return "\n".join(lines)


def draw(found: Findings, path: str) -> None:
    """All panels in one picture."""
    from matplotlib.figure import Figure

    fig = Figure((11, 8.5))
    axes = fig.subplots(
        2,
        2,
        gridspec_kw={
            "left": 0.07,
            "right": 0.98,
            "top": 0.95,
            "bottom": 0.08,
            "hspace": 0.35,
            "wspace": 0.2,
        },
    )
    for ax, supply in zip(axes[0], ("constant pressure", "load sensing")):
        _over(ax, found, supply)
    _paths(axes[1, 0])
    _pump(axes[1, 1], found)
    fig.savefig(path)


def _over(ax, found, supply):
    """Energy over the least, a column a triangle, the paper's range shaded; marks of one planner spread over loads and sizes."""
    t = found.table
    rows = found.where(supply=supply)
    triangles = list(dict.fromkeys(t["path.points"]))
    ax.axhspan(1e2 * PAPER[0], 1e2 * PAPER[1], color="0.9", label="paper")
    for k, planner in enumerate(found.planners):
        over = 1e2 * found.over(planner)
        for i, triangle in enumerate(triangles):
            y = over[rows & (t["path.points"] == triangle)]
            x = i + 0.19 * (k - (len(found.planners) - 1) / 2) + np.linspace(-0.06, 0.06, len(y))
            label = planner if i == 0 and np.isfinite(y).any() else None
            ax.plot(x, y, MARKS[planner], ms=3.5, clip_on=False, color=f"C{k}", label=label)
    ax.set(
        title=f"{supply}: energy over the least, %",
        xticks=range(len(triangles)),
        xticklabels=triangles,
    )
    # Room for the legend.
    ax.set_ylim(
        0, 1.35 * max(np.nanmax(1e2 * found.over(p)[rows], initial=0.0) for p in found.planners)
    )
    ax.legend(fontsize=7, ncols=2, loc="upper right")


def _paths(ax):
    """The triangles in the world."""
    for i, name in enumerate(ASKED.grid.axes["path.points"]):
        tips = case({"path.points": name}).task.tips
        ax.plot(*tips.T, color=f"C{i}", label=name)
        ax.plot(*tips[0], "o", color=f"C{i}")
    ax.set(
        title="the triangles, and where they start", xlabel="x, m", ylabel="y, m", aspect="equal"
    )
    ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))


def _pump(ax, found):
    """Planned and metered, a pair of bars a motion."""
    for i, d in enumerate(found.drives.values()):
        for shift, value, colour in (
            (-0.2, d.account.planned, "0.7"),
            (0.2, d.account.metered, "C0"),
        ):
            bar = ax.bar(
                i + shift,
                value / 1e3,
                0.38,
                color=colour,
                label=("planned", "metered")[shift > 0] if i == 0 else None,
            )
            ax.bar_label(bar, fmt="%.0f", fontsize=7)
    names = [
        f"{law}\n{name.replace(' without', chr(10) + 'without')}" for law, name in found.drives
    ]
    ax.set(title="the low triangle under load sensing at the pump, kJ", xticks=range(len(names)))
    ax.set_xticklabels(names, fontsize=7)
    ax.set_ylim(
        0, 1.25 * max((d.account.metered for d in found.drives.values()), default=1.0) / 1e3
    )
    ax.legend(fontsize=7, ncols=2)
