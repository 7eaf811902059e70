"""The built-in requirements that are sentences: what a table says of them is what the monitor is asked.

    tracking     always[settle, end] (tool_error <= error)
    pressures    always (p_lowest >= low and p_highest <= high)
    saturation   always (at_limit <= share)
    overshoot    always (overshoot <= share)
    settled      always (swing_q_1 <= floor and … and chatter_u_1 <= share and …)
    a limit of the machine        always (x >= low and x <= high); of one that it bears, always (`at LIMIT` <= share)

`workbench.verification.temporal.signals` says what the signals are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.verification.temporal.sentence import Sentence, understood
from workbench.verification.temporal.tokens import FUNCTIONS, KEYWORDS

MOST_DIGITS = 12


def tracking(error: float, unit: str, begin: float) -> Sentence:
    """The error stays within `error` (SI, in `unit`) from `begin` s on."""
    text = f"always[{written(begin, 's')}, end] (tool_error <= {written(error, unit)})"
    return understood(text, {"tool_error": unit})


def pressures(low: float, high: float) -> Sentence:
    """Every chamber pressure stays between two limits, Pa; `high` may be infinite."""
    least = f"p_lowest >= {written(low, 'Pa')}"
    most = f"p_highest <= {written(high, 'Pa')}" if math.isfinite(high) else ""
    parts = f"{least} and {most}" if most else least
    return understood(f"always ({parts})", {"p_lowest": "Pa", "p_highest": "Pa"})


def saturation(share: float) -> Sentence:
    """The command that is most often at its limit is there for a share of the run at most."""
    return understood(f"always (at_limit <= {written(share, '1')})", {"at_limit": "1"})


def overshoot(share: float) -> Sentence:
    """No output goes further beyond what its reference asks for than a share of its way."""
    return understood(f"always (overshoot <= {written(share, '1')})", {"overshoot": "1"})


def settled(
    floor: float, units: Mapping[str, str], chatter: float, commands: Sequence[str]
) -> Sentence:
    """No error (name → its unit) swings by more than `floor`, no command's fast part is more than a share of its range."""
    swings = [f"{quoted('swing_' + n)} <= {written(floor, unit)}" for n, unit in units.items()]
    quiet = [f"{quoted('chatter_' + n)} <= {written(chatter, '1')}" for n in commands]
    names = {f"swing_{n}": unit for n, unit in units.items()}
    names |= {f"chatter_{n}": "1" for n in commands}
    return understood(f"always ({' and '.join(swings + quiet)})", names)


def within(limit: Limit) -> Sentence:
    """What a limit of the machine is about stays within it."""
    value = " + ".join(quoted(name) for name in limit.signals)
    parts = []
    if limit.low > -math.inf:
        parts.append(f"{value} >= {written(limit.low, limit.unit)}")
    if limit.high < math.inf:
        parts.append(f"{value} <= {written(limit.high, limit.unit)}")
    return understood(f"always ({' and '.join(parts)})", dict.fromkeys(limit.signals, limit.unit))


def borne(name: str, share: float) -> Sentence:
    """The machine is at a limit that it bears, `name`, for a share of the run at most."""
    return understood(f"always ({quoted(name)} <= {written(share, '1')})", {name: "1"})


def quoted(name: str) -> str:
    """A signal as a sentence names it: between backticks where it is no plain word."""
    plain = re.fullmatch(r"[^\W\d]\w*(?:[.@]\w+)*", name) and name not in (*KEYWORDS, *FUNCTIONS)
    return name if plain else f"`{name}`"


def written(value: float, unit: str) -> str:
    """A number with its unit as people write it, that reads back as exactly this number."""
    value = float(value)
    share = f"{100 * value:.{MOST_DIGITS}g} %"
    if unit == "1" and quantity(share, unit) == value:
        return share
    for digits in range(4, MOST_DIGITS + 1):
        text = say(value, unit, digits)
        try:
            if quantity(text, unit) == value:
                return text
        except InputError:  # a unit of no table, shown in a form that is not read
            break
    small = f"{1e3 * value:.{MOST_DIGITS}g} mrad"
    if unit == "rad" and abs(value) < 1e-2 and quantity(small, unit) == value:
        return small
    return f"{value!r} {unit}" if unit != "1" else repr(value)
