"""The theorem's hypotheses, one by one, each with its margin and where it is worst.

The law's certificate says which of them it needs (`certificate(plant).hypotheses(run, claim)`); it makes them of those in this
package.
"""

from __future__ import annotations

from workbench.contract.system import innermost
from workbench.verification.hypotheses.friction import friction, passive, rubbing, rubs
from workbench.verification.hypotheses.geometry import geometry, lever, proven_lever, stroke
from workbench.verification.hypotheses.knowledge import (
    knowledge,
    known,
    reference,
    tips,
    told,
    wrench,
)
from workbench.verification.hypotheses.rates import (
    force_rate,
    gains,
    manipulator_rates,
    positive_gains,
    rate_left,
    rates_along,
)
from workbench.verification.hypotheses.signal_path import signal_path, wrappers
from workbench.verification.hypotheses.valves import pump_flow, supply, unlagged, valve, valves
from workbench.verification.ledger.measured import measured
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption, Verdict, conjunction


def check_hypotheses(claim, run: Run) -> Verdict:
    """Every hypothesis of Theorem 5 and of what completes it, on this run."""
    stated = innermost(run.loop.controller).certificate(run.loop.plant).hypotheses(run, claim)
    found = measured(run, list(stated))
    met = sum(a.holds is True for a in found)
    holds = conjunction([a.holds for a in found])
    left = [_named("not met", found, False), _named("not known", found, None)]
    missing = "; ".join(words for words in left if words)
    return Verdict(
        "hypotheses",
        f"theorem's hypotheses: {met} of {len(found)} met",
        holds,
        None if holds is None else "sampled",
        worst=missing or "all met on this run",
        source="[Petrovic22] Theorem 5, Assumptions 1–5",
        assumptions=tuple(found) if holds else (),
        counted=claim.counted,
        data={"met": met, "of": len(found), "assumptions": [vars(a) for a in found]},
    )


def _named(word: str, found: list[Assumption], holds: bool | None) -> str:
    """The hypotheses that came out so, behind `word`; empty where none did."""
    own = [a for a in found if a.holds is holds]
    told = "; ".join(f"{a.text} ({a.worst})" if a.worst else a.text for a in own)
    return f"{word}: {told}" if told else ""


def manipulator(run, claim):
    """All of a manipulator's under virtual decomposition control."""
    law = innermost(run.loop.controller)
    plant = run.loop.plant
    yield from gains(law, plant, force_rate(law, plant), law.k_x)
    yield from (
        *friction(run),
        *geometry(run, claim.lever),
        *valves(run),
        *supply(run),
        *reference(run),
    )
    yield from (*knowledge(run, law), *signal_path(run))


def path_rate(run) -> tuple[float, float]:
    """(rate c from the bodies and actuators alone, rate over the run's poses, never smaller), 1/s, as the certificate says."""
    if "path_rate" not in run.kept:
        certificate = innermost(run.loop.controller).certificate(run.loop.plant)
        run.kept["path_rate"] = certificate.rates(run)
    return run.kept["path_rate"]


__all__ = [
    "check_hypotheses",
    "force_rate",
    "friction",
    "gains",
    "geometry",
    "knowledge",
    "known",
    "lever",
    "manipulator",
    "manipulator_rates",
    "passive",
    "path_rate",
    "positive_gains",
    "proven_lever",
    "pump_flow",
    "rate_left",
    "rates_along",
    "reference",
    "rubbing",
    "rubs",
    "signal_path",
    "stroke",
    "supply",
    "tips",
    "told",
    "unlagged",
    "valve",
    "valves",
    "wrappers",
    "wrench",
]
