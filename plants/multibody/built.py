"""A plant that is a mechanism with parameters and names of its own: few numbers, and signals that its users know.

  1. `mechanism` is the machine, made of the plant's numbers, which may be expressions.
  2. `called` gives the plant's name of a signal of the mechanism, where the two differ: of all states, and of what laws measure.
     States may stand in another order, and have the same unit and zero.
  3. `given(u)` are the mechanism's inputs from the plant's: the first of both are the drives' commands.
  4. `causes` gives the causes of the mechanism's energy account that are one cause of the plant's, by its name.
  5. `timed(t)` gives the states of the mechanism that are none of the plant, since they follow from time alone, by name.
  6. `beginning` are its fields that only say where it starts, with values that it can be compared by.

The plant's equations, its energy and where that goes are the mechanism's. To add such a plant: a class that has these six.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from plants.multibody.mechanism import Mechanism
from workbench.contract.system import System, names


class Built(System):
    """A plant that is a `Mechanism` under other names; what a subclass has to give is numbered in the module's docstring."""

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism: ...

    @property
    @abstractmethod
    def called(self) -> Mapping[str, str]: ...

    @property
    @abstractmethod
    def causes(self) -> Mapping[str, tuple[str, ...]]: ...

    @abstractmethod
    def given(self, u) -> list: ...

    def timed(self, t) -> Mapping[str, Any]:
        return {}

    @property
    def beginning(self) -> dict[str, Any]:
        return {}

    @property
    def just_shut(self) -> dict[str, float]:
        """Commands of the plant at which valves of the mechanism are just shut."""
        own = names(self.inputs)
        called = self.called
        shut = {called.get(name, name): u for name, u in self.mechanism.just_shut.items()}
        return {name: u for name, u in shut.items() if name in own}

    @cached_property
    def places(self) -> tuple[int | str, ...]:
        """Where the mechanism's states are among the plant's; by name those that follow from time."""
        own = names(self.states)
        called = self.called
        timed = self.timed(0.0)
        return tuple(
            name if name in timed else own.index(called.get(name, name))
            for name in names(self.mechanism.states)
        )

    def inner(self, x, t=0.0) -> list:
        """The mechanism's state, or its rates, from the plant's."""
        timed = self.timed(t)
        return [timed[i] if isinstance(i, str) else x[i] for i in self.places]

    def outer(self, y) -> list:
        """The plant's state, or its rates, from the mechanism's."""
        at = dict(zip(self.places, y))
        return [at[i] for i in range(len(self.states))]

    def logged(self, t, x, u) -> dict:
        """What the mechanism logs, by its own names."""
        m = self.mechanism
        return dict(zip(names(m.monitors), m.monitor(t, self.inner(x, t), self.given(u))))

    # ---- the equations ------------------------------------------------------------------------------------------------
    def rhs(self, t, x, u):
        return self.outer(self.mechanism.rhs(t, self.inner(x, t), self.given(u)))

    def guards(self, t, x, u):
        return self.mechanism.guards(t, self.inner(x, t), self.given(u))

    @property
    def power_names(self):
        return tuple(self.causes)

    def powers(self, t, x, u):
        m = self.mechanism
        by_name = dict(zip(m.power_names, m.powers(t, self.inner(x, t), self.given(u))))
        return [sum(by_name[name] for name in own) for own in self.causes.values()]

    def stored(self, t, x, u):
        return self.mechanism.stored(t, self.inner(x, t), self.given(u))
