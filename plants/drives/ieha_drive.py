"""An integrated electro-hydraulic actuator as a drive: its own motor and radial pump, a micro-valve that moves the pump's ring.

    F = S_A P_A − S_B P_B − b_v ṡ − f_f + stop(Y),   Y = s − middle                   equations of `plants.ieha`, all but the load

s is the distance of its pins (or the position of the joint it is on); `middle` is the s at which the piston is at Y = 0. The pump
is averaged over its revolution. An `IEHA` with the load m is the mechanism with one body of mass m on a slide.

Source: [Alfayad16], as `plants.ieha`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, ClassVar, final

from plants import ieha_energy as energy
from plants.drives.contract import Drive, Sizes, outside_stroke
from plants.ieha_hydraulics import STEP_ERRORS, Hydraulics, named
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, positive
from workbench.contract.system import Signal

OWN = 5  # states ahead of those of the friction: E, Ė, ζ, P_A, P_B
CAUSES = tuple(name for name in (*energy.NAMES, energy.GAP) if name != "load")


@final
@dataclass(frozen=True)
class IEHADrive(Hydraulics, Drive):
    """See the module. States E [m], Ė, ζ [Pa], P_A, P_B [Pa, gauge] and the friction's; input X [m].

    Raises InputError for a pump that is not averaged (a drive does not know the time), and for a start outside the stroke.
    """

    cuts_commands: ClassVar[bool] = False

    middle: Annotated[
        float, Unit("m"), "distance of the pins, or position of the joint, at Y = 0"
    ] = 0.0
    F_max: Annotated[
        float | None, Unit("N"), "largest force it is made for, both ways", positive
    ] = None

    def __post_init__(self):
        super().__post_init__()
        if self.detail != "averaged":
            raise InputError(
                f"detail: {self.detail!r} follows the pump's angle over time, which a mechanism's drive does not know",
                key="detail",
                mend="write 'detail: averaged', or take the plant IEHA, which moves one mass",
            )

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        return (*self.own_signals(label), *self.friction.states(label))

    def inputs(self, label):
        return (Signal(f"X_{label}", "m", f"position of the micro-valve of {label}"),)

    def logged(self, label):
        return (Signal(f"Y_{label}", "m", f"piston of {label}"), *self.shown_signals(label))

    def pressures(self, label):
        return (named("P_A", label), named("P_B", label))

    def power_names(self, label):
        return tuple(f"{cause}_{label}" for cause in CAUSES)

    # ---- what it can --------------------------------------------------------------------------------------------------
    @property
    def limit(self):
        """The carriage follows the micro-valve, so that goes no further than the largest eccentricity, m."""
        return self.stop_E.limit

    @property
    def range(self):
        return self.middle - self.stop_Y.limit, self.middle + self.stop_Y.limit

    def bears(self, line):
        most = inf if self.F_max is None else self.F_max
        return -most, most

    def bears_by(self, line):
        return "F_max"

    def machine_limits(self, label, key):
        return self.own_limits(label, f"{key}.")

    def sizes(self, line):
        area = min(self.S_A, self.S_B)
        force, source = self.F_max, "largest force over the piston's area"
        if force is None:
            force, source = self.valve.P_s * area, "supply of the micro-valve"
        stroke = 2.0 * self.stop_Y.limit
        speed = float(self.velocity_gain) * self.stop_E.limit
        return Sizes(force / area, source, force * stroke, force, stroke, speed)

    def velocity_gain_on(self, line):
        return self.velocity_gain

    def step_errors(self, label):
        kinds = (s.name.split("_")[0] for s in self.friction.states(""))
        own = ("E", "dE", "zeta", "P_A", "P_B")
        return (*(STEP_ERRORS[name] for name in own), *(STEP_ERRORS[kind] for kind in kinds))

    def edges(self, label):
        return named("E", label), self.distributor.edges()

    # ---- the equations ------------------------------------------------------------------------------------------------
    def whole(self, x, s, sdot) -> list:
        """E, Ė, ζ, P_A, P_B, Y, Ẏ and the friction's states, as `Hydraulics` has them."""
        return [*x[:OWN], s - self.middle, sdot, *x[OWN:]]

    def force(self, x, s, sdot, u, line):
        return self.thrust(self.whole(x, s, sdot))

    def rates(self, x, s, sdot, u, line):
        here = self.whole(x, s, sdot)
        made = self.delivery(0.0, here)
        dE_rate, ζ_rate = self.carriage(here, u[0], made)
        return [
            x[1],
            dE_rate,
            ζ_rate,
            *self.chambers(here, made.Q_A, made.Q_B),
            *self.friction.rate(sdot, list(x[OWN:])),
        ]

    def shown(self, x, s, sdot, u, line):
        return [s - self.middle, *Hydraulics.shown(self, 0.0, self.whole(x, s, sdot), u[0])]

    def stored(self, x, s):
        return energy.in_actuator(self, self.whole(x, s, 0.0))

    def powers(self, x, s, sdot, u, line):
        return energy.by_cause(self, 0.0, self.whole(x, s, sdot), u[0])

    def initial(self, s, force, line):
        """Blocked at rest: in the open circuit the chamber that need not push is at the return's pressure."""
        outside_stroke(s, *self.range, "middle")
        if self.circuit == "closed":
            half = 0.5 * force / self.S_A
            pressures = (half, -half)
        else:
            push = max((force + self.S_B * self.P_T) / self.S_A, self.P_T)
            pressures = (push, (self.S_A * push - force) / self.S_B)
        return [0.0, 0.0, 0.0, *pressures, *[0.0] * len(self.friction.states(""))]
