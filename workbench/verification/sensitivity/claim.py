"""The question which numbers move the margins most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, up_to
from workbench.verification.checked import Checked as _Checked
from workbench.verification.probability.claims import Spread
from workbench.verification.search.claim import MOST_RUNS


@final
@dataclass(frozen=True)
class Sensitivity(_Checked):
    """Which numbers of the true plant move the margins of the case's requirements most; for information, it claims nothing.

    of: paths of numbers of the plant, or the ends of paths; by default all numbers. The law's model stays as it is. over: path →
    how the number is drawn; if given, the share of the spread of each margin that each number causes is estimated as well (Sobol's
    indices), from about `runs` runs, with the draws of `seed`.
    """

    check: ClassVar[str] = "sensitivity.check.check_sensitivity"
    asked: ClassVar[str] = "sensitivity.check.groups_asked"
    takes: ClassVar[tuple[str, ...]] = ("claims", "tick")
    work: ClassVar[int] = 14

    of: tuple[str, ...] = ()
    over: Mapping[str, Spread] = field(default_factory=dict)
    runs: Annotated[int, Unit("1"), "how many runs, about", up_to(MOST_RUNS)] = 1000
    seed: Annotated[int, Unit("1"), "seed of the draws", up_to(2**31 - 1, 0)] = 0
    counted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.over and self.runs < 16 * (len(self.over) + 2):
            raise InputError(
                f"runs: {len(self.over)} numbers take {16 * (len(self.over) + 2)} runs at least",
                key="runs",
                mend="allow more, or draw fewer numbers",
            )
