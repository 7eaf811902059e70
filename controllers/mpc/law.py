"""Linear predictive control without steady-state error, on any plant that can be linearised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, final

import numpy as np

from controllers.mpc.field_checks import check_fields
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
from controllers.mpc.parts import Limit, Named, horizon, limit_units, suited
from controllers.mpc.prepare import Prepared, prepared
from controllers.mpc.verifiable import VerifiableMPC
from workbench.contract.parameters import Unit, check_bounds, fraction, nonnegative, positive
from workbench.contract.system import System


@final
@dataclass(frozen=True, eq=False)
class MPC(VerifiableMPC):
    """Predictive control: at every sample the commands over N samples that cost least, of which the first is applied.

        min Σ_{k<N} |y_k − r_k|²_Q + |u_k − u_s|²_R + |u_k − u_{k−1}|²_S + |ξ_N − ξ_s|²_P + slack
        u_min ≤ u ≤ u_max,  |u_k − u_{k−1}| ≤ slew T_s,  limits on outputs, hard or soft,  ξ_N − ξ_s in the terminal set

    model       the plant as the controller knows it, linearised at (x_0, u_0) (the initial state and 0 by default) and
                sampled exactly; w, smooth: overlap of valves and steep friction, see `controllers.mpc.overlap`
    relinearise linearise it anew for every sample ahead, `iterations` times, see `controllers.mpc.along`; working: state →
                least distance from 0 at which it is linearised, where it has no effect near 0 (E of an IEHA)
    tracked     outputs that follow references (the first ones, one a command, by default); Q, R, S: diagonal weights,
                one entry serves all, in 1/unit²
    blocks      how many samples each move lasts, () for one sample each; the last move lasts until N
    known       disturbance inputs that are measured, and known ahead as far as the preview
    preview     samples known ahead: None all N, 0 none (the present value stands for the future)
    delay       dead time of the commands, s; the prediction includes it
    observer    estimates states and disturbances; None: every state is measured by name, no disturbance is estimated
    terminal    "none"; "cost": P of the Riccati equation; "set": that, and the largest admissible set as a constraint,
                for targets within `room` of the middle of every range
    extra       function of the problem's symbols that adds convex constraints and cost terms (`controllers.mpc.convex`);
                solved by a general solver then, some milliseconds a sample
    Where the solver finds no optimum, the command comes from the last solution, shifted by a sample; if there is none, from the
    terminal law within the limits; else it is the last command. The log has status, iterations, cost, slack, fallback, active
    limits and residual of every sample.
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
    relinearise: Annotated[bool, "linearise the plant anew at every sample ahead"] = False
    iterations: Annotated[int, "Gauss–Newton iterations a sample"] = 1
    working: Mapping[str, float] | None = None
    smooth: Annotated[
        float, Unit("m/s"), "least speed over which friction's sign is smoothed", positive
    ] = 0.01
    w: Annotated[
        float, Unit("V"), "opening over which compensation of the overlap builds up", positive
    ] = 0.2
    extra: Callable | None = None
    x_0: Annotated[tuple[float, ...], Unit("1"), "states to linearise at"] = ()
    u_0: Annotated[tuple[float, ...], Unit("1"), "commands to linearise at"] = ()

    def __post_init__(self):
        check_bounds(self)
        check_fields(self)
        if self.extra is not None and not isinstance(self.extra, Named):
            object.__setattr__(self, "extra", Named(self.extra))
        _ = self.prepared

    def __deepcopy__(self, memo):
        return self  # nothing here changes during a run: all of that is in Memory

    suited = staticmethod(suited)
    horizon = staticmethod(horizon)
    units_on = staticmethod(limit_units)

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
        C = made.problem.model.C
        n = made.problem.model.n
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
        x = made.corrected(z.x, y)
        q = made.problem
        θ = assembled(made, x, z.u, r)
        solution = z.solver.solve(θ)
        u, solved, age, fallback = decided(q, θ, solution, z)
        ahead = x.copy()
        ahead[: len(q.model.A)] = made.next_θ @ θ + q.model.B @ u
        return Memory(
            ahead, None, u, solved, age, z.solver, Last(θ, solution, u, fallback, made.dense)
        ), u

    def monitor(self, t, z: Memory, y, r) -> list[float]:
        return [*map(float, logged(z.last)), *z.x[len(self.prepared.problem.model.A) :].tolist()]


__all__ = ["MPC", "Last", "Limit", "Observer"]
