"""Where the pump's power goes in a run of metered arms, valve by valve.

    Q P = Σ_j f_j v_j + Q_b P + Q_M P + Σ_j [Q_ph (P − P_h) + Q_pr (P − P_r) + Q_th P_h + Q_tr P_r + Q_ho P_h + Q_ro P_r]

Q_M: the pump's relief; Q_ho, Q_ro: the chambers' reliefs (suction checks pass oil at no pressure and cost nothing).
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.circuit import Openings
from plants.valve_circuits.solve import operating
from workbench.errors import InputError

_VALVES = ("ph", "pr", "th", "tr", "hR", "rR")


def valve_powers(plant, log, every: int = 1) -> dict[str, np.ndarray]:
    """Powers [W] at every `every`-th instant of a log of a `MeteredArms`: "t" [s], "pump", "bleed", "pR", and for each arm "rod_…"
    (f v) and its valves "ph_…", "pr_…", "th_…", "tr_…", "hR_…", "rR_…". The pump's is the sum of all others.

    The log must have v and f of every arm (one from `simulate` does), a command it has not was 0; raises InputError where not.
    """
    wanted = [f"{key}_{name}" for name in plant.names for key in ("v", "f")]
    lacking = [name for name in wanted if name not in log]
    if lacking:
        raise InputError(f"the log has no {', '.join(lacking)}", mend="give the log of a run of this plant, with its monitors")
    v, f, u_c = (np.stack([_column(log, f"{key}_{name}")[::every] for name in plant.names], -1) for key in ("v", "f", "u_c"))
    keys = ("pump", "bleed", "pR", *(f"{valve}_{name}" for name in plant.names for valve in ("rod", *_VALVES)))
    found = {key: np.zeros(len(v)) for key in keys}
    for i, (w, g, u) in enumerate(zip(v, f, np.clip(u_c, -1.0, 1.0))):
        at = operating(plant.circuit, tuple(Openings.command(float(c)) for c in u), plant.u_b, w, g)
        P = at.P.high
        found["pump"][i], found["bleed"][i], found["pR"][i] = plant.pump.Q * P, at.Q_b * P, at.Q_M * P
        for name, s, own, force in zip(plant.names, at.sections, w, g):
            h, r = s.P_h.high, s.P_r.high
            taken = (force * own, s.Q_ph * (P - h), s.Q_pr * (P - r), s.Q_th * h, s.Q_tr * r, s.Q_ho * h, s.Q_ro * r)
            for valve, power in zip(("rod", *_VALVES), taken):
                found[f"{valve}_{name}"][i] = power
    return {"t": log.time[::every], **found}


def _column(log, name: str) -> np.ndarray:
    return log.array(name) if name in log else np.zeros(len(log.time))
