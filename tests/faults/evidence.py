"""Evidence without any claim: what a longer run from a disturbed start shows of a fault, or of a sound loop.

    error     largest |wanted − actual| of positions that are to follow a reference (joints of a machine with a tool; the
              outputs that are followed; where nothing is wanted, |position − its start|), after `after` of the run
    swing     half the peak-to-peak value of the same over the last fifth of the run, its straight line taken out
    growth    that swing over the one in the fifth before, where both are above rounding
    NAME      largest magnitude of a logged signal after `after` of the run; "min NAME" and "max NAME" with sign
    pump      largest flow that all valves of a manipulator take together, m³/s
    shake NAME   half the rms of what a command does from one sample to the next, as a share of its range

`shown` of an entry names one of these and `above` or `below`; `longer` lengthens the run (times the scenario's length), `kick`
adds to states at the start with the reference where it was, `disturb` replaces disturbances, `held` holds the reference at its
start, `held_at` at these numbers. A run that diverges shows every fault.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.faults.entries import SETTINGS, Entry, Made
from workbench import Hold, Scenario, simulate
from workbench.contract.errors import InputError
from workbench.run.demand import Demand
from workbench.run.log import Log
from workbench.run.start import start_state
from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run

LONGER = 3.0
AFTER = 0.5


@dataclass(frozen=True)
class Shown:
    """Whether the evidence is there, and the number it rests on."""

    holds: bool
    text: str


def long_run(made: Made, shown: Mapping[str, Any]) -> Run:
    """The entry's loop over a longer time from a start that is moved by `kick`, its reference where it was."""
    scenario: Scenario = made.scenario
    demand = Demand(made.loop, scenario, start_state(made.loop, scenario))
    duration = shown.get("duration", shown.get("longer", LONGER) * scenario.length())
    kick = shown.get("kick", made.kick)
    known = {s.name for s in made.loop.states}
    offset = {
        **scenario.offset,
        **{k: scenario.offset.get(k, 0.0) + v for k, v in kick.items() if k in known},
    }
    disturbances = {**scenario.disturbances, **shown.get("disturb", {})}
    changed = replace(
        scenario,
        duration=duration,
        reference=_reference(demand.reference, shown),
        offset=offset,
        disturbances=disturbances,
        log_period=shown.get("log_period"),
        start=shown.get("start", scenario.start),
    )
    return Run(made.loop, changed, simulate(made.loop, changed))


def _reference(reference, shown: Mapping[str, Any]):
    """The reference, held where `shown` says so."""
    if "held_at" in shown:
        return Hold(reference.space, tuple(shown["held_at"]))
    return _at_its_start(reference) if shown.get("held") else reference


def _at_its_start(reference) -> Hold:
    """The reference held where it begins."""
    (there,) = reference.sample(np.zeros(1), 0)[0]
    return Hold(reference.space, tuple(map(float, there)))


def errors(run: Run) -> dict[str, np.ndarray]:
    """Errors of positions, or deviations from the start where nothing is wanted."""
    found = joint_errors(run)
    if run.demand.reference is not None:
        return found
    if not found:
        found = {s.name: run.log.array(s.name) for s in run.loop.plant.outputs}
    return {name: values - values[0] for name, values in found.items()}


def swing(values: np.ndarray) -> float:
    """Half the peak-to-peak value about a straight line."""
    x = np.linspace(-1.0, 1.0, len(values))
    rest = values - np.polyval(np.polyfit(x, values, 1), x)
    return float(np.ptp(rest)) / 2


def measure(run: Run, what: str, after: float) -> float:
    """One of the module's numbers."""
    log: Log = run.log
    n = len(log.time)
    late = slice(int(after * n), n)
    if what == "error":
        return max(float(np.abs(e[late]).max()) for e in errors(run).values())
    if what == "swing":
        return max(swing(e[int(0.8 * n) :]) for e in errors(run).values())
    if what == "growth":
        pairs = [
            (swing(e[int(0.6 * n) : int(0.8 * n)]), swing(e[int(0.8 * n) :]))
            for e in errors(run).values()
        ]
        return max(b / max(a, 1e-15) for a, b in pairs)
    if what == "pump":
        taken = [s.name for s in log.signals if s.name.startswith("Q_s")]
        return float(sum(log.array(name) for name in taken)[late].max())
    word, _, name = what.partition(" ")
    if word == "shake":
        u = log.array(name)[late]
        low, high = run.loop.plant.limits().get(name, (u.min(), u.max()))
        return float(np.sqrt(np.mean(np.diff(u) ** 2)) / 2 / max(high - low, 1e-300))
    if word in ("min", "max"):
        values = log.array(name)[late]
        return float(values.min() if word == "min" else values.max())
    return float(np.abs(log.array(what)[late]).max())


def evidence(entry: Entry, made: Made) -> Shown:
    """What the entry's `shown` asks, measured; of a sound loop without `shown`, that it comes back and stays."""
    shown = dict(entry.shown)
    if "mode" in shown:
        return _mode(made, shown)
    try:
        run = long_run(made, shown)
    except InputError as why:
        return Shown(not entry.sound, f"refused: {why.message}")
    if not run.log.status.completed:
        return Shown(not entry.sound, run.log.status.message)
    what = next((key for key in shown if key not in SETTINGS), "error")
    try:
        value = measure(run, what, shown.get("after", AFTER))
    except InputError as why:
        return Shown(False, why.message)
    text = f"{what} {value:.4g}"
    if "above" in shown:
        return Shown(value > shown["above"], f"{text}, above {shown['above']:g} wanted")
    limit = shown.get("below", tracking_limit(made))
    return Shown(value < limit, f"{text}, below {limit:g} wanted")


def _mode(made: Made, shown: Mapping[str, Any]) -> Shown:
    """Largest real part of the eigenvalues of the plant's own matrix, for plants that are given by one."""
    plant = made.loop.plant
    n = len(plant.states)
    zero = [0.0] * len(plant.inputs)
    flow = lambda x: np.array(plant.rhs(0.0, x, zero), float)
    origin = flow([0.0] * n)
    A = np.column_stack([flow([float(i == k) for i in range(n)]) - origin for k in range(n)])
    value = float(np.linalg.eigvals(A).real.max())
    if "above" in shown:
        return Shown(value > shown["above"], f"fastest growth {value:.4g} 1/s")
    return Shown(value < shown.get("below", 0.0), f"slowest decay {value:.4g} 1/s")


def tracking_limit(made: Made) -> float:
    """The error that the entry's claims allow; of a tool, its metres are taken for radians of the joints."""
    for claim in made.claims or ():
        error = getattr(claim, "error", None)
        if type(claim).__name__ == "Tracking" and isinstance(error, float):
            return error
    return math.inf
