"""The controller section of a case file: a law around its own model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from typing import Any

from workbench.cases import form, shape
from workbench.cases.build import build
from workbench.cases.edit import edited, placed
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.tuning import tuned_law
from workbench.contract.errors import InputError
from workbench.verification.linear.loop import is_linear

ALIKE = {"N": "horizon"}  # another word for a key
GONE = {"MeteredVDC": "write 'law: VDC', and k_m in place of k_x"}  # laws of earlier files
WORDS = {"True": "true", "False": "false", "None": "null"}


def read_controller(
    node: Node | None,
    loop: Node | None,
    plant: Any,
    provenance: dict[str, Provenance],
    laws: Mapping[str, type],
    read_plant: Callable,
) -> Any:
    """The law of the controller section around its own model; the plant's default when there is none.

    loop: the loop section, for laws designed for a sample time; read_plant: plant section → (plant, provenance, sources).
    """
    default = default_law(plant, laws)
    if not _given(node):
        return default(plant, **_suited(default, plant))
    node = _section(node, default)
    model = plant
    if _given(node.value.get("model")):
        model, origins = read_model(node.value["model"], plant, read_plant)
        provenance |= {f"controller.model.{path}": origin for path, origin in origins.items()}
    _check_there(node)
    forms = {form.law_form(cls, _units(cls, model, node)): cls for cls in laws.values()}
    found: dict[str, Provenance] = {}
    own = Node(
        {k: v for k, v in node.value.items() if k not in ("model", "tuning")},
        node.line,
        node.column,
        node.file,
    )
    made = build(reduce(or_, forms), own, "controller", found)
    provenance |= {
        f"controller.{path.removeprefix('controller.')}": origin for path, origin in found.items()
    }
    cls = forms[type(made)]
    given = {shape.canonical(type(made), key) for key in own.value}
    values = {f.name: getattr(made, f.name) for f in fields(made) if f.name != "model"}
    values |= {
        name: value
        for name, value in _suited(cls, model).items()
        if ALIKE.get(name, name) not in given
    }
    law = _built(cls, model, form.real(cls, values), node, loop, given)
    tuning = node.value.get("tuning")
    return tuned_law(law, tuning, loop, given, provenance) if _given(tuning) else law


def _section(node: Node, default: type) -> Node:
    """The controller section as a mapping that names its law, its keys spelled as the classes spell them."""
    inside = {"law": node} if isinstance(node.value, str) else node.value
    if not isinstance(inside, dict):
        raise node.error(
            f"expected a law and its gains, got {node.words}",
            key="controller",
            mend="write 'law: VDC'",
        )
    if not {"law", "type", "kind"} & inside.keys():
        inside = {"law": Node(default.__name__, node.line, node.column, node.file), **inside}
    return Node(_renamed(inside), node.line, node.column, node.file)


def default_law(plant: Any, laws: Mapping[str, type]) -> type:
    """VDC for a crane, and for a machine of bodies and drives that it can serve; PID else."""
    law = laws["VDC"]
    served = plant.demo_path is not None and law.unfit(plant) is None
    return law if plant.structures or served else laws["PID"]


def _check_there(node: Node) -> None:
    """InputError for a law that another has taken the place of."""
    key = next(key for key in ("law", "type", "kind") if key in node.value)
    written = node.value[key]
    if isinstance(written.value, str) and written.value in GONE:
        raise written.error(
            f"{written.value} is what VDC does on such a machine",
            key=f"controller.{key}",
            mend=GONE[written.value],
        )


def _given(node: Node | None) -> bool:
    return node is not None and node.value is not None


def _names(loop: Node | None, key: str) -> bool:
    return _given(loop) and isinstance(loop.value, dict) and key in loop.value


def _suited(cls: type, plant: Any) -> dict[str, Any]:
    return cls.suited(plant)


def _units(cls: type, model: Any, node: Node) -> tuple[tuple[str, str], ...]:
    """(field, unit) of a law whose units follow the plant's."""
    chosen = node.value.get("signals")
    words = chosen.plain() if _given(chosen) else ()
    named = [word for word in words if isinstance(word, str)] if isinstance(words, list) else ()
    return tuple(cls.units_on(model, named).items())


def _renamed(inside: Mapping[str, Node]) -> dict[str, Node]:
    for old, new in ALIKE.items():
        if old in inside and new in inside:
            raise inside[old].error(
                f"{old} is given already, as {new}",
                key=f"controller.{old}",
                mend="keep one of them",
            )
    return {ALIKE.get(key, key): child for key, child in inside.items()}


def read_model(node: Node, plant: Any, read_plant: Callable) -> tuple[Any, dict[str, Provenance]]:
    """What the controller believes: the plant with changes, another machine, or a plant written out."""
    if isinstance(node.value, dict) and not {"machine", "type"} & node.value.keys():
        build(form.Model, node, "controller.model")  # refuses keys it does not know
        return changed(plant, node, "controller.model")
    try:
        return read_plant(node)[:2]
    except InputError as why:
        key = re.sub(r"^plant", "controller.model", why.key or "plant")
        raise InputError(
            why.message, file=why.file, line=why.line, key=key, mend=why.mend
        ) from None


def _built(cls: type, model: Any, values: dict, node: Node, loop: Node | None, given: set) -> Any:
    """The law; its refusals at the line of the key they speak of."""
    known = {f.name for f in fields(cls)}
    try:
        if why := cls.unfit(model):
            raise why
        if "T_s" in known and ("T_s" not in values or _names(loop, "sample_time")):
            values["T_s"] = sample_time(cls, loop)
            if "N" in values and "horizon" not in given:
                values["N"] = cls.horizon(values["T_s"]) if model.structures else values["N"]
        if "delay" in known and "delay" not in given and _names(loop, "delay"):
            values["delay"] = build(form.Loop, loop, "loop").delay
        return cls.design(model, **values)
    except (ValueError, ArithmeticError) as why:
        raise _blamed(why, cls, model, node) from None


def sample_time(cls: type, loop: Node | None) -> float:
    """The loop's sample time, for a law that is designed for one."""
    spec = build(form.Loop, loop if _given(loop) else Node({}, 0), "loop")
    if spec.sample_time == "continuous":
        raise InputError(
            f"{cls.__name__}: is designed for a sample time, and the loop is continuous",
            mend="give the loop a sample_time, like 2 ms",
        )
    return spec.sample_time


def _blamed(why: Exception, cls: type, model: Any, node: Node) -> InputError:
    """A refusal at the key it names, if the file has that; without a model of its own, that may be what is missing."""
    message = why.message if isinstance(why, InputError) else str(why)
    words = {ALIKE.get(w, w): None for w in re.findall(r"\w+", message)}
    own = [key for key in node.value if key not in ("law", "type", "kind", "model")]
    quoted = re.findall(r"'([^']+)'", message)
    key = next((w for w in words if w in own), "") or next(
        (
            key
            for key in own
            for word in quoted
            if word in re.findall(r"\w+", str(node.value[key].plain()))
        ),
        "",
    )
    error = placed(why, node.value.get(key, node), f"controller.{key}" if key else "controller")
    mend = in_yaml(error.mend)
    elsewhere = isinstance(why, InputError) and str(why.key).startswith("loop")
    if (
        cls.__name__ in ("MPC", "LQR")
        and not _given(node.value.get("model"))
        and not key
        and "depends on time" not in message
        and not elsewhere
        and not is_linear(model)
    ):
        such = f", such as 'model: {{machine: {model.linear_twin}}}'" if model.linear_twin else ""
        mend = (
            f"give it a model that is linear at rest (this one is the {type(model).__name__} itself){such}"
            + ", or "
            + (
                "relinearise: true"
                if cls.__name__ == "MPC"
                else "a law that needs none: MPC with relinearise: true, PID"
            )
            + (f"; or: {mend}" if mend else "")
        )
    return InputError(
        in_yaml(error.message), file=error.file, line=error.line, key=error.key, mend=mend
    )


def in_yaml(text: str) -> str:
    """Python arguments as a file has them: observer=Observer(σ_y=…) is observer: {σ_y: …}, relinearise=True relinearise: true."""
    text = re.sub(
        r"(\w+)=\w+\(([^()]*)\)", lambda m: f"{m[1]}: {{{m[2].replace('=', ': ')}}}", text
    )
    text = re.sub(r"(\w+)=\(([^()]*)\)", lambda m: f"{m[1]}: [{m[2].rstrip(', ')}]", text)
    text = re.sub(r"(\w+)=['\"](\w+)['\"]", r"\1: \2", text)
    return re.sub(
        r"\b(\w+)=(True|False|None|[\d.e+-]+)", lambda m: f"{m[1]}: {WORDS.get(m[2], m[2])}", text
    )


def changed(plant: Any, node: Node, key: str) -> tuple[Any, dict[str, Provenance]]:
    """`plant` with the section's `change:` and `friction:`, and where the new numbers come from."""
    given = node.value.get("change")
    rub = node.value.get("friction")
    changes = given.value if _given(given) else {}
    origins = {}
    if _given(rub):
        laws = (
            {f"{name}.cylinder.friction": law for name, law in rub.value.items()}
            if _by_name(rub)
            else {"all.friction": rub}
        )
        plant, origins = edited(
            plant, laws, lambda name: f"{key}.friction.{name.split('.')[0]}".removesuffix(".all")
        )
    plant, more = edited(plant, changes, lambda name: f"{key}.change.{name}")
    return plant, {**origins, **more}


def _by_name(node: Node) -> bool:
    """Whether a friction section names cylinders, instead of one law for all of them."""
    return isinstance(node.value, dict) and not {"law", "type", "kind"} & node.value.keys()
