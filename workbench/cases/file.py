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

The wrappers stand around the law in this order, from the law outwards: filter, quantise, noise, limit, sampling, delay.
So the noise is on the physical signal, the converter rounds it, and the law sees it filtered.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from workbench.cases import form
from workbench.cases.build import Provenance, build, unknown
from workbench.cases.controller import changed, read_controller
from workbench.cases.edit import located
from workbench.cases.loop import accuracy, wrapped
from workbench.cases.node import Node
from workbench.cases.scenario import default_scenario, read_scenario
from workbench.cases.yaml_input import parse, read_text
from workbench.contract.capabilities import Lockable
from workbench.contract.errors import InputError, short
from workbench.contract.parameters import leaves
from workbench.contract.system import ClosedLoop
from workbench.files.open_file import shown
from workbench.run.scenario import Scenario

LONGEST_TITLE = 300  # characters of a case's title that are shown


@final
@dataclass(frozen=True, eq=False)
class Case:
    """What a file says, ready to run.

    controller   wrapped: the law is innermost
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

    def located(self):
        """Context in which refusals that have no place get this file's name and the scenario's line."""
        node = (
            self.root.value.get("scenario", self.root.value["plant"])
            if self.root
            else Node({}, 0, 0, self.path)
        )
        return located(node, "scenario")


def load(path: str | os.PathLike) -> Case:
    """The case in a file. Raises InputError, see the module."""
    text = read_text(path)
    return case_of(parse(text, shown(path)), text, os.fspath(path))


def loads(text: str, path: str = "") -> Case:
    """The case in a text; `path` is its name in messages, other files are looked for beside it."""
    return case_of(parse(text, path), text, path)


def case_of(root: Node, text: str, path: str) -> Case:
    """The case in a tree that was read from `text`."""
    if not isinstance(root.value, dict):
        raise root.error(
            f"expected sections such as plant: and controller:, got {root.words}",
            mend="write 'plant: hiab-xs031' to begin with",
        )
    sections = root.value
    for key, child in sections.items():
        if key not in form.SECTIONS:
            raise unknown(child, key, form.SECTIONS)
    if "plant" not in sections:
        raise root.error(
            "there is no plant: section",
            key="plant",
            mend="add 'plant: hiab-xs031', or your own machine",
        )
    folder = Path(path).parent
    plant, provenance, sources = read_plant(sections["plant"], folder)
    provenance = {f"plant.{where}": origin for where, origin in provenance.items()}
    controller = read_controller(
        sections.get("controller"),
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
        _title(sections.get("title"), plant),
        plant,
        controller,
        loop,
        scenario,
        claims,
        provenance,
        {**sources, **_sources(sections.get("sources"))},
        text,
        path,
        root,
    )


def _given(node: Node | None) -> bool:
    return node is not None and node.value is not None


def _sources(node: Node | None) -> dict[str, str]:
    from plants.shipped import read_sources

    return read_sources(node)


def load_plant(given: str) -> tuple[Any, str]:
    """(plant, title) in a file with a plant: section, or the shipped machine called so; nothing else of the file is read."""
    from plants.shipped import machine, machines

    if not os.path.lexists(given) and given in machines():
        plant = machine(given).plant
        return plant, plant.name
    root = parse(read_text(given), shown(given))
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
    from plants.planar_crane import PlanarCrane, planar_crane
    from plants.planar_whole import whole_crane
    from workbench.planning import case

    return case.plan_of(root, path, planar_crane, whole_crane, PlanarCrane)


def driver(task, name: str):
    """(plant on the task's supply, law called `name`) that drive a plan."""
    from plants.load_sensing import on_supply
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
def read_plant(node: Node, folder: Path) -> tuple[Any, dict[str, Provenance], dict[str, str]]:
    """(plant, provenance, sources) of the plant section."""
    from plants.shipped import build_plant, machine, machines, read_machine

    if isinstance(node.value, dict) and "machine" not in node.value and "type" in node.value:
        return *build_plant(node), {}
    if isinstance(node.value, str):
        node = Node({"machine": node}, node.line, node.column, node.file)
    if not isinstance(node.value, dict) or "machine" not in node.value:
        raise node.error(
            "expected the name of a shipped machine, or a machine written out in full",
            key="plant",
            mend=f"write 'plant: {machines()[0]}', or 'type: Manipulator' and its keys below",
        )
    spec, name = build(form.Shipped, node, "plant"), node.value["machine"]
    with located(name, "plant.machine"):
        own = spec.machine.endswith((".yaml", ".yml"))
        base = read_machine(folder / spec.machine) if own else machine(spec.machine)
    plant, origins = changed(base.plant, node, "plant")
    provenance = {**base.provenance, **origins}
    if spec.lock:
        with located(node.value["lock"], "plant.lock"):
            plant, provenance = locked(plant, spec.lock, provenance)
    return plant, provenance, dict(base.sources)


def locked(plant: Any, at: Mapping[str, float], provenance: Mapping[str, Provenance]):
    """The plant with prismatic segments frozen, and the provenance of what is left of it."""
    if not isinstance(plant, Lockable):
        raise InputError(f"lock: a {type(plant).__name__} has nothing to lock", mend="remove lock:")
    before = dict(_values(plant))
    plant = plant.locked(**at)
    note = "with " + ", ".join(f"{name} locked at {value:g} m" for name, value in at.items())
    kept = {}
    for path, value in _values(plant):
        if before.get(path) != value:
            kept[path] = Provenance("D", note=note)
        elif path in provenance:
            kept[path] = provenance[path]
    return plant, kept


def _values(plant):
    """(path, value) of every number, vectors whole."""
    whole: dict[str, tuple] = {}
    for leaf in leaves(plant):
        stem, _, last = leaf.path.rpartition(".")
        path = stem if last.isdigit() else leaf.path
        whole[path] = (*whole.get(path, ()), leaf.value)
    return whole.items()


# ---- controller --------------------------------------------------------------------------------------------
def laws() -> dict[str, type]:
    """Name in a file → control law."""
    from controllers import LQR, MPC, PID, VDC, ForcePosition, MachineVDC, MeteredVDC, OpenLoop

    known = (VDC, MachineVDC, PID, MPC, LQR, ForcePosition, MeteredVDC, OpenLoop)
    return {cls.__name__: cls for cls in known}


# ---- claims ------------------------------------------------------------------------------------------------
def read_claims(
    node: Node | None, loop: ClosedLoop, scenario: Scenario, provenance: dict[str, Provenance]
) -> tuple:
    """The default claims, edited by the claims section.

    A section that states a claim asks for what it says, of an open loop its requirements alone: what could not be asked is then
    told for information.
    """
    from workbench.verification import default_claims
    from workbench.verification.claims import Claim
    from workbench.verification.ledger import has_ledger
    from workbench.verification.linear_claims import check_asked
    from workbench.verification.requirements import in_si
    from workbench.verification.run_claims import Unasked

    chosen = {type(claim): claim for claim in default_claims(loop, scenario)}
    if not _given(node):
        return tuple(chosen.values())
    names = form.claim_names(Claim)
    if not isinstance(node.value, dict):
        raise node.error(
            f"expected claims and their options, got {node.words}",
            key="claims",
            mend="write 'tracking: {error: 5 mm}' below it, indented",
        )
    needs_ledger = {names[n] for n in ("identity", "power-flows", "hypotheses", "inequality")}
    for written, child in node.value.items():
        name = form.kebab(written).replace("_", "-")
        if name not in names:
            raise unknown(child, written, names, "claims", "claim")
        cls, key = names[name], f"claims.{written}"
        if child.value is False:
            chosen.pop(cls, None)
            continue
        if cls in needs_ledger and not has_ledger(loop):
            raise child.error(
                "this controller states no accompanying function to ask that of",
                key=key,
                mend="ask it of a VDC loop, or remove this line",
            )
        plain = (
            Node({}, child.line, child.column, child.file) if child.value in (True, None) else child
        )
        chosen[cls] = build(cls, plain, key, provenance)
        with located(child, key):
            check_asked(chosen[cls], loop)
            chosen[cls] = in_si(chosen[cls], loop)
    states_one = any(child.value is not False for child in node.value.values())
    if Unasked in chosen and states_one:
        chosen[Unasked] = replace(chosen[Unasked], counted=False)
    if not chosen:
        raise node.error(
            "every claim is taken out; nothing is left to verify",
            key="claims",
            mend="keep at least one",
        )
    return tuple(chosen.values())
