"""Claims on the valves of a metered machine along a run: its energy valve by valve, and oil that suction checks must let in.

The plant's `valve_account(log)` says what each valve takes, twice: as the model has it (`given`, at the instants `at`), and by the
valve's own law at the pressures of the log (`law`); and what suction checks draw, and between which pressures chambers are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Vector
from workbench.contract.units import format_quantity as say
from workbench.verification.requirements import diverged
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict


def _account(key: str, run: Run) -> Any:
    if run.valves is None:
        raise InputError(
            f"claim {key}: a {type(run.loop.plant).__name__} keeps no account of valves",
            mend="ask it of a MeteredArms, a MeteredTwin or a MeteredCrane, or leave the claim out",
        )
    return run.valves


def check_valve_losses(claim: Any, run: Run) -> Verdict:
    """Every element does what its characteristic says, each valve takes what its law says, and with the work on the rods that is
    all the pump gives."""
    key, source = (
        "valve-losses",
        "each valve's law at the logged pressures; power balance at every logged instant",
    )
    text = f"pump's energy found again valve by valve within {100 * claim.share:g} %"
    gone = diverged(key, text, run, claim.counted, source)
    if gone:
        return gone
    a = _account(key, run)
    top = max(float(np.abs(p).max()) for p in (a.pump, *a.work.values(), *a.law.values()))
    if len(a.t) < 2 or not top > 0:
        return Verdict(
            key,
            text,
            None,
            worst="the pump gave no energy to find again",
            source=source,
            counted=claim.counted,
        )
    nothing, off = np.zeros(len(a.t)), {}
    for valve in dict.fromkeys((*a.law, *a.given)):
        by_law, by_model = a.law.get(valve, nothing)[a.at], a.given.get(valve, nothing[a.at])
        k = int(np.argmax(_finite(np.abs(by_model - by_law))))
        off[valve] = (
            float(_finite(np.abs(by_model[k] - by_law[k]))) / top,
            k,
            float(by_model[k]),
            float(by_law[k]),
        )
    valve = max(off, key=lambda name: off[name][0])
    gap = _finite(np.abs(a.gap)) / top
    i, (share, k, by_model, by_law) = int(np.argmax(gap)), off[valve]
    energy = {
        name: float(np.trapezoid(p, a.t))
        for name, p in (("pump", a.pump), *a.work.items(), *a.law.items())
    }
    root = (
        _finite(np.abs(run.log.array("r_P"))) if "r_P" in run.log else nothing
    )  # of the pump's pressure, in the run itself
    fault = next((s for s in a.suspects if s.size > claim.share), None)
    counted = max(a.counted, key=lambda s: s.size, default=None)
    worst = max(
        share,
        float(gap[i]),
        float(root.max()),
        *(s.size for s in (fault, counted) if s is not None),
    )
    if fault is not None:
        why = f"{fault.element}: {fault.words}"
    elif root.max() > claim.share:
        at = run.log.time[int(np.argmax(root))]
        why = f"the run's own root leaves {root.max():.1e} of the pump's flow unaccounted for at t = {at:.2f} s"
    elif share > claim.share:
        why = (
            f"{valve}: the model's account has {say(by_model, 'W', 3)}, its law {say(by_law, 'W', 3)} at t = "
            f"{a.t[a.at[k]]:.2f} s"
        )
    elif counted is not None and counted.size > claim.share:
        why = f"{counted.element}: {counted.words}"
    elif gap[i] > claim.share:
        why = f"{say(float(a.gap[i]), 'W', 3)} of the pump's {say(float(a.pump[i]), 'W', 3)} is nobody's at t = {a.t[i]:.2f} s"
    else:
        why = f"{say(energy['pump'], 'J', 3)}: {_most(energy)}"
    return Verdict(
        key,
        text,
        worst <= claim.share,
        "numerical",
        claim.share - worst if np.isfinite(worst) else None,
        "1",
        claim.share,
        why,
        source=source,
        counted=claim.counted,
        data={
            "by": energy,
            "gap": float(gap[i]),
            "off": {n: o[0] for n, o in off.items()},
            "instants": len(a.at),
        },
    )


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
    key, source = "no-cavitation", "oil through the suction checks, and pressures, along the run"
    text = f"no cavitation: suction checks draw ≤ {say(claim.drawn, 'm^3', 3)}, no chamber below {claim.low / 1e5:g} bar"
    gone = diverged(key, text, run, claim.counted, source)
    if gone:
        return gone
    a = _account(key, run)
    length = float(a.t[-1] - a.t[0])
    if len(a.t) < 2 or not length > 0:
        return Verdict(
            key, text, None, worst="the run has no length", source=source, counted=claim.counted
        )
    oil = {name: float(_finite(np.trapezoid(q, a.t))) for name, q in a.drawn.items()}
    little = (
        1e-3 * claim.drawn / length
    )  # what would draw a thousandth of what is allowed in the whole run
    open_ = {name: float(np.trapezoid(q > little, a.t)) for name, q in a.drawn.items()}
    lows = {
        name: (float(low.min()), float(a.t[np.argmin(low)]), float(high.min()))
        for name, (low, high) in a.ranges.items()
    }
    sucks, torn = max(oil, key=lambda name: oil[name]), min(lows, key=lambda name: lows[name][0])
    least, when, _ = lows[torn]
    data = {
        "drawn": oil,
        "open": open_,
        "fastest": {name: float(q.max()) for name, q in a.drawn.items()},
        "least": {name: found[0] for name, found in lows.items()},
    }
    room = claim.drawn - oil[sucks]
    surely = min(found[2] for found in lows.values()) < claim.low
    if surely or not least >= claim.low and room >= 0:
        return Verdict(
            key,
            text,
            False if surely else None,
            "sampled",
            least - claim.low if np.isfinite(least) else None,
            "Pa",
            claim.low,
            f"{torn} {'falls' if surely else 'may fall'} to {say(least, 'Pa', 3)} at t = {when:.2f} s",
            source=source,
            counted=claim.counted,
            data=data,
        )
    return Verdict(
        key,
        text,
        room >= 0,
        "sampled",
        room if np.isfinite(room) else None,
        "m^3",
        claim.drawn,
        _drew(sucks, oil[sucks], open_[sucks], length, data["fastest"][sucks]),
        source=source,
        counted=claim.counted,
        data=data,
    )


def _drew(name: str, oil: float, open_: float, length: float, fastest: float) -> str:
    if not open_ > 0:
        return "suction checks stay shut"
    return (
        f"{name}: check open {open_:.3g} s of {length:.3g} s, draws {say(oil, 'm^3', 3)}, up to "
        f"{6e4 * fastest:.3g} l/min"
    )
