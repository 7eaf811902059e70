"""Members of an object that are members of one of its parts."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def of(path: str) -> Any:
    """A property that is a member of a part, such as "crane.n"."""
    return property(attrgetter(path))
