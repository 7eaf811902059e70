"""Shares of a run that sentences ask for: how long commands and parts of the machine were at their limits.

    at_limit           the share of the run for which the command that is most often at its limit has been there so far
    `at LIMIT`         the same of a limit of the machine that it bears for a while, by the limit's name

Both grow along the run up to the share of the whole, so that `always (at_limit <= 1 %)` asks for that. Rows of the run count alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.contract.machine_limits import Limit
from workbench.contract.units import format_quantity as say
from workbench.contract.wrappers import Saturated
from workbench.verification.observed.requirements import diverged
from workbench.verification.run import Run
from workbench.verification.temporal import ready
from workbench.verification.verdict import Verdict

AT_LIMIT = "at_limit"
NEAR = 1e-9  # share of a command's range: what counts as at its limit
ROUNDING = 1e-6  # share of the size of a machine's limit: what rounding may pass it by


def so_far(at: np.ndarray) -> np.ndarray:
    """Share of the run (N,) that was `at` (N,) something up to each row."""
    return np.cumsum(at) / len(at)


# ---- commands -------------------------------------------------------------------------------------------------------
def command_limits(loop: Any) -> dict[str, tuple[float, float]]:
    """Range of every command: the plant's own, narrowed by what the controller allows itself."""
    ranges = dict(loop.plant.limits())
    around = loop.controller
    while around is not None:
        if isinstance(around, Saturated):
            for s in around.commands:
                low, high = ranges.get(s.name, (-np.inf, np.inf))
                ranges[s.name] = (max(low, around.low), min(high, around.high))
        around = around.inner
    return ranges


def commands_at_limits(run: Run) -> dict[str, np.ndarray]:
    """Command → whether it is at its limit (N,)."""
    found = {}
    for name, (low, high) in command_limits(run.loop).items():
        u = run.log.array(name)
        slack = NEAR * (high - low)
        found[name] = (u >= high - slack) | (u <= low + slack)
    return found


def at_limit(run: Run) -> np.ndarray:
    """`at_limit` (N,)."""
    return np.max([so_far(at) for at in commands_at_limits(run).values()], axis=0)


def check_saturation(claim: Any, run: Run) -> Verdict:
    """Share of the run for which the command that is most often at its limit is there: `always (at_limit <= share)`."""
    sentence = ready.saturation(claim.share)
    text = f"saturation: {sentence.shown}"
    source = "requirement on the run"
    gone = diverged("saturation", text, run, claim.counted, source)
    if gone:
        return gone
    if not command_limits(run.loop):
        why = "no command has a limit"
        return Verdict("saturation", text, None, worst=why, source=source, counted=claim.counted)
    answer = sentence.on(run.log.time, {AT_LIMIT: at_limit(run)})
    shares = {name: float(np.mean(at)) for name, at in commands_at_limits(run).items()}
    worst = max(shares, key=lambda name: shares[name])
    top = float(np.abs(run.log.array(worst)).max())
    return Verdict(
        key="saturation",
        claim=text,
        holds=answer.holds,
        strength="sampled",
        margin=answer.margin,
        unit="1",
        limit=claim.share,
        worst=f"{worst}: {100 * shares[worst]:.3g} % of the time, up to {say(top, run.log.signal(worst).unit, 3)}",
        source=source,
        counted=claim.counted,
        data={"shares": shares},
    )


# ---- limits of the machine ------------------------------------------------------------------------------------------
def name_of(limit: Limit) -> str:
    """What the share of the time at a limit is called."""
    return f"at {limit.name}"


def size_of_limit(limit: Limit, value: np.ndarray) -> float:
    """What a limit's room is measured by: its width, or its own size, or that of what is limited."""
    if np.isfinite(limit.high - limit.low):
        return limit.high - limit.low
    edge = limit.high if np.isfinite(limit.high) else limit.low
    return max(abs(edge), float(np.abs(value).max()), 1e-300)


def limit_reached(limit: Limit, value: np.ndarray) -> np.ndarray:
    """Whether a limit that the machine bears is reached (N,)."""
    room = np.minimum(value - limit.low, limit.high - value)
    return room <= ROUNDING * size_of_limit(limit, value)


def at_machine_limit(run: Run, name: str) -> np.ndarray | None:
    """`at LIMIT` (N,) by its name; None where the machine has none that is called so."""
    limit = next((one for one in run.loop.plant.machine_limits() if name_of(one) == name), None)
    if limit is None:
        return None
    return so_far(limit_reached(limit, limit.value(run.log)))
