"""Where the pump's power goes in a run, valve by valve, twice: as the model accounts for it, and by each valve's own law.

    Q P = Σ_j f_j v_j + Q_b P + Q_M P
          + Σ_j [Q_ph (P − P_h) + Q_pr (P − P_r) + Q_th P_h + Q_tr P_r + Q_a (P_r − P_h) + Q_ho P_h + Q_ro P_r]

Q_M: the pump's relief; Q_ho, Q_ro: the chambers' reliefs (suction checks pass oil at no pressure and cost nothing).

By law: an orifice takes k |Δp|^1.5 at the pressures of the log, a relief what the oil balance of its chamber leaves it, and only
where the pressure is at its limit. So a valve that is left out, has the wrong sign or another coefficient shows by itself, and oil
that is nobody's shows as a gap. Sections are those of `Circuit.rows`; all arrays are (N,), one number an instant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components.orifice import root as smooth_root
from plants.valve_circuits.circuit import Openings
from plants.valve_circuits.crossed import passed
from plants.valve_circuits.diagnosis import Suspect, suspects
from plants.valve_circuits.roots import resolve
from workbench.contract.errors import InputError
from workbench.contract.system import controls, names
from workbench.run.log import column

_VALVES = ("ph", "pr", "th", "tr", "a", "hR", "rR")
_EDGE = 1e-6  # of a relief's pressure: nearer than that counts as at it
_SHUT = 1e-12  # of Q: a rod that moves less oil stands
_COUNTED = 1e-3  # of the pump's energy: what an element's energy over a run may be off by
_MOST = 300  # instants at which arms are solved for once more


class Section(NamedTuple):
    """One section along a run: its row, velocity [m/s] and force [N] of its rod, pressures of its chambers [Pa]."""

    row: list
    v: np.ndarray
    f: np.ndarray
    P_h: np.ndarray
    P_r: np.ndarray


class Flows(NamedTuple):
    """Through the valves of one section, m³/s; Q_ho, Q_ro out through reliefs, negative in through suction checks. P_c: behind the
    pump's check, Pa."""

    Q_ph: np.ndarray
    Q_pr: np.ndarray
    Q_th: np.ndarray
    Q_tr: np.ndarray
    Q_a: np.ndarray
    Q_ho: np.ndarray
    Q_ro: np.ndarray
    P_c: np.ndarray


class ValveAccount(NamedTuple):
    """At times t [s], powers in W: the pump's, what valves take by their laws, work on the rods, d(energy of oil)/dt; `given`: what
    the model says that valves take, at the instants `at`. `drawn`: chamber → oil its suction check lets in, m³/s; `ranges`: chamber
    → least and greatest pressure that balance, Pa. `suspects`: elements that do not do what their characteristics say;
    `counted`: those whose energy the run counted otherwise."""

    t: np.ndarray
    pump: np.ndarray
    law: dict[str, np.ndarray]
    work: dict[str, np.ndarray]
    stored: np.ndarray
    at: np.ndarray
    given: dict[str, np.ndarray]
    drawn: dict[str, np.ndarray]
    ranges: dict[str, tuple[np.ndarray, np.ndarray]]
    suspects: tuple[Suspect, ...] = ()
    counted: tuple[Suspect, ...] = ()

    @property
    def gap(self) -> np.ndarray:
        """What the pump gives and nothing takes, W."""
        return self.pump - sum(self.law.values()) - sum(self.work.values()) - self.stored


# ---- by law ---------------------------------------------------------------------------------------------------------
def _signed(x):
    return np.sign(x) * np.sqrt(np.abs(x))


def section_flows(s: Section, P) -> Flows:
    """By the orifices' laws and the chambers' oil balances, whichever way the section is open."""
    _, _, _, _, k_ph, k_pr, k_th, k_tr, k_a = s.row
    a, b = np.square(k_ph), np.square(k_pr)
    both = (a > 0) & (b > 0)  # else no rounding: orifices are steep at no drop
    meet = np.where(
        both,
        (a * s.P_h + b * s.P_r) / np.where(both, a + b, 1.0),
        np.where(a > 0, s.P_h, np.where(b > 0, s.P_r, P)),
    )
    P_c = np.maximum(P, meet)  # the check is shut where no flow through it needs more than P
    q_ph, q_pr, q_th, q_tr = (
        k_ph * _signed(P_c - s.P_h),
        k_pr * _signed(P_c - s.P_r),
        k_th * _signed(s.P_h),
        k_tr * _signed(s.P_r),
    )
    q_a = k_a * np.sqrt(np.maximum(s.P_r - s.P_h, 0.0))
    return Flows(
        q_ph,
        q_pr,
        q_th,
        q_tr,
        q_a,
        q_ph - q_th + q_a - s.row[0] * s.v,
        q_pr - q_tr - q_a + s.row[1] * s.v,
        P_c,
    )


def _losses(s: Section, q: Flows) -> dict[str, np.ndarray]:
    """valve → W; a relief takes something at its limit only."""
    open_h, open_r = s.P_h >= s.row[2] * (1 - _EDGE), s.P_r >= s.row[3] * (1 - _EDGE)
    return {
        "ph": q.Q_ph * (q.P_c - s.P_h),
        "pr": q.Q_pr * (q.P_c - s.P_r),
        "th": q.Q_th * s.P_h,
        "tr": q.Q_tr * s.P_r,
        "a": q.Q_a * (s.P_r - s.P_h),
        "hR": np.where(open_h, q.Q_ho * s.P_h, 0.0),
        "rR": np.where(open_r, q.Q_ro * s.P_r, 0.0),
    }


def _drawn(s: Section, q: Flows) -> tuple[np.ndarray, np.ndarray]:
    """Oil through the suction checks of head and rod side: what a chamber at the tank's pressure is short of."""
    return tuple(
        np.where(p <= top * _EDGE, np.maximum(-Q, 0.0), 0.0)
        for p, top, Q in ((s.P_h, s.row[2], q.Q_ho), (s.P_r, s.row[3], q.Q_ro))
    )


def open_ranges(s: Section, P, Q: float):
    """Least and greatest P_h, and P_r, that balance: one number each while the rod moves. A standing rod leaves them open up to the
    reliefs: a chamber open to the tank is at its pressure, one open to the pump at no less than the pump's, and f is known."""
    A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, _ = s.row
    crossed = ((k_ph > 0) & (k_th > 0)) | (
        (k_pr > 0) & (k_tr > 0)
    )  # the pump's oil runs through a chamber: it is determined
    stands = (np.abs(s.v) * max(A_h, A_r) <= _SHUT * Q) & ~crossed
    h = np.where(k_ph > 0, np.minimum(P, P_hM), 0.0), np.where(k_th > 0, 0.0, P_hM)
    r = np.where(k_pr > 0, np.minimum(P, P_rM), 0.0), np.where(k_tr > 0, 0.0, P_rM)
    heads = [
        np.where(stands, np.clip((s.f + A_r * e) / A_h, h[0], np.maximum(*h)), s.P_h) for e in r
    ]
    rods = [
        np.where(stands, np.clip((A_h * e - s.f) / A_r, r[0], np.maximum(*r)), s.P_r) for e in h
    ]
    rounded = lambda p, top: np.where(np.abs(p) < 1e-12 * top, 0.0, p)
    return [
        (rounded(np.minimum(low, p), top), np.maximum(high, p))
        for (low, high), p, top in ((heads, s.P_h, P_hM), (rods, s.P_r, P_rM))
    ]


# ---- plants ---------------------------------------------------------------------------------------------------------
def columns(log, signals) -> list[np.ndarray]:
    """Signals of the log, in order."""
    return [column(log, name) for name in names(signals)]


def of_arms(plant, log) -> ValveAccount:
    """Of a run of `MeteredArms`: the model's account is `valve_powers`, which solves for the pressures once more."""
    _needed(log, [f"{key}_{n}" for n in plant.names for key in ("v", "f", "P_h", "P_r")])
    P, given = column(log, "P"), columns(log, controls(plant))
    rows = own_rows(plant.circuit, given[: len(plant.arms)], plant.regeneration(given))
    sections = {
        n: Section(row, *(log.array(f"{key}_{n}") for key in ("v", "f", "P_h", "P_r")))
        for n, row in zip(plant.names, rows)
    }
    Q, P_M, k_b = plant.supply
    flows = {n: section_flows(s, P) for n, s in sections.items()}
    Q_M = (
        Q
        - k_b * np.sqrt(np.maximum(P, 0.0))
        - sum(np.maximum(q.Q_ph + q.Q_pr, 0.0) for q in flows.values())
    )
    law = {
        "bleed": k_b * np.maximum(P, 0.0) ** 1.5,
        "pR": np.where(P >= P_M * (1 - _EDGE), Q_M * P, 0.0),
    }
    every = max(1, -(-len(log.time) // _MOST))
    given = valve_powers(plant, log, every)
    return _quasistatic(
        log.time,
        Q * P,
        sections,
        flows,
        law,
        np.zeros(len(log.time)),
        np.arange(0, len(log.time), every),
        {k: p for k, p in given.items() if k not in ("t", "pump") and not k.startswith("rod_")},
        P,
        Q,
        suspects(log.time, sections, flows, plant.supply, P, held=False),
    )


def of_crane(plant, log) -> ValveAccount:
    """Of a run of `MeteredCrane`: the model's account is `powers`, which joins valves by where they stand, in and out."""
    _needed(log, [f"{key}_{k}" for k in plant.labels for key in ("f", "P_h", "P_r")])
    x, u = columns(log, plant.states), columns(log, plant.inputs)
    m, P = plant.motion(x, u), x[3 * plant.n]
    rows, sections = own_rows(plant.circuit, u[: plant.n], [0.0] * plant.n), {}
    for k, row, v, f, K in zip(plant.labels, rows, m.v, m.f, plant.stiffness()):
        told = log.array(
            f"f_{k}"
        )  # f = B v + what the states say, so the force of the log has its velocity, too
        sections[k] = Section(
            row, v + (told - f) / (plant.τ * K), told, log.array(f"P_h_{k}"), log.array(f"P_r_{k}")
        )
    flows = {k: section_flows(s, P) for k, s in sections.items()}
    Q, P_M, k_b = plant.supply
    law = {
        "bleed": k_b * np.maximum(P, 0.0) ** 1.5,
        "relief": plant.G * np.maximum(P - P_M, 0.0) * P,
    }
    powers = dict(zip(plant.power_names, np.broadcast_arrays(*plant.powers(0.0, x, u))))
    given = {
        k: -p for k, p in powers.items() if k.partition("_")[0] in ("bleed", "relief", "in", "out")
    }
    oil = plant.V_p / plant.crane.oil.β * P * plant.rhs(0.0, x, u)[3 * plant.n]
    found = suspects(log.time, sections, flows, plant.supply, P, held=True)
    whole = _quasistatic(
        log.time,
        powers["pump"],
        sections,
        flows,
        law,
        oil,
        np.arange(len(log.time)),
        given,
        P,
        Q,
        found,
    )
    joined = {k: p for k, p in whole.law.items() if k in law}
    for k in plant.labels:
        joined |= {
            f"in_{k}": sum(whole.law[f"{e}_{k}"] for e in ("ph", "pr")),
            f"out_{k}": sum(whole.law[f"{e}_{k}"] for e in ("th", "tr", "a", "hR", "rR")),
        }
    return whole._replace(law=joined, counted=tuple(counted(log, powers)))


def own_rows(circuit, commands, regeneration) -> list[list]:
    """As `Circuit.rows`, an array an entry, for commands u_c and openings u_a over time: by the circuit's numbers alone."""
    found = []
    for s, u_c, u_a in zip(circuit.sections, commands, regeneration):
        out, back = np.clip(u_c, 0.0, 1.0), np.clip(-np.asarray(u_c), 0.0, 1.0)
        found.append(
            [
                s.A_h,
                s.A_r,
                s.P_hM,
                s.P_rM,
                s.c_ph * out,
                s.c_pr * back,
                s.c_th * back,
                s.c_tr * out,
                s.c_a * u_a,
            ]
        )
    return found


def counted(log, powers: dict) -> list[Suspect]:
    """Energies that the run counted step by step, against the plant's powers at the rows of its log, over the pump's energy.

    What rows that are too far apart may be off by is twice the difference to every other row.
    """
    t, found = log.time, []
    if len(t) < 5:
        return []
    through = max(
        abs(float(log.array("E_pump")[-1] - log.array("E_pump")[0])),
        abs(float(np.trapezoid(powers["pump"], t))),
        1e-300,
    )
    for name, p in powers.items():
        run, fine = (
            float(log.array(f"E_{name}")[-1] - log.array(f"E_{name}")[0]),
            float(np.trapezoid(p, t)),
        )
        last = len(t) - 1 - (len(t) - 1) % 2
        coarse = float(np.trapezoid(p[: last + 1 : 2], t[: last + 1 : 2])) + float(
            np.trapezoid(p[last:], t[last:])
        )
        off = max(abs(run - fine) - 2.0 * abs(fine - coarse) - _COUNTED * through, 0.0) / through
        found.append(
            Suspect(
                name, off, f"the run counted {run:.4g} J, its law gives {fine:.4g} J over the run"
            )
        )
    return [s for s in found if s.size > 0]


def _quasistatic(t, pump, sections, flows, law, stored, at, given, P, Q, suspected) -> ValveAccount:
    work, drawn, ranges = {}, {}, {}
    for name, s in sections.items():
        law = law | {f"{valve}_{name}": p for valve, p in _losses(s, flows[name]).items()}
        work[f"rod_{name}"] = s.f * s.v
        for side, oil, both in zip("hr", _drawn(s, flows[name]), open_ranges(s, P, Q)):
            drawn[f"P_{side}_{name}"], ranges[f"P_{side}_{name}"] = oil, both
    return ValveAccount(t, pump, law, work, stored, at, given, drawn, ranges, tuple(suspected))


def of_twin(plant, log) -> ValveAccount:
    """Of a run of `MeteredTwin`: pressures are its states, the model's account is `powers`, the oil's energy changes by `rhs`."""
    x, u = columns(log, plant.states), columns(log, plant.inputs)
    n, P, w, G = len(plant.names), x[-1], plant.w, plant.G
    _needed(log, names(plant.states))
    Q, P_M, k_b = plant.of.supply
    powers, rate = (
        dict(zip(plant.power_names, np.broadcast_arrays(*plant.powers(0.0, x, u)))),
        plant.rhs(0.0, x, u),
    )
    law, work, drawn = (
        {"bleed": k_b * smooth_root(P, w) * P, "relief": G * np.maximum(P - P_M, 0.0) * P},
        {},
        {},
    )
    one_way = lambda k, drop: k * smooth_root(np.maximum(drop, 0.0), w) * drop
    over = lambda p, top: G * (np.maximum(p - top, 0.0) + np.minimum(p, 0.0)) * p
    for name, row, h, r, v in zip(
        plant.names, plant.of.rows(u), x[3 * n : -1 : 2], x[3 * n + 1 : -1 : 2], rate[2 : 3 * n : 3]
    ):
        A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a = row
        own = (
            one_way(k_ph, P - h),
            one_way(k_pr, P - r),
            k_th * smooth_root(h, w) * h,
            k_tr * smooth_root(r, w) * r,
            one_way(k_a, r - h),
            over(h, P_hM),
            over(r, P_rM),
        )
        law |= {
            f"{valve}_{name}": p
            for valve, p in zip(("ph", "pr", "th", "tr", "a", "h_limits", "r_limits"), own)
        }
        work[f"rod_{name}"] = (A_h * h - A_r * r) * v
        drawn |= {f"P_h_{name}": G * np.maximum(-h, 0.0), f"P_r_{name}": G * np.maximum(-r, 0.0)}
    volumes = [*[V for _ in range(n) for V in (plant.V_h, plant.V_r)], plant.V_p]
    oil = sum(V / plant.β * p * change for V, p, change in zip(volumes, x[3 * n :], rate[3 * n :]))
    given = {
        k: -p
        for k, p in powers.items()
        if k != "pump" and k.partition("_")[0] not in ("element", "tip")
    }
    ranges = {name: (log.array(name), log.array(name)) for name in drawn}
    return ValveAccount(
        log.time,
        Q * P,
        law,
        work,
        oil,
        np.arange(len(P)),
        given,
        drawn,
        ranges,
        (),
        tuple(counted(log, powers)),
    )


def _needed(log, wanted) -> None:
    lacking = [name for name in wanted if name not in log]
    if lacking:
        raise InputError(
            f"the log has no {', '.join(lacking)}",
            mend="give the log of a run of this plant, with its monitors",
        )


def valve_powers(plant, log, every: int = 1) -> dict[str, np.ndarray]:
    """Powers [W] at every `every`-th instant of a log of a `MeteredArms`: "t" [s], "pump", "bleed", "pR", and for each arm "rod_…"
    (f v) and its valves "ph_…", "pr_…", "th_…", "tr_…", "a_…" (regeneration), "hR_…", "rR_…". The pump's is the sum of all others.

    The log must have v and f of every arm (one from `simulate` does), a command it has not was 0; raises InputError where not.
    """
    _needed(log, [f"{key}_{name}" for name in plant.names for key in ("v", "f")])
    v, f, u_c = (
        np.stack([column(log, f"{key}_{name}")[::every] for name in plant.names], -1)
        for key in ("v", "f", "u_c")
    )
    opened = plant.regeneration([u[::every] for u in columns(log, controls(plant))])
    u_a = np.stack(np.broadcast_arrays(*opened, v[:, 0])[:-1], -1)
    keys = (
        "pump",
        "bleed",
        "pR",
        *(f"{valve}_{name}" for name in plant.names for valve in ("rod", *_VALVES)),
    )
    found = {key: np.zeros(len(v)) for key in keys}
    circuit, (Q, _, k_b), β = plant.circuit, plant.supply, np.array([a.B for a in plant.arms])
    supply, at = circuit.supply(plant.u_b), np.zeros(9)
    for i, (w, g, u, a) in enumerate(zip(v, f, np.clip(u_c, -1.0, 1.0), u_a)):
        rows = circuit.rows([Openings.command(float(c), float(r)) for c, r in zip(u, a)])
        P = resolve(rows, supply, β, g - β * w, np.zeros(len(w)), np.zeros(len(w)))
        left = Q - k_b * np.sqrt(P)
        for name, row, own, force, b in zip(plant.names, rows, w, g, β):
            passed(row, b, force - b * own, P, at)
            h, r, q = at[0], at[1], at[2:]
            left -= max(q[0] + q[1], 0.0)
            taken = (
                force * own,
                q[0] * (P - h),
                q[1] * (P - r),
                q[2] * h,
                q[3] * r,
                q[4] * (r - h),
                q[5] * h,
                q[6] * r,
            )
            for valve, power in zip(("rod", *_VALVES), taken):
                found[f"{valve}_{name}"][i] = power
        found["pump"][i], found["bleed"][i], found["pR"][i] = (
            Q * P,
            k_b * P**1.5,
            max(left, 0.0) * P,
        )
    return {"t": log.time[::every], **found}
