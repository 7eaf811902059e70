"""The oil of a mechanism: pressures of its chambers and of its supply, and the limits of both."""

from __future__ import annotations

from plants.drives.contract import Line
from plants.multibody import acting, signals
from plants.multibody.vocabulary import Vocabulary


class Oil(Vocabulary):
    """The part of `plants.multibody.mechanism.Mechanism` that answers what its chambers and its supply are."""

    @property
    def pressure_names(self):
        return tuple(name for a in self.actuators for name in a.drive.pressures(a.name))

    @property
    def flow_names(self) -> tuple[str, ...]:
        """Names of the flows that the drives take from the supply."""
        return tuple(signals.flow_name(a.name) for a in self.actuators if a.drive.needs_supply)

    @property
    def vacua(self) -> dict[str, float]:
        """Chamber's pressure → pressure below which its drive's oil is not described, Pa: drives count from different zeros."""
        return {
            name: a.drive.vacuum
            for a in self.actuators
            if a.drive.vacuum is not None
            for name in a.drive.pressures(a.name)
        }

    @property
    def p_s(self) -> float | None:
        """Pressure of the supply, Pa, where that is one number for all chambers; None elsewhere."""
        line = acting.constant_line(self)
        return None if line is None else line.p_s

    @property
    def p_r(self) -> float | None:
        """Pressure of the return, Pa, where `p_s` is a number."""
        line = acting.constant_line(self)
        return None if line is None else line.p_r

    @property
    def pressure_limits(self) -> tuple:
        """(least, greatest) pressure that all chambers should have, Pa, where every drive with chambers states one."""
        return acting.pressure_limits(self)

    @property
    def line_at_most(self) -> Line | None:
        """What the drives see of the supply at its highest pressure; None without one."""
        return None if self.supply is None else self.supply.most

    @property
    def line_unloaded(self) -> Line | None:
        """What a valve sees of the supply while its drive moves no load; None without one."""
        return None if self.supply is None else self.supply.unloaded

    @property
    def p_top(self) -> float | None:
        """Highest pressure of the supply, Pa, where all chambers are fed by it and none states limits of its own."""
        line = acting.highest_line(self)
        return None if line is None else line.p_s

    @property
    def supply_names(self) -> tuple[str, ...]:
        """The supply's pressures that are states."""
        return () if self.supply is None else self.supply.pressure_names

    @property
    def supply_range(self) -> tuple[float, float] | None:
        """An interval that the supply's pressure never leaves, Pa; None where none is known."""
        return None if self.supply is None else self.supply.range
