"""Small motions around one equilibrium: margins, open loops, eigenvalues."""

from __future__ import annotations

from reports import signals, tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import linear
from workbench.run.log import Log


class Linearised(Chapter):
    name = "linearised"
    analysis = {
        "eigenvalues": "{values: (K,), sampled: bool}, or (K,) alone: sampled where the log says so",
        "margins": "list of {actuator, gain (a factor; or gain_up), phase rad, delay s, disk}",
        "loops": "actuator → (ω rad/s, L(jω))",
        "sensitivity": "actuator → {ω, L, S, T, disk}",
    }

    def figures(self, content) -> Figures:
        return of_the_linearised(content.log, content.plant, content.analysis)

    def rows(self, content, drawn: list[str]) -> dict:
        known = content.analysis.get("sensitivity")
        margins = content.analysis.get("margins") or ()
        return {
            "margins": tables.margin_rows(margins, content.plant, known),
            "disks": any(part.get("disk") for part in (known or {}).values()),
        }


def of_the_linearised(log: Log | None, plant, analysis) -> Figures:
    """What is drawn of the linearised loop."""

    def titled(given):
        return {signals.actuator(plant, name): value for name, value in (given or {}).items()}

    figures = {}
    if analysis.get("eigenvalues") is not None:
        figures["eigenvalues"] = lambda: linear.eigenvalues(
            analysis["eigenvalues"], was_sampled(log)
        )
    loops = titled(analysis.get("loops"))
    sensitivity = titled(analysis.get("sensitivity"))
    # Finer near resonances.
    loops |= {name: (part["ω"], part["L"]) for name, part in sensitivity.items() if name in loops}
    return figures | {
        "bode": lambda: linear.bode(loops),
        "nyquist": lambda: linear.nyquist(loops, sensitivity),
        "sensitivities": lambda: linear.sensitivities(sensitivity),
    }


def was_sampled(log: Log | None) -> bool:
    """Whether the log's loop had a sample time."""
    known = log.provenance.get("parameters", {}) if log is not None else {}
    return any(path.startswith("controller.") and path.endswith("T_s") for path in known)
