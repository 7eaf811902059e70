"""What follows from a frozen object is worked out once; what can change is asked anew."""

import gc
from collections import deque
from dataclasses import dataclass, replace

import numpy as np
import pytest
from ledger_cases import CRANE, PATH, REAL
from test_force_position import machine as four_bar
from test_metered_vdc import ARM

from controllers import ForcePosition
from controllers.vdc import VDC
from workbench import ClosedLoop, Delayed, Sampled, Scenario
from workbench.contract.parameters import bind, digest, graph_key, leaves
from workbench.contract.remembered import _kept, cannot_change, of, remembered
from workbench.run import spaces
from workbench.run.spaces import pushed, to_joints
from workbench.verification.run import run

pytestmark = pytest.mark.usefixtures("plain_code")


@dataclass(frozen=True)
class Fixed:
    a: float = 1.0
    inner: object = None


@dataclass
class Open:
    a: float = 1.0


def asked(obj, times=2) -> int:
    """How often the answer was worked out."""
    calls = []
    for _ in range(times):
        remembered("test", obj, lambda: calls.append(1))
    return len(calls)


def test_frozen_objects_are_asked_once_and_others_every_time():
    assert asked(Fixed(2.0, (Fixed(), "text"))) == 1
    assert asked(Open()) == 2
    assert asked(Fixed(2.0, Open())) == 2
    assert asked(Fixed(2.0, (1.0, [2.0]))) == 2
    assert asked(Fixed(2.0, np.zeros(2))) == 2
    assert cannot_change(CRANE) and not cannot_change(Fixed)


def test_nothing_is_kept_of_an_object_that_has_gone():
    obj = Fixed(3.0)
    remembered("test", obj, lambda: 1)
    key = id(obj)
    assert key in _kept
    del obj
    gc.collect()
    assert key not in _kept


def test_another_object_of_the_same_structure_has_its_own_numbers():
    heavier = replace(CRANE, payload=replace(CRANE.payload, mass=91.0))
    one, other = (
        {leaf.path: leaf.value for leaf in leaves(machine)} for machine in (CRANE, heavier)
    )
    assert other["payload.mass"] == 91.0 != one["payload.mass"]
    assert graph_key(CRANE) == graph_key(heavier)


@pytest.mark.parametrize("delay", [0.0, 1.4e-3])
@pytest.mark.parametrize(
    "law, scenario",
    [
        (VDC(model=REAL), Scenario(reference=PATH, duration=0.3, offset={"q_1": 0.02})),
        (VDC(ARM), Scenario(duration=0.05)),
        (ForcePosition(four_bar(np.random.default_rng(8))), Scenario(duration=0.05)),
    ],
)
def test_a_dead_time_is_no_part_of_the_accompanying_function(law, scenario, delay):
    """v alone, taken from the loop without its dead time, is the sum of the whole ledger's."""
    made = run(ClosedLoop(law.model, Delayed(Sampled(law, 1e-3), delay)), scenario)
    t, v = made.storage
    assert np.array_equal(t, made.balance.t)
    np.testing.assert_allclose(v, made.balance.total, rtol=1e-12)
    assert np.ptp(v) > 0


def test_a_path_is_carried_once_whichever_run_asks_for_it():
    t = np.linspace(0.0, 1.0, 50)
    q0 = np.array(CRANE.pose)
    joints = np.zeros((4, 50, 2))
    joints[0] = q0 + 0.1 * np.sin(t)[:, None]
    joints[1] = 0.1 * np.cos(t)[:, None]
    given = pushed(CRANE, "cartesian", joints)
    first = to_joints(CRANE, "cartesian", given, q0, t)
    again = to_joints(CRANE, "cartesian", given.copy(), q0 + 1e-3, t)
    assert again is first and not first.flags.writeable
    np.testing.assert_allclose(first[:2], joints[:2], atol=1e-9)
    assert pushed(CRANE, "piston", first) is pushed(CRANE, "piston", again)
    # Another geometry takes other joints to the same places.
    number = next(
        leaf for leaf in leaves(CRANE) if leaf.path.endswith("end.r.0") and leaf.value > 0.5
    )
    longer = bind(CRANE, {number.path: 1.001 * number.value})
    other = to_joints(longer, "cartesian", given, q0, t)
    assert np.abs(other[0] - first[0]).max() > 1e-5
    np.testing.assert_allclose(pushed(longer, "cartesian", other)[0], given[0], atol=1e-8)
    elsewhere = to_joints(CRANE, "cartesian", given + np.eye(4, 1)[:, :, None] * 1e-3, q0, t)
    assert elsewhere is not first and np.abs(elsewhere[0] - first[0]).max() > 1e-5


def test_paths_are_looked_up_while_another_thread_adds_one(monkeypatch):
    """Two runs of a scan carry their paths at the same time."""
    t = np.linspace(0.0, 1.0, 20)
    q0 = np.array(CRANE.pose)
    given = np.zeros((4, 20, 2))
    given[0] = pushed(CRANE, "cartesian", np.stack([np.tile(q0, (20, 1)), *np.zeros((3, 20, 2))]))[
        0
    ]
    to_joints(CRANE, "cartesian", given, q0, t)

    def adds(self, *_):
        spaces._carried.append(self)
        return False

    monkeypatch.setattr(spaces._Carried, "serves", adds)
    assert np.isfinite(to_joints(CRANE, "cartesian", given, q0, t)).all()


def test_a_path_has_the_same_digits_whatever_was_carried_before(monkeypatch):
    """Runs on two threads carry paths sampled differently, in an order that is chance: each finds what it would find alone."""
    q0 = np.array(CRANE.pose)

    def carried(count):
        t = np.linspace(0.0, 5.0, count)
        joints = np.zeros((4, count, 2))
        joints[0] = q0 + 0.2 * np.sin(0.3 * t)[:, None] * [1.0, -0.7]
        given = np.zeros((4, count, 2))
        given[0] = pushed(CRANE, "cartesian", joints)[0]
        return to_joints(CRANE, "cartesian", given, q0, t)

    def forget():
        monkeypatch.setattr(spaces, "_carried", deque(maxlen=3))
        monkeypatch.setattr(spaces, "_followed", {})

    forget()
    alone = carried(4001)
    forget()
    carried(3990)
    assert np.array_equal(carried(4001), alone)


def test_what_a_loop_tells_of_its_parts_is_the_same_whoever_asked_the_parts_before():
    """Text, digest, numbers and start of a loop, where nothing or everything is remembered of its plant."""
    loops = [ClosedLoop(replace(CRANE), Sampled(VDC(model=REAL), T_s=T)) for T in (1e-3, 2e-3)]
    told = [
        (
            graph_key(loop),
            digest(loop),
            list(leaves(loop)),
            list(loop.initial()),
        )
        for loop in loops
    ]
    for loop, (text, whole, numbers, start) in zip(loops, told):
        plant = replace(loop.plant)
        graph_key(plant), digest(plant), list(leaves(plant)), remembered("test", plant, list)
        again = ClosedLoop(plant, loop.controller)
        assert (graph_key(again), digest(again)) == (text, whole)
        assert list(leaves(again)) == numbers and list(again.initial()) == start
    assert told[0][1] != told[1][1]


def test_a_part_is_found_fixed_by_what_is_remembered_of_it():
    inner = Fixed(4.0)
    remembered("test", inner, lambda: 1)
    assert cannot_change(Fixed(1.0, inner)) and asked(Fixed(1.0, (inner, inner))) == 1
    assert of(inner) == {"test": 1} and of(Fixed(4.0)) is None
