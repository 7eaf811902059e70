"""Wires crossed, flipped or in another unit between machine and law, found by undoing them.

At logged samples, the commands of the law inside its wrappers are compared with those of the whole controller. Where they differ
by more than this library's wrappers explain, each edit of the wires is tried; the one that makes the difference vanish is named:

    residual = |u_controller(y) − u_law(edited y), edited| / |u|          over the samples
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.contract.units import format_quantity as say
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.numerics.expressions import column, quick, symbols
from workbench.verification.cause.edits import Edit, edits, same, stuck
from workbench.verification.cause.fitted import biased, fitted

KNOWN = (Delayed, Filtered, Noisy, Quantised, Sampled, Saturated)
SAMPLES = 24  # logged samples at which a law is asked
UNTOUCHED = Edit("", same, same)
ALIKE = 1e-6  # residual below which edits explain alike: a null of a sensor and one of a valve may
VANISHES = 0.02  # residual below which an edit explains what was seen
# Ranges of a command: a run that asks for more went astray long before.
WILD = 10.0
LATER = (0, 1, 4, 20)  # lengths of the run by which a wrapper is asked later than its samples were
FEW = 4  # samples before that, at least


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


@dataclass(frozen=True, eq=False)
class Heard:
    """What a law would command at logged samples, and what its controller does command there.

    seen (t, z, y, r) of every sample;  ask: the law, of all samples at once: every time, state, measurement, reference and
    command is an array with an entry for each sample;  applied: commands of the controller, one row a sample
    later: by how many seconds the samples are asked later than they were
    """

    seen: list
    ask: Callable
    applied: np.ndarray
    later: float = 0.0

    def off(self, edit: Edit) -> np.ndarray:
        """By how much the commands differ with an edit of the wires, as shares of the largest: one row a sample."""
        own = self._of_each(edit.commanded(self.asked(edit))).T
        size = np.abs(self.applied).max(axis=0)
        size = np.where(size > 0, size, np.abs(own).max(axis=0))
        return np.abs(self.applied - own) / np.maximum(size, 1e-300)

    def asked(self, edit: Edit) -> np.ndarray:
        """What the law commands with an edit of what it measures: one row a command, one column a sample."""
        t, z, y, r = self._columns
        return self._of_each(self.ask(t, z, self._of_each(edit.measured(y)), r))

    @cached_property
    def _columns(self) -> list[np.ndarray]:
        """Times, states, measurements and references, the samples along the last axis."""
        return [np.array(part, float).T for part in zip(*self.seen)]

    def _of_each(self, values: Sequence) -> np.ndarray:
        """One row a value, one column a sample; a number stands for every sample."""
        return np.array([np.broadcast_to(value, len(self.seen)) for value in values], float)

    def residual(self, edit: Edit) -> float:
        """The largest of these differences."""
        found = self.off(edit)
        return float(np.nanmax(found)) if np.isfinite(found).any() else math.inf

    @property
    def sizes(self) -> list[float]:
        """The largest values that measurements and commands had at the samples."""
        measured = np.abs([y for _, _, y, _ in self.seen]).max(axis=0)
        return [*measured.tolist(), *np.abs(self.applied).max(axis=0).tolist()]


def heard(run) -> Iterator[Heard]:
    """Of a controller with a wrapper that this file does not know, where that changes something; nothing of others.

    It is asked at the samples of the run, and the same at later times: other starts are followed for longer.
    """
    law = innermost(run.loop.controller)
    if isinstance(law, Plain) or not between(run.loop.controller):
        return
    whole = traced(instant(run.loop.controller))
    ask = traced(law)
    now = list(samples(run))
    for lengths in LATER:
        later = lengths * float(run.log.time[-1])
        seen = [(t + later, *rest) for t, *rest in now]
        found = Heard(seen, ask, np.array([whole(*sample) for sample in seen], float), later)
        with np.errstate(all="ignore"):
            changes = found.residual(UNTOUCHED) > VANISHES
        if changes:
            yield found


def rewired(run) -> str:
    """What a wrapper nobody knows has done to the wires, in words; empty where nothing, or nothing that a single edit explains."""
    with np.errstate(all="ignore"):
        return next(filter(None, (undone(run, found) for found in heard(run))), "")


def undone(run, found: Heard) -> str:
    """The edit of the wires that explains what was heard, in words; empty where none does."""
    law = innermost(run.loop.controller)
    untouched = found.residual(UNTOUCHED)
    single = (*edits(law), *stuck(law, found.applied, run.loop.plant.limits()))
    best = min(single, key=found.residual)
    others: list[Edit] = []
    if found.residual(best) >= VANISHES:
        numbers = [fitted(law, found.residual), *biased(law, found.residual, found.sizes)]
        best, *others = sorted(numbers, key=found.residual)
    left = found.residual(best)
    if not left < VANISHES:
        return ""
    alike = [e.words for e in others if found.residual(e) <= ALIKE]
    fall = f"with that undone the residual falls from {untouched:.2g} to {left:.1g}"
    if found.later:
        fall += f", {say(found.later, 's', 3)} later than in the run"
    return "; or ".join([f"{best.words}: {fall}", *alike[:2]])


def altered(run) -> str:
    """The command that a wrapper nobody knows changes most, in words, whatever it does; empty where it changes none."""
    found = next(heard(run), None)
    if found is None:
        return ""
    off = np.nan_to_num(found.off(UNTOUCHED))
    row, k = np.unravel_index(int(off.argmax()), off.shape)
    command = innermost(run.loop.controller).commands[k]
    asked = say(float(found.asked(UNTOUCHED)[k, row]), command.unit, 3)
    given = say(float(found.applied[row, k]), command.unit, 3)
    who = " or ".join(type(wrapper).__name__ for wrapper in between(run.loop.controller))
    when = say(found.seen[row][0], "s", 3)
    return f"{who}, between law and machine, changes {command.name}: at t = {when} the law asks for {asked} and it gives {given}"


def traced(law) -> Callable:
    """u(t, z, y, r) of a law as a graph, which is traced once and costs little to ask; longer z, y and r are cut to its own.

    Asked of one sample it gives a list of numbers; of arrays, with a column for each sample, an array with a row a command.
    """
    sizes = [len(law.states), len(law.measured), len(law.references)]
    t = quick(ca.SX.sym("t"))
    (z, zs), (y, ys), (r, rs) = (symbols(name, size) for name, size in zip("zyr", sizes))
    f = ca.Function("law", [t, z, y, r], [column(law.command(t, zs, ys, rs))])

    def ask(t, z, y, r):
        own = [values[:size] for values, size in zip((z, y, r), sizes)]
        given = np.array(f(np.atleast_2d(t), *own))
        return given if np.ndim(t) else given.ravel().tolist()

    return ask


def _rows(run) -> np.ndarray:
    """Rows of the log before the run leaves the machine, or asks for commands far beyond their ranges."""
    log = run.log
    inside = log.time <= min(log.time[-1], run.left[0])
    wild = np.zeros(len(log.time), bool)
    for name, (low, high) in run.loop.plant.limits().items():
        if name in log:
            wild |= ~(np.abs(log.array(name)) <= WILD * max(abs(low), abs(high)))
    before = inside & ~np.logical_or.accumulate(wild)
    return np.flatnonzero(before if before.sum() > FEW else inside)


def samples(run) -> Iterator:
    """(t, z, y, r) at logged samples, spread over the run before it leaves the machine."""
    loop = run.loop
    log = run.log
    rows = _rows(run)
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
