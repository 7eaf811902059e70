"""Members that are those of a part."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def of(path: str) -> Any:
    """A member that is that of a part, such as "crane.n"."""
    return property(attrgetter(path))
