"""A run as poses for a page: at evenly spaced instants of the log, and at every instant that verdicts name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reports import signals
from reports.page.embedded import packed
from reports.page.machines.scene import Machine3, Posed
from workbench.run.log import Log

MOST = 400  # poses of a run
FASTEST = 20.0  # poses a second
AWAY = 100.0  # m or rad from the start: what moved further no longer looks like a machine
PATH = 900  # points of a path


def scene(
    machine: Machine3, log: Log, plant, also: Iterable[float], others: Sequence[tuple]
) -> dict:
    """What is drawn: solids, rams, poses of the run and of other runs (name, log), the path that was asked for."""
    return {
        "solids": [
            {"name": s.name, "kind": s.kind, "points": s.points.tolist()} for s in machine.solids
        ],
        "rams": [r._asdict() for r in machine.rams],
        "axis": list(map(float, machine.axis)),
        "up": list(map(float, machine.up)),
        "view": machine.view,
        "stands": machine.stands.tolist(),
        "wanted": packed(_wanted(log, plant)),
        "runs": [
            {"name": name, **_poses(machine, own, also)} for name, own in (("run", log), *others)
        ],
    }


def instants(machine: Machine3, log: Log, also: Iterable[float]) -> np.ndarray:
    """Indices of the log at which the machine is drawn; a run that blew up is left where it did."""
    q = machine.positions(log)
    if len(q) < 2:
        return np.zeros(1, int)
    sound = np.isfinite(q).all(axis=1) & (np.abs(q - q[0]) < AWAY).all(axis=1)
    last = len(q) - 1 if sound.all() else max(int(np.argmin(sound)) - 1, 0)
    length = float(log.time[last] - log.time[0])
    count = int(min(MOST, last + 1, max(2, FASTEST * length)))
    even = np.linspace(log.time[0], log.time[last], count)
    named = [t for t in also if log.time[0] <= t <= log.time[last]]
    return np.unique(np.clip(np.searchsorted(log.time, [*even, *named]), 0, last))


def _poses(machine: Machine3, log: Log, also: Iterable[float]) -> dict:
    """Times, and per time the solids' origins and quaternions, the rams' ends, pins and tip."""
    chosen = instants(machine, log, also)
    q = machine.positions(log)
    posed = [machine.at(q[k]) for k in chosen]
    return {
        "t": packed(log.time[chosen]),
        "solids": packed(np.array([_solids(p) for p in posed])),
        "rams": packed(np.array([p.ends for p in posed])),
        "pins": packed(np.array([p.pins for p in posed])),
        "tip": packed(np.array([p.tip for p in posed])) if posed[0].tip is not None else None,
    }


def _solids(pose: Posed) -> np.ndarray:
    """(solids, 7): origin and quaternion x, y, z, w."""
    from scipy.spatial.transform import Rotation

    if not pose.frames:
        return np.zeros((0, 7))
    turned = Rotation.from_matrix(np.array([R for _, R in pose.frames])).as_quat()
    return np.hstack([np.array([r for r, _ in pose.frames]), turned])


def _wanted(log: Log, plant) -> np.ndarray:
    """(n, 3) of the path that the tool was asked to take; empty where it is not known."""
    wanted = signals.wanted_points(log, plant)
    if wanted is None:
        return np.zeros((0, 3))
    path = np.stack([np.asarray(part, float) for part in wanted], 1)
    path = path[:: max(1, len(path) // PATH)]
    return path[np.isfinite(path).all(axis=1)]
