"""`import fluidproof as fp`: every public name, looked up on first use, each the same object as at home."""

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fluidproof as fp

ROOT = Path(__file__).parents[1]


def test_every_public_name_is_found_and_is_the_one_at_home():
    for package in fp.PACKAGES:
        home = importlib.import_module(package)
        for name in home.__all__:
            assert getattr(fp, name) is getattr(home, name), name
    for name, home in fp.MODULES.items():
        assert getattr(fp, name) is importlib.import_module(home)
    assert set(dir(fp)) >= {"ClosedLoop", "VDC", "machine", "write_report", "claims", "Unit"}


def test_no_two_packages_have_one_name_for_two_things():
    taken: dict[str, object] = {}
    for package in fp.PACKAGES:
        home = importlib.import_module(package)
        for name in home.__all__:
            assert taken.setdefault(name, getattr(home, name)) is getattr(home, name), name
    assert not set(taken) & set(fp.MODULES)


def test_every_public_name_has_a_docstring():
    bare = [
        name for name in dir(fp) if name != "__version__" and not inspect.getdoc(getattr(fp, name))
    ]
    assert not bare


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="fluidproof.*'Vdc'"):
        fp.Vdc  # noqa: B018


def fresh(code: str, folder: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_importing_it_imports_nothing_else(tmp_path):
    code = (
        "import sys; before = set(sys.modules); import fluidproof\n"
        "print(sorted(m for m in set(sys.modules) - before if '.' not in m))"
    )
    done = fresh(code, tmp_path)
    assert "fluidproof" in done.stdout
    assert not {"casadi", "numpy", "workbench", "plants"} & set(done.stdout.split("'"))


@pytest.mark.parametrize("text", ["MINE = 1\n", "__all__ = ['VDC']\nVDC = 'mine'\n"])
def test_a_file_of_the_users_in_the_place_of_a_package_is_named(text, tmp_path):
    (tmp_path / "controllers.py").write_text(text)
    done = fresh("import fluidproof as fp; fp.VDC", tmp_path)
    assert done.returncode and "controllers.py" in done.stderr
    assert "another name" in done.stderr


def test_supplies_of_plans_and_of_machines_have_names_of_their_own():
    import plants
    from workbench import planning

    assert not set(planning.__all__) & set(plants.__all__)
    for name in ("ConstantPressure", "LoadSensing"):
        with pytest.raises(AttributeError, match=f"is called Planned{name}"):
            getattr(planning, name)
        assert getattr(planning, f"Planned{name}")().title == name  # in plan files, too
