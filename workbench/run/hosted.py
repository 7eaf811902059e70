"""Loops whose law is called from Python: the law at every sample, the compiled plant in between.

    y_k = out(t_k, x_k),  z⁺, u = law(t_k, z, y_k, r_k),  x_{k+1} = plant over [t_k, t_{k+1}] with u held

The wrappers around the law (Sampled, Delayed, Filtered, …) run their own text on floats; a release between samples
splits the sample in two. Instants, signals and numbers are those of a fused loop (`workbench.run.simulate`). A law that is
an expression is called likewise where its plant is Python on floats.
"""

from __future__ import annotations

import copy
import math
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.own_laws import Commanding, Remembering, Starting, Stepped
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names, rewrapped
from workbench.run.attempt import Attempt
from workbench.run.columns import Columns
from workbench.run.dead_ends import samples_inside
from workbench.run.demand import Demand
from workbench.run.ending import finish
from workbench.run.fused import CHUNK, at_its_pace, longest_of
from workbench.run.grid import Grid, Rows, grid, logging
from workbench.run.held_plant import HeldPlant
from workbench.run.log import Log
from workbench.run.pace import Pace, at_first, modes, modes_at
from workbench.run.recorded_law import shown
from workbench.run.scenario import Scenario
from workbench.run.start import start_state


def simulate_hosted(
    loop: ClosedLoop,
    scenario: Scenario,
    progress: Callable[[float], None] | None = None,
    compiled: bool | None = None,
    rows: Rows = "asked",
    demand: Demand | None = None,
    at: Pace | None = None,
    halvings: int = 0,
    watched: bool = True,
) -> Log:
    """Run a loop whose innermost law is `Plain` through `scenario`; the same Log as `simulate` gives.

    Every run works on a deep copy of the law (the law itself where it cannot be copied) and on new memory, so nothing
    hidden in it leaks from run to run (what a function closes over is not copied). Raises InputError when the law fails
    or returns what is no command, with the time and, for an exception, file and line.
    """
    demand = demand or Demand(loop, scenario, start_state(loop, scenario))
    x0 = demand.start
    g = grid(loop, scenario)
    times = np.arange(g.n) * g.T
    demand.check(times)
    inputs = demand.at(times)

    def attempt(pace: Pace) -> Attempt:
        return _attempt(loop, scenario, demand, inputs, x0, pace, rows, compiled, progress, watched)

    def begin() -> Pace:
        at_rest = HeldPlant(loop, demand, g, inputs, x0[: len(loop.plant.states)], compiled)
        λ = modes(at_rest.traced, 0.0, at_rest.x, at_rest.w[0], at_rest.c)
        return at_first(λ, longest_of(loop, scenario), scenario.length())

    return finish(
        shown(loop),
        scenario,
        demand,
        inputs,
        *at_its_pace(loop, scenario, begin, attempt, at, halvings),
    )


def _attempt(
    loop, scenario, demand, inputs, x0, pace: Pace, rows: Rows, compiled, progress, watched
) -> Attempt:
    """The run at this pace; its result is (grid, rows, last state)."""
    wanted = inputs[
        :, [i for i, name in enumerate(demand.live) if demand.kinds[name] != "disturbance"]
    ]
    g = logging(grid(loop, scenario, pace.longest), scenario, rows, pace.longest)
    n = len(loop.plant.states)
    plant = HeldPlant(loop, demand, g, inputs, x0[:n], compiled, pace)
    law = running(loop.controller)
    z = list(law.start(0.0, x0[n:].tolist(), plant.measure(0.0), wanted[0].tolist()))
    done = 0
    memory = []
    while done < g.n:
        count = min(CHUNK, g.n - done)
        asked = wanted[done : done + count].tolist()
        made, z, kept = _chunk(law, plant, g, done, asked, z, watched)
        memory.append(kept)
        done += made
        if made < count:
            break
        if progress:
            progress(done / g.n)
    width = (
        len(loop.controller.states) + len(loop.controller.monitors) + len(loop.controller.commands)
    )
    own = np.concatenate([np.array(kept, float).reshape(-1, width) for kept in memory])
    end = np.concatenate([plant.state[:n], z])

    def instant(row: int) -> tuple[float, np.ndarray, np.ndarray]:
        k = g.sample(row)
        w = np.concatenate([own[row, width - plant.m :], inputs[k, plant.pushes]])
        return k * g.T, plant.rows[row, :n], w

    def look(shares: Sequence[float]) -> list[np.ndarray]:
        if not len(own):
            return [np.zeros(0) for _ in shares]
        at = [instant(int(share * (len(own) - 1))) for share in shares]
        return modes_at(plant.traced, at, plant.c)

    columns = Columns.of(shown(loop), demand)
    logged = columns.room(len(own))
    columns.take(logged, _arranged(loop, plant.rows[: len(own)], own, g.times(len(own))))
    inside = partial(samples_inside, loop.plant, columns.signals, logged, g.sample)
    return Attempt(g.n, done, g.T, look, (g, logged, end), inside)


def _chunk(law, plant: HeldPlant, g: Grid, first: int, wanted: list, z: list, watched: bool):
    """Samples from `first` on: (how many were done, memory, what the controller adds to the logged rows)."""
    rows = []
    lag = g.n1 * g.h1
    watched = watched and bool(law.monitors)
    unwatched = [math.nan] * len(law.monitors)
    # Rows of a logged sample up to the release, and after it.
    early, late = (1, 0 if g.n1 else 1) if g.every else (g.n1, g.n2)
    for k, r in enumerate(wanted, first):
        t = k * g.T
        if not plant.finite():
            return k - first, z, rows
        y = plant.measure(t)
        z = law.update(t, z, y, r)
        u = law.command(t, z, y, r)
        logged = not g.every or k % g.every == 0
        told = law.monitor(t, z, y, r) if watched and logged else unwatched
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
    n = len(loop.plant.states)
    m = len(loop.controller.states)
    shown = (
        [loop.shown(t, row[:n]) for t, row in zip(times.tolist(), rows)]
        if loop.wiring.shows
        else np.empty((len(rows), 0))
    )
    return np.hstack([rows[:, :n], own[:, :m], rows[:, n:-1], shown, own[:, m:], rows[:, -1:]])


def running(controller):
    """The controller ready for one run: a user's law with memory of its own, a law of this library's kind as it is."""
    law = innermost(controller)
    return rewrapped(controller, Running(law)) if isinstance(law, Plain) else controller


def _stepped(law) -> Callable:
    """The law as a function (t, z, y, r) → (memory, command). What it can do is asked here, once, and not at every sample."""
    if isinstance(law, Stepped):
        return law.step
    if isinstance(law, Commanding):
        return lambda t, z, y, r: (z, law.command(t, z, y, r))
    return lambda t, z, y, r: (z, law(t, y, r))


class Running:
    """A user's law during one run: a copy of the law, and its memory."""

    states = ()

    def __init__(self, plain: Plain):
        try:
            self.law = copy.deepcopy(plain.law)
        except Exception:  # whatever a law that cannot be copied raises; it is then used as it is
            self.law = plain.law
        self.name, self.n = plain.name, len(plain.commands)
        self.measured, self.commands, self.references = (
            plain.measured,
            plain.commands,
            plain.references,
        )
        self.monitors = plain.monitors
        self.take(self.law, None)
        self.z = self._called(0.0, self.law.initial) if isinstance(self.law, Remembering) else None

    def take(self, law, z) -> None:
        """Continue the run with this copy of the law and with z as its memory."""
        self.law, self.z = law, z
        self.step = _stepped(law)

    def start(self, t, z, y, r):
        if isinstance(self.law, Starting):
            self.z = self._called(t, self.law.start, t, self.z, list(y), list(r))
        return []

    def step_at(self, T_s, t, z, y, r):
        try:
            u = self.step(t, self.z, list(y), list(r))
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
            u = [float(v) for v in u] if isinstance(u, Iterable) else [float(u)]
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
        return InputError(
            f"{self.name} at t = {t:.6g} s returned {given!r}: {expected}",
            mend="return one finite float per command, in the order of `commands`",
        )

    def _called(self, t, f, *arguments):
        try:
            return f(*arguments)
        except Exception as reason:
            raise self._failure(t, reason) from reason

    def _failure(self, t, reason) -> InputError:
        last = traceback.extract_tb(reason.__traceback__)[-1]
        return InputError(
            f"{self.name} failed at t = {t:.6g} s: {type(reason).__name__}: {reason}",
            file=last.filename,
            line=last.lineno,
            mend=self._advice(reason),
        )

    def _advice(self, reason) -> str:
        """What most likely made the law fail."""
        if self.z is None and isinstance(reason, TypeError) and isinstance(self.law, Stepped):
            return "its memory z is None: give it initial(self), which returns the memory to begin with"
        if isinstance(reason, (IndexError, ValueError)):
            y = ", ".join(names(self.measured)) or "nothing"
            r = ", ".join(names(self.references)) or "nothing"
            return f"y has {y}; r has {r}: name others by measured=(…,) and references=(…,)"
        return "the law must cope with every measurement"
