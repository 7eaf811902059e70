"""The augmented Lagrangian as the integrator of any run: `method: penalty` in a case file.

Samples, holds and jumps are those of `workbench.run.simulate`; between them the plant goes by steps of `integrator`,
from Python, with the command held. Accelerations and slopes are carried from step to step, as the method wants it; where inputs
jump they are those of the equations of motion (carried over the jump they would open a valve half a step late).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from plants.multibody.penalty.integrator import Penalty, consistent, stepper
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.stepping import END


@final
@dataclass(frozen=True)
class Command(System):
    """The plant's inputs as a function of a loop's state and inputs: `rhs` is that function, to be traced."""

    system: Any

    @property
    def states(self):
        return self.system.states

    @property
    def inputs(self):
        return self.system.inputs

    def initial(self):
        return self.system.initial()

    def defaults(self):
        return self.system.defaults()

    def rhs(self, t, x, w):
        return self.system.parts(t, x, w)[4] if isinstance(self.system, ClosedLoop) else list(w)


class PenaltyLoop:
    """`workbench.numerics.native.Loop` with steps of the penalty method: the same `begin`, `run` and rows."""

    offsets = (END,)  # of a step, where its inputs are taken: just before a jump at its end
    lib = None

    def __init__(
        self,
        system: System,
        traced: Traced,
        compiled: bool | None = None,
        settings: Penalty | None = None,
    ):
        self.system, self.traced, self.settings = system, traced, settings or Penalty()
        self.mechanism = system.plant
        self.n = len(self.mechanism.states)
        if traced.n_moving > self.n or (self.mechanism is not system and system.period is None):
            raise InputError(
                "method: the penalty method takes commands that are held; this controller, or a filter, is continuous",
                mend="sample the controller, or write 'method: projected'",
            )
        self.stepper, self.constants = stepper(self.mechanism, compiled)
        self.row = traced.n_states + traced.n_powers + traced.log.size1_out(0)
        text = Command(system)
        traced_command = trace(text, traced.live)
        self.command, self.command_numbers = traced_command.flow, traced_command.constants(text)
        # State the last step ended in, its inputs, and all it left.
        self.kept = (
            np.zeros(0),
            np.zeros(0),
            np.zeros(0),
        )

    def begin(self, t0, x, w, c) -> np.ndarray:
        """Initial state with the controller's memory made consistent with the first measurement."""
        return np.array(self.traced.start(t0, x, w, c)).ravel()

    def run(self, first, n, every, jumping, T, n1, h1, n2, h2, state, W, F, c, rows) -> int:
        """As `native.Loop.run`: n samples from `first`; state and rows are written; returns the samples done."""
        f = self.traced
        n_x = self.traced.n_states
        W = np.atleast_2d(W)
        F = (
            np.repeat(W[:, None, None, :], n1 + n2, axis=1)
            if F is None
            else np.asarray(F).reshape(n, n1 + n2, 1, -1)
        )
        rows = None if rows is None else np.reshape(rows, (-1, self.row))
        at_steps = rows is not None and not every
        if at_steps:
            rows[: n * (n1 + n2)] = np.nan  # of steps that are not reached
        kept = 0
        for k in range(n):
            t = (first + k) * T
            w = W[k]
            if jumping:
                state[:n_x] = np.array(f.jump(t, state[:n_x], w, c)).ravel()
            if not np.isfinite(state).all():
                return k
            if rows is not None and every and (first + k) % every == 0:
                rows[kept] = self._row(t, state, w, c)
                kept += 1
            for many, h, later in ((n1, h1, False), (n2, h2, True)):
                if later and n1:
                    t += n1 * h1
                    state[:n_x] = np.array(f.release(t, state[:n_x], w, c)).ravel()
                inputs = F[k, n1:] if later else F[k, :n1]
                if not many:
                    continue
                told = rows[kept : kept + many] if at_steps else None
                kept += many if at_steps else 0
                if not self._advance(
                    t, many, h, state, w, np.broadcast_to(inputs[:, 0], (many, len(w))), c, told
                ):
                    state[:n_x] = np.nan
                    return k + 1
        return n

    def _row(self, t, state, w, c) -> np.ndarray:
        """A row of the log."""
        return np.concatenate(
            [state, np.array(self.traced.log(t, state[: self.traced.n_states], w, c)).ravel()]
        )

    def _advance(self, t, many, h, state, w, inputs, c, told=None) -> bool:
        """`many` steps of h from t on; state gets its end, power integrals by the trapezoidal rule, `told` a row a step."""
        if told is not None:
            told[0] = self._row(t, state, w, c)
        x = state[: self.traced.n_states]
        n = self.n
        U = np.array(
            [self.command(t, x, v, self.command_numbers) for v in (w, *inputs)], float
        ).reshape(many + 1, -1)
        ended, u, start = self.kept
        if not np.array_equal(ended, x[:n]):
            start = consistent(self.mechanism, x[:n], U[0])
        elif not np.array_equal(u, U[0]):
            start = self.stepper.restarted(
                start, np.array(self.traced.flow(t, x, w, c)).ravel()[:n]
            )
        rows, _, made = self.stepper.run(start, U, h, self.settings, self.constants)
        if made <= many:
            return False
        before = self._powers(t, x, w, c)
        for k in range(1, many + 1):
            x[:n] = self.stepper.state(rows[k])
            after = self._powers(t + k * h, x, inputs[k - 1], c)
            state[self.traced.n_states :] += h / 2 * (before + after)
            before = after
            if told is not None and k < many:
                told[k] = self._row(t + k * h, state, inputs[k - 1], c)
        self.kept = x[:n].copy(), U[-1], rows[-1]
        return True

    def _powers(self, t, x, w, c):
        return np.array(self.traced.flow(t, x, w, c)).ravel()[self.traced.n_states :]


def penalty_loop(system: System, traced: Traced, compiled: bool | None = None):
    """(integrator, its constants) for a run of `system`, as `workbench.run.simulate` asks for."""
    return PenaltyLoop(system, traced, compiled), np.ascontiguousarray(traced.constants(system))
