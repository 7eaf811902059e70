"""What a search may vary: numbers of the true plant, the start, the path, what lies between law and machine, the noise.

A direction is a name and a range; the kinds of names are those of `KINDS`, each in a file of its own. To add a kind: a `Kind`
(`direction.Kind` says what one is) and its name here, before Number, which takes every other name as the path of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import System
from workbench.contract.units import quantity
from workbench.run.scenario import Scenario
from workbench.verification.search.direction import Direction, Kind, refusal, within
from workbench.verification.search.of_loop import Delay, Noise
from workbench.verification.search.of_path import Path
from workbench.verification.search.of_plant import Number, Scaled
from workbench.verification.search.of_scenario import Disturbance, Offset, OfReference, Seed

KINDS: tuple[Kind, ...] = (
    Seed(),
    Offset(),
    Disturbance(),
    OfReference(),
    Path(),
    Delay(),
    Noise(),
    Scaled(),
    Number(),
)

AS_USUAL = Path()


def directions(
    loop: System, scenario: Scenario, over: Mapping[str, Sequence], path: Path = AS_USUAL
) -> tuple[Direction, ...]:
    """The directions of `over`, name → (low, high); path: how the path may stray.

    Raises InputError, with the key, for names and ranges that are none, and for names that move the same.
    """
    if not over:
        raise nothing_varies(loop.plant)
    found: list[Direction] = []
    for name, ends in over.items():
        found += _ranged(_kind(name, path).named(loop, scenario, name), name, ends)
    _check_apart(found)
    return tuple(found)


def nothing_varies(plant: System) -> InputError:
    """The refusal of a search without ranges, with a range that this plant has."""
    name, low, high = example(plant)
    return InputError(
        "the search for a counter-example has no ranges: nothing may vary",
        key="claims.falsify.over",
        mend=f"write 'falsify: {{over: {{{name}: [{low}, {high}]}}}}' below claims, or "
        f"workbench falsify FILE --over '{name}={low}..{high}'",
    )


def example(plant: System) -> tuple[str, str, str]:
    """A name with a range, about a mass of this plant where it has one."""
    known = [leaf for leaf in leaves(plant) if leaf.value > 0 and not leaf.constant]
    masses = [leaf for leaf in known if leaf.path.rpartition(".")[2] in ("mass", "m", "M")]
    if not known:
        return "NAME", "LOW", "HIGH"
    leaf = (masses or known)[-1]
    unit = "" if leaf.info.unit == "1" else f" {leaf.info.unit}"
    return leaf.path, f"{0.5 * leaf.value:.4g}{unit}", f"{1.5 * leaf.value:.4g}{unit}"


def _kind(name: str, path: Path) -> Kind:
    kind = next(kind for kind in KINDS if kind.suits(name))
    return path if isinstance(kind, Path) else kind


def _ranged(found: Sequence[Direction], name: str, ends: Sequence) -> list[Direction]:
    """The directions of one name that have the unit of its range, with the range."""
    units = {d.unit for d in found}
    if len(units) == 1:
        return [within(d, name, ends) for d in found]
    if not any(isinstance(end, str) and end[-1:].isalpha() for end in ends):
        words = f"what it stands for has different units ({', '.join(sorted(units))})"
        raise refusal(name, words, "write the range with its unit, or each of them by its name")
    fitting = [d for d in found if _fits(ends, d.unit)]
    return [within(d, name, ends) for d in fitting or found[:1]]


def _fits(ends: Sequence, unit: str) -> bool:
    try:
        return all(quantity(end, unit) is not None for end in ends)
    except InputError:
        return False


def _check_apart(found: Sequence[Direction]) -> None:
    """InputError where two directions move the same thing."""
    moved: dict[str, Direction] = {}
    for d in found:
        for what in d.kind.touches(d):
            other = moved.setdefault(what, d)
            if other is not d:
                words = f"{other.name} moves {what}, too"
                raise refusal(d.name, words, "keep one of the two")
    strays = next((d for d in found if isinstance(d.kind, Path)), None)
    other = next((d for d in found if isinstance(d.kind, OfReference)), None)
    if strays is not None and other is not None:
        raise refusal(other.name, "the path varies, too", "keep one of the two")


def moved(
    loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
) -> tuple[System, Scenario]:
    """The loop and the scenario with these values; the controller keeps what it believes.

    Raises InputError for a machine or a path that cannot be.
    """
    for kind, own in _by_kind(amounts):
        loop, scenario = kind.moved(loop, scenario, own)
    return loop, scenario


def settled(
    loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
) -> dict[Direction, float]:
    """The values as far as the machine can follow them."""
    found: dict[Direction, float] = {}
    for kind, own in _by_kind(amounts):
        found |= kind.settled(loop, scenario, own)
    return found


def written(
    loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
) -> tuple[dict[str, Any], dict[str, float]]:
    """(place in a case file → value, path of a number of the plant → its value before)."""
    places: dict[str, Any] = {}
    believed: dict[str, float] = {}
    for kind, own in _by_kind(amounts):
        places |= kind.written(loop, scenario, own)
        believed |= kind.believed(loop, own)
    return places, believed


def _by_kind(amounts: Mapping[Direction, float]) -> Iterator[tuple[Kind, dict[Direction, float]]]:
    for kind in dict.fromkeys(d.kind for d in amounts):
        yield kind, {d: value for d, value in amounts.items() if d.kind == kind}
