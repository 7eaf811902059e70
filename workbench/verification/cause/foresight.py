"""Trials of a predictive law: one of its own limits is removed, or its horizon lengthened.

    slew          none
    u_min, u_max  those of the machine, none where it states none
    limits        none
    horizon       LONGER times as many samples, at most MOST, and a cost of what comes after them, where there is none

A law is made anew for each: its problem is prepared when it is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.verification.cause.trial import Trial
from workbench.verification.predictive.of_run import predictive

LONGER = 5
MOST = 200  # samples
ODD = 0.8
KNOWN = {"slew", "u_min", "u_max", "limits", "N", "terminal"}


def foresight_trials(loop: Any) -> Iterator[Trial]:
    """Every trial of a predictive law whose settings have these names; none of any other law."""
    law = predictive(loop)
    if not is_dataclass(law) or not KNOWN <= {f.name for f in fields(law)}:
        return
    for words, changes in _looser(loop, law):
        try:
            made = replace(law, **changes)
        except (InputError, ValueError):
            continue
        yield Trial("foresight", words, {}, {}, ODD, _called(loop, made))


def _looser(loop: Any, law: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what the law holds itself to, settings without it)."""
    if law.slew:
        yield (
            f"the law holds its commands to {_told(law.slew)} a second (controller.slew)",
            {"slew": ()},
        )
    own = [loop.plant.limits().get(name) for name in names(law.commands)]
    wide = {"u_min": (), "u_max": ()}
    if all(own):
        low, high = zip(*own)
        wide = {"u_min": tuple(low), "u_max": tuple(high)}
    if _ranges(law) != _ranges(replace(law, **wide)):
        said = f"{_told(law.u_min)} … {_told(law.u_max)}"
        yield f"the law holds its commands to {said} (controller.u_min, u_max)", wide
    if law.limits:
        held = ", ".join(dict.fromkeys(limit.name for limit in law.limits))
        yield f"the law holds {held} to limits (controller.limits)", {"limits": ()}
    if law.terminal == "none" and law.N < MOST:
        words = (
            f"the law looks {law.N} samples ahead (controller.horizon), and at no cost after them"
        )
        yield words, {"N": min(LONGER * law.N, MOST), "terminal": "cost"}


def _ranges(law: Any) -> tuple[Any, Any]:
    """The range of every command of a law."""
    return tuple(law.each("u_min")), tuple(law.each("u_max"))


def _told(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.3g}" for value in numbers) or "none"


def _called(loop: Any, made: Any) -> Any:
    """The law, called from Python as the loop's is."""
    law = innermost(loop.controller)
    if not isinstance(law, Plain):
        return made
    signals = {name: tuple(getattr(law, name)) for name in ("measured", "commands", "references")}
    return replace(law, law=made, **signals)
