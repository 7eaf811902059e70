"""What the reference has a page for: every class that a case file may name, by family, and every shipped machine.

The lists are those that case files are read by, so that what they can name is on the site.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import get_args

from docs.building.keys import reachable
from workbench.cases import form, shape


@dataclass(frozen=True)
class Family:
    """Pages of one kind. folder: below docs/reference; one: what one of them is called; words: what stands on their first page."""

    folder: str
    title: str
    one: str
    words: str
    members: Callable[[], dict[str, type]]


def claims() -> dict[str, type]:
    """Name in a file → claim."""
    from workbench.verification.claims import Claim

    return form.claim_names(Claim)


def laws() -> dict[str, type]:
    """Name in a file → control law."""
    from workbench.cases import file

    return file.laws()


def plants() -> dict[str, type]:
    """Name in a file → type of plant."""
    from plants.shipped import PLANTS

    return _called(get_args(PLANTS))


def drives() -> dict[str, type]:
    """Name in a file → drive of a mechanism."""
    from plants.drives.kinds import DriveKind

    return _called(get_args(DriveKind))


def supplies() -> dict[str, type]:
    """Name in a file → supply of a mechanism."""
    from plants.supplies.kinds import SupplyKind

    return _called(get_args(SupplyKind))


def frictions() -> dict[str, type]:
    """Name in a file → friction law."""
    from plants.components.friction import Friction

    return _called(get_args(Friction))


def parts() -> dict[str, type]:
    """Every other class that a case file may hold."""
    roots = [
        *(in_files(cls) for cls in laws().values()),
        form.Compiled,
        form.Shipped,
        form.Loop,
        form.Run,
    ]
    known = [cls for family in FAMILIES[:-1] for cls in family.members().values()]
    own = {*known, *map(in_files, laws().values())}
    found = [cls for cls in reachable([*known, *roots]) if cls not in own]
    return dict(sorted(_called(found).items()))


def in_files(law: type) -> type:
    """A law's class as case files give it."""
    return form.law_form(law, tuple(law.units_on().items()))


def _called(classes) -> dict[str, type]:
    return {shape.called(cls): cls for cls in classes}


FAMILIES = (
    Family(
        "claims",
        "Claims",
        "claim",
        "A claim is a sentence about the loop. Its verdict is *holds*, *violated* or *undecided*, with a margin and a strength.",
        claims,
    ),
    Family(
        "laws",
        "Control laws",
        "law",
        "What closes the loop: `controller: {law: …}`. A law of your own can be a Python function.",
        laws,
    ),
    Family(
        "plants",
        "Types of plants",
        "plant",
        "What a machine is written as: `plant: {type: …}`. A shipped machine is one of them with numbers.",
        plants,
    ),
    Family(
        "drives",
        "Drives",
        "drive",
        "What moves an actuator of a [Mechanism](#plants-mechanism): `drive: {type: …}`. Any drive goes with any supply.",
        drives,
    ),
    Family(
        "supplies",
        "Supplies",
        "supply",
        "What feeds the drives of a [Mechanism](#plants-mechanism): `supply: {type: …}`.",
        supplies,
    ),
    Family(
        "friction",
        "Friction laws",
        "friction law",
        "Friction between piston and bore, of a valve's spool, of a motor: `friction: {law: …}`.",
        frictions,
    ),
    Family(
        "parts",
        "Sections and parts",
        "part",
        "Everything else that a case file may hold: its sections, references, cylinders, valves, oil, bodies.",
        parts,
    ),
)


@cache
def labels() -> dict[type, str]:
    """Class → label of its page; a law's class in files has that of the law."""
    found = {}
    for family in FAMILIES:
        for name, cls in family.members().items():
            found[cls] = label(family.folder, name)
            if family.folder == "laws":
                found[in_files(cls)] = found[cls]
    return found


def every_label() -> set[str]:
    """What pages by hand may link to in the reference."""
    from docs.building import api, bibliography, gallery
    from plants import machines

    sources = bibliography.entries((bibliography.ROOT / "CITATIONS.bib").read_text("utf-8"))
    return {
        *labels().values(),
        *(f"all-{family.folder}" for family in FAMILIES),
        *("all-machines", "all-api", "all-gallery", "references"),
        *(label("machines", name) for name in machines()),
        *(f"api-{name}" for name in api.TITLES),
        *(f"gallery-{entry.name}" for entry in gallery.entries()),
        *(f"source-{key.lower()}" for key in sources),
    }


def label(folder: str, name: str) -> str:
    """What other pages link to."""
    return f"{folder}-{name.lower()}"
