"""Arms by the implicit step, compiled.

    f̄ = K(x_{k−1} − ℓ_k) − B(ℓ_k − ℓ_{k−1})/h,   v = Λ(B + hK, f̄),   x_k = x_{k−1} + h v,   f_k = f̄ + (B + hK) v        (72)
    θ̇_{k+1} = θ̇_k + h θ̈(θ_k, f_k),   θ_{k+1} = θ_k + h θ̇_{k+1}                                              (79)

First order in h. Stable for h (B + hK/2) ℓ'²/I < 2 with the longest lever there can be (`Arm.step_limit`, which has the rule for K
and B too): a larger step is refused.

Source: [Kikuuwe21] Section 4.3; the time stepping of (79) is not given there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits.compiled import scalar
from plants.valve_circuits.jit import jit
from plants.valve_circuits.roots import resolve
from workbench.contract.errors import InputError


class Stepped(NamedTuple):
    """Time (n + 1) [s]; angle, rate, rod, velocity and force of the rod of each arm (n + 1, N) [rad, rad/s, m, m/s, N], of a motor
    its angle, rate and torque."""

    t: np.ndarray
    θ: np.ndarray
    dθ: np.ndarray
    x: np.ndarray
    v: np.ndarray
    f: np.ndarray


def stepped(plant, T: float, h: float = 1e-3, u_c=0.0, f_ey=0.0, u_a=None) -> Stepped:
    """The arms of a `MeteredArms` from rest over T seconds in steps of h.

    u_c, f_ey, u_a: commands, forces at the tips [N], openings of regeneration; each a number, an array that broadcasts to (n, N),
    or a function of the times (n,) that gives one. Step k takes them at its start, t = k h. u_a is taken as it is, whatever u_c and
    the arms' `regeneration`; None: as that says, 0 where it is an input. Raises InputError for a step too large,
    for openings outside [0, 1] and for what has no such shape.
    """
    arms = plant.arms
    N = len(plant.arms)
    limit = min(a.step_limit() for a in arms)
    if not 0.0 < h < limit:
        raise InputError(
            f"a step of {h:g} s; with these K and B it must be between 0 and {limit:.3g} s",
            key="h",
            mend="take a smaller step, or a smaller B (below 2 I/(h ℓ'²)) and K",
        )
    if not h <= T < np.inf:
        raise InputError(
            f"{T:g} s is less than one step of {h:g} s, or no time",
            key="T",
            mend="give a longer time",
        )
    n = round(T / h)
    t = np.arange(n + 1) * h
    own = u_a is not None
    asked = {"u_c": u_c, "f_ey": f_ey, "u_a": u_a if own else 0.0}
    u_c, f_ey, u_a = (_series(key, given, t[:-1], N) for key, given in asked.items())
    if np.abs(u_c).max() > 1.0 or u_a.min() < 0.0 or u_a.max() > 1.0:
        raise InputError(
            "openings outside [0, 1]",
            key="u_c, u_a",
            mend="give commands u_c from −1 to 1 and u_a from 0 to 1",
        )
    geometry = np.array([_geometry(a) for a in arms])
    openings = plant.rows([*u_c.T, *np.zeros((N, n))])
    rows = np.stack(
        [np.stack(np.broadcast_arrays(np.zeros(n), *row)[1:], -1) for row in openings], 1
    )
    if own:
        rows[:, :, 8] = [a.section.c_a for a in arms] * u_a
    found = np.zeros((5, n + 1, N))
    found[0, 0], found[2, 0] = [a.θ_0 for a in arms], [a.length(a.θ_0) for a in arms]
    _advance(geometry, rows, np.array(plant.supply, float), float(plant.g), h, f_ey, *found)
    return Stepped(t, *found)


def _geometry(a) -> list[float]:
    """What a step needs of an arm; i is 0 where a cylinder turns it."""
    pin = (0.0, 0.0, 0.0, 0.0, a.i) if a.turns else (a.L_m, a.α, a.r_bx, a.r_by, 0.0)
    return [a.L_g, a.L_f, a.M, a.inertia, a.K, a.B, *pin]


def _series(key, given, t, N):
    made = np.asarray(given(t) if callable(given) else given, float)
    made = made[:, None] if made.shape == t.shape and t.shape != (N,) else made
    try:
        made = np.broadcast_to(made, (t.size, N)).copy()
    except ValueError:
        raise InputError(
            f"{key} of shape {made.shape} for {t.size} steps of {N} arms",
            key=key,
            mend="give a number, one for each arm, or one for each step and arm",
        ) from None
    if not np.isfinite(made).all():
        raise InputError(f"{key} is not finite everywhere", key=key, mend="give numbers")
    return made


@jit
def _advance(geometry, rows, supply, g, h, f_ey, θ, dθ, x, v, f):
    n, N = f_ey.shape
    β = np.zeros(N)
    f_bar = np.zeros(N)
    w = np.zeros(N)
    q = np.zeros(N)
    l = np.zeros(N)
    lever = np.zeros(N)
    for k in range(n):
        for j in range(N):
            K, B, L_m, α, r_x, r_y, i = geometry[j, 4:]
            length = i * θ[k, j]
            lever[j] = i
            if i == 0.0:
                c = -L_m * np.cos(θ[k, j] - α)
                s = -L_m * np.sin(θ[k, j] - α)
                length = np.sqrt((c - r_x) ** 2 + (s - r_y) ** 2)
                lever[j] = (s * r_x - c * r_y) / length
            before, l[j] = l[j] if k > 0 else length, length
            β[j], f_bar[j] = B + h * K, K * (x[k, j] - length) - B * (length - before) / h
        if N == 1 and rows[k, 0, 8] == 0.0:
            w[0] = scalar(rows[k, 0], supply, β[0], f_bar[0])
        else:
            resolve(rows[k], supply, β, f_bar, w, q)
        for j in range(N):
            L_g, L_f, M, inertia = geometry[j, :4]
            force = f_bar[j] + β[j] * w[j]
            torque = force * lever[j] + (L_f * f_ey[k, j] - M * g * L_g) * np.cos(θ[k, j])
            v[k + 1, j], f[k + 1, j], x[k + 1, j] = w[j], force, x[k, j] + h * w[j]
            dθ[k + 1, j] = dθ[k, j] + h * torque / inertia
            θ[k + 1, j] = θ[k, j] + h * dθ[k + 1, j]
