"""Exact sampling of a linear plant behind a zero-order hold with input delay.

    ẋ = A x + B u(t − τ),   u(t) = u_k on [kT, (k+1)T),   τ = dT + τ',  0 ≤ τ' < T
    x_{k+1} = Φ(T) x_k + Γ₀ u_{k−d} + Γ₁ u_{k−d−1},   Γ₀ = ∫₀^{T−τ'} e^{As}ds B,   Γ₁ = e^{A(T−τ')} ∫₀^{τ'} e^{As}ds B

Source: [AstromWittenmark97] section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.stability import stability
from workbench.verification.linear.systems import LinearSystem

MOST_STATES = 4000  # of a sampled plant with its delay: matrices grow with their square


def hold(A, B, t: float) -> tuple[np.ndarray, np.ndarray]:
    """(e^{At}, ∫₀ᵗ e^{As}ds B) from one matrix exponential, rows and columns balanced first. Source: [VanLoan78]."""
    from scipy.linalg import expm, matrix_balance

    n, m = B.shape
    M = np.zeros((n + m, n + m))
    M[:n, :n], M[:n, n:] = A * t, B * t
    if not np.isfinite(M).all():
        raise InputError(
            f"over {t:g} s the linear plant is too large to calculate with",
            key="sample_time",
            mend="give a shorter sample time",
        )
    M, (s, _) = matrix_balance(M, permute=False, separate=True)
    E = expm(M) * s[:, None] / s
    return E[:n, :n], E[:n, n:]


def whole_and_rest(τ: float, T: float) -> tuple[int, float]:
    """τ = d T + τ' with 0 ≤ τ' < T; τ' is 0 where τ is a multiple of T to within 1e-9 T."""
    d = int(np.floor(τ / T + 1e-9))
    return d, (τ - d * T if τ / T - d > 1e-9 else 0.0)


def _delays(delay: float | Sequence[float], T: float, n: int, m: int) -> np.ndarray:
    """The delays (m,) of a plant with n states and m inputs, s. InputError for those that it cannot have."""
    delays = np.asarray(delay, dtype=float)
    if delays.shape not in ((), (m,)) or not np.all(np.isfinite(delays) & (delays >= 0)):
        raise InputError(
            f"input delay {delays} s, expected 0 or more, one number or {m} of them",
            key="delay",
            mend="give the delay in seconds",
        )
    each = np.broadcast_to(delays, (m,))
    if n + np.sum(each / T) > MOST_STATES:
        raise InputError(
            f"input delay {np.max(delays):g} s holds {np.max(delays) / T:.3g} samples of {T:g} s, each of them a state; "
            f"{MOST_STATES} states are the most",
            key="delay",
            mend="give a shorter delay, or a longer sample time",
        )
    return each


def sampled(A, B, C, D, T: float, delay: float | Sequence[float] = 0.0) -> LinearSystem:
    """The plant from one sample to the next, input held over T and delayed by `delay` (s; one number, or one an input).

    States are x, then for every input its past samples u_{k−1}, u_{k−2}, … as far as the delay needs them. The output
    is taken at the sample instant, after the new u_k is out: with τ = 0 it contains D u_k, with τ' > 0 D u_{k−d−1}.
    A delay within 1e-9 T of a multiple of T counts as that multiple.
    Raises InputError for a delay that is negative or not finite, or T ≤ 0.
    """
    plant = LinearSystem(A, B, C, D)
    LinearSystem(0.0, 0.0, 0.0, 0.0, T)  # refuses a bad T
    p, m = plant.D.shape
    n = len(plant.A)
    split = [whole_and_rest(float(τ), T) for τ in _delays(delay, T, n, m)]
    N = n + sum(d + (rest > 0) for d, rest in split)
    Ad = np.zeros((N, N))
    Bd = np.zeros((N, m))
    Cd = np.zeros((p, N))
    Dd = np.zeros((p, m))
    Ad[:n, :n], Cd[:, :n] = hold(plant.A, plant.B, T)[0], plant.C
    past = n  # state that holds u_{k−1} of this input
    for j, (d, rest) in enumerate(split):
        b = plant.B[:, [j]]
        direct = plant.D[:, j]
        Φ0, Γ0 = hold(plant.A, b, T - rest)
        # Samples ago: (effect on x, effect on y).
        acts = {d: (Γ0[:, 0], np.zeros(p) if rest else direct)}
        if rest:
            acts[d + 1] = ((Φ0 @ hold(plant.A, b, rest)[1])[:, 0], direct)
        for ago, (on_x, on_y) in acts.items():
            if ago == 0:
                Bd[:n, j], Dd[:, j] = on_x, on_y
            else:
                Ad[:n, past + ago - 1], Cd[:, past + ago - 1] = on_x, on_y
        length = d + (rest > 0)
        if length:
            Bd[past, j] = 1.0
            Ad[range(past + 1, past + length), range(past, past + length - 1)] = 1.0
        past += length
    return LinearSystem(Ad, Bd, Cd, Dd, T)


def stable_up_to(
    loop: Callable[[float], LinearSystem], values: Sequence[float], tol: float = 1e-6
) -> tuple[float | None, float | None]:
    """(largest value found stable, smallest found not stable) along increasing `values`, e.g. delays or sample times.

    `loop(value)` gives the closed loop. Values are tried in order, because stability need not be monotone: what is
    stable beyond the first failure does not count. The bracket of that failure is then halved to a relative width of
    `tol`. None: no value was stable / all were. Instability only between two neighbouring values goes unseen.
    """
    good = None
    bad = None
    for v in values:
        if stability((s := loop(v)).A, s.T).holds is not True:
            bad = v
            break
        good = v
    while good is not None and bad is not None and bad - good > tol * abs(bad):
        v = (good + bad) / 2
        good, bad = (v, bad) if stability((s := loop(v)).A, s.T).holds is True else (good, v)
    return good, bad
