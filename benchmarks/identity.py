"""How exactly the dissipation ledger balances: largest residuals over loops with everything a real machine adds.

    python benchmarks/identity.py [--states 200] [--seed 17]

Every row is one loop at random states and inputs. Residual: v̇_k (exact directional derivative) minus the ledger's row,
the worst entry, relative to its terms before subtraction. Cuts: sum of both sides of the worst inner cut, likewise.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from ledger_cases import CASES, ledger_at_random  # noqa: E402


def worst(b):
    """(largest residual, its entry, largest relative sum at an inner cut) of a ledger."""
    r = np.abs(b.residual())
    _, i = np.unravel_index(np.argmax(r), r.shape)
    sums, sizes, sides = b.cuts(), b.cut_scale(), b.sides()
    cuts = max(float((np.abs(sums[c]) / sizes[c]).max()) for c in sums if len(sides[c]) == 2)
    return float(r.max()), ".".join(b.entries[i]), cuts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    chosen = parser.parse_args()
    print(
        f"{'loop':46s}{'entries':>8s}{'residual':>10s}  {'worst entry':18s}{'cuts':>9s}{'max |v̇|':>14s}{'time':>8s}"
    )
    for name, (loop, disturbances) in CASES.items():
        begin = perf_counter()
        b = ledger_at_random(loop, disturbances, chosen.states, chosen.seed)
        residual, entry, cuts = worst(b)
        top = np.abs(b.total_rate).max()
        print(
            f"{name:46s}{len(b.entries):8d}{residual:10.1e}  {entry:18s}{cuts:9.1e}{top:12.3g} W"
            f"{perf_counter() - begin:6.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
