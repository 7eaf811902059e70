"""What drives behind four independent metering valves have in common, quasistatic as they are (`plants.drives.metering`)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from plants.drives import metering
from plants.drives.contract import Drive
from plants.drives.metering import Metered
from workbench.contract.machine_limits import chamber_limits
from workbench.contract.system import Signal


class BehindValves(Drive):
    """A rod whose valves have put it at the state x_0; `section` has the valves, `i` is its travel per travel of joint or pins.

    `behind` says what the valves stand against; force and rate follow from what they do (`at_work`).
    """

    needs_supply: ClassVar[bool] = True
    steep: ClassVar[bool] = True
    just_shut: ClassVar[float] = 0.0
    cuts_commands: ClassVar[bool] = True  # an opening beyond fully open is none
    loop_rate: ClassVar[float] = 2.0  # 1/s, well below the first resonance of a crane on its oil
    limit: ClassVar[float] = 1.0
    valves: ClassVar[tuple[str, ...]] = metering.VALVES

    i: float

    @property
    @abstractmethod
    def section(self) -> Any:
        """Areas, reliefs and valves."""

    @property
    @abstractmethod
    def pressure_limits(self) -> tuple[float, float]: ...

    def pressures(self, label):
        return (f"P_h_{label}", f"P_r_{label}")

    def sides(self, label) -> tuple[Signal, ...]:
        """The pressures as they are logged."""
        return (
            Signal(f"P_h_{label}", "Pa", f"head side of {label}, above the return"),
            Signal(f"P_r_{label}", "Pa", f"rod side of {label}, above the return"),
        )

    @property
    def areas(self):
        return self.i * self.section.A_h, self.i * self.section.A_r

    def bears(self, line):
        pull, push = metering.bears(self.section, line)
        return float(self.i * pull), float(self.i * push)

    def bears_by(self, line):
        return metering.bears_by(line)

    def machine_limits(self, label, key):
        """Pressures at which suction checks and reliefs fail."""
        return chamber_limits(self.pressures(label), *self.pressure_limits)

    def velocity_gain_on(self, line):
        return metering.speed_gain(self.section, line.p_s - line.p_r) / self.i

    def metering(self, label):
        return replace(self.section, name=label)

    def at_work(self, x, s, sdot, u, line) -> Metered:
        """Flows, pressures and openings of the metering valves at this state."""
        return metering.metered(self.behind(x, s, sdot, u), line, u)

    def flow(self, x, s, sdot, u, line):
        return self.at_work(x, s, sdot, u, line).flow

    def port(self, x, s, sdot, u, line, w):
        return metering.open_port(self.at_work(x, s, sdot, u, line), u[0], line, w)

    def valve_powers(self, work: Metered, line) -> list:
        """W from the supply, into the return, and by each of the `valves`."""
        lost = metering.dissipated(work, line.p_s - line.p_r)
        return [line.p_s * work.flow, -line.p_r * work.flow, *(-power for power in lost)]
