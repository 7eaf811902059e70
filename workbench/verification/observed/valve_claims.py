"""Claims on the valves of a metered machine along a run: its energy valve by valve, and oil that suction checks must let in.

`plant.valves.valve_account(log)` says what each valve takes, twice: as the model has it (`given`, at the instants `at`), and by the
valve's own law at the pressures of the log (`law`); and what suction checks draw, and between which pressures chambers are.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Vector
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.requirements import diverged
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def _account(key: str, run: Run) -> Any:
    if run.valves is None:
        raise InputError(
            f"claim {key}: a {type(run.loop.plant).__name__} keeps no account of valves",
            mend="ask it of MeteredArms, a MeteredTwin, a MeteredCrane or a mechanism with metered drives, or leave the claim out",
        )
    return run.valves


def check_valve_losses(claim: Any, run: Run) -> Verdict:
    """Forces and flows lie on the characteristics of rods and valves, and the pump's power is the work on the rods plus the
    losses of the valves."""
    key, source = (
        "valve-losses",
        "each valve's law at the logged pressures; power balance at every logged instant",
    )
    text = f"power of the pump = losses of the valves + work on the rods, within {100 * claim.share:g} %"
    gone = diverged(key, text, run, claim.counted, source)
    if gone:
        return gone
    said = partial(Verdict, key, text, source=source, counted=claim.counted)
    a = _account(key, run)
    top = max(float(np.abs(p).max()) for p in (a.pump, *a.work.values(), *a.law.values()))
    if len(a.t) < 2 or not top > 0:
        return said(None, worst="the pump gave no energy to find again")
    off = _differences(a, top)
    gap = _finite(np.abs(a.gap)) / top
    # Of the pump's pressure, in the run itself.
    root = _finite(np.abs(run.log.array("r_P"))) if "r_P" in run.log else np.zeros(len(a.t))
    energy = {
        name: float(np.trapezoid(p, a.t))
        for name, p in (("pump", a.pump), *a.work.items(), *a.law.items())
    }
    worst, why = _worst(claim.share, run, off, gap, root)
    return said(
        worst <= claim.share,
        "numerical",
        claim.share - worst if np.isfinite(worst) else None,
        "1",
        claim.share,
        why or f"{say(energy['pump'], 'J', 3)}: {_most(energy)}",
        data={
            "by": energy,
            "gap": float(gap.max()),
            "off": {name: one.share for name, one in off.items()},
            "instants": len(a.at),
        },
    )


class Difference(NamedTuple):
    """Where a valve's power by the model and by its law are furthest apart: share of the pump's, instant, W, W."""

    share: float
    k: int
    by_model: float
    by_law: float


def _differences(a: Any, top: float) -> dict[str, Difference]:
    """Valve → its largest difference, as a share of the largest power `top` [W]."""
    nothing = np.zeros(len(a.t))
    off = {}
    for valve in dict.fromkeys((*a.law, *a.given)):
        by_law = a.law.get(valve, nothing)[a.at]
        by_model = a.given.get(valve, nothing[a.at])
        k = int(np.argmax(_finite(np.abs(by_model - by_law))))
        share = float(_finite(np.abs(by_model[k] - by_law[k]))) / top
        off[valve] = Difference(share, k, float(by_model[k]), float(by_law[k]))
    return off


def _worst(
    most: float, run: Run, off: dict[str, Difference], gap: Vector, root: Vector
) -> tuple[float, str]:
    """(largest share that is not found again, why in words where it is beyond `most`): a faulty element before the run's own
    root, then a valve's law, the energy counted, and power that is nobody's."""
    a = _account("valve-losses", run)
    valve = max(off, key=lambda name: off[name].share)
    share, k, by_model, by_law = off[valve]
    i = int(np.argmax(gap))
    fault = next((s for s in a.suspects if s.size > most), None)
    counted = max(a.counted, key=lambda s: s.size, default=None)
    elements = [s.size for s in (fault, counted) if s is not None]
    worst = max(share, float(gap[i]), float(root.max()), *elements)
    if fault is not None:
        return worst, f"{fault.element}: {fault.words}"
    if root.max() > most:
        at = run.log.time[int(np.argmax(root))]
        lost = f"the run's own root leaves {root.max():.1e} of the pump's flow unaccounted for"
        return worst, f"{lost} at t = {at:.2f} s"
    if share > most:
        both = f"the model's account has {say(by_model, 'W', 3)}, its law {say(by_law, 'W', 3)}"
        return worst, f"{valve}: {both} at t = {a.t[a.at[k]]:.2f} s"
    if counted is not None and counted.size > most:
        return worst, f"{counted.element}: {counted.words}"
    if gap[i] > most:
        lost = f"{say(float(a.gap[i]), 'W', 3)} of the pump's {say(float(a.pump[i]), 'W', 3)}"
        return worst, f"{lost} is nobody's at t = {a.t[i]:.2f} s"
    return worst, ""


def _finite(x: Vector) -> Any:
    return np.where(np.isfinite(x), x, np.inf)


def _most(energy: dict) -> str:
    """The largest shares of the pump's energy, in words."""
    taken = sorted(
        ((name, J) for name, J in energy.items() if name != "pump"), key=lambda item: -abs(item[1])
    )
    return ", ".join(f"{name} {100 * J / energy['pump']:.3g} %" for name, J in taken[:4])


def check_cavitation(claim: Any, run: Run) -> Verdict:
    """Suction checks draw no more than allowed, and no chamber falls below the limit; worst end of what balances."""
    key = "no-cavitation"
    source = "oil through the suction checks, and pressures, along the run"
    text = f"no cavitation: suction checks draw ≤ {say(claim.drawn, 'm^3', 3)}, no chamber below {claim.low / 1e5:g} bar"
    gone = diverged(key, text, run, claim.counted, source)
    if gone:
        return gone
    said = partial(Verdict, key, text, source=source, counted=claim.counted)
    a = _account(key, run)
    length = float(a.t[-1] - a.t[0])
    if not length > 0:
        return said(None, worst="the run has no length")
    # What would draw a thousandth of what is allowed in the whole run.
    little = 1e-3 * claim.drawn / length
    oil = {}
    open_ = {}
    for name, q in a.drawn.items():
        oil[name] = float(_finite(np.trapezoid(q, a.t)))
        open_[name] = float(np.trapezoid(np.where(q > little, 1.0, 0.0), a.t))
    lowest = {name: float(low.min()) for name, (low, _) in a.ranges.items()}
    sucks = max(oil, key=lambda name: oil[name])
    torn = min(lowest, key=lambda name: lowest[name])
    least = lowest[torn]
    when = float(a.t[np.argmin(a.ranges[torn][0])])
    data = {
        "drawn": oil,
        "open": open_,
        "fastest": {name: float(q.max()) for name, q in a.drawn.items()},
        "least": lowest,
    }
    room = claim.drawn - oil[sucks]
    surely = min(float(high.min()) for _, high in a.ranges.values()) < claim.low
    if surely or not least >= claim.low and room >= 0:
        holds = False if surely else None
        margin = least - claim.low if np.isfinite(least) else None
        falls = f"{torn} {'falls' if surely else 'may fall'} to {say(least, 'Pa', 3)} at t = {when:.2f} s"
        return said(holds, "sampled", margin, "Pa", claim.low, falls, data=data)
    drew = _drew(sucks, oil[sucks], open_[sucks], length, data["fastest"][sucks])
    margin = room if np.isfinite(room) else None
    return said(room >= 0, "sampled", margin, "m^3", claim.drawn, drew, data=data)


def _drew(name: str, oil: float, open_: float, length: float, fastest: float) -> str:
    if not open_ > 0:
        return "suction checks stay shut"
    return (
        f"{name}: check open {open_:.3g} s of {length:.3g} s, draws {say(oil, 'm^3', 3)}, up to "
        f"{6e4 * fastest:.3g} l/min"
    )
