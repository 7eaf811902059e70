"""A cylinder behind four independent metering valves, quasistatic, with the oil's spring between valves and rod.

    f = K (r − x) + B (ṙ − ẋ),  f ∈ Γ(ṙ, P)  ⇔  ṙ = Λ(B, f̄, P)                    (68)–(70), (122) of [Kikuuwe21]
    F = f − f_f,   x = s − closed,   P = p_s − p_r

r is where the valves have put the piston, x where the mechanism has it. Between the two lies the oil that the quasistatic circuit
takes for stiff: K = β h of the shut cylinder at half stroke (`Cylinder.shut_in`), B = τ K. A section has the areas of its cylinder
and the orifices of the servo valve fully open, k = c u_max: c_p1 pump to head, c_n1 head to tank, c_p2 pump to rod, c_n2 rod to
tank. Valves, command and where power goes: `plants.drives.metering`.

Source: [Kikuuwe21] Sections 4.1, 6; that K is the oil's own stiffness is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from plants.components.chamber import Oil
from plants.components.cylinder import Cylinder
from plants.drives import metering
from plants.drives.behind_valves import BehindValves
from plants.drives.contract import Behind, Sizes, outside_stroke, too_short
from plants.valve_circuits.circuit import Section
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class MeteredSection(BehindValves):
    """A cylinder behind four metering valves, on the spring of its oil; equations in `plants.drives.metered_section`.

    States r [m] and the friction's; input u_c, −1 … 1.

    Raises InputError for a start outside the stroke and for numbers out of range.
    """

    integral_rate: ClassVar[float] = 0.08  # 1/s: dry friction lets the oil's spring relax slowly
    i: ClassVar[float] = 1.0  # travel of the rod for one of the joint or pins
    regeneration: ClassVar[str] = "none"

    cylinder: Cylinder
    closed: Annotated[
        float, Unit("m"), "distance of the pins, or position of the joint, with the rod retracted"
    ]
    oil: Oil = Oil()
    P_hM: Annotated[float, Unit("Pa"), "relief of the head side, above the return", positive] = (
        250e5
    )
    P_rM: Annotated[float, Unit("Pa"), "relief of the rod side, above the return", positive] = 250e5
    τ: Annotated[float, Unit("s"), "B/K, damping of the oil in the cylinder", positive] = 10e-3

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        return (
            Signal(f"rod_{label}", "m", f"piston of {label} as the valves have put it"),
            *self.cylinder.friction.states(label),
        )

    def inputs(self, label):
        return (Signal(f"u_c_{label}", "1", f"command of {label}"),)

    def sensed(self, label):
        """On a machine A_h P_h − A_r P_r behind a filter of time constant τ."""
        return (Signal(f"f_K_{label}", "N", f"force of the oil of {label} as a spring, K (r − x)"),)

    def sense(self, x, s):
        return [self.spring(x, s)]

    def logged(self, label):
        return (
            Signal(f"x_{label}", "m", f"piston position of {label}"),
            *self.sensed(label),
            Signal(f"f_p_{label}", "N", f"force of the valves of {label}"),
            Signal(f"f_f_{label}", "N", f"friction of {label}"),
            *self.sides(label),
        )

    def power_names(self, label):
        causes = ("supply", "tank", *self.valves, "oil", "friction")
        return tuple(f"{cause}_{label}" for cause in causes)

    def stiff(self, label):
        return tuple(self.cylinder.friction.stiff(label))

    # ---- what it can --------------------------------------------------------------------------------------------------
    @property
    def range(self):
        return self.closed, self.closed + self.cylinder.stroke

    @property
    def pressure_limits(self):
        return metering.bounds(self.P_hM, self.P_rM)

    def sizes(self, line):
        c = self.cylinder
        P = line.p_s - line.p_r
        work = P * c.A_a * c.stroke
        gain = self.velocity_gain_on(line)
        return Sizes(P, "pressure of the pump", work, P * c.A_b, c.stroke, gain)

    # ---- the equations ------------------------------------------------------------------------------------------------
    @property
    def stiffness(self):
        """K, N/m: of the oil shut in at half stroke."""
        return self.oil.β * self.cylinder.shut_in(self.oil, 0.5 * self.cylinder.stroke)

    @property
    def damping(self):
        """B, N s/m."""
        return self.τ * self.stiffness

    @property
    def friction(self):
        """The friction law of the cylinder."""
        return self.cylinder.friction

    def spring(self, x, s):
        """K (r − x), N."""
        return self.stiffness * (x[0] - (s - self.closed))

    @property
    def section(self) -> Section:
        """The section of a circuit that this drive is: areas of its cylinder, reliefs, valves."""
        return metering.section_of(self.cylinder, self.P_hM, self.P_rM)

    def regenerated(self, u):
        """There is no regeneration."""
        return 0.0

    def opened(self, u_c) -> list:
        """The section at the command u_c, as `Circuit.rows` has it."""
        return metering.opened(self.section, u_c)

    def behind(self, x, s, sdot, u) -> Behind:
        return metering.behind(self.opened(u[0]), self.spring(x, s), self.damping, sdot)

    def rubbing(self, x, sdot):
        """f_f [N], opposing ṡ."""
        return self.cylinder.friction.force(sdot, list(x[1:]))

    def force(self, x, s, sdot, u, line):
        return self.at_work(x, s, sdot, u, line).force - self.rubbing(x, sdot)

    def rates(self, x, s, sdot, u, line):
        speed = self.at_work(x, s, sdot, u, line).speed
        return [speed, *self.cylinder.friction.rate(sdot, list(x[1:]))]

    def guards(self, x, s, sdot, u):
        return self.cylinder.friction.guards(sdot, list(x[1:]))

    def shown(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        forces = [self.spring(x, s), work.force, self.rubbing(x, sdot)]
        return [s - self.closed, *forces, work.P_h, work.P_r]

    def stored(self, x, s):
        return 0.5 * self.stiffness * (x[0] - (s - self.closed)) ** 2

    def powers(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        oil = self.τ * self.stiffness * (work.speed - sdot) ** 2
        return [*self.valve_powers(work, line), -oil, -self.rubbing(x, sdot) * sdot]

    def initial(self, s, force, line):
        outside_stroke(s, *self.range)
        rest = [0.0] * len(self.cylinder.friction.states(""))
        return [s - self.closed + force / self.stiffness, *rest]

    def check_pins(self, owner):
        too_short(owner, self.closed, self.cylinder.stroke)
