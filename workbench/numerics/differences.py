"""A plant that is no text of ours linearised by differences: of two steps h and h/2, which must agree.

    A = ∂f/∂x,  B = ∂f/∂u,  C = ∂g/∂x,  D = ∂g/∂u,     flow(t, x, u) = (f, g): rates of the states, then what is measured

Differences are central; what the two differ by is how far they can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System, names
from workbench.numerics.linearisation import Linearisation

STEP = 1e-4  # share of a value, or of 1 in its SI unit where that is larger: what it is moved by
LATER = (0.377, 7.31)  # s, at which it is looked whether time changes anything
# Two differences further apart, as a share of the largest in their row, are no derivative.
TOLD = 1e-3
Flow = Callable[[float, Sequence[float], Sequence[float]], np.ndarray]


def check_timeless(who: str, flow: Flow, x: Sequence[float], u: Sequence[float]) -> None:
    """InputError where flow or outputs of the plant `who` change with time itself."""
    at = [flow(t, x, u) for t in (0.0, *LATER)]
    if any((one != at[0]).any() for one in at[1:]):
        raise InputError(
            f"{who} changes with time itself: linearised at one instant it says nothing",
            mend="ask what runs can show",
        )


def differences(
    who: str, plant: System, flow: Flow, x: Sequence[float], u: Sequence[float]
) -> np.ndarray:
    """∂flow/∂(x, u): rows (ẋ, y), columns (x, u). Raises InputError where two steps do not agree."""
    z = np.concatenate([np.array(x, float), np.array(u, float)])
    h = STEP * np.maximum(np.abs(z), 1.0)
    wide, narrow = (_central(flow, z, len(x), step) for step in (h, h / 2))
    apart = np.abs(wide - narrow)
    largest = np.maximum(np.abs(narrow).max(axis=1, initial=0.0, keepdims=True), 1e-12)
    if (apart > TOLD * largest).any():
        i, k = np.unravel_index(int((apart / largest).argmax()), apart.shape)
        row = [f"d{name}/dt" for name in names(plant.states)] + names(plant.outputs)
        column = [*names(plant.states), *names(plant.inputs)]
        raise InputError(
            f"{who} gives no derivatives, and differences of {row[i]} by {column[k]} do not agree: it is no smooth"
            " function there",
            mend="linearise it about another point, or ask what runs can show",
        )
    return (4 * narrow - wide) / 3


def _central(flow: Flow, z: np.ndarray, n: int, h: np.ndarray) -> np.ndarray:
    columns = []
    for k, step in enumerate(h):
        ends = []
        for sign in (1.0, -1.0):
            at = z.copy()
            at[k] += sign * step
            ends.append(flow(0.0, at[:n].tolist(), at[n:].tolist()))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.array(columns).reshape(len(h), -1).T


def linearisation(
    who: str,
    plant: System,
    flow: Flow,
    J: np.ndarray,
    x: Sequence[float],
    u: Sequence[float],
    inputs: Sequence[str],
) -> Linearisation:
    """What these slopes are about (x, u); `inputs`: those that B and D have columns for. InputError where one is no number."""
    if not np.isfinite(J).all():
        raise InputError(f"{who} has no derivative there", mend="linearise it about another point")
    n = len(x)
    at = [n + names(plant.inputs).index(name) for name in inputs]
    rates = flow(0.0, x, u)[:n]
    return Linearisation(
        A=J[:n, :n],
        B=J[:n, at],
        C=J[n:, :n],
        D=J[n:, at],
        x=np.array(x, float),
        u=np.array([u[i - n] for i in at]),
        states=tuple(names(plant.states)),
        inputs=tuple(inputs),
        outputs=tuple(names(plant.outputs)),
        residual=float(np.abs(rates).max(initial=0.0)),
    )
