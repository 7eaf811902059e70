"""Fixtures shared by the tests of the core: the shipped crane, its two-joint variant, a short path."""

import gc
import os

# Two workers, two cores: threads of the linear algebra library would only wait for each other. Before NumPy is imported.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Most of what tests compile runs for a moment. Before the package is imported.
os.environ.setdefault("FLUIDPROOF_OPTIMISE", "-Og")
os.environ.setdefault("FLUIDPROOF_OPTIMISE_LONG", "-O0")

from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402

import pytest  # noqa: E402

from plants import machine  # noqa: E402
from workbench import Scenario, Waypoints  # noqa: E402
from workbench.commands import guard  # noqa: E402
from workbench.numerics import compiler  # noqa: E402


@pytest.fixture(scope="session")
def crane():
    """HIAB XS 031 with its extension."""
    return machine("hiab-xs031").plant


@pytest.fixture(scope="session")
def two_joint(crane):
    """The crane with its extension locked."""
    return crane.locked(extension=0.5)


@pytest.fixture(scope="session")
def ideal(two_joint):
    """The two-joint crane with valves that follow their command."""

    def follows(segment):
        return replace(
            segment,
            cylinder=replace(segment.cylinder, valve=replace(segment.cylinder.valve, lag="ideal")),
        )

    return replace(
        two_joint,
        structures=tuple(replace(s, revolute=follows(s.revolute)) for s in two_joint.structures),
    )


@pytest.fixture(scope="session")
def short(two_joint):
    """A path of 0.8 s in joint space, from the start and back."""
    return Scenario(
        reference=Waypoints("joint", (two_joint.pose, (-1.26, -1.95), two_joint.pose), 0.4)
    )


@pytest.fixture(scope="module")
def plain_code():
    """Compiled code is not optimised: for modules whose runs are so short that most of their time is the compiler's.

    -O0 compiles in 0.3 of the time of -Og and runs several times longer. The numbers are the same.
    """
    before = compiler.FLAGS
    compiler.FLAGS = ("-O0", *before[1:])
    yield
    compiler.FLAGS = before


def pytest_collection_finish():
    """What stays until the end, modules and tests, is not searched for circles of objects again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(guard.OBJECTS, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests stay with one worker, so what they share is computed once."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


def listed() -> set[str]:
    """Tests, or single cases of them, that `long.txt` names."""
    lines = (Path(__file__).parent / "long.txt").read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Studies, notebooks and what `long.txt` names are long; studies and notebooks come first: the longest files must not be the
    last ones that one worker still has.

    Quick are the tests that a module marks itself, else the first case of its first test that is not long.
    """
    slow = listed()
    modules: dict = {}
    for item in items:
        case = f"{item.path.name}::{item.name}"
        if study(item) or case in slow or case.partition("[")[0] in slow:
            item.add_marker("long")
        if not item.get_closest_marker("long"):
            modules.setdefault(item.path, []).append(item)
    for own in modules.values():
        if not any(item.get_closest_marker("quick") for item in own):
            own[0].add_marker("quick")
    items.sort(key=lambda item: not study(item))


def study(item) -> bool:
    """Whether a test is of a study or a notebook, where one case takes as long as many modules."""
    return item.path.name.startswith(("test_studies", "test_notebooks"))
