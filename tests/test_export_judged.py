"""Exported laws as controllers of case files: asked what any law is, refused where they are not as said."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from exported import exported_axis

from workbench import Filtered, InputError, Sampled, simulate
from workbench.cases.file import loads
from workbench.cases.yaml_input import parse
from workbench.contract.trust import trusting
from workbench.interop.export.building import FLAGS
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.judging import claims_of_code, costs, uncounted
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import replay
from workbench.numerics.compiler import compiler
from workbench.sweep.places import Varied
from workbench.verification.claims import PracticalStability
from workbench.verification.judge import verify
from workbench.verification.linear.called_law import BENT
from workbench.verification.run_claims import Tracking
from workbench.verification.verdict import Verdict

CASE = """\
plant: ieha-published-linear
controller: {law: Compiled, library: law}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 2 Hz}
  duration: 0.3 s
"""


@pytest.fixture(scope="module")
def axis():
    return exported_axis("0.3 s")


@pytest.fixture(scope="module")
def home(axis, tmp_path_factory):
    """A folder in which `law` is the axis's law, exported, and `law/build/law.so` built of it."""
    _, graph, run = axis
    home = tmp_path_factory.mktemp("home")
    export_law(home / "law", graph, run)
    (home / "law" / "build").mkdir()
    compiled(home / "law" / "law.c", home / "law" / "build" / "law.so")
    return home


def compiled(source, target):
    if compiler() is None:
        pytest.skip("no C compiler")
    subprocess.run([*compiler(), *FLAGS, "-o", target, source, "-lm"], check=True)


def read(home, text=CASE):
    with trusting():
        return loads(text, str(home / "case.yaml"))


@pytest.mark.parametrize("library", ["law", "law/build/law.so"])
def test_a_case_file_runs_the_code_as_its_law(axis, home, library):
    case = read(home, CASE.replace("library: law", f"library: {library}"))
    own = axis[0]
    given = simulate(own.loop, own.scenario)
    found = simulate(case.loop, case.scenario)
    assert np.allclose(found["Y"].values, given["Y"].values, rtol=0, atol=1e-12)
    assert np.ptp(found["Y"].values) > 1e-3


def test_claims_are_asked_of_the_code(home):
    text = CASE + "claims: {tracking: {error: 0.5 mm, settle: 0.1 s}, linear-stability: true}\n"
    case = read(home, text)
    asked = [c for c in case.claims if type(c).__name__ in ("Tracking", "LinearStability")]
    tracking, stable = verify(case.loop, case.scenario, asked)
    assert tracking.holds is not None and stable.holds is None and "is code" in stable.worst
    assert stable.counted and not uncounted(stable).counted and uncounted(tracking).counted


def test_memory_behind_a_corner_of_the_code_was_asked_of_its_equations():
    """It counts no more where it held of them; where they were not stable either, and of any other doubt, it counts."""
    bent = Verdict("practical-stability", "back", None, None, worst=f"bent; {BENT}: need not show")
    assert not uncounted(bent, ["practical-stability"]).counted
    assert uncounted(bent, []).counted and uncounted(bent, ["tracking"]).counted
    slow = replace(bent, worst="too slow to be seen to its end")
    assert uncounted(slow, ["practical-stability"]).counted
    grows = replace(bent, holds=False, strength="sampled")
    assert uncounted(grows, ["practical-stability"]).counted


def test_what_the_equations_were_told_for_information_is_told_of_the_code():
    rare = Verdict("saturation", "rarely at its limit", False, "sampled", -0.04, "1")
    assert uncounted(rare, told=["tracking"]).counted
    assert not uncounted(rare, told=["saturation"]).counted


def test_the_claims_that_are_judged_again_are_those_of_the_file(axis, home):
    """Of the file's section, without what code has not: a ledger."""
    own = axis[0]
    loop = replace(own.loop, controller=Compiled(home / "law"))
    section = "claims: {tracking: {error: 7 mm}, practical-stability: {bound: 1 mJ, runs: 3}, hypotheses: true}\n"
    asked = parse(f"plant: {{}}\n{section}")
    for root, wanted in ((own.root, 1e-3), (asked, 7e-3)):
        claims = claims_of_code(replace(own, root=root), loop)
        assert [c.error for c in claims if isinstance(c, Tracking)] == [pytest.approx(wanted)]
    (stable,) = [c for c in claims if isinstance(c, PracticalStability)]
    assert stable.bound is None and stable.runs == (3 if root is asked else 6)


def test_what_single_precision_costs_is_said():
    was = [
        Verdict("tracking", "a", True, "sampled", 2.0, "mm"),
        Verdict("quiet", "b", True, "proof"),
    ]
    now = [
        Verdict("tracking", "a", True, "sampled", 1.5, "mm"),
        Verdict("quiet", "b", False, "sampled"),
        Verdict("other", "c", None, counted=False),
    ]
    first, *lines = costs(was, now)
    assert "single precision" in first
    assert lines == ["  tracking: holds, margin 2 -> 1.5 mm (-0.5)", "  quiet: holds -> violated"]


def changed(home, to, change):
    """A copy of the home whose library is of changed source."""
    copy = to / "home"
    shutil.copytree(home, copy)
    source = copy / "law" / "law.c"
    text = source.read_text()
    assert change(text) != text
    source.write_text(change(text))
    compiled(source, copy / "law" / "build" / "law.so")
    return copy


@pytest.mark.parametrize(
    "change, words",
    [
        (
            lambda text: re.sub(r"(constants = \{\{[^,]*), [^,]*", r"\1, 0.125", text),
            "numbers in the library are not those",
        ),
        (lambda text: text.replace("= LAW_DIGEST", '= "' + "0" * 32 + '"'), "another version"),
        (lambda text: text.replace("{sizeof(double), ", "{sizeof(float), "), "another version"),
        (lambda text: text.replace("law_digest", "your_digest"), "no exported law called law"),
    ],
    ids=["constant", "digest", "sizes", "another library"],
)
def test_a_library_of_other_code_is_refused(home, tmp_path, change, words):
    copy = changed(home, tmp_path, change)
    with pytest.raises(InputError, match=f"case.yaml, line 2, controller.library: .*{words}"):
        read(copy, CASE.replace("library: law", "library: law/build/law.so"))
    with pytest.raises(InputError, match="controller.library: .*law.c was changed"):
        read(copy)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("library: law", "library: low", r"line 2, controller.library: .*no such folder"),
        ("library: law", "library: .", r"line 2, controller.library: .*no exported law"),
        ("library: law", "library: case.txt", r"controller.library: .*no law.json beside"),
        ("library: law", "library: law, digest: abc", r"line 2, controller.digest: .*abc"),
        ("library: law", "library: law, K_p: 3", r"controller.K_p: there is no key"),
        ("{law: Compiled, library: law}", "Compiled", r"controller.*library"),
        ("scenario", "loop: {sample_time: 2 ms}\nscenario", r"loop.sample_time: .*1 ms.*2 ms"),
        ("scenario", "loop: {sample_time: continuous}\nscenario", r"loop.sample_time: .*1 ms"),
    ],
)
def test_what_is_not_as_said_is_refused_at_its_key(home, old, new, words):
    (home / "case.txt").write_text("no library")
    with pytest.raises(InputError, match=words) as caught:
        read(home, CASE.replace(old, new, 1))
    assert caught.value.mend and "case.yaml" in caught.value.file


def test_code_is_not_run_without_trust(home, monkeypatch):
    monkeypatch.delenv("FLUIDPROOF_TRUST", raising=False)
    monkeypatch.setattr(Compiled, "__post_init__", lambda self: pytest.fail("it was opened"))
    with pytest.raises(InputError, match=r"(?s)line 2, controller.library: law is .*--trust"):
        loads(CASE, str(home / "case.yaml"))


def test_what_the_code_does_already_is_not_put_around_it_again(axis, home, tmp_path):
    case, _, _ = axis
    law = Sampled(Filtered(case.loop.controller.inner, 100.0), 1e-3)
    loop = replace(case.loop, controller=law)
    graph = law_graph(law)
    export_law(tmp_path / "law", graph, replay(loop, case.scenario, graph))
    text = CASE + "loop: {filter: {frequency: 50 Hz}}\n"
    with pytest.raises(InputError, match=r"line 6, loop.filter: .*has this in it already"):
        read(tmp_path, text)
    assert read(home, text).loop.controller.inner.frequency == 50.0


def test_a_sweep_knows_which_code_it_ran(home, tmp_path):
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    root = read(copy).root
    before = Varied(root, str(copy / "case.yaml"), None).content({})
    data = json.loads((copy / "law" / "law.json").read_text())
    other = tmp_path / "other"
    shutil.copytree(copy, other)
    (other / "law" / "law.json").write_text(json.dumps({**data, "digest": "0"}))
    after = Varied(root, str(other / "case.yaml"), None).content({})
    assert before[1].keys() == after[1].keys() == {"law/law.json"} and before[1] != after[1]
