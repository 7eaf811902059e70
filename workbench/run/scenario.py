"""Scenario: everything about a run that is not the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Any, final

from workbench.contract.capabilities import Varies, ends
from workbench.contract.errors import InputError
from workbench.contract.kinds import shown
from workbench.contract.parameters import Unit, check_bounds, positive


@final
@dataclass(frozen=True, eq=False)
class Scenario:
    """Initial state, reference, disturbances, duration, seed.

    duration      length of the run; the reference's own duration by default
    reference     a Reference (see `workbench.run.reference`); None: hold where the run starts
    disturbances  input name → number, or Reference with one component, e.g. {"f_Dy": 500.0}; for a plant run without a
                  controller also its controls, e.g. {"u_1": 0.5}
    start         joint positions (or, for other plants, the leading states) to start from at rest; None: the plant's own start
    offset        state name → amount added to the start, e.g. {"q_1": 0.02}; a reference that begins at "start" stays
                  where it was, so that the run begins away from it
    seed          of all noise
    log_period    distance of logged instants; None: every sample (or every max_step)
    max_step      longest step of the integrator
    accuracy      error of the run that its integrator may make, as a share of the largest value each state takes; steps are
                  shortened until the run's own estimate is below it (`workbench.run.own_error`). None: as the steps give it
    """

    duration: Annotated[float | None, Unit("s"), "length of the run", positive] = None
    reference: Any = None
    disturbances: Mapping[str, Any] = field(default_factory=dict)
    start: tuple[float, ...] | None = None
    offset: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    log_period: Annotated[float | None, Unit("s"), "distance of logged instants", positive] = None
    max_step: Annotated[float, Unit("s"), "longest integrator step", positive] = 1e-3
    accuracy: Annotated[
        float | None,
        Unit("1"),
        "error of the run, as a share of each state's largest value",
        positive,
    ] = None

    def __post_init__(self):
        check_bounds(self)
        if self.reference is not None and not isinstance(self.reference, Varies):
            raise InputError(
                f"reference: expected a path, got {shown(self.reference)}",
                mend="write Hold, Sine, Waypoints, Steps, or Spline for a course in numbers",
            )
        for name, value in self.disturbances.items():
            if not isinstance(value, (Real, Varies)):
                raise InputError(
                    f"disturbances: {name}: expected a number in SI or a path of one component, got {shown(value)}",
                    mend="write 100.0, or Sine, Steps, Spline for what changes with time",
                )

    def length(self) -> float:
        """Duration of the run, s."""
        if self.duration is not None:
            return self.duration
        own = ends(self.reference)
        if own in (0.0, float("inf")):
            raise InputError(
                "scenario: how long shall the run be?", mend="give `duration`, e.g. 10 s"
            )
        return own


def stated(scenario: Any) -> Scenario:
    """The scenario that is given, or one that states nothing where None is given. InputError for anything else."""
    if scenario is None:
        return Scenario()
    if isinstance(scenario, Scenario):
        return scenario
    raise InputError(
        f"scenario: expected a Scenario, got {type(scenario).__name__}",
        mend="write Scenario(duration=10.0), or Scenario(reference=…)",
    )
