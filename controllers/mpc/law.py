"""Linear predictive control without steady-state error, on any plant that can be linearised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, final

import numpy as np

from controllers.mpc.loop import (
    Fast,
    Last,
    Memory,
    Slow,
    assembled,
    decided,
    feasible_somewhere,
    logged,
)
from controllers.mpc.observer import Observer
from controllers.mpc.overlap import Overlap, overlap, smoothed, without_overlap
from controllers.mpc.parts import LONGEST, Limit, Named, horizon, limit_units, suited
from controllers.mpc.prepare import Prepared, prepared
from controllers.mpc.terminal_set import Terminal
from workbench.contract.capabilities import LawData
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, fraction, nonnegative, positive
from workbench.contract.system import Signal, System, controls, find, names
from workbench.run.targets import target_name


@final
@dataclass(frozen=True, eq=False)
class MPC(LawData):
    """Predictive control: at every sample the commands over N samples that cost least, of which the first is applied.

        min Σ_{k<N} |y_k − r_k|²_Q + |u_k − u_s|²_R + |u_k − u_{k−1}|²_S + |ξ_N − ξ_s|²_P + slack
        u_min ≤ u ≤ u_max,  |u_k − u_{k−1}| ≤ slew T_s,  limits on outputs, hard or soft,  ξ_N − ξ_s in the terminal set

    model       the plant as the controller knows it, linearised at (x_0, u_0) (the initial state and 0 by default) and
                sampled exactly; w, smooth: overlap of valves and steep friction, see `controllers.mpc.overlap`
    relinearise a model of its own for every sample ahead, linearised along the last prediction (`controllers.mpc.along`),
                gone over `iterations` times a sample; working: states that are linearised no nearer to 0 than this (E of an
                IEHA: inside the distributor's overlap no flow moves anything)
    tracked     outputs that follow references (the first ones, one a command, by default); Q, R, S: diagonal weights,
                one entry serves all, in 1/unit²
    blocks      how many samples each move lasts, () for one each; the last one goes on to N
    known       disturbance inputs that are measured, and known ahead as far as the preview
    preview     samples known ahead: None all N, 0 none (the present value stands for the future)
    delay       dead time of the commands: predicted through
    observer    None: every state is measured by name, no disturbance is estimated. Else an Observer
    terminal    "none"; "cost": P of the Riccati equation; "set": that, and the largest admissible set as a constraint,
                for targets within `room` of the middle of every range
    extra       function of the problem's symbols that adds convex constraints and cost terms (`controllers.mpc.convex`);
                solved by a general solver then, some milliseconds a sample
    A solve that is not optimal falls back to the last plan, shifted, then to the terminal law within the limits, then to
    the last command; the log has status, iterations, cost, slack, fallback, active limits and residual of every sample.
    Raises ValueError for counts and bounds, InputError for what contradicts itself or has no solution.

    Source: [RawlingsMayneDiehl17] sections 1.5, 2.5; QP by [ArnstromBemporadAxehill22].
    """

    model: System
    Q: Annotated[tuple[float, ...], Unit("1"), "weights of errors, 1/unit²", nonnegative] = (1.0,)
    R: Annotated[tuple[float, ...], Unit("1"), "weights of commands, 1/unit²", nonnegative] = (0.0,)
    S: Annotated[tuple[float, ...], Unit("1"), "weights of moves, 1/unit²", nonnegative] = (0.0,)
    N: int = 20
    T_s: Annotated[float, Unit("s"), "sample time", positive] = 1e-3
    u_min: Annotated[tuple[float, ...], Unit("1"), "lowest commands; () none"] = ()
    u_max: Annotated[tuple[float, ...], Unit("1"), "highest commands; () none"] = ()
    slew: Annotated[tuple[float, ...], Unit("1"), "fastest changes, unit/s; () none", positive] = ()
    limits: tuple[Limit, ...] = ()
    tracked: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()  # measured outputs; () all
    known: tuple[str, ...] = ()
    preview: int | None = None
    blocks: tuple[int, ...] = ()
    delay: Annotated[float, Unit("s"), "dead time of the commands", nonnegative] = 0.0
    observer: Observer | None = None
    terminal: Literal["none", "cost", "set"] = "cost"
    room: Annotated[float, Unit("1"), "share of every range kept for steady states", fraction] = 0.5
    relinearise: bool = False
    iterations: int = 1
    working: Mapping[str, float] | None = None
    smooth: Annotated[
        float, Unit("m/s"), "speed over which friction turns round at least, along a path", positive
    ] = 0.01
    w: Annotated[
        float, Unit("V"), "opening over which the valves' overlap is made up for", positive
    ] = 0.2
    extra: Callable | None = None
    x_0: Annotated[tuple[float, ...], Unit("1"), "states to linearise at"] = ()
    u_0: Annotated[tuple[float, ...], Unit("1"), "commands to linearise at"] = ()

    def __post_init__(self):
        check_bounds(self)
        if not (isinstance(self.N, int) and self.N >= 1):
            raise InputError(
                f"MPC: horizon N = {self.N!r}; it must be a whole number of samples, 1 or more",
                mend="a horizon as long as the plant needs to settle",
            )
        if self.N > LONGEST:
            raise InputError(
                f"MPC: horizon N = {self.N}; at most {LONGEST} samples, the problem grows with their square",
                mend="a longer sample time, or a shorter horizon with terminal='cost'",
            )
        if self.preview is not None and not (isinstance(self.preview, int) and 0 <= self.preview):
            raise InputError(
                f"MPC: preview = {self.preview!r} samples; it must be a whole number, 0 or more, or None"
            )
        if any(not isinstance(b, int) or b < 1 for b in self.blocks) or sum(self.blocks) > self.N:
            raise InputError(
                f"MPC: blocks {self.blocks}: expected whole numbers of samples, 1 or more, "
                f"at most N = {self.N} together",
                mend="e.g. blocks=(1, 1, 2, 4): the last goes on to N",
            )
        for low, high in zip(self.each("u_min"), self.each("u_max")):
            if not low < high:
                raise InputError(
                    f"MPC: u_min, {low:g}, must be below u_max, {high:g}", mend="swap or widen them"
                )
        if not (isinstance(self.iterations, int) and 1 <= self.iterations <= 1000):
            raise InputError(
                f"MPC: iterations = {self.iterations!r}; it must be a whole number, 1 to 1000"
            )
        for field, needed in (("x_0", self.model.states), ("u_0", self.commands)):
            given = getattr(self, field)
            if given and len(given) != len(needed):
                raise InputError(
                    f"{field}: expected {len(needed)} numbers ({', '.join(names(needed))[:200]}), "
                    f"got {len(given)}"
                )
        for name in self.working or ():
            find(self.model.states, name, "MPC, working")
        if self.relinearise and (self.extra or self.terminal == "set"):
            raise InputError(
                "MPC: with relinearise=True the problem changes every sample",
                mend="without `extra`, and with terminal='cost' or terminal='none'",
            )
        if self.extra is not None and not isinstance(self.extra, Named):
            object.__setattr__(self, "extra", Named(self.extra))
        _ = self.prepared

    def __deepcopy__(self, memo):
        return self  # nothing here changes during a run: all of that is in Memory

    suited, horizon, units_on = (
        staticmethod(suited),
        staticmethod(horizon),
        staticmethod(limit_units),
    )

    def units(self) -> dict[str, str]:
        """Units of this law's numbers where they follow those of the plant."""
        return limit_units(self.model)

    # ---- signals and numbers -----------------------------------------------------------------------------------------
    @property
    def commands(self) -> tuple[Signal, ...]:
        return controls(self.model)

    @property
    def measured(self) -> tuple[Signal, ...]:
        wanted = self.signals or names(self.model.outputs)
        return tuple(find(self.model.outputs, name, "MPC, measurement") for name in wanted)

    @property
    def follows(self) -> tuple[Signal, ...]:
        """Outputs that follow references."""
        wanted = self.tracked or names(self.measured)[: len(self.commands)]
        return tuple(find(self.measured, name, "MPC, tracked") for name in wanted)

    @property
    def ahead(self) -> int:
        """Samples of preview."""
        return self.N if self.preview is None else min(self.preview, self.N)

    @property
    def references(self) -> tuple[Signal, ...]:
        at = lambda name, k: f"{name}@{k}" if k else name
        pushes = [find(self.model.inputs, name, "MPC, known") for name in self.known]
        return (
            *(
                Signal(
                    at(target_name(s.name, 0), k),
                    s.unit,
                    f"desired {s.meaning or s.name}, {k} samples ahead",
                    "reference",
                )
                for k in range(self.ahead + 1)
                for s in self.follows
            ),
            *(
                Signal(
                    f"{s.name}@{k}",
                    s.unit,
                    f"{s.meaning or s.name}, {k} samples ahead",
                    "reference",
                )
                for k in range(self.ahead + 1)
                for s in pushes
            ),
        )

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Where estimated disturbances act."""
        if self.observer is None:
            return ()
        return self.observer.disturbance or tuple(names(self.commands))

    @property
    def monitors(self) -> tuple[Signal, ...]:
        known = {s.name: s.unit for s in (*self.model.inputs, *self.model.outputs)}
        return (
            Signal("mpc_status", "1", "1 optimal, else what the solver said"),
            Signal("mpc_iterations", "1", "iterations"),
            Signal("mpc_cost", "1", "lowest cost V"),
            Signal("mpc_slack", "1", "largest excess over a soft limit"),
            Signal("mpc_fallback", "1", "0 none, 1 last plan, 2 terminal law, 3 last command"),
            Signal("mpc_active", "1", "active limits"),
            Signal(
                "mpc_residual", "1", "violation of the optimality conditions, nan where not known"
            ),
            *(
                Signal(f"d_{name}_hat", known.get(name, "1"), f"estimated disturbance at {name}")
                for name in self.disturbances
            ),
        )

    def each(self, field: str) -> np.ndarray:
        """A field as one number for each command or tracked output; no limit is ±∞."""
        value = getattr(self, field)
        count = len(self.follows) if field == "Q" else len(self.commands)
        if not value and field in ("u_min", "u_max", "slew"):
            value = ({"u_min": -np.inf, "u_max": np.inf, "slew": np.inf}[field],)
        if len(value) not in (1, count):
            raise InputError(f"{field}: expected 1 or {count} numbers, got {len(value)}")
        band = (
            {"u_min": 1.0, "u_max": -1.0}.get(field, 0.0) * self.overlap.u_d
            if field != "Q"
            else 0.0
        )  # limits of openings
        return np.broadcast_to(np.array(value, float), (count,)) + band

    @cached_property
    def overlap(self) -> Overlap:
        """Overlap of the model's valves."""
        return overlap(self.model, self.w)

    @cached_property
    def predicting(self):
        """The model as the predictions have it: without overlap, along a path without the steepest part of friction."""
        inside = without_overlap(self.model)
        return smoothed(inside, self.smooth) if self.relinearise else inside

    @property
    def lengths(self) -> tuple[int, ...]:
        """Samples each move lasts, N together."""
        rest = self.N - sum(self.blocks)
        return (1,) * self.N if not self.blocks else (*self.blocks[:-1], self.blocks[-1] + rest)

    @cached_property
    def prepared(self) -> Prepared:
        """The problem, its QP, filter and terminal set, at the operating point."""
        x = self.x_0 or tuple(self.model.initial())
        u = self.u_0 or (0.0,) * len(self.commands)
        made = prepared(self, x, u)
        if not self.relinearise:
            θ = assembled(
                made, made.start_x, np.clip(u, self.each("u_min"), self.each("u_max")), made.rest(x)
            )
            feasible_somewhere(made.dense, θ)
            if self.extra is not None:
                from controllers.mpc.convex import check

                check(made.statement, θ)
        return made

    def solver(self, made: Prepared):
        """A solver of its own for one run."""
        return Fast(made.dense) if self.extra is None else Slow(made.statement, made.dense)

    # ---- the law ------------------------------------------------------------------------------------------------------
    def initial(self) -> Memory:
        """Memory before the first sample: the model's start, nothing known of disturbances."""
        made = self.prepared
        return Memory(
            made.start_x,
            made.kalman_start,
            np.zeros(len(self.commands)),
            None,
            0,
            self.solver(made),
            None,
        )

    def start(self, t, z: Memory, y, r) -> Memory:
        """Memory that fits the first measurement: the nearest state (in units of what a stroke moves) that explains it."""
        made = self.prepared
        if self.observer is None:
            return z
        C, n = made.problem.model.C, made.problem.model.n
        miss = np.asarray(y) - made.problem.model.h - C @ z.x[: C.shape[1]]
        scaled = C[:, :n] * made.sizes
        x = z.x.copy()
        x[:n] += made.sizes * np.linalg.lstsq(scaled, miss, rcond=1e-10)[0]
        return z._replace(x=x)

    def step(self, t, z: Memory, y, r) -> tuple[Memory, list[float]]:
        if self.relinearise:
            from controllers.mpc.sequence import step

            z, u = step(self, z, y, r)
        else:
            z, u = self._step(z, y, r)
        return z, (self.overlap.command(u) if self.overlap else u).tolist()

    def _step(self, z: Memory, y, r) -> tuple[Memory, np.ndarray]:
        made = self.prepared
        x, q = made.corrected(z.x, y), made.problem
        θ = assembled(made, x, z.u, r)
        solution = z.solver.solve(θ)
        u, plan, age, fallback = decided(q, θ, solution, z)
        ahead = x.copy()
        ahead[: len(q.model.A)] = made.next_θ @ θ + q.model.B @ u
        return Memory(
            ahead, None, u, plan, age, z.solver, Last(θ, solution, u, fallback, made.dense)
        ), u

    def monitor(self, t, z: Memory, y, r) -> list[float]:
        return [*map(float, logged(z.last)), *z.x[len(self.prepared.problem.model.A) :].tolist()]

    # ---- what a verification needs --------------------------------------------------------------------------------------
    @property
    def terminal_data(self) -> Terminal | None:
        """P, K, A_K and the set, on ξ = (x, u_{−1}) in deviations from the steady state; None without a terminal cost."""
        return self.prepared.terminal

    @property
    def stage(self) -> dict[str, np.ndarray]:
        """Weights of ℓ = |C_t x − r|²_Q + |u − u_s|²_R + |Δu|²_S, and C_t."""
        q = self.prepared.problem
        return {"Q": q.Q, "R": q.R, "S": q.S, "C": q.model.C[list(q.track)]}

    def parameter(self, x, r, d=(), v=(), u=None) -> np.ndarray:
        """θ for constant r, v, from model state x, disturbance d and last command u (0 where not given)."""
        q = self.prepared.problem
        part = lambda given, n: np.broadcast_to(
            np.asarray(given, float) if np.size(given) else 0.0, (n,)
        )
        n_d, n_v = q.model.B_d.shape[1], q.model.E0.shape[1]
        θ = [
            part(x, len(q.model.A)),
            part(0.0 if u is None else u, len(self.commands)),
            part(d, n_d),
            np.tile(part(r, len(q.track)), q.p + 1),
            np.tile(part(v, n_v), q.p + 1),
            [1.0],
        ]
        return np.concatenate(θ)

    def value(self, x, r, d=(), v=(), u=None) -> float:
        """Lowest cost V from there; ∞ where the limits cannot be kept."""
        θ = self.parameter(x, r, d, v, u)
        solution = self.solver(self.prepared).solve(θ)
        if solution.status not in (1, 2):
            return float("inf")
        return self.prepared.dense.value(θ, solution.z)

    def gain(self) -> dict[str, np.ndarray]:
        """u_0 = Σ gain[part] · part of θ while no limit is active: parts x, u, d, r, v, one."""
        G = self.prepared.dense.gain()
        return {name: G[:, s] for name, s in self.prepared.problem.at.items()}

    def linear_law(self) -> tuple[np.ndarray, ...]:
        """(A, B, C, D) while no limit is active, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import linear_law

        return linear_law(self)

    def ingredients(self, r, lost: tuple[str, ...] = ()):
        """What the stability argument is about, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import ingredients

        return ingredients(self, r, lost)

    def stage_costs(self, y, r, u) -> np.ndarray:
        """ℓ_k of a run, see `controllers.mpc.verification`."""
        from controllers.mpc.verification import stage_costs

        return stage_costs(self, y, r, u)

    def hypotheses(self) -> dict[str, bool]:
        """What the textbook's stability argument assumes, and whether this controller has it."""
        return {
            "terminal cost of the unconstrained law": self.prepared.terminal is not None,
            "terminal set as a constraint": self.terminal == "set",
            "every sample has its own move": not self.blocks
            or max(self.blocks) == 1 == self.lengths[-1],
            "limits on outputs are hard": not any(limit.soft for limit in self.limits),
            "full state measured": self.observer is None,
            "no known disturbance": not self.known,
            "one model": not self.relinearise,
            "nothing added by the user": self.extra is None,
        }


__all__ = ["MPC", "Last", "Limit", "Observer"]
