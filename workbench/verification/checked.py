"""What every claim is: frozen data that names the function which checks it, and says what the judge must know of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from workbench.contract.errors import InputError
from workbench.contract.kinds import shown
from workbench.contract.parameters import check_bounds


class Checked:
    """A claim: what is asked of a loop, with the numbers that a user may set, and how it is checked.

    A subclass declares what the judge must know of it. Numbers outside their bounds are refused when it is built.

        check          "module.function" of `workbench.verification`: (claim, run, *takes) → Verdict
        asked          "module.function" likewise: (claim, loop), raises InputError where the loop cannot be asked this; "":
                       any loop can
        takes          what else the function is given: "allowed" (the tracking error that the claims allow), "bounded"
                       (to be told a bound on v as soon as there is one), "foundation" (that bound and the verdict of the
                       practical claim), "claims" (all that are asked), "tick" (progress)
        work           its share of the progress bar; a claim that takes "tick" calls it along the way
        at_steps       it is judged at the integrator's steps, between samples, too
        needs_ledger   it is asked of laws that state an accompanying function only
        needs_motion   it says nothing of a run that stands still, so such a run is disturbed first
        scans          it tries many runs of its own, beside which other claims are checked
        says_stable    where it holds, "Is the loop stable?" may be answered with Yes
        searched       it is a requirement on one run whose margin a search for counter-examples may make small
        reach          what tells whether the machine could exceed its bound at all (`reachable.REACHES`)
        reads_sizes    it reads sizes given as text, each in a unit of its own
        section        name of the section of a case file that holds several of them by name; "": a file states one at most
    """

    check: ClassVar[str]
    asked: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ()
    work: ClassVar[int] = 1
    at_steps: ClassVar[bool] = False
    needs_ledger: ClassVar[bool] = False
    needs_motion: ClassVar[bool] = False
    scans: ClassVar[bool] = False
    says_stable: ClassVar[bool] = False
    searched: ClassVar[bool] = False
    reach: ClassVar[str] = ""
    reads_sizes: ClassVar[bool] = False
    section: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_bounds(self)


def as_claims(given: Any) -> tuple[Checked, ...]:
    """The claims of a list. InputError for what is no list of claims: a sentence, a class, a claim by itself."""
    alone = isinstance(given, (str, Checked)) or not isinstance(given, Iterable)
    claims = (given,) if alone else tuple(given)
    for claim in claims:
        if not isinstance(claim, Checked):
            what = claim.__name__ if isinstance(claim, type) else shown(claim)
            raise InputError(f"claims: {what} is no claim", mend=_mend(claim))
    if alone:
        raise InputError(
            f"claims: expected a list, got {shown(given)}", mend="write a list: [Tracking(), …]"
        )
    return claims


def _mend(what: Any) -> str:
    if isinstance(what, str):
        return "write Requirement('…') for a sentence"
    if isinstance(what, type) and issubclass(what, Checked):
        return f"it is a class; make one: {what.__name__}(…)"
    return "choose from those of fluidproof.claims, such as Tracking(error=5e-3)"
