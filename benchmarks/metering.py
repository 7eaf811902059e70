"""How fast and how exact the solvers of valve circuits are, beside plain Python, NumPy, SciPy and cvxpy, in one run.

    python benchmarks/metering.py [--short | --exact]      # --short: 20,000 points instead of 1,000,000; --exact: exactness only

Random circuits: areas 40 to 300 cm² (rod side larger than head side too), reliefs 15 to 48 MPa in any order, openings of which a
fifth are exactly 0 or 1, bleed shut for a third, v in and out of the dead band. Times are CPU seconds a point, one thread, best of
three.
"""

from __future__ import annotations

import sys
import time
from functools import partial

import common  # noqa: F401 — puts the repository on the path
import numba
import numpy as np
from common import machine_in_words

sys.path.insert(0, str(common.ROOT / "tests"))
from oracles import metering_exact  # noqa: E402
from oracles.metering import brute_force, programme  # noqa: E402

from plants import MeteredArms  # noqa: E402
from plants.valve_circuits import closed  # noqa: E402
from plants.valve_circuits.compiled import scalar_all  # noqa: E402
from plants.valve_circuits.kernel import pumped, section  # noqa: E402
from plants.valve_circuits.roots import resolve_all  # noqa: E402
from plants.valve_circuits.stepping import stepped  # noqa: E402
from workbench import Scenario, Steps, simulate  # noqa: E402


def drawn(rng, M: int, N: int, regeneration: bool, both: bool = False, tiny: bool = False):
    """rows (M, N, 9), supply (M, 3), β, f̄ (M, N). both: every valve may be open; tiny: half the openings 1e-7 to 1e-4 of full."""
    k = 2.91e-6 * rng.uniform(0.4, 2.0, (M, N, 5))
    u, z, d = (
        rng.uniform(size=(M, N, 5)),
        rng.uniform(size=(M, N, 5)),
        rng.choice((-1, 0, 1), (M, N)),
    )
    u = np.where(z < 0.1, 0.0, np.where(z > 0.9, 1.0, u))
    out, back = d > 0, d < 0
    area, relief = rng.uniform(0.004, 0.03, (M, N, 2)), rng.uniform(15e6, 45e6, (M, N, 2))
    ways = np.stack([out, back, back, out, out & regeneration], -1)
    ways = (
        np.concatenate([np.ones((M, N, 4)), np.full((M, N, 1), regeneration)], -1) if both else ways
    )
    u = (
        np.where(rng.uniform(size=u.shape) < 0.5, u * 10 ** rng.uniform(-7, -4, u.shape), u)
        if tiny
        else u
    )
    rows = np.concatenate([area, relief, k * u * ways], -1)
    u_b = rng.choice((0.0, 1.0, 2.0), M)
    supply = np.stack(
        [
            rng.uniform(1e-3, 1.2e-2, M),
            rng.uniform(12e6, 48e6, M),
            2.91e-6 * np.where(u_b < 2.0, u_b, rng.uniform(size=M)),
        ],
        -1,
    )
    at_relief = np.where(
        rng.uniform(size=(M, N)) < 0.05,
        area[..., 0] * relief[..., 0],
        rng.uniform(-1.3e6, 1.3e6, (M, N)),
    )
    return rows, supply, 10 ** rng.uniform(4, 8, (M, N)), at_relief


def best(run, repeat: int = 3) -> float:
    run()
    least = np.inf
    for _ in range(repeat):
        began = time.process_time()
        run()
        least = min(least, time.process_time() - began)
    return least


def nested(rows, supply, β, f):
    """v by nested bisection-safe roots alone, none of the shorter ways."""

    def at(P):
        p = [section(r, P, -g / b, 1 / b) for r, b, g in zip(rows, β, f)]
        left = (
            supply[0]
            - supply[2] * np.sqrt(P)
            - sum(pumped(r, P, -g / b, 1 / b, *x) for r, b, g, x in zip(rows, β, f, p))
        )
        return left, np.array(
            [(r[0] * x - r[1] * y - g) / b for r, b, g, (x, y) in zip(rows, β, f, p)]
        )

    low, high = 0.0, supply[1]
    if at(high)[0] >= 0:
        return at(high)[1]
    while low < 0.5 * (low + high) < high:
        P = 0.5 * (low + high)
        low, high = (P, high) if at(P)[0] > 0 else (low, P)
    return at(high)[1]


def line(
    name: str, spent: float, first: float | None = None, target: float | None = None, note: str = ""
) -> None:
    ratio = "" if first is None else f"{spent / first:10.1f}"
    goal = "" if target is None else f"{target:8g}  {'met' if spent * 1e6 <= target else 'MISSED'}"
    print(f"  {name:52s}{spent * 1e6:10.3f}{ratio:>10s}  {goal:16s}{note}")


def one(M: int) -> None:
    rng = np.random.default_rng(1)
    rows, supply, β, f = drawn(rng, M, 1, False)
    v, w, P = np.zeros(M), np.zeros((M, 1)), np.zeros(M)
    row, β_1, f_1 = rows[:, 0].copy(), β[:, 0].copy(), f[:, 0].copy()
    print(
        f"\n{'one section, no regeneration':54s}{'µs/point':>10s}{'times 1st':>10s}  {'target':8s}"
    )
    first = best(lambda: scalar_all(row, supply, β_1, f_1, v)) / M
    line("closed form, compiled loop", first, None, 0.060)
    line(
        "outer root in P, compiled loop",
        best(lambda: resolve_all(rows, supply, β, f, w, P)) / M,
        first,
    )
    with np.errstate(over="ignore"):
        vector = closed.Λ(row.T, supply.T, β_1, f_1)
        line(
            "closed form, NumPy arrays",
            best(lambda: closed.Λ(row.T, supply.T, β_1, f_1)) / M,
            first,
        )
        n = 300
        plain = best(lambda: [closed.Λ(row[i], supply[i], β_1[i], f_1[i]) for i in range(n)], 1)
        line("closed form, plain Python", plain / n, first)
    n = 20
    line(
        "cvxpy, Clarabel",
        best(lambda: [programme(rows[i], supply[i], β[i], f[i]) for i in range(n)], 1) / n,
        first,
    )
    print(
        f"  NaN in {M:,} points: {int(np.isnan(v).sum() + np.isnan(w).sum())};  largest differences, m/s: "
        f"loop and NumPy {np.abs(v - vector).max():.1e}, closed form and root {np.abs(v - w[:, 0]).max():.1e}"
    )
    error = []
    for i in range(min(M, 3000)):
        x = float(rng.uniform(-1, 1) * supply[i, 0] / row[i, :2].min())
        with np.errstate(over="ignore"):
            error.append(
                abs(float(closed.Γ(row[i], supply[i], x)) - brute_force(row[i], supply[i], x))
                / (row[i, 0] * row[i, 2])
            )
    print(f"  Γ against (39) by bisection, of full scale: {max(error):.1e} (asked 1e-9)")


def several(M: int) -> None:
    print(
        f"\n{'with regeneration on one pump':54s}{'µs/point':>10s}{'times 1st':>10s}  {'target':8s}"
    )
    first = None
    for N, target in ((1, 0.6), (2, None), (3, 2.0)):
        rng = np.random.default_rng(10 + N)
        rows, supply, β, f = drawn(rng, M, N, True)
        v, P = np.zeros((M, N)), np.zeros(M)
        spent = best(partial(resolve_all, rows, supply, β, f, v, P)) / M
        first = first or spent
        pick = rng.integers(M, size=300)
        truth = np.array([nested(rows[i], supply[i], β[i], f[i]) for i in pick])
        line(
            f"N = {N}, compiled loop",
            spent,
            first,
            target,
            f"NaN {int(np.isnan(v).sum())}, from nested roots {np.abs(truth - v[pick]).max():.1e} m/s",
        )
    for N in (1, 2):
        rows, supply, β, f = drawn(np.random.default_rng(20 + N), M // 10, N, True, both=True)
        v, P = np.zeros((M // 10, N)), np.zeros(M // 10)
        spent = best(partial(resolve_all, rows, supply, β, f, v, P)) / (M // 10)
        truth = np.array([nested(rows[i], supply[i], β[i], f[i]) for i in range(100)])
        line(
            f"N = {N}, both directions open, compiled loop",
            spent,
            first,
            None,
            f"NaN {int(np.isnan(v).sum())}, from nested roots {np.abs(truth - v[:100]).max():.1e} m/s",
        )
    rows, supply, β, f = drawn(np.random.default_rng(13), M, 3, True)
    pick = pick[:10]
    line(
        "N = 3, nested roots alone",
        best(lambda: [nested(rows[i], supply[i], β[i], f[i]) for i in pick], 1) / 10,
        first,
    )
    line(
        "N = 3, cvxpy, Clarabel",
        best(lambda: [programme(rows[i], supply[i], β[i], f[i]) for i in pick], 1) / 10,
        first,
    )


def exact(short: bool = True) -> None:
    """Γ and Λ beside bisection in extended precision, and (39) at the pressures found."""
    rng, M, n = np.random.default_rng(7), 3000, 40 if short else 400
    rows, supply, _, _ = drawn(rng, M, 1, False, tiny=True)
    row, A = rows[:, 0].T, rows[:, 0, :2].T
    Q = supply[:, 0]
    ends = np.stack(
        [Q / A[0], -Q / A[1], 1e-4 * rng.normal(size=M), rng.uniform(-1, 1, M) * Q / A.min(0)]
    )
    v = np.choose(rng.integers(0, 4, M), ends)
    scale = A[0] * row[2] + A[1] * row[3]
    with np.errstate(over="ignore"):
        low, high = (closed.Γ(row, supply.T, v, upper) for upper in (False, True))
    truth = [metering_exact.force(row, supply.T, v * (1 + e)) for e in (-1e-15, 1e-15)]
    outside = np.maximum(np.minimum(*truth) - high, low - np.maximum(*truth)) / scale
    rest = [
        np.abs(
            metering_exact.force(row, supply.T, sign * 1e-24 * Q)
            - closed.Γ(row, supply.T, 0.0, sign < 0)
        )
        / scale
        for sign in (1, -1)
    ]
    digits = np.finfo(np.longdouble).nmant + 1
    print(
        f"\nbeside bisection in extended precision ({digits} binary digits), half the openings 1e-7 to 1e-4"
    )
    print(
        f"  Γ, {M} circuits, v at Q/A too, of full scale: {max(float(outside.max()), 0.0):.1e} (asked 1e-9); "
        f"ends of the set at v = 0: {float(np.max(rest)):.1e} (asked 1e-6)"
    )
    for name, N, regeneration, both in (
        ("one way", 1, False, False),
        ("regeneration", 1, True, False),
        ("both directions", 1, True, True),
        ("two, regeneration", 2, True, False),
        ("three, regeneration", 3, True, False),
    ):
        rows, supply, β, f = drawn(rng, n, N, regeneration, both, tiny=True)
        v, P = np.zeros((n, N)), np.zeros(n)
        resolve_all(rows, supply, β, f, v, P)
        error = np.abs(metering_exact.velocities(rows, supply, β, f, 60) - v).max()
        print(
            f"  Λ, {n} circuits, {name}: {float(error):.1e} m/s (asked {'1e-9' if N == 1 else '1e-6'})"
        )


def finite(M: int) -> None:
    """No NaN over every edge: Λ of the kernel, one to three sections, everything open or shut; cylinders and motors."""
    bad, total = 0, 0
    for N in (1, 2, 3):
        for both in (False, True):
            for motor in (1.0, 2e-3):  # of an area: a displacement, with its torques
                rng, m = np.random.default_rng(N), M // (6 * (5 if both else 1))
                rows, supply, β, f = drawn(rng, m, N, True, both, tiny=True)
                rows[..., :2] *= motor
                at = rng.choice([0, 1, 2, 3], (m, N))
                f = np.choose(
                    at,
                    [f * motor, rows[..., 0] * rows[..., 2], -rows[..., 1] * rows[..., 3], 0.0 * f],
                )
                v, P = np.zeros((m, N)), np.zeros(m)
                resolve_all(rows, supply, β * motor**2, f, v, P)
                bad, total = bad + int((~np.isfinite(v)).sum() + (~np.isfinite(P)).sum()), total + m
    print(f"  not finite in {total:,} calls over every edge: {bad}")


def arm() -> None:
    """The single arm of [Kikuuwe21] Fig. 6: the implicit step, and the equations by `simulate`."""
    up = lambda t: np.where((t >= 3 - 1e-9) & (t < 6 - 1e-9), -0.5, 0.0)
    spent = best(lambda: stepped(MeteredArms(), 10.0, 1e-3, up))
    scenario = Scenario(
        10.0,
        disturbances={"u_c_1": Steps("output", (0.0, 3.0, 6.0), (0.0, -0.5, 0.0))},
        log_period=1e-3,
    )
    other = best(lambda: simulate(MeteredArms(), scenario))
    print(
        f"\nsingle arm, 10 s at 1 ms: implicit step {spent * 1e3:.2f} ms (asked 5 ms, {'met' if spent <= 5e-3 else 'MISSED'}); "
        f"equations with log, energies and pressures {other * 1e3:.1f} ms, {other / spent:.0f} times"
    )


if __name__ == "__main__":
    print(machine_in_words(), f"Numba {numba.__version__}")
    points = 20_000 if "--short" in sys.argv else 1_000_000
    if "--exact" not in sys.argv:
        one(points)
        several(points)
        arm()
    exact()
    finite(points)
