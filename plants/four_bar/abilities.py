"""Names of the parts of a hydraulic four-bar, and what it can do: signals, limits, the force that holds its weight."""

from __future__ import annotations

from abc import abstractmethod

from plants import scales
from plants.components.circuit import ThrottledCircuit
from plants.delegation import of
from plants.machine_files import like
from plants.multibody.built import Built
from workbench.contract.machine_limits import (
    Holding,
    Limit,
    chamber_limits,
    command_limits,
    span_limits,
)
from workbench.contract.system import Signal
from workbench.numerics.adaptive import Fixed


class FourBarAbilities(Built):
    """The part of `plants.four_bar.linkage.FourBar` that names its signals and answers what claims, laws and integrators ask."""

    circuit: ThrottledCircuit

    fixed = Fixed(1e-3)
    loop_rate = 8.0  # 1/s, what a position loop can have: the oil spring and the mechanism swing at 26 Hz, hardly damped
    pressure_names = ("p_1", "p_2", "p_3")
    monitors = (
        Signal("z_2", "rad", "coupler, relative to the crank"),
        Signal("z_3", "rad", "rocker, relative to the coupler"),
        Signal("s", "m", "length of the cylinder"),
        Signal("ds", "m/s", "its rate"),
        Signal("tilt", "rad", "crank from the vertical, grows with s"),
        Signal("F_c", "N", "force of the cylinder"),
        Signal("F_mu", "N", "friction of the cylinder"),
        Signal("E_pot", "J", "potential energy"),
        Signal("E_kin", "J", "kinetic energy"),
        Signal("E_oil", "J", "energy of compressed oil and bent bristles"),
    )
    p_s = of("circuit.p_P")  # Pa, of the supply
    p_r = of("circuit.p_T")  # Pa, of the return
    velocity_gain = of("circuit.velocity_gain")  # m/(s V)

    @abstractmethod
    def joint_range(self) -> tuple[tuple[float, float]]: ...

    @abstractmethod
    def holding_force(self, z_1) -> float: ...

    @property
    def states(self):
        return (
            Signal("z_1", "rad", "crank angle"),
            Signal("dz_1", "rad/s", "its rate"),
            *self.circuit.states(),
        )

    @property
    def inputs(self):
        return self.circuit.inputs()

    @property
    def outputs(self):
        return (self.monitors[2], self.monitors[3], *self.states[:5], self.monitors[4])

    def limits(self):
        return {"U_ref": (-self.circuit.limit, self.circuit.limit)}

    def as_shipped(self):
        return like(self)

    def scales(self):
        return scales.of_four_bar(self)

    @property
    def spans(self):
        """What the cylinder can span, m."""
        return {"s": self.circuit.range}

    def machine_limits(self):
        """Stroke, crank angles at which the loop closes, vacuum, spool, command."""
        ((low, high),) = self.joint_range()
        crank = Limit(
            name="crank",
            signals=("z_1",),
            low=low,
            high=high,
            unit="rad",
            kind="stroke",
            meaning="where the loop closes and the cylinder turns the crank",
            key="L_0",
        )
        U = self.circuit.U_max
        spool = Limit(
            name="spool",
            signals=("U",),
            low=-U,
            high=U,
            unit="V",
            kind="valve",
            meaning="travel of the spool",
            key="circuit.U_max",
            bearable=True,
        )
        return (
            *span_limits(self),
            crank,
            *chamber_limits(self.pressure_names, 0.0),
            spool,
            *command_limits(self),
        )

    def holding(self, x, u):
        """Force of the cylinder by virtual work, against the circuit's."""
        return (
            Holding(
                "cylinder",
                float(self.holding_force(x[0])),
                *self.circuit.bears(),
                "N",
                self.circuit.bears_by(),
                "circuit.p_P",
            ),
        )
