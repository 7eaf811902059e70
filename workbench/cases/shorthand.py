"""Another way to write some fields of a class in a file: an angle for a rotation matrix, a rated flow for coefficients.

    class Frame:
        r: …
        R: …
        shorthand: ClassVar[tuple[Shorthand, ...]] = (Shorthand("about_z", Angle, ("R",), turned),)

`about_z: 45 deg` may then stand for `R: […]`. Files, messages and the schema know it; Python code does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shorthand:
    """A key of a file that stands for one or more fields.

    key      as written in the file
    of       type hint of its value: Annotated[float, Unit("rad"), "meaning"] or a frozen dataclass
    gives    fields it replaces; giving one of them as well is refused
    expand   (value, others) → values of those fields, SI; `others` holds all other fields, defaults included
    """

    key: str
    of: Any
    gives: tuple[str, ...]
    expand: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
