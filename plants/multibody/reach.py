"""What a mechanism reaches: the angles of its joints over all strokes, and the places that its tool can reach."""

from __future__ import annotations

import numpy as np

from plants.multibody import acting, coordinates
from plants.multibody.strokes import Stroke, beside, strokes
from plants.multibody.tree import move, point

SHARE = 0.2  # share of a joint's range, how far a demonstration goes to either side
TURN = 1.5  # rad: the range that is assumed of a joint that a motor turns, which has no stroke
LEFT = 0.5  # share of what is left of the range on that side, at most
AGAIN = 9  # places along one stroke from which another one is followed
ALONG = 120  # motions along each of two strokes that act together
MOST = 400_000  # poses that are tried for the reach of a tool


def ranges(mechanism) -> dict[str, tuple[float, float]]:
    """Least and largest position of every joint that a cylinder moves over its stroke, by the name of its signal.

    A cylinder on a joint moves that one, from end to end of its own stroke.
    """
    names = [s.name for s in mechanism.coordinates]
    spanned = [a for a in mechanism.actuators if a.joint and np.isfinite(a.span).all()]
    on_joint = {a.name: names[acting.joint_at(mechanism, a)[0]] for a in spanned}
    found = {on_joint[a.name]: a.span for a in spanned}
    for stroke in strokes(mechanism):
        z = np.array(stroke.positions)
        for name, low, high in zip(names, z.min(axis=0), z.max(axis=0)):
            if high - low < 1e-6 or name == on_joint.get(stroke.name):
                continue
            before = found.get(name, (np.inf, -np.inf))
            found[name] = (min(float(low), before[0]), max(float(high), before[1]))
    return found


def demo(mechanism) -> tuple[tuple[float, ...], ...] | None:
    """Two points in independent positions: each joint moves a share of its range towards its farther end, then the nearer one.

    A joint that a motor turns has no ends: TURN is taken for its range. None where the positions are not independent, or a
    joint has neither.
    """
    if not coordinates.independent(mechanism):
        return None
    known = ranges(mechanism)
    turned = {f"q_{a.joint}" for a in mechanism.actuators if a.joint}
    sides = []
    for i in mechanism.own[0]:
        start = float(mechanism.assembly.z[i])
        name = mechanism.coordinates[i].name
        half = 0.5 * TURN if name in turned else 0.0
        low, high = known.get(name, (start - half, start + half))
        if high - low < 1e-3:
            return None
        ends = sorted((low - start, high - start), key=abs, reverse=True)
        sides.append([start + _away(end, high - low) for end in ends])
    farther, nearer = zip(*sides)
    return farther, nearer


def _away(end: float, range_: float) -> float:
    """Signed step towards an end of the range that is `end` away: a share SHARE of the range, at most LEFT of the way."""
    return float(np.copysign(min(SHARE * range_, LEFT * abs(end)), end))


def tool_points(mechanism) -> np.ndarray:
    """(n, 3) positions of the tool over all strokes together; the start alone where no stroke is known.

    Each cylinder's stroke was followed with the others at their start. Their motions add up where a cylinder moves the joints
    between its two bodies and no others, as in machines whose cylinders act one after the other. Where two cylinders move a
    joint together, as both do in a loader's Z-bar, the second is followed again from `AGAIN` places along the first.
    """
    start = np.array(mechanism.assembly.z)
    moving: list[tuple[np.ndarray, set[int]]] = []
    for stroke in strokes(mechanism):
        motion = _thinned(stroke, start)
        moved = _moved(motion)
        shared = next((k for k, (_, other) in enumerate(moving) if moved & other), None)
        if shared is None:
            moving.append((motion, moved))
            continue
        if _alike(motion, moving[shared][0]):
            continue
        both = _both(mechanism, stroke.name, moving[shared][0], start)
        moving[shared] = both, moved | moving[shared][1]
    each = max(2, int(MOST ** (1.0 / max(1, len(moving)))))
    moves = [_some(motion, each) for motion, _ in moving]
    poses = start[None, :]
    for way in moves:
        poses = (poses[:, None, :] + way[None, :, :]).reshape(-1, len(start))
    return placed(mechanism, poses, mechanism.tcp)


def _alike(motion, other) -> bool:
    """Whether the first steps of two motions are parallel, as those of two cylinders side by side."""
    first, second = (_least(way) for way in (motion, other))
    return bool(abs(first @ second) > 0.999 * np.linalg.norm(first) * np.linalg.norm(second))


def _least(motion) -> np.ndarray:
    """The row of a motion (n, n_z) with the smallest displacement that is not zero."""
    sizes = np.abs(motion).max(axis=1)
    return motion[np.where(sizes > 1e-6, sizes, np.inf).argmin()]


def _both(mechanism, name: str, motion: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Displacements (n, n_z) of two cylinders together: `name` over its stroke, from AGAIN places along the other's `motion`.

    Between these places displacements are interpolated.
    """
    strips = []
    for away in _some(motion, AGAIN):
        ways = np.array(beside(mechanism, name, start + away)) - start
        strips.append(_even(ways, ALONG))
    found = np.stack(strips)
    share = np.linspace(0.0, len(found) - 1.0, ALONG)
    before = np.minimum(share.astype(int), len(found) - 2)
    part = (share - before)[:, None, None]
    between = (1.0 - part) * found[before] + part * found[before + 1]
    return between.reshape(-1, len(start))


def _some(motion, many: int) -> np.ndarray:
    """At most `many` rows of a motion, evenly spaced, with both ends."""
    return motion[np.linspace(0, len(motion) - 1, min(many, len(motion))).astype(int)]


def _moved(motion) -> set[int]:
    """Numbers of the positions that a motion changes."""
    return set(np.flatnonzero(np.abs(motion).max(axis=0) > 1e-6).tolist())


def _thinned(stroke: Stroke, start) -> np.ndarray:
    """A stroke as displacements from the start, at even steps of the joint that moves most."""
    return _even(np.array(stroke.positions) - start, 400)


def _even(moved: np.ndarray, many: int) -> np.ndarray:
    """`many` displacements interpolated between the given ones, at even steps of the joint that moves most."""
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(moved, axis=0)).max(axis=1))])
    fine = np.linspace(0.0, way[-1], many)
    return np.stack([np.interp(fine, way, column) for column in moved.T], axis=1)


def placed(mechanism, poses: np.ndarray, pin) -> np.ndarray:
    """(n, 3) positions of a pin in the poses (n, n_z)."""
    motion = move(mechanism.bodies, mechanism.tree, list(poses.T), None)
    still = [(np.zeros(len(poses)),) * 3] * 2
    frames = motion._replace(Z=[still] * len(motion.r), bias=[still] * len(motion.r))
    r, _, _ = point(frames, mechanism.number(pin.body), pin.point)
    return np.stack([np.broadcast_to(np.asarray(v, float), len(poses)) for v in r], axis=1)
