"""A user's own certificate: V over named signals, judged on a box minus a ball by interval branch and bound.

Proven are V > 0 and V̇ < 0 (sampled loop: ΔV < 0) on the box minus the ball, or, with a level γ given, on the part of it
with V ≤ γ. Then, with m = max V on the ball < γ < min V on the box's boundary (both bounded rigorously):

    every start in the box with V ≤ γ stays there and goes to {V ≤ m}

Close to the centre the sign is settled by second derivatives on a whole box (`curvature`), where there are any.

A sampled loop can step across: its path over each sample is kept inside the box as well, and m counts where a step from
inside the ball can lead. Inside the ball nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.verification.observed.expression import formula
from workbench.verification.rigorous.motion import Motion
from workbench.verification.rigorous.supplied_judge import Judge
from workbench.verification.verdict import Verdict


def check_supplied(
    V: str,
    system: System,
    box: Mapping[str, Sequence[float]],
    ball: float | Mapping[str, float],
    level: float | None = None,
    centre: Mapping[str, float] | None = None,
    inputs: Mapping[str, object] | None = None,
    parameters: Mapping[str, Sequence[float]] | None = None,
    budget: int = 100_000,
    progress: Callable[[float, str], None] | None = None,
) -> Verdict:
    """Does V prove that every start in its region comes to rest near `centre`?

    V        formula over the box's states, such as "x**2 + 0.5*v**2" (`expression.formula`)
    box      state → (low, high); every state the motion depends on
    ball     radius of {Σ((x_i − centre_i)/r_i)² ≤ 1}, one for all or one a state
    level    γ; None: the largest the box's boundary allows
    inputs   a number, or (low, high) for any course between, held over samples; parameters: path → (low, high), any course
    budget   sub-boxes looked at

    `proof` (holds, or violated with a counter-example in data["at"]), or undecided with the sub-boxes left.
    Raises InputError for a formula outside the whitelist, signals that do not exist, a ball that is not inside the box.
    """
    judge, text, level = posed(
        V, system, box, ball, level, centre, inputs, parameters, budget, progress
    )
    return judge.verdict(f"V = {V.strip()}", text, level)


def posed(
    V,
    system,
    box,
    ball,
    level=None,
    centre=None,
    inputs=None,
    parameters=None,
    budget=100_000,
    progress=None,
):
    """(what decides the question, the box in words, the level): `check_supplied` before the search; it raises the same."""
    names = list(box)
    limits = [(float(a), float(b)) for a, b in box.values()]
    c = np.array([float((centre or {}).get(n, 0.0)) for n in names])
    radii = ball if isinstance(ball, Mapping) else dict.fromkeys(names, ball)
    r = np.array([float(radii.get(n, np.nan)) for n in names])
    _sensible(names, limits, c, r, level, centre)
    try:
        law = formula(V, names)
    except InputError as why:
        raise InputError(why.message, key="V", mend=why.mend) from None
    judge = Judge(
        Motion(system, law, names, inputs, parameters), names, limits, c, r, budget, progress
    )
    return judge, ", ".join(f"{n} ∈ [{a:.6g}, {b:.6g}]" for n, (a, b) in zip(names, limits)), level


def _sensible(names, limits, c, r, level, centre):
    if not names:
        raise InputError("an empty box", key="box", mend="give every state a range (low, high)")
    for n, (a, b), ci, ri in zip(names, limits, c, r):
        if not (np.isfinite([a, b]).all() and a < b):
            raise InputError(
                f"box: {n} from {a:g} to {b:g}, expected numbers with low < high",
                key=n,
                mend="widen the range",
            )
        if not (np.isfinite(ri) and ri > 0 and a < ci - ri and ci + ri < b):
            raise InputError(
                f"ball: {n} = {ci:g} ± {ri:g} is not inside the box [{a:g}, {b:g}]",
                key=n,
                mend="a positive radius for every state, and room for it in the box",
            )
    for n in centre or {}:
        if n not in names:
            raise InputError(
                f"centre: {n!r} is not in the box", key=n, mend=f"choose from {', '.join(names)}"
            )
    if level is not None and not np.isfinite(level):
        raise InputError(
            f"level {level:g}, expected a number",
            key="level",
            mend="leave it out to use the largest",
        )
