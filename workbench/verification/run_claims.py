"""Claims on a run: requirements, limits of the machine, energy, what is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, fraction, nonnegative, positive
from workbench.verification.checked import Checked as _Checked


@final
@dataclass(frozen=True)
class Tracking(_Checked):
    """Tool error after settling; of a plant without a tool, the error of the outputs that follow a reference."""

    check: ClassVar[str] = "observed.requirements.check_tracking"
    reach: ClassVar[str] = "tracking"
    searched: ClassVar[bool] = True
    at_steps: ClassVar[bool] = True
    needs_motion: ClassVar[bool] = True

    error: Annotated[
        str | float, "largest error; of the tool in m, else in the unit of what is followed"
    ] = 5e-3
    settle: Annotated[float, Unit("s"), "time allowed for settling", positive] = 3.0
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.error, str) and not 0 < self.error < float("inf"):
            raise InputError(f"error: must be greater than zero, got {self.error!r}")


@final
@dataclass(frozen=True)
class Pressures(_Checked):
    """Chamber pressures stay inside limits; v does not see the common mode of a cylinder's two pressures."""

    check: ClassVar[str] = "observed.requirements.check_pressures"
    reach: ClassVar[str] = "pressures"
    searched: ClassVar[bool] = True
    at_steps: ClassVar[bool] = True

    low: Annotated[
        float, Unit("Pa"), "cavitation limit; below zero where the plant's pressures are gauge"
    ] = 1e5
    high: Annotated[
        float | None,
        Unit("Pa"),
        "pressure limit; 1.25 times the supply pressure by default",
        positive,
    ] = None
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high is not None and not self.low < self.high:
            raise InputError(f"low: {self.low:g} Pa is not below high, {self.high:g} Pa")


@final
@dataclass(frozen=True)
class Saturation(_Checked):
    """Every command stays off its limits for all but a fraction of the time."""

    check: ClassVar[str] = "observed.shares.check_saturation"
    reach: ClassVar[str] = "share"
    searched: ClassVar[bool] = True

    share: Annotated[
        float, Unit("1"), "largest acceptable share of time at the limit", fraction
    ] = 0.01
    counted: bool = True


@final
@dataclass(frozen=True)
class Overshoot(_Checked):
    """No output overshoots its reference by more than a share of the step that was asked for."""

    check: ClassVar[str] = "observed.overshoot.check_overshoot"
    reach: ClassVar[str] = "overshoot"
    searched: ClassVar[bool] = True
    at_steps: ClassVar[bool] = True

    share: Annotated[float, Unit("1"), "largest overshoot, as a share of the step", nonnegative] = (
        0.1
    )
    counted: bool = True


@final
@dataclass(frozen=True)
class MachineLimits(_Checked):
    """The machine's own limits are kept on the run: pump flow, strokes, vacuum, pressures of reliefs, forces, travel of valves.

    A limit that only cuts performance (a spool at its stop) may be reached for a share of the time. A limit beyond which the model
    no longer describes the machine must never be passed. Ranges of commands belong to the claim `saturation`.
    """

    check: ClassVar[str] = "observed.machine.check_machine_limits"
    reach: ClassVar[str] = "share"
    searched: ClassVar[bool] = True
    at_steps: ClassVar[bool] = True

    share: Annotated[
        float, Unit("1"), "share of the time at a limit that the machine bears", fraction
    ] = 0.01
    counted: bool = True


@final
@dataclass(frozen=True)
class EnergyBalance(_Checked):
    """Power in = stored + work + losses over the run; every sampled verdict depends on it."""

    check: ClassVar[str] = "observed.energy_claims.check_energy"
    reach: ClassVar[str] = "share"
    at_steps: ClassVar[bool] = True
    needs_motion: ClassVar[bool] = True

    share: Annotated[
        float, Unit("1"), "largest gap as a share of the energy through the pump", fraction
    ] = 1e-3
    counted: bool = True


@final
@dataclass(frozen=True)
class ValveLosses(_Checked):
    """Each valve loses the power that its law says, and these losses with the work on the rods are the power of the pump."""

    check: ClassVar[str] = "observed.valve_claims.check_valve_losses"
    reach: ClassVar[str] = "share"
    at_steps: ClassVar[bool] = True

    share: Annotated[
        float,
        Unit("1"),
        "largest gap, as a share of the largest power of pump, rods, valves",
        fraction,
    ] = 1e-6
    counted: bool = True


@final
@dataclass(frozen=True)
class HoldsWeight(_Checked):
    """The drives can hold the machine at rest at every pose of the run: static force against pressure or limit of each."""

    check: ClassVar[str] = "observed.holding.check_holding"

    counted: bool = True


@final
@dataclass(frozen=True)
class NoCavitation(_Checked):
    """Suction checks let in no more oil than allowed, and no chamber falls below the limit (gauge)."""

    check: ClassVar[str] = "observed.valve_claims.check_cavitation"
    reach: ClassVar[str] = "cavitation"
    at_steps: ClassVar[bool] = True

    drawn: Annotated[
        float, Unit("m^3"), "most oil a chamber may draw through its suction check", nonnegative
    ] = 1e-5
    low: Annotated[float, Unit("Pa"), "cavitation limit, below the tank's pressure"] = -0.3e5
    counted: bool = True


@final
@dataclass(frozen=True)
class Settled(_Checked):
    """No limit cycle of the joint errors and no chatter of the commands: in the settled half of the run, and at rest after it."""

    check: ClassVar[str] = "observed.settled.check_settled"
    asked: ClassVar[str] = "observed.requirements.floor_asked"
    reach: ClassVar[str] = "settled"
    takes: ClassVar[tuple[str, ...]] = ("tick",)
    needs_motion: ClassVar[bool] = True
    work: ClassVar[int] = 2

    floor: Annotated[
        str | float,
        "largest oscillation that is ignored; in the unit of what oscillates",
    ] = 1e-4
    chatter: Annotated[
        float, Unit("1"), "rms of a command's fast part, as a share of the range it uses", positive
    ] = 0.05
    rest: Annotated[bool, "hold the last reference after the run, to see it at rest"] = True
    longest: Annotated[
        float,
        Unit("s"),
        "longest rest, which is lengthened while something decays",
        positive,
    ] = 30.0
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.floor, str) and not 0 < self.floor < float("inf"):
            raise InputError(f"floor: must be greater than zero, got {self.floor!r}")


@final
@dataclass(frozen=True)
class Unasked(_Checked):
    """Default claims that this loop cannot be asked, each with the reason: undecided, so that nothing drops out silently."""

    check: ClassVar[str] = "unasked.check_unasked"

    items: Annotated[
        tuple[tuple[str, str], ...], "what cannot be asked, and why; filled in by the program"
    ] = ()
    counted: bool = False
