"""What a law called from Python does near a point of a run, by differences: z⁺ = A z + B y, u = C z + D y.

The law is given the measurements of the run once more, up to the point. What it remembers is every float that moves when the
measurement does, in its memory or in its attributes. One more sample is then asked with each of these numbers, and each
measurement, a little more and a little less:

    ∂f/∂x ≈ (f(x + h) − f(x − h))/2h,   once more with h/2: their difference is the error

That this is all that it remembers is asked, too: with these numbers put back where they stood it has to answer as before,
whatever it was given meanwhile. A law with a corner at the point has no derivative here: InputError, with the reason. A curve has
one: half as far off its slopes to both sides differ by half as much, those of a corner as much. That is `Unread` where the law
remembers something in numbers that this does not reach (float32, whole numbers, slots, what a function closes over, a source of
random numbers), in a list that grows and is read, or beside the corner. What grows in there need not show in any run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import innermost, names
from workbench.contract.wrappers import Delayed
from workbench.run.demand import Demand
from workbench.run.hosted import running
from workbench.run.start import start_state
from workbench.verification.linear.kept_numbers import numbers
from workbench.verification.linear.loop import Point, flat
from workbench.verification.linear.sampled_data import sampled
from workbench.verification.linear.smooth import smooth
from workbench.verification.practical.called.kept import without_records
from workbench.verification.run import Run

AFTER = 20  # samples for which a law has to answer as before once its numbers are put back
PROBES = 400  # samples with measurements off, in which all that the law remembers must move
MOST = 200  # numbers that a law may remember
OFF = 1e-3  # share of what a measurement covered: by how much it is off
SMALL = 1e-6  # share of a number's size, and at least of 1: what it is off by where it covered less
SMOOTH = 1e-3  # share by which slopes to both sides may differ
# Share of that difference, half as far off: a curve has a quarter, a corner half of it.
CURVED = 0.3
MEND = "verify it by runs"
BENT = "give the law as equations (a Controller), or verify the one that exported code was made of"
KEPT = "keep what the law remembers in floats, of a number that stays, in its memory z or in its attributes"


class Unread(InputError):
    """The law's memory has no derivative here, so it is not known whether something grows in it."""


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory of a loop's law at one instant: states of its wrappers, the law object itself, and the z that it is given."""

    wrapped: list[float]
    own: tuple[Any, Any]

    def read(self) -> np.ndarray:
        """Every float in it."""
        found: list[float] = []
        numbers([self.wrapped, self.own], lambda v: found.append(v) or v)  # type: ignore[func-returns-value]
        return np.array(found)

    def copied(self) -> Memory:
        """A copy of this memory; Unread where the law keeps something that cannot be copied, such as a generator."""
        try:
            return Memory(list(self.wrapped), copy.deepcopy(self.own))
        except Exception as why:  # noqa: BLE001 - whatever a thing that cannot be copied raises
            raise Unread(f"the law cannot be copied ({why})", mend=KEPT) from None

    def written(self, values: Sequence[float]) -> Memory:
        """A copy of this memory with other numbers in it."""
        left = iter(map(float, values))
        wrapped, own = numbers([list(self.wrapped), copy.deepcopy(self.own)], lambda _: next(left))
        return Memory(wrapped, own)


class Asked:
    """The law of a run, evaluated again sample by sample, without noise and rounding (`loop` is that of `smooth`)."""

    def __init__(self, loop, run: Run):
        self.loop = loop
        controller = loop.controller
        self.delay = float(controller.delay) if isinstance(controller, Delayed) else 0.0
        self.law = running(controller.inner if isinstance(controller, Delayed) else controller)
        self.inside = innermost(self.law)
        self.time = run.log.time
        self.y = np.column_stack([run.log.array(n) for n in names(self.law.measured)])
        x0 = start_state(loop, run.scenario)
        demand = Demand(loop, run.scenario, x0)
        live = [i for i, n in enumerate(demand.live) if demand.kinds[n] != "disturbance"]
        self.r = demand.at(self.time)[:, live]
        z = self.law.start(0.0, self._begin(loop, x0), self.y[0].tolist(), self.r[0].tolist())
        self.seen = {0: Memory(list(z), (self.inside.law, self.inside.z)).copied()}
        without_records(self.seen[0].own[0])
        self.remembered = -1  # how many floats, where `near` was asked last

    def _begin(self, loop, x0) -> list[float]:
        return x0[len(x0) - len(self.law.states) :].tolist() if self.law.states else []

    def step(
        self, memory: Memory, y: Sequence[float], row: int, t: float | None = None
    ) -> tuple[Memory, np.ndarray]:
        """(memory after the sample, command) for the measurement y, with the references of `row`, at its time unless t is given.

        `memory` must not be used again: the law has changed it.
        """
        if memory.own[0] is not self.inside.law:
            self.inside.take(*memory.own)
        self.inside.z = memory.own[1]
        t = float(self.time[row]) if t is None else t
        r = self.r[row].tolist()
        z = self.law.update(t, memory.wrapped, list(map(float, y)), r)
        u = self.law.command(t, z, list(map(float, y)), r)
        return Memory(list(z), (self.inside.law, self.inside.z)), np.array(u, float)

    def until(self, row: int) -> Memory:
        """The law's memory before the sample of this row, as a copy."""
        if row not in self.seen:
            begin = max(k for k in self.seen if k <= row)
            memory = self.seen[begin].copied()
            for k in range(begin, row):
                memory, _ = self.step(memory, self.y[k], k)
            self.seen[row] = memory.copied()
        return self.seen[row].copied()

    def closed(self, where: Point, row: int, again: bool = False) -> list[np.ndarray]:
        """[M, M']: the loop on (x, past commands, memory) from sample to sample near this row, by differences of two sizes.

        again: as for `near`.
        """
        A, B, C = flat(self.loop, where)
        T = float(self.loop.period)
        plant = sampled(A, B, C, np.zeros((len(C), B.shape[1])), T, self.delay)
        found = []
        for law in self.near(row, again):
            n = law.shape[1] - len(C)
            E = law[:n, :n]
            F = law[:n, n:]
            G = law[n:, :n]
            H = law[n:, n:]
            M = [[plant.A + plant.B @ H @ plant.C, plant.B @ G], [F @ plant.C, E]]
            found.append(np.block(M))
        return found

    def near(self, row: int, again: bool = False) -> list[np.ndarray]:
        """[J, J']: ∂(memory after the sample, command)/∂(memory, measurement) near this row, by differences of size h and h/2.

        again: True takes for granted that the same numbers of the memory move as at the row that was examined before.
        """
        memory = self.until(row)
        y = self.y[row]
        h_y = np.maximum(OFF * np.ptp(self.y, axis=0), SMALL * np.maximum(np.abs(y), 1.0))
        whole = memory.read()
        if not (again and len(whole) == self.remembered):
            self._twice(memory, y + h_y, row)
            self.moving = self._moving(memory, whole, y, h_y, row)
            self.remembered = len(whole)
        own, moved = self.moving
        h = np.concatenate(
            [np.maximum(0.5 * moved, SMALL * np.maximum(np.abs(whole[own]), 1.0)), h_y]
        )

        def answer(x: np.ndarray) -> np.ndarray:
            values = whole.copy()
            values[own] = x[: len(own)]
            after, u = self.step(memory.written(values), x[len(own) :], row)
            return np.concatenate([_alike(after.read(), whole)[own], u])

        at = np.concatenate([whole[own], y])
        try:
            return [_slope(answer, at, h * share) for share in (1.0, 0.5)]
        except InputError as why:
            if (own >= len(memory.wrapped)).any():
                raise Unread(f"{why.message}, and remembers something", mend=BENT) from None
            raise

    def _moving(self, memory: Memory, whole, y, h_y, row: int):
        """(which of the numbers the law remembers, by how much each moves) when measurements are off."""
        rng = np.random.default_rng(1)
        after = memory.written(whole)
        moved = np.zeros(len(whole))
        for _ in range(PROBES):
            after, _ = self.step(after, y + h_y * rng.uniform(-1, 1, len(y)), row)
            moved = np.maximum(moved, np.abs(_alike(after.read(), whole) - whole))
        self._all_read(memory, after.written(whole), y + h_y, row)
        own = np.flatnonzero(moved > 0)
        if len(own) > MOST:
            raise Unread(f"the law remembers {len(own)} numbers", mend=KEPT)
        return own, moved[own]

    def _twice(self, memory: Memory, y: np.ndarray, row: int) -> None:
        """Unread where the law answers differently when it is asked the same again."""
        (first, u), (again, v) = (
            self.step(memory.written(memory.read()), y, row) for _ in range(2)
        )
        if not np.array_equal(u, v) or not np.array_equal(first.read(), again.read()):
            raise Unread("the law does not answer twice alike", mend=KEPT)

    def _all_read(self, memory: Memory, after: Memory, y: np.ndarray, row: int) -> None:
        """Unread unless a law whose numbers are put back answers as the one that was given nothing meanwhile."""
        before = memory.written(memory.read())
        for _ in range(AFTER):
            before, wanted = self.step(before, y, row)
            after, u = self.step(after, y, row)
            if not np.array_equal(u, wanted) or not np.array_equal(after.read(), before.read()):
                raise Unread("the law remembers more than its floats", mend=KEPT)


def asked_of(run: Run) -> Asked:
    """The law of a run, to be asked once more; the same for all who ask."""
    if "asked" not in run.kept:
        run.kept["asked"] = Asked(smooth(run.loop), run)
    return run.kept["asked"]


def _alike(values: np.ndarray, before: np.ndarray) -> np.ndarray:
    if len(values) != len(before):
        raise Unread("what the law remembers changes its shape", mend=KEPT)
    return values


def _slope(answer: Callable, at: np.ndarray, h: np.ndarray) -> np.ndarray:
    """∂answer/∂x by central differences; InputError where those to one side are others."""
    middle = answer(at)
    columns = []
    for i, step in enumerate(h):
        off = np.zeros(len(at))
        off[i] = step
        more = answer(at + off)
        less = answer(at - off)
        bend = np.abs(more - 2 * middle + less)
        bent = bend > SMOOTH * np.abs(more - less) + 1e-9 * np.abs(middle)
        if bent.any():
            nearer = np.abs(answer(at + off / 2) - 2 * middle + answer(at - off / 2))
            bent &= nearer > CURVED * bend
        if bent.any():
            raise InputError("the law is bent at this point of the run", mend=MEND)
        columns.append((more - less) / (2 * step))
    return np.column_stack(columns)
