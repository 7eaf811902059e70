"""The relay as a law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import (
    Controller,
    Signal,
    names,
)


@final
@dataclass(frozen=True, eq=False)
class Relay(Controller):
    """A relay added to command `u` of the law `base`, on the error of output `y`.

    Equations in `controllers.pid_tuning.relay_law`.
    """

    base: Any
    y: Signal
    u: Signal
    d: Annotated[float, Unit("1"), "amplitude, in the command's unit", positive]
    ε: Annotated[float, Unit("1"), "hysteresis, in the output's unit", nonnegative] = 0.0
    bias: Annotated[float, Unit("1"), "added to the command, in its unit"] = 0.0
    y_0: Annotated[float, Unit("1"), "output to oscillate about"] = 0.0

    def __post_init__(self):
        check_bounds(self)

    @property
    def measured(self):
        own = self.base.measured
        return own if self.y.name in names(own) else (*own, self.y)

    @property
    def commands(self):
        return self.base.commands

    @property
    def references(self):
        return self.base.references

    @property
    def states(self):
        return (*self.base.states, Signal("relay", "1", "side of the relay, 1 or −1"))

    @property
    def monitors(self):
        return (Signal("e_relay", self.y.unit, f"error of {self.y.name} as the relay sees it"),)

    def initial(self):
        return [*self.base.initial(), 1.0]

    def start(self, t, z, y, r):
        return [*self.base.start(t, z[:-1], self._own(y), r), z[-1]]

    def _own(self, y):
        return y[: len(self.base.measured)]

    def _error(self, y):
        return self.y_0 - y[names(self.measured).index(self.y.name)]

    def monitor(self, t, z, y, r):
        return [self._error(y)]

    def step_at(self, T_s, t, z, y, r):
        memory, u = self.base.step_at(T_s, t, z[:-1], self._own(y), r)
        e = self._error(y)
        side = np.where(e > self.ε, 1.0, np.where(e < -self.ε, -1.0, z[-1]))
        i = names(self.commands).index(self.u.name)
        return [*memory, side], [
            v + (self.bias + self.d * side if k == i else 0.0) for k, v in enumerate(u)
        ]


@final
@dataclass(frozen=True, eq=False)
class _Still(Controller):
    """Commands held at constant values."""

    commands: tuple[Signal, ...] = ()
    held: tuple[float, ...] = ()
    measured = ()

    def step(self, t, z, y, r):
        return [], list(self.held)
