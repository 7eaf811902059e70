"""Arms by the implicit step, compiled: sections with regeneration too, which the equations of `metered_arms` have not.

    f̄ = K(x_{k−1} − ℓ_k) − B(ℓ_k − ℓ_{k−1})/h,   v = Λ(B + hK, f̄),   x_k = x_{k−1} + h v,   f_k = f̄ + (B + hK) v        (72)
    θ̇_{k+1} = θ̇_k + h θ̈(θ_k, f_k),   θ_{k+1} = θ_k + h θ̇_{k+1}                                              (79)

First order in h. Stable for h (B + hK/2) ℓ'²/I < 2 with the longest lever there can be (`Arm.step_limit`): a larger step is
refused.

Source: [Kikuuwe21] Section 4.3; the time stepping of (79) is not given there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits.compiled import scalar
from plants.valve_circuits.jit import jit
from plants.valve_circuits.roots import resolve
from workbench.errors import InputError


class Stepped(NamedTuple):
    """Time (n + 1) [s]; angle, rate, rod, velocity and force of the rod of each arm (n + 1, N) [rad, rad/s, m, m/s, N]."""

    t: np.ndarray
    θ: np.ndarray
    dθ: np.ndarray
    x: np.ndarray
    v: np.ndarray
    f: np.ndarray


def stepped(plant, T: float, h: float = 1e-3, u_c=0.0, f_ey=0.0, u_a=0.0) -> Stepped:
    """The arms of a `MeteredArms` from rest over T seconds in steps of h.

    u_c, f_ey, u_a: commands, forces at the tips [N], openings of regeneration; each a number, an array that broadcasts to (n, N),
    or a function of the times (n,) that gives one. Step k takes them at its start, t = k h. Raises InputError for a step too large,
    for openings outside [0, 1] and for what has no such shape.
    """
    arms, N = plant.arms, len(plant.arms)
    limit = min(a.step_limit() for a in arms)
    if not 0.0 < h < limit:
        raise InputError(f"a step of {h:g} s; with these K and B it must be between 0 and {limit:.3g} s", key="h",
                         mend="take a smaller step, or a smaller B (below 2 I/(h ℓ'²)) and K")
    if not T >= h:
        raise InputError(f"T: {T:g} s is less than one step of {h:g} s", key="T", mend="give a longer time")
    n = round(T / h)
    t = np.arange(n + 1) * h
    u_c, f_ey, u_a = (_series(key, given, t[:-1], N) for key, given in (("u_c", u_c), ("f_ey", f_ey), ("u_a", u_a)))
    if np.abs(u_c).max() > 1.0 or u_a.min() < 0.0 or u_a.max() > 1.0:
        raise InputError("openings outside [0, 1]", key="u_c, u_a", mend="give commands u_c from −1 to 1 and u_a from 0 to 1")
    geometry = np.array([[a.L_g, a.L_m, a.L_f, a.α, a.M, a.inertia, a.r_bx, a.r_by, a.K, a.B] for a in arms])
    full = np.array([[s.A_h, s.A_r, s.P_hM, s.P_rM, s.c_ph, s.c_pr, s.c_th, s.c_tr, s.c_a] for s in (a.section for a in arms)])
    found = np.zeros((5, n + 1, N))
    found[0, 0], found[2, 0] = [a.θ_0 for a in arms], [a.length(a.θ_0) for a in arms]
    _advance(geometry, full, np.array(plant.supply, float), float(plant.g), h, u_c, f_ey, u_a, *found)
    return Stepped(t, *found)


def _series(key, given, t, N):
    made = np.asarray(given(t) if callable(given) else given, float)
    made = made[:, None] if made.shape == t.shape and t.shape != (N,) else made
    try:
        made = np.broadcast_to(made, (t.size, N)).copy()
    except ValueError:
        raise InputError(f"{key} of shape {made.shape} for {t.size} steps of {N} arms", key=key,
                         mend="give a number, one for each arm, or one for each step and arm") from None
    if not np.isfinite(made).all():
        raise InputError(f"{key} is not finite everywhere", key=key, mend="give numbers")
    return made


@jit
def _advance(geometry, full, supply, g, h, u_c, f_ey, u_a, θ, dθ, x, v, f):
    n, N = u_c.shape
    rows, β, f_bar = full.copy(), np.zeros(N), np.zeros(N)
    w, q, l, lever = np.zeros(N), np.zeros(N), np.zeros(N), np.zeros(N)
    for k in range(n):
        plain = N == 1
        for j in range(N):
            L_m, α, r_x, r_y, K, B = geometry[j, 1], geometry[j, 3], geometry[j, 6], geometry[j, 7], geometry[j, 8], geometry[j, 9]
            c, s = -L_m * np.cos(θ[k, j] - α), -L_m * np.sin(θ[k, j] - α)
            length = np.sqrt((c - r_x) ** 2 + (s - r_y) ** 2)
            lever[j] = (s * r_x - c * r_y) / length
            before, l[j] = l[j] if k > 0 else length, length
            β[j], f_bar[j] = B + h * K, K * (x[k, j] - length) - B * (length - before) / h
            out, back = max(u_c[k, j], 0.0), max(-u_c[k, j], 0.0)
            rows[j, 4], rows[j, 5], rows[j, 6] = full[j, 4] * out, full[j, 5] * back, full[j, 6] * back
            rows[j, 7], rows[j, 8] = full[j, 7] * out, full[j, 8] * u_a[k, j]
            plain = plain and u_a[k, j] == 0.0
        if plain:
            w[0] = scalar(rows[0], supply, β[0], f_bar[0])
        else:
            resolve(rows, supply, β, f_bar, w, q)
        for j in range(N):
            force = f_bar[j] + β[j] * w[j]
            torque = force * lever[j] + (geometry[j, 2] * f_ey[k, j] - geometry[j, 4] * g * geometry[j, 0]) * np.cos(θ[k, j])
            v[k + 1, j], f[k + 1, j], x[k + 1, j] = w[j], force, x[k, j] + h * w[j]
            dθ[k + 1, j] = dθ[k, j] + h * torque / geometry[j, 5]
            θ[k + 1, j] = θ[k, j] + h * dθ[k + 1, j]
