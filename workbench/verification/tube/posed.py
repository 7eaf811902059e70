"""The question of a tube as arrays: the loop's programs, its nominal run at the samples, what comes after its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import innermost, names
from workbench.contract.units import format_quantity as say
from workbench.numerics.calculus import trace
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.measures import measures, named
from workbench.verification.tube.opened import NOTHING, STEPS, Free, noisy, opened
from workbench.verification.tube.programs import program

SAME = 1e-11  # relative difference of a reference's numbers from one period to the next
ORDER = 4


@dataclass(frozen=True, eq=False)
class Posed:
    """A tube without widths: what holds deviations in `tube` is not chosen yet. ends: "rest", "period" or "horizon".

    conditions: states that are to stay at or below 0, so that the loop's expressions are its law. begins: the instant of the
    run at which the tube does, s. told: units of what is told of the samples, by name. left: what cannot be told, and why.
    """

    tube: Tube
    states: tuple[str, ...]
    units: tuple[str, ...]
    ends: str
    scale: np.ndarray
    free: Free = NOTHING
    conditions: tuple[str, ...] = ()
    begins: float = 0.0
    told: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)


def posed(
    run: Any,
    half: dict[str, float],
    substeps: int = 1,
    free: Free = NOTHING,
    start: np.ndarray | None = None,
    after: float = 0.0,
) -> Posed:
    """The tube of a run from starts within `half` (state → half-width) of its own; InputError where it cannot be asked.

    free: what else runs may differ in; its states come behind the loop's. start: the middle of the starts, which the run
    itself begins at but for rounding; the run's own by default. after: the instant of the run around which they start.
    """
    check(run.loop, run)
    loop = noisy(run.loop, free.noises)
    traced = trace(loop, (*run.demand.live, *(noise.input for noise in free.noises)))
    n = traced.n_states + len(free.values)
    first = first_sample(run, after)
    told = measures(loop, traced, set(read_by(program(traced.jump), traced.n_states).tolist()))
    programs = _programs(_functions(traced, free, told.values, later=first > 0), n)
    section = read_by(programs["jump"], n)
    w, states, x0 = _from_sample(first, programs, *_course(run, traced, loop, free, start))
    check_disturbances(programs["flow"].depends()[:, 1 + n : 1 + n + w.shape[1]], w)
    Z = states[:, section]
    times = run.log.time[first:]
    ends, keep, following, slack = ending(w, Z, times)
    tube = Tube(
        **programs,
        **_starts(loop, traced, free, half),
        **_without_widths(len(keep), n, len(section)),
        **_unbounded(told.names),
        **_clock(loop, substeps),
        **_nodes(Z[keep], w[keep], slack, following, x0),
        parameters=traced.numbers(loop),
        states=n,
        section=section,
    )
    return Posed(
        tube,
        states=tuple(tube.names.tolist()),
        units=(*(s.unit for s in loop.states), *free.units),
        ends=ends,
        scale=scales(Z),
        free=free,
        conditions=innermost(loop.controller).conditions,
        begins=times[0],
        told=named(loop),
        left=told.left,
    )


def _clock(loop: Any, substeps: int) -> dict:
    """When the loop samples and releases its commands, and by how many steps of which order a sample is followed."""
    return {
        "T": float(loop.period),
        "lag": float(loop.lag),
        "substeps": np.array([substeps if loop.lag else 0, substeps]),
        "order": ORDER,
    }


def _starts(loop: Any, traced: Any, free: Free, half: dict[str, float]) -> dict:
    """What the starts may differ in: names of the loop's states and of what else is free, and their half-widths."""
    return {
        "half": np.array([*(half.get(s.name, 0.0) for s in loop.states), *free.halves]),
        "fresh": np.array([0.0] * traced.n_states + free.fresh),
        "names": np.array([*names(loop.states), *free.names]),
    }


def first_sample(run: Any, after: float) -> int:
    """The sample of a run that an instant is nearest to; InputError where the run has ended by then."""
    k = round(after / run.loop.period)
    if k >= len(run.log.time) - 1:
        raise InputError(
            f"after: {say(after, 's')}, expected an instant before the end of the run at {say(run.log.time[-1], 's')}"
        )
    return k


def unchanged(start: ca.Function) -> ca.Function:
    """The start of runs that begin at a sample with the law's memory as it is: the identity."""
    given = [ca.SX.sym(f"v{i}", start.size1_in(i)) for i in range(start.n_in())]
    return ca.Function("start", given, [given[1]])


def check_untimed(programs: dict) -> None:
    """InputError where a loop reads the time: nodes count it from the start of the tube."""
    timed = [name for name in ("jump", "release", "flow") if programs[name].depends()[:, 0].any()]
    if timed:
        raise InputError(
            "after: plant or law reads the time itself, so that a tube has to begin with the run",
            mend="leave `after` out",
        )


def read_by(jump: Any, n: int) -> np.ndarray:
    """Which of the n states a sample reads."""
    return np.flatnonzero(jump.depends()[:, 1 : 1 + n].any(axis=0))


def _without_widths(K: int, n: int, read: int) -> dict:
    """What holds the deviations of K nodes, n states and a section of `read` of them, before it is chosen."""
    return {
        "finer": np.ones(K, int),
        "R": np.eye(read),
        "σ": 1.0,
        "reach": np.zeros((K, 1, n)),
        "segments": np.zeros((K, read, 0)),
        "balls": np.zeros((K, read, read)),
        "splits": np.zeros((0, 3)),
        "paths": np.zeros((0, 0, 0, 0)),
        "low": np.full(n, -np.inf),
        "high": np.full(n, np.inf),
    }


def _nodes(
    z: np.ndarray, w: np.ndarray, slack: np.ndarray, following: np.ndarray, x0: np.ndarray
) -> dict:
    """The nominal run before each node, what leads from one to the next, and the middle of its starts."""
    return {"z": z, "w": w, "slack": slack, "after": following, "x0": x0}


def _unbounded(told: tuple[str, ...]) -> dict:
    """What is told of the samples, of which nothing is known yet."""
    everything = np.full(len(told), np.inf)
    return {"told": np.array(told, str), "least": -everything, "most": everything}


def _course(
    run: Any, traced: Any, loop: Any, free: Free, start: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(w, states, x0): the nominal run's inputs and states before every sample, and the middle of its starts.

    Beside the loop's states stands what else is free, whose values stay.
    """
    times = run.log.time
    n = traced.n_states
    own = np.array(free.values)
    w = np.asarray(run.demand.at(times), float).reshape(len(times), -1)
    x0 = np.array(run.demand.start if start is None else start, float)
    begun = traced.start(0.0, x0, [*w[0], *np.zeros(len(free.noises))], traced.constants(loop))
    states = before(run.log.values[:, :n], np.array(begun).ravel(), traced)
    return w, np.hstack([states, np.tile(own, (len(states), 1))]), np.concatenate([x0, own])


def _from_sample(first: int, programs: dict, w: np.ndarray, states: np.ndarray, x0: np.ndarray):
    """(w, states, x0) of a tube that begins at the sample `first`, where that is not the run's own start."""
    if not first:
        return w, states, x0
    check_untimed(programs)
    return w[first:], states[first:], states[first]


def _functions(traced: Any, free: Free, told: ca.Function, later: bool) -> dict:
    """The loop's functions; of a tube that begins later than the run the start is the identity."""
    functions = opened(traced, free, told)
    return functions | {"start": unchanged(functions["start"])} if later else functions


def _programs(functions: dict, n: int) -> dict:
    """The programs of a tube by name: those of a step give n states."""
    programs = {name: program(functions[name], n) for name in STEPS}
    whole = {name: program(functions[name]) for name in ("prelude", "out")}
    return programs | whole


def check_disturbances(drives: np.ndarray, w: np.ndarray) -> None:
    """InputError where the flow reads inputs (`drives`: which output reads which) that are not the same all along the run."""
    if drives.any() and np.ptp(w, axis=0).any():
        raise InputError(
            "what disturbs the flow between samples changes along the run",
            mend="give a disturbance that is constant (Hold), or none",
        )


def scales(Z: np.ndarray) -> np.ndarray:
    """How far every state goes along the run, or how large it is where it stays."""
    size = np.ptp(Z, axis=0)
    return np.where(size > 0, size, np.maximum(np.abs(Z).max(axis=0), 1e-9))


def check(loop: Any, run: Any) -> None:
    """InputError for a loop that no tube can be asked of, with the reason."""
    mend = "ask it of a sampled loop whose law is written as expressions"
    if loop.hosted or loop.no_derivative:
        raise InputError("the loop has no expressions to enclose", mend=mend)
    if loop.period is None:
        raise InputError("the loop is not sampled", mend="sample the law: loop.sample_time")
    if loop.plant.on_floats or trace(loop, run.demand.live).project is not None:
        raise InputError(
            "the plant's motion is more than its rates: a projection, or code on numbers",
            mend="give it as a mechanism with method: minimal",
        )
    if loop.plant.dead_ends:
        raise InputError(
            "the plant's motion has dead ends, where a run stops: its rates do not tell them",
            mend="ask it of a mechanism without them",
        )
    kinds = {s.name: s.kind for s in loop.inputs}
    noisy = [name for name in run.demand.live if kinds.get(name) == "noise"]
    if noisy:
        raise InputError(f"{noisy[0]} is noise, which has no bounds", mend="leave the noise out")
    if not run.log.status.completed:
        raise InputError(
            f"the run did not end: {run.log.status.message}", mend="mend the run first"
        )
    time = run.log.time
    if not np.allclose(time, np.arange(len(time)) * loop.period, rtol=1e-12, atol=0):
        raise InputError("the log has not one row a sample", mend="leave log_period out")


def before(X: np.ndarray, begun: np.ndarray, traced: Any) -> np.ndarray:
    """States just before every sample: what flows is as logged, what only jumps as it was after the sample before."""
    moving = ~program(traced.flow, traced.n_states).still()
    Z = X.copy()
    Z[1:, ~moving] = X[:-1, ~moving]
    Z[0] = begun
    return Z


def ending(w: np.ndarray, Z: np.ndarray, times: np.ndarray) -> tuple:
    """(how it ends, nodes that are kept, their successors, slack of the references)."""
    N = len(w)
    size = np.abs(w).max(axis=0) if w.size else np.zeros(w.shape[1])
    moving = np.flatnonzero((w != w[-1]).any(axis=1)) if w.size else np.zeros(0, int)
    last = int(moving[-1]) + 1 if len(moving) else 0
    nodes = np.arange(N)
    following = nodes + 1
    if last < 0.9 * N:
        following[-1] = N - 1
        return "rest", nodes, following, np.zeros(w.shape[1])
    period = repeats(w, size)
    if period:
        following[-1] = N - period
        return "period", nodes, following, SAME * size
    following[-1] = -1
    return "horizon", nodes, following, np.zeros(w.shape[1])


def repeats(w: np.ndarray, size: np.ndarray) -> int:
    """After how many samples the references are what they were, over two periods or more at the end of the run; 0: never."""
    N = len(w)
    tail = w[N // 4 :]
    for P in range(2, len(tail) // 2 + 1):
        near = np.abs(tail[P] - tail[0]) <= SAME * size
        if near.all() and (np.abs(tail[P:] - tail[:-P]) <= 0.5 * SAME * size).all():
            return P
    return 0
