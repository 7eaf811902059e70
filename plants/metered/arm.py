"""Arms that a metered actuator turns: by a cylinder between arm and base, or by a motor through a gear.

    (J + M L_g²) θ̈ = −M g L_g cos θ + f ℓ'(θ) + L_f cos θ f_ey                                      (79)
    cylinder   ℓ = |r_m − r_b|,  r_m = −L_m (cos(θ − α), sin(θ − α)),  ℓ' = r_m × (r_m − r_b)/ℓ        (80), (89)
    motor      ℓ = i θ,  ℓ' = i           ℓ, x in rad, v in rad/s, f in N m
    f = K(x − ℓ) + B(ẋ − ℓ̇)                                                                         (68)

K and B are chosen, where they are left out, by a rule; I = J + M L_g², ℓ'_M the longest lever there can be, h the longest step:

    ω = 1/(23 h),   K = I ω²/ℓ'_M²,   B = 2 √(K I)/ℓ'_M                       the arm swings on K at ω, critically damped

which for the arm of [Kikuuwe21] and its 1 ms gives that paper's K, 5·10⁷ N/m, and bears steps up to 19 h. Steps must satisfy
(`step_limit`)

    h (B + hK/2) ℓ'_M²/I < 2   and   h K/B < 2

the first for the arm on the implicit step (72) with semi-implicit Euler (79), and for Runge–Kutta's method on the equations, the
second for the rod, x, when its valves are open.

Source: [Kikuuwe21] Section 4, Remark 2; the rule and the limits are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, final

import numpy as np

from plants.valve_circuits.circuit import Motor, Section
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive

PARTS = 23.0  # 1/(ω h) of the rule
Regeneration = Literal["none", "command", "input"]


@final
@dataclass(frozen=True)
class Arm:
    """One arm with its cylinder; the cylinder's valve section has the arm's name. Equations in `plants.metered.arm`.

    K, B: stiffness and damping between rod and arm; left out, `MeteredArms` sets them by the module's rule. regeneration: "none"
    keeps the regeneration valve shut; "command" opens it by u_a = u_c while the rod is commanded to extend; "input" gives it an
    input u_a of its own, which acts only while the rod is commanded to extend.

    Raises ValueError where the cylinder at θ_0 points through the joint and cannot turn the arm.
    """

    name: str = "1"
    L_g: Annotated[float, Unit("m"), "joint to centre of mass", positive] = 1.5
    L_m: Annotated[float, Unit("m"), "joint to the cylinder's pin", positive] = 0.6
    L_f: Annotated[float, Unit("m"), "joint to the tip", positive] = 3.0
    α: Annotated[float, Unit("rad"), "angle of the pin behind the arm"] = np.pi / 4
    M: Annotated[float, Unit("kg"), "mass", positive] = 2000.0
    J: Annotated[float, Unit("kg*m^2"), "inertia about the centre of mass", nonnegative] = 5000.0
    r_bx: Annotated[float, Unit("m"), "base pin of the cylinder, forwards of the joint"] = -1.2
    r_by: Annotated[float, Unit("m"), "base pin of the cylinder, above the joint"] = -1.2
    θ_0: Annotated[float, Unit("rad"), "angle at the start"] = -np.pi / 6
    K: Annotated[float | None, Unit("N/m"), "stiffness between rod and arm", positive] = None
    B: Annotated[float | None, Unit("N*s/m"), "damping between rod and arm", positive] = None
    section: Section = Section()
    regeneration: Regeneration = "none"

    turns: ClassVar[bool] = False  # a motor turns it

    def __post_init__(self):
        check_bounds(self)
        if abs(self.lever(self.θ_0)) < 1e-3 * self.L_m:
            raise InputError(
                f"θ_0: at {self.θ_0:.4g} rad the cylinder points through the joint and cannot turn the arm"
            )

    @property
    def inertia(self):
        """About the joint, kg m²."""
        return self.J + self.M * self.L_g**2

    @property
    def longest_lever(self) -> float:
        """ℓ'_M [m]."""
        return min(self.L_m, (self.r_bx**2 + self.r_by**2) ** 0.5)

    def pin(self, θ):
        """r_m, and r_m − r_b."""
        x = -self.L_m * np.cos(θ - self.α)
        y = -self.L_m * np.sin(θ - self.α)
        return x, y, x - self.r_bx, y - self.r_by

    def length(self, θ):
        """ℓ [m]."""
        _, _, x, y = self.pin(θ)
        return np.sqrt(x * x + y * y)

    def lever(self, θ):
        """ℓ' = dℓ/dθ [m]."""
        x, y, a, b = self.pin(θ)
        return (x * b - y * a) / self.length(θ)

    def held(self, θ, θ̇, x):
        """f̄ [N] of βv + f̄ ∈ Γ(v)."""
        return self.K * (x - self.length(θ)) - self.B * self.lever(θ) * θ̇

    def torque(self, θ, f, f_ey, g):
        """About the joint [N m]."""
        return f * self.lever(θ) + (self.L_f * f_ey - self.M * g * self.L_g) * np.cos(θ)

    def step_limit(self) -> float:
        """Step h [s] below which both inequalities of the module's docstring hold."""
        c, k = (number * self.longest_lever**2 / self.inertia for number in (self.B, self.K))
        return float(min(4.0 / (np.sqrt(c * c + 4.0 * k) + c), 2.0 * self.B / self.K))

    def ruled(self, h: float) -> dict[str, float]:
        """{"K": …, "B": …}: the given numbers; where one is None, that of the module's rule for steps of h [s]."""
        lever = self.longest_lever
        K = self.inertia / (PARTS * h * lever) ** 2 if self.K is None else self.K
        return {"K": K, "B": 2.0 * (K * self.inertia) ** 0.5 / lever if self.B is None else self.B}


@final
@dataclass(frozen=True)
class MotorArm:
    """One arm turned by a motor through a gear; the motor's valves have the arm's name. Equations in `plants.metered.arm`.

    A slewing column is such an arm with its centre of mass near the axis, L_g close to 0. What the equations call x, v and f of
    the rod are the motor's angle [rad], rate [rad/s] and torque [N m]. K, B, regeneration: as of `Arm`.

    Raises ValueError for numbers out of range.
    """

    i: Annotated[float, Unit("1"), "turns of the motor for one of the arm", positive]
    name: str = "1"
    L_g: Annotated[float, Unit("m"), "joint to centre of mass", positive] = 1.5
    L_f: Annotated[float, Unit("m"), "joint to the tip", positive] = 3.0
    M: Annotated[float, Unit("kg"), "mass", positive] = 2000.0
    J: Annotated[
        float, Unit("kg*m^2"), "inertia about the centre of mass, the motor's included", nonnegative
    ] = 5000.0
    θ_0: Annotated[float, Unit("rad"), "angle at the start"] = -np.pi / 6
    K: Annotated[
        float | None, Unit("N*m/rad"), "stiffness between motor and arm, at the motor", positive
    ] = None
    B: Annotated[
        float | None, Unit("N*m*s/rad"), "damping between motor and arm, at the motor", positive
    ] = None
    section: Motor = Motor()
    regeneration: Regeneration = "none"

    turns: ClassVar[bool] = True

    def __post_init__(self):
        check_bounds(self)

    @property
    def longest_lever(self) -> float:
        """ℓ'_M = i."""
        return self.i

    def length(self, θ):
        """ℓ, the motor's angle where nothing yields [rad]."""
        return self.i * θ

    def lever(self, θ):
        """Lever arm dℓ/dq of a motor on a gear: its ratio i."""
        return self.i

    inertia = Arm.inertia
    held = Arm.held
    torque = Arm.torque
    step_limit = Arm.step_limit
    ruled = Arm.ruled
