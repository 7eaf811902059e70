"""A plan file as a study: the file with some values exchanged → energies by every planner, savings, what is left at the pump.

Of a plan for least time (objective: time): the times of every way along the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, final, get_args

from workbench.cases.refusals import unknown
from workbench.contract.capabilities import Drivable
from workbench.contract.errors import InputError
from workbench.contract.parameters import field_infos
from workbench.planning.case import SECTIONS, Limits, Machine, Planar, PlanCase
from workbench.planning.compare import Comparison, baselines, compare
from workbench.planning.race import Race, race
from workbench.planning.supplies import Supply
from workbench.planning.table import saved
from workbench.planning.task import Task
from workbench.sweep.places import Layout, Varied, unit_of

BEST = "dynamic programming"


def _crane(inside: Any) -> set | None:
    if not isinstance(inside, Mapping):
        return None
    return next(
        (
            {*field_infos(kind)}
            for key, kind in (("machine", Machine), ("planar", Planar))
            if key in inside
        ),
        None,
    )


LAYOUT = Layout(
    SECTIONS,
    {("crane",): ("planar", _crane)},
    whole=[s for s in SECTIONS if s not in ("title", "limits", "search")],
)


@dataclass(frozen=True)
class CollectPlans:
    """What is kept of a plan.

    planners   true: every baseline beside the optimum; a list: of those only, by the names `workbench plan` shows; false: none
    drive      law that drives every motion on the machine, the energy metered at its pump; left out: nothing is driven
    """

    planners: bool | tuple[str, ...] = True
    drive: Literal["VDC", "PID"] | None = None


@final
@dataclass(frozen=True, eq=False)
class PlanStudy:
    """point → results of a plan file with the point's values put in by name.

    A name is the way through the file, `path.points`, `supply.margin`, `limits.flow`, or a section, `path`, `supply`; below
    `crane` also any number or part of a shipped machine, as under `change:`: `crane.payload.mass`, `crane.lift.bore`.
    """

    file: Varied
    collect: CollectPlans

    def __call__(self, point: Mapping[str, Any]) -> dict[str, Any]:
        return results(self.case(point), self.collect)

    def case(self, point: Mapping[str, Any]) -> PlanCase:
        """The PlanCase of a point."""
        from workbench.cases.file import plan_of

        return plan_of(self.file.tree(point), self.file.path)

    def content(self, point: Mapping[str, Any]) -> list:
        """What the results depend on: the file as it is run, the files it names, what is collected, versions."""
        tree, files, versions = self.file.content(point)
        kept = self.collect.planners
        return [
            tree,
            files,
            [list(kept) if isinstance(kept, tuple) else kept, self.collect.drive],
            versions,
        ]

    def check(self, points) -> dict[str, str]:
        """Parameter → SI unit of its plain numbers. Raises InputError for what would make every case fail."""
        try:
            case = self._checked(points[0])
        except InputError:
            # Raises as well when it is the file, or a name, and not the first values.
            case = self._checked(points[-1])
        known = {
            name
            for kind in get_args(Supply)
            for name in baselines(replace(case.task, supply=kind()))
        }
        for wanted in self.collect.planners if isinstance(self.collect.planners, tuple) else ():
            if wanted not in known:
                raise unknown(
                    self.file.place("collect.planners"),
                    wanted,
                    sorted(known),
                    "collect.planners",
                    "planner",
                )
        infos = {**field_infos(Task), **field_infos(Limits)}
        units = {word: info.unit for word, info in infos.items() if info} | {
            "points": "m",
            "values": "m",
            "times": "s",
        }
        task = case.task
        parts = [
            task.crane.machine if isinstance(task.crane, Drivable) else task.crane,
            task.path,
            task.supply,
        ]
        return {name: unit_of(name, units, parts) for name in points[0]}

    def _checked(self, point: Mapping[str, Any]) -> PlanCase:
        case = self.case(point)
        if self.collect.drive:
            from workbench.cases.file import driver

            at = self.file.place("collect.drive")
            try:
                driver(case.task, self.collect.drive)
            except InputError as why:
                raise why.at(file=at.file, line=at.line, key="collect.drive") from None
        return case


def results(case: PlanCase, collect: CollectPlans) -> dict[str, Any]:
    """Name → number, text, or (number, unit). A task without a motion is a result: it says why."""
    only = None if collect.planners is True else collect.planners or ()
    timed = case.objective == "time"
    try:
        if timed:
            found = race(case.task, case.starts)
        else:
            found = compare(case.task, case.search, case.starts, only=only, look_around=False)
    except InputError as why:
        # Not the task's fault: `feasibility.explain` always names a key of the plan.
        if why.key is None:
            raise
        where = "" if why.key == "path" else f"{why.key}: "
        return {"motion": "none", "why": f"{where}{why.message}; {why.mend}"}
    known = _raced(found) if timed else _planned(found)
    return {"motion": "found"} | known | (_driven(found, collect.drive) if collect.drive else {})


def _planned(found: Comparison) -> dict[str, Any]:
    best = found.rows[0]
    bound = found.bound
    known: dict[str, Any] = {
        f"{BEST}.energy": (best.energy, "J"),
        f"{BEST}.estimate": (found.best.estimate, "J"),
        f"{BEST}.smoothed": (best.driven, "J"),
        f"{BEST}.creeping": best.creeping,
    }
    known |= {"no motion below": (bound, "J")} if bound is not None else {}
    for row in found.rows[1:]:
        if row.energy is None:
            known[f"{row.name}.note"] = row.note
            continue
        known |= {
            f"{row.name}.energy": (row.energy, "J"),
            f"{row.name}.saving": saved(best.energy, row.energy),
            f"{row.name}.smoothed": (row.driven, "J"),
        }
    return known


def _raced(found: Race) -> dict[str, Any]:
    best = found.found
    known: dict[str, Any] = {
        "no motion faster than": (best.bound, "s"),
        "least time.estimate": (best.estimate, "s"),
        "least time.energy": (found.best.energy, "J"),
    }
    for row in found.rows:
        known |= (
            {f"{row.name}.note": row.note}
            if row.time is None
            else {f"{row.name}.time": (row.time, "s")}
        )
    return known


def _driven(found: Comparison | Race, law: str) -> dict[str, Any]:
    from workbench.cases.file import driver
    from workbench.planning.driven import drive_all

    try:
        drives = drive_all(found, *driver(found.task, law), law)
    except InputError as why:
        return {"not driven": why.message}
    known: dict[str, Any] = {}
    done = dict(drives.done)
    best = found.rows[0].name
    for name, drive, why in drives.rows:
        if drive is None:
            known[f"{name}.not driven"] = why
            continue
        a = drive.account
        known |= {
            f"{name}.metered": (a.metered, "J"),
            f"{name}.gap": a.gap,
            f"{name}.tip error": (float(drive.error.max()), "m"),
        }
        if name != best and best in done:
            known[f"{name}.metered saving"] = 1 - done[best].account.metered / a.metered
        known |= {f"{name}.by {cause}": (value, "J") for cause, value in a.terms.items()}
        known |= {f"{name}.claim {v.key}": v.word for v in drive.examination.verdicts if v.counted}
    return known
