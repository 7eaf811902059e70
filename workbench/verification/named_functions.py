"""Functions that a claim names as text, "module.function" of this package: loaded when a claim is asked, not before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def function(name: str) -> Callable:
    """The function that "module.function" names, in `workbench.verification`."""
    module, _, own = name.rpartition(".")
    return getattr(import_module(f"workbench.verification.{module}"), own)


def check_asked(claim: Any, loop: Any) -> None:
    """Raise InputError where this loop cannot be asked the claim; messages begin with the key they are about."""
    if claim.asked:
        function(claim.asked)(claim, loop)
