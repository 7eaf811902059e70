"""Claims that are proven, not observed: linear loops, predictive controllers, sectors, regions, a user's own certificate.

Frozen data, one class a claim, as in `claims`, which lists them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, fraction, nonnegative, up_to
from workbench.verification.checked import Checked

Number = str | float  # a number or "5 mm", in the unit of the signal it belongs to


@final
@dataclass(frozen=True)
class LinearStability(Checked):
    """The loop from sample to sample, linear or linearised, has a quadratic certificate (proof, for the stored matrix).

    at: states and inputs of the plant where it is linearised, name → value; its start where nothing is said.
    """

    check: ClassVar[str] = "linear.claims.check_linear_stability"
    asked: ClassVar[str] = "linear.claims.place_asked"
    says_stable: ClassVar[bool] = True

    at: Mapping[str, Number] = field(default_factory=dict)
    counted: bool = True


@final
@dataclass(frozen=True)
class RobustStability(Checked):
    """The loop is stable for every parameter in a box, with the law unchanged (proof: certificates that cover the box).

    box: path of a plant's number, or "delay" → [low, high]. mode: whether parameters are
    constants ("frozen") or change from sample to sample ("varying").
    """

    check: ClassVar[str] = "linear.claims.check_robust"
    asked: ClassVar[str] = "linear.claims.box_asked"
    says_stable: ClassVar[bool] = True

    box: Mapping[str, tuple[Number, Number]]
    mode: Literal["frozen", "varying"] = "frozen"
    budget: Annotated[int, Unit("1"), "boxes looked at", up_to(10_000_000)] = 4000
    at: Mapping[str, Number] = field(default_factory=dict)
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.box:
            raise InputError("box: expected at least one parameter and its range")


@final
@dataclass(frozen=True)
class MPCStability(Checked):
    """Terminal set invariant, recursively feasible, cost falls: the loop with the predictive controller is stable (proof)."""

    check: ClassVar[str] = "predictive.run_claims.check_mpc_stability"
    asked: ClassVar[str] = "predictive.of_run.cost_asked"
    says_stable: ClassVar[bool] = True

    counted: bool = True


@final
@dataclass(frozen=True)
class CostDecrease(Checked):
    """V(x⁺) ≤ V(x) − ℓ at every sample of the run; for a constant reference without disturbances."""

    check: ClassVar[str] = "predictive.run_claims.check_cost_decrease"
    asked: ClassVar[str] = "predictive.of_run.cost_asked"

    floor: Annotated[
        float, Unit("1"), "noise of the solver, as a share of the largest cost", nonnegative
    ] = 1e-8
    counted: bool = True


@final
@dataclass(frozen=True)
class Solves(Checked):
    """The predictive controller's problem is solved to optimality; statuses and fallbacks are listed."""

    check: ClassVar[str] = "predictive.run_claims.check_solves"
    asked: ClassVar[str] = "predictive.of_run.cost_asked"

    share: Annotated[
        float, Unit("1"), "largest acceptable share of samples that are not", fraction
    ] = 0.0
    counted: bool = True


@final
@dataclass(frozen=True)
class Sector(Checked):
    """The linear loop is stable with any nonlinearity φ between low·u and high·u at each command u (proof).

    place: φ between law and plant, unknown to the law ("valve"), or the law's own limit, known to its memory ("limit").
    criterion: the test, by default the first that proves it ("auto"); "circle" lets φ change with time, "popov" (continuous)
    takes one φ at all times, "jury-lee" (sampled) takes one of bounded slope, too.
    slope: largest slope of φ; a limit's is 1. commands: which (all by default). at: as in LinearStability.
    """

    check: ClassVar[str] = "rigorous.claims.check_sector"
    asked: ClassVar[str] = "rigorous.claims.sector_asked"
    says_stable: ClassVar[bool] = True

    low: Annotated[float, Unit("1"), "smallest gain φ(u)/u"] = 0.5
    high: Annotated[float, Unit("1"), "largest gain φ(u)/u"] = 1.5
    place: Literal["valve", "limit"] = "valve"
    criterion: Literal["auto", "circle", "popov", "jury-lee"] = "auto"
    slope: Annotated[float | None, Unit("1"), "largest slope of φ, where known"] = None
    commands: tuple[str, ...] = ()
    at: Mapping[str, Number] = field(default_factory=dict)
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise InputError(f"high: {self.high:g} is not above low, {self.low:g}")
        if self.place == "limit" and self.high < 1:
            raise InputError(
                f"high: a limit passes small commands unchanged, gain 1; {self.high:g} leaves that out"
            )
        if self.slope is not None and self.slope < self.high:
            raise InputError(
                f"slope: {self.slope:g} is below high, {self.high:g}; a curve through zero is at least as steep"
            )


@final
@dataclass(frozen=True)
class RegionOfAttraction(Checked):
    """Every start in an ellipsoid goes to rest although commands saturate (proof, for the stored matrices).

    contains: start states that must be inside, each as state → value; states that are not named are at rest. along: where
    `contains` is empty, the direction in which the ellipsoid is made as large as possible and measured, as state → component; by
    default the first state that is measured.
    """

    check: ClassVar[str] = "regions.claims.check_region"
    asked: ClassVar[str] = "rigorous.claims.region_asked"
    says_stable: ClassVar[bool] = True

    contains: Mapping[str, Number] | tuple[Mapping[str, Number], ...] = ()
    along: Mapping[str, Number] = field(default_factory=dict)
    counted: bool = True

    @property
    def starts(self) -> tuple[Mapping[str, Number], ...]:
        """The start states, one mapping each."""
        return (self.contains,) if isinstance(self.contains, Mapping) else tuple(self.contains)


@final
@dataclass(frozen=True)
class IncrementalPassivity(Checked):
    """The plant's quasistatic circuit is incrementally passive from v to −f under common openings (proof, from convexity).

    samples: number of pairs of states for which the circuit is solved and tested as well. The claim is for given openings; it says
    nothing about openings that depend on the motion, as under feedback.
    """

    check: ClassVar[str] = "observed.passivity.check_passivity"

    samples: int = 300
    seed: int = 0
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.samples <= 1_000_000:
            raise InputError(f"samples: {self.samples} pairs, expected 1 to 1 000 000")


@final
@dataclass(frozen=True)
class UniqueVelocity(Checked):
    """The plant's quasistatic circuit moves at one velocity under any load and openings (proof, by strict convexity).

    samples: number of states for which the circuit is solved in two ways as well.
    """

    check: ClassVar[str] = "observed.passivity.check_unique"

    samples: int = 100
    seed: int = 0
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.samples <= 100_000:
            raise InputError(f"samples: {self.samples} states, expected 1 to 100 000")


@final
@dataclass(frozen=True)
class Supplied(Checked):
    """A Lyapunov function of your own: V > 0 and V̇ < 0 (sampled: ΔV < 0) on a box minus a ball, by interval branch and bound.

    V: formula over states of the loop. box: every state that matters → [low, high]. ball: radius around centre (zero), one for
    all (SI) or one a state. level: γ of {V ≤ γ}; the largest the box allows by default. inputs: a value, or [low, high] for any
    course between; parameters: path → [low, high]. budget: sub-boxes looked at.
    """

    check: ClassVar[str] = "rigorous.claims.check_supplied"
    asked: ClassVar[str] = "rigorous.claims.supplied_asked"
    says_stable: ClassVar[bool] = True

    V: str
    box: Mapping[str, tuple[Number, Number]]
    ball: float | Mapping[str, Number]
    level: float | None = None
    centre: Annotated[
        Mapping[str, Number], "centre of the ball, state → value; zero by default"
    ] = field(default_factory=dict)
    inputs: Mapping[str, Number | tuple[Number, Number]] = field(default_factory=dict)
    parameters: Mapping[str, tuple[Number, Number]] = field(default_factory=dict)
    budget: int = 100_000
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.budget <= 10_000_000:
            raise InputError(f"budget: {self.budget} sub-boxes, expected 1 to 10 000 000")


@final
@dataclass(frozen=True)
class Tube(Checked):
    """Every run from a box of starts stays in a tube around this one, and comes closer to it (proof), between samples too.

    starts: state of the plant → how far its start may be off, both ways; what is not named starts as in this run. after: the
    instant of this run around which they start, the law's memory as it is then; the beginning, by default. parameters: path
    of a plant's number → [low, high], around that of the run; the law keeps the numbers that it has. parts: the same path →
    into how many equal parts that interval is cut; every part gets a tube of its own, from the same starts. noise: measured
    signal → how far each of its samples may be off. delay: [low, high] of the dead time, around that of the run. error:
    largest distance of the tool, or else of every measured output, from its reference at the samples. within: state → [low,
    high], from the start on, or e_output, tool_error and v, the accompanying function, at the samples. substeps: steps of the
    enclosure from one sample to the next, more where the plant is fast. certificate: file (.npz) to write the proof to, for
    `workbench check`; parts have a file each, name-1.npz and so on. A predictive law is asked as it is while none of its
    limits is active, and that none is becomes part of the claim.
    """

    check: ClassVar[str] = "tube.claim.check_tube"
    asked: ClassVar[str] = "tube.claim_settings.check_asked"
    reads_sizes: ClassVar[bool] = True
    takes: ClassVar[tuple[str, ...]] = ("tick",)
    work: ClassVar[int] = 10
    says_stable: ClassVar[bool] = True

    starts: Mapping[str, Number]
    after: Annotated[
        float, Unit("s"), "instant of the run around which runs start", nonnegative
    ] = 0.0
    parameters: Mapping[str, tuple[Number, Number]] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)
    noise: Mapping[str, Number] = field(default_factory=dict)
    delay: tuple[Number, Number] | None = None
    error: Number | None = None
    within: Mapping[str, tuple[Number, Number]] = field(default_factory=dict)
    substeps: Annotated[int, Unit("1"), "steps of the enclosure a sample", up_to(100)] = 2
    certificate: str = ""
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.starts:
            raise InputError("starts: expected at least one state and how far it may be off")
        if self.substeps < 1:
            raise InputError(f"substeps: {self.substeps}, expected 1 or more")
