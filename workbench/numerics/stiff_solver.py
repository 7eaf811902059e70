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
    filled = pattern | np.eye(len(pattern), dtype=bool)
    left = list(range(len(filled)))
    order = []
    while left:
        inside = filled[np.ix_(left, left)]
        others_in_column = inside.sum(axis=0) - 1
        others_in_row = inside.sum(axis=1) - 1
        cheapest = int(np.argmin(others_in_column * others_in_row))
        pivot = left.pop(cheapest)
        for i in left:
            if filled[i, pivot]:
                filled[i, left] |= filled[pivot, left]
        order.append(pivot)
    return order


def solver(sparsity: ca.Sparsity, powers: int = 0) -> tuple[ca.Function, ca.Function]:
    """(`lu`: nonzeros of J, g → factors of g − J;  `solve`: factors, r → (g − J)⁻¹ r) for a square pattern.

    powers: how many of the last columns are empty.
    """
    n = sparsity.size1()
    J = ca.SX.sym("J", sparsity.nnz())
    g = ca.SX.sym("g")
    r = ca.SX.sym("r", n)
    entries = _shifted(sparsity, J, g)
    order = _order(entries, n, powers)
    factors = _factorised(entries, order)
    L = ca.SX.sym("L", len(factors))
    named = {place: L[i] for i, place in enumerate(factors)}
    x = _substituted(named, order, [r[i] for i in range(n)])
    lu = ca.Function("lu", [J, g], [ca.vertcat(*factors.values())])
    return lu, ca.Function("solve", [L, r], [ca.vertcat(*x)])


def _shifted(sparsity: ca.Sparsity, J: ca.SX, g: ca.SX) -> dict:
    """{(i, j): entry} of g − J, its whole diagonal included."""
    entries = {place: -J[k] for k, place in enumerate(zip(*sparsity.get_triplet()))}
    diagonal = {(i, i): entries.get((i, i), 0.0) + g for i in range(sparsity.size1())}
    return entries | diagonal


def _order(entries: dict, n: int, powers: int) -> list[int]:
    """Power flows first, then the states as `elimination` orders them."""
    pattern = np.zeros((n, n), bool)
    pattern[tuple(zip(*entries))] = True
    states = n - powers
    return [*range(states, n), *elimination(pattern[:states, :states])]


def _factorised(entries: dict, order: list[int]) -> dict:
    """LU in the places of the entries and of what fills in; on the diagonal the inverse of each pivot."""
    W = dict(entries)
    for at, k in enumerate(order):
        rest = order[at + 1 :]
        W[k, k] = 1 / W[k, k]
        below = [i for i in rest if (i, k) in W]
        right = [j for j in rest if (k, j) in W]
        for i in below:
            W[i, k] = W[i, k] * W[k, k]
            for j in right:
                W[i, j] = W.get((i, j), 0.0) - W[i, k] * W[k, j]
    return W


def _substituted(W: dict, order: list[int], x: list) -> list:
    """(L U)⁻¹ x: forwards through L, backwards through U."""
    for at, k in enumerate(order):
        for i in order[at + 1 :]:
            if (i, k) in W:
                x[i] = x[i] - W[i, k] * x[k]
    for at, k in reversed(list(enumerate(order))):
        for j in order[at + 1 :]:
            if (k, j) in W:
                x[k] = x[k] - W[k, j] * x[j]
        x[k] = x[k] * W[k, k]
    return x


def slopes(traced: Traced) -> tuple[ca.Function, ca.Sparsity]:
    """(t, x, w, ẇ, c) → nonzeros of J = ∂[ẋ, powers]/∂[x, energies], and d/dt of the flow at a standing x; J's pattern."""
    f = traced.motion
    t, x, w, c = (ca.SX.sym(n, f.size1_in(i)) for i, n in enumerate("txwc"))
    dw = ca.SX.sym("dw", f.size1_in(2))
    y = f(t, x, w, c)
    moving = traced.n_moving
    states = x[:moving]
    # Apart from each other: together, powers may change the order of the sums of the states' derivatives.
    of_states = ca.jacobian(y[:moving], states)
    of_powers = ca.jacobian(y[moving:], states)
    J = ca.horzcat(ca.vertcat(of_states, of_powers), ca.SX(y.numel(), traced.n_powers))
    nonzeros = ca.vertcat(*J.nonzeros()) if J.nnz() else ca.SX(0, 1)
    rate = ca.jtimes(y, t, ca.SX(1))
    if w.numel():
        rate = rate + ca.jtimes(y, w, dw)
    shared = ca.cse([nonzeros, ca.densify(rate)])
    return ca.Function("slope", [t, x, w, dw, c], shared), J.sparsity()
