"""A cylinder with two chambers behind a servo valve, fed by the machine's supply.

    F = f_p − f_f,   x = s − closed                    f_p, ṗ_a, ṗ_b: `Cylinder`;  Q_a, Q_b, spool: `Valve`;  f_f: `Friction`

with s the distance of its pins (or the position of the joint it is on) and `closed` the s at which the piston is at x = 0.
At rest the chambers carry the force that is asked for, in the middle of what supply and return pressure allow.

Source: [Petrovic22] eqs (78)–(91), as `plants.manipulator`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from plants.components.chamber import Oil
from plants.components.cylinder import POWERS, Cylinder
from plants.drives.contract import Drive, Sizes, outside_stroke, spool_limit, too_short
from workbench.contract.machine_limits import chamber_limits
from workbench.contract.parameters import Unit, check_bounds, nonnegative
from workbench.contract.system import Signal


@final
@dataclass(frozen=True)
class ServoCylinder(Drive):
    """See the module. States p_a, p_b [Pa], spool and friction states; input u [V].

    Raises InputError for a start outside the stroke and for a force that the chambers cannot carry.
    """

    needs_supply: ClassVar[bool] = True
    steep: ClassVar[bool] = True
    cylinder: Cylinder
    closed: Annotated[
        float, Unit("m"), "distance of the pins, or position of the joint, with the rod retracted"
    ]
    oil: Oil = Oil()
    pressures_at_start: Annotated[
        tuple[float, float] | None, Unit("Pa"), "p_a and p_b at the start", nonnegative
    ] = None

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        return (
            *(Signal(name, "Pa", f"pressure of {label}") for name in self.pressures(label)),
            *self.cylinder.valve.spool_states(label),
            *self.cylinder.friction.states(label),
        )

    def inputs(self, label):
        return (Signal(f"u_{label}", "V", f"valve voltage of {label}"),)

    def logged(self, label):
        return (
            Signal(f"x_{label}", "m", f"piston position of {label}"),
            Signal(f"f_p_{label}", "N", f"piston force of {label}"),
            Signal(f"f_f_{label}", "N", f"friction of {label}"),
        )

    def pressures(self, label):
        return (f"p_a_{label}", f"p_b_{label}")

    def power_names(self, label):
        return tuple(f"{name}_{label}" for name in POWERS)

    def stiff(self, label):
        return (
            *(spool.name for spool in self.cylinder.valve.spool_states(label)),
            *self.cylinder.friction.stiff(label),
        )

    # ---- what it can --------------------------------------------------------------------------------------------------
    @property
    def limit(self):
        """Largest voltage, both ways, V."""
        return self.cylinder.valve.u_max

    @property
    def range(self):
        return self.closed, self.closed + self.cylinder.stroke

    @property
    def vacuum(self):
        return 0.0 if self.oil.air == 0 else None

    def bears(self, line):
        c = self.cylinder
        return c.force(line.p_r, line.p_s), c.force(line.p_s, line.p_r)

    def bears_by(self, line):
        return f"{line.p_r / 1e5:g} and {line.p_s / 1e5:g} bar"

    def machine_limits(self, label, key):
        valve = self.cylinder.valve
        spools = [
            spool_limit(label, spool.name, valve.u_max, f"{key}.cylinder.valve.u_max")
            for spool in valve.spool_states(label)[:1]
        ]
        return (*chamber_limits(self.pressures(label), self.oil.hollow), *spools)

    def sizes(self, line):
        c, p = self.cylinder, line.p_s
        opening = c.valve.u_max - c.valve.dead_band
        return Sizes(
            p,
            "supply pressure",
            p * c.A_a * c.stroke,
            p * c.A_b,
            c.stroke,
            opening * min(c.speeds(p - line.p_r)),
        )

    def velocity_gain_on(self, line):
        """ṡ per volt while the cylinder is held by no force, extending and retracting averaged, m/(s V)."""
        out, back = self.cylinder.speeds(line.p_s - line.p_r)
        return 0.5 * (out + back)

    # ---- the equations ------------------------------------------------------------------------------------------------
    def parts(self, x) -> tuple:
        """(p_a, p_b), spool states and friction states from its own states x."""
        many = 2 + len(self.cylinder.valve.spool_states(""))
        return (x[0], x[1]), list(x[2:many]), list(x[many:])

    def at_work(self, x, s, sdot, u, line):
        """Flows and pressure rates, as `Cylinder.at_work`."""
        pressures, spool, _ = self.parts(x)
        return self.cylinder.at_work(
            self.oil, pressures, spool, u[0], s - self.closed, sdot, line.p_s, line.p_r
        )

    def rubbing(self, x, sdot):
        """f_f [N], opposing ṡ."""
        return self.cylinder.friction.force(sdot, self.parts(x)[2])

    def force(self, x, s, sdot, u, line):
        return self.cylinder.force(x[0], x[1]) - self.rubbing(x, sdot)

    def rates(self, x, s, sdot, u, line):
        _, spool, rub = self.parts(x)
        work = self.at_work(x, s, sdot, u, line)
        return [
            work.rate_a,
            work.rate_b,
            *self.cylinder.valve.spool_rhs(spool, u[0]),
            *self.cylinder.friction.rate(sdot, rub),
        ]

    def flow(self, x, s, sdot, u, line):
        return self.at_work(x, s, sdot, u, line).Q_s

    def port(self, x, s, sdot, u, line, w):
        valve = self.cylinder.valve
        pressures, spool, _ = self.parts(x)
        return valve.port(valve.spool(spool, u[0]), *pressures, line.p_r, w)

    def shown(self, x, s, sdot, u, line):
        return [
            s - self.closed,
            self.cylinder.force(x[0], x[1]),
            self.rubbing(x, sdot),
        ]

    def powers(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        return self.cylinder.powers(
            self.oil,
            self.parts(x)[0],
            s - self.closed,
            sdot,
            self.rubbing(x, sdot),
            work,
            line.p_s,
            line.p_r,
        )

    def guards(self, x, s, sdot, u):
        """Edges of the valve, kinks of the friction."""
        _, spool, rub = self.parts(x)
        cylinder = self.cylinder
        return [*cylinder.valve.guards(spool, u[0]), *cylinder.friction.guards(sdot, rub)]

    def initial(self, s, force, line):
        outside_stroke(s, *self.range)
        pressures = self.pressures_at_start or self.cylinder.balanced(force, line.p_s, line.p_r)
        many = len(self.states("")) - 2
        return [*pressures, *[0.0] * many]

    def check_pins(self, owner):
        too_short(owner, self.closed, self.cylinder.stroke)
