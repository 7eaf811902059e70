"""The report: everything about one verification on paper, as PDF. Nothing is computed here.

Text of users (names, files, claims) reaches the templates as data, never as source, so no character has a meaning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.run.log import Log
from workbench.verification.verdict import Verdict, exit_code

from . import accounts, tables, words
from .plan import planned
from .style import clean, drawing, svg

TEMPLATES = Path(__file__).parent / "templates"
THEORY = {
    "VDC": "vdc",
    "PID": "pid",
    "MPC": "mpc",
    "ForcePosition": "force-position",  # controller → page with its argument
    "MeteredVDC": "metered-vdc",
}
LONGEST_FILE = 40_000  # characters of the case file that are printed


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
    analysis     arrays computed elsewhere, all optional (N samples, K cases):
                 "ledger"      t, v, v_bound, vdot, vdot_bound (N,); per_subsystem: name → {v, vdot, bound};
                               perturbations: name → (N,) W; power_flows: cut → (N,) W; cancellation (N,) W;
                               rate, reduced_rate 1/s
                 "assumptions" name → {t, margin}, margin normalised to 1, negative where not met
                 "sample_time" T_s (K,) s, v_max (K,) J, error_max (K,) m, stable (K,) bool, limit s, bound J
                 "delay"       the same; its times may be called "delay"
                 "returns"     other starts, list of {signal, unit, tolerance, curves: [{t (N,), distance (N,), word}]}
                 "eigenvalues" {"values": (K,), "sampled": bool}, or (K,) alone: sampled where the log says so
                 "margins"     list of {actuator, gain (a factor; or gain_up), phase rad, delay s, disk}
                 "loops"       actuator → (ω rad/s, L(jω))
                 "statistics"  name → (value, unit)
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
        known = {
            "ledger",
            "assumptions",
            "sample_time",
            "delay",
            "eigenvalues",
            "margins",
            "loops",
            "statistics",
            "sensitivity",
            "model",
            "tracking",
            "limits",
            "solver",
            "hypotheses",
            "region",
            "sector",
            "previews",
            "returns",
        }
        if odd := sorted(set(self.analysis) - known):
            raise InputError(
                f"report: there is no analysis called {odd[0]!r}",
                mend=f"choose from {', '.join(sorted(known))}",
            )

    @classmethod
    def of(cls, case, study, date: str = "", command: str = "") -> Content:
        """What a report on a Case (`workbench.load`) and its Study (`workbench.verification.study`) shows."""
        from workbench.commands.terminal import title
        from workbench.verification.report_arrays import previews

        name = os.path.basename(case.path) or "this case"
        analysis = dict(study.analysis)
        if study.run is not None and (tracked := analysis.get("tracking")):
            analysis["previews"] = previews(study.run, tracked["settle"])
        return cls(
            title(case),
            f"Is the loop in {name} stable, how far from the edge, and what would break first?",
            tuple(study.verdicts),
            study.log,
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


def write_report(
    path: str | os.PathLike, content: Content, progress: Callable[[float], None] | None = None
) -> None:
    """Write the report as PDF, whole or not at all.

    progress: called with the fraction done. Raises InputError when `path` cannot be written; then a file that was there
    stays.
    """
    write_pdf(path, lambda: rendered(content, progress=progress))


def write_pdf(
    path: str | os.PathLike,
    made: Callable[[], bytes],
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write what `made` returns, whole or not at all; whether `path` can be written is asked first."""
    from workbench.files.atomic import check_writable, write_atomic

    check_writable(path)
    pdf = made()
    write_atomic(path, lambda stream: stream.write(pdf))
    if progress:
        progress(1.0)


def rendered(
    content: Content,
    format: str = "pdf",
    ppi: float = 100.0,
    progress: Callable[[float], None] | None = None,
):
    """The report as bytes (format "pdf"), or one picture a page (format "png"). Same content, same bytes."""
    drawn = figures(content, (lambda done: progress(0.8 * done)) if progress else None)
    made = typeset("report", drawn, data(content, list(drawn)), format, ppi)
    if progress:
        progress(1.0)
    return made


def typeset(
    main: str, drawn: Mapping[str, bytes], values: dict, format: str = "pdf", ppi: float = 100.0
):
    """The template `main` with figures (name → SVG) and data, as `rendered` returns it."""
    import typst

    files = {path.name: path.read_bytes() for path in sorted(TEMPLATES.glob("*.typ"))}
    files["main"] = files.pop(f"{main}.typ")
    files |= {f"{name}.svg": picture for name, picture in drawn.items()}
    files["data.json"] = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    options = {"ppi": ppi} if format == "png" else {}
    return typst.compile(files, format=format, ignore_system_fonts=True, timestamp=0, **options)


def figures(content: Content, progress: Callable[[float], None] | None = None) -> dict[str, bytes]:
    """Every figure this content has data for, name → SVG."""
    with drawing():
        drawn = planned(content)
        found = {}
        for i, (name, draw) in enumerate(drawn.items()):
            made = draw()
            if made is not None:
                found[name] = svg(made)
            if progress:
                progress((i + 1) / len(drawn))
    return found


def data(content: Content, drawn: list[str]) -> dict:
    """What the templates print: text, already with units, and the names of the figures there are."""
    plant, controller, analysis = content.plant, innermost(content.controller), content.analysis
    ledger = analysis.get("ledger") or {}
    origin = {_unwrapped(path): source for path, source in content.provenance.items()}
    shipped = content.case_text[:LONGEST_FILE]
    statistics, energies = tables.energies_apart(analysis.get("statistics") or {}, drawn)
    return {
        "title": tables.wrapped(content.title, 160),
        "short": clean(content.title, 70),
        "date": clean(content.date, 40),
        "question": tables.wrapped(content.question),
        "answer": tables.answer(content.verdicts),
        "exit": exit_code(content.verdicts),
        "verdicts": tables.verdict_rows(content.verdicts),
        "assumptions": tables.assumption_rows(content.verdicts),
        "run": _run(content.log),
        "figures": drawn,
        "plant": tables.parameter_groups(plant, origin, "plant."),
        "controller": tables.parameter_groups(controller, origin, "controller.", "model."),
        "loop": tables.wrapper_groups(content.controller, origin),
        "law": type(controller).__name__ if controller is not None else "",
        "keys": [clean(v.key, 60) for v in content.verdicts],
        "sampled": content.controller is not None and content.controller.period is not None,
        "theory": THEORY.get(type(controller).__name__, ""),
        "actuators": tables.actuator_rows(plant),
        "meanings": tables.meanings(plant, content.controller),
        "tags": [[tag, words] for tag, words in tables.TAGS.items()],
        "rates": [
            tables.quantity(ledger[k], "1/s") for k in ("rate", "reduced_rate") if k in ledger
        ],
        "statistics": tables.statistics_rows(statistics),
        "energy": tables.statistics_rows(energies),
        "margins": tables.margin_rows(
            analysis.get("margins") or (), plant, analysis.get("sensitivity")
        ),
        "disks": any(part.get("disk") for part in (analysis.get("sensitivity") or {}).values()),
        "reproduction": _reproduction(content),
        "metering": accounts.facts(content.log, plant),
        "case": clean(shipped)
        + ("\n# … the rest is not printed" if len(content.case_text) > LONGEST_FILE else ""),
        **words.belief(plant, controller, origin, analysis.get("model")),
        **words.loop(plant, controller, analysis),
    }


def _unwrapped(path: str) -> str:
    """'controller.inner.inner.λ' as 'controller.λ': a law's own parameters, however it is wrapped."""
    return path.replace("inner.", "") if path.startswith("controller.inner.") else path


def _run(log: Log | None) -> dict | None:
    if log is None:
        return None
    return {
        "completed": log.status.completed,
        "message": clean(log.status.message),
        "samples": str(len(log)),
        "duration": tables.quantity(log.status.t_end, "s", 5),
    }


def _reproduction(content: Content) -> list[list[str]]:
    """(what, value) that pin the run down."""
    rows = [["command", clean(content.command)]] if content.command else []
    if content.log is None:
        return rows
    known = content.log.provenance
    rows += [
        [n.replace("_", " "), tables.wrapped(known[n])]
        for n in ("parameter_hash", "seed")
        if n in known
    ]
    if versions := known.get("versions"):
        rows.append(["versions", ", ".join(f"{clean(k)} {clean(v)}" for k, v in versions.items())])
    if grid := known.get("grid"):
        rows.append(["grid", ", ".join(f"{clean(k)} = {clean(v)}" for k, v in grid.items())])
    if scenario := known.get("scenario"):
        rows.append(["scenario", tables.wrapped(json.dumps(scenario, ensure_ascii=False))])
    return rows
