"""Small systems and laws with known solutions."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from workbench import Controller, Signal, System
from workbench.contract.parameters import Unit, positive


@dataclass(frozen=True)
class Linear(System):
    """ẋ = A x + B u + E w, y = C x; matrices as tuples of rows; u driven, w disturbances."""

    A: tuple
    B: tuple
    C: tuple
    E: tuple = ()
    x0: tuple = ()
    stiff: tuple = ()

    @property
    def states(self):
        return tuple(Signal(f"x{i}", "1", f"state {i}") for i in range(len(self.A)))

    @property
    def inputs(self):
        pushes = range(len(self.E[0]) if self.E else 0)
        return (
            *(Signal(f"u{i}", "1", f"input {i}") for i in range(len(self.B[0]))),
            *(Signal(f"w{i}", "1", f"disturbance {i}", "disturbance") for i in pushes),
        )

    @property
    def outputs(self):
        return tuple(Signal(f"y{i}", "1", f"output {i}") for i in range(len(self.C)))

    def initial(self):
        return list(self.x0) or [0.3 + 0.2 * i for i in range(len(self.A))]

    def rhs(self, t, x, u):
        both = [row + (self.E[i] if self.E else ()) for i, row in enumerate(self.B)]
        return [
            sum(a * b for a, b in zip(self.A[i], x)) + sum(a * b for a, b in zip(both[i], u))
            for i in range(len(self.A))
        ]

    def out(self, t, x):
        return [sum(a * b for a, b in zip(row, x)) for row in self.C]


@dataclass(frozen=True)
class Wired(Controller):
    """A law that measures every output of its plant and commands every input of it."""

    plant: Any

    @property
    def measured(self):
        return self.plant.outputs

    @property
    def commands(self):
        return self.plant.inputs


@dataclass(frozen=True)
class Following(Wired):
    """Such a law that follows a reference of the first output."""

    @property
    def references(self):
        first = self.plant.outputs[0]
        return (Signal(f"{first.name}_d", first.unit, "wanted", "reference"),)


@dataclass(frozen=True)
class Feedback(Controller):
    """u = −K y + F r, one row of K and F a command."""

    plant: Linear
    K: tuple
    F: tuple = ()

    @property
    def measured(self):
        return self.plant.outputs

    @property
    def commands(self):
        return self.plant.inputs[: len(self.K)]

    @property
    def references(self):
        return tuple(
            Signal(f"{s.name}_d", "1", f"wanted {s.name}", "reference")
            for s in self.plant.outputs
            if self.F
        )

    def command(self, t, z, y, r):
        return [
            sum(-a * b for a, b in zip(row, y))
            + sum(a * b for a, b in zip(self.F[i] if self.F else (), r))
            for i, row in enumerate(self.K)
        ]


@dataclass(frozen=True)
class Curved(System):
    """Nonlinear, timed and driven: ẋ₀ = x₁, ẋ₁ = −k sin x₀ − d x₁³ + w cos 3t, ẋ₂ = x₀ x₁ − x₂²."""

    k: Annotated[float, Unit("1/s^2")] = 4.1
    d: Annotated[float, Unit("1/s")] = 0.6
    stiff: tuple = ()
    states = tuple(Signal(f"x{i}", "1", f"state {i}") for i in range(3))
    inputs = (Signal("w", "1", "push", "disturbance"),)

    def initial(self):
        return [0.9, -0.4, 0.5]

    def rhs(self, t, x, u):
        return [
            x[1],
            -self.k * np.sin(x[0]) - self.d * x[1] ** 3 + u[0] * np.cos(3 * t),
            x[0] * x[1] - x[2] ** 2,
        ]


@dataclass(frozen=True)
class Fast(System):
    """ẋ₀ = −λ (x₀ − cos x₁), ẋ₁ = 1: stiff where λ h is large."""

    λ: Annotated[float, Unit("1/s")] = 1e6
    stiff: tuple = ("x0",)
    states = (Signal("x0"), Signal("x1"))
    inputs = ()

    def initial(self):
        return [3.0, 0.0]

    def rhs(self, t, x, u):
        return [-self.λ * (x[0] - np.cos(x[1])), 1.0 + 0.0 * x[0]]


@dataclass(frozen=True)
class Bent(System):
    """ẋ = w, ẏ = x − clip(x, −d, d) + |x|/2: kinks where x = ±d and 0, which `guarded` tells or does not."""

    d: Annotated[float, Unit("1")] = 0.2
    guarded: bool = True
    stiff: tuple = ()
    states = (Signal("x"), Signal("y"))
    inputs = (Signal("w", "1", "push", "disturbance"),)

    def initial(self):
        return [-0.31, 0.0]

    def rhs(self, t, x, u):
        return [u[0], x[0] - np.clip(x[0], -self.d, self.d) + np.abs(x[0]) / 2]

    def guards(self, t, x, u):
        return [x[0] - self.d, x[0] + self.d, x[0]] if self.guarded else []


@dataclass(frozen=True)
class Clock(System):
    """ẋ = cos 5t + u, measured x."""

    b: Annotated[float, Unit("1/s")] = 5.0
    states = outputs = (Signal("x"),)
    inputs = (Signal("u"),)

    def initial(self):
        return [0.3]

    def rhs(self, t, x, u):
        return [np.cos(self.b * t) + u[0]]

    def out(self, t, x):
        return list(x)


@dataclass(frozen=True)
class Push:
    """A disturbance given as a function of time (anything with `sample` serves)."""

    f: object

    def sample(self, t, order):
        return np.asarray(self.f(np.asarray(t)), float)[None, :, None]


@dataclass(frozen=True)
class Decaying(System):
    """ẋ = −k x + u, x(0) = c, y = x: the largest y is c, at the start; k moves nothing of it."""

    c: Annotated[float, Unit("m"), "where it starts", positive] = 0.5
    k: Annotated[float, Unit("1/s"), "rate", positive] = 3.0

    @property
    def states(self):
        return (Signal("x", "m", "state"),)

    @property
    def inputs(self):
        return (Signal("u0", "1", "input"),)

    @property
    def outputs(self):
        return (Signal("y0", "m", "output"),)

    def initial(self):
        return [self.c]

    def rhs(self, t, x, u):
        return [-self.k * x[0] + u[0]]

    def out(self, t, x):
        return [x[0]]


# A law that commands nothing.
IDLE = Feedback(Linear(A=((0.0,),), B=((1.0,),), C=((1.0,),)), ((0.0,),))
