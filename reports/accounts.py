"""Tables of the chapter on valves: sections with their sizes, how long each valve was open, where the pump's energy went."""

from __future__ import annotations

import numpy as np

from reports.metering import course, states
from reports.valve_words import VALVES, behind, of, turns, words
from workbench.run.log import Log

from .tables import percent, quantity

SPENT = {
    "ph": "pump to head",
    "pr": "pump to rod",
    "th": "head to tank",
    "tr": "rod to tank",
    "a": "regeneration",
    "hR": VALVES["hR"],
    "rR": VALVES["rR"],
    "h_limits": "head relief and suction check",
    "r_limits": "rod relief and suction check",
}
DROP = 10e5  # Pa, at which the sizes of valves are given


def facts(log: Log | None, plant) -> dict:
    """Each section's sizes; each valve with its share of time and when it first opened; where the pump's energy went."""
    has = behind(plant)
    made = {
        "sections": sections(plant),
        "valves": [],
        "spent": [],
        "several": False,
        "kind": "" if has is None else has.balance,
        "regenerates": has is not None and any(has.regenerates),
    }
    if course(log, plant) is None:
        return made
    found = states(log, plant)
    total = float(log.time[-1] - log.time[0])
    for valve, is_open in found.open.items():
        first = quantity(float(found.t[is_open.argmax()]), "s", 4) if is_open.any() else "–"
        share = float(found.lasts[is_open].sum()) / total
        made["valves"].append(
            [words(plant, valve), percent(share) if is_open.any() else "never", first]
        )
    return made | {"spent": spent(log, plant), "several": len(has.names) > 1}


def sections(plant) -> list[list[str]]:
    """[cylinder, areas of head and rod side, their reliefs, flows of the four valves fully open at `DROP`]."""
    has = behind(plant)
    rows = []
    for title, s in zip(has.titles, has.circuit.sections) if has is not None else ():
        sizes = [
            quantity(1e6 * A, "1", 3) + "\u00a0cm³/rad" if turns(s) else quantity(A, "m^2", 3)
            for A in (s.A_h, s.A_r)
        ]
        limits = [quantity(P, "Pa", 3) for P in (s.P_hM, s.P_rM)]
        flows = [quantity(c * DROP**0.5, "m^3/s", 3) for c in (s.c_ph, s.c_pr, s.c_th, s.c_tr)]
        rows.append([title or ("motor" if turns(s) else "cylinder"), *sizes, *limits, *flows])
    return rows


def spent(log: Log, plant) -> list[list[str]]:
    """[where, energy, share of the pump's] of all that is not zero."""
    energy = energies(log, plant)
    pump = energy.get("given by the pump", 0.0)
    return [
        [where, quantity(E, "J", 3), percent(E / pump)]
        for where, E in energy.items()
        if pump > 0.0 and abs(E) > 1e-6 * pump
    ]


def energies(log: Log, plant) -> dict[str, float]:
    """Where → J over the run, the pump's first, which all others add up to; {} where the log has no account of the energy."""
    if behind(plant).balance == "all":
        return _balanced(log, plant)
    wanted = [f"E_{name}" for name in plant.power_names]
    if any(name not in log for name in wanted):
        return {}
    return _counted(log, plant)


def _balanced(log, plant) -> dict[str, float]:
    """Valve by valve at the rows of the log, where at every instant all that the pump gives is taken."""
    account = plant.valve_account(log)
    energy = {
        key: float(np.trapezoid(p, log.time)) for key, p in (account.law | account.work).items()
    }
    found = {
        "given by the pump": float(np.trapezoid(account.pump, log.time)),
        "bleed": energy["bleed"],
        "pump relief": energy["relief"],
    }
    has = behind(plant)
    return found | {
        of(what, title): energy[f"{key}_{name}"]
        for name, title in zip(has.names, has.titles)
        for key, what in {"rod": "work on the rod", **SPENT}.items()
        if f"{key}_{name}" in energy
    }


def _taken(log, name) -> float:
    """Energy that a logged cause took over the run, J."""
    return -float(np.diff(log.array(f"E_{name}")).sum())


def _common(log, plant) -> tuple[dict[str, float], list[float]]:
    """Pump, bleed, pump relief; work on each rod."""
    run = course(log, plant)
    found = {
        "given by the pump": -_taken(log, "pump"),
        "bleed": _taken(log, "bleed"),
        "pump relief": _taken(log, "relief"),
    }
    return found, [float(np.trapezoid(f * v, log.time)) for f, v in zip(run.f.T, run.v.T)]


def _closed(found, what) -> dict[str, float]:
    """With what is left of the pump's energy."""
    pump, *others = found.values()
    return found | {what: pump - sum(others)}


def _counted(log, plant) -> dict[str, float]:
    """Valve by valve, as the plant's own causes have it."""
    has = behind(plant)
    found, work = _common(log, plant)
    for name, title, W in zip(has.names, has.titles, work):
        found[of("work on the rod", title)] = W
        found |= {
            of(what, title): _taken(log, f"{key}_{name}")
            for key, what in SPENT.items()
            if f"{key}_{name}" in plant.power_names
        }
    stored = "the pump’s line" if has.balance == "chambers" else "the oil"
    return _closed(found, f"stored in {stored}")
