"""A small servo axis whose plant and loop are exported: kinks, a stiff pressure, a push, a law with memory."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from workbench import ClosedLoop, Controller, Scenario, Signal, Sine, System
from workbench.contract.parameters import Unit
from workbench.contract.wrappers import Sampled
from workbench.interop.export.system_run import system_graph


@dataclass(frozen=True)
class Axis(System):
    """ẋ = v,  m v̇ = A p − d v + F,  ṗ = (k clip(u) − A v)/C − p/τ: the valve is full at ±u_max, where the flow has a kink."""

    m: Annotated[float, Unit("kg")] = 41.0
    A: Annotated[float, Unit("m^2")] = 1.3e-3
    d: Annotated[float, Unit("N s/m")] = 310.0
    k: Annotated[float, Unit("m^2/s")] = 0.021
    C: Annotated[float, Unit("m^3/Pa")] = 2.7e-12
    τ: Annotated[float, Unit("s")] = 0.013
    x_end: Annotated[float, Unit("m")] = 4.02e-3
    stiff: tuple = ("p",)
    states = (Signal("x", "m"), Signal("v", "m/s"), Signal("p", "Pa", 'pressure & "load"'))
    inputs = (Signal("u", "m"), Signal("F", "N", "push", "disturbance"))
    outputs = (Signal("x", "m"), Signal("p", "Pa"))

    def initial(self):
        return [0.004, 0.0, 1e4]

    def rhs(self, t, x, u):
        over = np.fmax(x[0] - self.x_end, 0.0)  # a cushion
        return [
            x[1],
            (self.A * x[2] - self.d * x[1] + u[1] - 9e4 * over) / self.m,
            (self.k * np.tanh(u[0] / 1e-3) * 1e-3 - self.A * x[1]) / self.C - x[2] / self.τ,
        ]

    def guards(self, t, x, u):
        return [x[0] - self.x_end]

    def out(self, t, x):
        return [x[0], x[2]]

    def defaults(self):
        return {"F": 12.5}


@dataclass(frozen=True)
class Law(Controller):
    """z⁺ = z + T e, u = k e + k_i z: proportional and integral."""

    k: Annotated[float, Unit("1")] = 0.37
    k_i: Annotated[float, Unit("1/s")] = 2.1
    states = (Signal("sum", "m s"),)
    measured = (Signal("x", "m"),)
    commands = (Signal("u", "m"),)
    references = (Signal("x_d", "m", "wanted", "reference"),)

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        return [z[0] + 1e-3 * e], [self.k * e + self.k_i * z[0]]


LOOP = ClosedLoop(Axis(), Sampled(Law(), 1e-3))


def scenario(duration=0.06, **more):
    """A sine about the cushion's edge."""
    wanted = Sine("output", (0.004, 0.0), (0.002, 0.0), 11.0, ramp=0.01)
    return Scenario(reference=wanted, duration=duration, **more)


def exported_part(part, loop=LOOP, duration=0.06, **more):
    """(graph, run) of the plant, or the loop, through the scenario."""
    return system_graph(loop, scenario(duration, **more), part)
