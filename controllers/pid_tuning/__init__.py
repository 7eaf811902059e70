"""Automatic tuning: relay experiments with named rules, the largest integral gain under a disk margin, and search by runs.

What goes by runs of any law's loop lies in `controllers.gain_search`.
"""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = {
    "relay": "pid_tuning.experiment",
    "Relay": "pid_tuning.relay_law",
    "RelayExperiment": "pid_tuning.experiment",
    "gains": "pid_tuning.rules",
    "Tuning": "pid_tuning.record",
    "tuned": "pid_tuning.tune",
    "ByDiskMargin": "pid_tuning.tune",
    "ByRelay": "pid_tuning.tune",
    "METHODS": "pid_tuning.tune",
    "ByRuns": "gain_search",
    "Traded": "gain_search",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name, "controllers")
