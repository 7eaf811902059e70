"""The published linear actuator with an external force, and controllers for it: what the tests of LQR and MPC share."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from controllers import MPC, Observer
from workbench import ClosedLoop, Signal, System, simulate
from workbench.contract.parameters import Unit

X_MAX, SLEW = 4e-4, 0.08


@dataclass(frozen=True)
class Actuator(System):
    """Ẏ = v + w: three lags from K X to v, one from K' F_ext to w."""

    K: Annotated[float, Unit("1/s")] = 115.4
    K_F: Annotated[float, Unit("m/(s N)")] = -6.3e-6
    λ: Annotated[tuple[float, ...], Unit("s")] = (1.14e-3, 1.14e-3, 1.11e-3)
    λ_F: Annotated[float, Unit("s")] = 0.43e-3
    all_states: bool = False
    states = tuple(
        Signal(n, u)
        for n, u in (("a", "m/s"), ("b", "m/s"), ("v", "m/s"), ("w", "m/s"), ("Y", "m"))
    )
    inputs = (Signal("X", "m"), Signal("F_ext", "N", kind="disturbance"))

    @property
    def outputs(self):
        return (Signal("Y", "m"), *(self.states[:4] if self.all_states else ()))

    def initial(self):
        return [0.0] * 5

    def rhs(self, t, x, u):
        a, b, v, w, _ = x
        return [
            (self.K * u[0] - a) / self.λ[0],
            (a - b) / self.λ[1],
            (b - v) / self.λ[2],
            (self.K_F * u[1] - w) / self.λ_F,
            v + w,
        ]

    def out(self, t, x):
        return [x[4], *(x[:4] if self.all_states else ())]


def mpc(plant=None, **changes):
    """Position control with limits on X and its rate, an observer of a disturbance at X, and the load known ahead."""
    settings = {
        "Q": (1e6,),
        "S": (1e5,),
        "N": 20,
        "u_min": (-X_MAX,),
        "u_max": (X_MAX,),
        "slew": (SLEW,),
        "known": ("F_ext",),
        "observer": Observer(σ_y=(1e-6,), σ_d=(1e-6,), disturbance=("X",)),
    }
    return MPC(plant or Actuator(), **(settings | changes))


def drawn(law, rng, spread=1.0):
    """θ at a random state, disturbance, load, last command and reference, many of them with active limits."""
    q = law.prepared.problem
    x = [0.0] * len(q.model.A)
    x[:5] = [*(spread * 0.03 * rng.normal(size=4)), spread * 1e-4 * rng.normal()]
    n_d, n_v = q.model.B_d.shape[1], q.model.E0.shape[1]
    return law.parameter(
        x,
        spread * 3e-4 * rng.normal(),
        1e-5 * rng.normal(size=n_d),
        300 * rng.normal(size=n_v),
        0.9 * X_MAX * rng.uniform(-1, 1),
    )


def commands(law, s):
    """Planned commands (N,) of a solution."""
    q = law.prepared.problem
    return np.repeat(s.z[: len(q.blocks)], q.blocks) * q.stroke[0]


def tracking(law, scenario, plant=None):
    """(log, error of Y), steps fine for lags of 0.4 ms."""
    log = simulate(ClosedLoop(plant or Actuator(), law), replace(scenario, max_step=5e-5))
    return log, log.array("Y_d") - log.array("Y")
