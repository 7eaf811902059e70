"""The files of the shipped machines: one YAML file each in plants/parameters.

A plant of one class is read here without knowing the other classes, so that a plant can ask for the shipped one like it;
`plants.shipped` reads machines of every class, with the source of every number.
"""

from __future__ import annotations

import difflib
import os
from functools import cache
from pathlib import Path
from typing import Any

from workbench.cases import shape
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError

FOLDER = Path(__file__).parent / "parameters"


def machines() -> tuple[str, ...]:
    """Names of the shipped machines."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def file_of(name: str) -> Path:
    """The file of the shipped machine called `name`; InputError with the nearest names when there is none."""
    if name not in machines():
        near = difflib.get_close_matches(name, machines(), 2)
        raise InputError(
            f"no machine called {name[:60]!r} is shipped",
            mend=f"did you mean {' or '.join(near)}?"
            if near
            else f"choose from {', '.join(machines())}",
        )
    return FOLDER / f"{name}.yaml"


def machine_sections(path: str | os.PathLike) -> dict[str, Node]:
    """The sections of a machine's file: `plant` and, if it likes, `sources`. InputError where there are others."""
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
    return root.value


@cache
def shipped_plant(name: str, cls: type) -> Any:
    """The plant of the shipped machine called `name`, which is of the class `cls`; InputError where it is of another one."""
    plant = machine_sections(file_of(name))["plant"]
    written = plant.value["type"].value
    if written != shape.called(cls):
        raise InputError(f"{name} is a {written} and no {shape.called(cls)}")
    return build(cls, plant, "plant")


def like(plant: Any) -> Any | None:
    """The shipped machine of the same class and name as this plant; None where there is none."""
    for name in machines():
        try:
            shipped = shipped_plant(name, type(plant))
        except InputError:  # of another class
            continue
        if shipped.name == plant.name:
            return shipped
    return None
