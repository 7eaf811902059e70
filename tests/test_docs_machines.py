"""The page on machines of one's own: its case file is drawn and holds as printed."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from controllers import VDC
from plants.drives.kinds import DriveKind
from plants.supplies.kinds import SupplyKind
from workbench import simulate, verify
from workbench.cases.file import loads
from workbench.commands import cli

PAGE = (Path(__file__).parents[1] / "docs" / "machines.md").read_text("utf-8")
(CASE,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.long
def test_the_machine_holds_as_printed():
    case = loads(CASE, "machine.yaml")
    assert isinstance(case.loop.controller.inner, VDC)
    counted = [v for v in verify(case.loop, case.scenario, case.claims) if v.counted]
    assert counted and all(v.holds for v in counted), [v.claim for v in counted if not v.holds]


def test_it_is_drawn(tmp_path, capsys):
    file, picture = tmp_path / "machine.yaml", tmp_path / "machine.svg"
    file.write_text(CASE, "utf-8")
    assert cli.main(["draw", str(file), "-o", str(picture)]) == 0
    assert "bucket" in picture.read_text("utf-8")


def printed(word):
    """The names that the block of Python with this word makes."""
    found = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (code,) = [block for block in found if word in block]
    made: dict = {}
    exec(compile(code, "machines.md", "exec"), made)
    return made


def test_a_crane_made_in_python_runs_and_is_drawn_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = printed("LoadSensing")
    assert made["log"].status.completed and abs(made["log"].array("e_q_arm")).max() < 5e-3
    assert "loader" in (tmp_path / "loader.svg").read_text("utf-8")


def test_a_crane_on_a_ship_runs_as_printed_and_feels_it():
    made = printed("BaseMotion")
    rocked, asked = made["log"], made["scenario"]
    still = simulate(made["loop"], replace(asked, disturbances={}))
    assert rocked.status.completed
    apart = max(np.abs(rocked.array(n) - still.array(n)).max() for n in ("p_a1", "p_b1"))
    assert apart > 5e5  # Pa


@pytest.mark.parametrize("kinds", [DriveKind, SupplyKind], ids=["drives", "supplies"])
def test_every_drive_and_supply_is_in_its_table(kinds):
    members = getattr(kinds, "__args__", (kinds,))
    assert {cls.__name__ for cls in members} <= set(re.findall(r"`(\w+)`", PAGE))
