"""Which signals of a plant its law reads and drives, by name; what does not fit is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from workbench.contract.errors import InputError
from workbench.contract.system import Controller, System, controls, find, innermost, names


@dataclass(frozen=True)
class Wiring:
    """Places of signals in a plant.

    reads    outputs that the law measures, in its order
    drives   inputs that the law commands, in its order
    free     inputs that nothing commands: disturbances
    shows    outputs that neither the plant nor the law logs
    """

    reads: tuple[int, ...]
    drives: tuple[int, ...]
    free: tuple[int, ...]
    shows: tuple[int, ...]


def wired(plant: System, law: Controller) -> Wiring:
    """The wiring of a law to a plant. Raises InputError where a signal has no counterpart, none, or two sources."""
    who = f"{type(law).__name__} on {type(plant).__name__}"
    outputs = names(plant.outputs)
    inputs = names(plant.inputs)
    measured = [find(plant.outputs, s.name, f"{who}, measurement").name for s in law.measured]
    commanded = [find(plant.inputs, s.name, f"{who}, command").name for s in law.commands]
    _check_driven(plant, law, who)
    _check_references(law, who)
    drives = tuple(inputs.index(name) for name in commanded)
    logged = {*_logged(plant), *names((*law.states, *law.monitors, *law.references))}
    return Wiring(
        reads=tuple(outputs.index(name) for name in measured),
        drives=drives,
        free=tuple(i for i in range(len(inputs)) if i not in drives),
        shows=tuple(i for i, name in enumerate(outputs) if name not in logged),
    )


def _logged(plant: System) -> list[str]:
    """Signals of a plant that every log has."""
    return names((*plant.states, *plant.monitors, *plant.inputs))


def _check_driven(plant: System, law: Controller, who: str) -> None:
    """Every control input of the plant is commanded, unless the law leaves the loop open."""
    commanded = names(law.commands)
    undriven = [s.name for s in controls(plant) if s.name not in commanded]
    if undriven and not innermost(law).open:
        raise InputError(
            f"{who}: nothing drives the plant's {', '.join(undriven)}",
            mend="let the controller command them, or build the plant without them",
        )


def _check_references(law: Controller, who: str) -> None:
    """No reference of the law has two sources."""
    twice = [name for name, n in Counter(names(law.references)).items() if n > 1]
    if twice:
        raise InputError(
            f"{who}: {', '.join(sorted(twice))} enters twice",
            mend="give each signal one Noisy wrapper",
        )
