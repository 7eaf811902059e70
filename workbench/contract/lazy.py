"""Public names of a package, imported from their modules when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def imported(package: str, home: Mapping[str, str], name: str, base: str = "") -> Any:
    """The name as its module has it.

    home  name → module, below `base` (the package itself where that is empty)
    Raises AttributeError, in Python's words, for a name that is not in it.
    """
    if name not in home:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{base or package}.{home[name]}"), name)
