"""The largest region of attraction that a certificate covers."""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change, refused
from workbench.verification.linear.lyapunov import coordinates, solve_sdp, too_many
from workbench.verification.linear.stability import stability
from workbench.verification.regions.saturation import Region
from workbench.verification.verdict import Verdict

FAR = 100.0  # times what the limits leave untouched: a region is not made larger than that


def attracted(A, B, K, u_max, T: float | None = None, shape=None, starts=()) -> Region | None:
    """The largest ellipsoid found that passed its check, or None.

    Largest: by the ball xᵀ shape x (I by default) it contains, or by the factor by which all of `starts` can be stretched; both up
    to FAR times what the limits leave untouched.
    """
    A, B, K = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, K))
    n, m = B.shape
    u_max = np.broadcast_to(np.asarray(u_max, float), (m,)).copy()
    if A.shape != (n, n) or K.shape != (m, n) or not (u_max > 0).all():
        raise InputError(
            f"saturated loop: A {A.shape}, B {B.shape}, K {K.shape}, u_max {u_max}",
            key="K",
            mend="A n×n, B n×m, K m×n with u = K x, u_max > 0",
        )
    if too_many(n):
        return None
    W = coordinates(A + B @ K, T)
    back = np.linalg.inv(W)
    touch = np.linalg.norm(
        K @ back / u_max[:, None], axis=1
    ).max()  # x so scaled that the limits touch the unit ball
    W, back = (W * touch, back / touch) if touch > 0 else (W, back)
    data = (
        W @ (A + B @ K) @ back,
        W @ B * u_max,
        K @ back / u_max[:, None],
        T,
        None
        if len(starts)
        else W @ np.linalg.inv(np.eye(n) if shape is None else np.asarray(shape, float)) @ W.T,
        [W @ np.asarray(x, float) for x in starts],
    )
    parts = best = _largest(*data)
    # Where rounding spoils the largest, a little less with room to spare.
    for share in (
        0.999,
        0.99,
        0.9,
        None,
    ):
        found = None if parts is None else _checked(A, B, K, u_max, T, W, parts)
        if found or best is None or share is None:
            return found
        parts = _largest(*data, size=share * best[3])
    return None


def _checked(A, B, K, u_max, T, W, parts) -> Region | None:
    """The region of a solution (in the coordinates W x, limits 1) that passes its check, or None."""
    Q, Y, s, _ = parts
    # Taken off the size, so that rounding leaves both conditions true.
    for shrink in (1e-7, 1e-5, 1e-3):
        with np.errstate(all="ignore"):
            try:
                P = W.T @ np.linalg.inv(Q) @ W * (1 + shrink)
                G = u_max[:, None] * (Y @ np.linalg.inv(Q) @ W)
            except np.linalg.LinAlgError:
                return None
            τ = 1 / (s * u_max**2)
        if np.isfinite(P).all() and np.isfinite(G).all() and np.isfinite(τ).all():
            found = Region(
                A=A, B=B, K=K, u_max=u_max, T=T, P=(P + P.T) / 2, G=G, τ=τ * (1 + shrink)
            )
            if found.check():
                return found
    return None


def _largest(a, b, k, T, metric, starts, size=None):
    """(Q, Y, s, size) of the semidefinite program for limits of 1; None: not solved.

    {xᵀQ⁻¹x ≤ 1} as large as it can be by the metric or the starts, or of that `size` and as far as possible from every edge.
    """
    import cvxpy as cp

    m, n = k.shape
    Q = cp.Variable((n, n), symmetric=True)
    Y = cp.Variable((m, n))
    s = cp.Variable(m)
    room = cp.Variable()
    S = cp.diag(s)
    grown = cp.Variable() if size is None else size
    if T is None:
        fall = cp.bmat([[-(a @ Q + Q @ a.T), b @ S - Y.T], [S @ b.T - Y, 2 * S]])
    else:
        fall = cp.bmat([[Q, -Y.T, Q @ a.T], [-Y, 2 * S, -S @ b.T], [a @ Q, -b @ S, Q]])
    limits = [
        (fall + fall.T) / 2
        >> 1e-7 * cp.trace(Q) / n * np.eye(fall.shape[0]) + room * np.eye(fall.shape[0]),
        Q >> room * np.eye(n),
        s >= 0,
        room >= 0,
        room <= (0 if size is None else 1),
    ]
    for i in range(m):
        row = cp.reshape(k[i] @ Q - Y[i], (1, n), order="C")
        limits.append(cp.bmat([[np.ones((1, 1)), row], [row.T, Q]]) >> 1e-2 * room * np.eye(n + 1))
    if metric is not None:
        metric = (metric + metric.T) / 2 / np.linalg.eigvalsh(metric)[-1]
        limits += [Q >> grown * metric, *([grown <= FAR**2] if size is None else [])]
    else:
        far = max(np.linalg.norm(x) for x in starts)
        for x in starts:
            row = cp.reshape(grown * (x[None, :] / far), (1, n), order="C")
            limits.append(cp.bmat([[np.ones((1, 1)), row], [row.T, Q]]) >> 0)
        limits += [grown <= FAR] if size is None else []
    solved = (
        solve_sdp(cp.Problem(cp.Maximize(grown if size is None else room), limits))
        and Q.value is not None
    )
    return (
        (Q.value, Y.value, s.value, float(grown.value) if size is None else size)
        if solved
        else None
    )


def saturated_region(
    A, B, K, u_max, T: float | None = None, shape=None, inside=(), what: str = "the loop"
) -> Verdict:
    """Verdict on "every start with xᵀPx ≤ 1 goes to the origin although u = K x saturates", P in data.

    inside: states that must be in the region for the claim to hold. `proof` for the stored matrices; violated
    (`numerical`) when even the unsaturated loop is unstable; undecided otherwise.
    """
    region = attracted(A, B, K, u_max, T, shape)
    claim = f"{what}, |u| ≤ {np.array2string(np.atleast_1d(u_max), precision=4)}: every start in the ellipsoid is attracted"
    source = "saturation as a sector inside the ellipsoid, checked by exact LDLᵀ"
    said = partial(Verdict, "saturated-region", claim)
    if region is None:
        s = stability(np.atleast_2d(A) + np.atleast_2d(B) @ np.atleast_2d(K), T)
        unit = "1/s" if T is None else "1"
        if s.holds is False:
            worst = f"unstable without saturation: {s.why}"
            margin = s.spectrum.margin
            return said(False, "numerical", margin, unit, worst=worst, source="eigenvalues")
        worst = too_many(len(np.atleast_2d(A))) or "no region found"
        return said(None, worst=worst, source=source)
    out = [x for x in inside if not region.holds(x)]
    axes = 1 / np.sqrt(np.linalg.eigvalsh(region.P))
    least = float(axes.min())
    data = {"P": region.P.tolist()}
    if out:
        worst = f"not inside: ({', '.join(f'{v:.4g}' for v in out[0])})"
        return said(None, None, least, "1", worst=worst, source=source, data=data)
    change = largest_change(region.bears)
    worst = f"half axes {axes.min():.4g} to {axes.max():.4g}; {borne(change)}"
    data |= {"change": change}
    proven = said(True, "proof", least, "1", worst=worst, source=source, data=data)
    return proven if change >= NEUTRAL else refused(proven)
