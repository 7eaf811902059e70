"""The friction laws about a joint that turns: the same equations, with torques, angles and rates of turning in their numbers.

Every law of `Friction` that has numbers has a class of its name here, whose fields have the units of `TURNING`. A motor takes
either, and keeps the one about a joint.
"""

from __future__ import annotations

import operator
import typing
from dataclasses import dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any

from plants.components.friction import Friction
from workbench.contract.annotations import Unit

TURNING = {"N": "N m", "m": "rad", "m/s": "rad/s"}
TURNING |= {"N/m": "N m/rad", "N s/m": "N m s/rad", "s/m": "s/rad"}


def turning(law: type) -> type:
    """The class of a law about a joint: a subclass of the same name, its numbers in units of `TURNING`.

    A law without numbers has none to turn, and is the same about a joint.
    """
    if not fields(law):
        return law
    hints = typing.get_type_hints(law, include_extras=True)
    annotations = {field.name: turned(hints[field.name]) for field in fields(law)}
    members = {"__annotations__": annotations, "__module__": __name__, "__doc__": law.__doc__}
    return dataclass(frozen=True)(type(law.__name__, (law,), members))


def turned(declared: Any) -> Any:
    """What a field is declared as, with the unit that it has about a joint."""
    said = getattr(declared, "__metadata__", ())
    if not said:
        return declared
    own = [Unit(TURNING.get(m.symbol, m.symbol)) if isinstance(m, Unit) else m for m in said]
    return Annotated[(declared.__origin__, *own)]


LAWS: dict[str, type] = {law.__name__: turning(law) for law in typing.get_args(Friction)}
globals().update(LAWS)  # where pickle looks for them

if TYPE_CHECKING:
    Turning = Friction
else:
    Turning = reduce(operator.or_, LAWS.values())


def about_a_joint(law: Friction) -> Friction:
    """The law with the same numbers, of the class of its name here."""
    cls = LAWS.get(type(law).__name__)
    if cls is None or isinstance(law, cls):
        return law
    return cls(**{field.name: getattr(law, field.name) for field in fields(law)})
