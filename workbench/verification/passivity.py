"""What a plant's quasistatic circuit proves of itself (`plant.passivity(samples, seed)`, `plant.uniqueness(…)` → Verdict)."""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.verification.proofs import IncrementalPassivity, UniqueVelocity
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def check_passivity(claim: IncrementalPassivity, run: Run) -> Verdict:
    """The plant's verdict. Raises InputError for a plant without one."""
    return _own(claim, run, "passivity", "incremental-passivity")


def check_unique(claim: UniqueVelocity, run: Run) -> Verdict:
    """The plant's verdict. Raises InputError for a plant without one."""
    return _own(claim, run, "uniqueness", "unique-velocity")


def _own(claim, run: Run, method: str, key: str) -> Verdict:
    plant = run.loop.plant
    if not hasattr(plant, method):
        raise InputError(
            f"claim {key}: a {type(plant).__name__} states no quasistatic circuit",
            mend="ask it of a MeteredArms or a MeteredCrane, or leave the claim out",
        )
    return replace(getattr(plant, method)(claim.samples, claim.seed), counted=claim.counted)
