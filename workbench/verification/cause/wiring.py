"""Wires crossed, flipped or in another unit between machine and law, found by undoing them.

The law inside its wrappers is asked what it would command at logged samples; so is the controller as it is. Where the two differ by
more than the wrappers known here explain, each edit of the wires is tried, and the one that makes the difference vanish is named:

    residual = |u_controller(y) − u_law(edited y), edited| / |u|          over the samples
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np

from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.numerics.expressions import column, quick, symbols
from workbench.verification.cause.edits import Edit, edits, same, stuck
from workbench.verification.cause.fitted import biased, fitted

KNOWN = (Delayed, Filtered, Noisy, Quantised, Sampled, Saturated)
SAMPLES = 24  # logged samples at which a law is asked
ALIKE = 1e-6  # residual below which edits explain alike: a null of a sensor and one of a valve may
VANISHES = 0.02  # residual below which an edit explains what was seen


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
        best = min((*edits(law), *stuck(law, applied, run.loop.plant.limits())), key=residual)
        others: list[Edit] = []
        if residual(best) >= VANISHES:
            numbers = [fitted(law, residual), *biased(law, residual, _sizes(seen, applied))]
            best, *others = sorted(numbers, key=residual)
        left = residual(best)
        alike = [e.words for e in others if residual(e) <= ALIKE]
    if not left < VANISHES:
        return ""
    undone = f"with that undone the residual falls from {untouched:.2g} to {left:.1g}"
    return "; or ".join([f"{best.words}: {undone}", *alike[:2]])


def _sizes(seen: list, applied: np.ndarray) -> list[float]:
    """The largest values that measurements and commands had at the samples."""
    measured = np.abs([y for _, _, y, _ in seen]).max(axis=0)
    return [*measured.tolist(), *np.abs(applied).max(axis=0).tolist()]


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
