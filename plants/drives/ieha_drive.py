"""An integrated electro-hydraulic actuator as a drive: its own motor and radial pump, a micro-valve that moves the pump's ring.

    F = S_A P_A − S_B P_B − b_v ṡ − f_f + stop(Y),   Y = s − middle            equations of `plants.ieha.actuator`, all but the load

s is the distance of its pins (or the position of the joint it is on); `middle` is the s at which the piston is at Y = 0. Where the
pump is seen piston by piston (`detail` ripple, full), the angle φ of its shaft is a state: φ̇ = ω. An `IEHA` with the load m is the
mechanism with one body of mass m on a slide.

Source: [Alfayad16], as `plants.ieha.actuator`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, ClassVar, final

from plants.drives.contract import Drive, Sizes, outside_stroke
from plants.ieha import energy
from plants.ieha.hydraulics import STEP_ERRORS, Hydraulics
from plants.ieha.statements import named
from workbench.contract.machine_limits import force_limits
from workbench.contract.parameters import Unit, positive
from workbench.contract.system import Signal

OWN = 5  # states ahead of those of pump and friction: E, Ė, ζ, P_A, P_B


@final
@dataclass(frozen=True)
class IEHADrive(Hydraulics, Drive):
    """Integrated electro-hydraulic actuator, a cylinder with a pump of its own; equations in `plants.drives.ieha_drive`.

    Input X [m]. States E [m], Ė, ζ [Pa], P_A, P_B [Pa, gauge], of a pump that is not averaged φ [rad], of a full one its
    pistons' p_i [Pa], and the friction's.

    Raises InputError for a start outside the stroke.
    """

    cuts_commands: ClassVar[bool] = False

    middle: Annotated[
        float, Unit("m"), "distance of the pins, or position of the joint, at mid-stroke (Y = 0)"
    ] = 0.0
    F_max: Annotated[
        float | None, Unit("N"), "largest force it is made for, both ways", positive
    ] = None

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        return (
            *self.own_signals(label),
            *self.pump_signals(label),
            *self.friction.states(label),
        )

    def inputs(self, label):
        return (Signal(f"X_{label}", "m", f"position of the micro-valve of {label}"),)

    def logged(self, label):
        return (Signal(f"Y_{label}", "m", f"piston of {label}"), *self.shown_signals(label))

    def pressures(self, label):
        return (named("P_A", label), named("P_B", label))

    def power_names(self, label):
        return tuple(f"{cause}_{label}" for cause in self.causes)

    # ---- what it can --------------------------------------------------------------------------------------------------
    @property
    def limit(self):
        """Largest command, m: the carriage follows the micro-valve, so X goes no further than the largest eccentricity."""
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
        force = force_limits(f"force {label}", named("f", label), self.F_max, f"{key}.F_max")
        return (*self.own_limits(label, f"{key}."), *force)

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
        kinds = (s.name.split("_")[0] for s in self.states(""))
        own = ("E", "dE", "zeta", "P_A", "P_B")
        return (
            *(STEP_ERRORS[name] for name in own),
            *(STEP_ERRORS[kind] for kind in [*kinds][OWN:]),
        )

    def edges(self, label):
        return named("E", label), self.distributor.edges()

    # ---- the equations ------------------------------------------------------------------------------------------------
    def angle(self, x):
        """φ of the states; an averaged pump has none."""
        return x[OWN] if self.turning else 0.0

    def whole(self, x, s, sdot) -> list:
        """E, Ė, ζ, P_A, P_B, Y, Ẏ, the pistons' pressures and the friction's states, as `Hydraulics` has them."""
        return [*x[:OWN], s - self.middle, sdot, *x[OWN + self.turning :]]

    def rubbed(self, x) -> list:
        """States of the friction."""
        return list(x[len(x) - len(self.friction.states("")) :])

    def force(self, x, s, sdot, u, line):
        return self.thrust(self.whole(x, s, sdot))

    def rates(self, x, s, sdot, u, line):
        here = self.whole(x, s, sdot)
        made = self.delivery(self.angle(x), here)
        dE_rate, ζ_rate = self.carriage(here, u[0], made)
        return [
            x[1],
            dE_rate,
            ζ_rate,
            *self.chambers(here, made.Q_A, made.Q_B),
            *([self.pump.ω] if self.turning else []),
            *made.rates,
            *self.friction.rate(sdot, self.rubbed(x)),
        ]

    def shown(self, x, s, sdot, u, line):
        here = self.whole(x, s, sdot)
        return [s - self.middle, *Hydraulics.shown(self, self.angle(x), here, u[0])]

    def stored(self, x, s):
        here = self.whole(x, s, 0.0)
        inside = energy.in_actuator(self, here)
        return (
            inside + energy.in_pistons(self, self.angle(x), here)
            if self.detail == "full"
            else inside
        )

    def powers(self, x, s, sdot, u, line):
        return energy.by_cause(self, self.angle(x), self.whole(x, s, sdot), u[0])

    def initial(self, s, force, line):
        """Blocked at rest: in the open circuit the chamber that need not push is at the return's pressure."""
        outside_stroke(s, *self.range, "middle")
        if self.circuit == "closed":
            half = 0.5 * force / self.S_A
            pressures = (half, -half)
        else:
            push = max((force + self.S_B * self.P_T) / self.S_A, self.P_T)
            pressures = (push, (self.S_A * push - force) / self.S_B)
        pistons = [self.pump.P_rp] * (self.pump.N if self.detail == "full" else 0)
        turned = [0.0] if self.turning else []
        return [
            0.0,
            0.0,
            0.0,
            *pressures,
            *turned,
            *pistons,
            *[0.0] * len(self.friction.states("")),
        ]
