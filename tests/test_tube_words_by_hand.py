"""What a certificate of a tube says it proves, from numbers written down."""

from pathlib import Path

import numpy as np
import pytest
from test_tube_verdict_by_hand import STATES, tube

from workbench.verification.tube.checker import file, words
from workbench.verification.tube.checker.data import FORMAT
from workbench.verification.tube.checker.section import Refused


def certificate(**other):
    given = {
        "names": np.array(STATES), "fresh": np.zeros(3), "w": np.zeros((3, 1)),
    }  # fmt: skip
    return tube(**given | other)


@pytest.mark.parametrize(
    "after, ends",
    [
        ((1, 2, 1), "for all times, while the references repeat the last 2 samples"),
        ((1, 2, 0), "for all times, while the references repeat the last 3 samples"),
        ((1, 2, 2), "for all times, while the references stay as they are at the last sample"),
        ((1, 2, -1), "up to sample 2"),
    ],
)
def test_what_a_certificate_proves_in_words(monkeypatch, after, ends):
    """Widths and bounds at first and last, each rounded to the safe side; what is told of the samples."""
    monkeypatch.setattr(words, "digests", lambda c: ("aa", "bb"))
    lines = words.proved(certificate(after=after)).splitlines()
    assert lines[0] == f"proved: every start within q ± 0.003 stays in the tube, {ends}"
    assert lines[1:3] == ["of the loop aa", "on the run bb"]
    assert lines[3].startswith("samples 3 of 0.02 s;")
    first, second = (line.split() for line in lines[4:6])
    assert first[0] == "q" and second[0] == "p"
    assert [float(v) for v in first[1:]] == pytest.approx(
        [0.1, 0.3, 3e-3, 1e-3, 0.05, 0.35], rel=1e-5
    )
    assert [float(v) for v in second[1:]] == pytest.approx(
        [1e5, 3e5, 4e4, 5e4, 0.5e5, 4e5], rel=1e-5
    )
    assert float(first[3]) >= 3e-3 and float(first[5]) <= 0.05 and float(first[6]) >= 0.35
    assert lines[6] == "  I between -1 and 1"
    assert lines[7:] == [
        "  e_q between -0.001 and 0.0005 at every sample",
        "  e_s between -0.004 and 0.002 at every sample",
    ]


def test_noise_is_named_as_what_moves_a_run_anew(monkeypatch):
    monkeypatch.setattr(words, "digests", lambda c: ("aa", "bb"))
    text = words.proved(certificate(fresh=np.array([0.0, 0.0, 20.0]), half=np.zeros(3)))
    assert "within nothing, moved by p ± 20 before every sample, stays" in text


@pytest.mark.parametrize("quiet", [False, True])
def test_the_checker_ends_with_nought_where_nothing_is_refused(monkeypatch, capsys, quiet):
    monkeypatch.setattr(file, "load", lambda path: path)
    monkeypatch.setattr(file, "judge", lambda c: None)
    monkeypatch.setattr(file, "proved", lambda c: f"proved of {c}")
    assert file.main("tube.npz", quiet=quiet) == 0
    assert capsys.readouterr().out == ("" if quiet else "proved of tube.npz\n")


@pytest.mark.parametrize(
    "why, code",
    [(ValueError("torn"), 3), (OSError("torn"), 3), (LookupError("torn"), 3), (Refused("torn"), 1)],
)
def test_a_file_that_is_none_and_a_tube_that_is_refused_end_differently(
    monkeypatch, capsys, why, code
):
    def refused(c):
        raise why

    monkeypatch.setattr(file, "load", lambda path: path)
    monkeypatch.setattr(file, "judge", refused)
    assert file.main("tube.npz") == code
    told = capsys.readouterr()
    assert "torn" in (told.out if code == 1 else told.err)


@pytest.mark.parametrize("paths", [("a", "b"), ("a", "b", "c")])
def test_several_certificates_are_checked_and_then_together(monkeypatch, capsys, paths):
    """What each of them proves is said with its file, then what they prove together; of one alone neither."""
    monkeypatch.setattr(file, "load", lambda path: path)
    monkeypatch.setattr(file, "judge", lambda c: None)
    monkeypatch.setattr(file, "proved", lambda c: f"proved of {c}")
    monkeypatch.setattr(file, "together", lambda found: "all of " + "".join(found))
    assert file.main(*paths) == 0
    lines = [f"{c}: proved of {c}" for c in paths]
    assert capsys.readouterr().out.splitlines() == [*lines, "all of " + "".join(paths)]

    def gap(found):
        raise Refused("a gap")

    monkeypatch.setattr(file, "together", gap)
    assert file.main(*paths) == 1
    assert capsys.readouterr().out.splitlines() == [*lines, "refused: a gap"]
    assert file.main("a") == 0 and capsys.readouterr().out == "proved of a\n"


def test_the_first_of_several_that_is_refused_ends_it(monkeypatch, capsys):
    def judge(c):
        if c == "b":
            raise Refused("torn")

    monkeypatch.setattr(file, "load", lambda path: path)
    monkeypatch.setattr(file, "judge", judge)
    monkeypatch.setattr(file, "proved", lambda c: f"proved of {c}")
    assert file.main("a", "b", "c") == 1
    assert capsys.readouterr().out.splitlines() == ["a: proved of a", "b: refused: torn"]


class Touches:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_certificate_is_unpickled(tmp_path, capsys):
    mark, path = tmp_path / "run", tmp_path / "tube.npz"
    arrays = {"format": np.array(FORMAT), "z": np.array([Touches(mark)], object)}
    np.savez(path, **arrays)
    with pytest.raises(ValueError):
        file.load(str(path))
    assert file.main(str(path)) == 3 and str(path) in capsys.readouterr().err
    assert not mark.exists()
