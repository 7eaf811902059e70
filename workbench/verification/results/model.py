"""The controller's model beside the plant, as arrays of a report."""

from __future__ import annotations

import numpy as np

from workbench.contract.capabilities import Predictive
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.contract.system import System, innermost, names
from workbench.numerics.linearisation import linearize
from workbench.numerics.overflow import may_overflow
from workbench.run.targets import target_name
from workbench.verification import claims as C
from workbench.verification.linear.sampled_data import hold
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.run import Run

POINTS = 240  # of a frequency or step response


def law_of(loop):
    """The control law itself, whatever is around it; a predictive one out of its host, a user's own code as its host."""
    from workbench.verification.predictive.of_run import predictive

    return predictive(loop) or innermost(loop.controller)


# ---- truth and belief ---------------------------------------------------------------------------------------------------
def where(run: Run, claims):
    """The point at which the claims linearise the plant: where `linear-stability` says, or its start."""
    from workbench.verification.linear.loop import point

    at = next((c.at for c in claims if isinstance(c, C.LinearStability)), {})
    return point(run.loop.plant, at)


def model(run: Run, claims) -> dict:
    """The plant against the controller's model, input by input: G(jω) and the response to a step as large as in the run.

    "channels": list of {input, output, unit (of G), ω, truth, model, t, size, size_unit, steps: output → (truth, model, unit)};
    "where" says at which point the plant was linearised, "why" (instead of channels) why it could not be. {} without a
    model, or where the two are one.
    """
    plant = run.loop.plant
    law = law_of(run.loop)
    belief = law.model
    if (
        not run.loop.controller.commands
        or not isinstance(belief, System)
        or digest(belief) == digest(plant)
    ):
        return {}  # an open loop's model is asked nothing
    said = {"truth": type(plant).__name__, "model": type(belief).__name__}
    try:
        x, u, words = _point(run, claims)
        truth = _linear(plant, x, u)
        believed = _linear(belief, law.x_0 or belief.initial(), None)
    except InputError as why:
        return said | {"why": why.message}
    return said | {
        "where": words,
        "channels": [_channel(run, law, truth, believed, n) for n in _shared(plant, belief)],
    }


def _shared(plant, belief) -> list[str]:
    """Inputs that both have, commands first."""
    known = names(belief.inputs)
    return [s.name for s in sorted(plant.inputs, key=lambda s: s.kind != "") if s.name in known][:3]


def _point(run, claims):
    """(x, u, words) of the operating point: a claim's, else the instant of the run at which the command is nearest its rms."""
    from workbench.verification.linear.loop import refuse_turning

    plant = run.loop.plant
    refuse_turning(plant)
    at = where(run, claims)
    if at.words:
        return at.x, at.u, at.words
    u = run.log.array(names(run.loop.controller.commands)[0])
    usable = np.isfinite(u) & np.all(
        [np.isfinite(run.log.array(s.name)) for s in plant.states if s.name in run.log], axis=0
    )
    if not usable.any():
        raise InputError("the run has no state at which it could be linearised")
    size = np.where(usable, np.abs(u), np.inf)
    with may_overflow():
        k = int(np.argmin(np.abs(size - np.sqrt(np.mean(u[usable] ** 2)))))
    pick = lambda signals: [
        float(run.log.array(s.name)[k]) if s.name in run.log else 0.0 for s in signals
    ]
    return (
        pick(plant.states),
        pick(plant.inputs),
        f"its state in the run at t = {run.log.time[k]:.3g} s",
    )


def _linear(system, x, u):
    return linearize(system, list(x), None if u is None else list(u))


def _channel(run, law, truth, believed, name) -> dict:
    """One input of both: see `model`."""
    plant = run.loop.plant
    log = run.log
    signal = {s.name: s for s in (*plant.inputs, *plant.outputs)}
    both = [n for n in names(plant.outputs) if n in believed.outputs]
    followed = [s.name for s in law.follows if s.name in both] or both[:1]
    ω = np.geomspace(1.0, np.pi / run.loop.period if run.loop.period else 1e3, POINTS)
    span = (law.N if isinstance(law, Predictive) else 100) * (run.loop.period or 1e-3)
    values = log.array(name) if name in log else np.zeros(1)
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    made = {
        "input": name,
        "output": followed[0],
        "ω": ω,
        "t": np.linspace(0.0, span, POINTS),
        "size": size,
        "unit": f"{signal[followed[0]].unit}/{signal[name].unit}",
        "size_unit": signal[name].unit,
        "steps": {},
    }
    for key, found in (("truth", truth), ("model", believed)):
        i = found.inputs.index(name)
        G = LinearSystem(found.A, found.B[:, [i]], found.C, found.D[:, [i]])
        row = found.outputs.index(followed[0])
        made[key] = G.response(ω)[:, row, 0]
        y = size * step_response(G, span, POINTS)
        for output in both[:2]:
            made["steps"].setdefault(output, {"unit": signal[output].unit})[key] = y[
                :, found.outputs.index(output)
            ]
    return made


def step_response(G: LinearSystem, span: float, points: int) -> np.ndarray:
    """(points, outputs) of a continuous G with one input to a unit step at 0, from rest, exact at instants span/(points − 1)
    apart."""
    Φ, Γ = hold(G.A, G.B, span / (points - 1))
    x = np.zeros(len(G.A))
    y = []
    for _ in range(points):
        y.append(G.C @ x + G.D[:, 0])
        x = Φ @ x + Γ[:, 0]
    return np.array(y)


def followed(run: Run) -> list[str]:
    """Outputs that are given a path of their own."""
    reference = run.demand.reference
    if reference is None or reference.space != "output":
        return []
    return [
        n
        for n, order in run.demand.wanted
        if order == 0 and n in run.log and target_name(n, 0) in run.log
    ]
