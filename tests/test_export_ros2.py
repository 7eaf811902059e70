"""Exported laws as ros2_control controllers, compiled and driven against stand-ins for the headers and the manager of ROS 2."""

import os
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
from exported import built, exported_axis
from ruamel.yaml import YAML

from workbench import Delayed, InputError
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.ros2_package import export_ros2, interface, package_name


@pytest.fixture(scope="module")
def axis():
    return exported_axis("0.1 s")


@pytest.fixture(scope="module")
def package(axis, tmp_path_factory):
    case, graph, run = axis
    folder = tmp_path_factory.mktemp("ros") / "axis_law"
    about = ["a servo axis"]
    limits = case.plant.limits()
    return export_ros2(folder, graph, run, limits=limits, title="axis & arm", about=about)


@pytest.fixture(scope="module")
def manager(axis, package):
    made = built(package)
    _, graph, _ = axis
    sizes = [len(graph.commands), len(graph.measured), len(graph.references)]

    def drive(*words, rate=1000, made=made):
        given = [made, package / "law" / "run.csv", *map(str, sizes), str(rate), *words]
        said = subprocess.run(given, capture_output=True, text=True, check=True, timeout=60)
        return [line.split() for line in said.stdout.splitlines()]

    return drive


def commands(lines):
    """(words of each sample, its commands)."""
    rows = [line for line in lines if line[0].isdigit()]
    return [row[1] for row in rows], np.array([[float.fromhex(v) for v in r[2:]] for r in rows])


@pytest.mark.parametrize("how", ["interfaces", "topic"])
def test_the_controller_gives_the_commands_of_the_run_to_the_last_bit(axis, manager, how):
    _, _, run = axis
    lines = manager("topic=1") if how == "topic" else manager()
    words, found = commands(lines)
    assert set(words) == {"ok"} and np.array_equal(found, run.commands) and np.ptp(found) > 1e-6
    assert lines[1][0] == "activate" and float.fromhex(lines[1][1]) == 0.0
    assert lines[-1][0] == "deactivate" and float.fromhex(lines[-1][1]) == 0.0


def test_in_a_chain_the_references_are_interfaces(axis, manager):
    """Another controller writes them: the commands are those of the run, and the law waits for the first of them."""
    _, graph, run = axis
    lines = manager("chain=1")
    words, found = commands(lines)
    exported = [line[1] for line in lines if line[0] == "exports"]
    assert exported == [f"law/{interface(s)}" for s in graph.references]
    assert ["chained", "1"] in lines
    assert set(words) == {"ok"} and np.array_equal(found, run.commands)
    _, late = commands(manager("chain=1", "silent=0", "length=30", "safe_commands=-0.0001"))
    assert (late[:30] == -1e-4).all() and late[30, 0] != -1e-4


def test_out_of_its_chain_it_takes_what_the_other_takes(axis, manager):
    """State interfaces that are named as references: then it cannot be chained."""
    _, _, run = axis
    lines = manager("chain=2")
    assert ["chained", "0"] in lines
    assert "leave it empty to be chained" in " ".join(word for line in lines for word in line)
    assert np.array_equal(commands(lines)[1], run.commands)


@pytest.mark.long
def test_it_is_compiled_against_older_interfaces(axis, package, manager):
    _, found = commands(manager(made=built(package, "-DOLDER")))
    assert np.array_equal(found, axis[2].commands)


@pytest.mark.parametrize("what", ["nan=20", "busy=20"])
def test_a_sample_without_a_number_keeps_the_last_commands(axis, manager, what):
    _, _, run = axis
    words, found = commands(manager(what, "length=3"))
    assert set(words) == {"ok"} and len(found) == len(run.t)
    assert np.array_equal(found[20:23], found[[19, 19, 19]])
    assert np.array_equal(found[:20], run.commands[:20]) and not np.array_equal(
        found[23:24], found[19:20]
    )


@pytest.mark.parametrize(
    "what, last",
    [("nan=20", 25), ("late=20", 25), ("silent=20", 20 + 50 + 4)],
)
def test_what_does_not_end_ends_the_controller_with_its_safe_commands(manager, what, last):
    """After five samples; of messages that stay away after 50 ms and these."""
    given = ["topic=1", "reference_timeout=0.05", "safe_commands=0.0001", what]
    words, found = commands(manager(*given))
    assert words[-1] == "error" and words.count("error") == 1
    assert abs(len(words) - 1 - last) <= 1 and found[-1, 0] == 1e-4


def test_it_waits_for_the_first_whole_sample(axis, manager):
    words, found = commands(manager("nan=0", "length=30", "safe_commands=-0.0001"))
    assert set(words) == {"ok"} and (found[:30] == -1e-4).all() and found[30, 0] != -1e-4


def test_commands_stay_in_their_range(axis, manager):
    largest = float(np.abs(axis[2].commands).max() / 2)
    _, found = commands(manager(f"highest_commands={largest!r}", f"lowest_commands={-largest!r}"))
    assert np.abs(found).max() == largest


@pytest.mark.parametrize(
    "rate, given, said",
    [
        (500, (), "update_rate: 500 Hz, the law was verified at 1000 Hz"),
        (1000, ("law.K_p_0=0.5",), "set unverified_parameters"),
        (1000, ("law.K_p_0=-1",), "law.K_p_0: -1 is outside 0 to inf"),
        (1000, ("safe_commands=nan",), "safe_commands: expected 1 numbers"),
        (1000, ("safe_commands=1",), "safe_commands: expected 1 numbers"),
    ],
)
def test_what_was_not_verified_is_not_configured(manager, rate, given, said):
    lines = manager(*given, rate=rate)
    assert lines[-1] == ["configure", "failed"]
    assert said in " ".join(word for line in lines for word in line)


def test_other_gains_run_where_that_is_said(axis, manager):
    lines = manager("law.K_p_0=0.5", "unverified_parameters=1")
    assert "warning: law.K_p_0: the verdicts" in " ".join(lines[0])
    _, found = commands(lines)
    assert not np.array_equal(found, axis[2].commands) and np.isfinite(found).all()


def test_the_package_holds_together(axis, package):
    """Names agree between its files; the law inside is one that can be run here."""
    _, graph, _ = axis
    assert ElementTree.parse(package / "package.xml").findtext("name") == "axis_law"
    plugin, chained = ElementTree.parse(package / "controller.xml").iter("class")
    assert plugin.get("type") == "axis_law::LawController"
    assert plugin.get("name") == "axis_law/LawController"
    assert chained.get("type") == "axis_law::ChainedLawController"
    assert chained.get("base_class_type") == "controller_interface::ChainableControllerInterface"
    assert "axis & arm" in plugin.findtext("description")
    given = YAML(typ="safe").load((package / "config" / "controllers.yaml").read_text())
    manager = given["controller_manager"]["ros__parameters"]
    assert manager["axis_law"]["type"] == plugin.get("name") and manager["update_rate"] == 1000
    own = given["axis_law"]["ros__parameters"]
    assert own["state_interfaces"] == [interface(s) for s in graph.measured]
    values = {
        leaf.path.split(".")[-2 if leaf.path[-1] == "0" else -1]: leaf.value
        for leaf in graph.parameters
    }
    assert own["law"]["K_p_0"] == values["K_p"] == 0.4
    assert "@" not in (package / "src" / "controller.cpp").read_text().replace("@brief", "")
    Compiled(package / "law")


@pytest.mark.quick
@pytest.mark.parametrize("name", ["Boom", "1boom", "boom-law", "boom__law", "b"])
def test_names_that_ros_does_not_take_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="no name of a ROS package"):
        package_name(tmp_path / name)


def test_nothing_half_written_is_left(axis, tmp_path):
    case, graph, run = axis
    (tmp_path / "law").mkdir()
    for folder in (tmp_path / "law", tmp_path / "nowhere" / "law"):
        with pytest.raises(InputError):
            export_ros2(folder, graph, run, limits={})
    late = law_graph(Delayed(case.loop.controller, 0.4e-3))
    with pytest.raises(InputError, match="between samples"):
        export_ros2(tmp_path / "late", late, run, limits={})
    assert [p.name for p in tmp_path.iterdir()] == ["law"]


@pytest.mark.long
def test_it_builds_where_ros_is_installed(package, tmp_path):
    if "ROS_DISTRO" not in os.environ or shutil.which("colcon") is None:
        pytest.skip("ROS 2 is not installed (no ROS_DISTRO, or no colcon)")
    where = tmp_path / "src" / package.name
    shutil.copytree(package, where)
    for verb in ("build", "test", "test-result"):
        subprocess.run(["colcon", verb], cwd=tmp_path, check=True, timeout=900)
