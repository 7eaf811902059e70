"""A plan's file (YAML) → a Task and how to search.

crane: hiab-reduced                  # a shipped planar crane, {planar: hiab-reduced, change: {load: 50 kg}}, the one within a
                                     # machine, {machine: hiab-xs031, change: {payload.mass: 50 kg}}, or written out in full
path: {type: Waypoints, points: [[2.3 m, 0.2 m], [3.9 m, 2.4 m], …], leg: 10 s}  # or Spline, or {type: Recorded, file: tip.csv}
supply: {type: LoadSensing, margin: 20 bar}
limits: {flow: 40 l/min, pressure: 185 bar, accelerations: true, room: 10 mm}         # those of the cylinders are the crane's
start: 0 m                           # of the extension (default: the room); end: 0.5 m, or free
steps: 150
search: {nodes: 417}
objective: energy                    # or time: the path is geometry then, walked as fast as the limits allow
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, final

from workbench.cases.build import build
from workbench.cases.controller import changed
from workbench.cases.edit import located, placed
from workbench.cases.node import Node
from workbench.cases.refusals import unknown
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, nonnegative, positive, up_to
from workbench.contract.units import quantity
from workbench.planning.dynamic import Search
from workbench.planning.paths import read_path
from workbench.planning.supplies import PlannedLoadSensing, Supply
from workbench.planning.task import Task
from workbench.run.reference import Waypoints
from workbench.run.spline import Spline


@dataclass(frozen=True)
class Limits:
    """Beyond those of the cylinders."""

    flow: Annotated[float | None, Unit("m^3/s"), "largest pump flow", positive] = None
    pressure: Annotated[float | None, Unit("Pa"), "largest pump pressure", positive] = None
    accelerations: bool = False
    room: Annotated[float, Unit("m"), "kept free at both ends of every stroke", nonnegative] = 0.0


@dataclass(frozen=True)
class Recorded:
    """A tip's path in a file: time, x, y in s, m."""

    file: str


@dataclass(frozen=True)
class Machine:
    """The planar crane within a shipped machine, changed or not; `whole`: its own dynamics, cylinders' masses included."""

    machine: str
    whole: bool = True
    change: Mapping[str, Any] = field(default_factory=dict)
    friction: Any = None


@dataclass(frozen=True)
class Planar:
    """A shipped planar crane, and what is different here."""

    planar: str
    change: Mapping[str, Any] = field(default_factory=dict)


STARTS = Annotated[int, Unit("1"), "starts of the transcription", up_to(1000, 0)]
UNITS = {"points": "m", "values": "m", "times": "s"}  # of the lists in a path
SECTIONS = (
    "title",
    "crane",
    "path",
    "supply",
    "limits",
    "start",
    "end",
    "steps",
    "search",
    "starts",
    "objective",
)


@final
@dataclass(frozen=True, eq=False)
class PlanCase:
    """What a file says. starts: of the direct transcription it is compared with, or further ones for least time; 0: none."""

    name: str
    task: Task
    search: Search
    starts: int
    path: str
    objective: Literal["energy", "time"] = "energy"


def plan_of(
    root: Node, file: str, planar: Callable, whole: Callable, crane_class: type
) -> PlanCase:
    """The case in a tree that was read from `file`. planar(name) and whole(machine's name, whole, change of the machine) give
    cranes, crane_class builds one written out.

    Raises InputError with file, line and key.
    """
    given = _sections(root)
    crane = _crane(given["crane"], planar, whole, crane_class)
    take = lambda key, declared, default: (
        build(declared, given[key], key) if key in given else default
    )
    objective = take("objective", Literal["energy", "time"], "energy")
    path = _path(given["path"], Path(file).parent, objective == "time")
    limits = take("limits", Limits, Limits())
    end = given.get("end")
    free = end is None or end.value in (None, "free")
    length = Annotated[float, Unit("m")]
    try:
        task = Task(
            crane=crane,
            path=path,
            supply=take("supply", Supply, PlannedLoadSensing()),
            steps=take("steps", int, 150),
            start=take("start", length, limits.room),
            end=None if free else build(length, end, "end"),
            order=2 if limits.accelerations or objective == "time" else 1,
            Q_max=limits.flow,
            p_max=limits.pressure,
            room=limits.room,
        )
    except InputError as why:
        name = why.message.split(":")[0]
        key = next(
            key for key in (name, "limits" if name == "room" else "path", "path") if key in given
        )
        raise placed(why, given[key], key) from None
    search = take("search", Search, Search() if task.order == 1 else Search(nodes=209, tube=33))
    name = take("title", str, crane.name)
    return PlanCase(name, task, search, take("starts", STARTS, 0), file, objective)


def _sections(root: Node) -> dict[str, Node]:
    """The sections of a plan file, of which crane and path are two; InputError for what is none."""
    if not isinstance(root.value, dict):
        raise root.error(
            f"expected sections such as crane: and path:, got {root.words}",
            mend="write 'crane: hiab-reduced' to begin with",
        )
    for key, child in root.value.items():
        if key not in SECTIONS:
            raise unknown(child, key, SECTIONS)
    for key, like in (
        ("crane", "crane: hiab-reduced"),
        ("path", "path: {points: [[2.3 m, 0.2 m], [3.9 m, 2.4 m]], leg: 10 s}"),
    ):
        if key not in root.value:
            raise root.error(f"there is no {key}: section", key=key, mend=f"add '{like}'")
    return root.value


def _crane(node: Node, planar: Callable, whole: Callable, crane_class: type) -> Any:
    if isinstance(node.value, str):
        node = replace(node, value={"planar": node})
    inside = node.value if isinstance(node.value, dict) else {}
    change = lambda machine: changed(machine, node, "crane")[0]
    if "planar" in inside:
        made = build(Planar, node, "crane")
        with located(node, "crane"):
            return change(planar(made.planar))
    if "machine" in inside:
        made = build(Machine, node, "crane")
        with located(node, "crane"):
            return whole(made.machine, made.whole, change)
    return build(crane_class, node, "crane")


def _path(node: Node, folder: Path, timeless: bool = False) -> Any:
    if not isinstance(node.value, dict):
        raise node.error(
            f"expected a path, got {node.words}", key="path", mend="write {points: […], leg: 10 s}"
        )
    inside = {
        key: _plain(child, f"path.{key}", UNITS[key]) if key in UNITS else child
        for key, child in node.value.items()
    }
    if "file" not in inside:
        inside.setdefault("space", Node("cartesian", node.line, node.column, node.file))
    if timeless and "points" in inside:
        inside.setdefault("leg", Node(1.0, node.line, node.column, node.file))
    path = build(Waypoints | Spline | Recorded, replace(node, value=inside), "path")
    if isinstance(path, Recorded):
        with located(node.value["file"], "path.file"):
            return read_path(folder / path.file)
    if path.space != "cartesian":
        raise node.error(
            f"a tip's path is cartesian, not {path.space}",
            key="path.space",
            mend="leave space: out",
        )
    if isinstance(path, Waypoints) and "start" in path.points:
        raise node.error(
            "'start' is not known here", key="path.points", mend="give the first point as numbers"
        )
    return path


def _plain(node: Node, key: str, unit: str) -> Node:
    """Lists with "2.3 m" in them as numbers."""
    if isinstance(node.value, list):
        return replace(
            node, value=[_plain(child, f"{key}.{i}", unit) for i, child in enumerate(node.value)]
        )
    if isinstance(node.value, str) and node.value[:1] in "+-.0123456789":
        with located(node, key):
            return replace(node, value=quantity(node.value, unit))
    return node
