"""Whether a tube keeps to what the machine can do: strokes, vacuum, and all else beyond which the model describes no machine.

Of every node the box that its runs cross until the next sample is known; a limit is held against its bounds over that box.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.expressions import column, symbols
from workbench.verification.tube.checker import interval as iv
from workbench.verification.tube.checker.centred import centred
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.judge import Seen
from workbench.verification.tube.checker.samples import disturbances, moment
from workbench.verification.tube.opened import Free, Varied, noisy, opened
from workbench.verification.tube.posed import Posed
from workbench.verification.tube.programs import program

AT_ONCE = 250  # nodes that are looked at side by side
MOST_CORNERS = 8  # numbers whose bounds are tried in all combinations; of more of them all low ones, and all high ones


def beyond_limits(run: Any, question: Posed, c: Tube, seen: Seen) -> list[str]:
    """The machine's limits that a run of this tube is not known to keep, in words."""
    loop = noisy(run.loop, question.free.noises)
    traced = trace(loop, (*run.demand.live, *(noise.input for noise in question.free.noises)))
    try:
        limits = tightest(loop, question.free.numbers)
    except InputError as why:
        return [f"no machine has some of these numbers together: {why.message}"]
    found = []
    for limit in limits:
        low, high = known(limited(loop, traced, limit), question.free, traced, c, seen)
        if limit.low <= low and high <= limit.high:
            continue
        edge = limit.high if limit.low <= low else limit.low
        least = say(low, limit.unit)
        most = say(high, limit.unit)
        found.append(
            f"{limit.name} is only known to stay between {least} and {most}, the machine's limit is {say(edge, limit.unit)}"
        )
    return found


def tightest(loop: Any, numbers: Sequence[Varied]) -> list[Limit]:
    """The plant's limits with those ends that they have at whichever bounds of its numbers leave them least."""
    ends = [[(f"plant.{v.path}", end) for end in (v.low, v.high)] for v in numbers]
    corners = itertools.product(*ends) if len(ends) <= MOST_CORNERS else zip(*ends)
    found: dict[str, Limit] = {}
    for corner in corners:
        plant = bind(loop, dict(corner)).plant if corner else loop.plant
        for limit in plant.machine_limits():
            known = found.setdefault(limit.name, limit)
            ends_of = {"low": max(known.low, limit.low), "high": min(known.high, limit.high)}
            found[limit.name] = replace(known, **ends_of)
    return [limit for limit in found.values() if not limit.bearable]


def limited(loop: Any, traced: Traced, limit: Limit) -> ca.Function:
    """What is limited, as a function of the loop's (t, x, w, p)."""
    t = ca.SX.sym("t")
    x, xs = symbols("x", traced.n_states)
    w, _ = symbols("w", len(traced.live))
    p, _ = symbols("p", len(traced.paths))
    told = traced.log(t, x, w, traced.prelude(p))
    at = dict(zip(names(loop.monitors), ca.vertsplit(told))) | dict(zip(names(loop.states), xs))
    value = sum(at[name] for name in limit.signals)
    return ca.Function("limited", [t, x, w, p], [column([value])])


def known(
    value: ca.Function, free: Free, traced: Traced, c: Tube, seen: Seen
) -> tuple[float, float]:
    """Between which numbers a function of the loop stays over the whole tube, between samples too."""
    functions = opened(traced, free, value)
    try:
        out, prelude = (program(functions[name]) for name in ("out", "prelude"))
    except InputError:
        return -np.inf, np.inf
    fixed = prelude.run(iv, [Interval(float(p)) for p in c.parameters], lambda x: x)
    nodes = np.flatnonzero((seen.low <= seen.high).all(axis=1))
    low = np.inf
    high = -np.inf
    for i in range(0, len(nodes), AT_ONCE):
        some = nodes[i : i + AT_ONCE]
        box = [Interval(seen.low[some, j], seen.high[some, j]) for j in range(c.states)]
        given = [moment(some * c.T, 0.0, c.T), *box, *disturbances(c, some), *fixed]
        with np.errstate(all="ignore"):
            (found,) = centred(out, given, 1, c.states)
        low = min(low, float(np.min(found.value.lo)))
        high = max(high, float(np.max(found.value.hi)))
    return low, high
