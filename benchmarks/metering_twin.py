"""What compressible oil costs against quasistatic valves, and how far apart the two are, beside SciPy's Radau in the same run.

    python benchmarks/metering_twin.py

One arm raised and stopped for 3 s (`reports.studies.metering_gap`): the quasistatic plant, its twin at several V/β by our adaptive
RODAS, and the twin's equations as floats by SciPy. CPU seconds, best of three (SciPy once), one thread, compiled before.
"""

from __future__ import annotations

import time
from dataclasses import replace

import common  # noqa: F401 — puts the repository on the path
import numpy as np
from common import machine_in_words
from scipy.integrate import solve_ivp

from reports.studies.metering_gap import RAISE, TWIN, angles, oil_stiffness

END = 3.0


def best(run, repeat: int = 3) -> tuple[float, object]:
    """(CPU seconds, what `run` gave); compiled before if asked more than once."""
    found = run() if repeat > 1 else None
    least = np.inf
    for _ in range(repeat):
        began = time.process_time()
        found = run()
        least = min(least, time.process_time() - began)
    return least, found


def radau(twin) -> float:
    """θ at the end by SciPy, its steps ending on the jumps of the command."""
    x = np.array(twin.initial(), float)
    edges = (*RAISE.times, END)
    for a, b, (u,) in zip(edges, edges[1:], ((v,) if np.isscalar(v) else v for v in RAISE.values)):
        flow = lambda t, x, u=u: np.array(twin.rhs(t, x, [float(u), 0.0]), float)
        x = solve_ivp(
            flow, (a, b), x, "Radau", rtol=1e-7, atol=[1e-9, 1e-8, 1e-10, 10.0, 10.0, 10.0]
        ).y[:, -1]
    return float(x[0])


def main() -> None:
    print(machine_in_words())
    spent, still = best(lambda: angles(TWIN.of, END))
    print(
        f"quasistatic, steps of 0.25 ms: {1e3 * spent:.1f} ms, {np.ptp(still):.3f} rad travelled\n"
    )
    print(
        f"{'V/β':>8s}{'κ':>8s}{'twin, ms':>10s}{'of quasistatic':>16s}{'Radau, ms':>11s}{'over twin':>11s}{'gap, rad':>11s}"
        f"{'order':>8s}{'apart, rad':>12s}"
    )
    last = None
    for s in (1.0, 0.5, 0.25, 0.125, 0.0625):
        twin = replace(TWIN, β=TWIN.β / s)
        own, θ = best(lambda twin=twin: angles(twin, END))
        peer, end = best(lambda twin=twin: radau(twin), 1)
        gap = np.abs(θ - still).max()
        order = "" if last is None else f"{np.log2(last / gap):.3f}"
        print(
            f"{s:8.4f}{TWIN.of.arms[0].K / oil_stiffness(twin):8.4f}{1e3 * own:10.1f}{own / spent:16.2f}{1e3 * peer:11.0f}"
            f"{peer / own:11.0f}{gap:11.2e}{order:>8s}{abs(end - θ[-1]):12.1e}"
        )
        last = gap


if __name__ == "__main__":
    main()
