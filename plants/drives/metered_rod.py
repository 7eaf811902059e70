"""A cylinder or a motor behind four independent metering valves, quasistatic; what lies between valves and rod by given numbers.

    f = K (x − i s) + B (ẋ − i ṡ),  f ∈ Γ(ẋ, P)  ⇔  ẋ = Λ(B, f̄, P)                                     (68)–(70), (122)
    F = i f,   P = p_s − p_r

x is where the valves have put the rod (of a motor: its angle, f its torque), i s where the mechanism has it: i = 1 of a cylinder
between two pins, the gear of a motor on a joint. Valves, command and where power goes: `plants.drives.metering`.

K and B relax the set Γ(0) into a differential equation; where the oil's own stiffness is meant, take `MeteredSection`.

Source: [Kikuuwe21] Sections 4.1, 5, 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, final

import numpy as np

from plants.components.friction import Frictionless
from plants.drives import metering
from plants.drives.behind_valves import BehindValves
from plants.drives.contract import Behind, Sizes
from plants.valve_circuits.circuit import Motor, Section
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class MeteredRod(BehindValves):
    """A cylinder or geared motor behind four metering valves; equations in `plants.drives.metered_rod`.

    State x; inputs u_c, −1 … 1, and u_a, 0 … 1, where regeneration is an input.
    """

    anywhere: ClassVar[bool] = True
    friction: ClassVar[Frictionless] = Frictionless()

    K: Annotated[float, Unit("N/m"), "stiffness between valves and rod", positive]
    B: Annotated[float, Unit("N*s/m"), "damping between valves and rod", positive]
    section: Section | Motor = Section()
    regeneration: Literal["none", "command", "input"] = "none"
    i: Annotated[float, Unit("1"), "travel of the rod for one of the joint or pins", positive] = 1.0

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    def _units(self) -> tuple[str, str, str]:
        return ("rad", "rad/s", "N*m") if self.section.turns else ("m", "m/s", "N")

    def states(self, label):
        return (
            Signal(f"rod_{label}", self._units()[0], f"rod of {label} as the valves have put it"),
        )

    def inputs(self, label):
        command = Signal(f"u_c_{label}", "1", f"command of {label}")
        if self.regeneration != "input":
            return (command,)
        return (command, Signal(f"u_a_{label}", "1", f"opening of regeneration of {label}"))

    def logged(self, label):
        length, rate, force = self._units()
        return (
            Signal(
                f"stretch_{label}", length, f"rod of {label} ahead of where the mechanism has it"
            ),
            Signal(f"v_{label}", rate, f"velocity of the rod of {label}"),
            Signal(f"f_p_{label}", force, f"force of the valves of {label}"),
            *self.sides(label),
        )

    def power_names(self, label):
        return tuple(f"{cause}_{label}" for cause in ("supply", "tank", *self.valves, "element"))

    # ---- what it can --------------------------------------------------------------------------------------------------
    def limits(self, label):
        ranges = ((-1.0, 1.0), (0.0, 1.0))
        return {signal.name: known for signal, known in zip(self.inputs(label), ranges)}

    @property
    def pressure_limits(self):
        return metering.bounds(self.section.P_hM, self.section.P_rM)

    @property
    def turns(self):
        return self.section.turns

    def sizes(self, line):
        """Its scales. It states no stroke, so a metre of travel stands for it, and one turn of the joint where it is a motor."""
        P = line.p_s - line.p_r
        s = self.section
        travel, words = (2.0 * np.pi, "one turn") if self.turns else (1.0, "one metre of travel")
        return Sizes(
            P,
            f"pressure of the pump, {words}",
            P * s.A_h * self.i * travel,
            P * s.A_r * self.i,
            travel,
            self.velocity_gain_on(line),
        )

    # ---- the equations ------------------------------------------------------------------------------------------------
    @property
    def stiffness(self):
        """K, N/m; of a motor N m/rad."""
        return self.K

    @property
    def damping(self):
        """B, N s/m; of a motor N m s/rad."""
        return self.B

    def regenerated(self, u):
        """Opening u_a of regeneration for the inputs u."""
        return metering.regenerated(self.regeneration, u)

    def opened(self, u_c, u_a=0.0) -> list:
        """The section at the command u_c, as `Circuit.rows` has it."""
        return metering.opened(self.section, u_c, u_a)

    def rubbing(self, x, sdot):
        """It has no friction."""
        return self.friction.force(sdot, [])

    def spring(self, x, s):
        """K (x − i s), N; of a motor N m."""
        return self.K * (x[0] - self.i * s)

    def behind(self, x, s, sdot, u) -> Behind:
        section = self.opened(u[0], self.regenerated(u))
        return metering.behind(section, self.spring(x, s), self.B, self.i * sdot)

    def force(self, x, s, sdot, u, line):
        return self.i * self.at_work(x, s, sdot, u, line).force

    def rates(self, x, s, sdot, u, line):
        return [self.at_work(x, s, sdot, u, line).speed]

    def shown(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        return [x[0] - self.i * s, work.speed, work.force, work.P_h, work.P_r]

    def stored(self, x, s):
        return 0.5 * self.K * (x[0] - self.i * s) ** 2

    def powers(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        element = self.B * (work.speed - self.i * sdot) ** 2
        return [*self.valve_powers(work, line), -element]

    def initial(self, s, force, line):
        return [self.i * s + force / self.i / self.K]
