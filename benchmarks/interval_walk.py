"""How fast boxes go through the crane's loop in compiled code, and how wide they come out, beside the walk in NumPy.

    python benchmarks/interval_walk.py           2,048 boxes
    python benchmarks/interval_walk.py 20000

Functions: what flows between samples and what jumps at a sample, of the two-joint crane under VDC, with their first and second
derivatives by symbolic differentiation, kinks as choices. Times are microseconds a box on one thread, best of three; widths are
those of the compiled boxes over those of the NumPy walk (derivatives: compiled alone, their NumPy walk takes minutes).
"""

from __future__ import annotations

import sys
import time

import casadi as ca
import numpy as np
from common import cranes, vdc_loop

from workbench.contract.system import names
from workbench.numerics.calculus import trace
from workbench.numerics.intervals.enclosure import box, enclose
from workbench.numerics.intervals.kinks import chosen
from workbench.numerics.intervals.walk import Walk, compiled

SPREAD = {"q": 0.1, "d": 0.1, "p": 1e5, "u": 1.0}  # of middles, by the state's first letter
RADIUS = 1e-4  # of a box, as a share of SPREAD


def derivatives(f: ca.Function, states: int) -> dict[str, ca.Function]:
    """The function, its smooth text's Jacobian, and that one's entries' Jacobian; all over (t, x, w, c, s)."""
    parts = chosen(f)
    a = [ca.SX.sym(name, f.size1_in(i)) for i, name in enumerate("txwc")]
    a.append(ca.SX.sym("s", parts.function.size1_in(4)))
    first = ca.jacobian(parts.function(*a)[:states], a[1])
    second = ca.cse(ca.jacobian(ca.vertcat(*first.nonzeros()), a[1]))
    return {
        "first derivative": ca.Function("first", a, [first]),
        "second derivative": ca.Function("second", a, [second]),
    }


def best(work, times: int = 3) -> float:
    """Seconds of the quickest of several."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def bounds(loop, traced, count: int) -> tuple[list, list]:
    """Boxes of (t, x, w, c) about the loop's start."""
    rng = np.random.default_rng(1)
    spread = np.array([SPREAD[name[0]] for name in names(loop.states)])[:, None]
    middle = np.array(loop.initial())[:, None] + spread * rng.uniform(-1, 1, (len(spread), count))
    w = [float(loop.defaults().get(name, 0.0)) for name in traced.live]
    fixed = [*w, *traced.constants(loop)]
    low = [0.0, *(middle - RADIUS * spread), *fixed]
    high = [0.0, *(middle + RADIUS * spread), *fixed]
    return low, high


def by_numpy(f: ca.Function, low: list, high: list) -> list:
    entries = iter(zip(low, high))
    asked = [[box(*next(entries)) for _ in range(f.nnz_in(i))] for i in range(f.n_in())]
    return enclose(f, asked)


def compared(name: str, f: ca.Function, low: list, high: list, count: int) -> None:
    """Both walks of one function, their times and widths."""
    walk = Walk(f)
    found = walk.over(low, high)
    ours = best(lambda: walk.over(low, high)) / count * 1e6
    other: list = []
    theirs = best(lambda: other.append(by_numpy(f, low, high)), 1) / count * 1e6
    wide = np.array([np.broadcast_to(b.high - b.low, (count,)) for b in other[0]])
    some = (wide > 0) & np.isfinite(wide)
    ratio = (found.high - found.low)[some] / wide[some]
    rows = len(walk.program.rows)
    print(
        f"{name:28} {rows:7,} operations {ours:8.1f} µs a box, NumPy {theirs:7.1f} µs: {theirs / ours:5.1f} times;"
        f" width {ratio.min():.4f} to {ratio.max():.4f}"
    )


def alone(name: str, f: ca.Function, low: list, high: list, count: int) -> None:
    """A function of derivatives, where no box decides a kink: s in [0, 1]."""
    walk = Walk(f)
    choices = f.nnz_in(4)
    begin, end = [*low, *[0.0] * choices], [*high, *[1.0] * choices]
    ours = best(lambda: walk.over(begin, end)) / count * 1e6
    rows = len(walk.program.rows)
    print(f"{name:28} {rows:7,} operations {ours:8.1f} µs a box, {f.nnz_out(0)} entries")


def main(count: int) -> None:
    if compiled() is None:
        raise SystemExit("this comparison needs a C compiler")
    loop = vdc_loop(cranes()["two-joint"])
    live = tuple(s.name for s in loop.inputs if s.kind == "reference")
    traced = trace(loop, live)
    low, high = bounds(loop, traced, count)
    for name in ("flow", "jump"):
        f = getattr(traced, name)
        compared(name, f, low, high, count)
        for which, g in derivatives(f, traced.n_states).items():
            alone(f"{name}, {which}", g, low, high, count)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2048)
