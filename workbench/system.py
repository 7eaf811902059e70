"""Signal, System, Controller, ClosedLoop: the contract everything else is written against.

System
  1. A system is a frozen dataclass; its annotated numbers are parameters, the rest is structure (`workbench.parameters`).
  2. `states`, `inputs`, `outputs`, `monitors` are tuples of Signal; every vector below has their length and order.
  3. `rhs(t, x, u)` is the flow ẋ. `out(t, x)` is measured and does not depend on inputs; `monitor(t, x, u)` may.
     `guards(t, x, u)` change their sign where the flow, still continuous, has a kink (an edge of a valve): integrators step onto
     it. `stiff` names states whose own block of the Jacobian may be fast, or shall be followed exactly.
  4. `period` is None (no samples) or the sample time; then `update(t, x, u)` is the jump x⁺ at t = k·period, before the
     flow goes on, and `release(t, x, u)` a second jump at k·period + lag, `lag` in [0, period).
  5. `powers(t, x, u)` names power flows in W, integrated along the run; `stored(t, x, u)` is the energy they change.
  6. `project(t, x)` puts a state that a step has led off the system's constraints back on them; every integrator calls it
     after each step it accepts. Left out, it costs nothing. A state on the constraints must not change.
  7. All of these are plain NumPy on scalars: sequences in, lists out, no `if` on a value (np.where), no state on `self`.
     The same text runs on floats and on CasADi expressions.

Controller (its memory z is state of the loop, its number `references` come from the scenario)
  8. Continuous law: `command(t, z, y, r)` → u, `rhs(t, z, y, r)` → ż.
  9. Sampled law: `step(t, z, y, r)` → (z⁺, u), or `step_at(T_s, t, z, y, r)` where the recursion needs the sample time.
 10. `references` are Signals whose kind says who provides them: "reference" or "noise".

ClosedLoop is again a System. A user's own controller (an object with `step` or `command`, or a function f(t, y, r) → u)
is `Plain`: it may do anything Python can, so it is called from Python around the compiled plant (`workbench.hosted`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from workbench.errors import InputError


@dataclass(frozen=True)
class Signal:
    """A named scalar in time: name, SI unit, meaning; kind is "" or "reference", "noise", "disturbance"."""

    name: str
    unit: str = "1"
    meaning: str = ""
    kind: str = ""


def names(signals: Sequence[Signal]) -> list[str]:
    """Names of signals, in order."""
    return [s.name for s in signals]


class System(ABC):
    """A hybrid dynamic system; see the numbered contract above."""

    outputs: tuple[Signal, ...] = ()
    monitors: tuple[Signal, ...] = ()
    power_names: tuple[str, ...] = ()
    pressure_names: tuple[str, ...] = ()  # logged signals that are chamber pressures
    period: float | None = None
    lag: float = 0.0
    stiff: tuple[str, ...] = ()  # such as rates under steep friction
    no_derivative: str = ""  # why `linearize` must refuse, in words; empty when it need not

    @property
    @abstractmethod
    def states(self) -> tuple[Signal, ...]: ...

    @property
    @abstractmethod
    def inputs(self) -> tuple[Signal, ...]: ...

    @abstractmethod
    def initial(self) -> Sequence[float]:
        """A sensible start: states in order."""

    @abstractmethod
    def rhs(self, t, x, u) -> list: ...

    def out(self, t, x) -> list:
        return []

    def monitor(self, t, x, u) -> list:
        return []

    def guards(self, t, x, u) -> list:
        return []

    def powers(self, t, x, u) -> list:
        return []

    def stored(self, t, x, u):
        return 0.0

    def update(self, t, x, u) -> list:
        return list(x)

    def release(self, t, x, u) -> list:
        return list(x)

    def project(self, t, x) -> list:
        return list(x)

    def defaults(self) -> Mapping[str, float]:
        """Values of inputs nobody provides (0 where not named)."""
        return {}

    def limits(self) -> Mapping[str, tuple[float, float]]:
        """Range of the controls, where the plant has one: input name → (low, high)."""
        return {}


class Controller(ABC):
    """A control law; see the numbered contract above. Give `command` (continuous) or `step` (sampled), or both."""

    states: tuple[Signal, ...] = ()
    monitors: tuple[Signal, ...] = ()
    period: float | None = None
    lag: float = 0.0
    no_derivative: str = ""
    open: bool = False  # True: controls it does not command are the scenario's

    @property
    @abstractmethod
    def measured(self) -> tuple[Signal, ...]:
        """Plant outputs it reads, by name."""

    @property
    @abstractmethod
    def commands(self) -> tuple[Signal, ...]:
        """Plant inputs it drives, by name."""

    @property
    def references(self) -> tuple[Signal, ...]:
        return ()

    def initial(self) -> Sequence[float]:
        return [0.0] * len(self.states)

    def command(self, t, z, y, r) -> list:
        raise InputError(f"{type(self).__name__} is a sampled law without a continuous form",
                         mend=f"wrap it: Sampled({type(self).__name__}(…), T_s=…)")

    def rhs(self, t, z, y, r) -> list:
        return [0.0] * len(self.states)

    def step(self, t, z, y, r) -> tuple[list, list]:
        if self.states:
            raise InputError(f"{type(self).__name__} has memory but no sampled form",
                             mend="give it `step` or `step_at`")
        return [], self.command(t, z, y, r)

    def step_at(self, T_s, t, z, y, r) -> tuple[list, list]:
        return self.step(t, z, y, r)

    def start(self, t, z, y, r) -> list:
        """Memory consistent with the first measurement (filters settled); the default keeps z."""
        return list(z)

    def update(self, t, z, y, r) -> list:
        return list(z)

    def release(self, t, z, y, r) -> list:
        return list(z)

    def monitor(self, t, z, y, r) -> list:
        return []


@final
@dataclass(frozen=True, eq=False)
class Plain:
    """A user's own controller: called from Python at every sample, free to be anything.

    law: object with `step(t, z, y, r) → (z⁺, u)`, object with `command(t, z, y, r) → u`, or function `f(t, y, r) → u`;
    its memory z is any Python value. It may also have `initial() → z`, `start(t, z, y, r) → z` (memory that fits the
    first measurement), `T_s`, and `monitors` (Signals) with `monitor(t, z, y, r) → values` to be logged.
    It reads all plant outputs unless `measured` names some, and drives all plant controls unless `commands` does; names
    or Signals, here or as attributes of the law, and likewise `references`. y, r, u are lists of floats in that order.
    """

    law: Any
    measured: tuple[Signal | str, ...] = ()
    commands: tuple[Signal | str, ...] = ()
    references: tuple[Signal | str, ...] = ()

    # Its memory is Python's (`workbench.hosted` keeps it, new at every run), so the loop sees none.
    states = ()
    period = None
    lag = 0.0
    no_derivative = "a controller called from Python has no derivative"

    @property
    def name(self) -> str:
        return getattr(self.law, "__name__", type(self.law).__name__)

    @property
    def monitors(self) -> tuple[Signal, ...]:
        return tuple(getattr(self.law, "monitors", ()))

    def initial(self):
        return []

    def _refuse(self, *_):
        raise InputError(f"{self.name} is called from Python and has no expression",
                         mend="run it with simulate(loop, scenario)")

    command = rhs = step_at = start = monitor = _refuse


def plain(law, plant: System) -> Plain:
    """`law` as a Plain controller of `plant`, its signals looked up on the law or taken from the plant."""
    given = law if isinstance(law, Plain) else Plain(law)
    law = given.law
    if not (hasattr(law, "step") or hasattr(law, "command") or isinstance(law, Callable)):
        raise InputError(f"{given.name} is no controller",
                         mend="give it step(t, z, y, r) → (z⁺, u), or command(t, z, y, r) → u, or pass f(t, y, r) → u")

    def wanted(attribute):
        return getattr(given, attribute) or getattr(law, attribute, None)

    def pick(attribute, available):
        chosen = wanted(attribute)
        if chosen is None:
            return tuple(available)
        return tuple(find(available, getattr(w, "name", w), f"{attribute} of {given.name}") for w in chosen)

    own = tuple(s if isinstance(s, Signal) else _reference(s, plant) for s in wanted("references") or ())
    return Plain(law, pick("measured", plant.outputs), pick("commands", controls(plant)), own)


def _reference(name: str, plant: System) -> Signal:
    """Reference signal such as "dx_1_d", its unit taken from the plant's signal of that name where there is one."""
    base = name.removesuffix("_d")
    order = len(base) - len(base.lstrip("d"))
    unit = next((s.unit for s in (*plant.outputs, *plant.monitors) if s.name == base[order:]), "1")
    rate = "" if order == 0 else "/s" if order == 1 else f"/s^{order}"
    return Signal(name, unit + rate, kind="reference")


def innermost(controller):
    """The law inside all wrappers, whatever it is."""
    while isinstance(controller, Controller) and hasattr(controller, "inner"):
        controller = controller.inner
    return controller


def rewrapped(controller, law):
    """The same wrappers around another law."""
    if isinstance(controller, Controller) and hasattr(controller, "inner"):
        return replace(controller, inner=rewrapped(controller.inner, law))
    return law


def joined(controller, plant: System):
    """`controller` ready for `plant`: a user's own law inside any wrappers becomes Plain, and is sampled.

    Where no wrapper samples it, it runs at its own `T_s`, or every 1 ms.
    """
    from workbench.wrappers import Sampled

    law = innermost(controller)
    if isinstance(law, Controller):
        return controller
    law = plain(law, plant)
    controller = rewrapped(controller, law)
    return controller if controller.period is not None else Sampled(controller, getattr(law.law, "T_s", 1e-3))


def controls(plant: System) -> tuple[Signal, ...]:
    """Inputs of `plant` that a controller drives (everything that is not a disturbance)."""
    return tuple(s for s in plant.inputs if s.kind == "")


def find(signals: Sequence[Signal], name: str, where: str) -> Signal:
    """The signal called `name`, or an InputError that lists the nearest ones."""
    for s in signals:
        if s.name == name:
            return s
    import difflib

    near = difflib.get_close_matches(name, names(signals), 3)
    raise InputError(f"{where}: there is no signal {name!r}",
                     mend=f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(names(signals)) or 'none'}")


@final
@dataclass(frozen=True, eq=False)
class ClosedLoop(System):
    """Plant and controller joined by signal names; again a System.

    states = plant's, then the controller's memory. inputs = the plant's disturbances, then the controller's references.
    A `Plain` controller's memory stays in Python; its held command then appears as the last states.
    """

    plant: System
    controller: Any
    _reads: tuple[int, ...] = field(init=False, repr=False)
    _drives: tuple[int, ...] = field(init=False, repr=False)
    _free: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "controller", joined(self.controller, self.plant))
        who = f"{type(self.controller).__name__} on {type(self.plant).__name__}"
        outs, ins = names(self.plant.outputs), names(self.plant.inputs)
        reads = tuple(outs.index(find(self.plant.outputs, s.name, f"{who}, measurement").name)
                      for s in self.controller.measured)
        drives = tuple(ins.index(find(self.plant.inputs, s.name, f"{who}, command").name)
                       for s in self.controller.commands)
        undriven = [s.name for s in controls(self.plant) if s.name not in names(self.controller.commands)]
        if undriven and not getattr(innermost(self.controller), "open", False):
            raise InputError(f"{who}: nothing drives the plant's {', '.join(undriven)}",
                             mend="let the controller command them, or build the plant without them")
        twice = {n for n in names(self.controller.references) if names(self.controller.references).count(n) > 1}
        if twice:
            raise InputError(f"{who}: {', '.join(sorted(twice))} enters twice", mend="give each signal one Noisy wrapper")
        object.__setattr__(self, "_reads", reads)
        object.__setattr__(self, "_drives", drives)
        object.__setattr__(self, "_free", tuple(i for i in range(len(ins)) if i not in drives))

    @property
    def hosted(self) -> bool:
        """True when the controller must be called from Python."""
        return isinstance(innermost(self.controller), Plain)

    @property
    def states(self):
        return (*self.plant.states, *self.controller.states)

    @property
    def inputs(self):
        free = tuple(self.plant.inputs[i] for i in self._free)
        return (*free, *self.controller.references)

    @property
    def outputs(self):
        return self.plant.outputs

    @property
    def monitors(self):
        return (*self.plant.monitors, *self.controller.monitors, *self.controller.commands)

    @property
    def power_names(self):
        return self.plant.power_names

    @property
    def period(self):
        return self.controller.period

    @property
    def lag(self):
        return self.controller.lag

    @property
    def stiff(self):
        return self.plant.stiff

    @property
    def no_derivative(self):
        return self.plant.no_derivative or self.controller.no_derivative

    def defaults(self):
        return self.plant.defaults()

    def initial(self):
        return [*self.plant.initial(), *self.controller.initial()]

    def parts(self, t, x, w):
        """(plant state, controller memory, measurement, reference, plant input) at (t, x, w)."""
        n, m = len(self.plant.states), len(self._free)
        xp, z, r = x[:n], x[n:], w[m:]
        y_all = self.plant.out(t, xp)
        y = [y_all[i] for i in self._reads]
        u = [0.0] * len(self.plant.inputs)
        for i, value in zip(self._free, w[:m]):
            u[i] = value
        for i, value in zip(self._drives, self.controller.command(t, z, y, r)):
            u[i] = value
        return xp, z, y, r, u

    def start(self, t, x, w) -> list:
        """Initial state with the controller's memory made consistent with the first measurement."""
        n, m = len(self.plant.states), len(self._free)
        y_all = self.plant.out(t, x[:n])
        return [*x[:n], *self.controller.start(t, x[n:], [y_all[i] for i in self._reads], w[m:])]

    def rhs(self, t, x, w):
        xp, z, y, r, u = self.parts(t, x, w)
        return [*self.plant.rhs(t, xp, u), *self.controller.rhs(t, z, y, r)]

    def out(self, t, x):
        return self.plant.out(t, x[: len(self.plant.states)])

    def monitor(self, t, x, w):
        xp, z, y, r, u = self.parts(t, x, w)
        return [*self.plant.monitor(t, xp, u), *self.controller.monitor(t, z, y, r), *(u[i] for i in self._drives)]

    def guards(self, t, x, w):
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.guards(t, xp, u)

    def project(self, t, x):
        n = len(self.plant.states)
        return [*self.plant.project(t, x[:n]), *x[n:]]

    def powers(self, t, x, w):
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.powers(t, xp, u)

    def stored(self, t, x, w):
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.stored(t, xp, u)

    def _jump(self, which, t, x, w):
        n, m = len(self.plant.states), len(self._free)
        y_all = self.plant.out(t, x[:n])
        return [*x[:n], *getattr(self.controller, which)(t, x[n:], [y_all[i] for i in self._reads], w[m:])]

    def update(self, t, x, w):
        return self._jump("update", t, x, w)

    def release(self, t, x, w):
        return self._jump("release", t, x, w)
