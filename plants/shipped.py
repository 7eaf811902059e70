"""The shipped machines: one YAML file each in plants/parameters, every number with its source."""

from __future__ import annotations

import difflib
import os
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from plants.crane.manipulator import Manipulator
from plants.four_bar.linkage import FourBar
from plants.ieha.actuator import IEHA
from plants.linear_actuator import LinearActuator
from plants.metered.arms import MeteredArms
from plants.metered.crane import MeteredCrane
from plants.metered.twin import MeteredTwin
from plants.multibody.mechanism import Mechanism
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError
from workbench.interop.fmu.form import Foreign

FOLDER = Path(__file__).parent / "parameters"
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


def machines() -> tuple[str, ...]:
    """Names of the shipped machines."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def machine(name: str) -> Machine:
    """The shipped machine called `name`; InputError with the nearest names when there is none."""
    if name not in machines():
        near = difflib.get_close_matches(name, machines(), 2)
        raise InputError(
            f"no machine called {name[:60]!r} is shipped",
            mend=f"did you mean {' or '.join(near)}?"
            if near
            else f"choose from {', '.join(machines())}",
        )
    return read_machine(FOLDER / f"{name}.yaml")


def like(plant: Any) -> Any | None:
    """The shipped machine of the same kind and name; None where there is none."""
    found = (machine(name).plant for name in machines())
    return next(
        (other for other in found if type(other) is type(plant) and other.name == plant.name), None
    )


def read_machine(path: str | os.PathLike) -> Machine:
    """The machine in a file with a `plant:` section and, if it likes, `sources:`."""
    root = read(path)
    if not isinstance(root.value, dict) or "plant" not in root.value:
        raise root.error(
            "a machine's file needs a plant: section",
            key="plant",
            mend="write 'plant:' above its keys, indented",
        )
    for key, child in root.value.items():
        if key not in ("plant", "sources"):
            others = [k for k in root.value if k not in ("plant", "sources")]
            raise child.error(
                f"a file that another one names as its machine has plant: and sources: only, this one has {', '.join(others)}, too",
                key=key,
                mend="move them into the file that names this one",
            )
    plant, provenance = build_plant(root.value["plant"], Path(path).parent)
    return Machine(
        plant,
        MappingProxyType(provenance),
        MappingProxyType(read_sources(root.value.get("sources"))),
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
