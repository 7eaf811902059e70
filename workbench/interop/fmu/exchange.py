"""Model exchange inside the FMU's own process: ẋ = f(t, x, u) is the FMU's, x is ours.

RK4 of the steps that the run asks for, inputs at their stages. Where an event indicator changes its sign, the step is cut there by
bisection; there, at the FMU's own time events, and where it asks for an event after a step, its discrete states are updated and x
is read back.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from workbench.interop.fmu.instance import Refused
from workbench.interop.fmu.stepping import Running

MOST_EVENTS = 1000  # in one step: a model that has more chatters, and time stands still
MOST_UPDATES = 100  # of the discrete states at one event
SHARE = 1e-12  # share of a step: how closely an event is found
DOUBLE = ctypes.POINTER(ctypes.c_double)


class Flow(Running):
    """The flow as a function of (t, x, u), and what its states are."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        self.state, self.rate = np.zeros(self.nx), np.zeros(self.nx)
        self.state_at = self.state.ctypes.data_as(DOUBLE)
        self.rate_at = self.rate.ctypes.data_as(DOUBLE)
        self.rates = "GetDerivatives" if spec["version"] == 2 else "GetContinuousStateDerivatives"
        self.declared: int | None = spec["indicators"]
        self.indicators = 0
        self.discrete = bool(spec["discrete"])
        self.sign: np.ndarray | None = None
        self.next = np.inf

    def _place(self, t: float, x: np.ndarray, u: np.ndarray | None = None) -> None:
        self.inside.fmu.setTime(t)
        if self.nx:
            self.state[:] = x
            self.inside.call("SetContinuousStates", self.state_at, self.nx)
        if u is not None and not (self.discrete and self._jumped(t, x, u)):
            self.u.write(u)

    def _read(self) -> np.ndarray:
        if self.nx:
            self.inside.call("GetContinuousStates", self.state_at, self.nx)
        return self.state.copy()

    def flow(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """ẋ."""
        self._place(t, x, u)
        if self.nx:
            self.inside.call(self.rates, self.rate_at, self.nx)
        return self.rate.copy()

    def measure(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        self._place(t, x, u)
        return self.y.read().copy()

    def _rk4(self, t: float, h: float, x: np.ndarray, stages: np.ndarray) -> np.ndarray:
        a = self.flow(t, x, stages[0])
        b = self.flow(t + h / 2, x + h / 2 * a, stages[1])
        c = self.flow(t + h / 2, x + h / 2 * b, stages[1])
        d = self.flow(t + h, x + h * c, stages[2])
        return x + h / 6 * (a + 2 * b + 2 * c + d)

    def slopes(
        self, t: float, x: np.ndarray, u: np.ndarray, unknowns: list, knowns: list
    ) -> np.ndarray:
        """∂unknown/∂known, column by column, by the FMU's directional derivatives; both are value references."""
        self._place(t, x, u)
        of = self.inside.fmu.getDirectionalDerivative
        columns = [of(unknowns, [known], [1.0]) for known in knowns]
        return np.array(columns, float).reshape(len(knowns), len(unknowns)).T

    def _jumped(self, t: float, x: np.ndarray, u: np.ndarray) -> bool:
        """Inputs that may change at events only, set in one; False where none of the inputs changes."""
        if (u == self.u.known).all():
            return False
        self._place(t, x)
        self.inside.fmu.enterEventMode()
        self.u.write(u)
        self._settle()
        return True

    def _settle(self) -> None:
        """The FMU's discrete states updated until they stay; it is in event mode before, in continuous time after it."""
        fmu = self.inside.fmu
        update = fmu.newDiscreteStates if self.inside.version == 2 else fmu.updateDiscreteStates
        for _ in range(MOST_UPDATES):
            needed, ends, _, _, defined, when = update()
            if ends:
                raise Refused("the FMU asks to end the run")
            if not needed:
                self.next = when if defined else np.inf
                fmu.enterContinuousTimeMode()
                return
        raise Refused(f"its discrete states do not settle in {MOST_UPDATES} updates")


class ModelExchange(Flow):
    """Runs with events."""

    @property
    def switches(self) -> bool:
        """Whether it has events of any kind that are known."""
        return bool(self.indicators) or np.isfinite(self.next)

    def started(self, x0: np.ndarray | None) -> np.ndarray:
        self.indicators = self._counted()
        self.z = np.zeros(self.indicators)
        self.z_at = self.z.ctypes.data_as(DOUBLE)
        self._settle()
        if x0 is not None and self.nx:
            self._place(0.0, x0)
        x = self._read()
        self.sign = self._signs(0.0, x, None)
        return x

    def _counted(self) -> int:
        """How many event indicators this run has: parameters of an FMI 3 may change their number, so that each run asks."""
        if self.declared is not None:
            return self.declared
        return int(self.inside.fmu.getNumberOfEventIndicators())

    def _event(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The state after an event at (t, x, u)."""
        self._place(t, x, u)
        self.inside.fmu.enterEventMode()
        self._settle()
        x = self._read()
        self.sign = self._signs(t, x, u)
        return x

    def _signs(self, t: float, x: np.ndarray, u: np.ndarray | None) -> np.ndarray | None:
        if not self.indicators:
            return None
        self._place(t, x, u)
        self.inside.call("GetEventIndicators", self.z_at, self.indicators)
        return self.z > 0

    def _crosses(self, t: float, x: np.ndarray, u: np.ndarray) -> bool:
        now = self._signs(t, x, u)
        return now is not None and bool((now != self.sign).any())

    def step(self, t: float, h: float, x: np.ndarray, stages: np.ndarray) -> np.ndarray:
        """The state at t + h; events in between are found and obeyed."""
        done = 0.0
        for _ in range(MOST_EVENTS):
            left = 1.0 - done
            due = (self.next - t) / h
            share = min(left, max(due - done, 0.0))
            part = _between(stages, done, done + share)
            begin = t + done * h
            after = self._rk4(begin, share * h, x, part) if share > 0 else x
            if not np.isfinite(after).all():
                return after
            if self._crosses(begin + share * h, after, part[2]):
                share, after = self._found(begin, h, share, x, stages, done)
                event = True
            else:
                event = due <= done + share
            done += share
            at = t + done * h
            u = _between(stages, done, done)[0]
            x = after
            event = self._completed(at, x, u) or event
            if event:
                x = self._event(at, x, u)
            if done >= 1.0 - SHARE:
                return x
        raise Refused(f"more than {MOST_EVENTS} events in a step of {h:.3g} s at t = {t:.6g} s")

    def _found(
        self, t: float, h: float, share: float, x: np.ndarray, stages: np.ndarray, done: float
    ) -> tuple[float, np.ndarray]:
        """(share of a step up to just after the first change of sign, the state there)."""
        low = 0.0
        high = share
        while high - low > SHARE:
            middle = (low + high) / 2
            part = _between(stages, done, done + middle)
            there = self._rk4(t, middle * h, x, part)
            if self._crosses(t + middle * h, there, part[2]):
                high = middle
            else:
                low = middle
        return high, self._rk4(t, high * h, x, _between(stages, done, done + high))

    def _completed(self, t: float, x: np.ndarray, u: np.ndarray) -> bool:
        """Tell the FMU that a step is over; whether it asks for an event."""
        self._place(t, x, u)
        asks, ends = self.inside.fmu.completedIntegratorStep()
        if ends:
            raise Refused("the FMU asks to end the run")
        return bool(asks)

    def entered(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        if self.discrete and self._jumped(t, x, u):
            x = self._read()
            self.sign = self._signs(t, x, u)
        return self._event(t, x, u) if self._crosses(t, x, u) else x


def _between(stages: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Inputs at the three stages of a part of a step, on the parabola through those of the whole."""
    if (
        (begin, end) == (0.0, 1.0)
        or (stages[0] == stages[2]).all()
        and (stages[0] == stages[1]).all()
    ):
        return stages
    s = np.array([begin, (begin + end) / 2, end])[:, None]
    first, middle, last = stages
    return first * (1 - s) * (1 - 2 * s) + middle * 4 * s * (1 - s) + last * s * (2 * s - 1)
