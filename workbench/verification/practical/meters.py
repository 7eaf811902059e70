"""States that only count: an odometer, an energy meter, a clock that a plant of the user's own keeps.

    ẋ_i = f(x without x_i, u, t),   and no rate of another state, no output that the law reads and no limit depends on x_i

The law does not see such a state, also where an output shows it to people, and nothing that the plant does follows from it. From
another start it shows another number for ever, which is no instability: it does not have to come back. Positions have to, whatever
depends on them (ẋ_i is another state, or they are named as one): they are places of a machine. Of several states with the same rate
the first is the place. Where the law can see it, a later one is its copy, off by what it began with: it counts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca

from workbench.contract.own_text import own
from workbench.contract.system import System, names
from workbench.numerics.expressions import column, quick, symbols
from workbench.verification.practical.starts import positions
from workbench.verification.verdict import Assumption


def meters(loop: System) -> tuple[str, ...]:
    """Names of the states of a loop's plant that only count; none of a plant of this library, or of one with constraints."""
    plant = loop.plant
    if own(type(plant)) or plant.on_floats or type(plant).project is not System.project:
        return ()
    return _found(plant, loop.wiring.reads)


def not_asked_back(loop: System) -> tuple[Assumption, ...]:
    """Assumptions of a verdict on the loop's return: states that only count do not come back."""
    return tuple(
        Assumption(f"{name} only counts: no rate, limit or law depends on it", True)
        for name in meters(loop)
    )


@lru_cache(maxsize=16)
def _found(plant: Any, reads: tuple[int, ...]) -> tuple[str, ...]:
    x, xs = symbols("x", len(plant.states))
    _, us = symbols("u", len(plant.inputs))
    t = quick(ca.SX.sym("t"))
    flow = column(plant.rhs(t, xs, us))
    shown = column(plant.out(t, xs))[list(reads)]
    read = _read(ca.vertcat(flow, shown), x)
    seen = _read(shown, x)
    watched = _watched(plant)
    return tuple(
        name
        for i, name in enumerate(names(plant.states))
        if i not in read
        and name not in watched
        and (not _is_place(flow, i) or _copies(flow, i, seen))
    )


def _read(what: ca.SX, x: ca.SX) -> set[int]:
    """Places of the states that these expressions depend on."""
    _, columns = ca.jacobian(what, x).sparsity().get_triplet()
    return set(columns)


def _is_place(flow: ca.SX, i: int) -> bool:
    """Whether a state's rate is another state."""
    return bool(flow[i].is_symbolic())


def _copies(flow: ca.SX, i: int, seen: set[int]) -> bool:
    """Whether an earlier state that the law sees has the same rate."""
    return any(k in seen and ca.is_equal(flow[i], flow[k]) for k in range(i))


def _watched(plant: Any) -> set[str]:
    """States that are places, pressures, or limited."""
    limited = {name for limit in plant.machine_limits() for name in limit.signals}
    return {*positions(plant), *plant.pressure_names, *plant.vacua, *plant.spans, *limited}
