"""Commands of exported code against those of a run: by how much each may be off, and what the run does not show of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STILL = "no command changes along the run: give a scenario in which the machine moves"
UNSEEN = "{names}: along the run so small that code without it would pass: give a scenario in which it moves further"


def off_by(commands: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """By how much each command is off at most, in its unit."""
    return np.abs(commands - wanted).max(axis=0, initial=0.0)


def scales(commands: np.ndarray, signals: Sequence[dict[str, str]]) -> np.ndarray:
    """Of each command the largest of all commands that have its unit, in that unit."""
    largest = np.abs(commands).max(axis=0, initial=0.0)
    units = np.array([signal["unit"] for signal in signals])
    return np.array([largest[units == unit].max() for unit in units])


def allowances(commands: np.ndarray, share: float, signals: Sequence[dict[str, str]]) -> np.ndarray:
    """By how much each command of the code may be off that of a run: this share of the largest of its unit.

    The one rule of every comparison: on this computer, on the processor, and in the program that goes with the code.
    """
    return share * scales(commands, signals)


def unshown(commands: np.ndarray, share: float, signals: Sequence[dict[str, str]]) -> str:
    """What commands of a run do not show of code that may be off by this share, in words; "" where they show all of it."""
    if not np.ptp(commands, axis=0).any():
        return STILL
    own = np.abs(commands).max(axis=0, initial=0.0)
    hidden = own <= allowances(commands, share, signals)
    small = [signal["name"] for signal, is_hidden in zip(signals, hidden) if is_hidden]
    return UNSEEN.format(names=", ".join(small)) if small else ""
