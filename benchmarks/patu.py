"""PATU 655 beside exudyn: the same crane, the same voltages, joint angles and time.

    python benchmarks/patu.py        # needs exudyn: pip install fluidproof[oracles]

Ours in minimal coordinates with closed brackets at 1 ms; exudyn with three redundant coordinates a body and implicit steps.
Truth is ours at 20 µs. Errors are shares of the largest range of an angle. exudyn's is of first order in the
step here; "step to zero" extrapolates its last two.
"""

from __future__ import annotations

import numpy as np
from common import machine_in_words, timed

from plants import machine
from workbench import Scenario, Steps, simulate

PIECES = (
    (0.0, 0.2, (0.0, 0.0)),
    (0.2, 1.4, (5.0, 4.0)),
    (1.4, 2.2, (-3.0, 2.0)),
    (2.2, 3.0, (2.0, -3.0)),
    (3.0, 4.0, (0.0, 0.0)),
)
SPAN = PIECES[-1][1]
STEPS = (1e-3, 2.5e-4, 5e-5)  # s, of exudyn
BODIES = ("lift", "bracket_1", "bracket_2", "tilt")


def to_ground(log) -> np.ndarray:
    """Angles of the four bodies to the ground."""
    q = {name: log.array(f"q_{name}") for name in BODIES}
    first = q["lift"] + q["bracket_1"]
    return np.stack([q["lift"], first, first + q["bracket_2"], q["lift"] + q["tilt"]], axis=1)


def ours(plant, step: float):
    voltages = {
        f"u_{a.name}": Steps("output", tuple(p[0] for p in PIECES), tuple(p[2][k] for p in PIECES))
        for k, a in enumerate(plant.actuators)
    }
    return simulate(plant, Scenario(SPAN, disturbances=voltages, max_step=step, log_period=1e-3))


def main() -> None:
    from exudyn_patu import ExudynPlanar

    print(machine_in_words())
    plant = machine("patu-655").plant
    truth = ours(plant, 2e-5)
    angles = to_ground(truth)
    span = float(np.ptp(angles, axis=0).max())
    ours(plant, 1e-3)
    print(f"largest range of an angle {np.degrees(span):.1f}°\n")
    print(f"{'':28s}{'s/s':>9s}{'of range':>11s}{'rad':>10s}{'times ours':>12s}")
    spent = min(used for _, used in timed(lambda: ours(plant, 1e-3), 5))
    log = ours(plant, 1e-3)
    error = np.abs(to_ground(log) - angles).max()
    print(f"{'Fluidproof, 1 ms':28s}{spent / SPAN:9.4f}{error / span:11.1e}{error:10.1e}")
    found = {}
    for step in STEPS:
        times, found[step], used = ExudynPlanar(plant).run(PIECES, step)
        at = np.round(times / 1e-3).astype(int)
        turns = np.round((angles[0] - found[step][0]) / (2 * np.pi)) * 2 * np.pi
        error = np.abs(found[step] + turns - angles[at]).max()
        label = f"exudyn, {step * 1e3:g} ms"
        print(f"{label:28s}{used / SPAN:9.4f}{error / span:11.1e}{error:10.1e}{used / spent:12.1f}")
    coarse, fine = STEPS[-2:]
    limit = found[fine] + (found[fine] - found[coarse]) * fine / (coarse - fine)
    error = np.abs(limit + turns - angles[at]).max()
    print(f"{'exudyn, step to zero':28s}{'':9s}{error / span:11.1e}{error:10.1e}")


if __name__ == "__main__":
    main()
