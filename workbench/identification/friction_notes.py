"""What friction data cannot tell, in words."""

from __future__ import annotations

import numpy as np

from workbench.contract.units import format_quantity
from workbench.identification.friction_search import Motion

SLOW, FAST = 0.5, 3.0  # of the Stribeck speed: data should reach below and above
ALIKE = 0.1  # share of the force by which both directions may differ
CORRELATED = 0.2  # share of independent data below which residuals are called no noise


def notes_on(law, sets, found, unseen, tied, converged: bool, residuals, noise=None) -> list[str]:
    """Sentences about what was held, what the range of the data leaves open, and what the law does not explain."""
    notes = []
    if not converged:
        notes.append("the search did not converge; take the numbers with care")
    notes += _held(law, sets, unseen, tied)
    vague = [e.name for e in found if not e.identified]
    if vague:
        notes.append(f"not identified (interval wider than the value): {', '.join(vague)}")
    notes += _range(law, np.concatenate([s.v for s in sets]))
    notes += _directions(sets, residuals)
    if noise is not None and not law.states(""):
        notes += _memory(noise, sum(e.size for e in residuals))
    return notes


def _held(law, sets, unseen, tied) -> list[str]:
    notes = []
    if unseen:
        why = (
            "steady sliding does not contain them"
            if not any(isinstance(s, Motion) for s in sets)
            else "these data do not contain them"
        )
        given = ", ".join(f"{n} = {getattr(law, n):g}" for n in unseen)
        notes.append(
            f"{', '.join(unseen)}: {why}; held at {given}"
            + ("; a record of reversals would tell" if "σ_0" in unseen else "")
        )
    if "F_s" in tied:
        notes.append("no Stribeck effect is seen: F_s is at F_c, and v_s says nothing")
    if "v_b" in tied:
        notes.append(
            "v_b is at its lower bound v_s: the film is not told apart from the Stribeck curve"
        )
    return notes


def _range(law, v) -> list[str]:
    v_s = law.v_s
    speed = np.abs(v)
    if v_s is None:
        return []
    slow = speed[speed > 0].min()
    fast = speed.max()
    words = lambda x: format_quantity(float(x), "m/s")
    notes = []
    if slow > SLOW * v_s:
        notes.append(
            f"the slowest speed is {words(slow)}, v_s {words(v_s)}: F_s and v_s rest on the shape of the law, not on data"
        )
    if fast < FAST * v_s:
        notes.append(
            f"the fastest speed is {words(fast)}, v_s {words(v_s)}: F_c and b are seen through the Stribeck effect only"
        )
    return notes


def _directions(sets, residuals) -> list[str]:
    v, F, e = (
        np.concatenate(a) for a in ([s.v for s in sets], [s.F for s in sets], list(residuals))
    )
    if (v >= 0).all() or (v <= 0).all():
        return ["one direction only: the law takes the other to be alike"]
    gap = abs(e[v > 0].mean() + e[v < 0].mean()) / 2 + abs(e[v > 0].mean() - e[v < 0].mean()) / 2
    if gap > ALIKE * np.abs(F).mean():
        return [
            f"the directions differ by {2 * gap:.3g} N on average: the law has none of that; estimate an offset"
        ]
    return []


def _memory(noise, N: int) -> list[str]:
    """Whether what is left of a record still follows itself, as it does when friction has a memory that the law has not."""
    if noise.order and noise.effective < CORRELATED * N:
        return [
            f"what is left of the record is no noise ({noise.effective:.0f} independent data of {N}): friction with memory, or "
            "something else in the force; try lugre or modified-lugre"
        ]
    return []
