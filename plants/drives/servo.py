"""Two chambers behind a servo valve as a drive, fed by the machine's supply: what `ServoCylinder` and `HydraulicMotor` share.

    F = f_p − f_f                    f_p, ṗ_a, ṗ_b: `TwoChambers`;  Q_a, Q_b, spool: `Valve`;  f_f: `Friction`

At rest the chambers carry the force that is asked for, in the middle of what supply and return pressure allow.

Source: [Petrovic22] eqs (78)–(91), as `plants.crane.manipulator`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar

from plants.components.chamber import Oil
from plants.components.two_chambers import POWERS, TwoChambers
from plants.drives.contract import Drive, spool_limit
from workbench.contract.declared import Notched
from workbench.contract.machine_limits import chamber_limits
from workbench.contract.parameters import Unit, nonnegative
from workbench.contract.system import Signal

StartPressures = Annotated[
    tuple[float, float] | None, Unit("Pa"), "p_a and p_b at the start", nonnegative
]


def _pressures(label: str, p_a: str, p_b: str) -> tuple[Signal, Signal]:
    """The pressures of two chambers, by their names."""
    return (
        Signal(p_a, "Pa", f"pressure of {label}, side a"),
        Signal(p_b, "Pa", f"pressure of {label}, side b"),
    )


class ServoDrive(Drive):
    """See the module. `part`: the field that holds the chambers; `pushes`: the name of their force in the log."""

    needs_supply: ClassVar[bool] = True
    steep: ClassVar[bool] = True
    part: ClassVar[str]
    pushes: ClassVar[str]
    oil: Oil
    pressures_at_start: tuple[float, float] | None

    @property
    @abstractmethod
    def chambers(self) -> TwoChambers: ...

    @abstractmethod
    def place(self, s):
        """Position x of piston or rotor at s."""

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label):
        return (
            *_pressures(label, *self.pressures(label)),
            *self.chambers.valve.spool_states(label),
            *self.chambers.friction.states(label),
        )

    def inputs(self, label):
        return (Signal(f"u_{label}", "V", f"valve voltage of {label}"),)

    def pressures(self, label):
        return (f"p_a_{label}", f"p_b_{label}")

    def power_names(self, label):
        return tuple(f"{name}_{label}" for name in POWERS)

    def stiff(self, label):
        return (
            *(spool.name for spool in self.chambers.valve.spool_states(label)),
            *self.chambers.friction.stiff(label),
        )

    # ---- what it can --------------------------------------------------------------------------------------------------
    @property
    def limit(self):
        """Largest voltage, both ways, V."""
        return self.chambers.valve.u_max

    @property
    def vacuum(self):
        return 0.0 if self.oil.air == 0 else None

    @property
    def areas(self):
        return self.chambers.A_a, self.chambers.A_b

    def bears(self, line):
        c = self.chambers
        return c.force(line.p_r, line.p_s), c.force(line.p_s, line.p_r)

    def bears_by(self, line):
        return f"{line.p_r / 1e5:g} and {line.p_s / 1e5:g} bar"

    def machine_limits(self, label, key):
        valve = self.chambers.valve
        spools = [
            spool_limit(label, spool.name, valve.u_max, f"{key}.{self.part}.valve.u_max")
            for spool in valve.spool_states(label)[:1]
        ]
        return (*chamber_limits(self.pressures(label), self.oil.hollow), *spools)

    def fastest(self, line):
        """Speed with the valve fully open, in the slower direction, without load."""
        valve = self.chambers.valve
        return (valve.u_max - valve.dead_band) * min(self.chambers.speeds(line.p_s - line.p_r))

    def velocity_gain_on(self, line):
        """ṡ per volt while it is held by no force, forwards and backwards averaged, m/(s V) or rad/(s V)."""
        out, back = self.chambers.speeds(line.p_s - line.p_r)
        return 0.5 * (out + back)

    def notched(self, label):
        command = self.inputs(label)[0].name
        spool = next((s.name for s in self.chambers.valve.spool_states(label)), "")
        logged = command, spool, f"ds_{label}", f"{self.pushes}_{label}"
        oil = {"pressures": self.pressures(label), "oil": self.oil, "place": self.place}
        return Notched(label, self.chambers, *logged, **oil)

    # ---- the equations ------------------------------------------------------------------------------------------------
    def parts(self, x) -> tuple:
        """(p_a, p_b), spool states and friction states from its own states x."""
        many = 2 + len(self.chambers.valve.spool_states(""))
        return (x[0], x[1]), list(x[2:many]), list(x[many:])

    def at_work(self, x, s, sdot, u, line):
        """Flows and pressure rates, as `TwoChambers.at_work`."""
        pressures, spool, _ = self.parts(x)
        return self.chambers.at_work(
            self.oil, pressures, spool, u[0], self.place(s), sdot, line.p_s, line.p_r
        )

    def rubbing(self, x, sdot):
        """f_f, opposing ṡ."""
        return self.chambers.friction.force(sdot, self.parts(x)[2])

    def force(self, x, s, sdot, u, line):
        return self.chambers.force(x[0], x[1]) - self.rubbing(x, sdot)

    def rates(self, x, s, sdot, u, line):
        _, spool, rub = self.parts(x)
        work = self.at_work(x, s, sdot, u, line)
        return [
            work.rate_a,
            work.rate_b,
            *self.chambers.valve.spool_rhs(spool, u[0]),
            *self.chambers.friction.rate(sdot, rub),
        ]

    def flow(self, x, s, sdot, u, line):
        return self.at_work(x, s, sdot, u, line).Q_s

    def port(self, x, s, sdot, u, line, w):
        valve = self.chambers.valve
        pressures, spool, _ = self.parts(x)
        return valve.port(valve.spool(spool, u[0]), *pressures, line.p_r, w)

    def powers(self, x, s, sdot, u, line):
        work = self.at_work(x, s, sdot, u, line)
        return self.chambers.powers(
            self.oil,
            self.parts(x)[0],
            self.place(s),
            sdot,
            self.rubbing(x, sdot),
            work,
            line.p_s,
            line.p_r,
        )

    def guards(self, x, s, sdot, u):
        """Edges of the valve, kinks of the friction."""
        _, spool, rub = self.parts(x)
        return [
            *self.chambers.valve.guards(spool, u[0]),
            *self.chambers.friction.guards(sdot, rub),
        ]

    def at_rest(self, force, line) -> list:
        """States at rest under a force."""
        pressures = self.pressures_at_start or self.chambers.balanced(force, line.p_s, line.p_r)
        return [*pressures, *[0.0] * (len(self.states("")) - 2)]
