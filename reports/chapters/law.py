"""The law's argument, and how it was checked."""

from __future__ import annotations

from reports import parameter_tables, tables
from reports.chapters.chapter import Chapter
from reports.style import clean
from workbench.contract.capabilities import Predictive
from workbench.contract.system import innermost


class Law(Chapter):
    name = "law"
    analysis = {"hypotheses": "(text, whether it is met), of the predictive controller's argument"}

    def rows(self, content, drawn: list[str]) -> dict:
        law = innermost(content.controller)
        met = {True: "met", False: "not met"}
        return {
            "law": type(law).__name__ if law is not None else "",
            "theory": theory(law),
            "hypotheses": [
                [clean(text, 200), met[bool(holds)]]
                for text, holds in content.analysis.get("hypotheses") or ()
            ],
            "options": options(law),
            "options_of_plant": options(content.plant),
            "facts": facts(law),
        }


THEORY = {  # law → page with its argument
    "VDC": "vdc",
    "PID": "pid",
    "MPC": "mpc",
    "ForcePosition": "force-position",
}


def theory(law) -> str:
    """Name of the page with a law's argument. Virtual decomposition control has three: the paper's for a crane behind servo
    valves, one for metering valves, and one for any other machine."""
    page = THEORY.get(type(law).__name__, "")
    if page != "vdc" or law.model.structures:
        return page
    return "machine-vdc" if law.machine.valves is None else "metered-vdc"


def options(obj) -> dict[str, str]:
    """Options in words of a law or plant: name → choice."""
    return (
        {clean(name, 40): clean(value, 40) for name, value in parameter_tables.choices(obj, "")}
        if obj is not None
        else {}
    )


def facts(controller) -> dict:
    """What the page on predictive control says of this one."""
    if not isinstance(controller, Predictive):
        return {}
    known = "".join(f" and {clean(name, 40)}" for name in controller.known)
    be, come = ("are", "they come") if known else ("is", "it comes")
    ahead = f"The reference{known} {be} known " + (
        f"{controller.ahead} samples ahead."
        if controller.ahead
        else f"only as {come}: the present value stands for the future."
    )
    return {
        "N": str(controller.N),
        "T_s": tables.quantity(controller.T_s, "s"),
        "observer": controller.observer is not None,
        "relinearise": bool(controller.relinearise),
        "preview": ahead,
    }
