"""Seconds of computation per simulated second under VDC: cranes by their parameters, and machines drawn by pins.

    python benchmarks/machines.py [--repeat 7] [--seconds 10]

The shipped crane runs twice: as a `Manipulator`, and written as bodies, joints, loops and drives. PATU 655 (two joints, brackets)
and the excavator (three joints, bell crank) follow, all at 1 kHz, each on a path of its own joints. Printed are the ratios to the
crane as a mechanism and to the two-joint crane by its parameters, of the same run.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from common import ROOT, T_S, cranes, machine_in_words, row, table, timed

sys.path.insert(0, str(ROOT / "tests"))

from crane_as_mechanism import as_mechanism  # noqa: E402

from controllers import VDC  # noqa: E402
from plants import ConstantPressure, ServoCylinder, machine  # noqa: E402
from workbench import ClosedLoop, Sampled, Scenario, Waypoints, simulate  # noqa: E402

SHIFT = (0.15, -0.2, 0.1)  # rad or m, from the start and back


def written_out(crane):
    """The crane as a mechanism with its own valves on its pistons."""
    return as_mechanism(
        crane,
        crane.initial()[: crane.n],
        drive=lambda segment, closed: ServoCylinder(segment.cylinder, closed, crane.oil),
        method="minimal",
        supply=ConstantPressure(crane.p_s, crane.p_r, crane.Q_max),
    )


def prepared(law, seconds: float):
    """Loop and scenario: to a pose beside the start and back."""
    plant = law.model
    start = [float(v) for v in plant.initial()[: plant.n]]
    beside = tuple(q + shift for q, shift in zip(start, SHIFT))
    path = Waypoints("joint", ("start", beside, "start"), seconds / 2)
    return ClosedLoop(plant, Sampled(law, T_s=T_S)), Scenario(seconds, path)


def laws() -> dict:
    """Name → law around its machine."""
    found = {}
    for name, crane in cranes().items():
        found[f"{name} crane, parameters"] = VDC(crane)
        found[f"{name} crane, as a mechanism"] = VDC(written_out(crane))
    for name in ("patu-655", "excavator"):
        plant = machine(name).plant
        found[name] = VDC(replace(plant, method="minimal"))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=7)
    options.add_argument("--seconds", type=float, default=10.0)
    given = options.parse_args()
    rows = {}
    for name, law in laws().items():
        loop, scenario = prepared(law, given.seconds)
        simulate(loop, scenario)  # compiles
        times = timed(lambda loop=loop, scenario=scenario: simulate(loop, scenario), given.repeat)
        rows[name] = row(name, times, given.seconds)
    print(machine_in_words())
    print(table(list(rows.values()), "run/sim"))
    own = rows["two-joint crane, parameters"].processor
    for name, one in rows.items():
        print(f"{name:36} {one.processor / own:6.2f} times the two-joint crane by its parameters")
    for kind in cranes():
        ratio = rows[f"{kind} crane, as a mechanism"].processor
        ratio /= rows[f"{kind} crane, parameters"].processor
        print(
            f"{kind} crane as a mechanism: {ratio:.2f} times the crane by its parameters (asked 1.15)"
        )


if __name__ == "__main__":
    main()
