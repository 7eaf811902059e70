"""`workbench explain`: the meaning of a key, its unit, default and an example, by the path one would write."""

import pytest

from workbench.commands.cli import main


def said(capsys, path):
    """What the command prints for a path that it knows."""
    assert main(["explain", path]) == 0
    return capsys.readouterr().out


def test_a_number_has_meaning_unit_range_default_and_example(capsys):
    text = said(capsys, "controller.VDC.λ")
    assert "position gains" in text and "in 1/s, greater than zero" in text
    assert "default: 8 1/s" in text and "example: λ: 8 1/s" in text
    assert text == said(capsys, "controller.VDC.lambda")


def test_what_follows_from_other_keys_where_it_is_left_out_is_told(capsys):
    one = said(capsys, "plant.actuators.drive.cylinder.friction")
    assert "default: that of a seal of this bore" in one
    assert "friction law, by name or with numbers; default: that of a seal" in said(
        capsys, "Cylinder"
    )
    assert "walls     Walls" in said(capsys, "Cylinder") and "default: nothing" in said(
        capsys, "Cylinder"
    )


def test_names_of_parts_and_levels_left_out_lead_to_the_same_key(capsys):
    text = said(capsys, "plant.Manipulator.lift.cylinder.valve.dead_band")
    assert "overlap: spool travel that opens nothing" in text and "Manipulator" in text
    assert "overlap: spool travel that opens nothing" in said(capsys, "valve.dead_band")


def test_a_part_is_shown_with_its_keys_and_once_for_each_meaning(capsys):
    text = said(capsys, "plant.drives.lift.valve")
    assert text.count("  dead_band  overlap") == 1, "the same part twice"
    assert "MicroValve" in text and "frequency  natural frequency of the spool, Hz" in text


def test_claims_and_sections(capsys):
    assert "within   (claims · PracticalStability)" in said(
        capsys, "claims.practical-stability.within"
    )
    assert "Tool error after settling" in said(capsys, "claims.tracking")
    assert "sampling, delay" in said(capsys, "loop")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("controller.lamda", "lambda"),
        ("plnt", "did you mean"),
        (".", "empty"),
        ("crane.yaml", "write the key, such as controller.VDC.λ"),
    ],
)
def test_unknown_words_get_the_nearest(capsys, path, hint):
    assert main(["explain", path]) == 3
    assert hint in capsys.readouterr().err


def test_a_part_is_found_by_its_name(capsys):
    text = said(capsys, "LoadSensing")
    assert text.startswith("LoadSensing: A pump") and "margin" in text and "20 bar" in text
    assert said(capsys, "drive.IEHADrive").startswith("IEHADrive: Integrated")
    assert main(["explain", "LoadSensin"]) == 3
    assert "did you mean LoadSensing" in capsys.readouterr().err


def test_examples_can_stand_in_a_file(capsys):
    assert "example: supply: {p_s: …, p_r: …, Q_max: …}" in said(capsys, "plant.supply")
    assert "example: friction: " in said(capsys, "ServoCylinder.cylinder.friction")
    assert "example" not in said(capsys, "Cylinder.valve").split("\n\n")[0], "a name says nothing"


def test_without_a_path_the_sections_are_listed(capsys):
    assert main(["explain"]) == 0
    text = capsys.readouterr().out
    assert "  controller: the law and its gains" in text and "workbench explain plant" in text
    assert main(["explain", ""]) == 3
    assert "the path is empty" in capsys.readouterr().err
