"""Friction about a joint that turns: the laws' numbers in units of torque and rates of turning, the same equations."""

import pickle
import typing

import pytest

import fluidproof as fp
from plants.components.friction import Friction
from plants.components.friction.turning import LAWS, TURNING, about_a_joint
from plants.components.motor import Motor
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.contract.described import described
from workbench.contract.parameters import leaves

pytestmark = pytest.mark.quick
EVERY = typing.get_args(Friction)


def motor(law):
    return Motor(D=1e-5, V=1e-4, friction=law)


def node(value):
    """A tree of mappings as a file gives it."""
    if isinstance(value, dict):
        return Node({key: node(child) for key, child in value.items()}, 1, 1, "")
    return Node(value, 1, 1, "")


@pytest.mark.parametrize("law", EVERY)
def test_every_law_has_one_about_a_joint(law):
    """With the same numbers, force and memory; none of its units is that of something that slides."""
    there = about_a_joint(law())
    assert there.force(0.02, (1e-5,) * len(there.states("a"))) == law().force(
        0.02, (1e-5,) * len(law().states("a"))
    )
    units = {name: info.unit for name, info in described(there).items() if info}
    own = {name: info.unit for name, info in described(law()).items() if info}
    assert units == {name: TURNING.get(unit, unit) for name, unit in own.items()}
    assert not {"N", "m", "m/s", "N s/m", "N/m", "s/m"} & set(units.values())
    assert about_a_joint(there) is there
    assert type(there) is (LAWS[law.__name__] if own else law)
    assert pickle.loads(pickle.dumps(there)) == there


def test_a_motor_takes_either_and_tells_torques():
    one = motor(fp.LuGre(F_c=250.0, b=900.0))
    assert isinstance(one.friction, LAWS["LuGre"]) and one == motor(one.friction)
    units = {leaf.path: leaf.info.unit for leaf in leaves(one)}
    assert units["friction.F_c"] == "N m" and units["friction.b"] == "N m s/rad"
    assert [s.unit for s in one.friction.states("a")] == ["rad"]
    assert [s.unit for s in fp.LuGre().states("a")] == ["m"]


@pytest.mark.parametrize(
    "F_c, said",
    [("0.25 kN m", ""), (250, ""), ("250 N", "a torque was expected, in N m")],
)
def test_a_file_gives_torques(F_c, said):
    given = {"D": "10 cm^3/rad", "V": "0.1 l", "friction": {"law": "CoulombViscous", "F_c": F_c}}
    if said:
        with pytest.raises(fp.InputError, match=said):
            build(Motor, node(given))
    else:
        assert build(Motor, node(given)).friction.F_c == 250.0


def test_a_number_that_is_refused_has_the_unit_of_its_joint():
    with pytest.raises(fp.InputError, match=r"5 N m, must not be below .* 10 N m"):
        LAWS["Stribeck"](F_c=10.0, F_s=5.0)
    with pytest.raises(fp.InputError, match=r"5 N, must not be below .* 10 N"):
        fp.Stribeck(F_c=10.0, F_s=5.0)
