"""`--set KEY=VALUE`: another value at a key of a file, checked as if it stood there.

    --set controller.λ=10            λ, or lambda, of the controller
    --set plant.payload.mass=50kg    any number of a shipped machine, as under `change:`
    --set scenario.duration=2s --set claims.delay-limit=false

A key is the way through the file, the value is read as YAML. The text that reports print and that `tune --write` begins
with has the values in it, and says so in its first lines.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from workbench.cases.edit import plain
from workbench.cases.node import Node
from workbench.cases.yaml_input import parse
from workbench.contract.errors import InputError, short
from workbench.sweep.places import Layout, node_of, placed

LIKE = "write --set controller.λ=10, or --set 'plant.payload.mass=50 kg'"


def set_in(root: Node, text: str, pairs: Sequence[str], layout: Layout) -> tuple[Node, str]:
    """(tree, text) of a file with the values in them. Raises InputError that names the option."""
    tree = values_in(root, pairs, layout)
    return tree, _rewritten(text, tree.plain(), pairs)


def values_in(root: Node, pairs: Sequence[str], layout: Layout) -> Node:
    """The tree with the values in it. Raises InputError that names the option."""
    taken: dict[str, str] = {}
    for pair in pairs:
        name, value = _taken_apart(pair)
        before = taken.setdefault(plain(name), pair)
        if before != pair:
            both = f"--set {short(before)} and --set {short(pair)} are the same key"
            raise InputError(both, key=name, mend="keep one of them")
        root = placed(root, name, value, layout)
    return root


def _taken_apart(pair: str) -> tuple[str, Node]:
    """KEY=VALUE as the key and the value where it stands."""
    name, equals, said = pair.partition("=")
    name = name.strip()
    said = said.strip()
    if not equals or not all(name.split(".")):
        raise InputError(f"--set {short(pair)}: expected KEY=VALUE", mend=LIKE)
    if not said:
        raise InputError(f"--set {short(pair)}: there is no value", key=name, mend=LIKE)
    try:
        value = parse(f"value: {said}").plain()
    except InputError as why:
        raise InputError(f"--set {short(pair)}: {why.message}", key=name, mend=LIKE) from None
    if not isinstance(value, dict) or len(value) != 1:
        raise InputError(f"--set {short(pair)}: expected one value", key=name, mend=LIKE)
    return name, node_of(value["value"], Node(None, 0, file=f"--set {short(pair)}"))


# ---- the text -----------------------------------------------------------------------------------------------------
def _rewritten(text: str, wanted: Any, pairs: Sequence[str]) -> str:
    """The file's text with other values in it: its comments kept where that says the same, else without them."""
    from ruamel.yaml import YAML

    head = "".join(f"# --set {' '.join(pair.split())}\n" for pair in pairs)
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 10_000
    stream = io.StringIO()
    data = writer.load(text)
    writer.dump(_synchronised(data, wanted), stream)
    made = head + stream.getvalue()
    try:
        if parse(made).plain() == wanted:
            return made
    except InputError:
        pass
    stream = io.StringIO()
    writer.dump(wanted, stream)
    return head + stream.getvalue()


def _synchronised(data: Any, wanted: Any) -> Any:
    """What ruamel read, with the values of `wanted` where they differ."""
    if not (isinstance(data, dict) and isinstance(wanted, dict)):
        return data if data == wanted and type(data) is not bool else wanted
    for key, value in wanted.items():
        data[key] = _synchronised(data[key], value) if key in data else value
    for key in [key for key in data if key not in wanted]:
        del data[key]
    return data
