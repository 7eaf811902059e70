"""Hidden modes of a linear plant: what no command moves and what no measurement shows.

    uncontrollable   rank [λI − A, B] < n          unobservable   rank [λI − A; C] < n

(Popov–Belevitch–Hautus), judged by the least singular value in balanced coordinates against `SMALL` times the largest.
A law cannot change such a mode: an unstable one stays, however quiet the output.
Source: [AstromMurray08] sections 7.1 and 8.1 (reachability, observability).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.verification.linear.stability import spectral
from workbench.verification.linear.systems import LinearSystem, balanced

SMALL = 1e-10


@final
@dataclass(frozen=True)
class Hidden:
    """A hidden mode: its eigenvalue (1/s), why it is hidden, the states that take part most."""

    eigenvalue: complex
    why: str
    states: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{self.why}: λ = {self.eigenvalue.real:.4g} 1/s ({', '.join(self.states)})"


def hidden_modes(A, B, C, states) -> tuple[Hidden, ...]:
    """Hidden modes of ẋ = A x + B u, y = C x, the least stable first; one of each conjugate pair."""
    sys = balanced(LinearSystem(A, B, C, np.zeros((len(C), np.shape(B)[1]))))
    found = spectral(sys.A)
    one = np.eye(len(sys.A))
    hidden = []
    for λ, part in zip(found.eigenvalues, found.participation):
        if λ.imag < 0:
            continue
        shift = λ * one - sys.A
        why = []
        for word, M in (
            ("no command moves it", np.hstack([shift, sys.B])),
            ("no measurement shows it", np.vstack([shift, sys.C])),
        ):
            σ = np.linalg.svd(M, compute_uv=False)
            if σ[-1] <= SMALL * σ[0]:
                why.append(word)
        if why:
            top = [states[i] for i in np.argsort(-part, kind="stable")[:3] if part[i] > 0.15]
            hidden.append(Hidden(complex(λ), " and ".join(why), tuple(top)))
    return tuple(hidden)
