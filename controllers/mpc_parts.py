"""What a predictive controller is told: limits on outputs, a user's own additions, settings that suit a plant."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from controllers.observer import Observer
from workbench.parameters import Unit, check_bounds, nonnegative, positive
from workbench.system import controls, names


@final
@dataclass(frozen=True)
class Limit:
    """Limits on an output, from the next sample on; soft: exceeded where the cost ρ₁ s + ρ₂ s² of the excess s pays off."""

    name: str
    low: Annotated[float | None, Unit("1"), "lowest value, in the output's unit"] = None
    high: Annotated[float | None, Unit("1"), "highest value"] = None
    soft: bool = False
    linear: Annotated[float, Unit("1"), "ρ₁", nonnegative] = 0.0
    quadratic: Annotated[float, Unit("1"), "ρ₂", positive] = 1.0

    def __post_init__(self):
        check_bounds(self)
        if self.low is None and self.high is None:
            raise ValueError(f"limit of {self.name}: neither low nor high is given")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"limit of {self.name}: low, {self.low:g}, must be below high, {self.high:g}")


class Named:
    """A user's function, shown by its name and the hash of its source (its address would change from run to run)."""

    def __init__(self, f):
        self.f = f

    def __call__(self, *arguments):
        return self.f(*arguments)

    def __repr__(self):
        try:
            source = hashlib.sha256(inspect.getsource(self.f).encode()).hexdigest()[:16]
        except (OSError, TypeError):
            source = "unknown"
        return f"{getattr(self.f, '__module__', '?')}.{getattr(self.f, '__qualname__', type(self.f).__name__)}, source {source}"


# Noise by unit: what the sensors of a crane give, and what its model misses in a sample.
NOISE = {"rad": 1e-5, "m": 1e-5, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3, "V": 1e-3, "V/s": 1e-1}
MISSED = {"rad": 1e-6, "m": 1e-6, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3, "V": 1e-3, "V/s": 1e-1}


def suited(plant) -> dict[str, Any]:
    """Limits of the commands as the plant has them; for a manipulator all settings.

    Pistons follow, every sample linearises along the prediction, the observer knows encoders, pressures and a disturbance at
    every valve: Q = 1 mm⁻², S = 0.3 V⁻².
    """
    ends = [plant.limits().get(s.name, (-np.inf, np.inf)) for s in controls(plant)]
    found = {"u_min": tuple(low for low, _ in ends), "u_max": tuple(high for _, high in ends)}
    if not hasattr(plant, "cylinders"):
        return found
    signals = tuple(s for s in plant.outputs[: 4 * plant.n])
    pistons = tuple(find for find in plant.task_names("piston"))
    more = tuple(s for s in plant.outputs if s.name in pistons and s not in signals)
    filter_ = Observer(σ_y=tuple(NOISE[s.unit] for s in (*signals, *more)), σ_d=(1e-2,), σ_w=(1e-2,),
                       σ_x=tuple(MISSED.get(s.unit, 1e-6) for s in plant.states))
    return found | {"Q": (1e6,), "S": (0.3,), "tracked": pistons, "signals": tuple(names((*signals, *more))), "observer": filter_,
                    "relinearise": True, "terminal": "none"}
