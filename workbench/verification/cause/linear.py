"""Why a linearised loop is unstable: the smallest single change that makes it stable.

The plant is linearised where it starts, the law near rest (a user's law without memory by differences). The loop counts as unstable
where it grows within the run:

    x_{k+1} = M x_k,   growth = log(max |λ(M)|) / T > EDGE / length of the run        (ẋ = M x:  growth = max Re λ)

One at a time, every gain, the delay, the sample time, the sign and the place of every signal, and every number of the law's model
is changed; the smallest change that stops the growth is the cause. An uncontrollable mode that grows is named before all of them; a
mode that hardly decays is named where nothing else was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations

import numpy as np

from workbench.contract.parameters import bind, leaves
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.verification.cause.around import Around, around
from workbench.verification.cause.trial import Trial, law_path
from workbench.verification.cause.trials import trials
from workbench.verification.linear.hidden import Hidden, hidden_modes
from workbench.verification.linear.loop import is_linear
from workbench.verification.linear.modes import Mode, modes_of
from workbench.verification.run import Run

EDGE = 1e-2  # growth over the run below which a loop counts as not growing
SLOW = 1.0  # time constant, in lengths of the run, beyond which a mode hardly decays
LESS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.1, 0.03, 0.01, 1e-3)  # times a number
MORE = (1.05, 1.1, 1.4, 2.0, 5.0, 10.0, 100.0)
# What other changes count, in decades of a number: a wire that is turned or crossed, derivative action where there is none, and a
# number of the model that is not the machine's, or a horizon.
TURNED, LEAD, BELIEVED = 0.3, 0.6, 0.1
NEARLY = (
    0.15  # decades: changes that are larger than the smallest by less than this are named with it
)
WITHIN = 1.0  # decades: a loop that only a larger change makes stable has another fault
ALL = "all gains of the law"


@dataclass(frozen=True, eq=False)
class Change:
    """One change of the loop: its size in decades, what is changed and to what (in words), and the function that makes it."""

    size: float
    of: str
    to: str
    make: Callable[[], Around | None]


# ---- what stops the growth --------------------------------------------------------------------------------------------
def lets_go(run: Run, wires: bool = True) -> tuple[str, float]:
    """(in words, what makes the linearised loop grow; size of the change that stops it, in decades).

    "" where the loop does not grow, or no single change stops it. wires: whether signs and exchanged signals are tried as well.
    """
    own = around(run, run.loop)
    if own is None:
        return "", math.inf
    edge = EDGE / run.scenario.length()
    growth = own.growth()
    if not growth > edge:
        return "", math.inf
    hidden = _hidden(run, own, edge)
    if hidden is not None:
        return f"hidden, unstable mode, which no law holds: {hidden.words}", 0.0
    found = _smallest(changes(run, own) if wires else _numbers(run), edge)
    if not found:
        return "", math.inf
    told = "; or ".join(f"{c.of}{c.to}" for c in found[:4])
    words = f"linearised, the loop grows by e in {1 / growth:.3g} s; it does not with {told}"
    return words, found[0].size


def _smallest(tried: Iterable[Change], edge: float) -> list[Change]:
    """The smallest change that stops the growth, and those NEARLY as small, each quantity once.

    Where it is a signal with the wrong sign, a number that stops the growth is named as well: in a loop with enough delay, a turned
    sign can be stable.
    """
    healed: dict[str, Change] = {}
    for change in sorted(tried, key=lambda c: c.size):
        least = next(iter(healed.values())).size if healed else math.inf
        numbers = any(c.to for c in healed.values())
        if change.size > least + NEARLY and (numbers or change.size > WITHIN):
            break
        made = None if change.of in healed else change.make()
        if made is not None and made.growth() <= edge:
            healed[change.of] = change
    if any(words.startswith("gain ") for words in healed):
        healed.pop(ALL, None)
    return list(healed.values())


def _hidden(run: Run, own: Around, least: float) -> Hidden | None:
    """The first hidden mode of a linear plant that grows faster than `least`, or decays more slowly where that is negative.

    Of another plant it may be hidden at this point alone, as a rod behind a valve that is shut.
    """
    if not is_linear(run.loop.plant):
        return None
    found = hidden_modes(own.A, own.B, own.C, names(run.loop.plant.states))
    return next((mode for mode in found if mode.eigenvalue.real > least), None)


def changes(run: Run, own: Around) -> Iterator[Change]:
    """Every single change of the loop."""
    yield from _numbers(run)
    yield from _wires(run, own)
    for trial in trials(run):
        make = partial(_tried, run, trial)
        if trial.kind == "model":
            yield Change(BELIEVED, f"model and machine alike: {trial.words}", "", make)
        elif trial.kind == "foresight":
            yield Change(BELIEVED, f"a law that looks further: {trial.words}", "", make)
    yield from _all_gains(own)


def _tried(run: Run, trial: Trial) -> Around | None:
    return around(run, trial.on(run.loop))


def _bound(run: Run, numbers) -> Around | None:
    return around(run, bind(run.loop, numbers))


def _numbers(run: Run) -> Iterator[Change]:
    """Gains of the law, delay, sample time and filters of the loop, each times a factor."""
    found = list(leaves(run.loop))
    values = {leaf.path: float(leaf.value) for leaf in found}
    for paths, words in (*_between(values), *_gains(run.loop, values)):
        if not any(values[p] for p in paths):
            yield from _derivative(run, paths, values)
            continue
        for factor in (*LESS, *MORE):
            make = partial(_bound, run, {p: factor * values[p] for p in paths})
            yield Change(abs(math.log10(factor)), words, f" times {factor:g}", make)
        if words.startswith("delay"):
            yield Change(TURNED, words, " left out", partial(_bound, run, {p: 0.0 for p in paths}))


def _derivative(run: Run, paths, values) -> Iterator[Change]:
    """Derivative action where there is none, with a lead time of a hundredth of a second up to one."""
    pairs = {p: p.replace("K_d", "K_p") for p in paths if "K_d" in p}
    if not pairs:
        return
    for lead in (0.01, 0.03, 0.1, 0.3, 1.0):
        numbers = {own: lead * values.get(other, 0.0) for own, other in pairs.items()}
        told = f" of {max(numbers.values()):.3g} in place of none"
        yield Change(LEAD, "derivative gain controller.K_d", told, partial(_bound, run, numbers))


def _gains(loop, values) -> Iterator[tuple[list[str], str]]:
    """Paths of every kind of gain of the law, and words for it."""
    law = innermost(loop.controller)
    stem = law_path(loop.controller)
    if isinstance(law, Plain):
        return
    for field in fields(law):
        paths = [
            p for p in values if p == stem + field.name or p.startswith(stem + field.name + ".")
        ]
        if field.name[0] in "Kkλ" and paths:
            told = ", ".join(f"{values[p]:.4g}" for p in paths[:3])
            yield paths, f"gain controller.{field.name} ({told})"


def _between(values) -> Iterator[tuple[list[str], str]]:
    """Paths of delay, sample time and filters, and words for each."""
    for path, value in values.items():
        *way, last = path.split(".")
        if way[:1] != ["controller"] or not set(way[1:]) <= {"inner"}:
            continue
        words = {
            "delay": f"delay of {1e3 * value:g} ms",
            "T_s": f"sample time of {1e3 * value:g} ms",
            "frequency": f"filter of {value:g} Hz",
        }
        if last in words:
            yield [path], words[last]


def _all_gains(own: Around) -> Iterator[Change]:
    """Everything the law commands times a factor: a user's law names no gains."""
    law = own.law
    for factor in (*LESS, *MORE):
        scaled = replace(own, law=replace(law, C=factor * law.C, D=factor * law.D))
        make = partial(_made, scaled)
        yield Change(abs(math.log10(factor)), ALL, f" times {factor:g}", make)


def _made(loop: Around) -> Around:
    return loop


def _wires(run: Run, own: Around) -> Iterator[Change]:
    """Signs of commands and measurements turned, and two of them exchanged."""
    commands = names(run.loop.controller.commands)
    measured = names(run.loop.controller.measured)
    law = own.law
    for words, S in _edits(commands, "command", range(len(commands))):
        changed = replace(own, law=replace(law, C=S @ law.C, D=S @ law.D))
        yield Change(TURNED, words, "", partial(_made, changed))
    acting = [i for i in range(len(measured)) if law.D[:, i].any() or law.B[:, i].any()]
    units = [s.unit for s in run.loop.controller.measured]
    for words, S in _edits(measured, "measurement", acting, units):
        changed = replace(own, law=replace(law, B=law.B @ S, D=law.D @ S))
        yield Change(TURNED, words, "", partial(_made, changed))


def _edits(listed, what, chosen, units=None) -> Iterator[tuple[str, np.ndarray]]:
    """(words, matrix) of every sign that is turned and every pair that is crossed."""
    for i in chosen:
        S = np.eye(len(listed))
        S[i, i] = -1.0
        yield f"the sign of the {what} {listed[i]} turned", S
    for i, j in combinations(chosen, 2):
        if units is None or units[i] == units[j]:
            P = np.eye(len(listed))
            P[[i, j]] = P[[j, i]]
            yield f"the {what}s {listed[i]} and {listed[j]} swapped", P


# ---- what hardly decays -----------------------------------------------------------------------------------------------
def out_of_reach(run: Run) -> str:
    """The hidden mode that does not decay within the run, in words; empty where there is none."""
    own = around(run, run.loop)
    if own is None:
        return ""
    found = _hidden(run, own, -1.0 / (SLOW * run.scenario.length()))
    return "" if found is None else f"hidden mode, which no law moves: {found.words}"


def hardly_decays(run: Run) -> str:
    """The mode of the linearised loop that neither grows nor decays within the run, in words; empty where there is none.

    Of a plant that is not linear only one that swings counts: a rod behind a shut valve, or a mass that rubs, drifts at rest alone.
    """
    own = around(run, run.loop)
    if own is None:
        return ""
    length = run.scenario.length()
    states = names(run.loop.plant.states)
    M = own.matrix()
    memory = len(own.law.A)
    past = len(M) - len(states) - memory
    listed = (*states, *["past command"] * past, *["memory of the law"] * memory)
    linear = is_linear(run.loop.plant)
    for mode in modes_of(M, own.law.T or None, listed, length):
        swings = abs(mode.s.imag) * length > 2 * math.pi
        slow = abs(mode.s.real) * SLOW * length < 1.0
        if slow and (linear or swings) and mode.states[:1] and mode.states[0] in states:
            return _slow(mode)
    return ""


def _slow(mode: Mode) -> str:
    who = ", ".join(mode.states)
    what = f"{mode.s.real:.3g} 1/s"
    if abs(mode.s.imag) > abs(mode.s.real):
        return f"hardly damped mode of {who}: {what} at {abs(mode.s.imag):.3g} rad/s"
    time = 1 / abs(mode.s.real) if mode.s.real else math.inf
    kind = "slowly growing mode" if mode.s.real > 0 else "slow mode"
    return f"{kind} of {who}: {what}, a time constant of {time:.3g} s"
