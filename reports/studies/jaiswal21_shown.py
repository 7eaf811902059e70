"""What the study of [Jaiswal21] shows: its tables as text, Figs 7 to 12 as one picture."""

from __future__ import annotations

from time import process_time

import numpy as np

from plants.four_bar.linkage import WORK_CYCLE, cylinder_work, drift
from plants.multibody.penalty.integrator import Penalty, consistent, stepper
from reports.outline import picture
from reports.studies.jaiswal21 import (
    CHEAPEST_FIRST,
    LAWS,
    PLANT,
    STEP,
    Results,
    T,
    as_published,
    cycle,
    exact,
    mechanism_drift,
)

OPEN = ((1.0, 2.5), (5.0, 8.0))  # s, the valve open


def least(run, repeat: int = 5) -> float:
    """CPU seconds of the fastest of a few calls."""
    spent = []
    for _ in range(repeat):
        began = process_time()
        run()
        spent.append(process_time() - began)
    return min(spent)


def seconds(laws=None) -> dict[str, list[float]]:
    """CPU seconds by law: of the paper's method alone, compiled, up to every second of the run, then of ours with its log."""
    found = {}
    times = WORK_CYCLE.sample(np.arange(round(T / STEP) + 1) * STEP, 0).reshape(-1, 1)
    for name in laws or CHEAPEST_FIRST:
        bars = as_published(LAWS[name])
        plant = exact(LAWS[name])
        method, constants = stepper(bars)
        start = consistent(bars, bars.initial(), [0.0])
        ends = [round(second / STEP) + 1 for second in range(1, round(T) + 1)]
        up_to = [
            least(
                lambda m=method, x=start, c=constants, n=n: m.run(x, times[:n], STEP, Penalty(), c)
            )
            for n in ends
        ]
        found[name] = [*up_to, least(lambda p=plant: cycle(p))]
    return found


def text(found: Results, spent: dict[str, list[float]]) -> str:
    """Every row, and what replaces Table 3."""
    columns = lambda *cells: "".join(f"{cell:>12}" for cell in cells)
    lines = [f"{'':6}{'what':41}{columns('published', 'remade', 'ours')}  unit  why"]
    number = lambda v: "–" if np.isnan(v) else f"{v:.5g}"
    for r in found.rows:
        lines.append(
            f"{r.where:6}{r.what:41}{columns(*map(number, (r.published, r.remade, r.ours)))}  {r.unit:4}  {r.why}"
        )
    lines += [
        "",
        "remade: the paper's method (penalties, trapezoidal rule, projections) at 1 ms, from the printed angles; errors "
        "in z_1 from closed ones",
        "ours: plants.four_bar.linkage at 1 ms",
        "the paper's method where U_ref jumps midway in a step, 1, 0.5, 0.25 ms: z_1 off by "
        + ", ".join(f"{e:.1e}" for e in found.midway)
        + " rad",
        "",
        f"{'Table 3, compiled':20}{'iterations':>12}{'at most':>9}{'operations':>12}{'µs a step':>11}{'ours, µs':>10}",
    ]
    for name, times in spent.items():
        a = found.laws[name]
        steps = T / STEP
        lines.append(
            f"{name:20}{a.iterations.mean():>12.3f}{a.iterations.max():>9}{a.operations:>12.0f}"
            f"{1e6 * times[-2] / steps:>11.2f}{1e6 * times[-1] / steps:>10.2f}"
        )
    lines.append(
        "published: the same order, cheapest first; the numbers could not be read. Ours is timed with its log."
    )
    return "\n".join(lines)


def draw(found: Results, spent: dict[str, list[float]], path: str) -> None:
    """All panels in one picture."""
    from matplotlib.figure import Figure

    fig = Figure((10, 12), layout="constrained")
    axes = fig.subplots(4, 2)
    _positions(axes[0, 0], found)
    _cycle(axes[0, 1], axes[1, 0], found)
    _friction(axes[1, 1], found)
    _energies(axes[2, 0], axes[2, 1], found)
    _effort(axes[3, 0], axes[3, 1], found, spent)
    for ax in (axes[0, 1], axes[1, 0], axes[2, 0], axes[2, 1], axes[3, 0], axes[3, 1]):
        for t_0, t_1 in OPEN:
            ax.axvspan(t_0, t_1, color="#B07CC6", alpha=0.15, lw=0)
        ax.set(xlabel="t, s", xlim=(0, WORK_CYCLE.times[-1] + 2))
    fig.savefig(path)


def _positions(ax, found):
    """Fig. 7: the bars at every second."""
    log = found.laws["LuGre"].ours
    drawn = picture(PLANT)
    for second in range(11):
        shape = drawn.at([log.array("z_1")[1000 * second]])
        for kind, points in shape.strokes:
            ax.plot(
                *points.T,
                color="C0" if kind == "case" else str(0.75 - 0.06 * second),
                lw=3 if kind == "case" else 1.2,
            )
    ax.set(
        title="7  positions at every second, the later the darker",
        xlabel="x, m",
        ylabel="y, m",
        aspect="equal",
    )


def _cycle(left, right, found):
    """Fig. 8: crank angle and p_3."""
    for name, a in found.laws.items():
        left.plot(a.ours.time, np.degrees(a.ours.array("z_1")), lw=1, label=name)
        right.plot(a.ours.time, a.ours.array("p_3") / 1e6, lw=1, label=name)
    left.set(title="8a  crank angle (valve open: shaded)", ylabel="°")
    right.set(title="8b  pressure $p_3$", ylabel="MPa")
    left.legend()


def _friction(ax, found):
    """Fig. 9b: friction over velocity; bristles lag and hold before they slip."""
    for name, a in found.laws.items():
        t = a.fine.time
        moving = (t < 1.06) | ((t > 2.5) & (t < 2.56))
        v, F = (np.where(moving, a.fine.array(signal), np.nan) for signal in ("ds", "F_mu"))
        ax.plot(1e3 * v, F, lw=0.9, label=name)
    ax.set(
        title="9b  friction as the valve opens and closes",
        xlabel="mm/s",
        ylabel="N",
        xlim=(-60, 60),
    )
    ax.legend()


def _energies(left, right, found):
    """Fig. 10: energies, and the drift three ways."""
    log = found.laws["LuGre"].ours
    for name, words in (("E_pot", "potential"), ("E_kin", "kinetic")):
        left.plot(log.time, log.array(name) - log.array(name)[0], lw=1, label=words)
    left.plot(log.time, cylinder_work(log), "k--", lw=1, label="work of the cylinder")
    left.set(title="10  energies since the start, LuGre", ylabel="J")
    left.legend()
    a = found.laws["LuGre"]
    for t, values, words in (
        (a.printed.time, mechanism_drift(a.printed), "remade, printed angles"),
        (a.closed.time, mechanism_drift(a.closed), "remade, closed angles"),
        (log.time, drift(log), "ours"),
    ):
        right.semilogy(t, np.maximum(np.abs(values), 1e-8), lw=0.8, label=words)
    right.axhline(0.44, color="0.5", ls=":", label="published peak")
    right.set(title="10  energy drift, LuGre", ylabel="J")
    right.legend()


def _effort(left, right, found, spent):
    """Figs 11 and 12: mean iterations over a tenth of a second, and time."""
    for name in CHEAPEST_FIRST:
        a = found.laws[name]
        mean = a.iterations.reshape(-1, 100).mean(1)
        left.plot(a.printed.time[100::100], mean, lw=1, label=name)
        if name in spent:
            right.plot(
                np.arange(len(spent[name])),
                1e3 * np.array([0.0, *spent[name][:-1]]),
                "o-",
                ms=3,
                lw=1,
                label=name,
            )
    left.set(title="11  Newton iterations a step, means over 0.1 s", ylabel="1")
    right.set(title="12  cumulative CPU time, compiled", ylabel="ms")
    left.legend()
    right.legend()
