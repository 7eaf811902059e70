"""Friction laws from data: points of steady sliding, and records of speed and force.

    θ̂ = argmin Σ_data Σ (F − f_f(v; θ) − offset)²

Steady points hold the numbers of the law's steady curve (F_c, F_s, v_s, b); stiffness and damping of bristles and the film's
time constants are in records of reversals and of changing speed only. Gradients are exact (`workbench.numerics.sliding`). The
search
starts from several Stribeck speeds and bristle stiffnesses; F_s ≥ F_c and v_b ≥ v_s are kept. The speed is taken as exact:
noise on it weakens the slopes. Intervals as for transfer functions, see `uncertainty`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, leaves
from workbench.contract.reach import steady
from workbench.identification.friction_notes import notes_on
from workbench.identification.friction_search import ABOVE, LONG, Motion, Points, Task, starts
from workbench.identification.records import Record
from workbench.identification.uncertainty import (
    Combination,
    Estimate,
    Noise,
    autoregression,
    covariance,
    estimates,
    open_combinations,
)

HELD = ("width", "n")  # unless asked for: how a law is smoothed, and the exponent
LEAST = 1e-3  # sizes of numbers that are zero, of what would move the forces by all they are: zero has an interval too


@final
@dataclass(frozen=True, eq=False)
class FrictionFit:
    """What was found.

    law         the law with the estimated numbers
    estimates   numbers with 95 % intervals; held: those that were not estimated
    offsets     N, one a set of data (zeros when none were asked for)
    covariance  (p, p) of the estimates, in their order
    open        combinations the data leave open;  notes: what a reader must know, in words
    residuals   N, one array a set of data;  percent: fit of each, 100 (1 − ‖e‖/‖F − F̄‖)
    noise       the residuals as an autoregression;  converged: whether the search ended at a minimum
    """

    law: Any
    estimates: tuple[Estimate, ...]
    held: Mapping[str, float]
    offsets: tuple[float, ...]
    covariance: np.ndarray
    open: tuple[Combination, ...]
    notes: tuple[str, ...]
    data: tuple[Points | Motion, ...]
    residuals: tuple[np.ndarray, ...]
    percent: tuple[float, ...]
    freedom: int
    noise: Noise
    converged: bool

    def __getitem__(self, name: str) -> Estimate:
        for e in self.estimates:
            if e.name == name:
                return e
        raise InputError(
            f"there is no estimate {name!r}",
            mend=f"choose from {', '.join(e.name for e in self.estimates)}",
        )


@steady()
def fit_friction(
    law,
    data,
    *,
    held: Mapping[str, float] | None = None,
    free: Sequence[str] = (),
    offset: bool = False,
    start: bool = False,
) -> FrictionFit:
    """Estimate the numbers of a friction law.

    law     any law; its own numbers stand where nothing is estimated
    data    Points, Record (one input, the speed; one output, the force), or several of both
    held    numbers that are known and not to be estimated;  free: of those held by default (width, n), to be estimated
    offset  estimate a constant force of each set of data, too
    start   begin at the law's own numbers instead of searching

    Raises InputError for data that cannot answer the question and for names the law does not have.
    """
    sets = tuple(_set(d, law) for d in (data if isinstance(data, (list, tuple)) else [data]))
    names = [leaf.path for leaf in leaves(law)]
    held = dict(held or {})
    for name in (*held, *free):
        if name not in names:
            raise InputError(
                f"{type(law).__name__} has no number {name!r}",
                mend=f"choose from {', '.join(names) or 'none'}",
            )
    if not names:
        raise InputError(
            f"{type(law).__name__} has no numbers to identify", mend="choose another law"
        )
    law = _checked(law, held)
    wanted = [n for n in names if n not in held and (n not in HELD or n in free)]
    task = Task(law, sets, tuple(wanted), offset)
    task.refuse_too_little()
    begins = [law] if start else starts(task)
    task, unseen = task.without_the_unseen(begins)
    own = {n: getattr(law, n) for n in unseen}
    task = replace(task, law=bind(law, own))
    best, result = min(
        (task.optimised(bind(first, own), LONG) for first in begins), key=lambda pair: pair[1].cost
    )
    tied = [
        n
        for n in ABOVE
        if n in task.wanted and getattr(best, n) <= getattr(best, ABOVE[n]) * (1 + 1e-7)
    ]
    return _summary(task, best, result, unseen, tied)


def _checked(law, held):
    try:
        return replace(law, **held)
    except ValueError as why:
        raise InputError(str(why), mend="give the held numbers values that fit") from None


def _set(data, law) -> Points | Motion:
    if isinstance(data, Record):
        if len(data.inputs) != 1 or len(data.outputs) != 1:
            raise InputError(
                f"{len(data.inputs)} inputs and {len(data.outputs)} outputs",
                file=data.source or None,
                mend="name one input, the speed, and one output, the force",
            )
        data = Motion(data.t, data.u[:, 0], data.y[:, 0], data.source)
    if not isinstance(data, (Points, Motion)):
        raise InputError(
            f"{type(data).__name__} is no friction data", mend="give Points(v, F) or a Record"
        )
    for name, values in (("speed", data.v), ("force", data.F)):
        if not np.ptp(values):
            raise InputError(
                f"the {name} is constant: nothing to identify",
                file=data.source or None,
                mend="check the sensor and the column",
            )
    return data


def _reach(sets, G) -> np.ndarray:
    """Changes of the numbers that move the forces by as much as they are, by the columns of G."""
    return np.sqrt(sum(float(d.F @ d.F) for d in sets)) / np.maximum(
        np.linalg.norm(G, axis=0), np.finfo(float).tiny
    )


# ---- the summary ----------------------------------------------------------------------------------------------------
def _summary(task: Task, law, result, unseen, tied) -> FrictionFit:
    pieces, J, offsets = task.errors(law)
    moving = [i for i, n in enumerate(task.wanted) if n not in tied]
    M = task.map[:, moving]
    lost = len(moving) + (len(task.sets) if task.offset else 0)
    noise = autoregression(pieces) if any(isinstance(d, Motion) for d in task.sets) else None
    G = np.concatenate(J) @ M
    inner = covariance(
        G,
        pieces,
        lost,
        noise,
        np.maximum(np.abs(task.numbers(law))[moving], LEAST * _reach(task.sets, G)),
    )
    C = M @ inner @ M.T
    N = sum(e.size for e in pieces)
    freedom = max((noise.effective if noise else N) - lost, 1.0)
    units = [next(leaf.info.unit for leaf in leaves(law) if leaf.path == n) for n in task.wanted]
    found = estimates(task.wanted, task.numbers(law), units, C, freedom)
    open_ = open_combinations(task.wanted, task.numbers(law), C, freedom)
    held = {leaf.path: leaf.value for leaf in leaves(law) if leaf.path not in task.wanted}
    percent = tuple(
        100 * (1 - np.linalg.norm(e) / np.linalg.norm(d.F - d.F.mean()))
        for e, d in zip(pieces, task.sets)
    )
    notes = notes_on(law, task.sets, found, unseen, tied, result.status > 0, pieces, noise)
    return FrictionFit(
        law=law,
        estimates=found,
        held=held,
        offsets=tuple(offsets),
        covariance=C,
        open=open_,
        notes=tuple(notes),
        data=task.sets,
        residuals=tuple(pieces),
        percent=percent,
        freedom=N - lost,
        noise=noise
        or Noise(0, (1.0,), float(np.sqrt(np.mean(np.concatenate(pieces) ** 2))), float(N)),
        converged=result.status > 0,
    )
