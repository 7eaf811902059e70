"""Incremental passivity of a plant's actuators, as the plant itself proves it (`plant.passivity(samples, seed)` → Verdict)."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import InputError
from workbench.verdict import Verdict
from workbench.verification.proofs import IncrementalPassivity
from workbench.verification.run import Run


def check_passivity(claim: IncrementalPassivity, run: Run) -> Verdict:
    """The plant's verdict. Raises InputError for a plant without one."""
    if not hasattr(run.loop.plant, "passivity"):
        raise InputError(f"claim incremental-passivity: a {type(run.loop.plant).__name__} states no quasistatic circuit",
                         mend="ask it of a MeteredArms, or leave the claim out")
    return replace(run.loop.plant.passivity(claim.samples, claim.seed), counted=claim.counted)
