"""How often requirements are violated over machines drawn at random: the claim. `probability/` has the ways to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, fraction, up_to
from workbench.verification.checked import Checked as _Checked
from workbench.verification.probability.binomial import fewest
from workbench.verification.probability.sequential import FACTOR
from workbench.verification.probability.splitting import FEWEST, particles
from workbench.verification.proofs import Number
from workbench.verification.search.claim import MOST_RUNS
from workbench.verification.temporal.parser import parse

LEAST_CONFIDENCE = 0.5
RARE_RUNS = 20_000  # of splitting, where no number is stated


@final
@dataclass(frozen=True)
class Spread:
    """How a number is drawn: evenly between two values, evenly in its logarithm, or normal with mean and deviation.

    Exactly one of the three is given, with two numbers: in SI, or with a unit as text, `Spread(normal=("50 kg", "5 kg"))`.
    Raises InputError for none, or more than one.
    """

    uniform: tuple[Number, Number] | None = None
    log_uniform: tuple[Number, Number] | None = None
    normal: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        if len(self.stated) != 1:
            raise InputError(
                "expected one of uniform, log_uniform and normal",
                mend="write {uniform: [0 kg, 100 kg]}, in Python Spread(uniform=(0.0, 100.0))",
            )

    @property
    def stated(self) -> list[tuple[str, tuple[Number, Number]]]:
        """(kind, its two numbers) of what is given."""
        kinds = ("uniform", "log_uniform", "normal")
        return [(kind, vars(self)[kind]) for kind in kinds if vars(self)[kind] is not None]


@final
@dataclass(frozen=True)
class Probability(_Checked):
    """Sentences are violated in at most a share of the runs over plants drawn at random, with a stated confidence.

    of: a sentence in signal temporal logic, or several, which share the confidence. over: path of a number of the true plant, or
    the end of a path → how it is drawn, {"payload.mass": Spread(normal=(50.0, 5.0))}; the law's model stays as it is. Runs that
    crash, diverge or leave a sentence undecided count as violations. The draws are those of `seed`.

    runs: their number, fixed beforehand; left out, the fewest that can show the claim. sequential: stop as soon as the runs decide,
    by bounds that hold whenever one stops; `runs` is then the largest number. method "splitting": for rare violations; runs are
    split level by level towards smaller margins, `runs` at most. That gives an estimate, which can violate the claim but never
    confirm it, since a violation that no decreasing margin leads to is not seen.
    """

    check: ClassVar[str] = "probability.judge.check_probability"
    asked: ClassVar[str] = "probability.draws.laws_asked"
    takes: ClassVar[tuple[str, ...]] = ("tick",)
    work: ClassVar[int] = 20

    of: str | tuple[str, ...]
    over: Mapping[str, Spread]
    at_most: Annotated[float, Unit("1"), "largest probability of a violation", fraction] = 0.01
    confidence: Annotated[float, Unit("1"), "that the bound is above the truth", fraction] = 0.99
    runs: Annotated[int | None, Unit("1"), "how many runs", up_to(MOST_RUNS)] = None
    seed: Annotated[int, Unit("1"), "seed of the draws", up_to(2**31 - 1, 0)] = 0
    sequential: bool = False
    method: Literal["runs", "splitting"] = "runs"
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("at_most", "confidence"):
            if not 0 < vars(self)[name] < 1:
                raise InputError(
                    f"{name}: has to lie between 0 and 1, ends excluded",
                    key=name,
                    mend="write 1 % or 99 %, say",
                )
        if self.confidence < LEAST_CONFIDENCE:
            raise InputError(
                f"confidence: {self.confidence:g} is less than that of a coin that is tossed",
                key="confidence",
                mend="write 95 % or 99 %, say",
            )
        if not self.over:
            raise InputError(
                "over: expected at least one number to draw",
                key="over",
                mend="write a path of the plant and its law, as in 'over: {payload.mass: {normal: [50 kg, 5 kg]}}'",
            )
        if not self.sentences:
            raise InputError(
                "of: expected at least one sentence",
                key="of",
                mend="write one such as 'always[2 s, end] (tool_error < 5 mm)'",
            )
        for sentence in self.sentences:
            parse(sentence)
        if self.method == "splitting":
            self._check_splitting()
        elif self.number > MOST_RUNS:
            raise InputError(
                f"at_most: this takes {self.number} runs, more than {MOST_RUNS}",
                key="at_most",
                mend="rare violations are asked with method: splitting",
            )

    def _check_splitting(self) -> None:
        if self.sequential:
            raise InputError(
                "sequential: splitting does not stop early", key="sequential", mend="leave one out"
            )
        if len(self.sentences) > 1:
            raise InputError(
                "of: splitting follows the margin of one sentence",
                key="of",
                mend="join them with `and`",
            )
        if self.at_most > 0.1:
            raise InputError(
                "at_most: splitting is for rare violations, 10 % at most",
                key="at_most",
                mend="leave method out",
            )
        if particles(self.number, self.at_most) < FEWEST:
            raise InputError(
                f"runs: {self.number} are too few to follow a probability of {self.at_most:g}",
                key="runs",
                mend=f"leave runs out, which makes {RARE_RUNS}",
            )

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.of,) if isinstance(self.of, str) else tuple(self.of)

    @property
    def share(self) -> float:
        """α/m, what each bound may err with."""
        return (1.0 - self.confidence) / len(self.sentences)

    @property
    def number(self) -> int:
        """Runs, fixed beforehand; at most so many, where they may end earlier."""
        if self.runs is not None:
            return self.runs
        if self.method == "splitting":
            return RARE_RUNS
        fixed = fewest(self.share, self.at_most)
        return min(FACTOR * fixed, max(MOST_RUNS, fixed)) if self.sequential else fixed
