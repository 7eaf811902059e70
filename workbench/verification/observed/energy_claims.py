"""The energy balance of a run, and what verdicts owe to its integrator."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.contract.units import format_quantity as say
from workbench.verification.observed.requirements import diverged
from workbench.verification.run import Run
from workbench.verification.scales import storage_floor
from workbench.verification.verdict import Assumption, Verdict


def check_energy(claim: Any, run: Run) -> Verdict:
    """Energy stored against the integral of all named power flows: where they drift apart, the run is not to be trusted.

    A run that drifts or diverges after a drive left its stroke says nothing of its integrator: no plant describes what is beyond.
    """
    text = f"energy balance of the run within {100 * claim.share:g} % of throughput"
    source = "energy stored against the integrated power flows"
    undecided = partial(Verdict, "energy-balance", text, None, source=source, counted=claim.counted)
    _, beyond = run.left
    gone = diverged("energy-balance", text, run, claim.counted, source)
    if gone and not beyond:
        return gone
    e = run.energy
    if beyond and (gone or e is not None and e.share > claim.share):
        return undecided(worst=run.end)
    if e is None:
        plant = type(run.loop.plant).__name__
        return undecided(
            worst=f"{plant} states no energy, so there is none to balance: leave this claim out"
        )
    in_noise = e.drift <= max(e.rounding, storage_floor(run))
    if e.through == 0 or e.share > claim.share and in_noise:
        return undecided(worst="nothing moved: no energy to balance")
    most = sorted(e.by.items(), key=lambda item: -abs(item[1]))[:3]
    return Verdict(
        key="energy-balance",
        claim=text,
        holds=e.share <= claim.share,
        strength="numerical",
        margin=claim.share - e.share,
        unit="1",
        limit=claim.share,
        worst=f"drift {say(e.drift, 'J', 2)}, {100 * e.share:.2g} % of {say(e.through, 'J', 3)}; most by "
        + ", ".join(f"{name} {say(J, 'J', 3)}" for name, J in most),
        source=source,
        counted=claim.counted,
        data={"gap": e.drift, "throughput": e.through, "by": e.by, "change": e.change},
    )


BOOKS = ("power-flows", "valve-losses")  # claims on the program's own accounts of a run


def resting_on(verdict: Verdict, energy: Verdict, run: Run) -> Verdict:
    """What a verdict owes to its run.

    Books that fail after a drive left its stroke say nothing: volumes of oil vanish there, and powers have no bound. A sampled
    verdict of a run whose energy balance fails says nothing, either: undecided. So does one that holds on a run in which
    a piston leaves its stroke, a chamber falls below vacuum or a linkage passes a change point.
    A run that diverges is a failure, not a matter of energy.
    """
    if verdict.key in BOOKS and verdict.holds is False and run.left[1]:
        return verdict.overruled(run.left[1])
    if (
        verdict.strength not in ("sampled", "estimated")
        or verdict.key == "energy-balance"
        or not run.log.status.completed
    ):
        return verdict
    for what, (_, why) in (
        ("pistons inside their strokes", run.left),
        ("chambers above vacuum", run.hollow),
        ("linkage away from change points", run.crossed),
    ):
        if verdict.holds and why:
            note = Assumption(what, False, None, "", why)
            return verdict.overruled(why, assumptions=(*verdict.assumptions, note))
    if energy.holds is not False:
        return verdict
    note = Assumption("energy balance of the run", False, energy.margin, energy.unit, energy.worst)
    why = f"the run's energy balance fails ({energy.worst})"
    return verdict.overruled(why, assumptions=(*verdict.assumptions, note))
