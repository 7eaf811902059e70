"""A tube for every part of the intervals that the plant's numbers are known to.

    θ in [θ_1, θ_2] × … = ∪ Θ_i,   a tube around the run with the numbers in the middle of Θ_i, from the same starts   ⇒
    every run from these starts, with any θ, is in one of the tubes

What a tube adds to itself grows with the square of how far numbers are off, so that parts hold where the whole does not. No
part knows of another: they are searched for on all cores, and a part without a tube ends the search.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.run.processes import cores, on_processes
from workbench.verification.run import run as made
from workbench.verification.tube.beside import other, taken
from workbench.verification.tube.checker.balls import up
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.claim_settings import free, notes, varied, widths
from workbench.verification.tube.judged import Found, in_words, judged, told, worded
from workbench.verification.tube.opened import Varied
from workbench.verification.tube.posed import Posed, posed
from workbench.verification.tube.progress import Share
from workbench.verification.verdict import Verdict

SIDE_BY_SIDE = 4  # searches at once, each of which takes about 1 GB


@dataclass(frozen=True, eq=False)
class Whole:
    """What becomes of the claim: a tube that holds those of all parts, as far as it is shown, and their certificates.

    share: what samples add, as `beside.taken`.
    """

    verdict: Verdict
    question: Posed | None = None
    tube: Tube | None = None
    share: np.ndarray | None = None
    certificates: tuple[Tube, ...] = ()

    @staticmethod
    def of(found: Found) -> Whole:
        """Of one tube."""
        if found.tube is None:
            return Whole(found.verdict)
        share = taken(found.tube, found.seen)
        return Whole(found.verdict, found.question, found.tube, share, (found.tube,))

    @property
    def size(self) -> int:
        """Bytes of all certificates."""
        return sum(value.nbytes for c in self.certificates for value in c.arrays().values())


def cut(numbers: tuple[Varied, ...], parts: dict[str, int]) -> list[dict[str, tuple]]:
    """Path → (low, high) of every part: each interval in as many equal ones as `parts` says, 1 by default."""
    pieces = []
    for v in numbers:
        edges = np.linspace(v.low, v.high, parts.get(v.path, 1) + 1).tolist()
        pieces.append([(v.path, ends) for ends in itertools.pairwise(edges)])
    return [dict(part) for part in itertools.product(*pieces)]


def in_parts(claim: Any, run: Any, share: Share) -> Whole:
    """A tube for every part, or why one of them has none."""
    numbers = varied(claim, run.loop)
    asked = [replace(claim, parameters=p, parts={}) for p in cut(numbers, claim.parts)]
    said = worded(claim, run.loop)
    try:
        question = posed(run, widths(claim, run.loop), claim.substeps, free(claim, run.loop))
    except InputError as why:
        return Whole(said(None, worst=why.message))
    found: dict[int, Found] = {}
    with closing(searches(run, asked)) as ended:
        for k, one in ended:
            if not one.verdict.holds:
                text = f"with {which(asked[k], numbers)}: {one.verdict.worst}"
                return Whole(said(None, worst=text, assumptions=one.verdict.assumptions))
            found[k] = one
            share.done(len(found) / len(asked))
    return joined(said, question, [found[k] for k in range(len(asked))])


def searches(run: Any, asked: list) -> Iterator[tuple[int, Found]]:
    """(place, what was found) of every part, as they end; on processes where there are cores for them and they can be started."""
    jobs = min(cores(), SIDE_BY_SIDE, len(asked))
    work = (run.loop, run.scenario)
    left = dict(enumerate(asked))
    if jobs > 1:
        with suppress(InputError):  # a script without a main of its own, a loop that cannot be sent
            for k, one in on_processes(work, list(left.items()), jobs, of_part, lost):
                del left[k]
                yield k, one
    for k, claim in left.items():
        yield k, of_part(work, claim)


def of_part(work: tuple, claim: Any) -> Found:
    """The tube of one part: around the run with the numbers in its middle, from the starts of the run itself."""
    own = made(*work)
    numbers = tuple(centre(v, *claim.parameters[v]) for v in claim.parameters)
    try:
        loop, scenario = other(own, {}, numbers, np.zeros(len(numbers)))
        middle = made(loop, scenario)
    except InputError as why:
        return lost(why.message)
    return judged(claim, middle, Share(None, 0), np.array(own.demand.start, float))


def centre(path: str, low: float, high: float) -> Varied:
    """A number in the middle of its interval."""
    return Varied(path, "", low + (high - low) / 2, low, high)


def lost(how: str) -> Found:
    """A part that was not looked at, and why."""
    return Found(Verdict("tube", "", None, worst=how))


def which(claim: Any, numbers: tuple[Varied, ...]) -> str:
    """The part of a claim in words."""
    units = {v.path: v.unit for v in numbers}
    each = (
        f"{path} between {say(low, units[path])} and {say(high, units[path])}"
        for path, (low, high) in claim.parameters.items()
    )
    return ", ".join(each)


def joined(said: Any, question: Posed, parts: list[Found]) -> Whole:
    """The verdict of parts that all hold, and the tube around the run itself that holds theirs."""
    c = holding(question.tube, [p.tube for p in parts])
    K = len(c.z)
    share = np.max([taken(p.tube, p.seen)[:K] for p in parts], axis=0)
    reach = c.reach[:, 0, c.section]
    margins = [p.verdict.margin for p in parts]
    words = in_words(question, c, reach)
    verdict = said(
        True,
        "proof",
        margin=None if None in margins else min(margins),
        unit=parts[0].verdict.unit,
        worst=f"{words}; {len(parts)} parts, each with a tube of its own",
        assumptions=notes(question),
        data=told(question, c, reach) | {"parts": len(parts)},
    )
    return Whole(verdict, question, c, share, tuple(p.tube for p in parts))


def holding(c: Tube, tubes: list[Tube]) -> Tube:
    """A tube as wide as to hold all of these, around the run of `c`: its nodes are those that all of them have."""
    K = min(len(c.z), *(len(t.z) for t in tubes))
    reach = np.zeros((K, 1, c.states))
    for t in tubes:
        far = np.abs(t.z[:K] - c.z[:K]) + t.reach[:K, 0, c.section]
        reach[:, 0, c.section] = np.maximum(reach[:, 0, c.section], up(far))
    splits = [t.splits for t in tubes if t.splits.size]
    return replace(
        c,
        z=c.z[:K],
        reach=reach,
        splits=np.vstack(splits) if splits else c.splits,
        low=np.min([t.low for t in tubes], axis=0),
        high=np.max([t.high for t in tubes], axis=0),
        least=np.min([t.least for t in tubes], axis=0),
        most=np.max([t.most for t in tubes], axis=0),
    )


def file_of(path: str, k: int, many: int) -> str:
    """The file of the certificate of part k; the one that is asked for where there is one part."""
    target = Path(path)
    number = f"-{k + 1:0{len(str(many))}d}"
    return path if many == 1 else str(target.with_name(target.stem + number + target.suffix))
