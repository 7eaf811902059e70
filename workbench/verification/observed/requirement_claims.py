"""Requirements on a run, each a sentence in signal temporal logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, final

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.checked import Checked as _Checked
from workbench.verification.observed.requirements import diverged
from workbench.verification.scales import scales, signal_floor
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.sentence import Answer, Sentence, read
from workbench.verification.temporal.signals import columns, table
from workbench.verification.temporal.syntax import at_last_alone
from workbench.verification.temporal.unbreakable import true_of_all_beside, unbreakable
from workbench.verification.verdict import Verdict

SOURCE = "signal temporal logic, on the run at its own steps"


@final
@dataclass(frozen=True)
class Requirement(_Checked):
    """The run does what a sentence in signal temporal logic says, such as `always[2 s, end] (tool_error < 5 mm)`.

    name: what the row of the table is called. A requirement says what one run has to do; it is no claim about stability.
    """

    check: ClassVar[str] = "observed.requirement_claims.check_requirement"
    reach: ClassVar[str] = "sentence"
    section: ClassVar[str] = "requirements"
    searched: ClassVar[bool] = True

    sentence: Annotated[str, "what the run has to do"]
    name: str = ""
    counted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        parse(self.sentence)

    @property
    def key(self) -> str:
        """Its row in the table of verdicts."""
        return f"requirements.{self.name}" if self.name else "requirements"


def check_requirement(claim: Requirement, run: Any) -> Verdict:
    """The verdict on the sentence, at the integrator's own steps; that on divergence where the run diverges before."""
    verdict, picture = answered(claim, run)
    if picture:
        run.kept.setdefault("requirements", {})[claim.key] = picture
    return verdict


def answered(claim: Requirement, run: Any) -> tuple[Verdict, dict]:
    """The verdict on the sentence, and the arrays of its figure; none where it could not be judged."""
    sentence = read(claim.sentence, table(run.loop, run.demand))
    words = sentence.line
    text = f"{claim.name}: {words}" if claim.name else words
    found = columns(run, sentence.names)
    gone = diverged(claim.key, text, run, claim.counted, SOURCE)
    missing = missing_in(found)
    if missing:
        return gone or _undecided(claim, text, missing), {}
    time = run.fine.log.time
    status = run.log.status
    own = scales(run.loop.plant)

    def scale(unit: str) -> float:
        known = own.of_unit(unit)
        return 0.0 if known is None else known.value

    try:
        answer = sentence.on(time, found, status.completed, scale)  # type: ignore[arg-type]
    except ValueError as why:
        return gone or _undecided(claim, text, str(why)), {}
    picture = drawn(time, answer, claim.name, words)
    if gone and answer.holds is not False:
        return gone, picture
    verdict = Verdict(
        claim.key,
        text,
        answer.holds,
        None if answer.holds is None else "sampled",
        answer.margin,
        answer.unit,
        worst=worst(answer, sentence, float(time[-1])),
        source=SOURCE,
        counted=claim.counted,
        data=told(answer) | {"empty": says_nothing(sentence, run, found) if answer.holds else ""},
        instant=answer.time,
    )
    return verdict, picture


def says_nothing(sentence: Sentence, run: Any, found: Mapping[str, Any]) -> str:
    """Why it says nothing that a sentence is true of this run, in words; "" where it says something."""
    time = run.fine.log.time
    if unbreakable(sentence, float(time[-1])):
        return "nothing that these signals could do makes it false"
    if sentence.by_first_sample(time, found):
        return "it is true at the start of the run already, whatever comes after"
    if at_last_alone(sentence.formula, float(time[-1])):
        return "it says something of the last instant of the run alone"
    own = [name for name in found if name != "time"]
    if own and all(stands(found[name], signal_floor(run.loop.plant, name)) for name in own):
        return f"{', '.join(own)} did not move in this run"
    given = {name: found[name] for name in own if name in run.demand.live}
    if given and true_of_all_beside(sentence, time, given):
        return f"{', '.join(given)} is what the scenario gives, and makes it true whatever the loop does"
    return ""


def stands(values: np.ndarray, floor: float) -> bool:
    """Whether a signal stays within its resolution."""
    return float(np.ptp(values)) <= max(floor, 1e-9 * float(np.abs(values).max()))


def put_to_the_test(verdict: Verdict) -> Verdict:
    """The verdict on a requirement; one that holds because nothing was asked is undecided.

    So is a sentence whose `implies` never had its condition met, one that rules out two things of which neither came true, one
    whose intervals held no sample, one whose signals all stood still, and one that nothing could make false. A search uses the
    verdict without this rule, since a run that meets the condition is what it looks for.
    """
    if not verdict.holds or not verdict.key.startswith("requirements"):
        return verdict
    why = _unasked(verdict.data)
    if not why:
        return verdict
    worst = f"nothing was asked: {why}; run, or ask, what puts it to the test"
    return replace(verdict, holds=None, strength=None, margin=None, worst=worst)


def _unasked(data: Mapping[str, Any]) -> str:
    """Why a sentence that is true asked nothing of its run, in words; or ""."""
    if data["idle"]:
        return f"{data['idle'][0]} was never true in this run"
    if data["blind"]:
        return f"the interval of {data['blind'][0]} held no sample"
    return "its intervals held no sample" if data["time"] is None else data["empty"]


def missing_in(found: dict) -> str:
    """Why signals that a sentence names cannot be judged; "" where they can."""
    for name, values in found.items():
        if values is None:
            return f"this run has no {name}: nothing says where the outputs should be"
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            return (
                f"{name} is not a number in sample {bad[0]} of the run, so that nothing can be said"
            )
    return ""


def _undecided(claim: Requirement, text: str, why: str) -> Verdict:
    return Verdict(claim.key, text, None, worst=why, source=SOURCE, counted=claim.counted)


def worst(answer: Answer, sentence: Sentence, end: float) -> str:
    """Where the margin was read, or how long the run would have to be."""
    at = "" if answer.time is None else f"{answer.words} at t = {answer.time:.4g} s"
    if at and len(sentence.units) > 1:
        at = f"{at}, in {answer.clause}"
    if answer.mixed and answer.margin is not None:
        own = [c for c in answer.clauses if c.margin is not None and c.unit != "1"]
        rows = ", ".join(f"{c.text}: {say(c.margin, c.unit, 3)}" for c in own)
        at += f"; the margin is a share of what each comparison allows{': ' + rows if rows else ''}"
    if answer.holds is not None:
        return "; ".join(filter(None, (at, *(f"{part} was never true" for part in answer.never))))
    at = "" if answer.series.low[0] > -np.inf and answer.series.up[0] < np.inf else at
    until = max(sentence.until, end)
    if until > end:
        why = f"the sentence looks up to t = {until:.4g} s and the run ends at {end:.4g} s"
        mend = (
            f"run it longer, scenario.duration: {say(until, 's', 6)}, or end its interval earlier"
        )
    else:
        why = f"what comes after the run's end at {end:.4g} s decides"
        mend = "run it longer"
    return f"{why}: {mend}" + (f"; so far {at}" if at else "")


def told(answer: Answer) -> dict:
    """Numbers behind the verdict."""
    return {
        "clause": answer.clause,
        "time": answer.time,
        "slopes": dict(answer.slopes),
        "mixed": answer.mixed,
        "room": answer.room,
        "idle": list(answer.idle),
        "blind": list(answer.blind),
        "clauses": [
            {"text": c.text, "holds": c.holds, "margin": c.margin, "unit": c.unit}
            for c in answer.clauses
        ],
    }


def drawn(time: np.ndarray, answer: Answer, name: str, words: str) -> dict:
    """Arrays of the figure: robustness over time, where it decides."""
    return {
        "t": time,
        "low": answer.series.low,
        "up": answer.series.up,
        "curve": answer.curve,
        "unit": answer.unit,
        "at": answer.time,
        "margin": answer.margin,
        "holds": answer.holds,
        "name": name,
        "sentence": words,
        "clause": answer.clause,
        "words": answer.words,
        "clauses": told(answer)["clauses"],
    }
