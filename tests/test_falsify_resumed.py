"""An interrupted search keeps what ran and goes on: the same runs, none of them twice, the same answer."""

import pytest

import workbench.verification.search.search as search
from workbench import InputError, load
from workbench.commands.cli import main
from workbench.sweep.falsify import KeptRuns
from workbench.sweep.journal import Journal
from workbench.verification.search.score import REFUSED, Score

FILE = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 1.5 s
claims:
  tracking: {error: LIMIT, settle: 0.5 s}
  falsify: {over: {K: [80 1/s, 150 1/s], delay: [0 ms, 3 ms]}, budget: 36}
"""


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(FILE.replace("LIMIT", "5 mm"))
    return path


def counted(monkeypatch, stop_after=None):
    """Numbers of runs in every batch; the batch after `stop_after` is interrupted when half of its runs are made."""
    whole, batches = search.each_run, []

    def running(jobs, keep, refused=None, **options):
        if stop_after is not None and len(batches) == stop_after:
            whole(jobs[: len(jobs) // 2], keep, refused, **options)
            raise KeyboardInterrupt
        if jobs:
            batches.append(len(jobs))
        return whole(jobs, keep, refused, **options)

    monkeypatch.setattr(search, "each_run", running)
    return batches


def test_an_interrupted_search_goes_on(written, monkeypatch, capsys):
    """Ctrl-C in the second generation: 130, what ran is kept; with --resume only the rest runs, and the answer is the same."""
    out = written.parent / "corner.yaml"
    command = ["falsify", str(written), "-o", str(out)]
    with monkeypatch.context() as patch:
        whole = counted(patch)
        assert main(command) == 2
        unbroken = capsys.readouterr().out
    assert sum(whole) == 36 + 1, "36 runs and the closest one again, for the report"
    assert [p.name for p in written.parent.iterdir()] == ["servo.yaml"], "done: nothing is left"
    with monkeypatch.context() as patch:
        before = counted(patch, stop_after=1)
        assert main(command) == 130
        said = capsys.readouterr().err
    assert "kept in" in said and "--resume" in said
    kept = (written.parent / "corner.yaml.journal").read_text().splitlines()
    assert len(kept) == 1 + 16 + 4 and before == [16]
    assert main(command) == 3
    assert "20 finished runs of an earlier search" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        rest = counted(patch)
        assert main([*command, "--resume"]) == 2
    again = capsys.readouterr().out
    assert sum(rest) == 36 - 20 + 1
    assert again.replace("20 runs were taken from the interrupted search\n", "") == unbroken
    assert [p.name for p in written.parent.iterdir()] == ["servo.yaml"]


def test_interrupted_before_any_run(written, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "each_run", interrupted)
    assert main(["falsify", str(written), "--quiet"]) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert [p.name for p in written.parent.iterdir()] == ["servo.yaml"]


def test_an_interrupted_shrinking_goes_on(written, monkeypatch, capsys):
    """The runs that shrink a counter-example are kept as well, and the case file comes out the same."""
    written.write_text(FILE.replace("LIMIT", "0.1 mm"))
    out = written.parent / "corner.yaml"
    command = ["falsify", str(written), "-o", str(out), "--quiet"]
    assert main(command) == 1
    unbroken = out.read_text()
    out.unlink()
    with monkeypatch.context() as patch:
        counted(patch, stop_after=3)
        assert main(command) == 130
    assert not out.exists()
    assert main([*command, "--resume"]) == 1
    assert out.read_text() == unbroken
    assert not (written.parent / "corner.yaml.journal").exists()


def test_runs_of_another_case_are_not_taken(written, monkeypatch):
    """A changed requirement makes every run a new one."""
    out = written.parent / "corner.yaml"
    with monkeypatch.context() as patch:
        counted(patch, stop_after=1)
        assert main(["falsify", str(written), "-o", str(out), "--quiet"]) == 130
    written.write_text(FILE.replace("LIMIT", "6 mm"))
    with monkeypatch.context() as patch:
        batches = counted(patch)
        assert main(["falsify", str(written), "-o", str(out), "--quiet", "--resume"]) == 2
    assert sum(batches) == 36 + 1


@pytest.mark.parametrize(
    "score",
    [
        Score(0.1234567890123456789, "tracking", each=(("tracking", 0.1), ("pressures", 1.5))),
        Score(REFUSED, refused="no such machine"),
        Score(-1e-12, "requirements.late", each=(("requirements.late", -1e-12),)),
    ],
)
def test_scores_come_back_as_they_were(tmp_path, score):
    with Journal(tmp_path / "t.yaml", what="search") as journal:
        KeptRuns(journal).add("key", score)
    with Journal(tmp_path / "t.yaml", resume=True, what="search") as journal:
        assert KeptRuns(journal).get("key") == score
        assert KeptRuns(journal).get("other") is None


def test_journals_of_sweeps_and_searches_are_told_apart(tmp_path):
    with Journal(tmp_path / "t", what="search") as journal:
        KeptRuns(journal).add("key", Score(1.0))
    with pytest.raises(InputError, match="not the journal of a sweep"), Journal(tmp_path / "t"):
        pass


def test_what_is_searched_is_checked_before_anything_runs(written, capsys):
    assert main(["falsify", str(written), "--over", "path=-1kg..1kg", "--quiet"]) == 3
    assert "path" in capsys.readouterr().err
    assert load(written).claims
