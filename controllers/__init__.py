"""Controllers: one law a file."""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = {
    "VDC": "vdc",
    "PID": "pid.law",
    "MPC": "mpc.law",
    "Limit": "mpc.law",
    "Observer": "mpc.observer",
    "LQR": "lqr",
    "OpenLoop": "open_loop",
    "ForcePosition": "force_position",
    "relay": "pid_tuning",
    "tuned": "pid_tuning",
}

_GONE = {"MeteredVDC": "VDC serves metered arms and cranes, with k_m in place of k_x"}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _GONE:
        raise AttributeError(f"module 'controllers' has no attribute {name!r}: {_GONE[name]}")
    return imported(__name__, _HOME, name)
