"""A predictive controller near the origin: where no limit is active it is a linear law, and that law is judged.

    min over the moves of Σ_{k<N} ℓ(x_k, u_k) + x_NᵀP x_N  →  U = X x,   u_0 = K_0 x   while no row E x_k + F u_k ≤ g is active

Needs no terminal set and no terminal law, and allows move blocking; soft limits cost nothing in there. X is enclosed: with
H ⪰ μI the minimiser differs from any X̃ by at most ‖H X̃ + G‖/μ. The closed loop is certified for every K_0 left open, and
the largest level set of the certificate on which no limit is reached is where the claim holds.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change, sizes
from workbench.verification.linear.lyapunov import falls_in_ball, lyapunov_matrix
from workbench.verification.linear.stability import stability
from workbench.verification.predictive.ingredients import TerminalIngredients
from workbench.verification.rigorous.balls import Ball, blocks, definite_ball, up
from workbench.verification.rigorous.exact import Dyadic
from workbench.verification.verdict import Assumption, Verdict


def predictions(t: TerminalIngredients) -> list[tuple[Ball, Ball]]:
    """(x_k, u_k) as matrices over (x_0, moves), k = 0 … N, each enclosed; the last u is empty."""
    A, B = (rounded(M) for M in (t.A, t.B))
    n, m = B.mid.shape
    lengths = t.blocks or (1,) * t.N
    owner = np.repeat(np.arange(len(lengths)), lengths)
    width = n + m * len(lengths)
    x = Ball.of(np.eye(n, width))
    found = []
    for k in range(t.N):
        u = np.zeros((m, width))
        u[:, n + m * owner[k] : n + m * (owner[k] + 1)] = np.eye(m)
        found.append((x, Ball.of(u)))
        x = A @ x + B @ Ball.of(u)
    return [*found, (x, Ball.of(np.zeros((0, width))))]


def rounded(M) -> Ball:
    """A stored or exact matrix as a ball of floats."""
    mid = Dyadic.of(M).floats()
    return Ball(mid, np.zeros(mid.shape) if not isinstance(M, Dyadic) else np.spacing(np.abs(mid)))


def unconstrained(t: TerminalIngredients) -> Ball | None:
    """X with U = X x while no limit is active, enclosed; None where the cost is not shown strictly convex in the moves."""
    n = len(t.P)
    M = rounded(t.stage)
    total = Ball.of(0.0)
    *steps, (end, _) = predictions(t)
    for x, u in steps:
        z = blocks([[x], [u]])
        total = z.T @ (M @ z) + total
    total = end.T @ (Ball.of(t.P) @ end) + total
    H = Ball(total.mid[n:, n:], total.rad[n:, n:])
    G = Ball(total.mid[n:, :n], total.rad[n:, :n])
    # Moves in units that make H's diagonal 1.
    d = 2.0 ** -np.round(np.log2(np.maximum(np.diag(H.mid), 1e-300)) / 2)
    H = Ball(H.mid * d * d[:, None], H.rad * d * d[:, None])
    G = Ball(G.mid * d[:, None], G.rad * d[:, None])
    μ = 0.5 * float(np.linalg.eigvalsh((H.mid + H.mid.T) / 2)[0])
    if not (μ > 0 and definite_ball(H - Ball.of(μ * np.eye(len(d))))):
        return None
    X = -np.linalg.solve(H.mid, G.mid)
    left = (H @ Ball.of(X) + G).size
    error = up(np.sqrt((left**2).sum(axis=0)) / μ, len(d))
    return Ball(
        X * d[:, None],
        up(np.tile(error, (len(d), 1)) * d[:, None] + np.spacing(np.abs(X)) * d[:, None]),
    )


def local_stability(t: TerminalIngredients, what: str = "the predictive controller") -> Verdict:
    """Verdict on "`what` is exponentially stable on {xᵀWx ≤ c}", W and c in data, K_0 the unconstrained gain.

    `proof` for the stored matrices and the exact minimiser; violated (`numerical`) when K_0 does not stabilise.
    """
    claim = f"{what} is locally exponentially stable: no limit is active near the origin"
    source = "unconstrained gain, enclosed; xᵀWx by outward-rounded Cholesky"
    notes = (
        Assumption("the solver returns the minimiser", None),
        Assumption("full state, model = plant", None),
    )
    whole = partial(Verdict, "mpc-local-stability", claim, assumptions=notes, source=source)
    say = lambda holds, worst, **data: whole(
        holds, data.pop("strength", None), worst=worst, data=data
    )
    X = unconstrained(t)
    if X is None:
        return say(None, "the cost is not shown strictly convex in the moves")
    m = Dyadic.of(t.B).shape[1]
    K = Ball(X.mid[:m], X.rad[:m])
    own = rounded(t.A) + rounded(t.B) @ K
    s = stability(own.mid, 1.0)
    if s.holds is False and _outside_beyond(own, s.spectrum):
        why = f"the unconstrained gain does not stabilise: {s.why}"
        return say(False, why, strength="numerical", K0=K.mid.tolist())
    W = lyapunov_matrix(own.mid, 1.0, max(s.spectrum.margin, 0.0) / 2)
    if W is None or not falls_in_ball(own, W, 1.0):
        return say(None, "no certificate for the unconstrained gain")

    def bears(change):
        return falls_in_ball(Ball(own.mid, up(own.rad + change * sizes(own.mid))), W, 1.0)

    change = largest_change(bears)
    if change < NEUTRAL:
        destroys = f"a relative change of the data of {NEUTRAL:g} destroys the certificate"
        return say(None, f"neutral to rounding: {destroys}")
    c, row = critical_level(t, X, W)
    if not c > 0:
        return say(None, f"limit {row} may be active at the origin")
    half = float(np.sqrt(c / np.linalg.eigvalsh(W)[-1]))
    first = f"; limit {row} is the first" if row is not None else ""
    return say(
        True,
        f"within xᵀWx ≤ {c:.4g}, at least |x| ≤ {half:.4g}; there the law is linear{first}; {borne(change)}",
        strength="proof",
        change=change,
        W=W.tolist(),
        level=c,
        K0=K.mid.tolist(),
    )


def _outside_beyond(loop: Ball, spectrum) -> bool:
    """Whether an eigenvalue is outside by more than the enclosure of the loop can be off."""
    return -spectrum.margin > 1e3 * np.linalg.norm(loop.rad) * min(spectrum.conditions[0], 1e8)


def critical_level(t: TerminalIngredients, X: Ball, W: np.ndarray) -> tuple[float, int | None]:
    """(a proven c: on {xᵀWx ≤ c} the sequence U = X x keeps every limit and the terminal set; the row that decides)."""
    n = len(t.P)
    whole = blocks([[Ball.of(np.eye(n))], [X]])
    *steps, (end, _) = predictions(t)
    parts = (
        [(Ball.of(t.E) @ x + Ball.of(t.F) @ u, np.asarray(t.g, float)) for x, u in steps]
        if len(t.g)
        else []
    )
    if t.H is not None:
        parts.append((Ball.of(t.H) @ end, np.asarray(t.h, float)))
    root = np.linalg.inv(np.linalg.cholesky(W).T)
    # Close to I: |z|² ≤ c/(1 − its distance from I) for x = root z.
    near = Ball.of(root.T) @ Ball.of(W) @ Ball.of(root)
    loss = float(up(np.linalg.norm((near - Ball.of(np.eye(n))).size), n))
    best = np.inf
    first = None
    for rows, limits in parts:
        size = up(np.sqrt(((rows @ whole @ Ball.of(root)).size ** 2).sum(axis=1)), n)
        for i, (length, limit) in enumerate(zip(size, limits)):
            c = _level(length, limit, loss)
            if c < best:
                best = float(c)
                first = i
    return (best, first) if np.isfinite(best) else (1e300, None)


def _level(length: float, limit: float, loss: float) -> float:
    """The largest level c at which a row of this length keeps its limit, rounded down; 0 where there is none, ∞ where all do."""
    if limit <= 0:
        return 0.0
    return (limit / length) ** 2 * (1 - loss) * (1 - 1e-12) if length > 0 else np.inf
