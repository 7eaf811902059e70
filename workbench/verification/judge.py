"""verify and study: a loop and a scenario against claims → verdicts, with the log and what the report draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.cases.form import kebab
from workbench.contract.errors import InputError
from workbench.contract.system import System, innermost
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.verification import claims as C
from workbench.verification.accuracy import told, within_accuracy
from workbench.verification.certificate_pictures import certificate_arrays
from workbench.verification.ledger import has_ledger
from workbench.verification.ledger_claims import per_structure_excess, predicted
from workbench.verification.report_arrays import report_arrays
from workbench.verification.returning import curves
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.too_long import TooLong
from workbench.verification.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Study:
    """Verdicts with the run they rest on and the arrays a report draws."""

    verdicts: list[Verdict]
    log: Log
    analysis: dict
    run: Run | None = None


def default_claims(loop: System, scenario: Scenario | None = None) -> tuple:
    """The claims that make sense for this loop; what cannot be asked of it stays in the table, with the reason (`Unasked`)."""
    from workbench.verification.defaults import defaults

    return defaults(loop, scenario)


def verify(
    loop: System,
    scenario: Scenario | None = None,
    claims: Sequence | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> list[Verdict]:
    """Verdicts on `claims` (those that suit the loop by default); see `study` for the log and the report's arrays."""
    return study(loop, scenario, claims, progress).verdicts


class _Progress:
    def __init__(self, tell, total):
        self.tell, self.total, self.done = tell, max(total, 1), 0

    def tick(self, what="", by=1):
        self.done = min(self.done + by, self.total)
        if self.tell:
            self.tell(self.done / self.total, what)


def study(
    loop: System,
    scenario: Scenario | None = None,
    claims: Sequence | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Study:
    """Run the scenario, check the claims.

    progress(fraction, what) is called along the way. Raises InputError for claims the loop cannot be asked.
    """
    scenario = scenario or Scenario()
    claims = tuple(default_claims(loop, scenario) if claims is None else claims)
    bar = _Progress(progress, 4 + sum(c.work for c in claims))
    bar.tick("simulating", 0)
    run = simulated(loop, scenario)
    bar.tick("simulating", 4)
    verdicts = within_accuracy(run, _verdicts(claims, run, bar))
    drawn = report_arrays(run, claims, verdicts) | analysis(
        run, verdicts
    )  # the latter takes arrays out of the verdicts' data
    return Study(_with_cause(run, _with_energy(run, verdicts)), run.told, drawn, run)


def _verdicts(claims: Sequence, run: Run, bar: _Progress) -> list[Verdict]:
    """One verdict a claim, in order. Limits rest on the bound of the practical claim, so that one is decided first."""
    known = {"bound": None, "allowed": _allowed(claims, run), "practical": None}
    found: dict[int, Verdict] = {}
    for i, claim in sorted(
        enumerate(claims), key=lambda e: not isinstance(e[1], C.PracticalStability)
    ):
        found[i] = _check(claim, run, known, bar)
        if isinstance(claim, C.PracticalStability):
            known |= {"bound": found[i].data.get("bound"), "practical": found[i]}
    return [found[i] for i in range(len(claims))]


def _allowed(claims: Sequence, run: Run) -> float | None:
    """The tracking error that these claims allow, in SI; that of the default claim where they state none."""
    from workbench.verification.requirements import size_of

    stated = [c for c in claims if isinstance(c, C.Tracking)]
    asked = stated or [
        c for c in default_claims(run.loop, run.scenario) if isinstance(c, C.Tracking)
    ]
    return size_of(asked[0], "error", [run.error_unit]) if asked else None


def _with_cause(run, verdicts):
    if all(v.holds for v in verdicts if v.counted):
        return verdicts
    from workbench.verification.causes import with_cause

    return with_cause(run, verdicts)


def _with_energy(run, verdicts):
    from workbench.verification.requirements import check_energy, resting_on

    energy = next((v for v in verdicts if v.key == "energy-balance"), None) or check_energy(
        C.EnergyBalance(), run
    )
    return [resting_on(v, energy, run) for v in verdicts]


def _check(claim, run: Run, known: dict, bar) -> Verdict:
    from importlib import import_module

    what = type(claim).__name__
    if claim.needs_ledger and not has_ledger(run.loop):
        raise InputError(
            f"claim {what}: this controller states no accompanying function",
            mend="ask it of a VDC loop, or leave the claim out",
        )
    if claim.needs_ledger and len(run.log.time) < 2:
        return Verdict(what, what, None, worst=run.log.status.message, counted=claim.counted)
    given = {**known, "tick": lambda: bar.tick(what)}
    module, _, function = claim.check.partition(".")
    check = getattr(import_module(f"workbench.verification.{module}"), function)
    claim, seen = moving(claim, run) if claim.needs_motion else (claim, run)
    if claim.at_steps:
        seen = seen.fine
    try:
        verdict = check(claim, seen, *(given[name] for name in claim.takes))
    except TooLong as why:  # of a run that the claim made longer; the first one was not
        verdict = Verdict(kebab(what), kebab(what), None, worst=why.message, counted=claim.counted)
    bar.tick(what, 0 if "tick" in claim.takes else claim.work)
    return verdict


def moving(claim, run: Run) -> tuple:
    """(claim, run), or where the machine stands still on it, a run from another start: standing still shows nothing.

    Settling is then allowed for as long as the scenario lasts, half of that run. A run that ends within the time allowed for
    settling is made longer.
    """
    from workbench.verification.disturbed import lasting, stirred

    seen = stirred(run)
    if not isinstance(claim, C.Tracking):
        return claim, seen
    if seen is run:
        return claim, lasting(run, claim.settle)
    return replace(claim, settle=max(claim.settle, run.scenario.length())), seen


# ---- what the report draws ----------------------------------------------------------------------------------------------
def analysis(run: Run, verdicts: list[Verdict]) -> dict:
    """Arrays for figures; nothing here decides anything."""
    found: dict = {"statistics": statistics(run) | told(run)}
    if "outcomes" in run.kept:
        found["returns"] = curves(run.kept["outcomes"])
    by_key = {v.key: v for v in verdicts}
    if has_ledger(run.loop) and len(run.log.time) > 2:
        found |= ledger_arrays(run)
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
    for key in (
        "linear-stability",
        "linear",
    ):  # the latter, which was asked for, is drawn where there are both
        if key not in by_key:
            continue
        data = by_key[key].data
        found |= {k: data[k] for k in ("margins", "loops") if data.get(k)}
        if "eigenvalues" in data:
            found["eigenvalues"] = {
                "values": data["eigenvalues"],
                "sampled": run.loop.period is not None,
            }
    found |= certificate_arrays(run, verdicts)
    # Arrays stay out of the verdicts themselves, which are plain data.
    verdicts[:] = [
        replace(
            v,
            data={k: a for k, a in v.data.items() if k not in ("eigenvalues", "loops", "response")},
        )
        for v in verdicts
    ]
    return found


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
    sides, sums = b.sides(), b.cuts()
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


def statistics(run: Run) -> dict:
    """Tracking statistics: name → (value, unit)."""
    from workbench.run import metrics
    from workbench.verification.requirements import joint_errors

    found, t = {}, run.log.time
    if len(t) < 2:
        return found
    e = run.tool_error
    if e is not None:
        at = [f"tcp_{a}" for a in "xyz"] if "tcp_x" in run.log else list(joint_errors(run))
        speed = np.linalg.norm(
            np.gradient(np.column_stack([run.log.array(n) for n in at]), t, axis=0), axis=1
        )
        unit, what = (
            run.log.signal(at[0]).unit,
            "tool error" if "tcp_x" in run.log else "tracking error",
        )
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
