"""Claims on the signals of a run: tool error, pressures, saturation, settled, energy balance."""

from __future__ import annotations

import numpy as np

from workbench.metrics import limit_cycle
from workbench.units import format_quantity as say
from workbench.verdict import Assumption, Verdict
from workbench.verification.run import Run


def diverged(key: str, claim_text: str, run: Run, counted: bool, source: str) -> Verdict | None:
    """A violated verdict for a run that did not reach its end, else None."""
    if run.log.status.completed:
        return None
    return Verdict(key, claim_text, False, "sampled", worst=run.log.status.message, source=source, counted=counted,
                   data={"t_end": run.log.status.t_end, "state": run.log.status.state})


def too_short(key: str, claim_text: str, run: Run, settle: float, counted: bool, source: str) -> Verdict | None:
    """An undecided verdict for a run that ends before anything need have settled, else None."""
    end = float(run.log.time[-1])
    if end > settle:
        return None
    return Verdict(key, claim_text, None, worst=f"the run ends at {end:.3g} s, within the {settle:g} s allowed for settling: run "
                   "it longer, or allow less", source=source, counted=counted)


def check_tracking(claim, run: Run) -> Verdict:
    """Largest tool error after settling."""
    text, source = f"tool error ≤ {say(claim.error, 'm')}", "requirement on the run"
    gone = diverged("tracking", text, run, claim.counted, source)
    if gone:
        return gone
    short = too_short("tracking", text, run, claim.settle, claim.counted, source)
    if short:
        return short
    e = run.tool_error
    if e is None:
        return Verdict("tracking", text, None, worst="the plant has no tool or the reference is no motion", source=source,
                       counted=claim.counted)
    part = run.settled(claim.settle)
    k = int(np.argmax(e[part])) + part.start
    return Verdict("tracking", text, bool(e[k] <= claim.error), "sampled", float(claim.error - e[k]), "m", claim.error,
                   f"{say(e[k], 'm', 3)} at t = {run.log.time[k]:.2f} s", source=source, counted=claim.counted,
                   data={"largest": float(e[k]), "rms": float(np.sqrt(np.mean(e[part] ** 2)))})


def check_pressures(claim, run: Run) -> Verdict:
    """All chamber pressures inside their limits; v does not bound their common mode."""
    plant = run.loop.plant
    high = claim.high if claim.high is not None else 1.25 * plant.p_s
    text = f"chamber pressures within {claim.low / 1e5:g} … {high / 1e5:g} bar"
    source = "Assumption 5 is not delivered by the theorem: checked on the run"
    gone = diverged("pressures", text, run, claim.counted, source)
    if gone:
        return gone
    margins = {}
    for label in plant.labels:
        for side in "ab":
            p = run.log.array(f"p_{side}{label}")
            margins[f"p_{side}{label}"] = (min(float(p.min()) - claim.low, high - float(p.max())), p)
    name = min(margins, key=lambda n: margins[n][0])
    margin, p = margins[name]
    k = int(np.argmin(np.minimum(p - claim.low, high - p)))
    return Verdict("pressures", text, margin >= 0, "sampled", margin, "Pa", high, f"{name} = {p[k] / 1e5:.4g} bar at "
                   f"t = {run.log.time[k]:.2f} s", source=source, counted=claim.counted,
                   data={n: m for n, (m, _) in margins.items()})


def check_saturation(claim, run: Run) -> Verdict:
    """Share of time any valve command is at its limit."""
    plant = run.loop.plant
    text, source = f"valves at their limit for at most {100 * claim.share:g} % of the time", "requirement on the run"
    gone = diverged("saturation", text, run, claim.counted, source)
    if gone:
        return gone
    shares = {label: float(np.mean(np.abs(run.log.array(f"u_{label}")) >= c.valve.u_max * (1 - 1e-9)))
              for label, c in zip(plant.labels, plant.cylinders)}
    worst = max(shares, key=shares.get)
    top = float(np.abs(run.log.array(f"u_{worst}")).max())
    return Verdict("saturation", text, shares[worst] <= claim.share, "sampled", claim.share - shares[worst], "1", claim.share,
                   f"valve {worst}: {100 * shares[worst]:.3g} % of the time, |u| up to {top:.3g} V", source=source,
                   counted=claim.counted, data=shares)


def check_settled(claim, run: Run) -> Verdict:
    """No sustained or growing oscillation of joint errors, and no chatter of commands, in the settled part of the run."""
    text, source = "no limit cycle, no valve chatter", "settled half of the run's joint errors and commands"
    gone = diverged("settled", text, run, claim.counted, source)
    if gone:
        return gone
    found = oscillation(run, claim.floor, claim.chatter)
    if found is None:
        return Verdict("settled", text, True, "sampled",
                worst=f"no oscillation above {1e3 * claim.floor:g} mrad or mm, commands quiet "
                       f"to {claim.chatter:g} V rms", source=source, counted=claim.counted)
    name, kind, frequency, amplitude, unit = found
    return Verdict("settled", text, False, "sampled",
            worst=f"{kind} of {name}, {frequency:.3g} Hz, amplitude {amplitude:.3g} {unit}",
                   source=source, counted=claim.counted, data={"signal": name, "kind": kind, "frequency": _plain(frequency),
                                                               "amplitude": _plain(amplitude)})


SLOW = 0.25  # s: what a cubic over this time follows (to about 5 Hz) is a command's work, the rest is chatter


def oscillation(run: Run, floor: float, chatter: float):
    """(signal, kind, frequency Hz, amplitude, unit) of the worst oscillation in the settled half of a run, or None.

    Chatter: rms of a command about its own smooth part. Its frequency is the largest line of that; it need not be one line.
    """
    t = run.log.time
    step = float(t[1] - t[0]) if len(t) > 1 else 1.0
    worst = None
    for s in getattr(run.loop.controller, "commands", ()):
        limit = next((c.valve.u_max for label, c in zip(getattr(run.loop.plant, "labels", ()), getattr(run.loop.plant, "cylinders",
                ()))
                      if s.name == f"u_{label}"), np.inf)
        u = np.clip(run.log.array(s.name)[len(t) // 2:], -limit, limit)
        fast = u - smoothed(u, step)
        rms = float(np.sqrt(np.mean(fast**2)))
        if rms > chatter and (worst is None or rms > worst[0]):
            line = np.abs(np.fft.rfft(fast * np.hanning(len(fast))))
            worst = (rms, (s.name, "chatter", float(np.argmax(line) / (len(fast) * step)), float(np.sqrt(2) * rms), s.unit))
    if worst:
        return worst[1]
    cycles = {name: c for name, e in joint_errors(run).items() if (c := limit_cycle(t, e, floor=floor)).detected}
    if not cycles:
        return None
    name = max(cycles, key=lambda n: cycles[n].amplitude if np.isfinite(cycles[n].amplitude) else np.inf)
    c = cycles[name]
    kind = "growing oscillation" if c.trend == "growing" else "limit cycle"
    return name, kind, c.frequency, c.amplitude, run.log.signal(name).unit


def smoothed(u: np.ndarray, step: float) -> np.ndarray:
    """u by a cubic fitted over SLOW around every sample (Savitzky–Golay): motion passes, what is faster than about 5 Hz does
    not."""
    n = max(5, 2 * round(SLOW / step / 2) + 1)
    if len(u) < n:
        return u
    half = n // 2
    powers = np.vander(np.arange(-half, half + 1) / half, 4, increasing=True)
    weights = np.linalg.pinv(powers)  # least squares over a window; row 0 is its value in the middle
    inner = np.convolve(u, weights[0][::-1], "valid")
    return np.concatenate([powers[:half] @ (weights @ u[:n]), inner, powers[half + 1:] @ (weights @ u[-n:])])


def joint_errors(run: Run) -> dict[str, np.ndarray]:
    """q_d − q per joint along the run (joint positions themselves where nothing says what they should be)."""
    demand, plant = run.demand, run.loop.plant
    q = {n: run.log.array(n) for n in getattr(plant, "joint_names", ())}
    if demand.reference is None or demand.reference.space == "output":
        return q
    wanted = demand.joints(run.log.time)
    return {n: wanted[:, i] - q[n] for i, n in enumerate(q)}


def _plain(value):
    return float(value) if np.isfinite(value) else None


def check_energy(claim, run: Run) -> Verdict:
    """Stored energy against the integral of all named power flows."""
    text = f"energy balance of the run within {100 * claim.share:g} % of throughput"
    source = "kinetic and potential energy against the integrated power flows"
    gone = diverged("energy-balance", text, run, claim.counted, source)
    if gone:
        return gone
    gap, through = run.energy_gap
    if through == 0:
        return Verdict("energy-balance", text, None, worst="nothing moved: no energy to balance", source=source,
                counted=claim.counted)
    share = gap / through
    return Verdict("energy-balance", text, share <= claim.share, "numerical", claim.share - share, "1", claim.share,
                   f"{100 * share:.2g} % of {say(through, 'J', 3)}", source=source, counted=claim.counted,
                   data={"gap": gap, "throughput": through})


def resting_on(verdict: Verdict, energy: Verdict, run: Run) -> Verdict:
    """A sampled verdict of a run whose energy balance fails says nothing: undecided. So does one that holds on a run in which
    a piston leaves its stroke. A run that diverges is a failure, not a matter of energy.
    """
    from dataclasses import replace

    if verdict.strength != "sampled" or verdict.key == "energy-balance" or not run.log.status.completed:
        return verdict
    if verdict.holds and run.left[1]:
        note = Assumption("pistons inside their strokes", False, None, "", run.left[1])
        return replace(verdict, holds=None, worst=f"{run.left[1]}; was: {verdict.worst}", assumptions=(*verdict.assumptions, note))
    if energy.holds is not False:
        return verdict
    note = Assumption("energy balance of the run", False, energy.margin, energy.unit, energy.worst)
    return replace(verdict, holds=None, worst=f"the run's energy balance fails ({energy.worst}); was: {verdict.worst}",
                   assumptions=(*verdict.assumptions, note))
