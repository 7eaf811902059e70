"""The built-in requirements that are sentences: what a table says of them is what the monitor is asked.

    tracking     always[settle, end] (tool_error <= error)
    pressures    always (p_lowest >= low and p_highest <= high)

`p_lowest` and `p_highest` are the least and the largest of all chamber pressures.
"""

from __future__ import annotations

import math

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.verification.temporal.sentence import Sentence, read

MOST_DIGITS = 12


def tracking(error: float, unit: str, begin: float) -> Sentence:
    """The error stays within `error` (SI, in `unit`) from `begin` s on."""
    text = f"always[{written(begin, 's')}, end] (tool_error <= {written(error, unit)})"
    return read(text, {"tool_error": unit})


def pressures(low: float, high: float) -> Sentence:
    """Every chamber pressure stays between two limits, Pa; `high` may be infinite."""
    least = f"p_lowest >= {written(low, 'Pa')}"
    most = f"p_highest <= {written(high, 'Pa')}" if math.isfinite(high) else ""
    parts = f"{least} and {most}" if most else least
    return read(f"always ({parts})", {"p_lowest": "Pa", "p_highest": "Pa"})


def written(value: float, unit: str) -> str:
    """A number with its unit as people write it, that reads back as exactly this number."""
    value = float(value)
    for digits in range(4, MOST_DIGITS + 1):
        text = say(value, unit, digits)
        try:
            if quantity(text, unit) == value:
                return text
        except InputError:  # a unit of no table, shown in a form that is not read
            break
    return f"{value!r} {unit}" if unit != "1" else repr(value)
