"""The sign and the size of a loop's feedback, from the machine alone and the law alone.

Where the law cannot be asked apart from its wiring (a user's own), the sign of the loop is: G = Δy/Δu of the machine alone over a
fifth of a second, K = ∂u/∂y of the law; G K must be negative on the diagonal.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import combinations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import Commanding, LinearNearRest, Remembering, Starting, Stepped
from workbench.contract.plain import Plain
from workbench.contract.system import controls, innermost, names
from workbench.run.simulate import simulate
from workbench.verification.cause.wiring import instant, samples, traced

HORIZON = 0.2  # s
SEVERAL = 1.0  # time constants within a run, below which a loop gets nowhere
PUSH = 0.1  # share of a command's range


def response(run, commands: list[str], outputs: list[str]) -> np.ndarray | None:
    """G: what a unit of each command has done to each output after HORIZON, from the run's own start, both directions.

    None where the plant cannot be run so.
    """
    plant = run.loop.plant
    ranges = run.loop.plant.limits()
    still = replace(
        run.scenario, reference=None, disturbances={}, duration=HORIZON, log_period=None
    )
    columns = []
    for name in commands:
        push = PUSH * (ranges[name][1] if name in ranges else 1.0)
        try:
            ends = [
                simulate(plant, replace(still, disturbances={name: side * push}))
                for side in (1.0, -1.0)
            ]
        except (InputError, ValueError):
            return None
        up, down = (_last(plant, log, outputs) for log in ends)
        columns.append((up - down) / (2 * push))
    return np.array(columns).T


def _last(plant, log, outputs: list[str]) -> np.ndarray:
    """What is measured at the end of a run of the plant alone."""
    x = [float(log.array(s.name)[-1]) for s in plant.states]
    measured = dict(zip(names(plant.outputs), plant.out(float(log.time[-1]), x)))
    return np.array([float(measured[name]) for name in outputs])


def feedback(run, sized: bool = True) -> str:
    """Positive feedback, crossed pairs or (`sized`) a gain far from what the machine bears, by G and K; else empty."""
    loop = run.loop
    position = _followed(loop)
    commands = names(loop.controller.commands)
    if (
        not position
        or len(position) != len(commands)
        or not set(commands) <= set(names(controls(loop.plant)))
    ):
        return ""
    G = response(run, commands, position)
    K = slopes(run, position)
    if G is None or K is None or not np.isfinite(G).all() or not np.isfinite(K).all():
        return ""
    idle = [name for name, gains in zip(position, K.T) if not gains.any()]
    if idle and _forgets(loop):
        return f"the law does not act on {', '.join(idle)}: its gain from there to {', '.join(commands)} is zero"
    if negative(G @ K):
        if not sized:
            return ""
        return _far_off(loop, commands, position, -np.diag(G @ K) / HORIZON, run.scenario.length())
    n = len(commands)
    for i, j in combinations(range(n), 2):
        P = np.eye(n)
        P[[i, j]] = P[[j, i]]
        if negative(G @ P @ K):
            return (
                f"commands {commands[i]} and {commands[j]} swapped: as they are wired the loop feeds back positively or "
                "crosswise"
            )
    for i in range(n):
        S = np.eye(n)
        S[i, i] = -1.0
        if negative(G @ S @ K):
            return f"sign of the command {commands[i]} (positive feedback: {position[i]} is driven away from its reference)"
    if negative(-G @ K):
        return f"sign of the commands {', '.join(commands)} (positive feedback on {', '.join(position)})"
    return ""


def _forgets(loop) -> bool:
    """Whether what the law commands follows from one sample alone."""
    law = innermost(loop.controller)
    if isinstance(law, Plain):
        return not isinstance(law.law, Stepped) and not isinstance(law.law, Remembering)
    return not law.states


def _far_off(loop, commands, position, rates, length) -> str:
    """A user's own gain that closes its loop faster than samples can, or not within the run, in words."""
    k = int(np.argmax(rates))
    slow = int(np.argmin(rates))
    bears = 0.5 / float(loop.period or 1e-3)
    law = innermost(loop.controller)
    if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
        return ""
    if rates[slow] * length < SEVERAL:
        return (
            f"gain from {position[slow]} to {commands[slow]}: it closes the loop at {rates[slow]:.3g} 1/s, which in a run of "
            f"{length:.3g} s gets nowhere (a slip of units?)"
        )
    if rates[k] < bears:
        return ""
    return (
        f"gain from {position[k]} to {commands[k]}: it closes the loop at {rates[k]:.3g} 1/s, and a sample time of "
        f"{1e3 * float(loop.period or 1e-3):g} ms bears {bears:.3g} 1/s (a slip of units?)"
    )


def _followed(loop) -> list[str]:
    """Measured positions the law is to bring to a reference."""
    from workbench.run.targets import parse

    wanted = [
        parse(s.name.split("@")[0]) for s in loop.controller.references if s.kind == "reference"
    ]
    measured = set(names(loop.controller.measured))
    return [
        name
        for name in dict.fromkeys(name for name, order in wanted if order == 0)
        if name in measured
    ]


def negative(M: np.ndarray) -> bool:
    """Whether every loop feeds back negatively, and more into its own output than into any other."""
    own = np.diag(M)
    across = np.abs(M - np.diag(own)).max(axis=0) if len(M) > 1 else np.zeros(1)
    return bool((own < 0).all() and (np.abs(own) > across).all())


def slopes(run, position: list[str]) -> np.ndarray | None:
    """K = ∂u/∂y of the controller at the first sample, by differences, without its hold, delay and limits."""
    first = next(iter(samples(run)), None)
    if first is None:
        return None
    t, z, y, r = first
    whole = instant(run.loop.controller)
    plain = isinstance(innermost(whole), Plain)

    whole_law = None if plain else traced(whole)

    def ask(given):
        return asked(innermost(whole).law, t, given, r) if plain else whole_law(t, z, given, r)

    columns = []
    measured = names(run.loop.controller.measured)
    for name in position:
        step = np.zeros(len(y))
        step[measured.index(name)] = 1e-5 * max(1.0, abs(y[measured.index(name)]))
        up, down = (ask(list(np.array(y) + side * step)) for side in (1, -1))
        columns.append((np.array(up, float) - np.array(down, float)) / (2 * step.max()))
    return np.array(columns).T


def asked(law, t, y, r) -> list:
    """What a user's own law commands at its first sample, asked of a copy, so that it remembers nothing of it."""
    own = deepcopy(law)
    if not isinstance(own, Stepped) and not isinstance(own, Commanding):
        given = own(t, y, r)
    else:
        z = own.initial() if isinstance(own, Remembering) else None
        z = own.start(t, z, y, r) if isinstance(own, Starting) else z
        given = own.step(t, z, y, r)[1] if isinstance(own, Stepped) else own.command(t, z, y, r)
    return [float(v) for v in np.atleast_1d(given)]
