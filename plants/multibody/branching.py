"""Which body hangs on which, and where positions and rates of every joint are among all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from plants.multibody.parts import GROUND, JOINTS
from workbench.contract.errors import InputError


class Tree(NamedTuple):
    """Which body hangs on which; bodies are numbered in the user's order.

    order    parents before children;     parent   number, or −1 for the ground
    z, v     where a body's positions and rates are: (first, how many);     n_z, n_v   how many there are
    above    numbers of the rates that move a body
    body_of  which body a rate belongs to
    """

    order: tuple[int, ...]
    parent: tuple[int, ...]
    z: tuple[tuple[int, int], ...]
    v: tuple[tuple[int, int], ...]
    n_z: int
    n_v: int
    above: tuple[tuple[int, ...], ...]
    body_of: tuple[int, ...]


def tree(bodies) -> Tree:
    """The tree of `bodies`; InputError for a parent that is missing, or a circle."""
    return _tree(tuple((b.name, b.parent, b.joint) for b in bodies))


def check_names(known: Sequence[str]) -> None:
    """InputError for bodies of one name, and for one that is called as the ground."""
    for name in known:
        if name == GROUND or known.count(name) > 1:
            raise InputError(
                f"bodies: {name!r} is {'the world' if name == GROUND else 'there twice'}",
                mend="give every body a name of its own",
            )


@cache
def _tree(bodies) -> Tree:
    known = [name for name, _, _ in bodies]
    check_names(known)
    for name, parent, _ in bodies:
        if parent != GROUND and parent not in known:
            raise InputError(
                f"bodies.{name}.parent: there is no body {parent!r}",
                mend=f"choose from {', '.join([GROUND, *known])}",
            )
    parents = [known.index(parent) if parent != GROUND else -1 for _, parent, _ in bodies]
    order: list[int] = []
    while len(order) < len(bodies):
        ready = [j for j, p in enumerate(parents) if j not in order and (p < 0 or p in order)]
        if not ready:
            names = ", ".join(known[j] for j in range(len(bodies)) if j not in order)
            words = "hang on each other in a circle" if "," in names else "hangs on itself"
            raise InputError(
                f"bodies: {names} {words}", mend="cut one joint and write it under loops:"
            )
        order += ready
    z = []
    v = []
    n_z = 0
    n_v = 0
    body_of = []
    for j, (_, _, joint) in enumerate(bodies):
        many_z, many_v = JOINTS[joint]
        z.append((n_z, many_z))
        v.append((n_v, many_v))
        body_of += [j] * many_v
        n_z = n_z + many_z
        n_v = n_v + many_v
    above: dict[int, tuple[int, ...]] = {-1: ()}
    for j in order:
        above[j] = (*above[parents[j]], *range(v[j][0], sum(v[j])))
    return Tree(
        order=tuple(order),
        parent=tuple(parents),
        z=tuple(z),
        v=tuple(v),
        n_z=n_z,
        n_v=n_v,
        above=tuple(above[j] for j in range(len(bodies))),
        body_of=tuple(body_of),
    )
