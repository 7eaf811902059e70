"""Pages of the shipped machines: drawing, what it is, and every number with where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from docs.building import catalogue
from docs.building.words import cell, fence, plain, table
from workbench.cases import shape
from workbench.contract.parameters import leaves
from workbench.contract.units import format_quantity

ROOT = Path(__file__).parents[2]
PARAMETERS = ROOT / "plants" / "parameters"
INDEX = re.compile(r"\.\d+$")  # of a vector's component


def pages() -> Iterator[tuple[str, str]]:
    """(name, Markdown) of the machines' pages and of the one that lists them."""
    from plants import machine, machines

    names = machines()
    yield "machines/index", _first(names)
    for name in names:
        yield f"machines/{name}", page(name, machine(name))


def _first(names) -> str:
    from plants import machine

    rows = []
    for name in names:
        plant = machine(name).plant
        kind = shape.called(type(plant))
        link = f"[{kind}](#{catalogue.label('plants', kind)})"
        rows.append([f"[{name}](#machines-{name})", plain(_said(name)), link])
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    head = "(all-machines)=\n\n# Shipped machines\n\n"
    head += "A case file names one: `plant: hiab-xs031`. A machine of your own: [by its pins](../../machines.md)."
    return "\n\n".join([head, table(["machine", "what it is", "type"], rows), toctree]) + "\n"


def _said(name: str) -> str:
    """The first paragraph of the comment on top of the machine's file."""
    lines = []
    for line in (PARAMETERS / f"{name}.yaml").read_text("utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line.removeprefix("# "))
    return " ".join(lines)


def page(name: str, machine) -> str:
    """A machine's page."""
    plant = machine.plant
    kind = shape.called(type(plant))
    sources = [[f"`{key}`", plain(text)] for key, text in machine.sources.items()]
    parts = [
        f"(machines-{name})=\n\n# {name}",
        plain(_said(name)),
        f"It is a [{kind}](#{catalogue.label('plants', kind)}). Write",
        fence(f"plant: {name}", "yaml"),
        "or any of its numbers changed:",
        fence(_changed(name, plant), "yaml"),
        _drawing(name, plant),
        _signals(plant),
        "## Numbers",
        "Tags: " + "; ".join(f"**{tag}** {words}" for tag, words in shape.TAGS.items()) + ". "
        "The components of a vector have the numbers 0, 1, 2 behind its path. Vectors of zeros are left out.",
        table(["path", "value", "what it is", "tag", "source, note"], _numbers(machine)),
        "## Sources" if sources else "",
        table(["short", "in full"], sources),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _changed(name: str, plant) -> str:
    leaf = next(leaf for leaf in leaves(plant) if leaf.value and not leaf.constant)
    return f"plant:\n  machine: {name}\n  change: {{{leaf.path}: {format_quantity(1.1 * leaf.value, leaf.info.unit)}}}"


def _drawing(name: str, plant) -> str:
    from reports.outline import picture

    if picture(plant) is None:
        return ""
    return f"```{{drawn}} machines {name}\n:alt: the machine at its start, with names\n```"


def _signals(plant) -> str:
    """Tables of inputs and outputs: the names that references, claims and logs use."""
    shown = []
    for title, signals in (("Inputs", plant.inputs), ("Outputs", plant.outputs)):
        rows = [[f"`{s.name}`", cell(s.unit), cell(s.meaning), s.kind] for s in signals]
        shown += [f"## {title}", table(["signal", "unit", "what it is", "kind"], rows)]
    return "\n\n".join(shown)


def _numbers(machine) -> list[list[str]]:
    """A row for every number; one for the components of a vector that are from one source, none for a vector of zeros."""

    def of_one(leaf):
        return INDEX.sub("", leaf.path), machine.provenance.get(leaf.path)

    rows = []
    for (path, origin), group in groupby(leaves(machine.plant), of_one):
        parts = list(group)
        if len(parts) > 1 and not any(leaf.value for leaf in parts):
            continue
        told = [part for part in (origin.source, origin.note) if part] if origin else []
        value = ", ".join(format_quantity(leaf.value, leaf.info.unit) for leaf in parts)
        words = cell(parts[0].info.meaning)
        tag = origin.tag if origin else ""
        rows.append([f"`{path}`", cell(value), words, tag, cell("; ".join(told))])
    return rows
