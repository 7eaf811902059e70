"""Names of the parts and of all signals of a crane behind metering valves: the crane's, and those of valves and pump."""

from __future__ import annotations

from plants.crane.manipulator import Manipulator
from plants.delegation import of
from plants.drives.metering import VALVES
from plants.multibody.built import Built
from workbench.contract.system import Signal, names


class MeteredCraneNames(Built):
    """The part of `plants.metered.crane.MeteredCrane` that lists its parts and names its signals."""

    crane: Manipulator

    # ---- who is who: as the crane's ----------------------------------------------------------------------------------
    n = of("crane.n")
    axes = of("crane.axes")  # frames in which gains of bodies are given
    labels = of("crane.labels")
    cylinders = of("crane.cylinders")
    segments = of("crane.segments")
    joint_names = of("crane.joint_names")
    task = of("crane.task")
    task_names = of("crane.task_names")
    tool = of("crane.tool")
    joint_range = of("crane.joint_range")
    check_pose = of("crane.check_pose")
    spaces = Manipulator.spaces

    @property
    def _drives(self) -> list:
        """The cylinders behind their valves."""
        return [a.drive for a in self.mechanism.actuators]

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def states(self):
        rods = [
            Signal(f"rod_{k}", "m", f"{s.name} piston as the valves have put it")
            for k, s in zip(self.labels, self.crane.segments)
        ]
        rubs = [s for k, c in zip(self.labels, self.cylinders) for s in c.friction.states(k)]
        return (
            *self.crane.states[: 2 * self.n],
            *rods,
            Signal("P", "Pa", "pressure of the pump"),
            *rubs,
        )

    @property
    def inputs(self):
        own = [
            Signal(f"u_c_{k}", "1", f"{s.name} command")
            for k, s in zip(self.labels, self.crane.segments)
        ]
        return (*own, *(s for s in self.crane.inputs if s.name.startswith("f_D")))

    @property
    def outputs(self):
        known = {s.name: s for s in (*self.states, *self.crane.outputs)}
        pistons = [known[name] for name in self.task_names("piston")]
        oil = [
            Signal(f"f_K_{k}", "N", f"{s.name} force of the oil as a spring, K (p − x)")
            for k, s in zip(self.labels, self.crane.segments)
        ]
        return (
            *self.crane.states[: 2 * self.n],
            known["P"],
            *(s for s in pistons if s.name not in self.joint_names),
            *oil,
        )

    @property
    def monitors(self):
        found = []
        for k, s in zip(self.labels, self.crane.segments):
            found += [
                Signal(f"f_{k}", "N", f"{s.name} force of the valves"),
                Signal(f"P_h_{k}", "Pa", f"{s.name} head side"),
                Signal(f"P_r_{k}", "Pa", f"{s.name} rod side"),
                Signal(f"Q_p_{k}", "m^3/s", f"{s.name} flow from the pump"),
            ]
        tool = [s for s in self.crane.monitors if s.name.startswith("tcp_")]
        return (*self.outputs[2 * self.n + 1 :], *found, *tool)

    @property
    def stiff(self):
        """States with fast modes: joint rates, which smooth Coulomb friction makes stiff near rest, and bristles."""
        return (
            *("d" + name for name in self.joint_names),
            *(name for k, c in zip(self.labels, self.cylinders) for name in c.friction.stiff(k)),
        )

    @property
    def pressure_names(self):
        return tuple(f"{key}_{k}" for k in self.labels for key in ("P_h", "P_r"))

    drawn_as = of("crane")
    cuts_commands = True  # an opening beyond fully open is none

    def limits(self):
        return {f"u_c_{k}": (-1.0, 1.0) for k in self.labels}

    @property
    def called(self):
        moving = 2 * self.n
        logged = {f"f_p_{k}": f"f_{k}" for k in self.labels}
        logged |= {f"Q_s_{k}": f"Q_p_{k}" for k in self.labels}
        moved = zip(names(self.mechanism.states[:moving]), names(self.states[:moving]))
        return dict(moved) | logged

    @property
    def causes(self):
        found = {name: (name,) for name in ("pump", "bleed", "relief")}
        for k in self.labels:
            found |= {f"{valve}_{k}": (f"{valve}_{k}",) for valve in VALVES}
        for cause in ("oil", "friction"):
            found[cause] = tuple(f"{cause}_{k}" for k in self.labels)
        return found | {"tip": ("tip",)}
