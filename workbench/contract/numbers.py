"""Numbers of an object found by the end of their path, as people name them: `payload.mass`, `valve.frequency`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf, leaves


def numbers(plant: object, name: str, key: str = "over", of: str = "the plant") -> list[Leaf]:
    """The numbers whose path is this, or ends so. Raises InputError, with the nearest paths, where there is none."""
    every = tuple(leaves(plant))
    found = [leaf for leaf in every if leaf.path == name or leaf.path.endswith("." + name)]
    if found:
        return found
    raise InputError(
        f"{of} has no number {name!r}", key=key, mend=nearest(name, [leaf.path for leaf in every])
    )


def _within(some: list[str], path: list[str]) -> bool:
    """Whether a path ends as the name does, and has its other elements in their order before that."""
    left = iter(path)
    return some[-1] == path[-1] and all(element in left for element in some)


def nearest(name: str, paths: Iterable[str]) -> str:
    """How to mend the name of a number: the paths that are most like it, some that there are, or that there are none."""
    known = list(paths)
    if not known:
        return "take it out: there is none to choose from"
    between = [path for path in known if _within(name.split("."), path.split("."))]
    if between:
        return f"did you mean {' or '.join(between[:3])}?"
    ends = {".".join(path.split(".")[-2:]) for path in known}
    near = difflib.get_close_matches(name, sorted({*known, *ends}), 3)
    return f"did you mean {' or '.join(near)}?" if near else f"for example {', '.join(known[:3])}"
