"""The problem that a predictive law states: costs, limits, terminal cost and terminal set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from controllers.mpc.cost import stage_form
from controllers.mpc.parts import Limit
from controllers.mpc.problem import Model, Problem
from controllers.mpc.terminal_set import Terminal, admissible
from controllers.riccati import riccati
from workbench.contract.errors import InputError
from workbench.contract.system import find, names
from workbench.verification.predictive.ingredients import strict_terminal_cost

# Shares left of decay and size of a terminal set, for rounding and its proof.
STRICT = 1 - 1e-5
HAIR = 1e-6


def problem_of(law, model: Model) -> tuple[Problem, Terminal | None]:
    """The problem's data with terminal cost and set."""
    seen = names(law.measured)
    track = tuple(seen.index(s.name) for s in law.follows)
    for limit in law.limits:
        find(law.measured, limit.name, "MPC, limit")
    soft = [limit for limit in law.limits if limit.soft]
    edges = {name: _between([one for one in law.limits if one.name == name]) for name in seen}
    data = Problem(
        model=model,
        N=law.N,
        blocks=law.lengths,
        track=track,
        Q=np.diag(law.each("Q")),
        R=np.diag(law.each("R")),
        S=np.diag(law.each("S")),
        u_min=law.each("u_min"),
        u_max=law.each("u_max"),
        slew=law.each("slew") * law.T_s,
        y_min=np.array([edges[s][0] for s in seen]),
        y_max=np.array([edges[s][1] for s in seen]),
        soft=tuple(seen.index(limit.name) for limit in soft),
        y_low=np.array([_low(limit) for limit in soft], float),
        y_high=np.array([_high(limit) for limit in soft], float),
        ρ1=np.array([limit.linear for limit in soft], float),
        ρ2=np.array([limit.quadratic for limit in soft], float),
        p=law.ahead,
    )
    return _ended(law, data)


def _low(limit: Limit) -> float:
    return -np.inf if limit.low is None else limit.low


def _high(limit: Limit) -> float:
    return np.inf if limit.high is None else limit.high


def _between(limits: list[Limit]) -> tuple[float, float]:
    """(lowest, highest) value that all hard limits of one output allow. InputError where there is none."""
    hard = [limit for limit in limits if not limit.soft]
    low = max(map(_low, hard), default=-np.inf)
    high = min(map(_high, hard), default=np.inf)
    if not low < high:
        raise InputError(
            f"MPC: the limits of {hard[0].name} contradict each other: above {low:g} and below {high:g}",
            mend="widen one of them, or make it soft",
        )
    return low, high


def _ended(law, q: Problem) -> tuple[Problem, Terminal | None]:
    if (law.R != (0.0,) and any(law.R)) or law.terminal != "none":
        if q.target[2] > 1e-7 and not law.relinearise:
            raise InputError(
                f"MPC: {', '.join(names(law.follows))} cannot all be brought to rest where references want them",
                mend="track at most as many outputs as there are commands that move them, or R = 0 and "
                "terminal='none'",
            )
    try:
        P, K, A_K = terminal_law(q)
    except InputError:
        if law.terminal != "none":
            raise
        return q, None
    if law.terminal == "none":
        return replace(q, K=K), None
    M, b = _around(q, K, law.room, strict=law.terminal == "set")
    H = np.zeros((0, len(P)))
    h = np.zeros(0)
    # With room for rounding, so that cost and set can be proven for the numbers stored.
    if law.terminal == "set":
        P = strict_cost(q, K)
        H, h = admissible(A_K / STRICT, M, b)
        h = h * (1 - HAIR)
    terminal = Terminal(P=P, K=K, A_K=A_K, H=H, h=h, M=M, b=b, room=law.room)
    more = {"H_t": H, "h_t": h} if law.terminal == "set" else {}
    return replace(q, P=P, K=K, **more), terminal


def terminal_law(q: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(P, K, A_K) of the unconstrained problem without end, on ξ = (x, u_{−1})."""
    A, B, Q, R, S = on_states_and_commands(q)
    found = riccati(A, B, Q, R, S)
    return found.P, found.K, A - B @ found.K


def on_states_and_commands(q: Problem) -> tuple[np.ndarray, ...]:
    """(A, B, Q, R, S) of ξ⁺ = A ξ + B u and ℓ = ξᵀQξ + 2 ξᵀS u + uᵀR u, ξ = (x, u_{−1}), about a steady state."""
    m = q.model
    n, n_u = m.B.shape
    Q, R, S = stage_form(q)
    A = np.block([[m.A, np.zeros((n, n_u))], [np.zeros((n_u, n + n_u))]])
    return A, np.vstack([m.B, np.eye(n_u)]), Q, R, S


def strict_cost(q: Problem, K) -> np.ndarray:
    """P a hair larger than the Riccati equation's: its fall by ℓ survives rounding."""
    A, B, Q, R, S = on_states_and_commands(q)
    return strict_terminal_cost(A, B, Q, R, K, S)


def _around(q: Problem, K, room, strict: bool) -> tuple[np.ndarray, np.ndarray]:
    """Limits |M δ| ≤ b around any steady state within `room` of the middle of its range.

    A single limit has no middle: refused if `strict`, else left out.
    """
    n, n_u = q.model.B.shape
    own = np.hstack([np.zeros((n_u, n)), np.eye(n_u)])
    M = []
    b = []
    for i in range(n_u):
        for row, half in (
            (-K[i], (1 - room) * (q.u_max[i] - q.u_min[i]) / 2),
            (-K[i] - own[i], q.slew[i]),
        ):
            if np.isfinite(half):
                M.append(row)
                b.append(half)
    for i, (low, high) in enumerate(zip(q.y_min, q.y_max)):
        if np.isfinite(high - low):
            M.append(np.concatenate([q.model.C[i], np.zeros(n_u)]))
            b.append((1 - room) * (high - low) / 2)
        elif strict and (np.isfinite(low) or np.isfinite(high)):
            raise InputError(
                "terminal set: an output with one limit has no middle that steady states could be near",
                mend="give both limits, or make it soft, or use terminal='cost'",
            )
    return np.array(M).reshape(-1, n + n_u), np.array(b)
