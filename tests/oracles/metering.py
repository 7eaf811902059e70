"""The relations (39), (91) of a valve circuit written a second time: as a convex programme for cvxpy, and as residuals."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

MPa, LITRE = 1e6, 1e-3


def programme(rows, supply, β, f_bar):
    """Velocities of βv + f̄ ∈ Γ(v) by cvxpy: pressures in MPa, flows in l/s, power in W = MPa l/s · 1e3 … scaled to one."""
    Q, P_M, k_b = supply
    root = LITRE / MPa**0.5
    P = cp.Variable()
    limits, cost, forces = [P <= P_M / MPa, P >= 0], -Q / LITRE * P, []
    cost += 2 / 3 * k_b / root * cp.power(P, 1.5)
    for row, b, fb in zip(rows, β, f_bar):
        A_h, A_r, P_hM, P_rM = row[:4]
        ph, pr, th, tr, a = row[4:] / root
        h, r, c = cp.Variable(), cp.Variable(), cp.Variable()
        limits += [0 <= h, h <= P_hM / MPa, 0 <= r, r <= P_rM / MPa, P <= c]
        for k, drop in (
            (ph, cp.abs(c - h)),
            (pr, cp.abs(c - r)),
            (th, h),
            (tr, r),
            (a, cp.pos(r - h)),
        ):
            if k > 0:
                cost += 2 / 3 * k * cp.power(drop, 1.5)
        f = A_h / LITRE * h - A_r / LITRE * r  # kN
        cost += cp.square(f - fb / 1e3) / (2 * b / 1e3) * 1.0
        forces.append(f)
    problem = cp.Problem(cp.Minimize(cost), limits)
    with warnings.catch_warnings():  # more digits are asked for than it always reaches
        warnings.simplefilter("ignore")
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-12, tol_feas=1e-11, max_iter=500
        )
    return np.array([(f.value * 1e3 - fb) / b for f, b, fb in zip(forces, β, f_bar)])


def residuals(rows, supply, v, P, p):
    """How far (39) and (91) are from being met at velocities v and pressures P, p = (P_h, P_r) a section: flows over Q."""
    Q, P_M, k_b = supply
    left, worst = Q - k_b * np.sqrt(P), 0.0
    for row, w, (h, r) in zip(rows, v, p):
        A_h, A_r, P_hM, P_rM, ph, pr, th, tr, a = row
        signed = lambda d: np.sign(d) * np.sqrt(abs(d))
        # behind the check P_c ≥ P, and flow out of the pump only where P_c = P
        meet = (ph**2 * h + pr**2 * r) / (ph**2 + pr**2) if ph + pr > 0 else P
        c = max(P, meet)
        q_a = a * np.sqrt(max(r - h, 0.0))
        q_h, q_r = ph * signed(c - h), pr * signed(c - r)
        into_h, into_r = (
            q_h - th * np.sqrt(h) + q_a - A_h * w,
            q_r - tr * np.sqrt(r) - q_a + A_r * w,
        )
        for flow, pressure, top in ((into_h, h, P_hM), (into_r, r, P_rM)):
            edge = 1e-9 * top
            worst = max(
                worst, flow if pressure < top - edge else 0.0, -flow if pressure > edge else 0.0
            )
        left -= max(q_h + q_r, 0.0)
    worst = max(worst, -left, left if P < P_M * (1 - 1e-9) else 0.0)
    return worst / Q


def brute_force(row, supply, v):
    """f at v of a section without regeneration, open one way, by bisection for P in (50): both chambers, v ≠ 0."""
    A_h, A_r, P_hM, P_rM, ph, pr, th, tr, _ = row
    Q, P_M, k_b = supply
    if v < 0:  # the same circuit seen from the rod side
        return -brute_force((A_r, A_h, P_rM, P_hM, pr, ph, tr, th, 0.0), supply, -v)
    drained = min((A_r * v / tr) ** 2, P_rM) if tr > 0 else P_rM

    def head(P):
        return min(max(P - (A_h * v / ph) ** 2, 0.0), P_hM) if ph > 0 else 0.0

    low, high = 0.0, P_M
    for _ in range(200):
        P = 0.5 * (low + high)
        taken = ph * np.sqrt(max(P - head(P), 0.0))
        low, high = (P, high) if Q - k_b * np.sqrt(P) - taken > 0 else (low, P)
    return A_h * head(high) - A_r * drained
