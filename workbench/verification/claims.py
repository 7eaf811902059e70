"""The claims a user can ask for: frozen data, one class a claim, with defaults that make sense for a hydraulic crane.

`counted` says whether a claim counts for the exit code; the theorem's hypotheses are information by default, so that a
sound real machine exits 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final, get_args

from workbench.contract.parameters import Unit, positive, up_to
from workbench.verification.checked import Checked as _Checked
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.probability.claims import Probability, Spread
from workbench.verification.proofs import (
    CostDecrease,
    IncrementalPassivity,
    LinearStability,
    MPCStability,
    RegionOfAttraction,
    RobustStability,
    Sector,
    Solves,
    Supplied,
    Tube,
    UniqueVelocity,
)
from workbench.verification.run_claims import (
    EnergyBalance,
    HoldsWeight,
    MachineLimits,
    NoCavitation,
    Overshoot,
    Pressures,
    Saturation,
    Settled,
    Tracking,
    Unasked,
    ValveLosses,
)
from workbench.verification.search.claim import Falsify
from workbench.verification.sensitivity.claim import Sensitivity


@final
@dataclass(frozen=True)
class Identity(_Checked):
    """The completed identity (C.12), entry by entry, and (99) where its hypotheses hold."""

    check: ClassVar[str] = "ledger.claims.check_identity"
    needs_ledger: ClassVar[bool] = True

    tolerance: Annotated[
        float, Unit("1"), "largest residual, relative to the terms before subtraction", positive
    ] = 1e-12
    counted: bool = True


@final
@dataclass(frozen=True)
class PowerFlows(_Checked):
    """Virtual power flows cancel at every inner cut (Theorem 2)."""

    check: ClassVar[str] = "ledger.claims.check_power_flows"
    needs_ledger: ClassVar[bool] = True

    tolerance: Annotated[
        float, Unit("1"), "largest sum at a cut, relative to the terms before subtraction", positive
    ] = 1e-12
    counted: bool = True


@final
@dataclass(frozen=True)
class Hypotheses(_Checked):
    """The theorem's hypotheses, one by one, each with its margin."""

    check: ClassVar[str] = "hypotheses.check_hypotheses"
    needs_ledger: ClassVar[bool] = True

    lever: Annotated[float, Unit("m"), "smallest acceptable lever arm |dx/dq|", positive] = 0.03
    counted: bool = False


@final
@dataclass(frozen=True)
class Inequality(_Checked):
    """(99): v̇ ≤ −Σ ΔVᵀK_AΔV − Σ (k_f/k_x)Δf² + p_Bc1 at every logged state."""

    check: ClassVar[str] = "ledger.claims.check_inequality"
    needs_ledger: ClassVar[bool] = True

    counted: bool = False


@final
@dataclass(frozen=True)
class PracticalStability(_Checked):
    """From other starts the loop returns to its path; v, where the law states one, stays below a bound. Runs last twice as long.

    bound: the largest v allowed after settling, J; left out, ten times the largest settled v of the nominal run. runs: the number
    of other starts, fixed beforehand, in opposite pairs. within: time by which the tool and every position must be back; left out,
    the length of the scenario (at least `settle`), and a later return leaves the claim undecided. longest: runs in which
    something is still on its way are made longer, up to this time (at least twice the scenario).
    """

    check: ClassVar[str] = "practical.claim.check_practical"
    asked: ClassVar[str] = "practical.claim.bound_asked"
    reach: ClassVar[str] = "storage"
    takes: ClassVar[tuple[str, ...]] = ("allowed", "tick", "bounded")
    work: ClassVar[int] = 8
    says_stable: ClassVar[bool] = True

    bound: Annotated[float | None, Unit("J"), "largest v after settling", positive] = None
    runs: Annotated[int, Unit("1"), "how many other starts", up_to(10_000)] = 6
    spread: Annotated[
        float,
        Unit("rad"),
        "starts: joint angles off by up to this (extensions by as many m)",
        positive,
    ] = 0.02
    settle: Annotated[float, Unit("s"), "time allowed for settling", positive] = 3.0
    within: Annotated[
        float | None,
        Unit("s"),
        "time by which all must be back; that of the scenario by default",
        positive,
    ] = None
    duration: Annotated[
        float | None, Unit("s"), "of every run; twice that of the scenario by default", positive
    ] = None
    longest: Annotated[
        float,
        Unit("s"),
        "longest run, made longer while something is on its way back",
        positive,
    ] = 30.0
    counted: bool = True


LargestError = Annotated[float, Unit("m"), "largest tool error that still counts", positive]
LargestStorage = Annotated[
    float | None,
    Unit("J"),
    "largest v that still counts; the practical claim's by default",
    positive,
]


class _Limit(_Checked):
    """How far something may go: runs of the scenario are tried one after the other."""

    reach: ClassVar[str] = "scan"
    takes: ClassVar[tuple[str, ...]] = ("foundation", "tick")
    work: ClassVar[int] = 12
    scans: ClassVar[bool] = True


@final
@dataclass(frozen=True)
class SampleTimeLimit(_Limit):
    """Largest sample time at which the run from the scenario's own start still settles (scan, then bracket)."""

    check: ClassVar[str] = "practical.limits.claims.check_sample_time"

    at_least: Annotated[
        float | None, Unit("s"), "limit asked for; the loop's own sample time by default", positive
    ] = None
    up_to: Annotated[float, Unit("s"), "where the scan ends", positive] = 40e-3
    error: LargestError = 50e-3
    bound: LargestStorage = None
    counted: bool = True


@final
@dataclass(frozen=True)
class DelayLimit(_Limit):
    """Largest delay from sample to valve at which the run from the scenario's own start still settles (scan, then bracket)."""

    check: ClassVar[str] = "practical.limits.claims.check_delay"

    at_least: Annotated[
        float | None, Unit("s"), "limit asked for; the loop's own delay by default", positive
    ] = None
    up_to: Annotated[float, Unit("s"), "where the scan ends", positive] = 20e-3
    error: LargestError = 50e-3
    bound: LargestStorage = None
    counted: bool = True


@final
@dataclass(frozen=True)
class ParameterLimit(_Limit):
    """How far a number of the true plant may change, the controller's model as it is, until the scenario's run no longer settles.

    parameter: dotted path of a number of the plant, or the end of a path ("valve.frequency", "friction.F_c", "payload.mass"); all
    numbers whose path ends so change together. to: where the scan ends, as a factor on the nominal value; if that is zero, the
    value itself in SI units.
    """

    check: ClassVar[str] = "practical.limits.claims.check_parameter"

    parameter: str
    to: Annotated[
        float,
        Unit("1"),
        "end of the scan: factor, or SI value where the nominal one is zero",
        positive,
    ] = 2.0
    at_least: Annotated[
        float | None, Unit("1"), "factor (or value) asked for; that of `to` by default", positive
    ] = None
    error: LargestError = 50e-3
    bound: LargestStorage = None
    counted: bool = True


@final
@dataclass(frozen=True)
class Linear(_Checked):
    """Eigenvalues and margins of the loop linearised at the start's equilibrium, sampled exactly."""

    check: ClassVar[str] = "linear.local_claim.check_linear"
    work: ClassVar[int] = 2
    says_stable: ClassVar[bool] = True

    gain: Annotated[float, Unit("1"), "gain margin asked for (factor)", positive] = 1.5
    phase: Annotated[float, Unit("rad"), "phase margin asked for", positive] = 0.5
    counted: bool = False


Claim = (
    Identity
    | PowerFlows
    | Hypotheses
    | Inequality
    | PracticalStability
    | Tracking
    | Pressures
    | Saturation
    | Overshoot
    | EnergyBalance
    | MachineLimits
    | SampleTimeLimit
    | DelayLimit
    | ParameterLimit
    | Linear
    | Settled
    | LinearStability
    | RobustStability
    | MPCStability
    | CostDecrease
    | Solves
    | Sector
    | RegionOfAttraction
    | Supplied
    | Tube
    | IncrementalPassivity
    | UniqueVelocity
    | ValveLosses
    | NoCavitation
    | Unasked
    | HoldsWeight
    | Requirement
    | Falsify
    | Probability
    | Sensitivity
)

_PUBLIC = {thing.__name__: thing for thing in (*get_args(Claim), Spread)}

__all__ = list(_PUBLIC)


def __dir__() -> list[str]:
    return __all__
