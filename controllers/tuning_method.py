"""Which way of finding gains `workbench tune` goes, and which options belong to it."""

from __future__ import annotations

from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import innermost

MARGIN = ("disk_margin", "noise_gain", "rule", "structure", "amplitude", "hysteresis", "at")
RUNS = ("trade", "margin", "bears", "error", "each", "most", "report")
FLAGS = {"most": "runs"}  # fields whose option is called otherwise


def by_runs(options: Any, case: Any) -> bool:
    """Whether gains are searched by runs: as asked, else for every law but PID, and for PID on a machine with dry friction.

    A linear model at rest does not tell how integral action and dry friction hunt. A file with `tuning:` says how itself.
    """
    if options.method is not None:
        return options.method == "runs"
    law = innermost(case.controller)
    if not law.tunings():
        return True
    if any(getattr(options, name) for name in RUNS):
        return True
    stated = any(getattr(options, name) for name in MARGIN) or _says_tuning(case)
    return not stated and rubs_dry(law.model)


def rubs_dry(plant: Any) -> bool:
    """Whether a friction law of the plant has a force F_c at rest, whichever cylinder, motor or actuator it belongs to."""
    forces = (leaf.value for leaf in leaves(plant) if leaf.path.rpartition(".")[2] == "F_c")
    return any(value > 0.0 for value in forces)


def _says_tuning(case: Any) -> bool:
    section = case.root.value.get("controller")
    return section is not None and isinstance(section.value, dict) and "tuning" in section.value


def check_options(options: Any, runs: bool) -> None:
    """Raise InputError for options of the other way."""
    other = MARGIN if runs else RUNS
    given = [name for name in other if getattr(options, name)]
    if given:
        flag = FLAGS.get(given[0], given[0]).replace("_", "-")
        way = "disk-margin or relay" if runs else "runs"
        raise InputError(
            f"--{flag} is for --method {way}",
            mend=f"add --method {way.split()[0]}, or leave it out",
        )
