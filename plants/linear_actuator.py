"""Linear actuator: an integrator behind three lags, and a compliance to the load behind a fourth.

    Y(s) = G_1(s) X + G_2(s) F_ext                                                        (26)
    G_1  = K/(s (1 + λ_1 s)(1 + λ_2 s)(1 + λ_3 s))                                        (27)
    G_2  = K'/(s (1 + λ'_1 s)),  K' < 0: F_ext opposes +Y                                 (28)

realised with one integrator for both paths:

    λ_1 v̇_1 = K X − v_1,  λ_2 v̇_2 = v_1 − v_2,  λ_3 v̇_3 = v_2 − v_3,  λ'_1 v̇_F = K' F_ext − v_F,  Ẏ = v_3 + v_F

It states no energy, and no loop with it is asked for an energy balance: v_3 comes about whatever the force, so that nothing in
the model brings the power F_ext v_3.

Source: [Alfayad16] eqs (26)–(28).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from plants import scales
from plants.machine_files import like
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Adaptive


@final
@dataclass(frozen=True)
class LinearActuator(System):
    """The identified model of `plants.IEHA`; equations in `plants.linear_actuator`. Inputs X [m], F_ext [N].

    measured: "load", position and velocity of the load, as on the machine; "states", what lies between as well, as laws
    with full state need. The limit X_max is not part of the equations: claims and controllers read it.
    """

    K: Annotated[float, Unit("1/s"), "velocity gain", positive] = 115.4
    λ_1: Annotated[float, Unit("s"), "first lag", positive] = 1.14e-3
    λ_2: Annotated[float, Unit("s"), "second lag", positive] = 1.14e-3
    λ_3: Annotated[float, Unit("s"), "third lag", positive] = 1.11e-3
    K_F: Annotated[float, Unit("m/(s N)"), "K', velocity by the external force"] = -6.3e-6
    λ_F: Annotated[float, Unit("s"), "λ'_1, lag of that", positive] = 0.43e-6
    X_max: Annotated[
        float, Unit("m"), "largest position of the micro-valve, both ways", positive
    ] = 0.5e-3
    measured: Literal["load", "states"] = "load"
    name: str = "linear actuator"

    states = (
        Signal("v_1", "m/s", "behind the first lag"),
        Signal("v_2", "m/s", "behind the second lag"),
        Signal("v_3", "m/s", "behind the third lag"),
        Signal("v_F", "m/s", "velocity by the external force"),
        Signal("Y", "m", "position of the load"),
    )
    inputs = (
        Signal("X", "m", "position of the micro-valve"),
        Signal("F_ext", "N", "external force, opposing +Y", "disturbance"),
    )
    adaptive = Adaptive((1e-8, 1e-8, 1e-8, 1e-8, 1e-11))  # λ'_1 is far below any sample time

    def __post_init__(self):
        check_bounds(self)

    @property
    def outputs(self):
        own = (
            Signal("Y", "m", "position of the load"),
            Signal("dY", "m/s", "velocity of the load"),
        )
        return own if self.measured == "load" else (*own, *self.states[:4])

    @property
    def velocity_gain(self):
        """Velocity of the load per metre of X, 1/s."""
        return self.K

    def limits(self):
        return {"X": (-self.X_max, self.X_max)}

    def as_shipped(self):
        return like(self)

    def scales(self):
        return scales.of_linear_actuator(self)

    def initial(self):
        return [0.0] * 5

    def rhs(self, t, x, u):
        v_1, v_2, v_3, v_F, _ = x
        X, F_ext = u
        return [
            (self.K * X - v_1) / self.λ_1,
            (v_1 - v_2) / self.λ_2,
            (v_2 - v_3) / self.λ_3,
            (self.K_F * F_ext - v_F) / self.λ_F,
            v_3 + v_F,
        ]

    def out(self, t, x):
        return [x[4], x[2] + x[3], *(x[:4] if self.measured == "states" else ())]
