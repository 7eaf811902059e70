"""A base on a ship: it heaves and rolls about z with one frequency, for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plants import BaseMotion
from tests.faults.entries import case_of
from workbench import Sine
from workbench.cases.file import loads

REST = (0.0, 0.0, 0.0)


def afloat(
    base: str, frequency: float, heave: float, roll: float, edit: Mapping[str, Any] | None = None
):
    """The base with `moving_ground` on a swell. frequency: Hz; heave: m; roll: rad."""
    edited = {**(edit or {}), "plant/moving_ground": True}
    case = loads(json.dumps(case_of(base, edited), ensure_ascii=False), f"{base}.yaml")
    sea = BaseMotion(
        Sine("output", REST, (0.0, heave, 0.0), frequency),
        Sine("output", REST, (0.0, 0.0, roll), frequency),
    )
    scenario = replace(case.scenario, disturbances=sea.disturbances(case.plant))
    return case.loop, scenario, case.claims
