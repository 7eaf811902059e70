"""Does the ledger of any machine close? Random linkages with closed loops, mixed drives, springs; and the shipped machines.

    python benchmarks/machine_identity.py [--machines 50] [--first 0]

For each: the largest residual of a row (of its terms), the largest opening of a cut (of the terms that meet there), and the least
dissipation, at random states, references and commands.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np
from common import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from machine_ledger import at_random, loop_of  # noqa: E402
from random_linkages import linkage  # noqa: E402

from controllers import VDC  # noqa: E402
from plants import machine  # noqa: E402
from workbench import InputError  # noqa: E402

SHIPPED = ("patu-655", "excavator")


def figures(plant, seed: int) -> tuple[float, float, float]:
    """(largest residual, largest opening of a cut, least dissipation)."""
    b = at_random(loop_of(VDC(plant, K_I=3.0)), seed)
    sizes = b.cut_scale()
    opened = max(float((np.abs(v) / sizes[cut]).max()) for cut, v in b.cuts().items())
    return float(np.abs(b.residual()).max()), opened, float(b.dissipation.min())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--machines", type=int, default=50)
    options.add_argument("--first", type=int, default=0)
    given = options.parse_args()
    begun, worst, refused, seed, done = perf_counter(), np.zeros(2), 0, given.first, 0
    for name in SHIPPED:
        residual, opened, least = figures(machine(name).plant, 1)
        worst = np.maximum(worst, (residual, opened))
        print(
            f"{name:14} residual {residual:.1e}  cuts {opened:.1e}  least dissipation {least:.1e}"
        )
    while done < given.machines:
        try:
            plant = linkage(seed, links=1 + seed % 3)
            residual, opened, least = figures(plant, seed)
        except InputError:  # a cylinder that cannot carry what was drawn
            refused += 1
        else:
            done += 1
            worst = np.maximum(worst, (residual, opened))
            if max(residual, opened) > 1e-12 or least < 0:
                print(f"seed {seed}: residual {residual:.1e}, cuts {opened:.1e}, least {least:.1e}")
        seed += 1
    print(
        f"{done} random machines ({refused} draws refused) in {perf_counter() - begun:.0f} s: largest residual {worst[0]:.1e}, "
        f"largest opening of a cut {worst[1]:.1e} (asked 1e-12)"
    )


if __name__ == "__main__":
    main()
