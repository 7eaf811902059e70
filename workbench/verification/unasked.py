"""What a loop was not asked, and why: one row, undecided, for information."""

from __future__ import annotations

from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def check_unasked(claim, run: Run) -> Verdict:
    """Undecided, with every default claim that was left out and the reason, reasons that are alike said once."""
    by_reason: dict[str, list[str]] = {}
    for key, why in claim.items:
        by_reason.setdefault(why, []).append(key)
    text = "not asked by default: " + ", ".join(key for key, _ in claim.items)
    worst = "; ".join(f"{', '.join(keys)}: {why}" for why, keys in by_reason.items())
    return Verdict(
        "unasked", text, None, worst=worst, source="default claims", counted=claim.counted
    )
