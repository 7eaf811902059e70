"""An FMU's run inside its own process: model exchange integrated by RK4, co-simulation stepped.

model exchange   ẋ = f(t, x, u) is the FMU's, x is ours: RK4 of the steps that the run asks for, inputs at their stages. Where
                 an event indicator changes its sign, the step is cut there by bisection; there, at the FMU's own time events,
                 and where it asks for an event after a step, its discrete states are updated and x is read back.
co-simulation    every step of the run is one communication step; the FMU integrates by itself.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from workbench.interop.fmu.instance import Instance, Reals, Refused


class Running:
    """What both kinds share. spec: as `Instance`, and u, y, x: (type, reference) of inputs, outputs and states."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.inside = Instance(spec)
        self.u = Reals(self.inside, spec["u"])
        self.y = Reals(self.inside, spec["y"])
        self.nx = len(spec["x"])
        self.nu = len(spec["u"])

    def begin(self, settings: list, x0: np.ndarray | None) -> np.ndarray:
        """A new run; the states it begins with."""
        self.inside.messages = []
        self.inside.instantiate()
        self.u.forget()
        self.inside.initialise(settings)
        self.u.known[:] = self.u.read()
        return self.started(x0)

    def started(self, x0: np.ndarray | None) -> np.ndarray:
        raise NotImplementedError

    def measure(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Outputs now."""
        raise NotImplementedError

    def step(self, t: float, h: float, x: np.ndarray, stages: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def entered(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The state after the inputs have become u at t."""
        return x

    def advance(
        self, t: float, h: float, n: int, rows: int, x: np.ndarray, F: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(state after n steps of h, rows of states and outputs); rows: 0 none, 1 at the beginning, 2 at every step's."""
        kept = []
        for s in range(n):
            at = t + s * h
            x = self.entered(at, x, F[s, 0])
            if rows == 2 or (rows and not s):
                kept.append(np.concatenate([x, self.measure(at, x, F[s, 0])]))
            x = self.step(at, h, x, F[s])
        return x, np.array(kept)


class CoSimulation(Running):
    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        self.x = Reals(self.inside, spec["x"])

    def started(self, x0: np.ndarray | None) -> np.ndarray:
        return self.x.read().copy()

    def measure(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        self.u.write(u)
        return self.y.read().copy()

    def step(self, t: float, h: float, x: np.ndarray, stages: np.ndarray) -> np.ndarray:
        self.u.write(stages[0])
        if self.inside.version == 2:
            self.inside.call("DoStep", t, h, 1)
        else:
            self._step3(t, h)
        return self.x.read().copy()

    def _step3(self, t: float, h: float) -> None:
        flags = [ctypes.c_bool() for _ in range(3)]
        reached = ctypes.c_double()
        given = (*map(ctypes.byref, flags), ctypes.byref(reached))
        self.inside.call("DoStep", t, h, True, *given)
        if flags[1].value:
            raise Refused("the FMU asks to end the run")
        if flags[2].value:
            raise Refused("the FMU returned before the end of a step")
