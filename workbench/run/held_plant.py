"""The compiled plant of a loop whose law is called from Python: its commands are held, it is advanced by parts of a sample."""

from __future__ import annotations

from math import isfinite

import numpy as np

from workbench.contract.capabilities import Varies
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.system import names
from workbench.numerics.c_code import address
from workbench.run.demand import Demand
from workbench.run.fused import AS_IT_IS, CHUNK, integrator, text_of
from workbench.run.grid import Grid
from workbench.run.pace import Pace
from workbench.run.room import table


class HeldPlant:
    """A compiled plant that is stepped under held commands; its buffers and their addresses are made once."""

    def __init__(
        self,
        loop: ClosedLoop,
        demand: Demand,
        g: Grid,
        inputs: np.ndarray,
        x0: np.ndarray,
        compiled: bool | None,
        pace: Pace = AS_IT_IS,
    ):
        plant = loop.plant
        commands = names(loop.controller.commands)
        pushes = [name for name in demand.live if demand.kinds[name] == "disturbance"]
        self.traced = traced = text_of(plant, (*commands, *pushes))
        self.demand, self.g, self.m = demand, g, len(commands)
        self.pushes = [demand.live.index(name) for name in pushes]
        self.varying = any(
            isinstance(demand.scenario.disturbances[name], Varies) for name in pushes
        )
        self.w = np.concatenate([np.zeros(self.m), inputs[0, self.pushes]])[None, :]
        self.state = np.concatenate([x0, np.zeros(traced.n_powers)])
        self.x = self.state[: len(x0)]
        self.machine, self.c = integrator(plant, traced, compiled, pace, monitored=True)
        self.F = np.tile(self.w, ((g.n1 + g.n2) * len(self.machine.offsets), 1))
        self.early, self.late = np.split(self.F, [g.n1 * len(self.machine.offsets)])
        self.rows = table(g.rows, self.machine.row)
        self.kept, self.chunk, self.block, self.at = 0, -1, None, None
        reads = loop.wiring.reads
        self.reads = None if list(reads) == list(range(len(plant.outputs))) else reads
        if self.machine.lib is not None:
            self.y, self.work = np.zeros(max(len(plant.outputs), 1)), np.empty(self.machine.work)
            buffers = ("state", "w", "c", "y", "work", "early", "late", "rows")
            self.at = {name: address(getattr(self, name)) for name in buffers}
            self.seen = tuple(self.at[name] for name in ("state", "w", "c", "y", "work"))

    def finite(self) -> bool:
        """Whether the state is."""
        x = self.x.tolist()
        return isfinite(sum(x)) or all(map(isfinite, x))

    def measure(self, t: float) -> list[float]:
        """What the law reads."""
        if self.at is None:
            out = self.machine.traced.out
            y = np.array(out(t, self.x, self.w[0], self.c[: out.size1_in(3)])).ravel().tolist()
        else:
            self.machine.lib.measure(t, *self.seen)
            y = self.y.tolist()
        return y if self.reads is None else [y[i] for i in self.reads]

    def advance(self, k: int, t: float, u: list, logged: bool, early: bool = False) -> None:
        """Sample k from t on with u held: up to the release (early) or to the next sample."""
        g = self.g
        m = self.m
        n, h = (g.n1, g.h1) if early else (g.n2, g.h2)
        self.w[0, :m] = u
        self.F[:, :m] = u
        if self.varying:
            self._push(k)
        at = self.at
        each = min(g.every, 1)
        if at is None:
            state = self.state
            w = self.w
            F = self.early if early else self.late
            c = self.c
            row = self.rows[self.kept :] if logged else None
            self.machine.run(1, 1, each, False, t, 0, 0.0, n, h, state, w, F, c, row)
        else:  # as Loop.run, with the addresses at hand
            row = at["rows"] + 8 * self.machine.row * self.kept if logged else 0
            F = at["early" if early else "late"]
            # One sample that begins at 1·t: the driver's clock is sample number times period.
            self.machine.lib.run(
                1, 1, each, 0, t, 0, 0.0, n, h, at["state"], at["w"], F, at["c"], row, at["work"]
            )
        self.kept += logged * (each or n)

    def _push(self, k: int) -> None:
        """Disturbances of sample k, at every stage of the integrator."""
        if k // CHUNK != self.chunk:
            self.chunk = k // CHUNK
            times = self.g.stages(
                self.chunk * CHUNK, min(CHUNK, self.g.n - self.chunk * CHUNK), self.machine.offsets
            )
            values = self.demand.at(times.ravel(), noise=False)
            self.block = values.reshape(*times.shape, -1)[:, :, self.pushes]
        self.F[:, self.m :] = self.block[k % CHUNK]
        self.w[0, self.m :] = self.block[k % CHUNK, 0]
