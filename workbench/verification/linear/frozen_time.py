"""Where a loop is linearised along a run, and the modes there. See `modes`, and `step_matrix` for the matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.contract.units import format_quantity as say
from workbench.numerics.calculus import trace
from workbench.run.demand import Demand
from workbench.run.start import start_state
from workbench.verification.ledger.ends import coarse
from workbench.verification.linear.called_law import Asked, asked_of
from workbench.verification.linear.local import _sizes, chambers, standing
from workbench.verification.linear.local_claim import STILL
from workbench.verification.linear.loop import TURNS, Point, closed
from workbench.verification.linear.modes import Place, modes_of
from workbench.verification.linear.smooth import smooth
from workbench.verification.linear.step_matrix import Matrices
from workbench.verification.observed.at_rest import held_there
from workbench.verification.run import Run
from workbench.verification.run import run as simulated

SPEED = 0.05  # m/s or rad/s: faster than dry friction is smoothed, slower than machines move
ON_THE_WAY = (0.09, 0.27, 0.47, 0.68, 0.88)  # where a run is looked at, shares of its length


def common_modes(loop: ClosedLoop) -> np.ndarray:
    """Directions (scaled, orthonormal rows) in which pressures change and no force does."""
    state = names(loop.states)
    rows = []
    for first, (second, cylinder) in chambers(loop.plant, state).items():
        row = np.zeros(len(state))
        row[[state.index(first), state.index(second)]] = cylinder.A_b, cylinder.A_a
        rows.append(row / np.linalg.norm(row))
    return np.array(rows).reshape(-1, len(state))


def refuse_timed(matrices: Matrices) -> None:
    """Raise InputError where the flow's slopes depend on time, as of a pump seen piston by piston."""
    timed = matrices.traced.flow_is_timed
    if timed and matrices.jac["flow"].jac_sparsity(0, 0).nnz():
        raise InputError(f"the plant {TURNS}", mend="ask this of the averaged plant")


class TracedPoints:
    """A loop whose law is an expression."""

    def __init__(self, run: Run):
        self.run, self.log = run, run.log
        self.loop = loop = run.loop if not run.loop.no_derivative else smooth(run.loop)
        self.state = names(loop.states)
        self.S = _sizes(loop.states)
        self.rubs = frozenset(s.name for s in loop.states if s.kind == "friction")
        self.x = np.column_stack([self.log.array(n) for n in self.state])
        self.length = max(float(self.log.time[-1]), 1e-9)
        self.scenario = replace(run.scenario, offset={})

    def prepare(self) -> None:
        """Trace the loop. Raises InputError, with the reason, for a plant without a derivative."""
        if self.loop.no_derivative:
            raise InputError(self.loop.no_derivative, mend="verify the loop without it")
        scenario = self.run.scenario
        self.demand = Demand(self.loop, scenario, start_state(self.loop, scenario))
        self.matrices = Matrices(self.loop, trace(self.loop, self.demand.live))
        self.commons = common_modes(self.loop)
        slope = self.matrices.slope("flow", 0.0, self.x[0], self.w(0))
        # Speeds: the flow of one state is another state itself.
        rows = [row for row in slope if (row != 0).sum() == 1 and row.max() == 1.0]
        self.speeds = [int(np.flatnonzero(row)[0]) for row in rows]

    def w(self, k: int) -> np.ndarray:
        """Live inputs at row k: as logged; previews and noise as the scenario says."""
        if any(n not in self.log for n in self.demand.live):
            return self.demand.at(self.log.time[[k]])[0]
        return np.array([self.log.array(n)[k] for n in self.demand.live])

    def looks(self) -> Iterator[Callable[[], list[Place]]]:
        """What to look at: functions that give places, or raise InputError."""
        self.prepare()
        last = len(self.log.time) - 1
        yield lambda: self.still(0, "at the start")
        if last > 0:
            yield lambda: self.still(last, "at the end")
        speeds = np.abs(self.x[:, self.speeds])
        if speeds.max(axis=0).min(initial=np.inf) < SPEED / 5:
            yield lambda: self.moving(last)
        rows = [int(part * last) for part in ON_THE_WAY]
        if self.speeds:
            rows.append(int(np.argmax(speeds.sum(axis=1))))
        for k in dict.fromkeys((*rows, last)):
            yield lambda k=k: self.frozen(k)

    def still(self, k: int, where: str) -> list[Place]:
        """At rest at the state of row k; nothing where that is no equilibrium."""
        refuse_timed(self.matrices)
        found = standing(self.loop, self.scenario, self.x[k].copy(), alike=True)
        found = [loc for loc in found if np.isfinite(loc.A).all()]
        if not min((loc.residual for loc in found), default=np.inf) <= STILL:
            return []
        return [self.place(k, where + _sides(loc), True, loc.A, loc.states) for loc in found]

    def moving(self, k: int) -> list[Place]:
        """At row k with every speed at `SPEED`, as is wanted of it.

        Valves are where the law wants them, bristles bent as in steady sliding.
        """
        refuse_timed(self.matrices)
        loop = self.matrices
        x = self.x[k].copy()
        w = self.w(k)
        x[self.speeds] = SPEED
        bristles = [i for i, signal in enumerate(self.loop.states) if signal.bristle]
        for i in bristles:
            own = loop.slope("flow", 0.0, x, w)[i, i]
            if own:  # ż is linear in z at a given speed
                x[i] -= float(loop.traced.flow(0.0, x, w, loop.c)[i]) / own
        outputs = dict(zip(names(self.loop.plant.outputs), loop.value("out", 0.0, x, w)))
        for i, name in enumerate(self.demand.live):
            if name.endswith("_d") and name[:-2] in outputs:
                w[i] = outputs[name[:-2]]
        if self.loop.period is not None:
            x = loop.value("jump", 0.0, x, w)
        given = dict(zip(names(self.loop.monitors), loop.value("log", 0.0, x, w)))
        for i, name in enumerate(self.state):
            if name.startswith("u_s_") and f"u_{name[4:]}" in given:
                x[i] = given[f"u_{name[4:]}"]
        where = f"in motion at t = {say(float(self.log.time[k]), 's', 4)}, every speed {SPEED:g}"
        M = loop.over_sample(0.0, x, x, w, w)
        return [self.place(k, where, False, M, self.state, self.commons)]

    def frozen(self, k: int) -> list[Place]:
        """At row k of the log; what grows counts where it does for as long as growing takes."""
        refuse_timed(self.matrices)
        found = self.visited(k)
        if found.fastest is not None and not self.lasts(k, found.fastest.s.real):
            kept = tuple(m for m in found.modes if not m.grows)
            found = replace(found, modes=kept)
        return [found]

    def lasts(self, k: int, growth: float) -> bool:
        """Whether a growth at row k is there on the average of 1/growth before and after it."""
        time = self.log.time
        near = time[k] + np.array([-1.0, -0.5, 0.5, 1.0]) / growth
        rows = np.searchsorted(time, near).clip(0, len(time) - 1)
        others = [max(m.s.real for m in self.visited(int(j)).modes) for j in rows]
        return float(np.mean(others)) >= growth / 2

    def come_to_rest(self) -> list[Place]:
        """At rest where the reference ends, which another run holds from its start on; nothing where that does not rest."""
        scenario = held_there(self.run)
        if scenario is None or not self.log.status.completed:
            return []
        held = simulated(self.run.loop, scenario)
        return type(self)(held).resting("held where the path ends")

    def resting(self, where: str) -> list[Place]:
        """At rest at the end of the run, its reference where it is or where the plant is; nothing where nothing rests."""
        self.prepare()
        last = len(self.log.time) - 1
        found = self.still(last, where)
        rates = self.matrices.value("flow", float(self.log.time[-1]), self.x[-1], self.w(last))
        if found or not np.abs(rates[: len(self.S)] / self.S).max() <= STILL:
            return found
        return [self.visited(last, where)]

    def visited(self, k: int, rests: str = "") -> Place:
        """Modes at row k of the log; `rests`: words for where it is, if it rests there."""
        before = k - 1 if k and not coarse(self.loop, self.log) else k
        t = self.log.time[[before, k]]
        w = [self.w(before), self.w(k)]
        x = self.x[[before, k]].copy()
        if before != k:  # just before the sample: the plant there, the memory of the sample before
            m = len(self.loop.plant.states)
            memory = self.x[before]
            if self.loop.lag:
                memory = self.matrices.value("release", t[0], x[0], w[0])
            x[1, m:] = memory[m:]
        M = self.matrices.over_sample(float(t[1]), *x, *w)
        when = f"t = {say(float(t[1]), 's', 4)}"
        if not np.isfinite(M).all():
            raise InputError(f"at {when}: no derivative there", mend="look at another instant")
        where = rests or f"on the way, {when}"
        return self.place(k, where, bool(rests), M, self.state, self.commons)

    def place(self, k, where, rests, M, states, commons=None) -> Place:
        T = None if self.loop.period is None else float(self.loop.period)
        t = float(self.log.time[k])
        found = modes_of(M, T, states, self.length, where, t, rests, commons, self.rubs)
        return Place(t, where, rests, found)


class HostedPoints(TracedPoints):
    """A loop that is called from Python: what its law says of itself, traced or near rest, else what differences say."""

    def looks(self) -> Iterator[Callable[[], list[Place]]]:
        last = len(self.log.time) - 1
        middle = f"on the way, t = {say(float(self.log.time[last // 2]), 's', 4)}"
        for k, where in ((0, "at the start"), (last // 2, middle), (last, "at the end")):
            yield lambda k=k, where=where: self.near(k, where)

    def near(self, k: int, where: str, again: bool = False) -> list[Place]:
        """The loop around the plant at row k. again: as `Asked.near` takes it."""
        plant = self.loop.plant
        m = len(plant.states)
        given = {**plant.defaults()}
        for name in names(self.loop.controller.commands):
            given[name] = float(self.log.array(name)[k])
        u = [float(given.get(s.name, 0.0)) for s in plant.inputs]
        at = Point(list(map(float, self.x[k, :m])), u, where)
        rates = np.array(plant.rhs(float(self.log.time[k]), self.x[k, :m], u), float)
        rests = bool(np.abs(rates / _sizes(plant.states)).max() <= STILL)
        law = innermost(self.loop.controller)
        if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
            return [self.called(k, where, rests, closed(self.loop, at)[0])]
        fine, rough = (self.called(k, where, rests, M) for M in self.asked.closed(at, k, again))
        return [doubted(fine, rough)]

    def resting(self, where: str) -> list[Place]:
        """At rest at the end of the run; nothing where that is no equilibrium."""
        return [p for p in self.near(len(self.log.time) - 1, where) if p.rests]

    @property
    def asked(self) -> Asked:
        """The law, asked once more."""
        return asked_of(self.run)

    def called(self, k: int, where: str, rests: bool, M: np.ndarray) -> Place:
        """The modes of this matrix at row k."""
        own = names(self.loop.plant.states)
        states = (*own, *["the law's memory"] * (len(M) - len(own)))
        return self.place(k, where, rests, M, states)


def doubted(fine: Place, rough: Place) -> Place:
    """The modes of one place with as much doubt as they differ from those of another."""

    def apart(mode):
        return min((abs(mode.s - other.s) for other in rough.modes), default=np.inf)

    def with_doubt(mode):
        doubt = 2 * apart(mode)
        return replace(mode, bound=max(mode.bound, doubt), rounding=max(mode.rounding, doubt))

    return replace(fine, modes=tuple(map(with_doubt, fine.modes)))


def _sides(loc) -> str:
    """The side that a point's valves are open to, in words."""
    return f", valves to {'+' if loc.sides[0] > 0 else '−'}" if loc.sides else ""
