"""The controller's model beside the machine."""

from __future__ import annotations

from collections.abc import Mapping

from reports import parameter_tables, tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import model as drawn_model
from reports.style import clean
from workbench.contract.parameters import digest
from workbench.contract.system import innermost


class Belief(Chapter):
    name = "belief"
    analysis = {"model": "frequency and step responses of plant and model; where or why not"}

    def figures(self, content) -> Figures:
        compared = content.analysis.get("model")
        if not compared:
            return {}
        return {
            "model_bode": lambda: drawn_model.bode(compared),
            "model_steps": lambda: drawn_model.steps(compared),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        law = innermost(content.controller)
        compared = content.analysis.get("model")
        return belief(content.plant, law, content.origin, compared)


# That are printed.
EQUATIONS = (
    "IEHA",
    "LinearActuator",
    "FourBar",
    "Mechanism",
    "MeteredArms",
    "MeteredCrane",
    "MeteredTwin",
)


def equations(plant) -> str:
    """Name of the plant's equations in the templates, "" where there are none."""
    name = type(plant).__name__
    return name if name in EQUATIONS else ""


def belief(plant, controller, origin: Mapping, compared: Mapping | None) -> dict:
    """The controller's model beside the plant: numbers that differ, or the model itself where it is of another kind."""
    is_open = controller is not None and controller.open
    # An open loop's is asked nothing.
    model = None if is_open or controller is None else controller.model
    found = {
        "open": is_open,
        "plant_kind": clean(type(plant).__name__, 40),
        "equations": equations(plant),
        "mismatch": None,
        "assembled": clean("" if plant is None else plant.in_words, 600),
        "model": [],
        "model_kind": "",
        "model_equations": "",
        "comparison": None,
    }
    if compared:
        found["comparison"] = {
            key: tables.wrapped(compared.get(key, "")) for key in ("where", "why")
        }
    if model is None or plant is None:
        return found
    if type(model) is type(plant):
        return found | {
            "mismatch": parameter_tables.differing(model, plant, "")
            if digest(model) != digest(plant)
            else []
        }
    return found | {
        "model": parameter_tables.parameter_groups(model, origin, "controller.model."),
        "model_equations": equations(model),
        "model_kind": clean(type(model).__name__, 40),
    }
