"""A mechanism's states at rest are worked out once for each pose, and what has changed is seen."""

import pickle
from dataclasses import replace

import pytest

from plants import machine
from plants.multibody import starting
from workbench.contract.errors import InputError


@pytest.fixture
def crane():
    """A machine drawn by pins, with its own memory of poses."""
    return replace(machine("patu-655").plant)


@pytest.fixture
def poses(monkeypatch):
    """Poses that are worked out while a test runs."""
    asked = []

    def resting(mechanism, q):
        asked.append(tuple(q))
        return whole(mechanism, q)

    whole = starting.resting
    monkeypatch.setattr(starting, "resting", resting)
    return asked


def lower(crane, by):
    """The crane's pose with its first joint moved."""
    first, *others = (crane.assembly.z[i] for i in crane.own[0])
    return (first - by, *others)


def test_a_pose_is_worked_out_once_and_nobody_changes_what_is_kept(crane, poses):
    q = lower(crane, 0.01)
    first = crane.rest(q)
    expected = list(first)
    first[0] = 99.0
    assert crane.rest(list(q)) == expected
    assert crane.rest(lower(crane, 0.02)) != expected
    assert poses == [q, lower(crane, 0.02)]


def test_another_machine_has_its_own_states(crane, poses):
    q = lower(crane, 0.01)
    heavier = replace(crane, gravity=tuple(2 * g for g in crane.gravity))
    assert crane.rest(q) != heavier.rest(q)
    assert poses == [q, q]


def test_a_pose_that_cannot_be_is_refused_every_time_with_the_start_that_would_do(crane, poses):
    q = lower(crane, 1.0)
    faults = []
    for _ in range(2):
        with pytest.raises(InputError) as refused:
            crane.check_pose(q, "start")
        faults.append(refused.value)
    first, second = faults
    assert poses == [q] and first is not second
    assert first.message == second.message and first.message.startswith("start: actuators.")
    with pytest.raises(InputError) as alone:
        crane.rest(q)
    with pytest.raises(InputError) as again:
        crane.rest(q)
    assert alone.value is not again.value and str(alone.value) == str(again.value)
    assert "(the other joints as they are)" in first.mend and first.mend == second.mend
    assert str(pickle.loads(pickle.dumps(first))) == str(first)


def test_a_drive_that_starts_otherwise_now_is_asked_anew(crane, monkeypatch):
    """As in a notebook, where a cell that defines a drive's start runs again."""
    q = lower(crane, 0.01)
    before = crane.rest(q)
    drive = type(crane.actuators[0].drive)
    initial = drive.initial
    monkeypatch.setattr(
        drive, "initial", lambda self, *given: [2 * v for v in initial(self, *given)]
    )
    assert crane.rest(q) != before


def test_no_more_poses_are_kept_than_a_few_hundred(crane, monkeypatch):
    monkeypatch.setattr(starting, "POSES", 2)
    asked = []
    monkeypatch.setattr(starting, "_state_or_why", lambda made, q: asked.append(q) or [*q])
    first, second, third = ((float(k),) for k in range(3))
    for q in (first, second, first, third, first):
        assert crane.rest(q) == [*q]
    assert asked == [first, second, third, first]
