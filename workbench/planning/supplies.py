"""What the pump must give for the cylinders to move: text over floats, arrays or expressions.

With the speed v and the force F of each cylinder (positive: rod out), its areas A_a, A_b, and v⁺, v⁻ the parts of v = v⁺ − v⁻:

    Q = Σ A_a v⁺ + A_b v⁻                                                  (27), which lets slow retraction give oil back
    p = F/A_a + back pressure where v > 0, F > 0;  −F/A_b + … where v < 0, F < 0;  else 0                  (34) with H(0) = 0

    ConstantPressure       P = p_s Q/η, no cylinder needing more than p_s                                         (31)
    LoadSensing            P = max(max p + Δp, p_0) Q/η, p_0 the pump's standby pressure                          (32), (33)
    ElectricLoadSensing    P = (max p + Δp_0 + Δp_n (Q/Q_n)²) Q/η: the margin follows the flow
    TwoPressures           P = Σ p_i Q_i/η, each cylinder at the lower pressure wherever that moves it
    Work                   P = Σ (F v)⁺, what the cylinders do: a baseline without hydraulics
    Speed                  P = Σ A v², the weighted norm of the speeds: a baseline

η is a constant or a map over pump pressure and flow, for each supply with a pump. Plan files call the first two so; their classes
are `PlannedConstantPressure` and `PlannedLoadSensing`, since `plants` has supplies of machines under the plain names.

Where P is not smooth, and what is done about it (`treated` says it for each):

    kinks   of v⁺, v⁻ where a cylinder turns, of max p where another cylinder leads, of maps at their points, of (F v)⁺
    jumps   of p where a cylinder changes from lifting to lowering, of a line's pressure where its margin runs out

Dynamic programming compares values and asks for no slope: both stay as they are. With the jump of p an optimum may creep along
the edge (`Plan.creeping` counts that); a supply with `creep` above 0 has nothing to gain there, and plans what a machine can do.
`workbench.planning.transcription` writes kinks as inequalities, rounds jumps and then fixes each cylinder's side of them.

Source: [Nurmi17] Section 5, equations as numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, check_bounds, nonnegative, positive
from workbench.planning.efficiency import EfficiencyMap
from workbench.planning.pressures import (
    _drawn,
    drawn_at_one_pressure,
    flows,
    highest,
    power_asked,
    pressure_asked,
    pressures,
)

Efficiency = Annotated[
    float, Unit("1"), "efficiency of pump and motor", Bound(0.05, 1.0, words="between 0.05 and 1")
]
BackPressure = Annotated[
    float, Unit("Pa"), "back pressure in the chamber that empties", nonnegative
]

Creep = Annotated[
    float,
    Unit("m/s"),
    "a load that sinks more slowly than this, or rests, asks for its pressure",
    nonnegative,
]


TURNS = "a cylinder that turns has a kink in its flow"
EDGES = "; a cylinder's pressure jumps where it changes between lifting and lowering, creep: 0 lets an optimum lean on that edge"
LEADS = "; the leading pressure has a kink where another cylinder takes the lead"
KEPT = ". Dynamic programming keeps all of it as it is; the direct transcription "


FOLLOWS = (
    TURNS
    + EDGES
    + LEADS
    + KEPT
    + (
        "writes the kinks as inequalities, rounds the jumps, then fixes every cylinder's side of them and solves that exactly."
    )
)


class PlannedSupply:
    """What a supply may have, and what says that it has none."""

    name_in_files: ClassVar[str] = ""  # in plan files and reports; by default the name of the class
    draws: ClassVar[bool] = True  # oil from a pump; False: another measure of the motion
    back = 0.0  # Pa, in the return line
    creep = 0.0  # m/s
    map = None  # of efficiency
    high = None  # Pa, of the higher of two lines
    p_s = None  # Pa, of one line
    standby = None  # Pa, least pressure

    @property
    def title(self) -> str:  # in reports
        return self.name_in_files or type(self).__name__

    def pump(self, p, Q):  # Pa, for the cylinders' pressures and flows
        return highest(p) if len(p) > 1 else p[0]


@final
@dataclass(frozen=True)
class PlannedConstantPressure(PlannedSupply):
    """Pump at one pressure; energy is p_s times oil. A step in which a cylinder needs more than p_s is not allowed.

    holds   False: loads are not asked, the oil is counted whatever they need
    """

    p_s: Annotated[float, Unit("Pa"), "supply pressure", positive] = 185e5
    back: BackPressure = 0.0
    creep: Creep = 0.0
    η: Efficiency = 1.0
    map: EfficiencyMap | None = None
    holds: bool = True

    name_in_files: ClassVar[str] = "ConstantPressure"  # in plan files
    needs_forces: ClassVar[bool] = False
    treated: ClassVar[str] = (
        TURNS
        + KEPT
        + (
            "writes it as inequalities, exactly; where loads come near p_s, on sides of the "
            "cylinders that are found first."
        )
    )

    def __post_init__(self):
        check_bounds(self)

    def drawn(self, p, Q):
        """W for the cylinders' pressures and flows."""
        return _drawn(self, self.p_s, sum(Q))

    def power(self, v, F, areas):
        """W."""
        return self.drawn(None, flows(v, areas))

    def pressure(self, v, F, areas):
        """At the pump, Pa."""
        return self.p_s + 0.0 * v[0]


@final
@dataclass(frozen=True)
class PlannedLoadSensing(PlannedSupply):
    """Pump a margin above the highest cylinder pressure."""

    margin: Annotated[float, Unit("Pa"), "Δp, above the highest pressure", nonnegative] = 2e6
    back: BackPressure = 0.0
    creep: Creep = 0.0
    η: Efficiency = 1.0
    map: EfficiencyMap | None = None
    standby: Annotated[
        float, Unit("Pa"), "p_0, least pressure: a load that sinks needs oil behind it", nonnegative
    ] = 0.0

    name_in_files: ClassVar[str] = "LoadSensing"  # in plan files
    needs_forces: ClassVar[bool] = True
    treated: ClassVar[str] = FOLLOWS

    def __post_init__(self):
        check_bounds(self)

    def pump(self, p, Q):
        """Pressure at the pump for the cylinders' pressures and flows, Pa (33)."""
        return np.maximum(highest(p) + self.margin, self.standby)

    drawn, power, pressure = drawn_at_one_pressure, power_asked, pressure_asked


@final
@dataclass(frozen=True)
class ElectricLoadSensing(PlannedSupply):
    """Pump turned by a motor that knows the valves' commands: the margin is what the flow needs, no more."""

    least: Annotated[float, Unit("Pa"), "Δp_0, margin at no flow", nonnegative] = 2e5
    nominal: Annotated[
        float, Unit("Pa"), "Δp_n, further margin at the nominal flow", nonnegative
    ] = 1e6
    flow: Annotated[float, Unit("m^3/s"), "nominal flow Q_n", positive] = 40e-3 / 60
    back: BackPressure = 0.0
    creep: Creep = 0.0
    η: Efficiency = 1.0
    map: EfficiencyMap | None = None

    needs_forces: ClassVar[bool] = True
    treated: ClassVar[str] = FOLLOWS

    def __post_init__(self):
        check_bounds(self)

    def pump(self, p, Q):
        """Pressure at the pump for the cylinders' pressures and flows, Pa."""
        share = sum(Q) / self.flow
        return highest(p) + self.least + self.nominal * share * share

    drawn, power, pressure = drawn_at_one_pressure, power_asked, pressure_asked


@final
@dataclass(frozen=True)
class TwoPressures(PlannedSupply):
    """Two lines at constant pressures; a cylinder takes its oil from the lower one where p + margin allows.

    Where a cylinder needs more than the high line gives, the step is not allowed.
    """

    low: Annotated[float, Unit("Pa"), "lower pressure", positive] = 90e5
    high: Annotated[float, Unit("Pa"), "higher pressure", positive] = 185e5
    margin: Annotated[float, Unit("Pa"), "lost in valves", nonnegative] = 1e6
    back: BackPressure = 0.0
    creep: Creep = 0.0
    η: Efficiency = 1.0
    map: EfficiencyMap | None = None

    needs_forces: ClassVar[bool] = True
    treated: ClassVar[str] = (
        TURNS
        + EDGES
        + "; a cylinder's line jumps where its pressure plus the margin passes the lower one"
        + KEPT
        + "rounds the jumps, then fixes every cylinder's side of them and solves that exactly."
    )

    def __post_init__(self):
        check_bounds(self)
        if self.low >= self.high:
            raise InputError(
                f"low: {self.low / 1e5:g} bar must be below high, {self.high / 1e5:g} bar"
            )

    def pump(self, p, Q):
        """Highest pressure a cylinder needs from a line, Pa."""
        return highest(p) + self.margin

    def lines(self, p):
        """The line each cylinder draws from, Pa."""
        return [np.where(own + self.margin > self.low, self.high, self.low) for own in p]

    def drawn(self, p, Q):
        """W for the cylinders' pressures and flows."""
        return self.through(self.lines(p), Q)

    def through(self, lines, Q):
        """W for flows from these lines."""
        return sum(_drawn(self, line, own) for line, own in zip(lines, Q))

    power, pressure = power_asked, pressure_asked


@final
@dataclass(frozen=True)
class Work(PlannedSupply):
    """Mechanical work of the cylinders, none of it regained."""

    draws: ClassVar[bool] = False
    needs_forces: ClassVar[bool] = True
    treated: ClassVar[str] = (
        "the work of a cylinder has a kink where its load begins to drive it"
        + KEPT
        + "rounds the kink, less and less."
    )

    def power(self, v, F, areas):
        """W."""
        return sum(np.maximum(f * s, 0.0) for s, f in zip(v, F))

    def pressure(self, v, F, areas):
        """Highest pressure a cylinder needs, Pa."""
        return highest(pressures(v, F, areas))


@final
@dataclass(frozen=True)
class Speed(PlannedSupply):
    """Σ A v² with A the area that fills, which the weighted pseudo-inverse minimises; or Σ v²."""

    weighted: bool = True

    draws: ClassVar[bool] = False
    needs_forces: ClassVar[bool] = False
    treated: ClassVar[str] = (
        "its slope is continuous, its second derivative jumps where a cylinder turns: nothing needs treatment."
    )

    def power(self, v, F, areas):
        """m⁴/s² or m²/s², not a power."""
        if not self.weighted:
            return sum(s * s for s in v)
        return sum(np.where(s > 0, A_a, A_b) * s * s for s, (A_a, A_b) in zip(v, areas))

    def pressure(self, v, F, areas):
        """None: 0."""
        return 0.0 * v[0]


Supply = (
    PlannedConstantPressure | PlannedLoadSensing | ElectricLoadSensing | TwoPressures | Work | Speed
)
