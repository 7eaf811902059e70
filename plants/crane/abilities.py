"""What a manipulator can do, and the limits of its machine: commands, strokes, spools, the pump, forces that hold its weight."""

from __future__ import annotations

from plants import scales
from plants.crane.poses import CranePoses
from plants.machine_files import like
from plants.multibody import drive_forces, surroundings
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import REST
from workbench.contract.machine_limits import Holding, Limit, chamber_limits, command_limits


class CraneAbilities(CranePoses):
    """The part of `plants.crane.manipulator.Manipulator` that answers what claims, laws and integrators ask."""

    Q_max: float

    def as_shipped(self):
        return like(self)

    def scales(self):
        return scales.of_crane(self)

    @property
    def stiff(self):
        """Joint rates (and bristles): smooth Coulomb friction makes them fast near rest. Spools: fast, and linear."""
        own = list(zip(self.labels, self.cylinders))
        spools = [s.name for label, c in own for s in c.valve.spool_states(label)]
        bristles = [name for label, c in own for name in c.friction.stiff(label)]
        return (*("d" + name for name in self.joint_names), *spools, *bristles)

    @property
    def vacuum(self) -> float | None:
        """Pressure below which the model does not hold, Pa: without air in the oil a chamber that runs empty does not cavitate."""
        return 0.0 if self.oil.air == 0 else None

    def limits(self):
        return {
            f"u_{label}": (-c.valve.u_max, c.valve.u_max)
            for label, c in zip(self.labels, self.cylinders)
        }

    def machine_limits(self):
        """Pump flow, strokes, vacuum, spools, commands."""
        pump = Limit(
            "pump flow",
            tuple(f"Q_s{label}" for label in self.labels),
            high=self.Q_max,
            unit="m^3/s",
            kind="flow",
            meaning="what all cylinders take from the pump",
            key="Q_max",
        )
        own = list(zip(self.labels, self.segments))
        strokes = [_stroke(label, s) for label, s in own]
        spools = [limit for label, s in own for limit in _spool(label, s)]
        chambers = chamber_limits(self.pressure_names, self.oil.hollow)
        return (pump, *strokes, *chambers, *spools, *command_limits(self))

    def holding(self, x, u):
        """Cylinder forces at rest (68) against f_p between return and supply pressure."""
        m = self.mechanism
        around = surroundings.given(m, self.given(u))
        still = [0.0] * self.n
        f_c = drive_forces.asked(
            m, list(x[: self.n]), still, still, Surroundings(REST, around.gravity, around.wrench)
        )
        words = f"{self.p_r / 1e5:g} and {self.p_s / 1e5:g} bar"
        return tuple(
            Holding(
                f"cylinder {label} ({s.name})",
                float(f),
                s.cylinder.force(self.p_r, self.p_s),
                s.cylinder.force(self.p_s, self.p_r),
                "N",
                words,
                "p_s",
            )
            for label, s, f in zip(self.labels, self.segments, f_c)
        )


def _stroke(label: str, segment) -> Limit:
    return Limit(
        name=f"piston {label}",
        signals=(f"x_{label}",),
        low=0.0,
        high=segment.cylinder.stroke,
        unit="m",
        kind="stroke",
        meaning=f"stroke of {segment.name}",
        key=f"{segment.name}.cylinder.stroke",
    )


def _spool(label: str, segment) -> list[Limit]:
    """Travel of the spool, of a valve that has one."""
    valve = segment.cylinder.valve
    return [
        Limit(
            name=f"spool {label}",
            signals=(spool.name,),
            low=-valve.u_max,
            high=valve.u_max,
            unit="V",
            kind="valve",
            meaning=f"travel of the spool of {segment.name}",
            key=f"{segment.name}.cylinder.valve.u_max",
            bearable=True,
        )
        for spool in valve.spool_states(label)[:1]
    ]
