"""Trajectories carried from one space to another: joint, piston, Cartesian, with three derivatives.

A plant's `task(space, q)` gives coordinates in a space; here it is inverted (Newton, exact Jacobians) and pushed forward. Where
the plant's positions must fit together, `misfit(q) = 0` completes the equations.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import isfinite

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, graph_key, leaves
from workbench.contract.remembered import remembered
from workbench.numerics.calculus import directional, jacobian_columns
from workbench.numerics.expressions import column, symbols
from workbench.numerics.mapped import Mapped


def task_values(plant, space, q) -> np.ndarray:
    """Coordinates of one joint position in `space`; those of a start are asked for by every run."""
    at = tuple(float(e) for e in q)
    key = ("task", space, at, graph_key(plant))
    found = remembered(key, plant, lambda: tuple(float(v) for v in plant.task(space, list(at))))
    return np.array(found)


def tool(plant, joints) -> np.ndarray:
    """Where the tool is, (N, 3) in the world, at joint positions (N, n)."""
    position, p = _map(plant, "tool", "position")
    return position(joints, p)


_maps: dict = {}


def _map(plant, space, kind) -> tuple[Mapped, np.ndarray]:
    """Compiled change-of-space function and the parameters it takes: those of the geometry, no masses."""
    free = [leaf for leaf in leaves(plant) if not leaf.constant]
    key = (graph_key(plant), space, kind)
    if key not in _maps:
        p, entries = symbols("p", len(free))
        bound = bind(plant, {leaf.path: e for leaf, e in zip(free, entries)})
        task = bound.tool if space == "tool" else lambda q: bound.task(space, q)
        if kind in INVERSE:
            task = lambda q: [*bound.task(space, q), *bound.misfit(q)]
        whole = _BUILD[kind](task, plant.n, p)
        taken = _taken(whole)
        _maps[key] = Mapped(_of_those(whole, taken)), taken
    found, taken = _maps[key]
    return found, np.array([free[i].value for i in taken], float)


def _taken(f: ca.Function) -> list[int]:
    """Entries of the last argument that the function depends on."""
    _, columns = f.jac_sparsity(0, f.n_in() - 1).get_triplet()
    return sorted(set(columns))


def _of_those(f: ca.Function, taken: list[int]) -> ca.Function:
    """The function of its first arguments and of those entries of the last one."""
    *first, whole = [ca.SX.sym(f"a{i}", f.size1_in(i)) for i in range(f.n_in())]
    p = ca.SX.sym("p", len(taken))
    spread = ca.SX(whole.numel(), 1)
    spread[taken] = p
    return ca.Function(f.name(), [*first, p], [f(*first, ca.densify(spread))])


def _newton(task, n, p):
    q, qs = symbols("q", n)
    target, _ = symbols("target", n)
    J = ca.horzcat(*[column(c) for c in jacobian_columns(task, qs)])
    miss = target - column(task(qs))
    return ca.Function("newton", [q, target, p], [ca.vertcat(q + ca.inv(J) @ miss, miss)])


def _rates(task, n, p):
    """(q, τ̇, τ̈, τ⃛) → (q̇, q̈, q⃛)."""
    q, qs = symbols("q", n)
    given = [ca.SX.sym(f"τ{i}", n) for i in (1, 2, 3)]
    inverse = ca.inv(ca.horzcat(*[column(c) for c in jacobian_columns(task, qs)]))
    flat = lambda e: [e[i] for i in range(n)]
    first = lambda a, b: directional(task, a, b)
    second = lambda z: directional(lambda s: first(s[:n], s[n:]), z[: 2 * n], z[n:])
    qd = inverse @ given[0]
    zero = [0.0] * n
    qdd = inverse @ (given[1] - column(second([*qs, *flat(qd), *zero])))
    third = directional(second, [*qs, *flat(qd), *flat(qdd)], [*flat(qd), *flat(qdd), *zero])
    return ca.Function(
        "rates", [q, *given, p], [ca.vertcat(qd, qdd, inverse @ (given[2] - column(third)))]
    )


def _position(task, n, p):
    """q → τ."""
    q, qs = symbols("q", n)
    return ca.Function("position", [q, p], [column(task(qs))])


def _push(task, n, p):
    """(q, q̇, q̈, q⃛) → (τ, τ̇, τ̈, τ⃛)."""
    z = [ca.SX.sym(f"q{i}", n) for i in range(4)]
    flat = [e[i] for e in z for i in range(n)]
    one = lambda s: directional(task, s[:n], s[n : 2 * n])
    two = lambda s: directional(one, s[: 2 * n], s[n : 3 * n])
    three = lambda s: directional(two, s[: 3 * n], s[n : 4 * n])
    return ca.Function(
        "push", [*z, p], [column([*task(flat[:n]), *one(flat), *two(flat), *three(flat)])]
    )


INVERSE = ("newton", "rates")  # to them a plant whose positions must fit together says when they do
_BUILD = {"position": _position, "newton": _newton, "rates": _rates, "push": _push}


@dataclass(eq=False)
class _Carried:
    """A path that was carried into joint space, from a pose at its start, and on into other spaces."""

    newton: Mapped
    parameters: np.ndarray
    given: np.ndarray
    q0: np.ndarray
    joints: np.ndarray
    pushed: dict[str, np.ndarray] = field(default_factory=dict)

    def serves(self, newton, parameters, given, q0) -> bool:
        """Whether this was the same path of the same plant, from a pose on the same branch."""
        if self.newton is not newton or not np.array_equal(self.parameters, parameters):
            return False
        if not np.allclose(self.q0, q0, rtol=0.0, atol=SAME_BRANCH):
            return False
        return np.array_equal(self.given, given)


PATHS = 8  # that are kept: runs of two scans at once, each at its samples and at its steps
_carried: deque[_Carried] = deque(maxlen=PATHS)
SHORT = 2**24  # bytes: longer paths are not kept


def to_joints(plant, space, given, q0, t) -> np.ndarray:
    """Joint positions and three derivatives (4, N, n) of a reference given in another space.

    Newton from point to point along a coarse path, then on all times at once; a finer path where that does not close.
    Runs of one loop from several starts follow one path, so the last few paths are kept.
    """
    newton, p = _map(plant, space, "newton")
    for before in tuple(_carried):  # another thread may add to it meanwhile
        if before.serves(newton, p, given, q0):
            return before.joints
    zeros = np.zeros((*given.shape[:2], plant.n - given.shape[2]))
    joints = _to_joints(plant, space, newton, p, np.concatenate([given, zeros], axis=2), q0, t)
    joints.flags.writeable = False
    if joints.nbytes <= SHORT:
        _carried.append(_Carried(newton, p, given, np.array(q0), joints))
    return joints


def _to_joints(plant, space, newton, p, given, q0, t) -> np.ndarray:
    n = plant.n
    N = given.shape[1]
    for points in (60, 1200):
        coarse = np.unique(np.linspace(0, N - 1, min(points, N)).astype(int))
        guess = _follow(plant, space, newton, p, given[0, coarse], q0, t[coarse])
        q = np.column_stack([np.interp(np.arange(N), coarse, column_) for column_ in guess.T])
        for _ in range(6):
            step = newton(q, given[0], p)
            q = step[:, :n]
            if np.abs(step[:, n:]).max() < 1e-10:
                break
        miss = np.abs(newton(q, given[0], p)[:, n:]).max(axis=1)
        worst = int(np.argmax(np.where(np.isfinite(miss), miss, np.inf)))
        if miss[worst] < 1e-9:
            break
    else:
        _out_of_reach(plant, space, given[0, worst], t[worst])
    rates, p = _map(plant, space, "rates")
    z = rates(q, *given[1:4], p).reshape(N, 3, n)
    return np.stack([q, z[:, 0], z[:, 1], z[:, 2]])


FARTHEST = 0.3  # rad, m: of one of Newton's steps
SAME_BRANCH = 0.05  # rad, m: poses this near begin on the same branch of the inverse kinematics

# The last path followed, by Newton's map: the same points again need no search. Points nearby would do for a start, but what is
# found from there differs in its last digits, and which thread was there before is chance.
_followed: dict = {}


def _follow(plant, space, newton, p, targets, q0, t) -> np.ndarray:
    before = _followed.get(newton)
    asked = (targets, p, q0)
    if before is not None and all(map(np.array_equal, before[:3], asked)):
        return before[3]
    found = _search(plant, space, newton, p, targets, q0, t)
    _followed[newton] = (targets.copy(), p.copy(), np.array(q0), found)
    return found


def _search(plant, space, newton, p, targets, q0, t) -> np.ndarray:
    n = plant.n
    q = np.asarray(q0, float)
    found = []
    for target, when in zip(targets, t):
        for _ in range(60):
            wanted = (
                newton(q, target, p)[0][:n] - q
            ).tolist()  # numbers: arrays this short are slow
            moved = [min(max(step, -FARTHEST), FARTHEST) for step in wanted]
            q = q + moved
            if not all(map(isfinite, moved)):
                _out_of_reach(plant, space, target, when)
            if max(map(abs, moved)) < 1e-12:
                break
        else:
            _out_of_reach(plant, space, target, when)
        found.append(q)
    return np.array(found)


def _out_of_reach(plant, space, point, t):
    text = ", ".join(f"{name} = {v:.4g}" for name, v in zip(plant.task_names(space), point))
    raise InputError(
        f"reference: no pose of {plant.name} reaches {text} (at t = {t:.3f} s)",
        mend="move the path inside the workspace or start from another pose",
    )


def pushed(plant, space, joints) -> np.ndarray:
    """Coordinates in `space` and three derivatives (4, N, n) of joint trajectories (4, N, n)."""
    kept = next((before.pushed for before in tuple(_carried) if before.joints is joints), {})
    if space not in kept:
        push, p = _map(plant, space, "push")
        values = push(*joints[:4], p).reshape(joints.shape[1], 4, -1)
        kept[space] = np.moveaxis(values, 1, 0)
    return kept[space]
