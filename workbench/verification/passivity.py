"""What a plant's quasistatic circuit proves of itself (`plant.passivity(samples, seed)`, `plant.uniqueness(…)` → Verdict)."""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.capabilities import HasPassivity, HasUniqueness
from workbench.contract.errors import InputError
from workbench.verification.proofs import IncrementalPassivity, UniqueVelocity
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def check_passivity(claim: IncrementalPassivity, run: Run) -> Verdict:
    """The plant's verdict. Raises InputError for a plant without one."""
    plant = run.loop.plant
    if not isinstance(plant, HasPassivity):
        raise _no_circuit(plant, "incremental-passivity")
    return replace(plant.passivity(claim.samples, claim.seed), counted=claim.counted)


def check_unique(claim: UniqueVelocity, run: Run) -> Verdict:
    """The plant's verdict. Raises InputError for a plant without one."""
    plant = run.loop.plant
    if not isinstance(plant, HasUniqueness):
        raise _no_circuit(plant, "unique-velocity")
    return replace(plant.uniqueness(claim.samples, claim.seed), counted=claim.counted)


def _no_circuit(plant, key: str) -> InputError:
    return InputError(
        f"claim {key}: a {type(plant).__name__} states no quasistatic circuit",
        mend="ask it of a MeteredArms or a MeteredCrane, or leave the claim out",
    )
