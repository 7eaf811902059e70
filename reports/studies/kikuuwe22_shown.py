"""What the study of [Kikuuwe21] shows: its rows as text, Figs 3, 6, 8, 10, 12, 13 and Table 1 as one picture."""

from __future__ import annotations

import numpy as np

from plants.valve_circuits import TABLE_1
from reports.figures.bands import draw_map
from reports.figures.metering import COLOURS, label
from reports.studies.kikuuwe22 import OTHER, PAIR, Results, V, lifting, pair, shaking

MARK = {True: "o", False: "x", None: "–"}


def text(found: Results) -> str:
    """Every row, and Table 1."""
    number = lambda v: "–" if np.isnan(v) else f"{v:.4g}"
    lines = [f"{'':7}{'what':45}{'published':>12}{'ours':>12}  unit   why"]
    for r in found.rows:
        lines.append(
            f"{r.where:7}{r.what:45}{number(r.published):>12}{number(r.ours):>12}  {r.unit:5}  {r.why}"
        )
    lines += [
        "",
        "published –: said in words, or not at all",
        "",
        f"{'Table 1':12}{'v':>4}"
        + "".join(f"{valve:>5}" for valve in ("hR", "hSC", "pR", "rSC", "rR"))
        + "   seen",
    ]
    for name, row in TABLE_1.items():
        sign = {1: "+", -1: "−", 0: "0"}[row.sign]
        seen = "at v = 0" if name == "0" else "yes" if name in found.table.seen else "no"
        lines.append(
            f"{name:12}{sign:>4}" + "".join(f"{MARK[state]:>5}" for state in row[2:]) + f"   {seen}"
        )
    return "\n".join(lines)


def draw(found: Results, path: str) -> None:
    """All panels in one picture."""
    from matplotlib.figure import Figure

    fig = Figure((12, 16))
    axes = fig.subplots(
        6,
        3,
        gridspec_kw={
            "left": 0.06,
            "right": 0.94,
            "top": 0.98,
            "bottom": 0.035,
            "hspace": 0.42,
            "wspace": 0.27,
        },
    )
    _maps(axes[0], axes[1], found)
    _regeneration(axes[1], found)
    _arm(axes[2], axes[3], found)
    _lowered(axes[3], axes[4], found)
    _shared(axes[4], found)
    _pair(axes[5], found)
    fig.savefig(path)


def _family(ax, maps, words, title):
    """Maps one over the other, the brighter the larger the parameter."""
    from matplotlib import colormaps

    for i, (value, m) in enumerate(maps.items()):
        ax.plot(
            m.v,
            1e-3 * m.f,
            lw=1.1,
            color=colormaps["viridis"](i / (len(maps) - 0.6)),
            label=f"{words} = {value:g}",
        )
    ax.set(title=title, xlabel="v, m/s", ylabel="f, kN", xlim=(-V, V))
    ax.legend(fontsize=7)


def _maps(row, below, found):
    """Fig. 3, and Table 1 as what shading means."""
    for ax, m, u_c in (
        (row[0], found.a, "3a  Γ, $u_c$ = 0.5"),
        (row[1], found.b, "3b  Γ, $u_c$ = −0.5"),
    ):
        draw_map(ax, m)
        ax.set(title=f"{u_c}, $u_b$ = 0.2", xlabel="v, m/s", ylabel="f, kN", ylim=(-560, 1180))
    _table(row[2], found)
    _family(below[0], found.by_command, "$u_c$", "3c  Γ by command, $u_b$ = 0.2")
    _family(below[1], found.by_bleed, "$u_b$", "3d  Γ by bleed, $u_c$ = 0.7")


def _table(ax, found):
    """Table 1 in the colours of the segments."""
    ax.set(title="T1  o open, x shut, – either", xlim=(0, 7), ylim=(len(TABLE_1) + 0.5, -1.4))
    ax.axis("off")
    for x, head in enumerate(("v", "hR", "hSC", "pR", "rSC", "rR")):
        ax.text(1.9 + 0.85 * x, -0.5, head, ha="center", fontsize=8, weight="bold")
    for y, (name, row) in enumerate(TABLE_1.items()):
        ax.axhspan(y + 0.05, y + 0.95, color=COLOURS[name], alpha=0.25, lw=0)
        ax.text(0.15, y + 0.5, label(name) if name != "0" else "Γ(0)", va="center", fontsize=8)
        for x, mark in enumerate(
            ({1: "+", -1: "−", 0: "0"}[row.sign], *(MARK[state] for state in row[2:]))
        ):
            ax.text(1.9 + 0.85 * x, y + 0.5, mark, ha="center", va="center", fontsize=8)


def _regeneration(row, found):
    """Fig. 8."""
    ax = row[2]
    _family(ax, found.by_u_a, "$u_a$", "8  Γ with regeneration; dashed: $v_a$")
    right = ax.twinx()
    for (_, flow), curve in zip(found.regenerated.items(), list(ax.lines)):
        right.plot(np.linspace(0, V, len(flow)), flow, ls="--", lw=0.9, color=curve.get_color())
    right.set(ylabel="$v_a$, m/s")


def _arm(row, below, found):
    """Fig. 6."""
    run = found.arm
    t = run.t
    shown = run.t <= 8
    row[0].plot(t[shown], lifting(t[shown]), label="$u_c$")
    row[0].plot(t[shown], 1e-5 * shaking(t[shown]), label="$f_{ey}$, 100 kN")
    row[0].legend(fontsize=7)
    for ax, values, title in (
        (row[0], None, "6a  inputs"),
        (row[1], np.degrees(run.θ), "6b  angle, °"),
        (row[2], run.v, "6c  velocity of the rod, m/s"),
        (below[0], 1e-3 * run.f, "6d  force, kN"),
    ):
        if values is not None:
            ax.plot(t[shown], values[shown], lw=0.8)
        ax.axvline(7.404, color="0.5", ls=":", lw=1)
        ax.set(title=title, xlabel="t, s", xlim=(0, 8))


def _lowered(row, below, found):
    """Fig. 10."""
    for run, words in zip(
        found.down, ("$u_a$ = 0", "$u_a$ = 0.5 with $u_c$", "$u_a$ = 0.5 throughout")
    ):
        for ax, values in ((row[1], np.degrees(run.θ)), (row[2], run.v), (below[0], 1e-3 * run.f)):
            ax.plot(run.t, values, lw=0.9, label=words)
    for ax, title in (
        (row[1], "10  angle, °"),
        (row[2], "10  velocity of the rod, m/s"),
        (below[0], "10  force, kN"),
    ):
        ax.set(title=title, xlabel="t, s")
    row[1].legend(fontsize=7)


def _shared(row, found):
    """Fig. 12."""
    for ax, (way, taken) in zip(row[1:], found.shared.items()):
        for v_2 in OTHER:
            f = taken[v_2]
            ax.plot(
                way * np.linspace(0, 0.6, len(f)),
                1e-3 * f,
                lw=1,
                label=f"$v_2$ = {way * v_2 + 0.0:g} m/s",
            )
        ax.set(title=f"12  $f_1$ over $v_1$, both $u_c$ = {0.5 * way:g}, kN", xlabel="$v_1$, m/s")
        ax.legend(fontsize=7)


def _pair(row, found):
    """Fig. 13."""
    alone, both = found.two
    t = both.t[:-1]
    for j, name in enumerate(PAIR.names):
        row[0].plot(t, pair(0.6)(t)[:, j], lw=1, color=f"C{j}", label=f"arm {name}")
        row[1].plot(both.t, np.degrees(both.θ[:, j]), lw=1, color=f"C{j}", label=f"arm {name}, II")
        row[1].plot(
            alone.t, np.degrees(alone.θ[:, j]), "--", lw=1, color=f"C{j}", label=f"arm {name}, I"
        )
        row[2].plot(both.t, both.v[:, j], lw=1, color=f"C{j}")
        row[2].plot(alone.t, alone.v[:, j], "--", lw=1, color=f"C{j}")
    titles = (
        "13a  commands of scenario II",
        "13b  angles, °; dashed: arm 2 not driven",
        "13c  velocities of the rods, m/s",
    )
    for ax, title in zip(row, titles):
        ax.set(title=title, xlabel="t, s")
    row[1].legend(fontsize=7)
