"""Relay experiment: a relay with hysteresis makes the loop oscillate, and the oscillation tells its critical gain.

    s⁺ = 1 where e > ε, −1 where e < −ε, else s        e = y_0 − y at the samples
    u  = u_law + u_0 + d s

The relay stands where K_p, K_i and K_d of one actuator were; the rest of the law (pressure feedback, the other actuators) and
everything around it (sampling, delay, filters) stays. In a limit cycle of period T_u with error amplitude a, the relay's
describing function is N(a) = (4 d/πa) e^{−jφ}, sin φ = ε/a, so that G(jω) = −(πa/4d) e^{jφ}: the critical gain is
K_u = 4 d/(π √(a² − ε²)). a and the command's amplitude are those of the fundamental; with unequal half periods T₊, T₋
(bias, asymmetric plant) the command's is (4 d/π) sin(π T₊/T_u).

An approximation: the loop's higher harmonics are taken to be filtered away, and with hysteresis the oscillation is slower than
the loop's own at its stability limit. `RelayExperiment.response` does not approximate: in a limit cycle the fundamentals of y
and u have the ratio G(jω) of a linear plant.

Source: [AstromHagglund84]; [Astrom06] relay feedback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from controllers.pid_tuning.linear import pose
from controllers.pid_tuning.oscillation import Cycle, LimitCycle, limit_cycle
from controllers.pid_tuning.relay_law import Relay, _Still
from workbench.contract.capabilities import Posed
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import controls, find, innermost, names, rewrapped
from workbench.contract.units import quantity
from workbench.contract.wrappers import Sampled
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.run.simulate import simulate

FIRST, LONGEST = 400, 100_000  # samples of the first and of the longest run


@final
@dataclass(frozen=True, eq=False)
class RelayExperiment:
    """The result of a relay experiment, SI, in the units of command and output.

    settled     whether a limit cycle settled; `why` says why not, and the numbers below are then None
    K_u, T_u    critical gain and period, by the describing function
    amplitude   a of the error's fundamental;  mean: of the error, over whole cycles
    ω           2π/T_u;  response: G(jω) by the ratio of the fundamentals of y and u (the held command)
    symmetric   whether both half periods are alike, to within samples and 5 %
    resolution  T_s/T_u: how finely the period is known
    """

    settled: bool
    why: str
    d: float
    ε: float
    bias: float
    T_s: float
    log: Log = field(repr=False)
    output: str = ""
    command: str = ""
    K_u: float | None = None
    T_u: float | None = None
    amplitude: float | None = None
    mean: float | None = None
    ω: float | None = None
    response: complex | None = None
    symmetric: bool | None = None
    resolution: float | None = None
    cycles: tuple[Cycle, ...] = ()


def relay(
    system,
    amplitude: float | None = None,
    hysteresis: float = 0.0,
    bias: float = 0.0,
    *,
    command: str = "",
    output: str = "",
    T_s: float = 1e-3,
    at: Mapping[str, Any] | None = None,
    longest: float | None = None,
    scenario: Scenario | None = None,
) -> RelayExperiment:
    """Relay experiment on one command and output of a plant, or in the place of one actuator's PID of a sampled loop.

    system     a plant, or a sampled loop with a PID
    amplitude  d, in the unit of the command; by default a tenth of the command's limit (a plant's `limits`, a PID's u_max)
    hysteresis ε, in the unit of the output: how far the error goes beyond 0 before the relay switches
    bias       added to the relay's command, in its unit
    command    name; by default the first one;  output: by default the PID's position for it, else the first output
    T_s        sample time, for a plant (a loop has its own)
    at         states the run starts at (of a manipulator: joints, at rest), and a plant's further commands; SI or "0.1 mm"
    longest    longest run, s; by default 100,000 samples or what settles earlier
    scenario   its seed, disturbances and longest integrator step are used, not its start and reference

    The run is repeated twice as long until a limit cycle settles, and once more, so that the transient of the start has died out.
    Raises InputError for signals that do not exist, amplitudes that are not positive or leave the limit, loops without samples.
    """
    plant = system.plant if isinstance(system, ClosedLoop) else system
    begin = _begin(plant, at or {})
    loop, y, u = _relay_loop(system, amplitude, hysteresis, bias, command, output, T_s, begin)
    start = {"start": begin.pose, "offset": begin.offset}
    run = replace(scenario or Scenario(), **start, reference=None, log_period=None)
    T = float(loop.period)
    most = LONGEST if longest is None else max(int(longest / T), FIRST)
    count = min(FIRST, most)
    before = False
    while True:
        log = simulate(loop, replace(run, duration=count * T, max_step=min(run.max_step, T)))
        law = innermost(loop.controller)
        found = limit_cycle(
            log.time, log.array("relay"), log.array("e_relay"), log.array(f"{u.name}_held"), law.ε
        )
        ended = count >= most or not log.status.completed
        if ended or (found.settled and before) or found.hopeless:
            return _experiment(found, loop, log, y, u)
        count = min(2 * count, most)
        before = found.settled


@dataclass(frozen=True)
class _Begin:
    """Where a run starts: pose of a manipulator or offsets from the plant's own start, the whole state, held commands."""

    pose: tuple[float, ...] | None
    offset: Mapping[str, float]
    x: list[float]
    held: Mapping[str, float]


def _begin(plant, at: Mapping[str, Any]) -> _Begin:
    if isinstance(plant, Posed):
        p = pose(plant, at)
        return _Begin(p, {}, list(plant.initial() if p is None else plant.rest(p)), {})
    signals = (*plant.states, *plant.inputs)
    said = {
        name: quantity(value, find(signals, name, "relay, at").unit) for name, value in at.items()
    }
    own = dict(zip(names(plant.states), map(float, plant.initial())))
    offset = {name: value - own[name] for name, value in said.items() if name in own}
    return _Begin(
        None,
        offset,
        [x + offset.get(name, 0.0) for name, x in own.items()],
        {name: value for name, value in said.items() if name not in own},
    )


def _relay_loop(system, amplitude, hysteresis, bias, command, output, T_s, begin: _Begin):
    """(loop with the relay in it, output, command)."""
    given = system if isinstance(system, ClosedLoop) else None
    plant = given.plant if given else system
    if given is not None and given.period is None:
        raise InputError(
            "relay: the loop is continuous", mend="give it a sample_time: Sampled(law, T_s=…)"
        )
    u = find(controls(plant), command, "relay, command") if command else controls(plant)[0]
    i = names(controls(plant)).index(u.name)
    law = innermost(given.controller) if given else None
    if law is not None and not law.tunings():
        raise InputError(
            f"relay: the loop has {type(law).__name__}, the relay takes the place of a PID",
            mend="give a PID loop, or the plant alone",
        )
    if output:
        y = find(plant.outputs, output, "relay, output")
    else:
        y = law.measured[i] if law else plant.outputs[0]
    d = _amplitude(plant, law, u, amplitude, bias)
    inner = _around(plant, law, i, begin)
    y_0 = float(plant.out(0.0, begin.x)[names(plant.outputs).index(y.name)])
    try:
        made = Relay(inner, y, u, float(d), float(hysteresis), float(bias), y_0)
    except ValueError as why:
        raise InputError(
            f"relay: {why}".replace("d:", "amplitude:").replace("ε:", "hysteresis:"),
            mend="amplitude above 0, hysteresis 0 or more, SI",
        ) from None
    return (
        ClosedLoop(plant, rewrapped(given.controller, made) if given else Sampled(made, T_s)),
        y,
        u,
    )


def _amplitude(plant, law, u, amplitude: float | None, bias: float) -> float:
    """d: the one given, or a tenth of the command's limit; InputError where it and the bias leave the limit."""
    low, high = plant.limits().get(u.name, (-np.inf, np.inf))
    limit = law.u_max if law else min(abs(low), abs(high))
    if amplitude is None and not np.isfinite(limit):
        raise InputError(
            f"relay: how large? {type(plant).__name__} states no limit of {u.name}",
            mend=f"give the amplitude, in {u.unit}",
        )
    d = 0.1 * limit if amplitude is None else amplitude
    if d + abs(bias) > limit:
        raise InputError(
            f"relay: amplitude {d:g} and bias {bias:g} {u.unit} leave the limit of {u.name}, {limit:g} {u.unit}",
            mend="take a smaller one",
        )
    return d


def _around(plant, law, i: int, begin: _Begin):
    """What commands the rest while the relay has command i: the law without that actuator's gains, or held commands."""
    if law is None:
        values = {**plant.defaults(), **begin.held, controls(plant)[i].name: 0.0}
        held = tuple(float(values.get(s.name, 0.0)) for s in controls(plant))
        return _Still(controls(plant), held)
    without = lambda gains: tuple(0.0 if k == i else v for k, v in enumerate(law.each(gains)))
    return replace(law, **{n: without(getattr(law, n)) for n in ("K_p", "K_i", "K_d")})


def _experiment(found: LimitCycle, loop, log, y, u) -> RelayExperiment:
    law = innermost(loop.controller)
    T_s = float(loop.period)
    why = log.status.message if not log.status.completed else found.why
    common = dict(
        d=law.d,
        ε=law.ε,
        bias=law.bias,
        T_s=T_s,
        log=log,
        output=y.name,
        command=u.name,
        cycles=found.cycles,
    )
    if why or not found.settled:
        return RelayExperiment(False, why, **common)
    size = float(np.sqrt(max(found.amplitude**2 - law.ε**2, 0.0)))
    if not found.amplitude > 1.02 * law.ε:
        return RelayExperiment(
            False,
            f"the error's amplitude, {found.amplitude:.3g}, is the hysteresis itself: the output follows "
            "the relay without lag",
            **common,
        )
    K_u = 4 * law.d / np.pi * np.sin(np.pi * found.share) / size
    # y = y_0 − e, and the command reaches the hold as the samples have it
    return RelayExperiment(
        True,
        "",
        **common,
        K_u=float(K_u),
        T_u=found.period,
        amplitude=found.amplitude,
        mean=found.mean,
        ω=2 * np.pi / found.period,
        response=complex(-found.e_1 / found.u_1),
        symmetric=found.symmetric,
        resolution=T_s / found.period,
    )
