"""A case file as a study: the file with some values exchanged → its verdicts, statistics and numbers read off the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, final

import numpy as np

from workbench.cases import form
from workbench.cases.refusals import unknown
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, field_infos, nonnegative
from workbench.sweep.places import Layout, Varied, unit_of


def _shipped(inside: Mapping) -> set | None:
    return None if "type" in inside else {*field_infos(form.Shipped)}


def _believed(inside: Mapping) -> set | None:
    return (
        None
        if "type" in inside
        else {*field_infos(form.Model), *(field_infos(form.Shipped) if "machine" in inside else ())}
    )


LAYOUT = Layout(
    form.SECTIONS,
    {("plant",): ("machine", _shipped), ("controller", "model"): ("machine", _believed)},
    {"model": ("controller", "model")},
)


@dataclass(frozen=True)
class Metric:
    """A number read off a signal of the run, from `after` on."""

    signal: str
    take: Literal["max", "min", "mean", "rms", "max_abs", "final"] = "max_abs"
    after: Annotated[
        float, Unit("s"), "time before which the signal does not count", nonnegative
    ] = 0.0


@dataclass(frozen=True)
class Collect:
    """What is kept of a case.

    verdicts    true: of every claim of the file; a list: of those only; false: none, nothing is verified
    statistics  tracking errors, where the energy went (as in reports)
    signals     name → Metric
    """

    verdicts: bool | tuple[str, ...] = True
    statistics: bool = True
    signals: Mapping[str, Metric] = None

    def __post_init__(self):
        object.__setattr__(self, "signals", dict(self.signals or {}))
        if not (self.verdicts or self.statistics or self.signals):
            raise ValueError("verdicts: nothing is collected")


@final
@dataclass(frozen=True, eq=False)
class CaseStudy:
    """A function of a point: it puts the point's values into the case file, by name, and returns the results of that case.

    A name is the way through the file, `loop.delay`, `controller.λ`, `scenario.reference.leg`, `claims.tracking.error`; below
    `plant` and `model` (what the controller believes) also any number or part of a shipped machine, as under `change:`.
    """

    file: Varied
    collect: Collect

    def __call__(self, point: Mapping[str, Any]) -> dict[str, Any]:
        case = self.case(point)
        with case.located():
            return results(case, self.collect)

    def beside(self, points: Sequence[Mapping[str, Any]]) -> int:
        """How many cases go side by side in one process: as many as there are lanes, where nothing is verified and it pays."""
        from workbench.numerics.laned import width
        from workbench.run.many import has_lane
        from workbench.verification.run import PAYING, samples

        if self.collect.verdicts or len(points) < 2:
            return 1
        try:
            first = self.case(points[0])
        except InputError:
            return 1
        job = (first.loop, first.scenario)
        return width() if has_lane(*job) and len(points) * samples(job) >= PAYING else 1

    def several(self, points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Results of some points whose runs are made side by side; None of one that cannot be made so."""
        from workbench.run.many import each_run
        from workbench.verification.run import of_log

        cases = [self.case(point) for point in points]
        jobs = [(case.loop, case.scenario) for case in cases]

        def keep(k: int, whole, demand) -> dict[str, Any]:
            return of_run(of_log(*jobs[k], whole, demand), self.collect)

        return each_run(jobs, keep, lambda k, why: None, rows="steps", threads=1)

    def case(self, point: Mapping[str, Any]):
        """The Case of a point."""
        from workbench.cases.file import case_of

        tree = self.file.tree(point)
        return case_of(tree, json.dumps(tree.plain(), ensure_ascii=False, indent=1), self.file.path)

    def content(self, point: Mapping[str, Any]) -> list:
        """What the results depend on: the file as it is run, the files it names, what is collected, versions."""
        tree, files, versions = self.file.content(point)
        signals = {name: [m.signal, m.take, m.after] for name, m in self.collect.signals.items()}
        kept = [
            list(v) if isinstance(v := self.collect.verdicts, tuple) else v,
            self.collect.statistics,
            signals,
        ]
        return [tree, files, kept, versions]

    def check(self, points) -> dict[str, str]:
        """Parameter → SI unit of its plain numbers. Raises InputError for what would make every case fail."""
        try:
            case = self.case(points[0])
        except InputError:
            # Raises as well when it is the file, or a name, and not the first values.
            case = self.case(points[-1])
        names = {form.kebab(type(claim).__name__) for claim in case.claims}
        for wanted in self.collect.verdicts if isinstance(self.collect.verdicts, tuple) else ():
            if wanted not in names:
                raise unknown(
                    self.file.place("collect.verdicts"),
                    wanted,
                    sorted(names),
                    "collect.verdicts",
                    "claim",
                )
        if self.collect.signals:
            from workbench.run.simulate import simulate

            step = max(
                float(case.loop.period or case.scenario.max_step), case.scenario.log_period or 0.0
            )
            log = simulate(case.loop, replace(case.scenario, duration=2 * step))
            for name, metric in self.collect.signals.items():
                try:
                    log.signal(metric.signal)
                except InputError as why:
                    at = self.file.place("collect.signals")
                    raise why.at(
                        file=at.file, line=at.line, key=f"collect.signals.{name}.signal"
                    ) from None
        sections = {"loop": field_infos(form.Loop), "scenario": field_infos(form.Run)}
        known = {
            s: {word: info.unit for word, info in infos.items() if info}
            for s, infos in sections.items()
        }
        return {
            name: unit_of(name, known.get(name.split(".")[0], {}), [case.loop])
            for name in points[0]
        }


def results(case, collect: Collect) -> dict[str, Any]:
    """Name → number, text, or (number, unit)."""
    from workbench.verification.judge import examine
    from workbench.verification.run import run

    if not collect.verdicts:
        return of_run(run(case.loop, case.scenario), collect)
    claims = (
        case.claims
        if collect.verdicts is True
        else tuple(c for c in case.claims if form.kebab(type(c).__name__) in collect.verdicts)
    )
    judged = examine(case.loop, case.scenario, claims)
    found: dict[str, Any] = {}
    for claim, v in zip(claims, judged.verdicts):
        name = form.kebab(type(claim).__name__)
        found |= {name: v.word, f"{name}.strength": v.strength or ""}
        if v.margin is not None:
            found[f"{name}.margin"] = (float(v.margin), "" if v.unit == "1" else v.unit)
    return found | of_run(judged.run, collect, judged.analysis["statistics"])


def of_run(ran, collect: Collect, known: Mapping | None = None) -> dict[str, Any]:
    """What is kept of a run, besides verdicts; known: its statistics, where they are worked out already."""
    from workbench.verification.results.analysis import statistics

    if known is None:
        known = statistics(ran) if collect.statistics else {}
    found: dict[str, Any] = {
        "run": "completed" if ran.log.status.completed else ran.log.status.message
    }
    if collect.statistics:
        found |= {name: (float(value), unit) for name, (value, unit) in known.items()}
    return found | {name: measure(ran.log, metric) for name, metric in collect.signals.items()}


def measure(log, metric: Metric) -> tuple[float, str]:
    """The metric of a log; NaN where the run did not get that far."""
    unit = log.signal(metric.signal).unit
    late = log.time >= metric.after
    if not late.any() or (not log.status.completed and metric.take == "final"):
        return float("nan"), unit
    from workbench.run import metrics

    t = log.time[late]
    y = log.array(metric.signal)[late]
    if metric.take in ("mean", "rms") and not t[-1] > t[0]:
        return float("nan"), unit
    take = {
        "max": lambda: y.max(),
        "min": lambda: y.min(),
        "max_abs": lambda: np.abs(y).max(),
        "final": lambda: y[-1],
        "mean": lambda: np.trapezoid(y, t) / (t[-1] - t[0]),
        "rms": lambda: metrics.rms(t, y),
    }
    return float(take[metric.take]()), unit
