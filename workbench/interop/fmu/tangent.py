"""An FMU linearised: by its directional derivatives where it provides them, else by differences, which is said.

A = ∂f/∂x,  B = ∂f/∂u,  C = ∂g/∂x,  D = ∂g/∂u         δx in SI: a derivative between a and b is scaled by factor_a/factor_b
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.differences import check_timeless, differences, linearisation
from workbench.numerics.linearisation import Linearisation

if TYPE_CHECKING:
    from workbench.interop.fmu.plant import FMU


def exact(plant: FMU) -> bool:
    """Whether the FMU gives derivatives of its own."""
    return plant.exchange and plant.model.interface.directional


def linearised(
    plant: FMU, x: Sequence[float], u: Sequence[float], inputs: Sequence[str]
) -> Linearisation:
    """δẋ = A δx + B δu, δy = C δx + D δu about (x, u) at t = 0.

    inputs: those that B and D have columns for. Raises InputError for co-simulation, for an FMU with events, and where
    differences find no derivative.
    """
    if not plant.exchange:
        raise InputError(
            f"{plant.name} is run by co-simulation and keeps its state to itself: it has no flow that could be linearised",
            mend="export it for model exchange, or ask what runs can show",
        )
    if plant.pure.switches:
        raise InputError(
            f"{plant.name} has events: linearised between two of them it says nothing about what they do",
            mend="ask what runs can show",
        )
    flow = plant.pure.flow
    check_timeless(plant.name, flow, x, u)
    J = _directional(plant, x, u) if exact(plant) else differences(plant.name, plant, flow, x, u)
    return linearisation(plant.name, plant, flow, J, x, u, inputs)


def _directional(plant: FMU, x: Sequence[float], u: Sequence[float]) -> np.ndarray:
    """All derivatives by the FMU's own: rows (ẋ, y), columns (x, u)."""
    model = plant.model
    states, inputs, outputs = model.scales
    rates = [v.reference for v in model.about.derivatives]
    unknowns = rates + [w.variable.reference for w in model.wires.outputs]
    knowns = [w.variable.reference for w in (*model.wires.states, *model.wires.inputs)]
    J = plant.pure.slopes(
        states.from_si(np.array(x, float)), inputs.from_si(np.array(u, float)), unknowns, knowns
    )
    rows = np.concatenate([states.factor, outputs.factor])
    return J * rows[:, None] / np.concatenate([states.factor, inputs.factor])[None, :]
