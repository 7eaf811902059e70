"""Automatic tuning of PID loops: relay experiments with named rules, and the largest integral gain under a disk margin."""

from __future__ import annotations

_HOME = {
    "relay": "experiment",
    "Relay": "relay_law",
    "RelayExperiment": "experiment",
    "gains": "rules",
    "Tuning": "record",
    "tuned": "tune",
    "ByDiskMargin": "tune",
    "ByRelay": "tune",
    "METHODS": "tune",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        import importlib

        return getattr(importlib.import_module(f"controllers.pid_tuning.{_HOME[name]}"), name)
    raise AttributeError(f"module 'controllers.pid_tuning' has no attribute {name!r}")
