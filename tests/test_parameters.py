"""Parameters as data: order, paths, exchange, graph and digest, bounds."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated

import casadi as ca
import numpy as np
import pytest
from draws import varied_machine

from plants.components.spatial import Body
from workbench import InputError, Scenario, simulate
from workbench.contract.parameters import (
    Bound,
    Unit,
    bind,
    check_bounds,
    digest,
    field_infos,
    fraction,
    graph_key,
    leaves,
    nonnegative,
    positive,
)
from workbench.numerics.calculus import trace


@dataclass(frozen=True)
class Wheel:
    name: str
    r: Annotated[float, Unit("m"), "radius", positive] = 0.31
    axis: Annotated[tuple[float, ...], Unit("1"), "axis"] = (0.0, 0.6, 0.8)

    def __post_init__(self):
        check_bounds(self)


@dataclass(frozen=True)
class Cart:
    m: Annotated[float, Unit("kg"), "mass", positive]
    wheels: tuple[Wheel, ...] = ()
    spare: Annotated[float | None, Unit("m")] = None
    gears: int = 5
    pairs: tuple = ()


CART = Cart(71.0, (Wheel("left"), Wheel("right", 0.29), Wheel("", 0.2, (1.0, 0.3, 0.0))))


def test_leaves_in_order_with_paths_and_meaning():
    found = list(leaves(CART))
    assert [leaf.path for leaf in found] == [
        "m",
        "wheels.left.r",
        "wheels.left.axis.0",
        "wheels.left.axis.1",
        "wheels.left.axis.2",
        "wheels.right.r",
        "wheels.right.axis.0",
        "wheels.right.axis.1",
        "wheels.right.axis.2",
        "wheels.2.r",
        "wheels.2.axis.0",
        "wheels.2.axis.1",
        "wheels.2.axis.2",
    ]
    assert [leaf.value for leaf in found if leaf.constant] == [
        0.0,
        0.0,
        1.0,
        0.0,
    ]  # exact zeros and ones of vectors
    assert (found[1].info.unit, found[1].info.meaning, found[1].info.bound) == (
        "m",
        "radius",
        positive,
    )
    assert [leaf.path for leaf in leaves(replace(CART, spare=0.4))][-1] == "spare"


def test_bind_exchanges_numbers_and_nothing_else():
    changed = bind(CART, {"m": 3.0, "wheels.right.r": 7.0, "wheels.2.axis.1": 9.0})
    assert changed == replace(
        CART,
        m=3.0,
        wheels=(
            CART.wheels[0],
            replace(CART.wheels[1], r=7.0),
            replace(CART.wheels[2], axis=(1.0, 9.0, 0.0)),
        ),
    )
    assert bind(CART, {}) == CART
    symbol = ca.SX.sym("r")
    assert bind(CART, {"wheels.left.r": symbol}).wheels[0].r is symbol
    assert (
        bind(CART, {"wheels.left.r": -1.0}).wheels[0].r == -1.0
    )  # nothing is validated: symbols could not be


def test_every_number_of_a_machine_can_be_exchanged():
    """Each leaf changed alone appears at its path and nowhere else, and changes the digest but not the graph."""
    machine = varied_machine(6, (True, False))
    found = {leaf.path: leaf.value for leaf in leaves(machine)}
    assert len(found) > 150
    rng = np.random.default_rng(1)
    for path in rng.choice(list(found), 25, replace=False):
        other = bind(machine, {str(path): 0.12345})
        assert {leaf.path: leaf.value for leaf in leaves(other)} == found | {path: 0.12345}
        assert digest(other) != digest(machine)
        if found[path] not in (0.0, 1.0):
            assert graph_key(other) == graph_key(machine)


def test_two_parts_of_one_name_are_refused():
    twins = replace(CART, wheels=(Wheel("left"), Wheel("left")))
    with pytest.raises(InputError, match="wheels: two parts are called 'left'"):
        list(leaves(twins))


def test_the_graph_is_all_but_numbers():
    same = replace(CART, m=5.0, wheels=(Wheel("left", 3.0, (0.0, 0.1, 0.2)), *CART.wheels[1:]))
    assert graph_key(same) == graph_key(CART) and digest(same) != digest(CART)
    assert graph_key(same, traced=False) != graph_key(CART, traced=False)
    others = (
        replace(CART, gears=4),
        replace(CART, spare=0.4),
        replace(CART, wheels=CART.wheels[:2]),
        replace(CART, wheels=(Wheel("left", 0.31, (0.1, 0.6, 0.8)), *CART.wheels[1:])),
        replace(CART, pairs=((1, 2),)),
    )
    assert len({graph_key(o) for o in (CART, *others)}) == 6
    assert digest(CART) == digest(Cart(71.0, tuple(replace(w) for w in CART.wheels)))


def test_another_mass_needs_no_new_trace_and_gives_other_numbers(two_joint):
    heavy = replace(two_joint, payload=Body(37.0, (0.1, 0.2, 0.3), (2.0, 3.0, 4.0, 0.1, 0.2, 0.3)))
    heavier = replace(heavy, payload=replace(heavy.payload, mass=55.0), p_s=190e5)
    a, b = trace(heavy, ()), trace(heavier, ())
    assert a is b and not np.array_equal(a.numbers(heavy), a.numbers(heavier))
    assert not np.array_equal(a.constants(heavy), a.constants(heavier))
    assert (
        trace(replace(heavy, payload=Body(37.0)), ()) is not a
    )  # zeros of a vector are constants of the graph
    assert trace(heavy, ("f_Dy",)) is not a
    pose = {"start": two_joint.pose, "duration": 0.05}
    logs = [simulate(m, Scenario(**pose)) for m in (heavy, heavier)]
    assert logs[0].array("p_a1")[0] != logs[1].array("p_a1")[0]


def test_numbers_that_are_bounded():
    assert positive.admits(1e-300) and not positive.admits(0.0) and nonnegative.admits(0.0)
    assert fraction.admits(1.0) and not fraction.admits(1.0000001)
    assert not any(b.admits(float("nan")) for b in (positive, nonnegative, fraction, Bound()))
    for wrong, words in (
        (0.0, "greater than zero"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        ("1", "fin"),
    ):
        with pytest.raises(ValueError, match=f"r: .*{words}"):
            Wheel("w", wrong)
    with pytest.raises(ValueError, match="axis: expected a finite number"):
        Wheel("w", 0.1, (0.0, float("nan"), 1.0))


def test_annotations_cover_every_number_of_the_plants(crane):
    """A float field without a unit would be frozen into every trace."""

    def walk(obj):
        for f in fields(obj):
            value = getattr(obj, f.name)
            if field_infos(type(obj))[f.name] is None and f.name != "pressures":
                assert not isinstance(value, float), (type(obj).__name__, f.name)
                for item in value if isinstance(value, tuple) else (value,):
                    if is_dataclass(item):
                        walk(item)

    for plant in (crane, varied_machine(2), varied_machine(3)):
        walk(plant)
