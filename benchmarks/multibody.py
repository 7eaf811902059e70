"""Mechanisms with loops: our three solvers and exudyn on the same bodies, time a step and error.

    python benchmarks/multibody.py [--span 2] [--repeat 5]

The four-bar of [Jaiswal21] without its cylinder, a spatial slider–crank with ball joints and Bricard's six-bar, which has a row
too many; falling, nothing driven. Error: farthest a body's origin is after the span from where DOP853 in maximal coordinates
(tests/oracles/maximal.py, another formulation by other text) puts it. Ours is timed from scenario to finished Log, compiled.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from statistics import median

import numpy as np
from common import ROOT, machine_in_words, timed

sys.path.insert(0, str(ROOT / "tests"))
from exudyn_mechanism import REDUNDANT, ExudynMechanism  # noqa: E402
from mechanisms import FRICTIONS, bricard, four_bar, hydraulic, slider_crank  # noqa: E402
from oracles.maximal import Maximal  # noqa: E402

from plants.four_bar.linkage import WORK_CYCLE  # noqa: E402
from plants.multibody.penalty.run import simulate as simulate_penalty
from workbench import Scenario, simulate  # noqa: E402

CASES = {
    "four-bar": lambda **o: four_bar(actuators=(), **o),
    "slider-crank": slider_crank,
    "bricard": bricard,
}


def median_of(run, repeat: int):
    """(median processor time, result)."""
    return median(used for _, used in timed(run, repeat)), run()


def origins(mechanism, log) -> np.ndarray:
    """Where the bodies' origins are at the end of a log."""
    z, _, _ = mechanism.split([float(log[s.name].values[-1]) for s in mechanism.states])
    return np.array(mechanism.moving(z, None).r, float)


def exact(mechanism, span: float) -> np.ndarray:
    """The same from maximal coordinates."""
    other = Maximal(mechanism, mechanism.assembly.z, mechanism.assembly.rates)
    found = []
    for (r, R, _, _), b in zip(other.split(other.run(span, 1e-10)), mechanism.bodies):
        found.append(r - R @ np.array(b.com))
    return np.array(found)


def table(name: str, span: float, repeat: int) -> None:
    whole = CASES[name]()
    want = exact(whole, span)
    runs = {"ours, projected": (simulate, whole)}
    if name == "four-bar":
        runs["ours, minimal"] = simulate, replace(whole, method="minimal")
    runs["ours, penalty"] = simulate_penalty, replace(whole, method="penalty")
    print(f"\n{name}, {span:g} s\n{'':24}{'step':>8}{'µs a step':>11}{'error':>11}{'of ours':>9}")
    ours = None
    for label, (run, mechanism) in runs.items():
        processor, log = median_of(lambda run=run, m=mechanism: run(m, Scenario(span)), repeat)
        error = np.abs(origins(mechanism, log) - want).max()
        ours = ours or processor
        print(
            f"{label:24}{'1 ms':>8}{1e6 * processor / (1e3 * span):>11.2f}{error:>11.1e}{processor / ours:>9.2f}"
        )
    for h in (1e-3, 2e-4):
        processor, there = median_of(
            lambda h=h: ExudynMechanism(whole, REDUNDANT.get(name)).run(span, h),
            max(1, repeat // 2),
        )
        error = np.abs(there - want).max()
        print(
            f"{'exudyn, generalised α':24}{f'{1e3 * h:g} ms':>8}{1e6 * processor * h / span:>11.2f}{error:>11.1e}"
            f"{processor / ours:>9.1f}"
        )


def comparison(repeat: int) -> None:
    """The hydraulic four-bar over its work cycle with the four friction models, as [Jaiswal21, Table 3] compares them."""
    cycle = Scenario(10.0, disturbances={"U_ref_c": WORK_CYCLE})
    print(
        f"\nhydraulic four-bar, 10 s at 1 ms\n{'':18}{'µs a step':>10}{'iterations':>12}{'most':>6}{'drift, J':>10}"
        f"{'projected: µs':>15}{'drift, J':>10}{'apart, rad':>12}"
    )
    for name in FRICTIONS:
        penalty, whole = hydraulic("penalty", name), hydraulic("projected", name)
        used, log = median_of(lambda m=penalty: simulate_penalty(m, cycle), repeat)
        less, other = median_of(lambda m=whole: simulate(m, cycle), repeat)
        count, apart = (
            log["iterations"].values[1:],
            np.abs(log["q_crank"].values - other["q_crank"].values).max(),
        )
        print(
            f"{name:18}{1e2 * used:>10.2f}{count.mean():>12.2f}{count.max():>6.0f}{drift(penalty, log):>10.1e}{1e2 * less:>15.2f}"
            f"{drift(whole, other):>10.1e}{apart:>12.1e}"
        )


def drift(mechanism, log) -> float:
    """Largest gap between the energy stored and the powers integrated, J."""
    E = log["E_stored"].values
    return float(
        np.abs(E - E[0] - sum(log[f"E_{name}"].values for name in mechanism.power_names)).max()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--span", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    print(
        f"{machine_in_words()}\nprocessor times; error in m; last column: time as a multiple of the first row's"
    )
    for name in CASES:
        table(name, given.span, given.repeat)
    comparison(given.repeat)


if __name__ == "__main__":
    main()
