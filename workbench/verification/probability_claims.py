"""How often a requirement is violated over plants drawn at random: an upper bound of the probability, with a stated confidence.

    n       runs, fixed beforehand: the fewest whose bound is met where none is violated, ln(α/m) / ln(1 − p)
    bound   one-sided, of k violations in n runs: the (1 − α/m) quantile of Beta(k + 1, n − k)

p is the probability allowed, 1 − α the confidence, m the number of sentences. They share α, so that all their bounds hold together
with that confidence.
Source: [ClopperPearson34].
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf, Unit, bind, fraction, leaves, up_to
from workbench.contract.system import ClosedLoop
from workbench.contract.units import quantity
from workbench.verification.binomial import lower, upper
from workbench.verification.proofs import Checked as _Checked
from workbench.verification.proofs import Number
from workbench.verification.requirement_claims import missing_in
from workbench.verification.run import run as simulated
from workbench.verification.run import run_many
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.sentence import Sentence, read
from workbench.verification.temporal.signals import columns, table
from workbench.verification.verdict import Verdict

KEY = "probability"
SOURCE = "runs drawn at random, one-sided Clopper–Pearson bound"
MOST_RUNS = 100_000


@final
@dataclass(frozen=True)
class Spread:
    """How a number is drawn: evenly between two values, evenly in its logarithm, or normal with mean and deviation."""

    uniform: tuple[Number, Number] | None = None
    log_uniform: tuple[Number, Number] | None = None
    normal: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        if len(self.stated) != 1:
            raise InputError(
                "expected one of uniform, log_uniform and normal",
                mend="write {uniform: [0 kg, 100 kg]}",
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
    its end, how it is drawn; the law keeps what it believes. runs: how many, fixed beforehand; left out, the fewest that can show
    it. Runs that crash, diverge or leave a sentence undecided count as violations. The draws are those of `seed`, and are stored.
    """

    check: ClassVar[str] = "probability_claims.check_probability"
    takes: ClassVar[tuple[str, ...]] = ("tick",)
    work: ClassVar[int] = 20

    of: str | tuple[str, ...]
    over: Mapping[str, Spread]
    at_most: Annotated[float, Unit("1"), "largest probability of a violation", fraction] = 0.01
    confidence: Annotated[float, Unit("1"), "that the bound is above the truth", fraction] = 0.99
    runs: Annotated[int | None, Unit("1"), "how many runs", up_to(MOST_RUNS)] = None
    seed: Annotated[int, Unit("1"), "of the draws", up_to(2**31 - 1, 0)] = 0
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.at_most < 1 or not 0 < self.confidence < 1:
            raise InputError("at_most and confidence have to lie between 0 and 1, ends excluded")
        if not self.over or not self.sentences:
            raise InputError(
                "over: expected at least one number to draw, of: at least one sentence"
            )
        for sentence in self.sentences:
            parse(sentence)
        if self.number > MOST_RUNS:
            raise InputError(f"at_most: this takes {self.number} runs, more than {MOST_RUNS}")

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.of,) if isinstance(self.of, str) else tuple(self.of)

    @property
    def share(self) -> float:
        """α/m, what each bound may err with."""
        return (1.0 - self.confidence) / len(self.sentences)

    @property
    def number(self) -> int:
        """Runs, fixed beforehand."""
        return self.runs or math.ceil(math.log(self.share) / math.log1p(-self.at_most))


# ---- draws -------------------------------------------------------------------------------------------------------------
def numbers(plant: Any, name: str) -> list[Leaf]:
    """The numbers of a plant whose path is this or ends so; InputError with the nearest where there is none."""
    every = tuple(leaves(plant))
    found = [leaf for leaf in every if leaf.path == name or leaf.path.endswith("." + name)]
    if found:
        return found
    ends = {".".join(leaf.path.split(".")[-2:]) for leaf in every}
    near = difflib.get_close_matches(name, sorted({leaf.path for leaf in every} | ends), 3)
    raise InputError(
        f"the plant has no number {name!r}",
        key="over",
        mend=f"did you mean {' or '.join(near)}?" if near else "see the paths of its parameters",
    )


def spreads(claim: Probability, plant: Any) -> dict[str, tuple[str, float, float, list[Leaf]]]:
    """Name → (kind, its two numbers in SI, the numbers of the plant that are drawn so together)."""
    found = {}
    for name, spread in claim.over.items():
        named = numbers(plant, name)
        ((kind, ends),) = spread.stated
        a, b = (quantity(end, named[0].info.unit) for end in ends)
        if kind != "normal":
            _check_ends(name, kind, a, b, named[0])
        elif not b > 0:
            raise InputError(f"over: the deviation of {name} has to be above zero", key="over")
        found[name] = (kind, a, b, named)
    return found


def _check_ends(name: str, kind: str, a: float, b: float, leaf: Leaf) -> None:
    if not a < b:
        raise InputError(f"over: the range of {name} is empty, {a:g} … {b:g}", key="over")
    if not (leaf.info.bound.admits(a) and leaf.info.bound.admits(b)):
        raise InputError(f"over: {name} must be {leaf.info.bound.words}", key="over")
    if kind == "log_uniform" and not a > 0:
        raise InputError(f"over: {name} has no logarithm at {a:g}", key="over")


def draws(claim: Probability, plant: Any) -> list[dict[str, float]]:
    """Every draw, name → value in SI; the same for the same seed."""
    rng, n = np.random.default_rng(claim.seed), claim.number
    drawn = {}
    for name, (kind, a, b, _) in spreads(claim, plant).items():
        if kind == "uniform":
            drawn[name] = rng.uniform(a, b, n)
        elif kind == "log_uniform":
            drawn[name] = np.exp(rng.uniform(math.log(a), math.log(b), n))
        else:
            drawn[name] = rng.normal(a, b, n)
    return [{name: float(values[i]) for name, values in drawn.items()} for i in range(n)]


# ---- runs --------------------------------------------------------------------------------------------------------------
def check_probability(claim: Probability, run: Any, tick: Callable[[], None]) -> Verdict:
    """Runs of every draw, violations counted, their probability bounded."""
    text = words(claim)
    sentences = [read(sentence, table(run.loop, run.demand)) for sentence in claim.sentences]
    short = next((s for s in sentences if s.until > float(run.log.time[-1])), None)
    if short is not None and run.log.status.completed:
        why = f"{short.text} looks up to t = {short.until:.4g} s, beyond the run: run it longer"
        return Verdict(KEY, text, None, worst=why, source=SOURCE, counted=claim.counted)
    drawn = draws(claim, run.loop.plant)
    met = answers(claim, run, sentences, drawn, tick)
    return judged(claim, text, drawn, np.array(met, bool))


def answers(
    claim: Probability,
    run: Any,
    sentences: Sequence[Sentence],
    drawn: Sequence[dict[str, float]],
    tick: Callable[[], None],
) -> list[list[bool]]:
    """Whether each run meets each sentence; a run that cannot be made meets none."""
    known = spreads(claim, run.loop.plant)
    every = max(1, len(drawn) // claim.work)
    made = 0

    def measure(one: Any) -> list[bool]:
        nonlocal made
        made += 1
        if made % every == 0:
            tick()
        return [_met(sentence, one) for sentence in sentences]

    def job(i: int) -> tuple:
        values = {leaf.path: v for name, v in drawn[i].items() for leaf in known[name][3]}
        bounds = [leaf for name, v in drawn[i].items() for leaf in known[name][3]]
        for leaf in bounds:
            if not leaf.info.bound.admits(values[leaf.path]):
                raise InputError(f"{leaf.path} must be {leaf.info.bound.words}")
        loop = ClosedLoop(bind(run.loop.plant, values), run.loop.controller)
        return loop, replace(run.scenario, seed=run.scenario.seed + i)

    try:
        return list(run_many([job(i) for i in range(len(drawn))], measure))
    except (ValueError, ArithmeticError):  # one of them cannot be made: each apart
        found = []
        for i in range(len(drawn)):
            try:
                found.append(measure(simulated(*job(i))))
            except (ValueError, ArithmeticError):
                found.append([False] * len(sentences))
        return found


def _met(sentence: Sentence, run: Any) -> bool:
    """Whether a run that reached its end meets the sentence; what is undecided does not."""
    if not run.log.status.completed:
        return False
    found = columns(run, sentence.names)
    if missing_in(found):
        return False
    try:
        return sentence.on(run.fine.log.time, found).holds is True  # type: ignore[arg-type]
    except ValueError:
        return False


# ---- the verdict ---------------------------------------------------------------------------------------------------------
def words(claim: Probability) -> str:
    """The claim as a sentence."""
    asked = "; ".join(" ".join(sentence.split()) for sentence in claim.sentences)
    each = " each" if len(claim.sentences) > 1 else ""
    return (
        f"violated in at most {100 * claim.at_most:g} % of runs{each}, with {100 * claim.confidence:g} % confidence, over "
        f"{', '.join(claim.over)}: {asked}"
    )


def judged(
    claim: Probability, text: str, drawn: Sequence[dict[str, float]], met: np.ndarray
) -> Verdict:
    """The verdict on `met` (n, m): bounds of the probability of each sentence's violation."""
    n = len(met)
    violations = [int(k) for k in (~met).sum(axis=0)]
    bounds = [upper(k, n, claim.share) for k in violations]
    least = [lower(k, n, claim.share) for k in violations]
    i = int(np.argmax(bounds))
    holds = True if max(bounds) <= claim.at_most else False if max(least) > claim.at_most else None
    bad = np.flatnonzero(~met[:, i])
    where = (
        f"at least {100 * least[i]:.3g} %" if holds is False else f"at most {100 * bounds[i]:.3g} %"
    )
    worst = f"{violations[i]} of {n} runs violate it, so that the probability is {where}"
    if len(claim.sentences) > 1:
        worst += f", {claim.sentences[i]}"
    if len(bad):
        values = ", ".join(f"{name} = {value:.6g}" for name, value in drawn[bad[0]].items())
        worst += f"; the first is run {bad[0]} of seed {claim.seed}, {values} (SI)"
    if holds is None:
        worst += f"; it is at least {100 * least[i]:.3g} %: more runs may decide (runs: {4 * n})"
    data = {
        "runs": n,
        "violations": violations,
        "bounds": bounds,
        "least": least,
        "seed": claim.seed,
        "draws": list(drawn),
        "violated": bad.tolist(),
    }
    return Verdict(
        KEY,
        text,
        holds,
        None if holds is None else "sampled",
        claim.at_most - bounds[i],
        "1",
        claim.at_most,
        worst,
        source=SOURCE,
        counted=claim.counted,
        data=data,
    )
