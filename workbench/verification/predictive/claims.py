"""A predictive controller's stability: terminal cost, terminal set, recursive feasibility, fall of the cost; on logs too.

    V(x) = min Σ_{k<N} ℓ(x_k, u_k) + x_NᵀP x_N,   ℓ = xᵀQx + 2xᵀS u + uᵀRu,   x⁺ = A x + B u,   E x + F u ≤ g,   H x_N ≤ h

`proof` needs all of: under the terminal law u = −K x the terminal cost falls by ℓ, the terminal set is kept and admissible,
ℓ sees every state, and no hypothesis is lost (full state, model = plant, every sample its own move, hard limits, constant
reference, terminal set as a constraint). Everything is about the stored matrices, in deviations from the steady state.
Without a terminal set (`local_stability`): near the origin no limit is active and the controller is a linear law.

Source: Mayne, Rawlings, Rao and Scokaert, Automatica 36 (2000) 789–814; Grimm et al. (2005) for ℓ that sees x indirectly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change, refused
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.predictive.terminal_claims import (
    bears,
    sees_state,
    terminal_cost,
    terminal_set,
)
from workbench.verification.rigorous.exact import Dyadic
from workbench.verification.verdict import Assumption, Verdict


def mpc_stability(t: TerminalIngredients, what: str = "the predictive controller") -> list[Verdict]:
    """Verdicts: terminal cost, terminal set, and "`what` stays feasible, its cost falls by ℓ, the state goes to 0"."""
    cost, (kept, duals) = terminal_cost(t), terminal_set(t)
    seeing = sees_state(t)
    parts = _hypotheses(t, cost, kept, seeing is not None)
    solver = Assumption(
        "the solver returns the minimiser (or a feasible solution no worse than the last one, shifted)",
        None,
    )
    claim = f"{what} stays feasible, its cost falls by the stage cost, and the state goes to 0"
    key, source = "mpc-stability", "shifted solution; exact LDLᵀ and dual certificates"
    gone = [f"{a.text} ({a.worst})" if a.worst else a.text for a in parts if a.holds is not True]
    if gone or seeing is None:
        parts.append(solver)
        worst = "gone: " + "; ".join(gone)
        return [
            cost,
            kept,
            Verdict(key, claim, None, worst=worst, assumptions=tuple(parts), source=source),
        ]
    data = {"certificate": document(t, duals, *seeing)} if duals else {}
    change = largest_change(partial(bears, t, *seeing))
    proven = Verdict(
        key=key,
        claim=claim,
        holds=True,
        strength="proof",
        margin=change,
        unit="1",
        limit=NEUTRAL,
        worst=f"from every feasible start, for the stored matrices; {borne(change)}",
        assumptions=(*parts, solver),
        source=source,
        data={**data, "change": change},
    )
    return [cost, kept, proven if change >= NEUTRAL else refused(proven)]


def _hypotheses(
    t: TerminalIngredients, cost: Verdict, kept: Verdict, seen: bool
) -> list[Assumption]:
    """What the argument rests on, each with whether it is met."""
    parts = [
        Assumption("terminal cost falls by ℓ", cost.holds, worst=cost.worst),
        Assumption(
            "terminal set invariant, admissible, and a constraint of the problem",
            kept.holds,
            worst=kept.worst,
        ),
        Assumption("ℓ ⪰ 0 and sees every state", seen or None, source="exact LDLᵀ"),
        *(Assumption(text, False) for text in t.lost),
    ]
    if t.blocks is not None and max(t.blocks) > 1:
        shifted = "the last solution, shifted, is no longer feasible"
        parts.append(Assumption("every sample has its own move", False, worst=shifted))
    return parts


def document(t: TerminalIngredients, duals: dict, W: Any, c: float) -> dict:
    """Plain data for `recheck`: exact numbers as fractions. See recheck.py."""
    plain = lambda M: [[str(v) for v in row] for row in Dyadic.of(M).fractions()]
    rows = lambda ys: [[float(v).hex() for v in y] for y in ys]
    own = {
        name: plain(getattr(t, name)) for name in ("A", "B", "Q", "R", "S", "P", "K", "E", "F", "H")
    }
    return {
        "format": "terminal-certificate-1",
        **own,
        "g": plain(t.g)[0],
        "h": plain(t.h)[0],
        "W": plain(W),
        "c": float(c).hex(),
        "duals": {key: rows(ys) for key, ys in duals.items()},
    }


# ---- logs


def cost_on_log(
    V: Sequence[float],
    ℓ: Sequence[float],
    status: Sequence[str],
    fallback: Sequence[bool] | None = None,
    floor: float = 0.0,
    optimal: Sequence[str] = ("optimal",),
) -> Verdict:
    """V(x_{k+1}) − V(x_k) ≤ −ℓ_k at every step of a log, `floor` the solver's noise stated beforehand. `sampled`.

    Steps solved by fallback or with another status than `optimal` are listed; they are no evidence: with any of them the
    claim is at best undecided. A step that breaks it between two optimal solves violates it.
    """
    costs = np.asarray(V, float)
    stages = np.asarray(ℓ, float)
    fell_back = np.zeros(len(costs), bool) if fallback is None else np.asarray(fallback, bool)
    if not (len(costs) == len(stages) == len(status) == len(fell_back)) or not (
        np.isfinite(floor) and floor >= 0
    ):
        raise InputError(
            "cost on a log: V, ℓ, status and fallback differ in length, or the floor is no number",
            mend="one entry a sample each, and a floor of 0 or more",
        )
    solved = np.array([s in optimal for s in status], bool) & ~fell_back
    good = solved & np.isfinite(costs) & np.isfinite(stages)
    listed = [
        {"step": int(k), "status": str(status[k]), "fallback": bool(fell_back[k])}
        for k in map(int, np.flatnonzero(~good))
    ]
    data: dict[str, Any] = {"not_optimal": listed, "steps": len(costs)}
    claim = "the cost falls by the stage cost at every step of the run"
    said = partial(Verdict, "mpc-cost-on-log", claim, source="logged costs", data=data)
    pairs = np.flatnonzero(good[:-1] & good[1:])
    if not len(pairs):
        return said(None, worst="no two successive optimal solves")
    over = costs[pairs + 1] - costs[pairs] + stages[pairs]
    k = int(pairs[over.argmax()])
    worst = float(over.max())
    data["broken"] = [int(i) for i in pairs[over > floor]]
    words = f"V⁺ − V + ℓ = {worst:.3g} at step {k}"
    if worst > floor:
        return said(False, "sampled", floor - worst, worst=words)
    if listed:
        first = listed[0]
        how = f"{first['status']}{', fallback' if first['fallback'] else ''}"
        few = f"{len(listed)} steps not solved to optimality, the first {first['step']} ({how})"
        return said(None, worst=few)
    return said(True, "sampled", floor - worst, worst=words)
