"""An FMU as a case file names it: `plant: {type: FMU, file: boom.fmu, connect: …}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, positive
from workbench.contract.trust import trusted
from workbench.files.open_file import shown
from workbench.interop.fmu.link import WHAT, short_name

if TYPE_CHECKING:
    from workbench.interop.fmu.plant import FMU

Names = Mapping[str, str] | tuple[str, ...]


@dataclass(frozen=True)
class Wiring:
    """Which variables of an FMU are which signals: names, or ours: the FMU's."""

    inputs: Annotated[Names | None, "commands (default: every real input)"] = None
    disturbances: Annotated[Names, "inputs that the scenario drives"] = ()
    outputs: Annotated[Names | None, "what is measured (default: every output)"] = None
    states: Annotated[
        Names | None,
        "variables that start values can be given to and that are read back (co-simulation; default: those it declares)",
    ] = None


@dataclass(frozen=True)
class Foreign:
    """A plant of another tool, as a Functional Mock-up Unit of FMI 2 or 3 (docs/foreign.md).

    An FMU is foreign code: the commands load it only with --trust, and run it in a process of its own.
    """

    name_in_files = "FMU"

    file: Annotated[str, "the FMU, beside this file"]
    connect: Annotated[Wiring, "which of its variables are which signals"] = Wiring()
    parameters: Annotated[
        Mapping[str, Any], "name of a parameter → number with a unit, like 250 kg"
    ] = field(default_factory=dict)
    start: Annotated[Mapping[str, Any], "name of a variable → its start value"] = field(
        default_factory=dict
    )
    ranges: Annotated[
        Mapping[str, tuple[str | float, str | float]],
        "command → [least, largest] (default: the FMU's own min and max)",
    ] = field(default_factory=dict)
    interface: Annotated[
        Literal["model-exchange", "co-simulation"] | None,
        "model exchange (default where the FMU offers it, as more claims can be asked) or co-simulation",
    ] = None
    time_limit: Annotated[float, Unit("s"), "that one answer of it may take", positive] = 10.0

    def plant(self, folder: Path, node: Any) -> FMU:
        """The plant, its file beside the case file. Raises InputError at the line of what is wrong."""
        from workbench.interop.fmu.plant import FMU

        path = shown(folder / self.file)
        try:
            trusted(self.file, WHAT, "plant.file")
        except InputError as why:
            raise node.value["file"].error(why.message, key=why.key, mend=why.mend) from None
        given = {name: getattr(self.connect, name) for name in Wiring.__dataclass_fields__}
        try:
            return FMU(
                path,
                True,
                given,
                self.parameters,
                self.start,
                self.ranges,
                self.interface,
                self.time_limit,
            )
        except InputError as why:
            raise _placed(why, node) from None


def _placed(why: InputError, node: Any) -> InputError:
    """The refusal at the key that it speaks of, else at the file."""
    match = re.match(r"([a-z_]+)[.:]", why.message)
    key = match[1] if match and match[1] in node.value else "file"
    message = why.message
    if why.file:
        line = f", line {why.line}" if why.line else ""
        message = f"{short_name(why.file)}{line}: {message}"
    return node.value[key].error(message, key=f"plant.{key}", mend=why.mend)
