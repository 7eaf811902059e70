"""Studies of many runs that are interrupted: what ran is kept, `--resume` makes the rest, and the answer is the same."""

import pytest

from workbench.commands.cli import main
from workbench.verification.answers import Answers
from workbench.verification.probability import fixed, runs
from workbench.verification.sensitivity import check

FILE = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 mm], frequency: 20 Hz}
  duration: 20 ms
claims:
  requirements: {small: always (X < 2 mm)}
  sensitivity: {of: [K, K_F]}
  probability: {of: always (X < 2 mm), over: {K: {uniform: [80 1/s, 150 1/s]}}, runs: 10, at_most: 40 %, confidence: 90 %}
"""
STUDIES = {"sensitivity": (check, check, 8), "probability": (fixed, runs, 10)}


@pytest.fixture
def case(tmp_path, monkeypatch):
    """The file, of whose studies four runs make a batch."""
    for module in (check, fixed):
        monkeypatch.setattr(module, "BATCH", 4)
    file = tmp_path / "servo.yaml"
    file.write_text(FILE)
    return file


def counted(monkeypatch, module, stop_after=None):
    """Numbers of runs in every batch; none is made after `stop_after` of them."""
    whole, batches = module.run_many, []

    def running(jobs, *rest):
        if stop_after is not None and len(batches) == stop_after:
            raise KeyboardInterrupt
        batches.append(len(jobs))
        return whole(jobs, *rest)

    monkeypatch.setattr(module, "run_many", running)
    return batches


@pytest.mark.parametrize("what", STUDIES)
def test_an_interrupted_study_goes_on(case, monkeypatch, capsys, what):
    _, module, total = STUDIES[what]
    command = [what, str(case)]
    with monkeypatch.context() as patch:
        whole = counted(patch, module)
        code = main(command)
        unbroken = capsys.readouterr().out
    assert sum(whole) == total and code == 0, unbroken
    journal = case.parent / f"servo-{what}.journal"
    assert not journal.exists(), "done: nothing is left"
    with monkeypatch.context() as patch:
        counted(patch, module, stop_after=1)
        assert main(command) == 130
    assert "--resume" in capsys.readouterr().err
    assert len(journal.read_text().splitlines()) == 1 + 4
    assert main(command) == 3, "runs that nobody asked to go on from"
    assert f"4 finished runs of an earlier {what}" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        rest = counted(patch, module)
        assert main([*command, "--resume"]) == code
    again = capsys.readouterr().out
    assert sum(rest) == total - 4
    assert again.replace("4 runs were taken from the interrupted study\n", "") == unbroken
    assert not journal.exists()


def test_runs_of_another_file_are_not_taken(case, monkeypatch):
    with monkeypatch.context() as patch:
        counted(patch, check, stop_after=1)
        assert main(["sensitivity", str(case), "--quiet"]) == 130
    case.write_text(FILE.replace("amplitude: [1 mm]", "amplitude: [1.5 mm]"))
    with monkeypatch.context() as patch:
        batches = counted(patch, check)
        assert main(["sensitivity", str(case), "--quiet", "--resume"]) == 0
    assert sum(batches) == 8


def test_equal_runs_are_made_once_and_questions_told_apart(case):
    from workbench import load

    made = load(case)
    job = (made.loop, made.scenario)
    stored = {}

    class Store:
        get, add = stored.get, stored.__setitem__

    asked = []
    make = lambda jobs: asked.append(len(jobs)) or [[float(i)] for i, _ in enumerate(jobs)]
    assert Answers(Store, "one").of([job, job], make) == [[0.0], [0.0]]
    assert Answers(Store, "one").of([job], make) == [[0.0]] and asked == [1]
    assert Answers(Store, "two").of([job], make) == [[0.0]] and asked == [1, 1]


def test_a_file_without_the_claim_is_told(case, capsys):
    case.write_text(FILE.partition("  probability")[0])
    assert main(["probability", str(case)]) == 3
    assert "no claim probability" in capsys.readouterr().err
