"""`workbench import`: the file that is written is the machine of the URDF; misspelt names are told."""

from dataclasses import replace

import pytest

from plants import from_urdf
from plants.multibody.urdf import file as urdf_file
from workbench import InputError
from workbench.cases.file import load_plant
from workbench.commands.cli import main

URDF = """<?xml version="1.0"?>
<robot name="press">
  <link name="base"/>
  <link name="slide"><inertial><origin xyz="0.1 0.02 0"/><mass value="120"/>
    <inertia ixx="3" ixy="0.2" ixz="-0.1" iyy="4" iyz="0.3" izz="5"/></inertial></link>
  <joint name="push" type="prismatic"><parent link="base"/><child link="slide"/>
    <origin xyz="0.1 0 0.6" rpy="0 0.3 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.6" effort="9000" velocity="1"/><dynamics damping="12" friction="FRICTION"/></joint>
</robot>
"""
BESIDE = "start: {push: 100 mm}\ngravity: [0, 0, -9.80665]\n"


@pytest.fixture
def robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "press.urdf").write_text(URDF.replace("FRICTION", "0"), "utf-8")
    (tmp_path / "beside.yaml").write_text(BESIDE, "utf-8")
    return tmp_path


def test_the_file_is_the_machine_of_the_urdf(robot, capsys):
    assert main(["import", "press.urdf", "--beside", "beside.yaml"]) == 0
    assert "press.yaml" in capsys.readouterr().out
    assert load_plant("press.yaml")[0] == from_urdf("press.urdf", "beside.yaml")
    assert main(["import", "press.urdf"]) == 3  # there is such a file
    assert "already" in capsys.readouterr().err
    assert main(["import", "press.urdf", "-o", "bare.yaml"]) == 0
    assert load_plant("bare.yaml")[0] == from_urdf("press.urdf") != load_plant("press.yaml")[0]


def test_dry_friction_is_left_out_by_the_option_that_the_refusal_names(robot, capsys):
    (robot / "press.urdf").write_text(URDF.replace("FRICTION", "3"), "utf-8")
    assert main(["import", "press.urdf"]) == 3
    assert "workbench import --without friction" in capsys.readouterr().err
    assert main(["import", "press.urdf", "--without", "friction"]) == 0


def test_a_text_that_would_be_another_machine_is_not_written(robot, monkeypatch):
    other = from_urdf("press.urdf")
    changed = (replace(other, name="another"), {})
    monkeypatch.setattr(urdf_file, "build_plant", lambda *_: changed)
    with pytest.raises(InputError, match="would not be the same machine"):
        urdf_file.imported("press.urdf")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("hiab-xs31", "hiab-xs031"), ("besid", "beside.yaml"), ("besid.yaml", "beside.yaml")],
)
def test_a_misspelt_name_is_told_with_the_one_that_was_meant(robot, capsys, given, meant):
    assert main(["simulate", given]) == 3
    assert f"did you mean {meant}" in capsys.readouterr().err


def test_a_name_that_is_near_nothing_stays_a_file_that_is_not_there(robot, capsys):
    assert main(["simulate", "zzzzzz"]) == 3
    assert "did you mean" not in capsys.readouterr().err
