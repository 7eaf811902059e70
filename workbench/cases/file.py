"""A case file (YAML) → a Case: plant, controller, loop, scenario, claims.

    plant: hiab-xs031                  # a shipped machine; or {machine: …, change: …, friction: …, lock: …}; or in full
    controller: {law: VDC, λ: 8 1/s, model: {change: {payload.mass: 175 kg}}}   # model: or another machine, or in full
    loop: {sample_time: 1 ms, delay: 0 ms, filter: …, noise: …, quantise: …, limit: 10 V, accuracy: 1e-9}
    scenario: {reference: {type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m]], leg: 5 s}, seed: 7}
    claims: {tracking: {error: 5 mm}, delay-limit: false}

Only `plant` is needed; what is left out is the plant's default. `claims` edits the default set: false takes one out,
options replace its options, true or options add one. Files hold data, never code. Everything unusable is an InputError
with file, line, key and how to mend it, also what only shows when the parts meet (a path out of reach, a signal nobody
measures).

Code that a file names (`law: Compiled`, `plant: {type: FMU, …}`) runs only where it is trusted (`workbench.contract.trust`).

The wrappers stand around the law in this order, from the law outwards: filter, quantise, noise, limit, sampling, delay.
So the noise is on the physical signal, the converter rounds it, and the law sees it filtered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from workbench.cases import form
from workbench.cases.build import build
from workbench.cases.claims import read_claims
from workbench.cases.compiled import is_compiled, read_compiled
from workbench.cases.controller import changed, read_controller
from workbench.cases.edit import located, placed
from workbench.cases.locked import locked
from workbench.cases.loop import accuracy, wrapped
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.refusals import unknown
from workbench.cases.scenario import default_scenario, read_scenario
from workbench.cases.yaml_input import parse, read_text
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError, short
from workbench.files.open_file import shown
from workbench.run.scenario import Scenario

Change = Callable[[Node, str], tuple[Node, str]]  # of a file's tree and text, before it is a case
LONGEST_TITLE = 300  # characters of a case's title that are shown


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A case file as objects, ready to run.

    controller   the law inside its wrappers (sampling, delay, filter, …)
    claims       what to verify
    provenance   path as in `parameters.leaves(loop)`, or of a whole vector → Provenance
    text         the file as it was read;  path  its name
    """

    name: str
    plant: Any
    controller: Any
    loop: ClosedLoop
    scenario: Scenario
    claims: tuple
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    path: str = ""
    root: Node | None = field(default=None, repr=False)

    @contextmanager
    def located(self, section: str = "scenario"):
        """Refusals inside that have no line get this file's name, and the line of what their key names, else of the section."""
        try:
            yield
        except (ValueError, ArithmeticError) as why:
            root = self.root or Node({"plant": Node({}, 0, 0, self.path)}, 0, 0, self.path)
            named = getattr(why, "key", None) or section
            node = root.below(named) or root.below(section) or root.value["plant"]
            raise placed(why, node, named if root.below(named) else section) from None


def load(path: str | os.PathLike, change: Change | None = None) -> Case:
    """Read a case file (YAML), with the files it names, and return the Case: its loop, scenario, claims, plant.

    path    the file
    change  (tree, text) as read → those to take instead, such as a file with one value exchanged

        case = fp.load("crane.yaml")
        verdicts = fp.verify(case.loop, case.scenario, case.claims)

    Raises InputError with file, line, key and how to mend it, for whatever in the file cannot be used.
    """
    return _case(read_text(path), shown(path), os.fspath(path), change)


def loads(text: str, path: str = "", change: Change | None = None) -> Case:
    """The case in a text; `path` is its name in messages, other files are looked for beside it.

    change: (tree, text) as read → those that are meant.
    """
    return _case(text, path, path, change)


def _case(text: str, name: str, path: str, change: Change | None) -> Case:
    root = parse(text, name)
    if change is not None:
        root, text = change(root, text)
    return case_of(root, text, path)


def case_of(root: Node, text: str, path: str) -> Case:
    """The case in a tree that was read from `text`."""
    sections = _sections(root)
    folder = Path(path).parent
    plant, provenance, sources = read_plant(sections["plant"], folder)
    provenance = {f"plant.{where}": origin for where, origin in provenance.items()}
    own = sections.get("controller")
    if is_compiled(own):
        controller = read_compiled(own, sections.get("loop"), folder)
    else:
        controller = read_controller(
            own,
            sections.get("loop"),
            plant,
            provenance,
            laws(),
            lambda node: read_plant(node, folder),
        )
    with located(sections.get("controller", sections["plant"]), "controller"):
        ClosedLoop(plant, controller)
    controller = wrapped(controller, sections.get("loop"), provenance)
    loop = ClosedLoop(plant, controller)
    if _given(sections.get("scenario")):
        scenario = read_scenario(sections["scenario"], loop, folder, provenance)
    else:
        scenario = default_scenario(loop)
    scenario = replace(scenario, accuracy=accuracy(sections.get("loop")))
    claims = read_claims(sections.get("claims"), loop, scenario, provenance)
    return Case(
        name=_title(sections.get("title"), plant),
        plant=plant,
        controller=controller,
        loop=loop,
        scenario=scenario,
        claims=claims,
        provenance=provenance,
        sources={**sources, **_sources(sections.get("sources"))},
        text=text,
        path=path,
        root=root,
    )


def _sections(root: Node) -> dict[str, Node]:
    """The sections of a file, of which the plant is one; InputError for what is none."""
    if not isinstance(root.value, dict):
        raise root.error(
            f"expected sections such as plant: and controller:, got {root.words}",
            mend="write 'plant: hiab-xs031' to begin with",
        )
    for key, child in root.value.items():
        if key not in form.SECTIONS:
            raise unknown(child, key, form.SECTIONS)
    if "plant" not in root.value:
        raise root.error(
            "there is no plant: section",
            key="plant",
            mend="add 'plant: hiab-xs031', or your own machine",
        )
    return root.value


def _given(node: Node | None) -> bool:
    return node is not None and node.value is not None


def _sources(node: Node | None) -> dict[str, str]:
    from plants.shipped import read_sources

    return read_sources(node)


def load_plant(given: str, change: Change | None = None) -> tuple[Any, str]:
    """(plant, title) in a file with a plant: section, or the shipped machine called so; nothing else of the file is read."""
    from plants.machine_files import machines

    shipped = not os.path.lexists(given) and given in machines()
    text = f"plant: {given}\n" if shipped else read_text(given)
    root = parse(text, shown(given))
    if change is not None:
        root, _ = change(root, text)
    if not isinstance(root.value, dict) or "plant" not in root.value:
        raise root.error(
            "there is no plant: section",
            key="plant",
            mend="write 'plant:' above the machine's keys, indented",
        )
    plant, _, _ = read_plant(root.value["plant"], Path(given).parent)
    return plant, _title(root.value.get("title"), plant)


def _title(node: Node | None, plant: Any) -> str:
    """The title that a file states, else the plant's name."""
    if _given(node):
        return short(build(str, node, "title"), LONGEST_TITLE)
    return plant.title


# ---- plans -------------------------------------------------------------------------------------------------
def plan_of(root: Node, path: str):
    """The `workbench.planning.case.PlanCase` in a tree that was read from the plan file `path`."""
    from plants.crane.planar import PlanarCrane, planar_crane
    from plants.crane.planar_whole import whole_crane
    from workbench.planning import case

    return case.plan_of(root, path, planar_crane, whole_crane, PlanarCrane)


def driver(task, name: str):
    """(plant on the task's supply, law called `name`) that drive a plan."""
    from plants.crane.load_sensing import on_supply
    from workbench.planning.driven import SETTINGS, check_task

    check_task(task)
    try:
        plant = on_supply(task.crane.machine, task.supply)
    except ValueError as why:
        if isinstance(why, InputError) and why.mend:
            raise
        raise InputError(
            f"the machine's pump cannot be that of the plan: {why}",
            key="supply",
            mend="a pump that follows its load needs a margin above zero",
        ) from None
    return plant, laws()[name](
        plant if plant.machine is None else plant.machine, **SETTINGS.get(name, {})
    )


# ---- plant -------------------------------------------------------------------------------------------------
def read_plant(
    node: Node, folder: Path, within: tuple[Path, ...] = ()
) -> tuple[Any, dict[str, Provenance], dict[str, str]]:
    """(plant, provenance, sources) of the plant section; within: the machines' files that are being read, the outermost first."""
    from plants.machine_files import machines
    from plants.shipped import build_plant, machine

    if isinstance(node.value, dict) and "machine" not in node.value and "type" in node.value:
        return *build_plant(node, folder), {}
    if isinstance(node.value, str):
        node = Node({"machine": node}, node.line, node.column, node.file)
    if not isinstance(node.value, dict) or "machine" not in node.value:
        raise node.error(
            "expected the name of a shipped machine, or a machine written out in full",
            key="plant",
            mend=f"write 'plant: {machines()[0]}', or 'type: Manipulator' and its keys below",
        )
    spec = build(form.Shipped, node, "plant")
    name = node.value["machine"]
    with located(name, "plant.machine"):
        own = spec.machine.endswith((".yaml", ".yml"))
        base = _own_machine(folder / spec.machine, within) if own else machine(spec.machine)
    plant, origins = changed(base.plant, node, "plant")
    provenance = {**base.provenance, **origins}
    if spec.lock:
        with located(node.value["lock"], "plant.lock"):
            plant, provenance = locked(plant, spec.lock, provenance)
    return plant, provenance, dict(base.sources)


def _own_machine(path: Path, within: tuple[Path, ...]) -> Any:
    """The machine in a file of its own, which may in turn change the one of another file."""
    from plants.machine_files import machine_sections
    from plants.shipped import Machine

    sections = machine_sections(path)
    place = path.resolve()  # a circle of links, of which there is no end, is no file
    if place in within:
        raise InputError(
            f"{path.name} takes its machine from itself",
            mend="name a shipped machine there, or write its keys",
        )
    plant, origins, sources = read_plant(sections["plant"], path.parent, (*within, place))
    named = _sources(sections.get("sources"))
    return Machine(plant, MappingProxyType(origins), MappingProxyType({**sources, **named}))


# ---- controller --------------------------------------------------------------------------------------------
def laws() -> dict[str, type]:
    """Name in a file → control law."""
    from controllers import LQR, MPC, PID, VDC, ForcePosition, OpenLoop

    known = (VDC, PID, MPC, LQR, ForcePosition, OpenLoop)
    return {cls.__name__: cls for cls in known}
