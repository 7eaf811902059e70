"""What is asked of a search by runs: which trade, how much must be borne, which gains are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

from controllers.gain_search.point import Point, Traded
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.field_checks import check_parts, is_number
from workbench.contract.units import format_quantity as say
from workbench.run.scenario import Scenario

Trade = Literal["error", "reserve", "balanced"]
TRADES: tuple[Trade, ...] = ("error", "reserve", "balanced")
WORDS = {
    "error": "the least error, bearing a {what} of {floor} or more",
    "reserve": "the most {what} borne, at an error of {ceiling} or less",
    "balanced": "the least error per {what} borne",
}
NO_MEASURE = "the gains it began with violate a requirement, so that what they bear is no measure"


@final
@dataclass(frozen=True)
class ByRuns:
    """Gains by runs of the loop: a compass search over factors on the gains, with factors from 2 down to 1.4.

    A loop "bears" a delay, or a sample time, if it still behaves with it.
    trade    the objective:
             "error"     least rms error, with a delay borne of at least `bears`; by default that of the first gains
                        (where they violate no requirement of the case)
             "reserve"   longest delay borne, with an rms error of at most `error`; by default that of the first gains
             "balanced"  least rms error divided by the delay borne: a percent of one is worth a percent of the other
    margin   "delay" between sample and command, or "sample-time": which of the two is increased
    bears    s; None: as `trade` says
    error    in the error's unit; None: as `trade` says
    free     fields of the law to search; () all that the law offers (`searched`)
    each     True for a factor on every entry of a gain, False for one factor on all of them
    most     largest number of runs; None: 600 of compiled loops, 40 of laws that are called from Python

    Requirements of the case that one run answers (tracking, pressures, saturation, limits of the machine) must hold, without
    oscillation or chatter. The search uses the first 10 s of the scenario. Its proposals are then run over the whole scenario, held
    at its end, and with every delay of the scan.
    """

    trade: Trade = "error"
    margin: Literal["delay", "sample-time"] = "delay"
    bears: float | None = None
    error: float | None = None
    free: tuple[str, ...] = ()
    each: bool = False
    most: int | None = None

    def __post_init__(self) -> None:
        check_parts(self)
        for name in ("bears", "error", "most"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and 0 < value < float("inf")):
                what = f"{name}: must be greater than zero, got {value!r}"
                raise InputError(what, key=name, mend="give a larger one, or leave it out")
        object.__setattr__(self, "free", tuple(self.free))

    @property
    def what(self) -> str:
        """'delay' or 'sample time'."""
        return self.margin.replace("-", " ")

    def asked(self, start: Point, floor: float | None, ceiling: float | None, unit: str) -> str:
        """What is traded for what, in words. start: the first gains; floor, ceiling: what has to be kept, in s and in unit."""
        numbers = {
            "floor": "any" if floor is None else say(floor, "s", 3),
            "ceiling": "any" if ceiling is None else say(ceiling, unit, 3),
        }
        words = WORDS[self.trade].format(what=self.what, **numbers)
        if self.trade == "error" and self.bears is None and start.violated:
            words += f" ({NO_MEASURE})"
        return words

    def tune(
        self,
        loop: ClosedLoop,
        scenario: Scenario,
        claims: Sequence[Any] | None = None,
        tell: Callable[[float], None] = lambda share: None,
    ) -> Traded:
        """The best gains found. claims: whose requirements must hold, by default those that suit the loop.

        Raises InputError where the law offers no gains, or the scenario has nothing to follow.
        """
        from controllers.gain_search.search import searched

        return searched(self, loop, scenario, claims, tell)
