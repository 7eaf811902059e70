"""What an examination tells beside its verdicts: arrays of the ledger, statistics, energies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.system import innermost
from workbench.numerics.overflow import may_overflow
from workbench.verification.accuracy import told
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.ledger.claims import per_structure_excess, predicted
from workbench.verification.practical.returning import curves
from workbench.verification.rigorous.pictures import certificate_arrays
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


# ---- what the report draws ----------------------------------------------------------------------------------------------
def analysis(run: Run, verdicts: list[Verdict]) -> dict:
    """Arrays for figures; nothing here decides anything."""
    found: dict = {"statistics": statistics(run) | told(run)}
    if "outcomes" in run.kept:
        found["returns"] = curves(run.kept["outcomes"])
    for name in ("requirements", "falsify", "moved_margins", "tube", "settled"):
        if name in run.kept:
            found[name] = run.kept[name]
    by_key = {v.key: v for v in verdicts}
    if has_ledger(run.loop) and len(run.log.time) > 2:
        found |= ledger_arrays(run)
    # The latter, which was asked for, is drawn where there are both.
    for key in (
        "linear-stability",
        "linear",
    ):
        if key not in by_key:
            continue
        data = by_key[key].data
        found |= {k: data[k] for k in ("margins", "loops") if data.get(k)}
        if "eigenvalues" in data:
            found["eigenvalues"] = {
                "values": data["eigenvalues"],
                "sampled": run.loop.period is not None,
            }
    return found | certificate_arrays(run, verdicts)


def reaches(verdicts: list[Verdict]) -> dict:
    """What scans over the sample time and the delay tried and found."""
    by_key = {v.key: v for v in verdicts}
    found: dict = {}
    for key, name in (("sample-time-limit", "sample_time"), ("delay-limit", "delay")):
        data = by_key[key].data if key in by_key else {}
        if data.get("values"):
            found[name] = {
                "T_s" if name == "sample_time" else "delay": np.array(data["values"]),
                "v_max": np.array(data["v"], float),
                "error_max": np.array(data["error"], float),
                "stable": np.array(data["ok"], bool),
                "limit": data["good"],
                "bound": by_key[key].limit,
            }
    return found


def plain(verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts without the arrays in their data, which are drawn and are no plain data."""
    drawn = ("eigenvalues", "loops", "response")
    return [replace(v, data={k: a for k, a in v.data.items() if k not in drawn}) for v in verdicts]


def ledger_arrays(run: Run) -> dict:
    """v, v̂, v̇ and its bound per structure, perturbations, power flows, monitors of the hypotheses."""
    from workbench.verification.hypotheses import path_rate

    b = run.balance.finite()
    if len(b.t) < 2:
        return {}
    own, reduced = path_rate(run)
    structures = list(dict.fromkeys(s for s, _ in b.entries))
    per = {}
    for s in structures:
        pick = [i for i, (name, _) in enumerate(b.entries) if name == s]
        flows = sum(v for (name, _, _), v in b.flows.items() if name == s)
        per[s] = {
            "v": b.v[:, pick].sum(axis=1),
            "vdot": b.vdot[:, pick].sum(axis=1),
            "bound": flows - b.dissipation[:, pick].sum(axis=1),
        }
    sides = b.sides()
    sums = b.cuts()
    inner = [c for c in sums if len(sides[c]) > 1]
    outgoing = {}
    for (_, _, cut), values in b.flows.items():
        outgoing.setdefault(cut, values)
    margins = innermost(run.loop.controller).certificate(run.loop.plant).monitors(b)
    monitors = {name: {"t": b.t, "margin": margin} for name, margin in margins.items()}
    monitors["(99) at this instant"] = {
        "t": b.t,
        "margin": -sum(per_structure_excess(b).values()) / max(np.abs(b.total_rate).max(), 1e-300),
    }
    return {
        "ledger": {
            "t": b.t,
            "v": b.total,
            "v_bound": predicted(b, reduced),
            "vdot": b.total_rate,
            "vdot_bound": sum(p["bound"] for p in per.values()),
            "per_subsystem": per,
            "perturbations": b.perturbation(),
            "power_flows": {c: outgoing[c] for c in inner},
            "cancellation": sum(np.abs(sums[c]) for c in inner),
            "rate": own,
            "reduced_rate": reduced,
        },
        "assumptions": monitors,
    }


@may_overflow()
def statistics(run: Run) -> dict:
    """Tracking statistics: name → (value, unit)."""
    from workbench.run import metrics
    from workbench.verification.observed.requirements import joint_errors

    found = {}
    t = run.log.time
    if len(t) < 2:
        return found
    e = run.tool_error
    if e is not None:
        at = [f"tcp_{a}" for a in "xyz"] if "tcp_x" in run.log else list(joint_errors(run))
        speed = np.linalg.norm(
            np.gradient(np.column_stack([run.log.array(n) for n in at]), t, axis=0), axis=1
        )
        unit = run.log.signal(at[0]).unit
        what = "tool error" if "tcp_x" in run.log else "tracking error"
        found |= {
            f"{what}, largest": (metrics.max_abs(e), unit),
            f"{what}, rms": (metrics.rms(t, e), unit),
            f"{what}, L2 norm": (metrics.l2_norm(t, e), unit + " s^0.5"),
            "ρ = max|e|/max|v|": (float(e.max() / max(speed.max(), 1e-12)), "s"),
        }
    for name, err in (
        joint_errors(run) if run.demand.reference is not None else {}
    ).items():  # nothing desired, no error
        unit = run.log.signal(name).unit
        found[f"error of {name}, largest"] = (metrics.linf_norm(err), unit)
        found[f"error of {name}, L2 norm"] = (metrics.l2_norm(t, err), unit + " s^0.5")
    if has_ledger(run.loop) and run.log.status.completed:
        from workbench.verification.hypotheses import path_rate

        b = run.balance
        late = b.t >= min(3.0, 0.9 * b.t[-1])
        _, rate = path_rate(run)
        d = b.drive(rate)
        found["v, largest after settling"] = (float(b.total[late].max()), "J")
        found["rate c of v"] = (rate, "1/s")
        if rate > 0:
            found["v bound from the ledger, max d / c"] = (
                max(0.0, float(d[late].max())) / rate,
                "J",
            )
    return found | energy_rows(run)


def energy_rows(run: Run) -> dict:
    """Where the energy of the run went: name → (value, unit); nothing for a plant that states no energy."""
    e = run.energy
    if e is None:
        return {}
    return {
        "energy that passed through": (e.through, "J"),
        **{f"energy by {name}": (J, "J") for name, J in e.by.items()},
        "energy stored, change": (e.change, "J"),
        "energy drift, largest": (e.drift, "J"),
        **({"energy drift, share of throughput": (100 * e.share, "%")} if e.through else {}),
    }
