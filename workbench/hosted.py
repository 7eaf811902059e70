"""Loops whose law is called from Python: the law at every sample, the compiled plant in between.

    y_k = out(t_k, x_k),  z⁺, u = law(t_k, z, y_k, r_k),  x_{k+1} = plant over [t_k, t_{k+1}] with u held

The wrappers around the law (Sampled, Delayed, Filtered, …) run their own text on floats; a release between samples
splits the sample in two. Instants, signals and numbers are those of a fused loop (`workbench.simulate`).
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from workbench.calculus import trace
from workbench.demand import Demand
from workbench.errors import InputError
from workbench.grid import Grid, Rows, grid, logging
from workbench.log import Log
from workbench.native import address
from workbench.parameters import leaves
from workbench.scenario import Scenario
from workbench.simulate import CHUNK, _finish, integrator, start_state
from workbench.system import ClosedLoop, Plain, Signal, innermost, names, rewrapped


def simulate_hosted(loop: ClosedLoop, scenario: Scenario, progress: Callable[[float], None] | None = None,
                    compiled: bool | None = None, rows: Rows = "asked", demand: Demand | None = None) -> Log:
    """Run a loop whose innermost law is `Plain` through `scenario`; the same Log as `simulate` gives.

    Every run works on a deep copy of the law (the law itself where it cannot be copied) and on new memory, so nothing
    hidden in it leaks from run to run (what a function closes over is not copied). Raises InputError when the law fails
    or returns what is no command, with the time and, for an exception, file and line.
    """
    x0 = start_state(loop, scenario)
    demand = demand or Demand(loop, scenario, x0)
    g = logging(grid(loop, scenario), scenario, rows)
    demand.check(np.arange(g.n) * g.T)
    inputs = demand.at(np.arange(g.n) * g.T)
    wanted = inputs[:, [i for i, name in enumerate(demand.live) if demand.kinds[name] != "disturbance"]]
    n = len(loop.plant.states)
    plant = _Plant(loop, demand, g, inputs, x0[:n], compiled)
    law = rewrapped(loop.controller, _Running(innermost(loop.controller)))
    z = list(law.start(0.0, x0[n:].tolist(), plant.measure(0.0), wanted[0].tolist()))
    done, memory = 0, []
    while done < g.n:
        count = min(CHUNK, g.n - done)
        made, z, rows = _chunk(law, plant, g, done, wanted[done: done + count].tolist(), z)
        memory.append(rows)
        done += made
        if made < count:
            break
        if progress:
            progress(done / g.n)
    width = len(loop.controller.states) + len(loop.controller.monitors) + len(loop.controller.commands)
    own = np.concatenate([np.array(rows, float).reshape(-1, width) for rows in memory])
    end = np.concatenate([plant.state[:n], z])
    arranged = _arranged(loop, plant.rows[: len(own)], own, g.times(len(own)))
    return _finish(_shown(loop), scenario, g, arranged, end, done, demand, inputs)


def _chunk(law, plant: _Plant, g: Grid, first: int, wanted: list, z: list):
    """Samples from `first` on: (how many were done, memory, what the controller adds to the logged rows)."""
    rows, lag, watched = [], g.n1 * g.h1, bool(law.monitors)
    early = 1 if g.every else g.n1  # rows of a logged sample up to the release, and after it
    late = 0 if g.every and g.n1 else 1 if g.every else g.n2
    for k, r in enumerate(wanted, first):
        t = k * g.T
        if not plant.finite():
            return k - first, z, rows
        y = plant.measure(t)
        z = law.update(t, z, y, r)
        u = law.command(t, z, y, r)
        logged = not g.every or k % g.every == 0
        told = law.monitor(t, z, y, r) if watched and logged else ()
        if logged:
            rows += (early if g.n1 else late) * [[*z, *told, *u]]
        if g.n1:
            plant.advance(k, t, u, logged, early=True)
            if not plant.finite():
                return k + 1 - first, z, rows
            t += lag
            y = plant.measure(t)
            z = law.release(t, z, y, r)
            u = law.command(t, z, y, r)
            if not g.every:
                rows += late * [[*z, *told, *u]]
            plant.advance(k, t, u, not g.every)
        else:
            plant.advance(k, t, u, logged)
    return len(wanted), z, rows


def _arranged(loop, rows, own, times) -> np.ndarray:
    """Rows at these times in the order of a fused loop: states, powers, monitors (the controller's last of each), energy."""
    n, m = len(loop.plant.states), len(loop.controller.states)
    shown = [loop.shown(t, row[:n]) for t, row in zip(times.tolist(), rows)] if loop.shows else np.empty((len(rows), 0))
    return np.hstack([rows[:, :n], own[:, :m], rows[:, n: -1], shown, own[:, m:], rows[:, -1:]])


class _Plant:
    """The compiled plant, advanced by parts of a sample; all buffers and addresses are made once."""

    def __init__(self, loop: ClosedLoop, demand: Demand, g: Grid, inputs: np.ndarray, x0: np.ndarray,
                 compiled: bool | None):
        plant, commands = loop.plant, names(loop.controller.commands)
        pushes = [name for name in demand.live if demand.kinds[name] == "disturbance"]
        traced = trace(plant, (*commands, *pushes))
        self.demand, self.g, self.m = demand, g, len(commands)
        self.pushes = [demand.live.index(name) for name in pushes]
        self.varying = any(hasattr(demand.scenario.disturbances[name], "sample") for name in pushes)
        self.w = np.concatenate([np.zeros(self.m), inputs[0, self.pushes]])[None, :]
        self.state = np.concatenate([x0, np.zeros(traced.n_powers)])
        self.x = self.state[: len(x0)]
        self.machine, self.c = integrator(plant, traced, compiled)
        self.F = np.tile(self.w, ((g.n1 + g.n2) * len(self.machine.offsets), 1))
        self.early, self.late = np.split(self.F, [g.n1 * len(self.machine.offsets)])
        self.rows = np.empty((g.rows, self.machine.row))
        self.kept, self.chunk, self.block, self.at = 0, -1, None, None
        self.reads = None if list(loop._reads) == list(range(len(plant.outputs))) else loop._reads
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
        g, m = self.g, self.m
        n, h = (g.n1, g.h1) if early else (g.n2, g.h2)
        self.w[0, :m] = u
        self.F[:, :m] = u
        if self.varying:
            self._push(k)
        at, each = self.at, min(g.every, 1)
        if at is None:
            state, w, F, c, row = (self.state, self.w, self.early if early else self.late, self.c,
                                   self.rows[self.kept:] if logged else None)
            self.machine.run(1, 1, each, False, t, 0, 0.0, n, h, state, w, F, c, row)
        else:  # as Loop.run, with the addresses at hand
            row = at["rows"] + 8 * self.machine.row * self.kept if logged else 0
            F = at["early" if early else "late"]
            # One sample that begins at 1·t: the driver's clock is sample number times period.
            self.machine.lib.run(1, 1, each, 0, t, 0, 0.0, n, h, at["state"], at["w"], F, at["c"], row, at["work"])
        self.kept += logged * (each or n)

    def _push(self, k: int) -> None:
        """Disturbances of sample k, at every stage of the integrator."""
        if k // CHUNK != self.chunk:
            self.chunk = k // CHUNK
            times = self.g.stages(self.chunk * CHUNK, min(CHUNK, self.g.n - self.chunk * CHUNK), self.machine.offsets)
            values = self.demand.at(times.ravel(), noise=False)
            self.block = values.reshape(*times.shape, -1)[:, :, self.pushes]
        self.F[:, self.m:] = self.block[k % CHUNK]
        self.w[0, self.m:] = self.block[k % CHUNK, 0]


class _Running:
    """A user's law during one run: a copy of the law, and its memory."""

    states = ()

    def __init__(self, plain: Plain):
        try:
            self.law = copy.deepcopy(plain.law)
        except Exception:  # whatever a law that cannot be copied raises; it is then used as it is
            self.law = plain.law
        self.name, self.n = plain.name, len(plain.commands)
        self.measured, self.commands, self.references = plain.measured, plain.commands, plain.references
        self.monitors = plain.monitors
        self.z = self._called(0.0, self.law.initial) if hasattr(self.law, "initial") else None

    def start(self, t, z, y, r):
        if hasattr(self.law, "start"):
            self.z = self._called(t, self.law.start, t, self.z, list(y), list(r))
        return []

    def step_at(self, T_s, t, z, y, r):
        law = self.law
        try:
            if hasattr(law, "step"):
                u = law.step(t, self.z, list(y), list(r))
            elif hasattr(law, "command"):
                u = self.z, law.command(t, self.z, list(y), list(r))
            else:
                u = self.z, law(t, list(y), list(r))
        except Exception as reason:
            raise self._failure(t, reason) from reason
        try:
            self.z, u = u
        except (TypeError, ValueError):
            raise self._refusal(t, u, "expected the pair (memory, command)") from None
        return [], self._checked(t, u)

    def monitor(self, t, z, y, r):
        values = self._called(t, self.law.monitor, t, self.z, list(y), list(r))
        try:
            values = [float(v) for v in values]
        except (TypeError, ValueError):
            values = None
        if values is None or len(values) != len(self.monitors):
            raise self._refusal(t, values, f"expected {len(self.monitors)} numbers from `monitor`")
        return values

    def _checked(self, t, given) -> list[float]:
        try:
            u = given.ravel().tolist() if isinstance(given, np.ndarray) else given
            u = [float(v) for v in u] if hasattr(u, "__iter__") else [float(u)]
        except (TypeError, ValueError):
            raise self._refusal(t, given, "expected numbers") from None
        if len(u) != self.n:
            wanted = ", ".join(names(self.commands))
            raise self._refusal(t, given, f"expected {self.n} numbers ({wanted}), got {len(u)}")
        for v in u:
            if v - v != 0.0:
                raise self._refusal(t, given, "expected finite numbers")
        return u

    def _refusal(self, t, given, expected) -> InputError:
        return InputError(f"{self.name} at t = {t:.6g} s returned {given!r}: {expected}",
                          mend="return one finite float per command, in the order of `commands`")

    def _called(self, t, f, *arguments):
        try:
            return f(*arguments)
        except Exception as reason:
            raise self._failure(t, reason) from reason

    def _failure(self, t, reason) -> InputError:
        last = traceback.extract_tb(reason.__traceback__)[-1]
        return InputError(f"{self.name} failed at t = {t:.6g} s: {type(reason).__name__}: {reason}",
                          file=last.filename, line=last.lineno, mend="the law must cope with every measurement")


# ---- what the log keeps of a law that is code -----------------------------------------------------------------------
@dataclass(frozen=True)
class _Record:
    """A law as text that is the same in every process: its name, its source's hash, its attributes."""

    text: str
    monitors: tuple[Signal, ...] = ()
    command: Any = None


def _shown(loop: ClosedLoop) -> ClosedLoop:
    """The loop with its law as a record, for provenance (a law with annotated parameters shows itself)."""
    plain = innermost(loop.controller)
    if is_dataclass(plain.law):
        try:
            list(leaves(plain.law))
            return loop
        except (NameError, TypeError):
            pass
    kind = plain.law if hasattr(plain.law, "__qualname__") else type(plain.law)
    try:
        source = hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        source = "unknown"
    own = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(getattr(plain.law, "__dict__", {})))
    text = f"{kind.__module__}.{kind.__qualname__}, source {source}, {own}"
    return replace(loop, controller=rewrapped(loop.controller, replace(plain, law=_Record(text, plain.monitors))))
