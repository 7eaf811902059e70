"""What the templates say of an actuator's loop: belief and machine, tracking, limits, solver, options of the law."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.contract.capabilities import Predictive
from workbench.contract.parameters import digest

from . import tables
from .style import clean

EQUATIONS = (
    "IEHA",
    "LinearActuator",
    "FourBar",
    "Mechanism",
    "MeteredArms",
    "MeteredCrane",
    "MeteredTwin",
)  # that are printed


def equations(plant) -> str:
    """Name of the plant's equations in the templates, "" where there are none."""
    name = type(plant).__name__
    return name if name in EQUATIONS else ""


def belief(plant, controller, origin: Mapping, compared: Mapping | None) -> dict:
    """The controller's model beside the plant: numbers that differ, or the model itself where it is of another kind."""
    is_open = controller is not None and controller.open
    model = (
        None if is_open or controller is None else controller.model
    )  # an open loop's is asked nothing
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
            "mismatch": tables.differing(model, plant, "") if digest(model) != digest(plant) else []
        }
    return found | {
        "model": tables.parameter_groups(model, origin, "controller.model."),
        "model_equations": equations(model),
        "model_kind": clean(type(model).__name__, 40),
    }


def loop(plant, controller, analysis: Mapping) -> dict:
    """Rows and sentences of the chapters on the run."""
    tracked, regions = analysis.get("tracking") or {}, analysis.get("region") or ()
    limits = analysis.get("limits") or ()
    met = {True: "met", False: "not met"}
    return {
        "supply": plant is not None and isinstance(plant.p_s, float),
        "loaded": bool(tracked.get("disturbances")),
        "load": load_rows(tracked, analysis.get("previews") or {}),
        "limits": [limit_row(entry) for entry in limits],
        "at_limits": at_limits(limits) if limits else "",
        "solver": solver(analysis.get("solver")),
        "hypotheses": [
            [clean(text, 200), met[bool(holds)]] for text, holds in analysis.get("hypotheses") or ()
        ],
        "options": options(controller),
        "options_of_plant": options(plant),
        "facts": facts(controller),
        "regions": len(regions),
        "region_kinds": ", ".join(dict.fromkeys(clean(r.get("kind") or "", 60) for r in regions)),
        "criterion": clean((analysis.get("sector") or {}).get("criterion", ""), 20),
    }


def load_rows(tracked: Mapping, previews: Mapping) -> list[list[str]]:
    """[output, rms, largest, at, rms and largest of the run that sees nothing ahead]."""
    rows = []
    for entry in tracked.get("outputs", ()):
        blind = previews.get(entry["name"])
        rows.append(
            [
                clean(entry["name"], 40),
                *(tables.quantity(entry[k], entry["unit"], 3) for k in ("rms", "largest")),
                "t = " + tables.quantity(entry["at"], "s", 4),
                *(
                    tables.quantity(blind[k], entry["unit"], 3) if blind else ""
                    for k in ("rms", "largest")
                ),
            ]
        )
    return rows


def limit_row(entry: Mapping) -> list[str]:
    """[signal, kind, limits, largest value in the run, share of time at it]."""
    import numpy as np

    seen = entry["value"][np.isfinite(entry["value"])]
    largest = float(seen[np.abs(seen).argmax()]) if seen.size else float("nan")
    kind = {"command": "command", "slew": "rate of change", "output": "output"}[entry["kind"]]
    unit, kind = entry["unit"], kind + (", soft" if entry["soft"] else "")
    return [
        clean(entry["name"], 40),
        kind,
        tables.range_of(entry["low"], entry["high"], unit),
        tables.quantity(largest, unit, 3),
        tables.percent(entry["share"]) if entry["share"] else "never",
    ]


def at_limits(entries) -> str:
    """One sentence on the limits in the run."""
    at = [e for e in entries if e["share"]]
    if not at:
        return "no limit was reached."
    return (
        "; ".join(
            f"{clean(e['name'], 40)}{' (rate of change)' if e['kind'] == 'slew' else ''} at its limit "
            f"{tables.percent(e['share'])} of the time"
            for e in at
        )
        + "."
    )


def solver(data: Mapping | None) -> dict | None:
    """A sentence on the solver, and whether anything was not solved."""
    if not data:
        return None
    n, most = len(data["t"]), int(max(data["iterations"]))
    tries = f"at most {most} iteration{'s' if most > 1 else ''}"
    if not data["events"]:
        active = int(max(data["active"]))
        limits = (
            f"at most {active} limit{'s' if active > 1 else ''} active"
            if active
            else "no limit active"
        )
        return {
            "text": f"All {n} samples were solved to optimality, with {tries}, {limits}.",
            "events": False,
        }
    what = ", ".join(f"{clean(name, 60)}: {len(t)}" for name, t in data["events"].items())
    share = tables.percent(data["optimal"], 4)
    return {
        "text": f"{share} of {n} samples were solved to optimality, with {tries}; {what}.",
        "events": True,
    }


def options(obj) -> dict[str, str]:
    """Options in words of a law or plant: name → choice."""
    return (
        {clean(name, 40): clean(value, 40) for name, value in tables.choices(obj, "")}
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
