"""What a run's own error leaves of its verdicts: a margin below it is undecided, and the accuracy that was asked for is judged.

The error of every logged signal is that of `workbench.run.own_error`. A verdict read off the run is compared with the largest error
of the signals it rests on: those named below, else the states and outputs in the margin's unit. A stored energy v is
quadratic in the states, so that a share ε of these is 2 ε of v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.run.own_error import errors_of, share_of
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict

TOOL = ("tcp_x", "tcp_y", "tcp_z")
SOURCE = "halved steps on a sample of the run"
MEND = "ask for a smaller one (loop: accuracy), or give a shorter max_step"


def errors(run: Run) -> dict[str, float]:
    """Error of every logged signal of a run, in its unit; {} where it cannot be told."""
    if "errors" not in run.kept:
        run.kept["errors"] = errors_of(run.loop, run.scenario, run.log, run.demand)
    return run.kept["errors"]


def within_accuracy(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts and a row on the requested accuracy; a verdict whose margin is below the run's own error is undecided."""
    known = errors(run)
    found = [beyond_error(verdict, run, known) for verdict in verdicts]
    return found if run.scenario.accuracy is None else [*found, asked(run, known)]


def beyond_error(verdict: Verdict, run: Run, known: dict[str, float]) -> Verdict:
    """The verdict, undecided where it is read off this run and its margin is smaller than the run's own error there."""
    error = error_beside(verdict, run, known)
    if error is None:
        return verdict
    verdict = replace(verdict, data={**verdict.data, "own_error": error})
    if verdict.holds is None or abs(verdict.margin) >= error:
        return verdict
    left = "left" if verdict.margin >= 0 else "over"
    why = (
        f"{say(abs(verdict.margin), verdict.unit, 3)} {left} is less than the run's own error there, "
        f"{say(error, verdict.unit, 2)} ({SOURCE}): {MEND}"
    )
    return verdict.overruled(why, strength=verdict.strength, margin=verdict.margin)


def error_beside(verdict: Verdict, run: Run, known: dict[str, float]) -> float | None:
    """The run's own error in the unit of a margin that is read off it; None where it has none."""
    if verdict.strength != "sampled" or verdict.margin is None or not known:
        return None
    if verdict.key == "tracking":
        return tool_error(run, known)
    if "slopes" in verdict.data:
        return through(verdict.data["slopes"], run, known)
    if verdict.unit == "J" and verdict.limit is not None:
        share, _ = share_of(run.log, known, names(run.loop.states))
        return 2 * share * abs(verdict.limit - verdict.margin)
    own = {
        s.name for s in (*run.loop.plant.states, *run.loop.plant.outputs) if s.unit == verdict.unit
    }
    beside = [error for name, error in known.items() if name in own]
    return max(beside) if beside and verdict.unit != "1" else None


def tool_error(run: Run, known: dict[str, float]) -> float | None:
    """The run's own error of the tool, or of the outputs that follow a reference."""
    followed = [name for name, order in run.demand.wanted if order == 0]
    beside = [known[name] for name in (TOOL if TOOL[0] in known else followed) if name in known]
    return float(np.linalg.norm(beside)) if beside else None


def through(slopes: Mapping[str, float], run: Run, known: dict[str, float]) -> float | None:
    """Σ |∂margin/∂signal| error(signal): what the run's own error makes of a margin that was worked out of these signals."""
    beside = dict(known)
    tool = tool_error(run, known)
    if tool is not None:
        beside["tool_error"] = tool
    beside |= {f"e_{name}": error for name, error in known.items()}
    found = [slope * beside[name] for name, slope in slopes.items() if name in beside]
    return float(sum(found)) if found else None


def asked(run: Run, known: dict[str, float]) -> Verdict:
    """Whether the run is as exact as its scenario asks."""
    wanted = run.scenario.accuracy
    text = f"the run is exact to {wanted:.3g} of the largest value of every state"
    if not known:
        why = "its own error cannot be told: " + (
            run.log.status.message
            if not run.log.status.completed
            else "the plant brings its own integrator"
        )
        return Verdict("accuracy", text, None, worst=why, source=SOURCE)
    share, name = share_of(run.log, known, names(run.loop.states))
    worst = (
        f"{share:.2g} of {name}, {say(known[name], run.log.signal(name).unit, 2)}"
        if name
        else "no state differs"
    )
    if share > wanted:
        return Verdict(
            "accuracy",
            text,
            None,
            worst=f"{worst}: no step tried does better",
            source=SOURCE,
            data={"share": share, "state": name},
        )
    return Verdict(
        key="accuracy",
        claim=text,
        holds=True,
        strength="numerical",
        margin=wanted - share,
        unit="1",
        limit=wanted,
        worst=worst,
        source=SOURCE,
        data={"share": share, "state": name},
    )


def told(run: Run) -> dict:
    """Rows of statistics: name → (value, unit)."""
    known = errors(run)
    if not known:
        return {}
    share, name = share_of(run.log, known, names(run.loop.states))
    return {
        f"own error of the run, share of {name}" if name else "own error of the run": (share, "1")
    }
