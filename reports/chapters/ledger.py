"""The accompanying function along the run."""

from __future__ import annotations

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import proof


class Ledger(Chapter):
    name = "ledger"
    analysis = {
        "ledger": "t, v, v_bound, vdot, vdot_bound (N,); per_subsystem: name → {v, vdot, bound}; perturbations: "
        "name → (N,) W; power_flows: cut → (N,) W; cancellation (N,) W; rate, reduced_rate 1/s"
    }

    def figures(self, content) -> Figures:
        ledger = content.analysis.get("ledger")
        if not ledger:
            return {}
        return {
            "ledger": lambda: proof.ledger(ledger),
            "subsystems": lambda: proof.subsystems(ledger),
            "perturbations": lambda: proof.perturbations(ledger),
            "flows": lambda: proof.flows(ledger),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        ledger = content.analysis.get("ledger") or {}
        known = [k for k in ("rate", "reduced_rate") if k in ledger]
        return {"rates": [tables.quantity(ledger[k], "1/s") for k in known]}
