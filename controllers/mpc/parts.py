"""Inputs of a predictive controller: limits on outputs, a user's own additions, and default settings for each kind of plant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from controllers.mpc.observer import Observer
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.source_text import source_hash
from workbench.contract.system import controls, names


@final
@dataclass(frozen=True)
class Limit:
    """Limits low ≤ y ≤ high on the output called `name`, from the next sample on.

    soft: the limit may be exceeded by s ≥ 0, at the cost ρ₁ s + ρ₂ s² a sample (ρ₁ `linear`, ρ₂ `quadratic`).
    """

    name: str
    low: Annotated[float | None, Unit("1"), "lowest value, in the output's unit"] = None
    high: Annotated[float | None, Unit("1"), "highest value"] = None
    soft: bool = False
    linear: Annotated[float, Unit("1"), "ρ₁", nonnegative] = 0.0
    quadratic: Annotated[float, Unit("1"), "ρ₂", positive] = 1.0

    def __post_init__(self):
        check_bounds(self)
        if self.low is None and self.high is None:
            raise InputError(f"limit of {self.name}: neither low nor high is given")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(
                f"limit of {self.name}: low, {self.low:g}, must be below high, {self.high:g}"
            )


class Named:
    """A user's function whose text form is its name and the hash of its source: its address would change from run to run."""

    def __init__(self, f):
        self.f = f

    def __call__(self, *arguments):
        return self.f(*arguments)

    def __repr__(self):
        source = source_hash(self.f)
        return f"{getattr(self.f, '__module__', '?')}.{getattr(self.f, '__qualname__', type(self.f).__name__)}, source {source}"


LONGEST = 1000  # samples of a horizon: matrices grow with its square
# s: a crane's sample time, and how far ahead it must look (0.1 s is too short to be stable).
SAMPLE, REACH = 20e-3, 0.4
# Of a crane, by unit: noise of its sensors, and what its model misses in a sample.
NOISE = {"rad": 1e-5, "m": 1e-5, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3}
MISSED = {"rad": 1e-6, "m": 1e-6, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3, "V": 1e-3, "V/s": 1e-1}


def horizon(T_s: float) -> int:
    """Samples that look REACH ahead, 10 … 80."""
    return int(np.clip(round(REACH / T_s), 10, 80))


def suited(plant) -> dict[str, Any]:
    """Default settings for a plant: the limits of its commands, and for a machine on cylinders everything but the model.

    The piston positions of such a machine follow the reference, with Q = 1 mm⁻² and S = 2000/u_max² (20 V⁻² for ±10 V), and the
    plant is linearised along the prediction. Measured are joints, rates, pressures and pistons. The observer estimates a
    disturbance at every valve and, of a manipulator, a force at the tool (a load that the model does not know).
    """
    ends = [plant.limits().get(s.name, (-np.inf, np.inf)) for s in controls(plant)]
    found = {"u_min": tuple(low for low, _ in ends), "u_max": tuple(high for _, high in ends)}
    if plant.linear_twin:
        return found | _actuator(plant)
    if plant.structures:
        return found | _on_pistons(plant, plant.n * 4, ("f_Dx", "f_Dy")[-plant.n :])
    if plant.mechanism is not None and "piston" in plant.spaces:
        return found | _on_pistons(plant, len(plant.outputs), ())
    return found


def _on_pistons(plant, first: int, tip: tuple[str, ...]) -> dict[str, Any]:
    """Settings for a machine whose pistons follow, from its `first` measurements and the pistons; tip: forces at the tool."""
    pistons = tuple(plant.task_names("piston"))
    seen = [
        s
        for i, s in enumerate(plant.outputs)
        if (i < first and s.unit in NOISE) or s.name in pistons
    ]
    valves = tuple(names(controls(plant)))
    ranges = [_range(plant, name) for name in valves]
    believed = Observer(
        σ_y=tuple(NOISE[s.unit] for s in seen),
        σ_d=(*(1e-4 * most for most in ranges), *((100.0,) * len(tip))),
        σ_x=tuple(MISSED.get(s.unit, 1e-6) for s in plant.states),
        disturbance=(*valves, *tip),
    )
    moves = tuple(2000.0 / most**2 for most in ranges)
    return {
        "Q": (1e6,),
        "S": moves[:1] if len(set(moves)) == 1 else moves,
        "T_s": SAMPLE,
        "N": horizon(SAMPLE),
        "tracked": pistons,
        "signals": tuple(names(seen)),
        "observer": believed,
        "relinearise": True,
        "terminal": "none",
    }


def _range(plant, command: str) -> float:
    """How far a command goes either way, in its unit; 10 where no limit is known."""
    ends = plant.limits().get(command, ())
    return max(map(abs, ends), default=10.0)


def _actuator(plant) -> dict[str, Any]:
    """Settings for an IEHA that is its own model: linearised along the prediction, its distributor open."""
    noise = {"m": 1e-6, "m/s": 1e-4, "Pa": 1e3}
    believed = Observer(
        σ_y=tuple(noise[s.unit] for s in plant.outputs), σ_d=(2e-6,), disturbance=("X",)
    )
    return {
        "Q": (1.0,),
        "S": (10.0,),
        "T_s": 2e-3,
        "N": 40,
        "observer": believed,
        "relinearise": True,
        "terminal": "none",
        "working": {"E": plant.distributor.E_d + plant.distributor.w},
    }


def limit_units(model=None, signals=()) -> dict[str, str]:
    """Units of a law's limits for the commands of `model` (plain SI numbers where they differ); words without a model."""
    units = {"command"} if model is None else {s.unit for s in controls(model)}
    u = units.pop() if len(units) == 1 else "1"
    return {"u_min": u, "u_max": u, "u_0": u, "slew": "1" if u == "1" else f"{u}/s"}
