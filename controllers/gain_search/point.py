"""One choice of gains with what its runs showed, and the outcome of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from workbench.contract.closed_loop import ClosedLoop


@final
@dataclass(frozen=True)
class Point:
    """Gains and what the runs with them showed.

    octaves   binary logarithms of what the first gains were multiplied by, one a knob
    gains     field → value, as the law has it
    error     rms of `Run.tool_error` over the whole run, in its unit; inf where the run ends early
    largest   the same, largest after settling
    bears     longest delay (or sample time) at which the loop still behaves, s, as it does at all shorter ones tried; 0: none
    violated  requirements of the case that do not hold on its own run, in words
    excess    0 where everything that was asked for is kept, else by how much it is missed
    whole     whether it was run over the whole scenario, not over its beginning only
    """

    octaves: tuple[float, ...]
    gains: Mapping[str, Any] = field(hash=False)
    error: float
    largest: float
    bears: float
    violated: tuple[str, ...] = ()
    excess: float = 0.0
    whole: bool = False

    @property
    def kept(self) -> bool:
        """Whether everything that was asked for is kept."""
        return self.excess == 0


@final
@dataclass(frozen=True, eq=False)
class Traded:
    """What a search by runs has found.

    loop      with the gains chosen
    found     fields of the law that were searched
    start     the gains it began with;  chosen: the best found (the start itself, where nothing better was)
    tried     every point, in the order they were run
    ranked    points that are better than the start, the best first: `chosen` is one of them
    asked     the objective, in words;  what: "delay" or "sample time"
    floor, ceiling   shortest delay or sample time [s] that must be borne, and largest error allowed; None where not required
    unit      of the errors
    """

    loop: ClosedLoop
    found: tuple[str, ...]
    start: Point
    chosen: Point
    tried: tuple[Point, ...]
    ranked: tuple[Point, ...]
    asked: str
    what: str
    floor: float | None
    ceiling: float | None
    unit: str

    @property
    def law(self) -> Any:
        """The law with the gains chosen."""
        from controllers.gain_search.knobs import law_of

        return law_of(self.loop)

    @property
    def met(self) -> bool:
        """Whether everything that was asked for is kept with them."""
        return self.chosen.kept

    @property
    def better(self) -> bool:
        """Whether something better than the gains it began with was found."""
        return self.chosen.octaves != self.start.octaves

    def plot(self) -> Any:
        """Error against what is borne: every choice that was run, the start, the chosen one. A Matplotlib figure."""
        from controllers.gain_search.drawn import figure

        return figure(self)

    def _repr_html_(self) -> str:
        """For notebooks: the picture and the gains."""
        from controllers.gain_search.drawn import as_html

        return as_html(self)
