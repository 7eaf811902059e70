"""A case file as a study: the file with some values exchanged → its verdicts, statistics and numbers read off the run."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, final

import numpy as np

from workbench import case_form as form
from workbench.build import unknown
from workbench.edit import plain
from workbench.errors import InputError
from workbench.parameters import Unit, annotations, leaves, nonnegative
from workbench.yaml_input import Node

SHORT = {"model": ("controller", "model")}  # first word of a name → where that is
_FILES = (".yaml", ".yml", ".csv")


@dataclass(frozen=True)
class Metric:
    """A number read off a signal of the run, from `after` on."""

    signal: str
    take: Literal["max", "min", "mean", "rms", "max_abs", "final"] = "max_abs"
    after: Annotated[float, Unit("s"), "time before which the signal does not count", nonnegative] = 0.0


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
    """point → results of the case file `root` (read from the file `path`) with the point's values put in by name.

    A name is the way through the file, `loop.delay`, `controller.λ`, `scenario.reference.leg`, `claims.tracking.error`; below
    `plant` and `model` (what the controller believes) also any number or part of a shipped machine, as under `change:`.
    """

    root: Node
    path: str
    collect: Collect
    places: Mapping[str, Node]

    def __call__(self, point: Mapping[str, Any]) -> dict[str, Any]:
        case = self.case(point)
        with case.located():
            return results(case, self.collect)

    def case(self, point: Mapping[str, Any]):
        """The Case of a point."""
        from workbench.file import case_of

        tree = self.tree(point)
        return case_of(tree, json.dumps(tree.plain(), ensure_ascii=False, indent=1), self.path)

    def tree(self, point: Mapping[str, Any]) -> Node:
        """The file's tree with the point's values in it, at the lines where the sweep names them."""
        tree = self.root
        for name, value in point.items():
            at = self.places.get(name, Node(None, 0))
            tree = placed(tree, name, _node(value, at))
        return tree

    def content(self, point: Mapping[str, Any]) -> list:
        """What the results depend on: the file as it is run, the files it names, what is collected, versions."""
        tree = self.tree(point).plain()
        signals = {name: [m.signal, m.take, m.after] for name, m in self.collect.signals.items()}
        kept = [list(v) if isinstance(v := self.collect.verdicts, tuple) else v, self.collect.statistics, signals]
        return [tree, {name: _hash(Path(self.path).parent / name) for name in sorted(_named(tree))}, kept, _versions()]

    def check(self, points) -> dict[str, str]:
        """Parameter → SI unit of its plain numbers. Raises InputError for what would make every case fail."""
        try:
            case = self.case(points[0])
        except InputError:
            case = self.case(points[-1])  # raises as well when it is the file, or a name, and not the first values
        names = {form.kebab(type(claim).__name__) for claim in case.claims}
        for wanted in self.collect.verdicts if isinstance(self.collect.verdicts, tuple) else ():
            if wanted not in names:
                raise unknown(self.places.get("collect.verdicts", self.root), wanted, sorted(names), "collect.verdicts", "claim")
        if self.collect.signals:
            from workbench.simulate import simulate

            step = max(float(case.loop.period or case.scenario.max_step), case.scenario.log_period or 0.0)
            log = simulate(case.loop, replace(case.scenario, duration=2 * step))
            for name, metric in self.collect.signals.items():
                try:
                    log.signal(metric.signal)
                except InputError as why:
                    at = self.places.get("collect.signals", self.root)
                    raise why.at(file=at.file, line=at.line, key=f"collect.signals.{name}.signal") from None
        return {name: unit_of(case, name) for name in points[0]}


def results(case, collect: Collect) -> dict[str, Any]:
    """Name → number, text, or (number, unit)."""
    from workbench.verification.judge import statistics, study
    from workbench.verification.run import run

    found: dict[str, Any] = {}
    if collect.verdicts:
        claims = case.claims if collect.verdicts is True else tuple(
            c for c in case.claims if form.kebab(type(c).__name__) in collect.verdicts)
        judged = study(case.loop, case.scenario, claims)
        ran, known = judged.run, judged.analysis["statistics"]
        for claim, v in zip(claims, judged.verdicts):
            name = form.kebab(type(claim).__name__)
            found |= {name: v.word, f"{name}.strength": v.strength or ""}
            if v.margin is not None:
                found[f"{name}.margin"] = (float(v.margin), "" if v.unit == "1" else v.unit)
    else:
        ran = run(case.loop, case.scenario)
        known = statistics(ran) if collect.statistics else {}
    found["run"] = "completed" if ran.log.status.completed else ran.log.status.message
    if collect.statistics:
        found |= {name: (float(value), unit) for name, (value, unit) in known.items()}
    return found | {name: measure(ran.log, metric) for name, metric in collect.signals.items()}


def measure(log, metric: Metric) -> tuple[float, str]:
    """The metric of a log; NaN where the run did not get that far."""
    unit = log.signal(metric.signal).unit
    late = log.time >= metric.after
    if not late.any() or (not log.status.completed and metric.take == "final"):
        return float("nan"), unit
    from workbench import metrics

    t, y = log.time[late], log.array(metric.signal)[late]
    if metric.take in ("mean", "rms") and not t[-1] > t[0]:
        return float("nan"), unit
    take = {"max": lambda: y.max(), "min": lambda: y.min(), "max_abs": lambda: np.abs(y).max(), "final": lambda: y[-1],
            "mean": lambda: np.trapezoid(y, t) / (t[-1] - t[0]), "rms": lambda: metrics.rms(t, y)}
    return float(take[metric.take]()), unit


# ---- names ----------------------------------------------------------------------------------------------------------
def placed(root: Node, name: str, value: Node) -> Node:
    """The tree with `value` at a dotted name. Raises InputError at the line of `value`."""
    first, *rest = name.split(".")
    words = [*SHORT.get(first, (first,)), *rest]
    if words[0] not in form.SECTIONS:
        raise unknown(value, words[0], [*form.SECTIONS, *SHORT], name, "section")
    if not rest:
        raise value.error("this is a whole section", key=name, mend=f"name something in it, such as {name}.…")
    if words[0] == "plant":
        return _inside(root, words[:1], lambda plant: _changed(plant, words[1:], value, name, form.Shipped), value, name)
    if words[:2] == ["controller", "model"] and len(words) > 2:
        return _inside(root, words[:2], lambda model: _changed(model, words[2:], value, name, form.Model), value, name)
    return _inside(root, words, lambda _: value, value, name)


def _changed(machine: Node, words: list[str], value: Node, name: str, keys: type) -> Node:
    """A plant or model section with one thing in it exchanged."""
    inside = {"machine": machine} if isinstance(machine.value, str) else machine.value or {}
    machine = Node(inside, machine.line, machine.column, machine.file)
    own = {*annotations(keys), *annotations(form.Shipped)} if "machine" in inside else set(annotations(keys))
    if "type" in inside or words[0] in own - {"change"}:
        return _inside(machine, words, lambda _: value, value, name)
    words = words[1:] if words[0] == "change" and len(words) > 1 else words
    return _inside(machine, ["change", ".".join(words)], lambda _: value, value, name)


def _inside(node: Node, words: list[str], change, value: Node, name: str) -> Node:
    """The tree with what is at `words` exchanged; mappings that are not there are made."""
    if not words:
        return change(node)
    word, inside = words[0], node.value
    if isinstance(inside, list):
        labels = [c.value["name"].value if isinstance(c.value, dict) and "name" in c.value else str(i)
                  for i, c in enumerate(inside)]
        if word not in labels:
            raise unknown(value, word, labels, name, "entry")
        new = [_inside(c, words[1:], change, value, name) if label == word else c for c, label in zip(inside, labels)]
        return Node(new, node.line, node.column, node.file)
    if isinstance(inside, str):  # a bare name: of a law, of a friction, of a reference
        inside = {"law": node} if name.startswith("controller") else {"type": node}
    if not isinstance(inside, (dict, bool)) and inside is not None:
        raise value.error(f"there is nothing below {name.split('.' + word)[0]}: it is {node.words}", key=name,
                          mend="write the way to it as in the case file")
    inside = inside if isinstance(inside, dict) else {}
    key = next((k for k in inside if plain(k) == plain(word)), word)
    below = inside.get(key, Node(None, value.line, value.column, value.file))
    return Node({**inside, key: _inside(below, words[1:], change, value, name)}, node.line, node.column, node.file)


def _node(value: Any, at: Node) -> Node:
    if isinstance(value, Mapping):
        return Node({k: _node(v, at) for k, v in value.items()}, at.line, at.column, at.file)
    return Node([_node(v, at) for v in value] if isinstance(value, (list, tuple)) else value, at.line, at.column, at.file)


def unit_of(case, name: str) -> str:
    """SI unit of the number called `name`, as far as its last word tells; "" where it does not."""
    words = [plain(w) for w in name.split(".")]
    loop = {s: annotations(cls) for s, cls in (("loop", form.Loop), ("scenario", form.Run))}
    known = {plain(k): info.unit for k, info in loop.get(words[0], {}).items() if info}
    if words[-1] not in known:
        said = {leaf.info.unit for leaf in leaves(case.loop)
                if words[-1] in [plain(w) for w in leaf.path.split(".") if not w.isdigit()][-1:]}
        known = {words[-1]: said.pop()} if len(said) == 1 else {}
    unit = known.get(words[-1], "")
    return "" if unit == "1" else unit


# ---- what results depend on -----------------------------------------------------------------------------------------
def _named(tree: Any) -> set[str]:
    """Texts in plain data that may be names of files."""
    if isinstance(tree, dict):
        return set().union(*map(_named, tree.values()))
    if isinstance(tree, list):
        return set().union(*map(_named, tree))
    return {tree} if isinstance(tree, str) and tree.lower().endswith(_FILES) else set()


@cache
def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""


@cache
def _versions() -> dict[str, str]:
    from workbench import __version__

    return {"fluidproof": __version__, **{name: importlib.metadata.version(name) for name in ("numpy", "scipy", "casadi")}}
