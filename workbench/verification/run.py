"""A simulated run with what the claims read off it: ledger, tool error, energy."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from workbench.contract.capabilities import HasValveAccount
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import graph_key
from workbench.contract.system import System, names
from workbench.contract.wrappers import undelayed
from workbench.numerics.overflow import may_overflow
from workbench.run.dead_ends import below_vacuum, beyond_stroke, passed
from workbench.run.demand import Demand
from workbench.run.energy import EnergyAccount, energy_account
from workbench.run.grid import as_asked, at_samples
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.run.simulate import simulate
from workbench.run.start import start_state
from workbench.run.targets import parse, target_name
from workbench.run.workers import Workers
from workbench.verification.ledger.balance import Balance, has_ledger, ledger_function
from workbench.verification.ledger.ends import alternating, chosen, ends
from workbench.verification.too_long import check_length

MOST_INSTANTS = 1_000_000  # at which the whole ledger of a run is worked out
PAYING = 250_000  # samples of a batch from which on a second kernel, over lanes, is worth its compilation


@dataclass(frozen=True, eq=False)
class Run:
    """A loop, the scenario that it ran, and the whole record of the run, whatever `log_period` of the scenario leaves to a reader.

    log       a row a sample (a step, of a continuous loop)
    steps     a row a step of the integrator, where a sample has several; None where they are the same
    demanded  what the scenario demands of the loop, where that is known already
    kept      longer runs of the same loop, by duration, which claims share
    """

    loop: ClosedLoop
    scenario: Scenario
    log: Log
    steps: Log | None = None
    demanded: Demand | None = field(default=None, repr=False)
    kept: dict = field(default_factory=dict, repr=False)

    @cached_property
    def fine(self) -> Run:
        """The run as its integrator saw it: what is between samples is in its log, too."""
        if self.steps is None:
            return self
        return Run(self.loop, self.scenario, self.steps, demanded=self.demanded)

    @cached_property
    def told(self) -> Log:
        """The log that the scenario asks for."""
        return as_asked(self.log, self.loop, self.scenario)

    @cached_property
    def demand(self) -> Demand:
        return self.demanded or Demand(
            self.loop, self.scenario, start_state(self.loop, self.scenario)
        )

    @cached_property
    def balance(self) -> Balance | None:
        """The dissipation ledger along the run; None for a law without one."""
        return self.ledger(self.loop, *self.instants) if has_ledger(self.loop) else None

    @cached_property
    def ledger(self):
        return ledger_function(self.loop, self.demand.live)

    @cached_property
    def instants(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(t, x, w) two instants a sample, see `both_ends`; of a run with more than MOST_INSTANTS evenly spaced ones only."""
        several = -(-sum(len(t) for t, _, _ in self.ends) // MOST_INSTANTS)
        t, x, w = (alternating([part[::several] for part in parts]) for parts in zip(*self.ends))
        return t, x, w

    @cached_property
    def ends(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """[(t, x, w) of the instants after a jump, (t, x, w) of those before the next one], as `instants` has them alternating."""
        return ends(self.loop, self.log, self.demand)

    @cached_property
    def storage(self) -> tuple[np.ndarray, np.ndarray]:
        """(t, v) along the run.

        The accompanying function v is one of motion, forces and references: commands on their way
        to the valves are not in it, so the loop without its dead time has the same one.
        """
        bare = undelayed(self.loop)
        whole = names(self.loop.states)
        columns = [whole.index(name) for name in names(bare.states)]
        function = ledger_function(bare, self.demand.live)
        v = [function.storage(bare, t, chosen(x, columns), w) for t, x, w in self.ends]
        return alternating([t for t, _, _ in self.ends]), alternating(v)

    def at(self, k: int) -> Balance:
        """The whole ledger at one of the instants."""
        t, x, w = self.ends[k % len(self.ends)]
        k //= len(self.ends)
        return self.ledger(
            self.loop,
            t[k : k + 1],
            np.ascontiguousarray(x[k : k + 1]),
            np.ascontiguousarray(w[k : k + 1]),
        )

    @cached_property
    def tool_error(self) -> np.ndarray | None:
        """Distance of the tool (or of the outputs that are to follow a reference) from where it should be, (N,)."""
        if self.demand.reference is not None and (
            self.demand.reference.space == "output" or not self.loop.plant.has_tool
        ):
            pairs = [(n, target_name(n, 0)) for n, order in self.demand.wanted if order == 0]
            if not pairs:
                return None
            with may_overflow():
                return np.linalg.norm(
                    [self.log.array(d) - self.log.array(n) for n, d in pairs], axis=0
                )
        wanted = self.demand.desired_tool(self.log.time)
        if wanted is None or "tcp_x" not in self.log:
            return None
        at = np.column_stack([self.log.array(f"tcp_{a}") for a in "xyz"])
        return np.linalg.norm(at - wanted, axis=1)

    @property
    def error_unit(self) -> str:
        """Unit of `tool_error`."""
        return error_unit(self.loop)

    @cached_property
    def left(self) -> tuple[float, str]:
        """(time, words) of the first piston that leaves its stroke, see `beyond_stroke`."""
        if self.steps is not None:
            return self.fine.left
        return beyond_stroke(self.loop.plant, self.log)

    @cached_property
    def end(self) -> str:
        """How the run ended where that is no good end: out of a stroke, or before its time, in words; "" else."""
        said = () if self.log.status.completed else (self.log.status.message,)
        return "; ".join(filter(None, (self.left[1], *said)))

    @cached_property
    def hollow(self) -> tuple[float, str]:
        """(time, words) of the first chamber whose pressure falls below vacuum, see `below_vacuum`."""
        if self.steps is not None:
            return self.fine.hollow
        return below_vacuum(self.loop.plant, self.log)

    @cached_property
    def crossed(self) -> tuple[float, str]:
        """(time, words) of the first change point of a linkage, where its motion is not determined; (inf, "") if none."""
        return passed(self.loop.plant, self.log if self.steps is None else self.fine.log)

    @cached_property
    def energy(self) -> EnergyAccount | None:
        """Where the energy went; None for a plant that states no energy."""
        flows = {n: self.log.array(f"E_{n}") for n in self.loop.power_names}
        return energy_account(self.log.array("E_stored"), flows) if flows else None

    @cached_property
    def valves(self):
        """What each valve takes and suction checks draw, as a metered plant accounts for it; None for any other."""
        valves = self.loop.plant.valves
        return valves.valve_account(self.log) if isinstance(valves, HasValveAccount) else None

    def settled(self, after: float) -> slice:
        """Logged samples from `after` seconds on (the last tenth of a run shorter than that)."""
        first = int(np.searchsorted(self.log.time, after))
        return slice(min(first, int(0.9 * len(self.log.time))), None)


def no_machine(run: Run) -> str:
    """Why the equations describe no machine somewhere in the run: a stroke, vacuum, a change point, in words; "" else."""
    return next(filter(None, (run.left[1], run.hollow[1], run.crossed[1])), "")


def error_unit(loop: System) -> str:
    """Unit of a loop's error: m for a tool, else that of what follows a reference first."""
    if loop.plant.has_tool:
        return "m"
    known = {s.name: s.unit for s in loop.plant.outputs}
    followed = [
        parse(s.name)[0] for s in loop.inputs if s.kind == "reference" and "@" not in s.name
    ]
    return next((known[name] for name in followed if name in known), "m")


def run(loop: System, scenario: Scenario, **options) -> Run:
    """Simulate, every step kept. Raises TooLong, an InputError, before a run that is too long to be repeated."""
    check_length(loop, scenario)
    demand = Demand(loop, scenario, start_state(loop, scenario))
    whole = simulate(loop, scenario, rows="steps", demand=demand, **options)
    return of_log(loop, scenario, whole, demand)


def of_log(loop: System, scenario: Scenario, whole: Log, demand: Demand) -> Run:
    """The Run of a log that has a row a step."""
    log = at_samples(whole)
    return Run(loop, scenario, log, None if log is whole else whole, demand)


_prepared: set[str] = set()
_cores = threading.Lock()  # held by the batch of runs that is under way


def prepare(loop: System, scenario: Scenario, measure: Callable[[Run], object]) -> None:
    """Trace and compile what a run of `loop` and its measurement need, on a short run, once for all loops of one graph."""
    key = graph_key(loop)
    if key not in _prepared and not loop.hosted:
        step = float(loop.period or scenario.max_step)
        measure(run(loop, replace(scenario, duration=50 * step)))
        _prepared.add(key)


def run_many(
    jobs: Sequence[tuple[System, Scenario]],
    measure: Callable[[Run], object],
    tick: Callable[[], None] | None = None,
    watched: bool = True,
) -> list:
    """`measure(run)` for every (loop, scenario), side by side where that pays (`simulate_many`), else on two threads.

    watched: as `simulate` takes it: False where `measure` reads nothing that a law only logs of itself.
    One batch runs at a time; what the next one needs is traced and compiled meanwhile. `measure` may not call this.
    """

    def one(k: int, made: Run) -> object:
        result = measure(made)
        if tick:
            tick()
        return result

    if len(jobs) < 2 or jobs[0][0].hosted:
        return [one(k, run(*job, watched=watched)) for k, job in enumerate(jobs)]
    for job in jobs:
        prepare(*job, measure)
    with _cores:
        if sum(map(samples, jobs)) >= PAYING:
            with suppress(InputError):  # told below, in the words of the run alone
                return _side_by_side(jobs, one)
        with Workers(2) as pool:
            return list(pool.map(lambda k: one(k, run(*jobs[k])), range(len(jobs))))


def samples(job: tuple[System, Scenario]) -> float:
    """How many rows a run makes, about."""
    loop, scenario = job
    return scenario.length() / min(float(loop.period or math.inf), scenario.max_step)


def _side_by_side(jobs: Sequence[tuple[System, Scenario]], one: Callable[[int, Run], object]):
    """`one(k, run)` of every job, those of a kind in the lanes of one compiled loop."""
    from workbench.run.many import each_run

    for job in jobs:
        check_length(*job)

    def keep(k: int, whole: Log, demand: Demand) -> object:
        return one(k, of_log(*jobs[k], whole, demand))

    return each_run(jobs, keep, rows="steps")
