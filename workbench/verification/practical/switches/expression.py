"""The switches of a law that is an expression, as those of its graph over the loop's states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.own_text import own
from workbench.contract.system import Controller, innermost, names
from workbench.numerics.calculus import Traced, trace
from workbench.verification.observed.running_on import within
from workbench.verification.practical.switches import fading, law_maps
from workbench.verification.practical.switches.graph import shown, sided, switches_in
from workbench.verification.practical.switches.margins import HELD, MOST, Beside
from workbench.verification.run import Run


class Expression:
    """A loop's switches, read off what its law commands and remembers and off how a plant of the user's own moves."""

    def __init__(self, loop: ClosedLoop, traced: Traced):
        self.traced = traced
        self.symbols = [
            ca.SX.sym("t"),
            ca.vertcat(*(ca.SX.sym(n) for n in names(loop.states))),
            ca.vertcat(*(ca.SX.sym(n) for n in traced.live)) if traced.live else ca.SX(0, 1),
            ca.SX.sym("c", traced.flow.size1_in(3)),
        ]
        jump = None if loop.period is None else traced.jump(*self.symbols)
        commands, memory = law_maps.commands_and_memory(loop, traced, self.symbols, jump)
        flow = law_maps.own_flow(loop, traced, self.symbols, jump)
        self.users = not own(type(innermost(loop.controller)))
        self.switches = list(switches_in([*flow, *commands, *memory], conditions=self.users))
        margins = [a - b for _, a, b in self.switches]
        told = (margins, commands, memory, flow)
        parts = [ca.vertcat(*part) if part else ca.SX(0, 1) for part in told]
        self.function = ca.Function("switches", self.symbols, [ca.densify(p) for p in parts])
        self.compared = ca.Function("compared", self.symbols, [ca.densify(parts[0])])
        self.n_plant = len(loop.plant.states)
        remembered = set(names(innermost(loop.controller).states))
        self.own = np.array([n in remembered for n in names(loop.states)[self.n_plant :]], bool)
        z = self.symbols[1][(self.n_plant + np.flatnonzero(self.own)).tolist()]
        slopes = ca.jacobian(parts[2], z) if self.own.any() else ca.SX(0, 0)
        self.slopes = ca.Function("slopes", self.symbols, [ca.densify(slopes)])

    def margins(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.unique(np.linspace(0, len(run.log.time) - 1, MOST).astype(int))
        x = np.array([run.log.array(n)[rows] for n in names(run.loop.states)])
        margins = self._sided(self._mapped(self.compared, run, rows, x))
        return rows, margins, margins

    def remembers(self, run: Run) -> bool:
        kept = names(run.loop.states)[self.n_plant :]
        return bool(set(kept) - _of_wrappers(run.loop.controller))

    def covered(self, run: Run) -> np.ndarray:
        kept = names(run.loop.states)[self.n_plant :]
        passing = _of_wrappers(run.loop.controller) | self._fading(run)
        rows = np.unique(np.linspace(0, len(run.log.time) - 1, MOST).astype(int))
        time = run.log.time[rows]
        own_ones = {n: run.log.array(n)[rows] for n in kept if n not in passing}
        return np.array([within(time, own_ones[n]) if n in own_ones else 0.0 for n in kept])

    def _fading(self, run: Run) -> set[str]:
        """What a law of this library remembers and forgets within the run: it follows what it is fed, and leads nowhere itself."""
        if self.users or run.loop.period is None or not self.own.any():
            return set()
        if "fading" not in run.kept:
            run.kept["fading"] = self._faded(run)
        return run.kept["fading"]

    def _faded(self, run: Run) -> set[str]:
        kept = names(run.loop.states)[self.n_plant :]
        own_ones = [n for n, is_own in zip(kept, self.own) if is_own]
        rows = np.unique(np.linspace(0, len(run.log.time) - 1, fading.LOOKS).astype(int))
        x = np.array([run.log.array(n)[rows] for n in names(run.loop.states)])
        slopes = np.array(self._mapped(self.slopes, run, rows, x), float)
        sizes = np.array([np.ptp(run.log.array(n)) for n in own_ones])
        gone = fading.forgotten(np.split(slopes, len(rows), axis=1), sizes, len(run.log.time))
        return {name for name, is_gone in zip(own_ones, gone) if is_gone}

    def at(self, run: Run, row: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.array([run.log.array(n)[row] for n in names(run.loop.states)])
        return x[: self.n_plant], x[self.n_plant :]

    def ask(self, run: Run, row: int, points: np.ndarray) -> Beside:
        rows = np.full(points.shape[1], row)
        margins, *rest = self._asked(run, rows, self._placed(run, rows, points))
        return Beside(margins, margins, *rest)

    def whole_first(self, switches: Iterable[int]) -> list[int]:
        return sorted(switches, key=lambda k: (not self.is_condition(k), k))

    def held(self, run: Run, row: int, points: np.ndarray) -> Beside:
        points = points.copy()
        there = self.ask(run, row, points)
        low = high = there.low
        for _ in range(HELD):
            kept = np.empty_like(points[self.n_plant :])
            kept[self.own] = there.memory
            kept[~self.own] = there.commands
            if np.array_equal(kept, points[self.n_plant :], equal_nan=True):
                break
            points[self.n_plant :] = kept
            there = self.ask(run, row, points)
            low = np.fmin(low, there.low)
            high = np.fmax(high, there.high)
        return there._replace(low=low, high=high)

    def shown(self, run: Run, row: int, points: np.ndarray) -> Mapping[str, np.ndarray]:
        rows = np.full(points.shape[1], row)
        placed = self._placed(run, rows, points)
        told = np.array(self._mapped(self.traced.log, run, rows, placed), float)
        return dict(zip(names(run.loop.monitors), told))

    def _placed(self, run: Run, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The points, put back on the plant's constraints."""
        if self.traced.project is None:
            return x
        return self._mapped(self.traced.project, run, rows, x)

    def _asked(self, run: Run, rows: np.ndarray, x: np.ndarray) -> tuple:
        margins, *rest = self._mapped(self.function, run, rows, x)
        return self._sided(margins), *(_array(part) for part in rest)

    def _sided(self, margins: ca.DM) -> np.ndarray:
        """The margins (k, N), each with the sign of the side that it is on."""
        return sided(_array(margins), self.switches)

    def _mapped(self, f: ca.Function, run: Run, rows: np.ndarray, x: np.ndarray) -> Any:
        t = run.log.time[rows]
        return f(t[None, :], x, run.demand.at(t).T, self.traced.constants(run.loop))

    def is_condition(self, k: int) -> bool:
        return self.switches[k][0] == ca.OP_AND

    def parts(self, k: int) -> list[int]:
        return []

    def words(self, k: int, run: Run) -> str:
        kind, a, b = self.switches[k]
        c = ca.DM(self.traced.constants(run.loop))
        a, b = ca.substitute([a, b], [self.symbols[3]], [c])
        return shown(kind, a, b)


_made: dict[Traced, Expression] = {}


def of_expression(run: Run) -> Expression | None:
    """The switches of this run's law; None where it is no expression, or one of this library without any."""
    if run.loop.hosted:
        return None
    traced = trace(run.loop, run.demand.live)
    if traced not in _made:
        _made[traced] = Expression(run.loop, traced)
    found = _made[traced]
    return found if found.switches or found.users else None


def _array(part: ca.DM) -> np.ndarray:
    """The numbers of a matrix, which may have no rows."""
    return np.array(part, float).reshape(part.shape)


def _of_wrappers(controller: Any) -> set[str]:
    """States of this library's wrappers: they hold or filter what is measured or commanded, and lead nowhere by themselves."""
    found: set[str] = set()
    while isinstance(controller, Controller) and controller.inner is not None:
        inside = controller.inner
        if own(type(controller)):
            found |= set(names(controller.states)) - set(names(inside.states))
        controller = inside
    return found
