"""A URDF, and what stands beside it, as a case file with the machine written out in full."""

from __future__ import annotations

import io
import os
from pathlib import Path

from plants.multibody.mechanism import Mechanism
from plants.multibody.urdf.mechanism import section_of
from plants.shipped import build_plant
from workbench.cases.build import build
from workbench.cases.yaml_input import parse
from workbench.contract.errors import InputError
from workbench.files.atomic import write_atomic

HEAD = """\
# From {sources}. Look at it with:  workbench draw {file}
# The machine stands below in full, to be gone on from. Law, loop, scenario and claims are the defaults.

"""


def imported(
    urdf: str, beside: str | None = None, without: tuple[str, ...] = (), file: str = "robot.yaml"
) -> str:
    """The text of the case file, called `file`; read back, it must be the same machine. Raises InputError as `from_urdf`."""
    from ruamel.yaml import YAML

    section = section_of(urdf, beside, without)
    machine = build(Mechanism, section, "robot")
    yaml = YAML()
    yaml.default_flow_style, yaml.width = None, 120
    stream = io.StringIO()
    yaml.dump({"plant": {"type": "Mechanism", **section.plain()}}, stream)
    sources = " and ".join(os.path.basename(path) for path in (urdf, beside) if path)
    text = HEAD.format(sources=sources, file=file) + stream.getvalue()
    if build_plant(parse(text, file).value["plant"], Path("."))[0] != machine:
        raise InputError(
            f"{file} would not be the same machine", file=urdf, mend="use from_urdf in Python"
        )
    return text


def write_imported(
    urdf: str, beside: str | None, without: tuple[str, ...], output: str | None
) -> str:
    """Write the file, by default NAME.yaml of NAME.urdf, and return its name. Raises InputError, also where it is there already."""
    path = output or f"{os.path.splitext(os.path.basename(urdf))[0]}.yaml"
    text = imported(urdf, beside, without, os.path.basename(path))
    if os.path.lexists(path):
        raise InputError(
            "there is such a file already",
            file=path,
            mend="give another name with --output, or remove it first",
        )
    write_atomic(path, lambda stream: stream.write(text.encode()))
    return path
