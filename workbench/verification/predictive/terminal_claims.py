"""What is proven of a predictive controller at its horizon: terminal cost, terminal set, a cost that sees the state."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from workbench.contract.scalars import Scalar
from workbench.verification.linear.data_margin import definite_around, sizes
from workbench.verification.linear.lyapunov import solve_sdp
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.rigorous.balls import up
from workbench.verification.rigorous.exact import (
    Dyadic,
    definite,
    dual_bound,
    multipliers,
    radius_bound,
)
from workbench.verification.verdict import Verdict


def fall(t: TerminalIngredients) -> Dyadic:
    """P − A_KᵀPA_K − [I; −K]ᵀ[Q, S; Sᵀ, R][I; −K]: what the terminal cost falls by, less the stage cost."""
    law = Dyadic.block([[np.eye(len(t.P))], [-Dyadic.of(t.K)]])
    P = Dyadic.of(t.P)
    return P - t.closed.T @ P @ t.closed - law.T @ t.stage @ law


def terminal_cost(t: TerminalIngredients) -> Verdict:
    """P − A_KᵀPA_K − [I; −K]ᵀ[Q, S; Sᵀ, R][I; −K] ⪰ 0 and P ≻ 0, exactly."""
    claim = "the terminal cost falls by the stage cost under the terminal law"
    gap = fall(t)
    holds = definite(Dyadic.of(t.P)) and definite(gap, strict=False)
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
    H = np.atleast_2d(np.asarray(t.H, float))
    h = np.asarray(t.h, float)
    if not ((h > 0).all() and (g >= 0).all()):
        return say(None, "the origin is not inside: expected h > 0 and g ≥ 0"), {}
    solve = _programmes(H, h)
    n = H.shape[1]
    ends = [solve(s * np.eye(n)[i]) for i in range(n) for s in (1.0, -1.0)]
    radius = radius_bound(H, h, ends)
    if radius is None:
        return say(None, "the terminal set is not shown bounded"), {}
    duals = {"radius": ends}
    worst = (np.inf, "")
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


def _programmes(H: Any, h: Scalar) -> Any:
    """Linear programmes over the set, posed in units in which its rows and columns are near 1."""
    rows = H / h[:, None]
    d = 2.0 ** -np.round(np.log2(np.maximum(np.abs(rows).max(axis=0), 1e-300)))

    def solve(c: Any) -> Any:
        c = np.asarray(c, float).ravel() * d
        size = max(np.abs(c).max(), 1e-300)
        y = multipliers(c / size, rows * d, np.ones(len(h)))
        return None if y is None else y * size / h

    return solve


def _escape(say: Any, c: Any, H: Any, h: Scalar, limit: Scalar, words: Any, bound: Any) -> Verdict:
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


def _ellipsoid(t: Scalar, say: Any) -> Verdict:
    """{xᵀPx ≤ level} is kept where the cost falls; admissible where [g_i², row; ·, P/level] ⪰ 0."""
    if not t.level > 0 or terminal_cost(t).holds is not True:
        return say(None, "the ellipsoid is kept only where the terminal cost falls")
    γ = Dyadic.of([[float(t.level)]])
    rows = t.rows
    for i, limit in enumerate(np.asarray(t.g, float)):
        row = Dyadic(rows.Z[i : i + 1], rows.e)
        square = Dyadic.of([[limit]]) @ Dyadic.of([[limit]])
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

    M = t.stage.floats()
    A = Dyadic.of(t.A).floats()
    B = Dyadic.of(t.B).floats()
    n, m = B.shape
    d = np.sqrt(np.maximum(np.diag(t.P), 1e-12 * np.diag(t.P).max()))
    e = np.sqrt(np.maximum(np.diag(M)[n:], 1e-300))
    size = 1 / np.concatenate([d, e])
    step = np.hstack([A * d[:, None] / d, B * d[:, None] / e])
    state = np.eye(n, n + m)
    W = cp.Variable((n, n), symmetric=True)
    c = cp.Variable()
    margin = cp.Variable()
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
    W = (W.value + W.value.T) / 2 * (d * d[:, None])
    c = float(c.value)
    return (W, c) if seen(t, W, c) else None


def seeing(t: TerminalIngredients, W: Any, c: float) -> Dyadic:
    """c ℓ(x, u) − (x⁺ᵀWx⁺ − xᵀWx) as a form in (x, u)."""
    step = Dyadic.block([[t.A, t.B]])
    D = Dyadic.of(W)
    state = Dyadic.of(np.eye(*step.shape))
    return t.stage.times(c) - step.T @ D @ step + state.T @ D @ state


def seen(t: TerminalIngredients, W: Any, c: float) -> bool:
    """The exact test of `sees_state`, with ℓ ⪰ 0."""
    weighed = definite(Dyadic.of(W)) and definite(t.stage, strict=False)
    return c > 0 and weighed and definite(seeing(t, W, c))


def bears(t: TerminalIngredients, W: Any, c: float, change: float) -> bool:
    """Whether the terminal cost falls and ℓ sees the state after a relative change of A and B by so much.

    Entries of the step [A, B] move by `moved`, so that a form stepᵀ D step moves by 2 |D step|ᵀ moved + movedᵀ |D| moved at most.
    """
    n = len(t.P)
    A = sizes(Dyadic.of(t.A).floats())
    B = np.abs(Dyadic.of(t.B).floats())
    own = _spread(t.P, t.closed, change * (A + B @ np.abs(t.K)))
    whole = _spread(W, Dyadic.block([[t.A, t.B]]), change * np.hstack([A, B]))
    falls = definite_around(fall(t), up(own, 4 * n))
    return falls and definite_around(seeing(t, W, c), up(whole, 4 * n))


def _spread(D: Any, step: Dyadic, moved: np.ndarray) -> np.ndarray:
    """What stepᵀ D step changes by, entry by entry at most, where the entries of `step` change by `moved`."""
    crossed = np.abs((Dyadic.of(D) @ step).floats())
    return 2 * crossed.T @ moved + moved.T @ np.abs(D) @ moved
