"""What a verification reads off a predictive controller: its linear law, terminal ingredients, stage costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from controllers.mpc import cost
from controllers.mpc.stated import on_states_and_commands
from workbench.contract.errors import InputError
from workbench.verification.predictive.ingredients import TerminalIngredients, with_slew


def linear_law(law) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(A, B, C, D) of z⁺ = A z + B y, u = C z + D y while no limit is active; z = (x̂, d̂, u_{−1}), all as deviations.

    Raises InputError for a law that is not one linear law there.
    """
    made = law.prepared
    q = made.problem
    if law.relinearise or law.extra is not None:
        raise InputError(
            "the predictive controller changes from sample to sample, or has costs of the user's own",
            mend="without relinearise and extra",
        )
    N = len(q.model.A)
    k = q.model.B_d.shape[1]
    m = q.model.B.shape[1]
    p = len(q.model.C)
    G = made.dense.gain()

    def step(v):
        x = v[: N + k].copy()
        u = v[N + k : N + k + m]
        y = v[N + k + m :]
        if made.L is None:
            x[: len(made.reads)] = y[list(made.reads)]
        else:
            x += made.L @ (y - made.C_a @ x)
        θ = np.zeros(q.n_θ)
        θ[q.at["x"]], θ[q.at["d"]], θ[q.at["u"]] = x[:N], x[N:], u
        new = G @ θ
        return np.concatenate([made.next_θ @ θ + q.model.B @ new, x[N:], new])

    n = N + k + m
    M = np.array([step(e) for e in np.eye(n + p)]).T
    return M[:, :n], M[:, n:], M[n - m :, :n], M[n - m :, n:]


def steady(law, r) -> tuple[np.ndarray, np.ndarray]:
    """(x_s, u_s) for constant references r."""
    q = law.prepared.problem
    θ = law.parameter(0.0, r)
    return tuple(M[:, : q.n_θ] @ θ for M in q.steady(q.N))


def ingredients(law, r, lost: tuple[str, ...] = ()) -> tuple[TerminalIngredients, tuple[str, ...]]:
    """(ingredients in deviations from the steady state at r, states left out): see `TerminalIngredients`.

    A state is left out where no command moves it and no other state drives it: at rest it stays at rest. lost: hypotheses of
    the theorem that the loop does not meet, added to those that the controller does not. InputError without a terminal cost.
    """
    q = law.prepared.problem
    end = law.terminal_data
    if end is None:
        raise InputError("the predictive controller has no terminal cost", mend="terminal: set")
    x_s, u_s = steady(law, r)
    y_s = q.model.C @ x_s + q.model.h
    A, B, Q, R, S = on_states_and_commands(q)
    _, _, E, F, g = with_slew(
        q.model.A,
        q.model.B,
        q.u_min - u_s,
        q.u_max - u_s,
        q.slew,
        q.model.C,
        q.y_min - y_s,
        q.y_max - y_s,
    )
    keep = moved(A, B)
    ix = np.ix_(keep, keep)
    own = [i for i in range(len(q.model.A)) if i not in keep]
    names = [s.name for s in law.model.states]
    set_ = (end.H[:, keep], end.h) if law.terminal == "set" else (None, None)
    found = TerminalIngredients(
        A[ix],
        B[keep],
        Q[ix],
        R,
        end.P[ix],
        end.K[:, keep],
        q.N,
        E[:, keep],
        F,
        g,
        *set_,
        S=S[keep],
        lost=(*lost, *_not_met(law, u_s, y_s)),
    )
    if law.blocks:
        found = replace(found, blocks=tuple(law.lengths))
    return found, tuple(names[i] for i in own if i < len(names))


def _not_met(law, u_s: np.ndarray, y_s: np.ndarray) -> list[str]:
    """Hypotheses of the theorem that the controller, or this steady state, does not meet."""
    q = law.prepared.problem
    lost = [f"not met: {text}" for text, met in law.hypotheses().items() if not met]
    limited = np.isfinite(q.y_min) | np.isfinite(q.y_max)
    if not q.felt[1:, limited].all():
        lost.append("limits on outputs are kept from the first sample on")
    if not _inside(q, u_s, y_s, law.terminal_data.room):
        lost.append("the steady state is within `room` of the middle of every range")
    return lost


def _inside(q, u, y, room) -> bool:
    """Whether steady commands and outputs are within the share `room` of their ranges."""
    for value, low, high in ((u, q.u_min, q.u_max), (y, q.y_min, q.y_max)):
        both = np.isfinite(low) & np.isfinite(high)
        middle = (low[both] + high[both]) / 2
        half = (high[both] - low[both]) / 2
        if (np.abs(value[both] - middle) > room * half).any():
            return False
    return True


def moved(A, B) -> list[int]:
    """States that a command drives, directly or through other states."""
    found = set(np.flatnonzero(np.abs(B).max(axis=1)).tolist())
    old = set()
    while found != old:
        old = set(found)
        found |= set(np.flatnonzero(np.abs(A[:, sorted(found)]).max(axis=1)).tolist())
    return sorted(found)


def stage_costs(law, y, r, u) -> np.ndarray:
    """ℓ_k of a run under a constant reference: tracked outputs y (K, q), r (q,), commands u (K, m) from u_{−1} = 0."""
    return cost.stage_costs(law.prepared.problem, y, r, u, steady(law, r)[1])
