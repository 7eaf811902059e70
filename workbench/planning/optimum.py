"""The plan of least energy, and how far it may be from the optimum; InputError, with the reason, where there is no plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.planning.dynamic import Plan, Search
from workbench.planning.feasibility import explain
from workbench.planning.least_duration import Shortest, shortest
from workbench.planning.recursion import attempts, refined
from workbench.planning.task import Task

COVERS = 2.0  # times what grids and refinements differ by: see `optimise`
FLOOR = 2e-4  # share of the energy, the least that an estimate says where costs jump
SEARCH = Search()


def optimise(
    task: Task, search: Search = SEARCH, tell: Callable = lambda fraction, what="": None
) -> Plan:
    """The plan of least energy. Raises InputError saying where, which limit and by how much when there is none.

    Its `estimate` of the distance to the optimum is twice the larger of two numbers: the energy gained since the grid was three
    times as coarse (the error is proportional to the spacing, so half of that may be left), and the difference between the plans
    from two first grids that are refined differently. The factor two, and the least value FLOOR where costs jump, allow for an
    error common to both; benchmarks/planning_estimate.py compares the estimate with much finer searches.
    """
    found = attempts(task, search, tell)
    known = None
    if not found and task.order != 1:
        known = shortest(task)
        found = _from_shortest(task, search, known)
    if not found:
        raise explain(task, known)
    best = min(found, key=lambda plan: plan.energy)
    last = found[-1]
    estimate = _estimate(task, found, best)
    return replace(best, estimate=estimate, value=last.value, nodes=last.nodes)


def _from_shortest(task: Task, search: Search, known: Shortest | None) -> list[Plan]:
    """The plan refined from the motion of least duration, where that is short enough: grids accelerate by whole nodes, the
    program that finds this motion knows no nodes."""
    if known is None or known.seconds > task.path.duration:
        return []
    return [refined(task, search, known.q_3, task.crane.cylinders[2].stroke / search.nodes)]


def _estimate(task: Task, found: list[Plan], best: Plan) -> float | None:
    """How far the best plan's energy may be from the optimum, J; None where only one first grid led to a plan."""
    if len(found) == 1:
        return None
    differ = abs(min(plan.energy for plan in found[:-1]) - found[-1].energy)
    # Finer grids were tried down to `finest`.
    coarser = [energy for spacing, energy in best.history if spacing >= 3 * best.history[-1][0]]
    before = coarser[-1] if coarser else best.history[0][1]
    won = before - best.energy
    least = FLOOR * best.energy if task.supply.needs_forces else 0.0
    return max(COVERS * max(differ, won), least)
