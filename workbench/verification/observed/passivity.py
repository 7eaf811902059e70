"""What the quasistatic circuit of a plant's valves proves (`plant.valves.passivity(samples, seed)`, `.uniqueness(…)` → Verdict)."""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.capabilities import HasPassivity, HasUniqueness
from workbench.contract.errors import InputError
from workbench.verification.proofs import IncrementalPassivity, UniqueVelocity
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def check_passivity(claim: IncrementalPassivity, run: Run) -> Verdict:
    """The verdict that the plant's metering valves give. Raises InputError for a plant without metering valves."""
    plant = run.loop.plant
    valves = plant.valves
    if not isinstance(valves, HasPassivity):
        raise _no_circuit(plant, "incremental-passivity")
    return replace(valves.passivity(claim.samples, claim.seed), counted=claim.counted)


def check_unique(claim: UniqueVelocity, run: Run) -> Verdict:
    """The verdict that the plant's metering valves give. Raises InputError for a plant without metering valves."""
    plant = run.loop.plant
    valves = plant.valves
    if not isinstance(valves, HasUniqueness):
        raise _no_circuit(plant, "unique-velocity")
    return replace(valves.uniqueness(claim.samples, claim.seed), counted=claim.counted)


def _no_circuit(plant, key: str) -> InputError:
    return InputError(
        f"claim {key}: a {type(plant).__name__} states no quasistatic circuit",
        mend="ask it of MeteredArms, a MeteredCrane or a mechanism with metered drives, or leave the claim out",
    )
