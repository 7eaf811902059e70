"""An FMU linearised: by its directional derivatives where it provides them, else by differences, which is said.

    A = ∂f/∂x,  B = ∂f/∂u,  C = ∂g/∂x,  D = ∂g/∂u         δx in SI: a derivative between a and b is scaled by factor_a/factor_b

Differences are central, of two steps h and h/2 each; what the two differ by is how far they can be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.linearisation import Linearisation

if TYPE_CHECKING:
    from workbench.interop.fmu.plant import FMU

STEP = 1e-4  # of a value, or of 1 in its SI unit where that is larger: what it is moved by
LATER = (0.377, 7.31)  # s, at which it is looked whether time changes anything
TOLD = (
    1e-3  # two differences further apart, as a share of the largest in their row, are no derivative
)


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
    _check_timeless(plant, x, u)
    slopes = _directional if exact(plant) else _differences
    J = slopes(plant, np.array(x, float), np.array(u, float))
    if not np.isfinite(J).all():
        raise InputError(
            f"{plant.name} has no derivative there", mend="linearise it about another point"
        )
    n = len(x)
    at = [n + names(plant.inputs).index(name) for name in inputs]
    rates = plant.pure.flow(0.0, x, u)[:n]
    return Linearisation(
        J[:n, :n],
        J[:n, at],
        J[n:, :n],
        J[n:, at],
        np.array(x, float),
        np.array([u[i - n] for i in at]),
        tuple(names(plant.states)),
        tuple(inputs),
        tuple(names(plant.outputs)),
        float(np.abs(rates).max(initial=0.0)),
    )


def _check_timeless(plant: FMU, x: Sequence[float], u: Sequence[float]) -> None:
    """InputError where flow or outputs change with time itself."""
    at = [plant.pure.flow(t, x, u) for t in (0.0, *LATER)]
    if any((one != at[0]).any() for one in at[1:]):
        raise InputError(
            f"{plant.name} changes with time itself: linearised at one instant it says nothing",
            mend="ask what runs can show",
        )


def _directional(plant: FMU, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """All derivatives by the FMU's own: rows (ẋ, y), columns (x, u)."""
    model = plant.model
    states, inputs, outputs = model.scales
    rates = [v.reference for v in model.about.derivatives]
    unknowns = rates + [w.variable.reference for w in model.wires.outputs]
    knowns = [w.variable.reference for w in (*model.wires.states, *model.wires.inputs)]
    J = plant.pure.slopes(states.from_si(x), inputs.from_si(u), unknowns, knowns)
    rows = np.concatenate([states.factor, outputs.factor])
    return J * rows[:, None] / np.concatenate([states.factor, inputs.factor])[None, :]


def _differences(plant: FMU, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """All derivatives by central differences, of which two of different steps must agree."""
    z = np.concatenate([x, u])
    h = STEP * np.maximum(np.abs(z), 1.0)
    wide, narrow = (_central(plant, z, len(x), step) for step in (h, h / 2))
    apart = np.abs(wide - narrow)
    largest = np.maximum(np.abs(narrow).max(axis=1, initial=0.0, keepdims=True), 1e-12)
    if (apart > TOLD * largest).any():
        i, k = np.unravel_index(int((apart / largest).argmax()), apart.shape)
        row = [f"d{name}/dt" for name in names(plant.states)] + names(plant.outputs)
        column = [*names(plant.states), *names(plant.inputs)]
        raise InputError(
            f"{plant.name} gives no derivatives, and differences of {row[i]} by {column[k]} do not agree: it is no smooth"
            " function there",
            mend="linearise it about another point, or ask what runs can show",
        )
    return (4 * narrow - wide) / 3


def _central(plant: FMU, z: np.ndarray, n: int, h: np.ndarray) -> np.ndarray:
    columns = []
    for k, step in enumerate(h):
        ends = []
        for sign in (1.0, -1.0):
            at = z.copy()
            at[k] += sign * step
            ends.append(plant.pure.flow(0.0, at[:n].tolist(), at[n:].tolist()))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.array(columns).reshape(len(h), -1).T
