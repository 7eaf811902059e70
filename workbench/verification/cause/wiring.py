"""Wires crossed, flipped or in another unit between machine and law, found by undoing them.

The law inside its wrappers is asked what it would command at logged samples; so is the controller as it is. Where the two differ by
more than the wrappers known here explain, each edit of the wires is tried, and the one that makes the difference vanish is named:

    residual = |u_controller(y) − u_law(edited y), edited| / |u|          over the samples
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.numerics.expressions import column, quick, symbols

KNOWN = (Delayed, Filtered, Noisy, Quantised, Sampled, Saturated)
SAMPLES = 24  # logged samples at which a law is asked
VANISHES = 0.02  # residual below which an edit explains what was seen
FACTORS = 41  # tried between a hundredth and a hundred, before the best is refined
CLOSE = np.linspace(0.8, 1.25, 46)  # likewise: a sensor that is nearly right
FINE = {"xatol": 1e-7}
UNITS = {
    1e3: "a thousand",
    1e-3: "a thousandth",
    180 / math.pi: "degrees for rad",
    math.pi / 180: "rad for degrees",
    1e5: "Pa for bar",
    1e-5: "bar for Pa",
    60.0: "sixty",
    1 / 60.0: "a sixtieth",
}


class Edit(NamedTuple):
    """A fault of the wires in words, and what it does to measurements and to commands."""

    words: str
    measured: Callable
    commanded: Callable


def same(values):
    """Wires as they should be."""
    return list(values)


def crossed(i: int, j: int) -> Callable:
    """Wires i and j exchanged."""

    def exchange(values):
        out = list(values)
        out[i], out[j] = out[j], out[i]
        return out

    return exchange


def scaled(where: list[int], factor: float) -> Callable:
    """Some wires times a factor."""
    return lambda values: [factor * v if k in where else v for k, v in enumerate(values)]


def edits(law) -> Iterator[Edit]:
    """Every single fault of the wires of a law, the likelier first."""
    commands = names(law.commands)
    measured = names(law.measured)
    units = [s.unit for s in law.measured]
    for k, name in enumerate(commands):
        yield Edit(f"sign of the command {name}", same, scaled([k], -1.0))
    everything = list(range(len(commands)))
    yield Edit("sign of all commands", same, scaled(everything, -1.0))
    for i, j in combinations(everything, 2):
        yield Edit(f"commands {commands[i]} and {commands[j]} swapped", same, crossed(i, j))
    for i in everything:
        for j in everything:
            if i != j:
                words = f"{commands[j]} gets the command {commands[i]}"
                yield Edit(words, same, repeated(i, j))
    for k, name in enumerate(measured):
        yield Edit(f"sign of the measurement {name}", scaled([k], -1.0), same)
    for i, j in combinations(range(len(measured)), 2):
        if units[i] == units[j]:
            yield Edit(f"measurements {measured[i]} and {measured[j]} swapped", crossed(i, j), same)
    for unit in dict.fromkeys(units):
        where = [k for k, own in enumerate(units) if own == unit]
        listed = ", ".join(measured[k] for k in where[:3])
        for group, said in (
            (where, f"{listed}{' …' if len(where) > 3 else ''}"),
            *(([k], measured[k]) for k in where),
        ):
            yield from (
                Edit(
                    f"unit of the measurement {said}: times {factor:.4g} ({words})",
                    scaled(group, factor),
                    same,
                )
                for factor, words in UNITS.items()
            )
    yield from (
        Edit(
            f"unit of the commands: times {factor:.4g} ({words})", same, scaled(everything, factor)
        )
        for factor, words in UNITS.items()
    )


def repeated(i: int, j: int) -> Callable:
    """Wire j carries what belongs on wire i."""

    def repeat(values):
        out = list(values)
        out[j] = out[i]
        return out

    return repeat


def fitted(law, residual: Callable) -> Edit:
    """The wire times the number that explains most: a measurement, all of one unit, or a command."""
    from scipy.optimize import minimize_scalar

    measured = names(law.measured)
    commands = names(law.commands)
    units = [s.unit for s in law.measured]
    groups = [([k], f"the measurement {name}", True) for k, name in enumerate(measured)]
    groups += [([k], f"the command {name}", False) for k, name in enumerate(commands)]
    for unit in dict.fromkeys(units):
        where = [k for k, own in enumerate(units) if own == unit]
        listed = ", ".join(measured[k] for k in where[:3])
        groups.append((where, f"the measurements {listed}{' …' if len(where) > 3 else ''}", True))

    def edit(group, factor: float) -> Edit:
        where, said, sensor = group
        wires = scaled(where, factor)
        words = f"{said} times {factor:.4g}"
        return Edit(words, wires, same) if sensor else Edit(words, same, wires)

    def size(group, logarithm: float) -> float:
        return residual(edit(group, 10**logarithm))

    grid = np.unique(np.concatenate([np.linspace(-2.0, 2.0, FACTORS), np.log10(CLOSE)]))
    best = []
    for group in groups:
        k = int(np.argmin([size(group, v) for v in grid]))
        near = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
        found = minimize_scalar(partial(size, group), bounds=near, method="bounded", options=FINE)
        best.append((float(found.fun), edit(group, 10 ** float(found.x))))
    return min(best, key=lambda entry: entry[0])[1]


def between(controller) -> list:
    """Wrappers this file does not know."""
    found = []
    while not isinstance(controller, Plain) and controller.inner is not None:
        if not isinstance(controller, KNOWN) and not controller.supplies:
            found.append(controller)
        controller = controller.inner
    return found


def instant(controller):
    """The controller without hold and delay."""
    while controller.period is not None and controller.inner is not None:
        controller = controller.inner
    return controller


def misplaced(run) -> str:
    """What the law says of positions that are given to it in another order than its actuators, in words; "" for nothing."""
    return innermost(run.loop.controller).misplaced


def rewired(run) -> str:
    """What a wrapper nobody knows has done to the wires, in words; empty where nothing, or nothing that a single edit explains."""
    law = innermost(run.loop.controller)
    whole = instant(run.loop.controller)
    if isinstance(law, Plain) or not between(run.loop.controller):
        return ""
    seen = list(samples(run))
    ask = traced(law)
    ask_whole = traced(whole)
    applied = np.array([ask_whole(t, z, y, r) for t, z, y, r in seen], float)

    def residual(edit: Edit) -> float:
        own = [edit.commanded(ask(t, z, edit.measured(y), r)) for t, z, y, r in seen]
        difference = np.abs(applied - np.array(own, float))
        size = np.maximum(np.abs(applied).max(axis=0), 1e-300)
        return float(np.nanmax(difference / size)) if np.isfinite(difference).any() else math.inf

    with np.errstate(all="ignore"):
        untouched = residual(Edit("", same, same))
        if not untouched > VANISHES:
            return ""
        best = min(edits(law), key=residual)
        if residual(best) >= VANISHES:
            best = fitted(law, residual)
        left = residual(best)
    return (
        f"{best.words}: with that undone the residual falls from {untouched:.2g} to {left:.1g}"
        if left < VANISHES
        else ""
    )


def traced(law) -> Callable:
    """u(t, z, y, r) of a law as a graph, which is traced once and costs little to ask; longer z and r are cut to its own."""
    sizes = [len(law.states), len(law.measured), len(law.references)]
    t = quick(ca.SX.sym("t"))
    (z, zs), (y, ys), (r, rs) = (symbols(name, size) for name, size in zip("zyr", sizes))
    f = ca.Function("law", [t, z, y, r], [column(law.command(t, zs, ys, rs))])
    return lambda t, z, y, r: (
        np.array(f(t, z[: sizes[0]], y[: sizes[1]], r[: sizes[2]])).ravel().tolist()
    )


def samples(run) -> Iterator:
    """(t, z, y, r) at logged samples, spread over the run before it leaves the machine."""
    loop = run.loop
    log = run.log
    end = min(log.time[-1], run.left[0])
    rows = np.flatnonzero(log.time <= end)
    rows = (
        rows[np.unique(np.linspace(1, len(rows) - 1, SAMPLES).astype(int))]
        if len(rows) > 1
        else rows
    )
    n = len(loop.plant.states)
    m = sum(s.kind == "disturbance" for s in loop.inputs)
    x = np.column_stack([log.array(s.name) for s in loop.states])[rows]
    live = dict(zip(run.demand.live, run.demand.at(log.time[rows]).T))
    defaults = loop.defaults()
    for k, row in enumerate(rows):
        w = [
            float(live[s.name][k]) if s.name in live else defaults.get(s.name, 0.0)
            for s in loop.inputs
        ]
        if not np.isfinite(x[k]).all():
            continue
        y_all = loop.plant.out(float(log.time[row]), list(x[k, :n]))
        y = [
            float(y_all[names(loop.plant.outputs).index(s.name)]) for s in loop.controller.measured
        ]
        yield float(log.time[row]), list(x[k, n:]), y, w[m:]
