"""Linear systems of a stiff method: J of a traced flow, and (g − J)⁻¹ r as straight-line code made for J's own pattern.

Power flows depend on states and no state depends on them: they are eliminated first, and take part in no operation on states. So
the states of a run are the same, to the last bit, with power flows or without.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from workbench.numerics.calculus import Traced


def elimination(pattern: np.ndarray) -> list[int]:
    """Order of pivots on the diagonal of a square boolean pattern that fills little in (Markowitz)."""
    P = pattern | np.eye(len(pattern), dtype=bool)
    left = list(range(len(P)))
    order = []
    while left:
        inside = P[np.ix_(left, left)]
        cost = (inside.sum(axis=0) - 1) * (inside.sum(axis=1) - 1)
        order.append(left.pop(int(np.argmin(cost))))
        for i in (i for i in left if P[i, order[-1]]):
            P[i, left] |= P[order[-1], left]
    return order


def solver(sparsity: ca.Sparsity, powers: int = 0) -> tuple[ca.Function, ca.Function]:
    """(`lu`: nonzeros of J, g → factors of g − J;  `solve`: factors, r → (g − J)⁻¹ r) for a square pattern.

    powers: how many of the last columns are empty.
    """
    n = sparsity.size1()
    J = ca.SX.sym("J", sparsity.nnz())
    g = ca.SX.sym("g")
    r = ca.SX.sym("r", n)
    W = {place: -J[k] for k, place in enumerate(zip(*sparsity.get_triplet()))}
    W |= {(i, i): W.get((i, i), 0.0) + g for i in range(n)}
    pattern = np.zeros((n, n), bool)
    pattern[tuple(zip(*W))] = True
    states = n - powers
    order = [*range(states, n), *elimination(pattern[:states, :states])]
    for at, k in enumerate(order):
        rest = order[at + 1 :]
        W[k, k] = 1 / W[k, k]
        for i in (i for i in rest if (i, k) in W):
            W[i, k] = W[i, k] * W[k, k]
            for j in (j for j in rest if (k, j) in W):
                W[i, j] = W.get((i, j), 0.0) - W[i, k] * W[k, j]
    L = ca.SX.sym("L", len(W))
    F = {place: L[i] for i, place in enumerate(W)}
    x = [r[i] for i in range(n)]
    for at, k in enumerate(order):
        for i in (i for i in order[at + 1 :] if (i, k) in F):
            x[i] = x[i] - F[i, k] * x[k]
    for at, k in reversed(list(enumerate(order))):
        for j in (j for j in order[at + 1 :] if (k, j) in F):
            x[k] = x[k] - F[k, j] * x[j]
        x[k] = x[k] * F[k, k]
    return ca.Function("lu", [J, g], [ca.vertcat(*W.values())]), ca.Function(
        "solve", [L, r], [ca.vertcat(*x)]
    )


def slopes(traced: Traced) -> tuple[ca.Function, ca.Sparsity]:
    """(t, x, w, ẇ, c) → nonzeros of J = ∂[ẋ, powers]/∂[x, energies], and d/dt of the flow at a standing x; J's pattern."""
    f = traced.motion
    t, x, w, c = (ca.SX.sym(n, f.size1_in(i)) for i, n in enumerate("txwc"))
    dw = ca.SX.sym("dw", f.size1_in(2))
    y = f(t, x, w, c)
    moving = traced.n_moving
    states = x[:moving]
    of_states = ca.jacobian(
        y[:moving], states
    )  # apart from powers, which may change the order of its sums
    of_powers = ca.jacobian(y[moving:], states)
    J = ca.horzcat(ca.vertcat(of_states, of_powers), ca.SX(y.numel(), traced.n_powers))
    rate = ca.jtimes(y, t, ca.SX(1)) + (ca.jtimes(y, w, dw) if w.numel() else 0)
    nonzeros = ca.vertcat(*J.nonzeros()) if J.nnz() else ca.SX(0, 1)
    return ca.Function(
        "slope", [t, x, w, dw, c], ca.cse([nonzeros, ca.densify(rate)])
    ), J.sparsity()
