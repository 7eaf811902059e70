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
from fractions import Fraction
from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.balls import up
from workbench.verification.data_margin import (
    NEUTRAL,
    borne,
    definite_around,
    largest_change,
    refused,
    sizes,
)
from workbench.verification.exact import Dyadic, definite, dual_bound, multipliers, radius_bound
from workbench.verification.lyapunov import solve_sdp
from workbench.verification.mpc_ingredients import TerminalIngredients
from workbench.verification.verdict import Assumption, Verdict


def terminal_cost(t: TerminalIngredients) -> Verdict:
    """P − A_KᵀPA_K − [I; −K]ᵀ[Q, S; Sᵀ, R][I; −K] ⪰ 0 and P ≻ 0, exactly."""
    claim = "the terminal cost falls by the stage cost under the terminal law"
    law = Dyadic.block([[np.eye(len(t.P))], [-Dyadic.of(t.K)]])
    P, own = Dyadic.of(t.P), t.closed
    gap = P - own.T @ P @ own - law.T @ t.stage @ law
    holds = definite(P) and definite(gap, strict=False)
    low = float(np.linalg.eigvalsh(gap.floats())[0])
    if holds:
        return Verdict(
            "mpc-terminal-cost",
            claim,
            True,
            "proof",
            worst="for the stored matrices",
            source="exact LDLᵀ",
        )
    size = float(np.linalg.norm(t.P))
    if low < -1e-6 * size:
        w, X = np.linalg.eigh(gap.floats())
        x = Dyadic.of(X[:, :1])
        if (x.T @ gap @ x).fractions()[0][0] < 0:
            return Verdict(
                "mpc-terminal-cost",
                claim,
                False,
                "proof",
                low,
                worst="rises against ℓ at x = " + np.array2string(X[:, 0], precision=6),
                source="exact value at that state",
                data={"x": X[:, 0].tolist()},
            )
    return Verdict(
        "mpc-terminal-cost",
        claim,
        None,
        worst=f"least eigenvalue {low:.3g} of {size:.3g}: a Riccati solution is "
        "at the edge, where rounding decides; use strict_terminal_cost",
        source="exact LDLᵀ",
    )


def terminal_set(t: TerminalIngredients) -> tuple[Verdict, dict]:
    """The terminal set is bounded, has the origin inside, is kept and admissible under the terminal law; (verdict, duals)."""
    claim = "the terminal set is invariant and admissible under the terminal law"
    say = lambda holds, worst, margin=None, **data: Verdict(
        "mpc-terminal-set",
        claim,
        holds,
        holds if holds is None else "proof",
        margin,
        "1",
        worst=worst,
        data=data,
        source="linear programmes, dual certificates checked exactly",
    )
    g = np.asarray(t.g, float)
    if t.H is None:
        return (
            _ellipsoid(t, say) if t.level is not None else say(None, "there is no terminal set")
        ), {}
    H, h = np.atleast_2d(np.asarray(t.H, float)), np.asarray(t.h, float)
    if not ((h > 0).all() and (g >= 0).all()):
        return say(None, "the origin is not inside: expected h > 0 and g ≥ 0"), {}
    solve = _programmes(H, h)
    n = H.shape[1]
    ends = [solve(s * np.eye(n)[i]) for i in range(n) for s in (1.0, -1.0)]
    radius = radius_bound(H, h, ends)
    if radius is None:
        return say(None, "the terminal set is not shown bounded"), {}
    duals, worst = {"radius": ends}, (np.inf, "")
    for key, rows, limits, words in (
        ("kept", Dyadic.of(H) @ t.closed, h, "next step, row"),
        ("limits", t.rows, g, "limit"),
    ):
        duals[key] = []
        for i, limit in enumerate(limits):
            c = Dyadic(rows.Z[i : i + 1], rows.e)
            y = solve(c.floats())
            bound = None if y is None else dual_bound(c, H, h, y, radius)
            duals[key].append(y)
            if bound is None or bound > Fraction(float(limit)):
                return _escape(say, c, H, h, limit, f"{words} {i}", bound), {}
            worst = min(worst, (1 - float(bound) / max(float(limit), 1e-300), f"{words} {i}"))
    return say(True, f"least room {worst[0]:.3g} of the limit, {worst[1]}", worst[0]), duals


def _programmes(H, h):
    """Linear programmes over the set, posed in units in which its rows and columns are near 1."""
    rows = H / h[:, None]
    d = 2.0 ** -np.round(np.log2(np.maximum(np.abs(rows).max(axis=0), 1e-300)))

    def solve(c):
        c = np.asarray(c, float).ravel() * d
        size = max(np.abs(c).max(), 1e-300)
        y = multipliers(c / size, rows * d, np.ones(len(h)))
        return None if y is None else y * size / h

    return solve


def _escape(say, c, H, h, limit, words, bound) -> Verdict:
    """A state of the set that leaves it, checked exactly; else only that the bound is not good enough."""
    from scipy.optimize import linprog

    found = linprog(-c.floats().ravel(), H, h, bounds=(None, None), method="highs")
    if found.status == 0:
        x = Dyadic.of((found.x * (1 - 1e-9))[:, None])
        inside = all(v[0] <= Fraction(float(e)) for v, e in zip((Dyadic.of(H) @ x).fractions(), h))
        if inside and (c @ x).fractions()[0][0] > Fraction(float(limit)):
            at = x.floats().ravel()
            return say(
                False,
                f"{words} is broken at x = {np.array2string(at, precision=6)}",
                float(limit - (c.floats() @ at)[0]),
                x=at.tolist(),
            )
    over = "" if bound is None else f", by {float(bound) - limit:.3g} of {limit:.3g} (bound)"
    return say(
        None,
        f"{words} is not shown kept{over}: make the set for A_K/0.999999 and shrink it by 1e-9",
    )


def _ellipsoid(t, say) -> Verdict:
    """{xᵀPx ≤ level} is kept where the cost falls; admissible where [g_i², row; ·, P/level] ⪰ 0."""
    if not t.level > 0 or terminal_cost(t).holds is not True:
        return say(None, "the ellipsoid is kept only where the terminal cost falls")
    γ, rows = Dyadic.of([[float(t.level)]]), t.rows
    for i, limit in enumerate(np.asarray(t.g, float)):
        row, square = Dyadic(rows.Z[i : i + 1], rows.e), Dyadic.of([[limit]]) @ Dyadic.of([[limit]])
        P = Dyadic.of(t.P)
        # row² level ≤ g²: scaled by level so that nothing is divided
        if limit < 0 or not definite(
            Dyadic.block([[square, γ @ row], [(γ @ row).T, P.times(t.level)]]), strict=False
        ):
            return say(None, f"limit {i} is not shown kept on the ellipsoid")
    return say(True, f"xᵀPx ≤ {t.level:.6g}")


def sees_state(t: TerminalIngredients) -> tuple[np.ndarray, float] | None:
    """(W, c) with W ≻ 0 and c ℓ(x, u) − (x⁺ᵀWx⁺ − xᵀWx) ≻ 0 in (x, u), exactly: then V + xᵀWx/c falls with |x|²; or None."""
    import cvxpy as cp

    M, A, B = t.stage.floats(), Dyadic.of(t.A).floats(), Dyadic.of(t.B).floats()
    n, m = B.shape
    d = np.sqrt(np.maximum(np.diag(t.P), 1e-12 * np.diag(t.P).max()))
    e = np.sqrt(np.maximum(np.diag(M)[n:], 1e-300))
    size = 1 / np.concatenate([d, e])
    step = np.hstack([A * d[:, None] / d, B * d[:, None] / e])
    state = np.eye(n, n + m)
    W, c, margin = cp.Variable((n, n), symmetric=True), cp.Variable(), cp.Variable()
    form = c * (M * size * size[:, None]) - step.T @ W @ step + state.T @ W @ state
    limits = [
        (form + form.T) / 2 >> margin * np.eye(n + m),
        W >> margin * np.eye(n),
        cp.trace(W) == n,
        c >= 0,
        c <= 1e7,
    ]
    if not solve_sdp(cp.Problem(cp.Maximize(margin), limits)) or W.value is None:
        return None
    W, c = (W.value + W.value.T) / 2 * (d * d[:, None]), float(c.value)
    return (W, c) if seen(t, W, c) else None


def seen(t: TerminalIngredients, W, c: float) -> bool:
    """The exact test of `sees_state`, with ℓ ⪰ 0."""
    n = len(t.P)
    step, D = Dyadic.block([[t.A, t.B]]), Dyadic.of(W)
    state = Dyadic.of(np.eye(n, step.shape[1]))
    form = t.stage.times(c) - step.T @ D @ step + state.T @ D @ state
    return c > 0 and definite(D) and definite(t.stage, strict=False) and definite(form)


def bears(t: TerminalIngredients, W, c: float, change: float) -> bool:
    """Whether the terminal cost falls and ℓ sees the state after a relative change of A and B by so much."""
    A, B = Dyadic.of(t.A).floats(), np.abs(Dyadic.of(t.B).floats())
    K, P, n = np.abs(t.K), np.abs(t.P), len(t.P)
    moved = change * (sizes(A) + B @ K)
    spread = 2 * np.abs((Dyadic.of(t.P) @ t.closed).floats()).T @ moved + moved.T @ P @ moved
    law = Dyadic.block([[np.eye(n)], [-Dyadic.of(t.K)]])
    gap = Dyadic.of(t.P) - t.closed.T @ t.P @ t.closed - law.T @ t.stage @ law
    step, D, state = Dyadic.block([[t.A, t.B]]), Dyadic.of(W), Dyadic.of(np.eye(n, n + len(K)))
    form = t.stage.times(c) - step.T @ D @ step + state.T @ D @ state
    turned = change * np.hstack([sizes(A), B])
    seen_spread = 2 * np.abs((D @ step).floats()).T @ turned + turned.T @ np.abs(W) @ turned
    return definite_around(gap, up(spread, 4 * n)) and definite_around(form, up(seen_spread, 4 * n))


def mpc_stability(t: TerminalIngredients, what: str = "the predictive controller") -> list[Verdict]:
    """Verdicts: terminal cost, terminal set, and "`what` stays feasible, its cost falls by ℓ, the state goes to 0"."""
    cost, (kept, duals) = terminal_cost(t), terminal_set(t)
    seeing = sees_state(t)
    parts = [
        Assumption("terminal cost falls by ℓ", cost.holds, worst=cost.worst),
        Assumption(
            "terminal set invariant, admissible, and a constraint of the problem",
            kept.holds,
            worst=kept.worst,
        ),
        Assumption("ℓ ⪰ 0 and sees every state", seeing is not None or None, source="exact LDLᵀ"),
        *(Assumption(text, False) for text in t.lost),
    ]
    solver = Assumption(
        "the solver returns the minimiser (or a feasible plan no worse than the last one, shifted)",
        None,
    )
    if t.blocks is not None and max(t.blocks) > 1:
        parts.append(
            Assumption(
                "every sample has its own move",
                False,
                worst="the last plan, shifted, is no plan any more",
            )
        )
    claim = f"{what} stays feasible, its cost falls by the stage cost, and the state goes to 0"
    key, source = "mpc-stability", "shifted plan; exact LDLᵀ and dual certificates"
    gone = [f"{a.text} ({a.worst})" if a.worst else a.text for a in parts if a.holds is not True]
    if gone or seeing is None:
        parts.append(solver)
        return [
            cost,
            kept,
            Verdict(
                key,
                claim,
                None,
                worst="gone: " + "; ".join(gone),
                assumptions=tuple(parts),
                source=source,
            ),
        ]
    data = {"certificate": document(t, duals, *seeing)} if duals else {}
    change = largest_change(partial(bears, t, *seeing))
    proven = Verdict(
        key,
        claim,
        True,
        "proof",
        change,
        "1",
        NEUTRAL,
        f"from every feasible start, for the stored matrices; {borne(change)}",
        (*parts, solver),
        source,
        data={**data, "change": change},
    )
    return [cost, kept, proven if change >= NEUTRAL else refused(proven)]


def document(t: TerminalIngredients, duals: dict, W, c: float) -> dict:
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
    costs, stages = np.asarray(V, float), np.asarray(ℓ, float)
    fell_back = np.zeros(len(costs), bool) if fallback is None else np.asarray(fallback, bool)
    if not (len(costs) == len(stages) == len(status) == len(fell_back)) or not (
        np.isfinite(floor) and floor >= 0
    ):
        raise InputError(
            "cost on a log: V, ℓ, status and fallback differ in length, or the floor is no number",
            mend="one entry a sample each, and a floor of 0 or more",
        )
    good = (
        np.array([s in optimal for s in status], bool)
        & ~fell_back
        & np.isfinite(costs)
        & np.isfinite(stages)
    )
    listed = [
        {"step": int(k), "status": str(status[k]), "fallback": bool(fell_back[k])}
        for k in map(int, np.flatnonzero(~good))
    ]
    data = {"not_optimal": listed, "steps": len(costs)}
    claim, source = "the cost falls by the stage cost at every step of the run", "logged costs"
    pairs = np.flatnonzero(good[:-1] & good[1:])
    if not len(pairs):
        return Verdict(
            "mpc-cost-on-log",
            claim,
            None,
            worst="no two successive optimal solves",
            source=source,
            data=data,
        )
    over = costs[pairs + 1] - costs[pairs] + stages[pairs]
    k, worst = int(pairs[over.argmax()]), float(over.max())
    data["broken"] = [int(i) for i in pairs[over > floor]]
    words = f"V⁺ − V + ℓ = {worst:.3g} at step {k}"
    if worst > floor:
        return Verdict(
            "mpc-cost-on-log",
            claim,
            False,
            "sampled",
            floor - worst,
            worst=words,
            source=source,
            data=data,
        )
    if listed:
        return Verdict(
            "mpc-cost-on-log",
            claim,
            None,
            worst=f"{len(listed)} steps not solved to optimality, the first "
            f"{listed[0]['step']} ({listed[0]['status']}{', fallback' if listed[0]['fallback'] else ''})",
            source=source,
            data=data,
        )
    return Verdict(
        "mpc-cost-on-log",
        claim,
        True,
        "sampled",
        floor - worst,
        worst=words,
        source=source,
        data=data,
    )
