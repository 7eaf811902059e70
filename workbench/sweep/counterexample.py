"""A counter-example as a case file: the case with what deviates put in, the controller's belief as it was, nothing else changed.

    plant.change.payload.mass: 87.5        the true machine
    controller.model.change.payload.mass   what the controller believed before, where it believes the plant otherwise
    scenario.offset.q_1, scenario.seed     start and noise
    scenario.reference, loop.delay         the path as it strays, the dead time

The file is read back and compared with the loop that violated, number by number, before it is handed out.
"""

from __future__ import annotations

import io
from collections.abc import Mapping

from workbench.cases.file import Case, loads
from workbench.cases.node import Node
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.contract.system import innermost
from workbench.run.provenance import described
from workbench.run.scenario import Scenario
from workbench.sweep.cases import LAYOUT
from workbench.sweep.places import node_of, placed
from workbench.verification.search.direction import Direction
from workbench.verification.search.directions import moved, written


def counterexample(case: Case, amounts: Mapping[Direction, float], why: str) -> str:
    """YAML text of the case at these values, `why` as its first lines.

    Raises InputError where no file gives the same loop and scenario to the last bit.
    """
    if case.root is None:
        raise InputError("a counter-example is written for a case that was read from a file")
    wanted = moved(case.loop, case.scenario, amounts)
    head = "".join(f"# {line}\n" for line in why.splitlines())
    for believed in (False, True):
        text = head + _dumped(_tree(case, amounts, believed).plain())
        try:
            found = loads(text, case.path)
        except InputError:
            continue
        if same(wanted, (found.loop, found.scenario)):
            return text
    raise InputError(
        f"{case.path or 'the case'}: no case file says what violates ({', '.join(d.name for d in amounts)})",
        mend="search over numbers that a file can change",
    )


def same(one: tuple[ClosedLoop, Scenario], other: tuple[ClosedLoop, Scenario]) -> bool:
    """Whether two runs have the same numbers: of plant, law and scenario."""
    return digest(one[0]) == digest(other[0]) and described(one[1]) == described(other[1])


def _tree(case: Case, amounts: Mapping[Direction, float], believed: bool) -> Node:
    """The case's file with the values put in by name, without the search.

    believed: the controller's model is written, too, where it was the plant itself.
    """
    tree = case.root
    places, numbers = written(case.loop, case.scenario, amounts)
    put = {"claims.falsify": False, **places}
    if believed:
        if "controller" not in tree.value:
            put["controller.law"] = type(innermost(case.controller)).__name__
        put |= {f"model.{path}": value for path, value in numbers.items()}
    for name, value in put.items():
        at = Node(value, tree.line, tree.column, tree.file)
        tree = placed(tree, name, node_of(value, at), LAYOUT)
    return tree


def _dumped(plain: object) -> str:
    """Plain data as YAML; numbers keep every digit."""
    from ruamel.yaml import YAML

    writer = YAML(typ="safe")
    writer.default_flow_style = None
    writer.allow_unicode = True
    writer.sort_base_mapping_type_on_output = False
    writer.width = 120
    stream = io.BytesIO()
    writer.dump(plain, stream)
    return stream.getvalue().decode()
