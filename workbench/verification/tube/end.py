"""How a tube ends: by how much its last lap brings runs closer, or whether it is narrower at the end of the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.verification.tube.checker.balls import up
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen
from workbench.verification.tube.checker.samples import begun
from workbench.verification.tube.checker.section import constant

NOWHERE = 1e-9  # share of a state's largest half-width below which it starts nowhere else


def closing(c: Tube, seen: Seen) -> float | None:
    """By how much a lap of the tube's end brings runs closer, what is added on it included; None without such a lap."""
    return None if int(c.after[-1]) < 0 else seen.returns / c.σ


def pace(c: Tube, lap: float) -> float:
    """The rate (1/s) at which runs are proved to come closer, in the end."""
    return float(-np.log(max(lap, 1e-300)) / ((len(c.z) - int(c.after[-1])) * c.T))


def shown(reach: np.ndarray) -> np.ndarray:
    """Half-widths (nodes, states) as they are shown: 0 for a state whose start does not vary, in place of its rounding."""
    return np.where(reach > NOWHERE * reach.max(axis=0), reach, 0.0)


def alike(c: Tube) -> tuple[np.ndarray, np.ndarray]:
    """(states that move by themselves, half-widths of each at all nodes but the last) of runs that have the same constants.

    The segments of constants are the same for such runs, so that half their distance is in what is beside them. At first
    that is what the starts are, no wider.
    """
    stays = constant(c)
    own = np.flatnonzero(stays[c.half > 0])
    others = np.abs(np.delete(c.segments, own, axis=-1)).sum(axis=-1)
    wide = up(others + np.sqrt((c.balls**2).sum(axis=-1)))
    wide = np.minimum(c.reach[:, 0, c.section], wide)
    wide[0] = np.abs(np.delete(begun(c).G, own, axis=-1)).sum(axis=-1)
    moves = ~stays[c.section] & (c.fresh[c.section] == 0)
    return c.section[moves], wide[:-1, moves]


def narrowed(states: Sequence[str], section: np.ndarray, reach: np.ndarray) -> list[str]:
    """Why a tube that ends with the run says nothing about stability: states whose half-width is no smaller at its end.

    reach: half-widths, (nodes, states of the section). A loop that grows slowly has a tube over any run, too. A state that
    starts nowhere else is to have lost half of its largest half-width.
    """
    most = reach.max(axis=0)
    own = shown(reach)[0]
    first = np.where(own > 0, own, most / 2)
    wide = np.flatnonzero(~(reach[-1] < first))
    if not len(wide):
        return []
    named = ", ".join(states[section[j]] for j in wide)
    return [
        f"runs are not closer at the end than at the beginning in {named}: make the run longer, or let its reference rest "
        "or repeat"
    ]
