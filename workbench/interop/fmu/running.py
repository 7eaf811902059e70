"""An FMU inside a run: the samples of `workbench.numerics.native.Loop`, each advanced in the process of the FMU."""

from __future__ import annotations

import copy
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.interop.fmu.link import Link, Spec, given_back, taken
from workbench.numerics.on_floats import OFFSETS, Text
from workbench.numerics.samples import Samples

if TYPE_CHECKING:
    from workbench.interop.fmu.plant import FMU

CLOSE = 1e-6  # share of the FMU's own step: a communication step is a multiple of it


def begun(plant: FMU, link: Link, x0: np.ndarray | None, u: Vector) -> tuple[bool, np.ndarray]:
    """A run begun in a process: (whether it has events, the states in SI)."""
    model = plant.model
    states, inputs, _ = model.scales
    settings = model.addressed((*plant.parameters, *plant.start))
    given = inputs.from_si(np.array(u, float)).tolist()
    settings += [[*_address(w), v] for w, v in zip(model.wires.inputs, given)]
    start = None
    if x0 is not None:
        start = states.from_si(np.array(x0, float)).tolist()
        settable = [(w, v) for w, v in zip(model.wires.states, start) if w.variable.settable]
        settings += [[*_address(w), v] for w, v in settable]
    switches, x = link.begin(settings, start)
    return switches, states.to_si(x)


def _address(wire: Any) -> tuple[str, int]:
    return wire.variable.type, wire.variable.reference


class _Asked:
    """The process that is asked for functions of an FMU, with the plant that it is begun for: parameters make many of one."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.lock = spec, threading.RLock()
        self.link: Link | None = None
        self.owner: Pure | None = None

    def begun_for(self, owner: Pure, x: Vector | None = None, u: Vector = ()) -> tuple:
        """(the process, whether it has events, the states it begins with), begun anew for this plant."""
        if self.link is None or not self.link.alive:
            self.link = taken(self.spec)
        self.owner = None
        at = None if x is None else np.array(x, float)
        switches, states = begun(owner.plant, self.link, at, u or owner.u)
        return self.link, switches, states


@lru_cache(maxsize=8)
def _asked(process: int, spec: Spec) -> _Asked:
    return _Asked(spec)


class Pure:
    """The equations of an FMU by model exchange, as functions: in the mode that it begins in.

    Of co-simulation it is begun only: `begun` are the states that a run starts from.
    """

    def __init__(self, plant: FMU) -> None:
        self.plant, self.model = plant, plant.model
        self.spec = self.model.spec(plant.time_limit)
        self.u = [plant.defaults()[s.name] for s in plant.inputs]
        self.known: tuple[Any, np.ndarray] = (None, np.zeros(0))
        asked = _asked(os.getpid(), self.spec)
        with asked.lock:
            _, self.switches, self.begun = asked.begun_for(self)

    @contextmanager
    def _ready(self) -> Iterator[Link]:
        """The process, begun for this plant, for nobody else meanwhile."""
        asked = _asked(os.getpid(), self.spec)
        with asked.lock:
            if asked.owner is not self or not (asked.link and asked.link.alive):
                asked.begun_for(self)
                asked.owner = self
            assert asked.link is not None
            yield asked.link

    def flow(self, t: Scalar, x: Vector, u: Vector) -> np.ndarray:
        """ẋ, then the outputs."""
        key = (t, tuple(x), tuple(u))
        known = self.known
        if known[0] != key:
            known = key, self._asked(float(t), np.array(x, float), np.array(u, float))
            self.known = known
        return known[1]

    def slopes(self, x: np.ndarray, u: np.ndarray, unknowns: list, knowns: list) -> np.ndarray:
        """∂unknown/∂known in the FMU's units, by its directional derivatives."""
        with self._ready() as link:
            return link.slopes(0.0, x.tolist(), u.tolist(), unknowns, knowns)

    def outputs_at_start(self, x: Vector, u: Vector) -> np.ndarray:
        """What is measured at the start of a run that begins with these states and inputs."""
        states, inputs, outputs = self.model.scales
        given = np.array(x, float), np.array(u, float)
        asked = _asked(os.getpid(), self.spec)
        with asked.lock:
            link, _, _ = asked.begun_for(self, x, u)
            found = link.measure(0.0, states.from_si(given[0]), inputs.from_si(given[1]))
        return outputs.to_si(found)

    def _asked(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        states, inputs, outputs = self.model.scales
        n = len(x)
        with self._ready() as link:
            found = link.flow(t, states.from_si(x), inputs.from_si(u))
        rates = found[:n] if states.same else found[:n] * states.factor
        return np.concatenate([rates, outputs.to_si(found[n:])])


class _Measured:
    """Outputs of a run now, as a function of a Text."""

    def __init__(self, loop: FmuLoop) -> None:
        self.loop = loop

    def size1_in(self, _: int) -> int:
        return 0

    def size1_out(self, _: int) -> int:
        return self.loop.ny

    def __call__(self, t: Scalar, x: Any, w: Any, c: Any = ()) -> np.ndarray:
        return self.loop.measure(float(t), np.asarray(x, float), np.asarray(w, float).ravel())


class FmuLoop:
    """As `workbench.numerics.on_floats.FloatLoop`: one run of an FMU, with a process of its own for as long as it lasts."""

    lib = None
    offsets = OFFSETS

    def __init__(self, text: Text, plant: FMU) -> None:
        self.plant = plant
        self.model = model = plant.model
        self.states, self.inputs, self.outputs = model.scales
        traced: Any = copy.copy(text)
        traced.out = _Measured(self)
        self.traced = traced
        self.nx, self.ny = text.n_states, len(model.wires.outputs)
        self.row = self.nx + self.ny + 1  # the last is the energy stored, of which nothing is known
        whole = plant.defaults()
        names = [w.name for w in model.wires.inputs]
        self.u = np.array([whole[name] for name in names])
        self.places = [names.index(name) for name in text.live]
        self.link: Link | None = None

    def begin(self, t0: Scalar, x: Vector, w: Vector, c: Any) -> np.ndarray:
        """The state that the run begins with."""
        return self._started(np.asarray(x, float), np.asarray(w, float).ravel())

    def _whole(self, w: np.ndarray) -> np.ndarray:
        """All inputs in the FMU's units, by the live ones in SI; one set a row."""
        made = np.tile(self.u, (*w.shape[:-1], 1))
        made[..., self.places] = w[..., : len(self.places)]
        return self.inputs.from_si(made)

    def _started(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        self.link = taken(self.model.spec(self.plant.time_limit))
        weakref.finalize(self, given_back, self.link)
        u = self.u.copy()
        u[self.places] = w[: len(self.places)]
        return begun(self.plant, self.link, x, u)[1]

    def measure(self, t: float, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """What is measured at t; the run begins with the first time it is asked."""
        if self.link is None:
            self._started(x, w)
        assert self.link is not None
        found = self.link.measure(t, self.states.from_si(x), self._whole(w[None])[0])
        return self.outputs.to_si(found)

    def run(self, *given: Any) -> int:
        """Run `Samples(*given)`; how many samples were done before the state left the numbers, as driver.c does."""
        asked = Samples(*given)
        W = np.atleast_2d(asked.W)
        steps = asked.n1 + asked.n2
        inputs = asked.stages(len(OFFSETS))
        rows = asked.table(self.row)
        every = asked.every
        kept = 0
        for k in range(asked.n):
            number = asked.first + k
            t = number * asked.T
            x = asked.state[: self.nx]
            if not np.isfinite(x).all():
                return k
            held = np.tile(W[k], (steps, len(OFFSETS), 1)) if inputs is None else inputs[k]
            wanted = rows is not None and (not every or number % every == 0)
            n1 = asked.n1
            released = t + n1 * asked.h1
            parts = ((t, n1, asked.h1, held[:n1]), (released, asked.n2, asked.h2, held[n1:]))
            for at, count, h, stages in parts:
                if not count:
                    continue
                ask = _rows_asked(every, at == t) if wanted else 0
                made = self._advanced(at, h, count, ask, x, stages)
                x[:] = self.states.to_si(made[: self.nx])
                if ask and rows is not None:
                    kept = self._keep(made[self.nx :], rows, kept)
        return asked.n

    def _advanced(
        self, t: float, h: float, n: int, rows: int, x: np.ndarray, stages: np.ndarray
    ) -> np.ndarray:
        if self.link is None:
            self._started(x, stages[0, 0])
        assert self.link is not None
        self._check_step(h)
        F = np.ascontiguousarray(self._whole(stages))
        return self.link.advance(t, h, n, rows, self.states.from_si(x), F)

    def _keep(self, made: np.ndarray, room: np.ndarray, kept: int) -> int:
        found = made.reshape(-1, self.nx + self.ny)
        target = room[kept : kept + len(found)]
        target[:, : self.nx] = self.states.to_si(found[:, : self.nx])
        target[:, self.nx : -1] = self.outputs.to_si(found[:, self.nx :])
        target[:, -1] = 0.0
        return kept + len(found)

    def _check_step(self, h: float) -> None:
        """InputError for a communication step that is no multiple of the FMU's own."""
        own = self.model.interface.every
        if own is None or self.model.exchange:
            return
        times = h / own
        if abs(times - round(times)) > CLOSE * max(times, 1.0) or round(times) < 1:
            raise InputError(
                f"the FMU takes steps of {own:g} s of its own, and the run asks for {h:g} s",
                file=self.model.about.file,
                mend=f"give a sample_time and max_step that are multiples of {own:g} s (scenario: max_step)",
            )


def _rows_asked(every: int, first: bool) -> int:
    """Which rows a part of a logged sample gives: 2 all, 1 that at its begin, 0 none. Where samples are thinned out: the first."""
    return int(first) if every else 2
