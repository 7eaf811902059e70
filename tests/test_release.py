"""What goes with a release says what pyproject.toml says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from workbench.cases.yaml_input import parse

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = parse((ROOT / "conda" / "meta.yaml").read_text("utf-8"), "meta.yaml").plain()


def spaced(requirement):
    """numpy>=2.0 as conda writes it."""
    return re.sub(r"^([\w.-]+)", r"\1 ", requirement)


def test_the_conda_recipe_needs_what_the_package_needs():
    python, *packages = RECIPE["requirements"]["run"]
    assert python == f"python {PROJECT['requires-python']}"
    assert packages == [spaced(each) for each in PROJECT["dependencies"]]
    assert RECIPE["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    scripts = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert RECIPE["build"]["entry_points"] == scripts


def test_every_extra_is_said_in_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    (line,) = re.findall(r"^Extras: (.*?) bring ", readme, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("script", ["run", "release", "versions"])
def test_scripts_are_of_the_shell_and_may_be_run(script):
    path = ROOT / ".ci" / script
    assert path.stat().st_mode & 0o111 or script == "run"
    assert subprocess.run(["bash", "-n", str(path)]).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the script is one of the shell")
def test_versions_that_are_missing_are_said_and_a_failure_is_one(tmp_path):
    """With a path on which no Python is, none is seen: that is no success."""
    found = subprocess.run(
        ["/bin/bash", str(ROOT / ".ci" / "versions")],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 1 and "python3.12: not on this machine" in found.stdout
