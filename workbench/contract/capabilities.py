"""Optional methods of plants and laws, beyond `workbench.contract.system`: a Protocol for each, `isinstance(plant, HasTask)`.

Optional data is in `workbench.contract.declared`. No plant or law is probed with `hasattr`.
"""

from __future__ import annotations

from math import inf
from typing import Any, Protocol, runtime_checkable


# ---- what a plant can do ------------------------------------------------------------------------
@runtime_checkable
class HasTask(Protocol):
    """A machine that takes references in several `spaces`."""

    def task(self, space: str, q: Any) -> Any: ...

    def task_names(self, space: str) -> Any: ...


@runtime_checkable
class Posed(Protocol):
    """A machine that can be put at rest at given joint positions."""

    def check_pose(self, q: Any, where: str = ...) -> None:
        """InputError where it cannot stand there."""

    def rest(self, q: Any) -> Any:
        """All states at rest at joint positions q."""


@runtime_checkable
class HasJointRange(Protocol):
    """A machine that knows how far its joints go."""

    def joint_range(self) -> Any: ...


@runtime_checkable
class Lockable(Protocol):
    """A machine whose prismatic joints can be locked."""

    def locked(self, **at: float) -> Any: ...


@runtime_checkable
class OnSupply(Protocol):
    """A machine on a pump whose pressures are states."""

    def at_supply(self, x: Any) -> Any:
        """The machine at the supply pressures of state x."""


@runtime_checkable
class HasValveAccount(Protocol):
    """A machine behind metering valves that gives the power of each valve along a run."""

    def valve_account(self, log: Any) -> Any: ...


@runtime_checkable
class HasValveSections(Protocol):
    """Metering valves that reports can draw: `plants.valve_circuits.valve_sections.ValveSections`, None where they cannot."""

    @property
    def valve_sections(self) -> Any: ...


@runtime_checkable
class HasUniqueness(Protocol):
    """A circuit for which it can be checked that every load has one velocity."""

    def uniqueness(self, samples: int = ..., seed: int = ...) -> Any: ...


@runtime_checkable
class HasPassivity(Protocol):
    """A circuit whose incremental passivity can be checked."""

    def passivity(self, samples: int = ..., seed: int = ...) -> Any: ...


@runtime_checkable
class Drivable(Protocol):
    """A planar crane that belongs to a whole machine, so that plans on it can be driven."""

    planar: Any
    machine: Any

    def positions(self, q: Any) -> Any:
        """Joint positions of the machine."""


@runtime_checkable
class LinearisesItself(Protocol):
    """A plant without an expression graph that gives its own derivatives at a point."""

    # Strength of what rests on them, and where they come from, in words.
    derivatives: tuple[str, str]

    def linearised(self, x: Any, u: Any, inputs: Any) -> Any:
        """`workbench.numerics.linearisation.Linearisation` about states x and inputs u, by some inputs."""


# ---- what a law can do --------------------------------------------------------------------------
@runtime_checkable
class HasLedger(Protocol):
    """A law with an accompanying function and its ledger."""

    def certificate(self, plant: Any) -> Any: ...


@runtime_checkable
class HasUnconstrained(Protocol):
    """A law called from Python that is made of expressions as long as none of its limits is active."""

    def unconstrained(self) -> Any:
        """These expressions, a Controller whose `conditions` tell when they are the law. InputError where there are none."""


@runtime_checkable
class Predictive(Protocol):
    """A predictive law, with the ingredients of its stability argument."""

    def ingredients(self, r: Any, lost: tuple[str, ...] = ...) -> Any: ...


# ---- what a signal of a scenario can be ---------------------------------------------------------
@runtime_checkable
class Varies(Protocol):
    """A disturbance or reference that changes with time, where another is a number."""

    def sample(self, t: Any, order: int) -> Any: ...


@runtime_checkable
class Jumps(Protocol):
    """A disturbance or reference that jumps between its samples."""

    def jumps(self) -> Any:
        """Instants of the jumps, s."""


@runtime_checkable
class Ends(Protocol):
    """A motion that comes to rest."""

    duration: float


def ends(motion: Any) -> float:
    """When a reference or disturbance has come to rest, s; ∞ for one that does not say."""
    return motion.duration if isinstance(motion, Ends) else inf


@runtime_checkable
class Repeats(Protocol):
    """A motion that comes again and again."""

    periods: tuple[float, ...]


def periods(motion: Any) -> tuple[float, ...]:
    """Periods of what a reference or disturbance is made of, s; none of one that does not say, or does not repeat."""
    return motion.periods if isinstance(motion, Repeats) else ()


# ---- what any part can say of itself ------------------------------------------------------------
@runtime_checkable
class Named(Protocol):
    """A part that is told apart from others by its name."""

    name: str


@runtime_checkable
class StatesUnits(Protocol):
    """An object whose units follow others of its numbers."""

    def units(self) -> dict[str, str]:
        """Field → unit."""
