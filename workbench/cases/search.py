"""What a search for counter-examples may vary, checked at its lines when the file is read."""

from __future__ import annotations

from typing import Any

from workbench.cases.node import Node
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.run.scenario import Scenario


def check_search(claim: Any, node: Node, key: str, loop: ClosedLoop, scenario: Scenario) -> None:
    """InputError at the line of the name or number that cannot be; a claim without `over` is left to the command line."""
    from workbench.verification.search.directions import nothing_varies
    from workbench.verification.search.falsify import along

    inside = node.value if isinstance(node.value, dict) else {}
    if not claim.over:
        if "over" in inside:
            raise nothing_varies(loop.plant).at(file=node.file, line=inside["over"].line)
        return
    try:
        along(claim, loop, scenario)
    except InputError as why:
        over = inside.get("over", node)
        named = {**inside, **(over.value if isinstance(over.value, dict) else {})}
        where = named.get(why.key, over)
        path = f"{key}.{why.key}" if why.key in inside else f"{key}.over.{why.key}"
        raise where.error(why.message, key=path, mend=why.mend) from None
