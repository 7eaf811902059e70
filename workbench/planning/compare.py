"""All planners on one task, in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from time import process_time
from typing import NamedTuple, final

from workbench.contract.errors import InputError
from workbench.planning.baselines import pointwise, pseudo_inverse, unhurried
from workbench.planning.bound import lower_bound, relaxes
from workbench.planning.drive import driven_energy
from workbench.planning.dynamic import Plan, Search, energy
from workbench.planning.neighbours import Neighbours, neighbours
from workbench.planning.optimum import SEARCH, optimise
from workbench.planning.supplies import PlannedConstantPressure, Speed
from workbench.planning.task import BIG, Task
from workbench.planning.transcription import transcribe

LEAST = 521  # cells of the bound beside a coarse grid


class Row(NamedTuple):
    """One planner: energy under the task's supply (J), that of the smooth motion that can be driven, steps that creep, processor
    seconds; None where it gave no motion, and `note` says why."""

    name: str
    plan: Plan | None
    energy: float | None
    driven: float | None
    creeping: int | None
    seconds: float
    note: str = ""


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """rows: dynamic programming first; bound: J, no motion needs less (None: not asked); around: None: not asked."""

    task: Task
    rows: tuple[Row, ...]
    bound: float | None
    around: Neighbours | None

    @property
    def best(self) -> Plan:
        """The optimal plan."""
        return self.rows[0].plan

    def excess(self, row: Row) -> float | None:
        """Energy over that of dynamic programming, less one; None where there is none, or the optimum takes nothing."""
        return (
            None
            if row.energy is None or not self.rows[0].energy
            else row.energy / self.rows[0].energy - 1
        )


def baselines(task: Task, search: Search = SEARCH) -> dict[str, Callable[[], Plan]]:
    """Name → what makes the plan, of every baseline; one that says nothing new under the task's supply raises InputError."""
    supply = task.supply
    flat = isinstance(task.supply, PlannedConstantPressure) and task.supply.map is None
    oil = supply if flat else PlannedConstantPressure(1.0, holds=False)
    own = f"pointwise, {supply.title}"
    made = {
        "pseudo-inverse, weighted": lambda: pseudo_inverse(task),
        "pseudo-inverse": lambda: pseudo_inverse(task, False),
        "pointwise, pump flow": lambda: pointwise(task, oil),
        own: lambda: pointwise(task, supply),
        "optimal pump flow": lambda: optimise(replace(task, supply=oil, p_max=None), search),
    }
    if flat:
        made[own] = lambda: _same("pump flow, pointwise")
        made["optimal pump flow"] = lambda: _same("the optimum")
    elif isinstance(supply, Speed):
        made[own] = lambda: _same("the pseudo-inverse")
    return made


def _same(as_what: str) -> Plan:
    raise InputError(
        f"does not apply: under this supply it is the same as {as_what}", mend="leave it out"
    )


def compare(
    task: Task,
    search: Search = SEARCH,
    starts: int = 8,
    tell: Callable = lambda fraction, what="": None,
    only: Collection[str] | None = None,
    look_around: bool = True,
) -> Comparison:
    """Dynamic programming, its neighbours, a lower bound, and the baselines; direct transcription from `starts` starts (0: not).

    only          the baselines wanted, by name (None: all)
    look_around   whether neighbours are tried, and cells for a lower bound

    Raises what `optimise` raises; a baseline that cannot finish, or does not apply, is listed as such.
    """
    told = lambda low, high: lambda fraction, what="": tell(low + (high - low) * fraction, what)
    rows = [
        _row(
            task, "dynamic programming", lambda: optimise(task, search, told(0.0, 0.4)), needed=True
        )
    ]
    for i, (name, make) in enumerate(baselines(task, search).items()):
        if only is None or name in only:
            tell(0.4 + 0.07 * i, name)
            rows.append(_row(task, name, make))
    if starts:
        tell(0.75, "direct transcription")
        rows.append(
            _row(
                task, f"direct transcription, best of {starts}", lambda: transcribe(task, starts)[0]
            )
        )
    tell(0.95, "neighbours")
    around = neighbours(rows[0].plan) if look_around else None
    bound = (
        lower_bound(task, rows[0].energy, max(5 * search.nodes, LEAST)).energy
        if look_around or relaxes(task.supply)
        else None
    )
    return Comparison(task, tuple(rows), bound, around)


def _row(task: Task, name: str, make: Callable[[], Plan], needed: bool = False) -> Row:
    begin = process_time()
    try:
        plan = make()
    except InputError as why:
        if needed:
            raise
        return Row(name, None, None, None, None, process_time() - begin, why.message)
    seconds = process_time() - begin
    free = unhurried(task, 1e-6)  # a solver ends on limits to its own tolerance
    e = plan.energy if name == "dynamic programming" else energy(free, plan.q_3)
    if e >= BIG:
        return Row(name, None, None, None, None, seconds, "passes a limit of the pump")
    own = plan if name == "dynamic programming" else Plan(free, plan.q_3, e, name)
    return Row(
        name,
        own,
        e,
        driven_energy(own),
        own.creeping() if task.supply.needs_forces else None,
        seconds,
    )
