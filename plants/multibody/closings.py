"""Which joints of planar loops follow from which: the order in which `plants.multibody.planar` closes the loops."""

from __future__ import annotations

from math import pi

import numpy as np

from plants.drives.laws import SpringDamper
from plants.multibody.parts import unit
from plants.multibody.planar import Closing, closed
from workbench.contract.errors import InputError


def closings_of(mechanism, z) -> tuple[Closing, ...]:
    """How all loops are closed one after the other from the start z; InputError for a loop that is not of this kind.

    Joints that are held are independent first, then those with a drive on them, then those nearest to the ground.
    """
    known: set[int] = set()
    chains = [_chains(mechanism, cut) for cut in mechanism.cuts]
    inside = [
        [j for chain in pair for j in chain if mechanism.bodies[j].joint != "fixed"]
        for _, pair in chains
    ]
    driven = [mechanism.number(a.joint) for a in mechanism.actuators if a.joint]
    left = list(range(len(chains)))
    found = []
    while left:
        open_ = {n: [j for j in inside[n] if j not in known] for n in left}
        n = min(left, key=lambda n: (len(open_[n]) != 2, n))
        if len(open_[n]) < 2:
            raise _unfit(mechanism, n, "its joints are all determined by other loops")
        if len(open_[n]) > 2:
            known.add(
                min(
                    open_[n],
                    key=lambda j: (
                        not mechanism.bodies[j].hold,
                        j not in driven,
                        mechanism.tree.order.index(j),
                    ),
                )
            )
            continue
        found.append(_started(mechanism, _closing(mechanism, n, *chains[n], open_[n]), z))
        known |= set(open_[n])
        left.remove(n)
    _check_springs(mechanism, found)
    return tuple(found)


def _check_springs(mechanism, found) -> None:
    """InputError for a spring on an angle that follows from others: such an angle is known only up to full turns."""
    follow = {
        mechanism.bodies[j].name
        for k in found
        for j in k.unknown
        if mechanism.bodies[j].joint == "revolute"
    }
    for a in mechanism.actuators:
        if a.joint in follow and isinstance(a.drive, SpringDamper):
            raise InputError(
                f"actuators.{a.name}: its spring is on the angle of {a.joint}, which method minimal knows only up to "
                "full turns",
                mend=f"write 'hold: true' at {a.joint}, so that it is independent, or 'method: projected'",
            )


def _unfit(mechanism, n: int, why: str) -> InputError:
    return InputError(
        f"method: minimal cannot close {mechanism.loops[n].name}: {why}",
        mend="write 'method: projected', which takes any loop",
    )


def _chains(mechanism, cut) -> tuple[int, tuple]:
    """(base, bodies from it to either place)."""
    paths = []
    for j in cut:
        path = []
        while j >= 0:
            path.insert(0, j)
            j = mechanism.tree.parent[j]
        paths.append(path)
    shared = 0
    while shared < min(map(len, paths)) and paths[0][shared] == paths[1][shared]:
        shared += 1
    return (paths[0][shared - 1] if shared else -1), tuple(tuple(path[shared:]) for path in paths)


def _closing(mechanism, n: int, base: int, chains, unknown) -> Closing:
    joints = [j for chain in chains for j in chain]
    kinds = {j: mechanism.bodies[j].joint for j in joints}
    turns = [j for j in joints if kinds[j] == "revolute"]
    slides = [j for j in unknown if kinds[j] == "prismatic"]
    if mechanism.loops[n].joint == "prismatic" or "spherical" in kinds.values() or not turns:
        raise _unfit(
            mechanism, n, "it takes revolute and prismatic joints in the tree, and a cut that turns"
        )
    if len(slides) > 1:
        raise _unfit(
            mechanism, n, f"{mechanism.bodies[slides[1]].name} slides too; hold one of the two"
        )
    u = np.array(unit(mechanism.bodies[turns[0]].axis))
    along = {j: float(u @ unit(mechanism.bodies[j].axis)) for j in joints if kinds[j] != "fixed"}
    if any(
        abs(abs(along[j]) - 1) > 1e-9 if kinds[j] == "revolute" else abs(along[j]) > 1e-9
        for j in along
    ):
        raise _unfit(mechanism, n, "its joints are not in one plane")
    unknown = sorted(
        unknown, key=lambda j: (kinds[j] == "prismatic", mechanism.tree.order.index(j))
    )
    return Closing(
        n,
        base,
        chains,
        tuple(unknown),
        tuple((j, float(np.sign(along[j]))) for j in turns),
        int(np.argmin(abs(u))),
    )


def _started(mechanism, k: Closing, z) -> Closing:
    """The closing with the branch and the number of turns that it has at the start."""
    signs = dict(k.signs)
    T = mechanism.tree
    i, j = k.unknown
    want = [float(z[T.z[n][0]]) for n in k.unknown]
    first = signs[i] * want[0]
    second = signs.get(j, 0.0) * want[1] + (
        first if any(i in chain and j in chain for chain in k.chains) else 0.0
    )
    turns = (round(2 * first / pi), round(2 * second / pi))
    tried = []
    for branch in (1, -1):
        made = Closing(
            loop=k.loop,
            base=k.base,
            chains=k.chains,
            unknown=k.unknown,
            signs=k.signs,
            across=k.across,
            branch=branch,
            turns=turns,
        )
        with np.errstate(invalid="ignore"):
            values, room = closed(mechanism, made, z)
        tried.append(
            (np.nan_to_num(np.abs(np.subtract(values, want)).max(), nan=np.inf), float(room), made)
        )
    error, room, made = min(tried, key=lambda t: t[0])
    if not room > 1e-6 or error > 1e-6:
        a, b = (mechanism.bodies[n].name for n in k.unknown)
        raise _unfit(
            mechanism,
            k.loop,
            f"it starts at a dead centre of {a} and {b}; hold another of its joints",
        )
    return made
