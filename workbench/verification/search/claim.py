"""The claim that a search asks: no run among those that may happen violates a requirement of the case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, final

from workbench.contract.parameters import Unit, up_to
from workbench.verification.checked import Checked as _Checked
from workbench.verification.proofs import Number

MOST_RUNS = 100_000
MOST_KNOTS = 20


@final
@dataclass(frozen=True)
class Falsify(_Checked):
    """A search for a counter-example among loads, starts, paths, delays, seeds: a run that violates a requirement of the case.

    over: what may vary and between which values. payload.mass: numbers of the true plant by their path (the law's model stays as it
    is); scale.valve.frequency: a factor on all of them; friction: a factor on its forces; start, offset.q_1: displacement of
    positions and states from the scenario's start; path: deviation of the reference at `knots` instants, with no component faster
    than `speed`; reference.leg: a number of the reference; disturbance.f_Dy; delay; noise; seed. The search ends when a run
    violates a requirement, and shrinks it to the fewest and smallest deviations; or after `budget` runs. That is no proof: the
    row says "not refuted" and does not count. It counts as undecided where the search hardly looked: fewer than 8 runs, or than
    two a direction, or ranges in which no signal moves by more than a millionth of its size.
    """

    check: ClassVar[str] = "search.falsify.check_falsify"
    takes: ClassVar[tuple[str, ...]] = ("claims", "tick")
    work: ClassVar[int] = 14

    over: Mapping[str, tuple[Number, ...]] = field(default_factory=dict)
    budget: Annotated[int, Unit("1"), "how many runs, at most", up_to(MOST_RUNS)] = 200
    seed: Annotated[int, Unit("1"), "seed of the draws of the search", up_to(2**31 - 1)] = 1
    knots: Annotated[int, Unit("1"), "instants at which a path strays", up_to(MOST_KNOTS)] = 3
    speed: Annotated[
        Number | None, "how fast a component of the path may stray, in its unit a second"
    ] = None
    counted: bool = True
