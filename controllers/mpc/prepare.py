"""From a plant and the controller's settings to everything a sample needs: model, QP, filter, terminal set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from controllers.mpc.along import Held
from controllers.mpc.dense import Dense, condensed
from controllers.mpc.observer import covariances, design
from controllers.mpc.problem import Model, Problem, sampled_model
from controllers.mpc.stated import problem_of
from controllers.mpc.terminal_set import Terminal
from workbench.contract.errors import InputError
from workbench.contract.system import find, names
from workbench.numerics.linearisation import linearize
from workbench.numerics.tangents import off_edges, opened, tangents

EDGE = 1 - 1e-6  # of a command's limit: inside it still has an effect


@dataclass(frozen=True, eq=False)
class Prepared:
    """One problem ready to be solved.

    L, C_a     gain of the filter and measurement matrix of (x, d); L is None without an observer
    reads      without an observer: the rows of y that are the states, in their order
    rows       places of the measured outputs among all outputs

    Only of a law that linearises along its prediction:
    tangents   derivatives of its plant
    held       how inputs act over a sample
    open       least distance from 0 at which each state is linearised
    inside     lowest and highest commands at which it is linearised, just inside the limits
    """

    problem: Problem
    dense: Dense
    terminal: Terminal | None
    L: np.ndarray | None
    C_a: np.ndarray
    W: np.ndarray | None
    V: np.ndarray | None
    reads: tuple[int, ...]
    start_x: np.ndarray
    kalman_start: Any
    labels: dict[str, list[str]]
    extra: Any
    rows: list[int]
    tangents: Any = None
    held: Held | None = None
    open: np.ndarray | None = None
    inside: Any = None

    @cached_property
    def next_θ(self) -> np.ndarray:
        """x one sample on = next_θ θ + B u."""
        q = self.problem
        return np.ascontiguousarray(q.predicted[0][1][:, : q.n_θ])

    @cached_property
    def sizes(self) -> np.ndarray:
        """Largest change of each state of the plant while every command acts with its full range over the horizon; 1 for none."""
        m = self.problem.model
        q = self.problem
        x = np.zeros(len(m.A))
        most = np.zeros(len(m.A))
        for _ in range(q.N):
            x = m.A @ x + np.abs(m.B) @ q.stroke
            most = np.maximum(most, np.abs(x))
        return np.where(most > 0, most, 1.0)[: m.n]

    @cached_property
    def statement(self):
        """The problem in cvxpy."""
        from controllers.mpc.convex import stated

        return stated(self.problem, self.labels, self.extra, scale=self.dense.scale)

    def corrected(self, x: np.ndarray, y) -> np.ndarray:
        """(x, d) after measuring y."""
        if self.L is None:
            x = x.copy()
            x[: len(self.reads)] = [y[i] for i in self.reads]
            return x
        return x + self.L @ (np.array(y) - self.problem.model.h - self.C_a @ x)

    def rest(self, x) -> np.ndarray:
        """References and known disturbances of a plant that rests at x."""
        q = self.problem
        y = (q.model.C[:, : q.model.n] @ np.asarray(x) + q.model.h)[list(q.track)]
        return np.concatenate([np.tile(y, q.p + 1), np.zeros(q.model.E0.shape[1] * (q.p + 1))])


def prepared(law, x, u) -> Prepared:
    """Everything for the problem of `law` linearised at (x, u)."""
    model = model_at(law, x, u)
    q, terminal = problem_of(law, model)
    still = [s.name for s, row in zip(law.follows, q.track) if not q.felt[:, row].any()]
    if still:
        raise InputError(
            f"MPC: no command moves {', '.join(still)} of {type(law.model).__name__} within {law.N} samples, where "
            "it is linearised",
            mend="look further ahead, give x_0, or track something else",
        )
    seen = _filter(law, model)
    start_x = np.concatenate([x, np.zeros(len(model.A) - model.n + model.B_d.shape[1])])
    labels = {
        "x": names(law.model.states),
        "y": names(law.measured),
        "u": names(law.commands),
        "d": list(law.disturbances),
    }
    made = Prepared(
        problem=q,
        dense=condensed(q),
        terminal=terminal,
        L=seen.L,
        C_a=np.hstack([model.C, model.C_d]),
        W=seen.W,
        V=seen.V,
        reads=seen.reads,
        start_x=start_x,
        kalman_start=seen.start,
        labels=labels,
        extra=law.extra,
        rows=_rows(law),
    )
    return _with_path(law, made) if law.relinearise else made


class Filter(NamedTuple):
    """Gain L and covariances W, V of the filter of (x, d), covariance at the start; or `reads`, rows of y that are the states."""

    L: np.ndarray | None = None
    W: np.ndarray | None = None
    V: np.ndarray | None = None
    start: np.ndarray | None = None
    reads: tuple[int, ...] = ()


def _filter(law, model: Model) -> Filter:
    """The filter that estimates (x, d), or where the states are in the measurement."""
    if law.observer is None:
        return Filter(reads=_reads(law))
    places = _uncertain(model)
    n = model.n
    some, V = covariances(n, model.B_d[:n], len(model.C), law.observer)
    W = np.zeros((len(model.A) + model.B_d.shape[1],) * 2)
    W[np.ix_(places, places)] = some
    # Commands on their way are known: the filter is for the plant's own states and the disturbances.
    gain = design(
        model.A[:n, :n], model.B_d[:n], model.C[:, :n], model.C_d, law.observer, law.disturbances
    )
    L = np.zeros((len(W), len(V)))
    L[places] = gain.L
    if not law.relinearise:
        return Filter(L, W, V)
    start = np.zeros(W.shape)
    start[np.ix_(places, places)] = gain.P
    return Filter(L, W, V, start)


def _with_path(law, made: Prepared) -> Prepared:
    """`made` with what a law that linearises along its prediction needs as well."""
    live = _live(law)
    size = np.ones(len(live))
    size[: len(law.commands)] = made.problem.stroke
    places = tuple(live.index(name) if name in live else None for name in law.disturbances)
    ways = Held(law.T_s, law.delay, len(law.commands), len(law.known), places, made.sizes, size)
    ends = law.predicting.limits()
    inside = [
        np.array([EDGE * ends.get(s.name, (-np.inf, np.inf))[i] for s in law.commands])
        for i in (0, 1)
    ]
    return replace(
        made, tangents=tangents(law.predicting, live), held=ways, open=_open(law), inside=inside
    )


def _open(law) -> np.ndarray:
    """Least distance from 0 at which each state is linearised."""
    return np.array([float((law.working or {}).get(name, 0.0)) for name in names(law.model.states)])


def _live(law) -> list[str]:
    """Inputs that vary: commands, known disturbances, then those that are estimated."""
    live = [
        *names(law.commands),
        *(find(law.model.inputs, name, "MPC, known").name for name in law.known),
    ]
    return [
        *live,
        *(
            d
            for d in dict.fromkeys(law.disturbances)
            if d in names(law.model.inputs) and d not in live
        ),
    ]


def _rows(law) -> list[int]:
    """Measured outputs among all outputs."""
    return [names(law.model.outputs).index(s.name) for s in law.measured]


def _uncertain(model: Model) -> list[int]:
    """Places of the plant's states and the disturbances in (x, d)."""
    N = len(model.A)
    return [*range(model.n), *range(N, N + model.B_d.shape[1])]


def _reads(law) -> tuple[int, ...]:
    seen = names(law.measured)
    missing = [name for name in names(law.model.states) if name not in seen]
    if missing:
        raise InputError(
            f"MPC: {', '.join(missing)} of {type(law.model).__name__} are not measured",
            mend="give observer=Observer(σ_y=…, σ_d=…)",
        )
    return tuple(seen.index(name) for name in names(law.model.states))


def model_at(law, x, u) -> Model:
    """The plant linearised at (x, u) and sampled; its motion at that point is kept as a constant term."""
    plant = law.predicting
    live = _live(law)
    rows = _rows(law)
    m = len(law.commands)
    k = len(law.known)
    x = [float(v) for v in x]
    given = {**plant.defaults(), **dict(zip(live, u))}
    w = [float(given.get(s.name, 0.0)) for s in plant.inputs]
    w_live = np.array([w[names(plant.inputs).index(name)] for name in live])
    if law.relinearise:
        A, B, C_all = _tangent(law, np.array(x), w_live)
    else:
        flat = linearize(plant, x, w, inputs=live)
        A = flat.A
        B = flat.B
        C_all = flat.C
    c = np.array(plant.rhs(0.0, x, w), float) - A @ x - B[:, : m + k] @ w_live[: m + k]
    y = np.array([float(plant.out(0.0, x)[i]) for i in rows])
    D = []
    C_d = []
    for name in law.disturbances:
        inside = name in live
        if not inside:
            find(law.measured, name, "observer, disturbance")
        D.append(B[:, live.index(name)] if inside else np.zeros(len(x)))
        C_d.append(np.array([0.0 if inside else float(s.name == name) for s in law.measured]))
    stack = lambda columns, n: np.array(columns).T if columns else np.zeros((n, 0))
    C = C_all[rows]
    return sampled_model(
        A,
        B[:, :m],
        B[:, m : m + k],
        stack(D, len(x)),
        c,
        C,
        stack(C_d, len(rows)),
        y - C @ x,
        law.T_s,
        law.delay,
    )


def _tangent(law, x, w) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(A, B, C) at (x, w). A point exactly on a switch, which has no derivative, is moved to one side by a tiny amount."""
    derivatives = tangents(law.predicting, _live(law))
    if derivatives.traced.flow_is_timed:
        raise InputError(
            f"MPC: the flow of {type(law.model).__name__} depends on time itself, which no prediction knows ahead",
            mend="give it a model that does not, such as the averaged one (model: {change: {detail: averaged}})",
        )
    at = derivatives(
        off_edges(opened(x[None, :], _open(law)), np.ones(len(x))),
        off_edges(w[None, :], np.ones(len(w))),
    )
    if not at.finite:
        raise InputError(
            f"MPC: {type(law.model).__name__} has no finite derivative at x = {[float(f'{v:.4g}') for v in x]}",
            mend="start where the model has one, or give x_0",
        )
    return at.A[0], at.B[0], at.C[0]
