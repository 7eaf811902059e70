"""Largest integral gain of a PI loop under a disk margin: ours against SciPy's differential evolution on python-control's grid.

    python benchmarks/pid_tuning.py [--margin 0.6] [--points 2000]

The peer maximises K_i over (K_p, K_i) with the margin read off `points` frequencies of the sampled loop that python-control
composes (the textbook way); ours by `ByDiskMargin`. Both in the same run: seconds, K_i, the margin each believes, and the true
margin of its gains by bisection.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from common import ROOT, machine_in_words

from controllers.pid_tuning import ByDiskMargin
from controllers.pid_tuning.linear import family
from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.verification.linear.loop import flat, point

CASES = {
    "published linear model": (
        "plant: ieha-published-linear\ncontroller: {law: PID}\nloop: {sample_time: 1 ms}\n",
        {},
    ),
    "averaged actuator, E = 0.1 mm": (
        "plant: ieha-control\ncontroller: {law: PID}\nloop: {sample_time: 1 ms}\n",
        {"E": "0.1 mm", "X": "0.1 mm"},
    ),
}


def peer(loop, at, m: float, points: int):
    """(K_p, K_i, margin on the grid) by differential evolution."""
    import control
    from scipy.optimize import differential_evolution

    T = float(loop.period)
    A, B, C = flat(loop, point(loop.plant, at))
    assert names(loop.controller.measured) == ["Y"]
    P = control.c2d(control.ss(A, B, C, 0), T, "zoh")
    z = np.exp(1j * np.geomspace(1e-4, 1, points) * np.pi)
    G, total = P(z), T / (z - 1)

    def margin(K):
        L = G * (K[0] + K[1] * total)
        return 2 / np.abs((1 - L) / (1 + L)).max()

    def cost(x):
        K = np.exp(x)
        α = margin(K)
        if α < m:
            return 10 - α
        Ac = control.feedback(P * control.ss([[1.0]], [[T * K[1]]], [[1.0]], [[K[0]]], T), 1).A
        return -x[1] if np.abs(np.linalg.eigvals(Ac)).max() < 1 else 10.0

    found = differential_evolution(
        cost, [(np.log(1e-2), np.log(10)), (np.log(1e-1), np.log(1e3))], seed=1, tol=1e-8
    )
    K = np.exp(found.x)
    return K, margin(K)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--margin", type=float, default=0.6)
    parser.add_argument("--points", type=int, default=2000)
    options = parser.parse_args()
    print(f"{machine_in_words()}; disk margin {options.margin:g}; {ROOT.name}")
    print(f"{'':32}{'':8}{'seconds':>9}{'K_i, 1/s':>10}{'believed':>10}{'true':>10}")
    for what, (text, at) in CASES.items():
        loop = loads(text).loop
        ByDiskMargin(options.margin, at=at).tune(loop)  # both warm
        begin = perf_counter()
        ours = ByDiskMargin(options.margin, at=at).tune(loop)
        mine = perf_counter() - begin
        begin = perf_counter()
        K, believed = peer(loop, at, options.margin, options.points)
        theirs = perf_counter() - begin
        true = family(loop, ("K_p", "K_i"), at).margins(K[None, :])[0][0].α
        print(
            f"{what:32}{'ours':8}{mine:9.3f}{ours.law.K_i[0]:10.4g}{ours.disk:10.4f}{ours.disk:10.4f}"
        )
        print(
            f"{'':32}{'peer':8}{theirs:9.3f}{K[1]:10.4g}{believed:10.4f}{true:10.4f}   {theirs / mine:.1f} times ours"
        )


if __name__ == "__main__":
    main()
