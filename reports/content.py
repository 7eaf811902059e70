"""What a report shows, on paper or on a page that moves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from reports import chapters
from workbench.contract.errors import InputError
from workbench.run.log import Log
from workbench.verification.verdict import Verdict


@final
@dataclass(frozen=True, eq=False)
class Content:
    """What a report shows.

    title        of the case, "HIAB XS 031, VDC at 1 kHz"
    question     what was asked, one sentence
    verdicts     the answers
    log          the run, or None
    case_text    the case file as it was read
    plant, controller   for the drawing and the parameter tables; the controller with or without its wrappers
    provenance   parameter path → (tag, source, note), as in the plant's file; paths as `workbench.contract.parameters.leaves`
                 gives them, below "plant." and "controller." or without
    analysis     arrays computed elsewhere, all optional: `analysis` of each of `reports.chapters.CHAPTERS` says what it holds
    date         as it shall be printed; nothing here looks at a clock
    command      the command line that makes this report again
    """

    title: str
    question: str
    verdicts: tuple[Verdict, ...] = ()
    log: Log | None = None
    case_text: str = ""
    plant: object = None
    controller: object = None
    provenance: Mapping[str, tuple] = field(default_factory=dict)
    analysis: Mapping[str, object] = field(default_factory=dict)
    date: str = ""
    command: str = ""

    def __post_init__(self):
        known = chapters.analyses()
        if odd := sorted(set(self.analysis) - set(known)):
            raise InputError(
                f"report: there is no analysis called {odd[0]!r}",
                mend=f"choose from {', '.join(sorted(known))}",
            )

    @property
    def origin(self) -> dict[str, tuple]:
        """Provenance by the path of a number, a law's own without the wrappers around it."""
        return {_unwrapped(path): source for path, source in self.provenance.items()}

    @classmethod
    def of(cls, case, examination, date: str = "", command: str = "") -> Content:
        """What a report on a Case (`workbench.load`) and its Examination (`workbench.verification.examine`) shows."""
        from workbench.commands.terminal import title
        from workbench.verification.results.arrays import previews

        name = os.path.basename(case.path) or "this case"
        analysis = dict(examination.analysis)
        if examination.run is not None and (tracked := analysis.get("tracking")):
            analysis["previews"] = previews(examination.run, tracked["settle"])
        return cls(
            title(case),
            f"Is the loop in {name} stable, how far from the edge, and what would break first?",
            tuple(examination.verdicts),
            examination.log,
            case.text,
            case.plant,
            case.controller,
            {
                where: (origin.tag, origin.source, origin.note)
                for where, origin in case.provenance.items()
            },
            analysis,
            date,
            command,
        )


def _unwrapped(path: str) -> str:
    """'controller.inner.inner.λ' as 'controller.λ': a law's own parameters, however it is wrapped."""
    return path.replace("inner.", "") if path.startswith("controller.inner.") else path
