"""Verification: one method a file, (system | log, specification) → Verdict."""

from __future__ import annotations

_JUDGE = ("verify", "examine", "Examination", "default_claims")


def __getattr__(name: str):
    if name in _JUDGE:
        from workbench.verification import judge

        return getattr(judge, name)
    raise AttributeError(f"module 'workbench.verification' has no attribute {name!r}")
