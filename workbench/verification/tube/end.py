"""How a tube ends: by how much its last lap brings runs closer, or whether it is narrower at the end of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.verification.tube.checker.data import Tube


def closing(c: Tube, rows: Any) -> float | None:
    """By how much a lap of the tube's end brings runs closer, what stages add included; None without such a lap."""
    first = int(c.after[-1])
    if first < 0:
        return None
    each = np.zeros(len(c.z))
    np.maximum.at(each, rows.node, rows.growth + rows.added / c.ρ[rows.node])
    return float(np.exp(np.log(each[first:]).sum()))


def pace(c: Tube, lap: float) -> float:
    """The rate (1/s) at which runs are proved to come closer, in the end."""
    return float(-np.log(max(lap, 1e-300)) / ((len(c.z) - int(c.after[-1])) * c.T))


def narrowed(states: Sequence[str], section: np.ndarray, reach: np.ndarray) -> list[str]:
    """Why a tube that ends with the run says nothing about stability: states whose half-width is no smaller at its end.

    reach: half-widths, (nodes, states of the section). A loop that grows slowly has a tube over any run, too.
    """
    wide = np.flatnonzero(~(reach[-1] < reach[0]))
    if not len(wide):
        return []
    named = ", ".join(states[section[j]] for j in wide)
    return [
        f"runs are not closer at the end than at the beginning in {named}: make the run longer, or let its reference rest "
        "or repeat"
    ]
