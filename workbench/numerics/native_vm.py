"""driver.c without a compiler: the same steps as one graph, run over many samples in CasADi's virtual machine.

`step_vm` has one step, `kinks_vm` a step that ends on kinks on its way.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from workbench.numerics.kinks_vm import Kinks
from workbench.numerics.samples import Samples
from workbench.numerics.stepping import OFFSETS


def run(loop: Any, asked: Samples) -> int:
    """As `run` in driver.c, for a `native.Loop`."""
    shape = bool(asked.jumping), asked.n1, asked.n2, asked.F is not None, not asked.every
    sample = _kept(loop, _Graph(loop, *shape).sample, *shape)
    n = asked.n
    t = (asked.first + np.arange(n)) * asked.T
    inputs = asked.W
    if asked.F is not None:
        inputs = np.hstack([asked.W, asked.F.reshape(n, -1)])
    steps = np.array([asked.h1, asked.h2])
    many, held = _many(loop, sample, n, steps, np.asarray(asked.c))
    end, out = many(asked.state, t[None, :], inputs.T, *held)
    out = np.array(out).T
    finite = np.isfinite(out[:, : loop.n_x]).all(axis=1)
    bad = np.flatnonzero(~finite)
    done = int(bad[0]) if len(bad) else n
    if asked.rows is not None:
        _keep(asked, out[:done], asked.rows.reshape(-1, loop.row))
    if done == n:
        asked.state[:] = np.array(end)[:, -1]
    else:
        asked.state[:] = out[done, : len(asked.state)]
    return done


def _keep(asked: Samples, out: np.ndarray, rows: np.ndarray) -> None:
    """Rows of the samples done, those that are asked for, written into `rows`."""
    if asked.every:
        number = asked.first + np.arange(len(out))
        kept = out[number % asked.every == 0]
    else:
        kept = out.reshape(-1, rows.shape[1])
    rows[: len(kept)] = kept


def _kept(loop: Any, make: Any, *key: Any) -> Any:
    if key not in loop.maps:
        loop.maps[key] = make()
    return loop.maps[key]


def _many(loop: Any, sample: Any, n: Any, *held: Any) -> Any:
    """`sample` over n samples, and its arguments that stay the same, once a sample: both are slow to make, so they are kept."""

    def accumulated() -> ca.Function:
        return sample.mapaccum("many", n) if n > 1 else sample

    many = _kept(loop, accumulated, sample, n)
    given = (n, *(v.tobytes() for v in held))
    kept = loop.maps.get("held")  # read once: another thread may put its own there
    if kept is None or kept[0] != given:
        tiled = [np.tile(v[:, None], (1, n)) for v in held]
        kept = loop.maps["held"] = given, [ca.DM(v) for v in tiled]
    _, columns = kept
    return many, columns


class _Graph(Kinks):
    """A sample: what jumps, its steps, its rows."""

    def __init__(
        self, loop: Any, jumping: bool, n1: int, n2: int, driven: bool, each_step: bool
    ) -> None:
        super().__init__(loop, driven)
        self.jumping, self.n1, self.n2 = jumping, n1, n2
        self.rows_given = driven
        self.each_step = each_step

    def sample(self) -> ca.Function:
        """(z, t, inputs, (h1, h2), c) → (z at the next sample, row of the log, or one at the beginning of each step)."""
        f = self.traced
        nx = self.loop.n_x
        nw = self.loop.n_w
        stages = len(OFFSETS)
        n = self.n1 + self.n2
        s = ca.MX.sym("s", self.n_z)
        t = ca.MX.sym("t")
        T = ca.MX.sym("h", 2)
        instants = 1 + stages * n if self.rows_given else 1
        W = ca.MX.sym("W", nw * instants)
        c = ca.MX.sym("c", f.flow.size1_in(3))
        z = s
        w = W[:nw, 0]  # columns even when empty

        def jumped(jump: ca.Function, at: Any) -> Any:
            """z after a jump of the states; the power integrals stay."""
            states = jump(at, z[:nx, 0], w, c)
            return ca.vertcat(states, z[nx:, 0])

        def logged(at: Any, now: Any) -> Any:
            """The row of the log at one instant."""
            shown = f.log(at, z[:nx, 0], now, c)
            return ca.vertcat(z, shown)

        if self.jumping:
            z = jumped(f.jump, t)
        rows = [] if self.each_step else [logged(t, w)]
        advance = self.advance()
        for k in range(n):
            h, at = self._begin(k, t, T)
            if self.n1 and k == self.n1:
                z = jumped(f.release, at)
            V = w
            if self.driven:
                begin = nw * (1 + stages * k)
                V = W[begin : begin + nw * stages, 0]
            if self.each_step:
                now = V[:nw, 0] if self.driven and k else w
                rows.append(logged(at, now))
            z = advance(at, h, z, V, c)
            if f.project is not None:
                z = jumped(f.project, at + h)
        return ca.Function("sample", [s, t, W, T, c], [z, ca.vertcat(*rows)])

    def _begin(self, k: int, t: ca.MX, T: ca.MX) -> tuple[ca.MX, ca.MX]:
        """(length of step k of a sample that begins at t, when the step begins)."""
        if k < self.n1:
            return T[0], t + k * T[0]
        return T[1], t + self.n1 * T[0] + (k - self.n1) * T[1]
