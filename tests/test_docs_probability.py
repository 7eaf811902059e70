"""The page on probabilities: its case holds as printed, every option of the claim is in its table."""

import dataclasses
import re
from pathlib import Path

from workbench import verify
from workbench.cases.file import loads
from workbench.verification.claims import Probability

PAGE = (Path(__file__).parents[1] / "docs" / "probability.md").read_text("utf-8")
(CASE,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_case_holds_as_printed():
    case = loads(CASE, "probability.yaml")
    asked = [c for c in case.claims if isinstance(c, Probability)]
    (verdict,) = [v for v in verify(case.loop, case.scenario, asked) if v.key == "probability"]
    assert verdict.holds and verdict.data["runs"] == 29


def test_every_option_is_in_the_table():
    table = PAGE.split("| option |")[1].split("\n\n")[0]
    options = {field.name for field in dataclasses.fields(Probability)} - {"counted"}
    assert options <= set(re.findall(r"`(\w+)", table))
