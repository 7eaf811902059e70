"""A loop near rest, small enough to be changed and examined again: plant and law as matrices, and how fast the loop grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest, Remembering, Stepped
from workbench.contract.parameters import leaves
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.verification.cause.feedback import slopes
from workbench.verification.linear.loop import LinearLaw, flat, flowing_law, linear_law, point
from workbench.verification.linear.sampled_data import sampled
from workbench.verification.linear.smooth import smooth
from workbench.verification.run import Run

MOST_STATES = 40


@dataclass(frozen=True, eq=False)
class Around:
    """A loop near rest: the plant ẋ = A x + B u, y = C x (commands and measurements of the law), and its law; T = 0: continuous."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    law: LinearLaw

    def matrix(self) -> np.ndarray:
        """M of the loop on (x, past commands, memory of the law)."""
        A = self.A
        B = self.B
        C = self.C
        law = self.law
        if law.T > 0:
            held = sampled(A, B, C, np.zeros((len(C), B.shape[1])), law.T, law.delay)
            A = held.A
            B = held.B
            C = held.C
        return np.block([[A + B @ law.D @ C, B @ law.C], [law.B @ C, law.A]])

    def growth(self) -> float:
        """Growth rate of the fastest growing mode, 1/s."""
        M = self.matrix()
        if not np.isfinite(M).all():
            return math.inf
        values = np.linalg.eigvals(M)
        if self.law.T > 0:
            return math.log(max(float(np.abs(values).max()), 1e-300)) / self.law.T
        return float(values.real.max())


def around(run: Run, loop) -> Around | None:
    """The loop near rest; None where it is not linearised (a crane, a user's law with memory)."""
    plant = loop.plant
    if plant.structures or len(plant.states) > MOST_STATES:
        return None
    try:
        A, B, C = flat(loop, point(plant, {}))
        law = _law(run, loop)
    except (InputError, ValueError, ArithmeticError):
        return None
    if law is None or not all(np.isfinite(m).all() for m in (A, B, C, law.D)):
        return None
    return Around(A, B, C, law)


def _law(run: Run, loop) -> LinearLaw | None:
    if loop.period is None:
        return LinearLaw(*flowing_law(loop), 0.0, 0.0)
    own = innermost(loop.controller)
    if not isinstance(own, Plain) or isinstance(own.law, LinearNearRest):
        return linear_law(smooth(loop), tangent=True)
    if isinstance(own.law, Stepped) or isinstance(own.law, Remembering):
        return None
    measured = names(loop.controller.measured)
    commands = names(loop.controller.commands)
    gains = slopes(run, measured)
    if gains is None:
        return None
    n = len(measured)
    m = len(commands)
    empty = np.zeros((0, 0)), np.zeros((0, n)), np.zeros((m, 0))
    return LinearLaw(*empty, gains, float(loop.period), _delay(loop))


def _delay(loop) -> float:
    found = [leaf.value for leaf in leaves(loop) if leaf.path == "controller.delay"]
    return float(found[0]) if found else 0.0
