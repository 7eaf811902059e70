"""Fixtures shared by the tests of the core: the shipped crane, its two-joint variant, a short path."""

import pytest

from plants import machine
from workbench import Scenario, Waypoints


@pytest.fixture(scope="session")
def crane():
    """HIAB XS 031 with its extension."""
    return machine("hiab-xs031").plant


@pytest.fixture(scope="session")
def two_joint(crane):
    """The crane with its extension locked."""
    return crane.locked(extension=0.5)


@pytest.fixture(scope="session")
def short():
    """A path of 0.6 s in joint space, from the start and back."""
    here, there = (-1.288106894530745, -1.9823730034160705), (-1.21, -1.9)
    return Scenario(reference=Waypoints("joint", (here, there, here), 0.3))
