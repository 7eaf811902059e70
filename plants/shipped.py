"""The shipped machines: one YAML file each in plants/parameters, every number with its source."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from plants.crane.manipulator import Manipulator
from plants.four_bar.linkage import FourBar
from plants.ieha.actuator import IEHA
from plants.linear_actuator import LinearActuator
from plants.machine_files import file_of, machine_sections
from plants.metered.arms import MeteredArms
from plants.metered.crane import MeteredCrane
from plants.metered.twin import MeteredTwin
from plants.multibody.mechanism import Mechanism
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.interop.fmu.form import Foreign

PLANTS = (
    Manipulator
    | IEHA
    | LinearActuator
    | FourBar
    | Mechanism
    | MeteredArms
    | MeteredTwin
    | MeteredCrane
    | Foreign
)


class Machine(NamedTuple):
    """A plant, where its numbers come from (path as in `parameters.leaves`), and the full names of the sources."""

    plant: Any
    provenance: MappingProxyType[str, Provenance]
    sources: MappingProxyType[str, str]


@cache
def machine(name: str) -> Machine:
    """The shipped machine called `name`: its `plant`, the `provenance` of its numbers, and the `sources` they cite.

        crane = fp.machine("hiab-xs031").plant

    `machines()` lists the names. Raises InputError with the nearest of them when there is none called so.
    """
    return read_machine(file_of(name))


def read_machine(path: str | os.PathLike) -> Machine:
    """The machine in a file with a `plant:` section and, if it likes, `sources:`."""
    sections = machine_sections(path)
    plant, provenance = build_plant(sections["plant"], Path(path).parent)
    return Machine(
        plant,
        MappingProxyType(provenance),
        MappingProxyType(read_sources(sections.get("sources"))),
    )


def build_plant(node: Node, folder: Path) -> tuple[Any, dict[str, Provenance]]:
    """Plant written out in full, and its provenance; files that it names lie in `folder`."""
    found: dict[str, Provenance] = {}
    plant = build(PLANTS, node, "plant", found)
    if isinstance(plant, Foreign):
        plant = plant.plant(folder, node)
        found = {}
    return plant, {path.removeprefix("plant."): origin for path, origin in found.items()}


def read_sources(node: Node | None) -> dict[str, str]:
    """Short name → full name of a source."""
    if node is None or node.value is None:
        return {}
    if not isinstance(node.value, dict):
        raise node.error(
            f"expected a mapping name → source, got {node.words}",
            key="sources",
            mend="write 'Name: full title'",
        )
    for key, child in node.value.items():
        if not isinstance(child.value, str):
            raise child.error(
                f"expected text, got {child.words}", key=f"sources.{key}", mend="put it in quotes"
            )
    return {key: child.value for key, child in node.value.items()}
