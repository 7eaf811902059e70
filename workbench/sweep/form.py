"""A sweep file (YAML) → what to run.

    case: hiab-xs031.yaml                     # a case file beside this one, a shipped machine, or a case written out;
                                              # or plan: hiab-triangle-ls.yaml, a plan file or one written out
    grid:                                     # every combination
      plant.payload.mass: [0 kg, 25 kg, 50 kg]
      loop.delay: {from: 0 ms, to: 2 ms, count: 5}        # spacing: log for equal ratios
      plant.friction: {dry: {law: LuGre}, none: {law: Frictionless}}    # values with names: the table has the names
    draws:                                    # at every point of the grid, the same ones
      count: 20
      seed: 7
      of: {plant.all.valve.frequency: {uniform: [60 Hz, 100 Hz]}}   # log-uniform, normal: [mean, deviation], choice: […]
    collect:
      verdicts: [tracking, settled]           # true: all claims of the file; false: none
      statistics: true
      signals: {peak: {signal: p_a1, take: max, after: 3 s}}
      # of plans: planners: true, or a list; drive: VDC, or PID

Names of parameters are the way through the file, see `cases.CaseStudy` and `plans.PlanStudy`. A mistake is an InputError with
file, line, key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.cases.refusals import unknown
from workbench.cases.yaml_input import parse, read
from workbench.commands.settings import values_in
from workbench.contract.units import measured
from workbench.sweep import cases, plans
from workbench.sweep.grid import Grid
from workbench.sweep.numbers import _count, _draw, _has_names, _mapping, _values, _whole
from workbench.sweep.places import Varied

SECTIONS = ("title", "case", "plan", "grid", "draws", "collect")


@final
@dataclass(frozen=True, eq=False)
class Sweep:
    """What a sweep file says. units: parameter → SI unit of its plain numbers; about: what was swept, as plain data."""

    title: str
    study: cases.CaseStudy | plans.PlanStudy
    grid: Grid
    units: Mapping[str, str]
    about: Mapping[str, Any]
    files: tuple[str, ...]


def read_sweep(path: str | os.PathLike, settings: Sequence[str] = ()) -> Sweep:
    """The sweep in a file; settings: KEY=VALUE of `--set`, in the case or plan. Raises InputError, see the module."""
    return sweep_of(read(path), os.fspath(path), settings)


def sweep_of(root: Node, file: str, settings: Sequence[str] = ()) -> Sweep:
    """The sweep in a tree that was read from `file`."""
    sections = _mapping(root, "", "'case:' and 'grid:'")
    for key, child in sections.items():
        if key not in SECTIONS:
            raise unknown(child, key, SECTIONS)
    if ("case" in sections) == ("plan" in sections):
        both = "both a case: and a plan:" if "case" in sections else "no case: or plan: to vary"
        raise root.error(
            f"there is {both}",
            key="case",
            mend="give 'case: hiab-xs031.yaml', or 'plan: hiab-triangle-ls.yaml'",
        )
    kind = "case" if "case" in sections else "plan"
    grid, places, named = _grid(root)
    collect = sections.get("collect")
    like = "'verdicts: true'" if kind == "case" else "'planners: true'"
    places |= (
        {f"collect.{k}": n for k, n in _mapping(collect, "collect", like).items()}
        if collect
        else {}
    )
    base, where = _base(sections[kind], kind, Path(file).parent, file)
    other, sign = ("plan", "crane") if kind == "case" else ("case", "plant")
    if isinstance(base.value, dict) and sign in base.value:
        raise sections[kind].error(
            f"this is a {other}, not a {kind}: it has a {sign}: section",
            key=kind,
            mend=f"write {other}: in place of {kind}:",
        )
    layout, kept, make = (
        (cases.LAYOUT, cases.Collect, cases.CaseStudy)
        if kind == "case"
        else (plans.LAYOUT, plans.CollectPlans, plans.PlanStudy)
    )
    base = values_in(base, settings, layout)
    study = make(
        Varied(base, where, layout, places, named),
        build(kept, collect, "collect") if collect else kept(),
    )
    points = grid.points()
    units = study.check(points)
    _check_units(grid, places)
    title = (
        build(str, sections["title"], "title")
        if "title" in sections
        else os.path.basename(where or file)
    )
    about = {"title": title, "sweep": root.plain(), kind: base.plain()}
    return Sweep(title, study, grid, units, about, tuple(dict.fromkeys((file, where))))


def _base(node: Node, kind: str, folder: Path, file: str) -> tuple[Node, str]:
    """(tree of the case or plan to vary, its path)."""
    if isinstance(node.value, dict):
        return node, file
    if not isinstance(node.value, str):
        name = "hiab-xs031.yaml" if kind == "case" else "hiab-triangle-ls.yaml"
        raise node.error(
            f"expected a {kind} file, got {node.words}", key=kind, mend=f"write '{kind}: {name}'"
        )
    if (
        kind == "case"
        and "." not in node.value
        and os.sep not in node.value
        and not os.path.lexists(folder / node.value)
    ):
        return parse(f"plant: {node.value}\n", file), file
    path = os.fspath(folder / node.value)
    with located(node, kind):
        return read(path), path


# ---- grid and draws -------------------------------------------------------------------------------------------------
def _grid(root: Node) -> tuple[Grid, dict[str, Node], dict[str, dict[str, Node]]]:
    """The grid, where each parameter is named, and the values that have names."""
    sections = root.value
    axes = (
        _mapping(sections["grid"], "grid", "'loop.delay: [0 ms, 1 ms]'")
        if "grid" in sections
        else {}
    )
    count = 0
    seed = 0
    of = {}
    if "draws" in sections:
        inside = _mapping(sections["draws"], "draws", "'count: 20' and 'of:'")
        for key, child in inside.items():
            if key not in ("count", "seed", "of"):
                raise unknown(child, key, ("count", "seed", "of"), "draws")
        for key in ("count", "of"):
            if key not in inside:
                raise sections["draws"].error(
                    f"{key} is missing", key="draws", mend="give count: and of:"
                )
        count = _count(inside["count"], "draws.count")
        seed = _whole(inside["seed"], "draws.seed", 0) if "seed" in inside else 0
        of = _mapping(inside["of"], "draws.of", "'plant.payload.mass: {uniform: [0 kg, 50 kg]}'")
    if not axes and not of:
        raise root.error(
            "there is nothing to vary",
            key="grid",
            mend="add 'grid:' with parameters and their values",
        )
    named = {name: node.value for name, node in axes.items() if _has_names(node)}
    values = {
        name: [*named[name]] if name in named else _values(node, f"grid.{name}")
        for name, node in axes.items()
    }
    draws = {name: _draw(node, f"draws.of.{name}") for name, node in of.items()}
    places = {**axes, **of}
    with located(
        sections.get("draws") or sections["grid"], "draws" if "draws" in sections else "grid"
    ):
        return Grid(values, draws, count, seed), places, named


def _check_units(grid: Grid, places: Mapping[str, Node]) -> None:
    """The values of an axis measure one thing."""
    for name, values in grid.axes.items():
        read = [measured(v) for v in values if isinstance(v, str)]
        found = {pair[1] for pair in read if pair and pair[1]}
        if len(found) > 1:
            raise places[name].error(
                f"the values are in different units: {', '.join(sorted(found))}",
                key=f"grid.{name}",
                mend="give all of them the same kind of unit",
            )
