"""The switches of a plant of the user's own beside those of a law that is called from Python: both, as one `Switching`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from workbench.contract.own_text import own
from workbench.contract.system import System, names
from workbench.numerics.calculus import Traced, trace
from workbench.verification.practical.switches.called import Called
from workbench.verification.practical.switches.graph import shown, sided, switches_in, symbols_of
from workbench.verification.practical.switches.margins import Beside
from workbench.verification.run import Run


class Flow:
    """The switches of a plant's flow, under commands that are given."""

    def __init__(self, traced: Traced):
        symbols = symbols_of(traced)
        flow = ca.vertsplit(traced.flow(*symbols))
        self.switches = list(switches_in(flow))
        self.symbols, self.traced = symbols, traced
        margins = [a - b for _, a, b in self.switches]
        parts = [ca.vertcat(*margins), ca.vertcat(*flow)]
        self.function = ca.Function("flow", symbols, [ca.densify(part) for part in parts])

    def at(
        self, plant: System, t: np.ndarray, x: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(margins (k, N), rates (n, N)) at instants (N,), states (n, N) and inputs (m, N)."""
        margins, rates = self.function(t[None, :], x, u, self.traced.constants(plant))
        return sided(np.array(margins), self.switches), np.array(rates)


@dataclass(frozen=True, eq=False)
class OnOwnPlant:
    """A law called from Python on a plant of the user's own; the plant's switches come behind the law's."""

    law: Called
    flow: Flow
    users = True

    def margins(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, low, high = self.law.margins(run)
        x = np.array([run.log.array(n)[rows] for n in names(run.loop.plant.states)])
        commands = np.array([run.log.array(n)[rows] for n in names(run.loop.controller.commands)])
        margins, _ = self.flow.at(run.loop.plant, run.log.time[rows], x, _inputs(run, commands))
        return rows, np.vstack([low, margins]), np.vstack([high, margins])

    def ask(self, run: Run, row: int, points: np.ndarray) -> Beside:
        return self._with_flow(run, row, points, self.law.ask(run, row, points))

    def whole_first(self, switches: Iterable[int]) -> list[int]:
        return self.law.whole_first(switches)

    def held(self, run: Run, row: int, points: np.ndarray) -> Beside:
        return self._with_flow(run, row, points, self.law.held(run, row, points))

    def is_condition(self, k: int) -> bool:
        return k < len(self.law.notes.texts) and self.law.is_condition(k)

    def parts(self, k: int) -> list[int]:
        return self.law.parts(k) if self.is_condition(k) else []

    def _with_flow(self, run: Run, row: int, points: np.ndarray, there: Beside) -> Beside:
        x = points[: len(run.loop.plant.states)]
        t = np.full(points.shape[1], run.log.time[row])
        margins, rates = self.flow.at(run.loop.plant, t, x, _inputs(run, there.commands))
        low = np.vstack([there.low, margins])
        high = np.vstack([there.high, margins])
        return there._replace(low=low, high=high, flow=rates)

    def remembers(self, run: Run) -> bool:
        return self.law.remembers(run)

    def covered(self, run: Run) -> np.ndarray:
        return self.law.covered(run)

    def at(self, run: Run, row: int) -> tuple[np.ndarray, np.ndarray]:
        return self.law.at(run, row)

    def shown(self, run: Run, row: int, points: np.ndarray) -> Mapping[str, np.ndarray]:
        return self.law.shown(run, row, points)

    def words(self, k: int, run: Run) -> str:
        own_ones = len(self.law.notes.texts)
        if k < own_ones:
            return self.law.words(k, run)
        return _words(self.flow, k - own_ones, run)


def _words(flow: Flow, k: int, run: Run) -> str:
    """What a switch of the plant compares, with its signals by name."""
    kind, a, b = flow.switches[k]
    t, x, u, c = flow.symbols
    plant = run.loop.plant
    named = [
        ca.vertcat(*(ca.SX.sym(s.name) for s in part)) for part in (plant.states, plant.inputs)
    ]
    values = [*named, ca.DM(flow.traced.constants(plant))]
    return shown(kind, *ca.substitute([a, b], [x, u, c], values))


def _inputs(run: Run, commands: np.ndarray) -> np.ndarray:
    """All inputs of the plant (m, N): what is commanded, and of the others their default."""
    plant = run.loop.plant
    known = dict(zip(names(run.loop.controller.commands), commands))
    rest = plant.defaults()
    n = commands.shape[1]
    return np.array([known.get(s.name, np.full(n, rest.get(s.name, 0.0))) for s in plant.inputs])


_flows: dict[Traced, Flow] = {}


def on_own_plant(run: Run, law: Called) -> Called | OnOwnPlant:
    """The law with the switches of its plant, where this is a user's own and an expression; else the law."""
    plant = run.loop.plant
    if own(type(plant)) or plant.on_floats:
        return law
    traced = trace(plant, names(plant.inputs))
    if traced not in _flows:
        _flows[traced] = Flow(traced)
    found = _flows[traced]
    return OnOwnPlant(law, found) if found.switches else law
