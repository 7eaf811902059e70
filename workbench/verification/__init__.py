"""Verification: one method a file, (system | log, specification) → Verdict."""

from __future__ import annotations

_HOME = {"verify": "study", "study": "study", "Study": "study", "default_claims": "study"}


def __getattr__(name: str):
    if name in _HOME:
        import importlib
        import sys

        value = getattr(importlib.import_module(f"workbench.verification.{_HOME[name]}"), name)
        setattr(sys.modules[__name__], name, value)
        return value
    raise AttributeError(f"module 'workbench.verification' has no attribute {name!r}")
