"""A machine's own scales, and the floors below which a number of a run is rounding.

A bound of ten times nothing is nothing, and an oscillation of a nanometre is none. Whether a number is small is measured by the
machine's own scales: the energy of its supply times the volume it fills, its rated force, its full stroke. A plant states them
(`System.scales`), each with its origin; a scale that it does not state is None, and then nothing counts as small.

    floor of a position, angle, velocity, pressure, force, command      FRACTION · scale
    floor of an energy, and of v                                        FRACTION² · scale      (v is quadratic in the errors)

FRACTION, a millionth of full stroke, is below what any sensor of a hydraulic machine resolves, and far above rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from workbench.contract.system import System

FRACTION = 1e-6
SECOND = 1.0  # s: over which an energy counts as a power
KINDS = ("energy", "pressure", "force", "torque", "length", "angle", "velocity", "rate")
_OF_UNIT = {
    "J": "energy",
    "W": None,
    "Pa": "pressure",
    "N": "force",
    "N m": "torque",
    "N*m": "torque",
    "m": "length",
    "rad": "angle",
    "m/s": "velocity",
    "rad/s": "rate",
}


@dataclass(frozen=True)
class Scale:
    """One number of a machine: its value in SI units, and in words where it comes from."""

    value: float
    source: str


@dataclass(frozen=True)
class Scales:
    """A large value of a quantity for a machine; None where the machine states none.

    energy    J      supply pressure times the volume its chambers have
    pressure  Pa     supply pressure
    force     N      of the weakest actuator at full pressure;  torque N m likewise
    length    m      shortest stroke;  angle rad: smallest range of a joint
    velocity  m/s    of the slowest actuator at full command;  rate rad/s likewise
    command   input's name → half the range it may have, in its unit
    """

    energy: Scale | None = None
    pressure: Scale | None = None
    force: Scale | None = None
    torque: Scale | None = None
    length: Scale | None = None
    angle: Scale | None = None
    velocity: Scale | None = None
    rate: Scale | None = None
    command: MappingProxyType[str, Scale] = field(default_factory=lambda: MappingProxyType({}))

    def of_unit(self, unit: str) -> Scale | None:
        """The scale of signals in this unit; None for a unit that no scale of a machine has."""
        kind = _OF_UNIT.get(unit)
        return None if kind is None else getattr(self, kind)


def scales(plant: System) -> Scales:
    """Everything `plant` states, with its commands' ranges."""
    units = {s.name: s.unit for s in plant.inputs}
    commands = {
        name: Scale(0.5 * (high - low), f"range of {name}, {low:g} … {high:g} {units[name]}")
        for name, (low, high) in plant.limits().items()
    }
    return Scales(**plant.scales(), command=MappingProxyType(commands))


def energy_scale(plant: System) -> Scale | None:
    """Energy of the supply in the volume of the machine, J."""
    return scales(plant).energy


def storage_floor(run) -> float:
    """Energy [J] below which v and every other energy of a run count as rounding; 0 for a plant that states no energy scale."""
    scale = energy_scale(run.loop.plant)
    return 0.0 if scale is None else FRACTION**2 * scale.value


def power_floor(run) -> float:
    """Power [W] below which a power counts as rounding: `storage_floor` within a second; 0 without an energy scale."""
    return storage_floor(run) / SECOND


def signal_floor(plant: System, name: str) -> float:
    """Amplitude below which signal `name` of `plant` is rounding, in its unit; 0 where the plant states no scale for it."""
    own = scales(plant)
    scale = own.command.get(name)
    if scale is None:
        known = {s.name: s.unit for s in (*plant.states, *plant.outputs, *plant.monitors)}
        scale = own.of_unit(known.get(name, ""))
    return 0.0 if scale is None else FRACTION * scale.value
