"""Machines to begin with: commented case files, drawn by pins, that hold as written. `workbench init --machine KIND` copies one.

A new one is a file NAME.yaml here and its name in `KINDS`.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from workbench.contract.errors import InputError, short

# What may be begun with, and what it is.
KINDS = {
    "crane": "boom and arm, a cylinder each",
    "slewing-crane": "a column that a hydraulic motor turns, a boom that a cylinder lifts",
    "excavator": "boom, arm, and a bucket behind a bell crank; three cylinders",
    "four-bar": "a closed loop of bars that one cylinder drives",
    "leg": "hip and knee, each turned by an integrated electro-hydraulic actuator",
    "actuator": "one cylinder that pushes a mass along a slide",
}


def skeleton(kind: str) -> str:
    """The text of one. Raises InputError with the nearest name."""
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1)
        raise InputError(
            f"--machine: there is no {short(kind)!r} to begin with",
            mend=(f"did you mean {near[0]}? " if near else "") + f"(known: {', '.join(KINDS)})",
        )
    return (Path(__file__).parent / f"{kind}.yaml").read_text("utf-8")
