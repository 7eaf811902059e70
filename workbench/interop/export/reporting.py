"""What a report says about exported code: facts about the exported part, and the checks made on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.contract.units import format_quantity
from workbench.interop.export.c_text import CText
from workbench.interop.export.checking import Finding
from workbench.interop.export.solver_text import SolverText
from workbench.interop.export.system_text import SystemText
from workbench.verification.judge import Examination

Write = Callable[[str, Any, Examination], None]


def told(
    text: CText | SolverText | SystemText, written: Sequence[str], findings: Sequence[Finding]
) -> dict[str, list]:
    """The analysis "exported" of a report: plain data; written: files and folders."""
    facts = _of_system(text) if isinstance(text, SystemText) else _of_law(text)
    facts = [*facts, ("digest", text.digest), ("written", ", ".join(written))]
    return {"facts": facts, "checks": [(f.what, f.well, f.words) for f in findings]}


def with_export(examination: Examination, exported: dict[str, list]) -> Examination:
    """The examination with the analysis of the export added, for its report."""
    return replace(examination, analysis={**examination.analysis, "exported": exported})


def _of_law(text: CText | SolverText) -> list[tuple[str, str]]:
    graph = text.graph
    period = format_quantity(float(graph.controller.period or 0.0), "s")
    often = " and always"
    if isinstance(text, SolverText):
        often = f" outside the solver, about {text.per_iteration} in each of its iterations"
    return [
        ("part", f"controller: {type(graph.controller).__name__}, as C99 with {_real(text)}s"),
        ("sample time", period),
        ("operations", f"{text.operations} a sample, at most{often}"),
        ("numbers", f"{len(graph.parameters)} parameters, {len(graph.constants)} constants"),
        ("memory", f"{len(graph.memory)} {_real(text)}s of the caller, nothing allocated"),
    ]


def _real(text: CText | SolverText) -> str:
    return text.language.real


def _of_system(text: SystemText) -> list[tuple[str, str]]:
    graph = text.graph
    steps = graph.grid.n1 + graph.grid.n2
    each = "one step" if steps == 1 else f"{steps} steps"
    if graph.settings.size:
        each += " or more"
    return [
        ("part", f"{graph.part}: {type(graph.system.plant).__name__}, as C99 with doubles"),
        ("sample time", f"{format_quantity(graph.sample_time, 's')}, {each} of the integrator"),
        ("operations", f"{text.operations} in the flow, of which a step takes {graph.evaluations}"),
        ("numbers", f"{len(graph.parameters)} parameters, {len(graph.constants)} constants"),
        ("memory", f"{len(graph.states)} doubles of the caller, nothing allocated"),
    ]
