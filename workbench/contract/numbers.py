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


def nearest(name: str, paths: Iterable[str]) -> str:
    """How to mend the name of a number: the paths that are most like it, or some that there are."""
    known = list(paths)
    ends = {".".join(path.split(".")[-2:]) for path in known}
    near = difflib.get_close_matches(name, sorted({*known, *ends}), 3)
    return f"did you mean {' or '.join(near)}?" if near else f"for example {', '.join(known[:3])}"
