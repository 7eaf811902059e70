"""Tables of parameters for the templates: numbers by component, units, origins, differences."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby

from reports.tables import quantity, typeset, unit_words, wrapped
from reports.valve_words import behind
from workbench.contract.parameters import Leaf, field_infos, label, leaves
from workbench.contract.units import display, pretty

from .style import clean


def parameter_groups(
    obj: object, provenance: Mapping, prefix: str = "", skip: str = ""
) -> list[dict]:
    """Parameters by component, vectors as one row: [name, value with unit, tag, source, note].

    provenance: path → (tag, source, note); a path above the parameter's own serves as well. skip: leave out paths
    that begin so.
    """
    groups: dict[str, list] = {"": []}
    for path, parts in _vectors(obj) if obj is not None else ():
        if not _empty(parts) and not (skip and path.startswith(skip)):
            rows = groups.setdefault(path.rpartition(".")[0], [])
            whole = path
            first = parts[0].path
            rows.append(
                _row(path, parts, _origin(provenance, prefix + whole, whole, prefix + first, first))
            )
    for parent, rows in groups.items():
        for name, value in choices(obj, parent):
            path = f"{parent}.{name}" if parent else name
            tag, source, note = _origin(provenance, prefix + path, path)
            rows.append(
                [clean(name), clean(value, 60), clean(tag, 4), _source(source), wrapped(note)]
            )
    return [
        {"name": wrapped(parent.removeprefix("structures.").replace(".", " · ")), "rows": rows}
        for parent, rows in groups.items()
        if rows
    ]


def wrapper_groups(controller: object, provenance: Mapping) -> list[dict]:
    """What stands around a law, from the outside inwards: sampling, delay, filters …, one group each."""
    groups = []
    while controller is not None and controller.inner is not None:
        own = [
            g
            for g in parameter_groups(controller, provenance, "controller.", "inner.")
            if g["name"] == ""
        ]
        groups += [{"name": clean(type(controller).__name__), "rows": g["rows"]} for g in own]
        controller = controller.inner
    return groups


def meanings(*objects: object) -> list[list[str]]:
    """Every parameter name once, with what it means."""
    found: dict = {}
    for obj in objects:
        for leaf in leaves(obj) if obj is not None else ():
            parts = [p for p in leaf.path.split(".") if not p.isdigit()]
            if leaf.info.meaning and leaf.info.meaning != parts[-1]:
                found.setdefault((parts[-1], leaf.info.meaning))
    return [
        [clean(name), wrapped(words)]
        for name, words in sorted(found, key=lambda pair: pair[0].lower())
    ]


def actuator_rows(plant) -> list[list[str]]:
    """Per cylinder of a machine that has them, behind servo valves: bore, rod, stroke, spool, largest command, friction."""
    rows = []
    for segment in () if plant is None or behind(plant) is not None else plant.segments:
        c = segment.cylinder
        spool = (
            "ideal"
            if c.valve.lag == "ideal"
            else f"{c.valve.lag} order, {quantity(c.valve.frequency, 'Hz')}"
        )
        rows.append(
            [
                clean(segment.name, 30),
                *(quantity(v, "m") for v in (c.bore, c.rod, c.stroke)),
                spool,
                "± " + quantity(c.valve.u_max, "V"),
                _words(type(c.friction).__name__),
            ]
        )
    return rows


def _words(name: str) -> str:
    """'CoulombViscous' as 'Coulomb viscous'."""
    return re.sub(r"(?<=[a-z])[A-Z]", lambda m: " " + m[0].lower(), clean(name, 40))


def differing(model: object, plant: object, prefix: str) -> list[dict]:
    """Parameters in which the controller's model and the plant disagree: path, model's value, plant's value."""
    truth = {leaf.path: leaf for leaf in leaves(plant)}
    rows = []
    for leaf in leaves(model):
        other = truth.get(leaf.path)
        if other is None or other.value != leaf.value:
            rows.append(
                [
                    wrapped(f"{prefix}{leaf.path}"),
                    quantity(leaf.value, leaf.info.unit),
                    "–" if other is None else quantity(other.value, leaf.info.unit),
                ]
            )
    return rows


def _vectors(obj) -> list[tuple[str, list[Leaf]]]:
    """Leaves in order, entries of one vector together."""

    def whole(leaf):
        stem, _, last = leaf.path.rpartition(".")
        return stem if last.isdigit() and stem else leaf.path

    return [(path, list(parts)) for path, parts in groupby(leaves(obj), key=whole)]


def _empty(parts) -> bool:
    """An identity rotation or a zero vector says nothing."""
    values = [p.value for p in parts]
    return len(values) > 1 and (not any(values) or values == [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0])


def _row(path, parts, origin) -> list[str]:
    name = path.rpartition(".")[2]
    info = parts[0].info
    unit, size = display(
        info.unit, max((abs(p.value) for p in parts if p.value is not None), default=0.0)
    )
    if info.unit == "rad":
        unit, size = angle_unit([p.value for p in parts])
    elif info.unit in ("1/s", "1"):
        unit = info.unit
        size = 1.0
    values = [typeset(f"{p.value / size:.5g}") for p in parts]
    if len(values) > 12:
        values = [f"{len(values)} numbers"]
    value = values[0] if len(values) == 1 else f"({', '.join(values)})"
    shown = "" if unit == "1" else "\u00a0" + unit_words(pretty(unit)).replace(" ", "\u00a0")
    return [clean(name), value + shown, clean(origin[0], 4), _source(origin[1]), wrapped(origin[2])]


def angle_unit(values: Sequence[float]) -> tuple[str, float]:
    """(unit, rad per unit) of angles as they were entered: the unit in which they are the rounder numbers; else radians."""
    degree = math.pi / 180
    digits = lambda size: sum(len(f"{v / size:.12g}") for v in values if v is not None)
    return ("deg", degree) if digits(degree) < digits(1.0) else ("rad", 1.0)


def _source(text: str) -> str:
    """A key of the literature; what the user's own file says needs no path here."""
    return "case file" if text.endswith((".yaml", ".yml")) else wrapped(text, 60)


def _origin(provenance: Mapping, *paths: str) -> tuple[str, str, str]:
    """(tag, source, note) of the first of these paths, or of what it lies below, that has any."""
    for at in paths:
        while at:
            if at in provenance:
                return tuple(
                    "" if part is None else str(part) for part in (*provenance[at], "", "")[:3]
                )
            at = at.rpartition(".")[0]
    return "", "", ""


def choices(obj, parent: str) -> list[tuple[str, str]]:
    """What the component at `parent` is besides numbers: type of law, options in words."""
    at = obj
    for step in parent.split(".") if parent else []:
        if isinstance(at, tuple):
            at = next((item for i, item in enumerate(at) if label(item, i) == step), None)
        else:
            at = getattr(at, step, None)
    if not is_dataclass(at):
        return []
    found = [
        (f.name, getattr(at, f.name)) for f in fields(at) if field_infos(type(at))[f.name] is None
    ]
    return [(n, str(v)) for n, v in found if isinstance(v, (str, bool)) and n != "name"]
