"""Claims on the signals of a run: tool error, pressures, saturation, settled, energy balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.contract.wrappers import Saturated
from workbench.run.demand import parse, target_name
from workbench.run.metrics import limit_cycle
from workbench.run.reference import Sine, Waypoints
from workbench.verification.run import Run, error_unit
from workbench.verification.scales import signal_floor, storage_floor
from workbench.verification.verdict import Assumption, Verdict


def diverged(key: str, claim_text: str, run: Run, counted: bool, source: str) -> Verdict | None:
    """A violated verdict for a run that did not reach its end, else None; undecided where integrator or equations end."""
    if run.log.status.completed:
        return None
    if not run.log.status.followed:
        return Verdict(
            key, claim_text, None, worst=run.log.status.message, source=source, counted=counted
        )
    return Verdict(
        key,
        claim_text,
        False,
        "sampled",
        worst=run.log.status.message,
        source=source,
        counted=counted,
        data={"t_end": run.log.status.t_end, "state": run.log.status.state},
    )


def too_short(
    key: str, claim_text: str, run: Run, settle: float, counted: bool, source: str
) -> Verdict | None:
    """An undecided verdict for a run that ends before anything need have settled, else None."""
    end = float(run.log.time[-1])
    if end > settle:
        return None
    return Verdict(
        key,
        claim_text,
        None,
        worst=f"the run ends at {end:.3g} s, within the {settle:g} s allowed for settling: run "
        "it longer, or allow less",
        source=source,
        counted=counted,
    )


def check_tracking(claim, run: Run) -> Verdict:
    """Largest tool error after settling."""
    unit, source = run.error_unit, "requirement on the run"
    allowed = size_of(claim, "error", [unit])
    text = f"{'tool error' if run.loop.plant.has_tool else 'tracking error'} ≤ {say(allowed, unit)}"
    gone = diverged("tracking", text, run, claim.counted, source)
    if gone:
        return gone
    short = too_short("tracking", text, run, claim.settle, claim.counted, source)
    if short:
        return short
    e = run.tool_error
    if e is None:
        return Verdict(
            "tracking",
            text,
            None,
            worst="nothing says where the tool or the outputs should be",
            source=source,
            counted=claim.counted,
        )
    part = run.settled(claim.settle)
    k = int(np.argmax(e[part])) + part.start
    return Verdict(
        "tracking",
        text,
        bool(e[k] <= allowed),
        "sampled",
        float(allowed - e[k]),
        unit,
        allowed,
        f"{say(e[k], unit, 3)} at t = {run.log.time[k]:.2f} s",
        source=source,
        counted=claim.counted,
        data={"largest": float(e[k]), "rms": float(np.sqrt(np.mean(e[part] ** 2)))},
    )


def check_pressures(claim, run: Run) -> Verdict:
    """All chamber pressures inside their limits; an accompanying function does not bound their common mode."""
    plant = run.loop.plant
    high = (
        claim.high
        if claim.high is not None
        else 1.25 * (np.inf if plant.p_s is None else plant.p_s)
    )
    text = (
        f"chamber pressures within {claim.low / 1e5:g} … {high / 1e5:g} bar"
        if np.isfinite(high)
        else f"chamber pressures not below {claim.low / 1e5:g} bar"
    )
    source = "pressure limits, checked on the run"
    gone = diverged("pressures", text, run, claim.counted, source)
    if gone:
        return gone
    if not plant.pressure_names:
        return Verdict(
            "pressures",
            text,
            None,
            worst="the plant names no chamber pressures",
            source=source,
            counted=claim.counted,
        )
    ends = {
        n: run.valves.ranges[n] if run.valves else (run.log.array(n),) * 2
        for n in plant.pressure_names
    }
    best = {n: np.minimum(b - claim.low, high - a) for n, (a, b) in ends.items()}
    out = any(r.min() < 0 for r in best.values())  # whichever pressure it is of those that balance
    rooms = best if out else {n: np.minimum(a - claim.low, high - b) for n, (a, b) in ends.items()}
    room = {n: float(r.min()) for n, r in rooms.items()}
    name = min(room, key=room.get)
    k = int(np.argmin(rooms[name]))
    a, b = (float(p[k]) for p in ends[name])
    at = say(a, "Pa") if a == b else f"anywhere between {say(a, 'Pa')} and {say(b, 'Pa')}"
    limit = high if (high - a <= b - claim.low if out else high - b <= a - claim.low) else claim.low
    return Verdict(
        "pressures",
        text,
        False if out else True if room[name] >= 0 else None,
        "sampled",
        room[name],
        "Pa",
        limit,
        f"{name} = {at} at t = {run.log.time[k]:.2f} s"
        + (f"; {run.hollow[1]}" if run.hollow[1] else ""),
        source=source,
        counted=claim.counted,
        data=room,
    )


def command_limits(run: Run) -> dict[str, tuple[float, float]]:
    """Range of every command: the plant's own, narrowed by what the controller allows itself."""
    ranges = dict(run.loop.plant.limits())
    around = run.loop.controller
    while around is not None:
        if isinstance(around, Saturated):
            for s in around.commands:
                low, high = ranges.get(s.name, (-np.inf, np.inf))
                ranges[s.name] = (max(low, around.low), min(high, around.high))
        around = around.inner
    return ranges


def check_saturation(claim, run: Run) -> Verdict:
    """Share of time any command is at its limit."""
    text, source = (
        f"commands at their limit for at most {100 * claim.share:g} % of the time",
        "requirement on the run",
    )
    gone = diverged("saturation", text, run, claim.counted, source)
    if gone:
        return gone
    shares = {}
    for name, (low, high) in command_limits(run).items():
        u, slack = run.log.array(name), 1e-9 * (high - low)
        shares[name] = float(np.mean((u >= high - slack) | (u <= low + slack)))
    if not shares:
        return Verdict(
            "saturation",
            text,
            None,
            worst="no command has a limit",
            source=source,
            counted=claim.counted,
        )
    worst = max(shares, key=shares.get)
    top = float(np.abs(run.log.array(worst)).max())
    return Verdict(
        "saturation",
        text,
        shares[worst] <= claim.share,
        "sampled",
        claim.share - shares[worst],
        "1",
        claim.share,
        f"{worst}: {100 * shares[worst]:.3g} % of the time, up to {say(top, run.log.signal(worst).unit, 3)}",
        source=source,
        counted=claim.counted,
        data=shares,
    )


def size_of(claim, field: str, units: Sequence[str]) -> float:
    """A size in SI: a number as it is, a text in the first of these units that suits it. Raises InputError."""
    value, refused = getattr(claim, field), None
    for unit in dict.fromkeys(units):
        try:
            number = quantity(value, unit)
        except InputError as why:
            refused = refused or why
            continue
        if not number > 0:
            raise InputError(
                f"{field}: must be greater than zero, got {value}",
                mend="give a value greater than zero",
            )
        return number
    if refused:
        raise InputError(f"{field}: {refused.message}", mend=refused.mend)
    return float(quantity(value, "1"))


def error_units(loop) -> list[str]:
    """Units of what can oscillate: the outputs that are to follow a reference, the joints of a machine with a tool."""
    plant = loop.plant
    known = {s.name: s.unit for s in (*plant.states, *plant.outputs)}
    asked = (
        []
        if plant.has_tool
        else [parse(s.name)[0] for s in loop.inputs if s.kind == "reference" and "@" not in s.name]
    )
    followed = [known[n] for n in asked if n in known]
    return (
        followed
        or [known[n] for n in plant.joint_names if n in known]
        or [s.unit for s in plant.outputs]
    )


def in_si(claim, loop):
    """The claim with sizes given as text ("10 um") as numbers."""
    units = {"floor": error_units(loop), "error": [error_unit(loop)]}
    texts = [f for f in units if isinstance(vars(claim).get(f), str)]
    return replace(claim, **{f: size_of(claim, f, units[f]) for f in texts}) if texts else claim


def small(run: Run, floor: float) -> str:
    return (
        f"{1e3 * floor:g} mrad or mm"
        if run.loop.plant.cylinders
        else ", ".join(
            dict.fromkeys(say(floor, run.log.signal(n).unit, 3) for n in joint_errors(run))
        )
    )


def beside(run: Run, floor: float, found) -> str:
    """What belongs to an oscillation: the output that cycles with a chattering command, the plant's own mode near it."""
    name, kind, frequency, _, _ = found
    cycles = output_cycles(run, floor) if kind == "chatter" else {}
    words = [
        f"with it a limit cycle of {n}, {c.frequency:.3g} Hz ({2 * np.pi * c.frequency:.3g} rad/s), amplitude "
        f"{say(c.amplitude, run.log.signal(n).unit, 3)}"
        for n, c in cycles.items()
        if np.isfinite(c.frequency)
    ]
    if not run.loop.plant.cylinders and np.isfinite(frequency):
        words += _mode(run, 2 * np.pi * frequency)
    return "".join(f"; {w}" for w in words)


def _mode(run: Run, ω: float) -> list[str]:
    """The lightly damped mode of the plant at its start that is nearest to ω, rad/s, if one is within half of it."""
    from workbench.contract.errors import InputError
    from workbench.numerics.calculus import linearize

    try:
        λ = np.linalg.eigvals(
            linearize(run.loop.plant, list(run.log.values[0, : len(run.loop.plant.states)])).A
        )
    except InputError:
        return []
    λ = λ[(λ.imag > 0) & (-λ.real < 0.2 * np.abs(λ))]
    if (
        not len(λ)
        or (near := λ[np.abs(np.abs(λ) - ω).argmin()]) is None
        or abs(abs(near) - ω) > 0.5 * ω
    ):
        return []
    size = abs(near)
    return [
        f"the plant has a mode of damping {-near.real / size:.2g} at {size:.4g} rad/s ({size / 2 / np.pi:.3g} Hz)"
    ]


def output_cycles(run: Run, floor: float) -> dict:
    """Joint (or output) errors that cycle otherwise than they are commanded to: name → LimitCycle."""
    seen = run.fine
    time = seen.log.time
    periods = commanded_periods(run)
    found = {}
    for name, error in joint_errors(seen).items():
        t, own = uncommanded(time, error, periods)
        if len(t) < 2 * FEWEST:
            continue
        cycle = limit_cycle(t, own, floor=max(floor, signal_floor(run.loop.plant, name)))
        if cycle.detected:
            found[name] = cycle
    return found


def commanded_periods(run: Run) -> list[float]:
    """Periods (s) of what drives the loop: a sine, a path walked again and again."""
    found = []
    for given in (run.scenario.reference, *run.scenario.disturbances.values()):
        if isinstance(given, Sine):
            found.append(1.0 / given.frequency)
        elif isinstance(given, Waypoints) and given.repeat > 1:
            found.append((given.duration + given.dwell) / given.repeat)
    return found


def uncommanded(
    time: np.ndarray, error: np.ndarray, periods: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """(t, e(t) − e(t − T)) for every commanded period T that fits three times: what a periodic command explains is gone.

    A cycle of another frequency stays, up to twice as large; growth stays growth.
    """
    for period in periods:
        if time[-1] - time[0] < 3 * period:
            continue
        later = time >= time[0] + period
        error = error[later] - np.interp(time[later] - period, time, error)
        time = time[later]
    return time, error


FEWEST = 16  # samples in the settled half that a search for oscillations needs
SLOW = 0.25  # s: what a cubic over this time follows (to about 5 Hz) is a command's work, the rest is chatter


def oscillation(run: Run, floor: float, chatter: float):
    """(signal, kind, frequency Hz, amplitude, unit) of the worst oscillation in the settled half of a run, or None.

    Chatter: rms of a command about its own smooth part. Its frequency is the largest line of that; it need not be one line.
    """
    t = run.log.time
    step = float(t[1] - t[0]) if len(t) > 1 else 1.0
    worst = None
    for name, (low, high) in ranges_of_commands(run).items():
        whole = np.clip(run.log.array(name), low, high)
        u = whole[len(t) // 2 :]
        fast = swinging(u - smoothed(u, step), step)
        rms = float(np.sqrt(np.mean(fast**2)))
        full = range_used(whole, step, low, high)
        if rms > chatter * full and (worst is None or rms / full > worst[0]):
            line = np.abs(np.fft.rfft(fast * np.hanning(len(fast))))
            worst = (
                rms / full,
                (
                    name,
                    "chatter",
                    float(np.argmax(line) / (len(fast) * step)),
                    float(np.sqrt(2) * rms),
                    run.log.signal(name).unit,
                ),
            )
    if worst:
        return worst[1]
    cycles = output_cycles(run, floor)
    if not cycles:
        return None
    name = max(
        cycles, key=lambda n: cycles[n].amplitude if np.isfinite(cycles[n].amplitude) else np.inf
    )
    c = cycles[name]
    kind = "growing oscillation" if c.trend == "growing" else "limit cycle"
    return name, kind, c.frequency, c.amplitude, run.log.signal(name).unit


LEAST_USED = 0.1  # of half the range a command can have: what a command counts as using at least


def ranges_of_commands(run: Run) -> dict[str, tuple[float, float]]:
    """The plant's own range of every command the law gives; infinite where it has none. What a law allows itself is no range."""
    own = run.loop.plant.limits()
    return {s.name: own.get(s.name, (-np.inf, np.inf)) for s in run.loop.controller.commands}


def range_used(u: np.ndarray, step: float, low: float, high: float) -> float:
    """Half of the range that the smooth part of a command goes through on the run, at least LEAST_USED of half its own range."""
    used = 0.5 * float(np.ptp(smoothed(u, step)))
    return max(used, LEAST_USED * 0.5 * (high - low)) if np.isfinite(high - low) else used


WINDOW = 0.5  # s: in which what is fast must swing to and fro to count as chatter
SWINGS = 5  # changes of side a window, at least; a jump, smoothed off, has fewer
SIDE = 0.25  # of the window's largest value: what is nearer to zero is on neither side


def swinging(fast: np.ndarray, step: float) -> np.ndarray:
    """The fast part of a command where it swings; 0 in windows where it only jumps, as friction fed forward does at a reversal."""
    size = max(4 * SWINGS, round(WINDOW / step))
    kept = fast.copy()
    for first in range(0, len(fast), size):
        part = fast[first : first + size]
        sides = np.sign(part[np.abs(part) > SIDE * np.abs(part).max(initial=0.0)])
        if np.count_nonzero(np.diff(sides)) < SWINGS * len(part) / size:
            kept[first : first + size] = 0.0
    return kept


def smoothed(u: np.ndarray, step: float) -> np.ndarray:
    """u by a cubic fitted over SLOW around every sample (Savitzky–Golay): motion passes, what is faster than about 5 Hz does
    not."""
    n = max(5, 2 * round(SLOW / step / 2) + 1)
    if len(u) < n:
        return u
    half = n // 2
    powers = np.vander(np.arange(-half, half + 1) / half, 4, increasing=True)
    weights = np.linalg.pinv(
        powers
    )  # least squares over a window; row 0 is its value in the middle
    inner = np.convolve(u, weights[0][::-1], "valid")
    return np.concatenate(
        [powers[:half] @ (weights @ u[:n]), inner, powers[half + 1 :] @ (weights @ u[-n:])]
    )


def joint_errors(run: Run) -> dict[str, np.ndarray]:
    """Desired minus actual, per joint or per output a reference refers to (positions themselves where nothing is desired)."""
    demand, plant = run.demand, run.loop.plant
    if demand.reference is not None and (demand.reference.space == "output" or not plant.has_tool):
        return {
            n: run.log.array(target_name(n, 0)) - run.log.array(n)
            for n, order in demand.wanted
            if order == 0
        }
    q = {n: run.log.array(n) for n in plant.joint_names}
    if demand.reference is None:
        return q
    wanted = demand.joints(run.log.time)
    return {n: wanted[:, i] - q[n] for i, n in enumerate(q)}


def check_energy(claim, run: Run) -> Verdict:
    """Energy stored against the integral of all named power flows: where they drift apart, the run is not to be trusted."""
    text = f"energy balance of the run within {100 * claim.share:g} % of throughput"
    source = "energy stored against the integrated power flows"
    gone = diverged("energy-balance", text, run, claim.counted, source)
    if gone:
        return gone
    e = run.energy
    if (
        e is None
        or e.through == 0
        or e.share > claim.share
        and e.drift <= max(e.rounding, storage_floor(run))
    ):
        return Verdict(
            "energy-balance",
            text,
            None,
            source=source,
            counted=claim.counted,
            worst=(
                "nothing moved: no energy to balance"
                if e
                else f"{type(run.loop.plant).__name__} states no energy, so there is none to balance: leave this claim out"
            ),
        )
    most = sorted(e.by.items(), key=lambda item: -abs(item[1]))[:3]
    return Verdict(
        "energy-balance",
        text,
        e.share <= claim.share,
        "numerical",
        claim.share - e.share,
        "1",
        claim.share,
        f"drift {say(e.drift, 'J', 2)}, {100 * e.share:.2g} % of {say(e.through, 'J', 3)}; most by "
        + ", ".join(f"{name} {say(J, 'J', 3)}" for name, J in most),
        source=source,
        counted=claim.counted,
        data={"gap": e.drift, "throughput": e.through, "by": e.by, "change": e.change},
    )


def resting_on(verdict: Verdict, energy: Verdict, run: Run) -> Verdict:
    """A sampled verdict of a run whose energy balance fails says nothing: undecided. So does one that holds on a run in which
    a piston leaves its stroke, a chamber falls below vacuum or a linkage passes a change point.
    A run that diverges is a failure, not a matter of energy.
    """
    if (
        verdict.strength != "sampled"
        or verdict.key == "energy-balance"
        or not run.log.status.completed
    ):
        return verdict
    for what, (_, why) in (
        ("pistons inside their strokes", run.left),
        ("chambers above vacuum", run.hollow),
        ("linkage away from change points", run.crossed),
    ):
        if verdict.holds and why:
            return replace(
                verdict,
                holds=None,
                worst=f"{why}; was: {verdict.worst}",
                assumptions=(*verdict.assumptions, Assumption(what, False, None, "", why)),
            )
    if energy.holds is not False:
        return verdict
    note = Assumption("energy balance of the run", False, energy.margin, energy.unit, energy.worst)
    return replace(
        verdict,
        holds=None,
        worst=f"the run's energy balance fails ({energy.worst}); was: {verdict.worst}",
        assumptions=(*verdict.assumptions, note),
    )
