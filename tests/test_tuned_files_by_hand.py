"""Which way gains are found and what belongs to it, what is refused and said of the file that is written, by hand."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from controllers import tuned_file, tuning_method
from controllers.gain_search import command as by_runs
from controllers.gain_search.options import ByRuns
from controllers.pid_tuning import command as by_margin
from controllers.tuning_method import MARGIN, RUNS
from plants.components.friction import CoulombViscous
from workbench.contract.errors import InputError


# ---- which way -------------------------------------------------------------------------------------------------------
def options(**other):
    return SimpleNamespace(**dict.fromkeys((*MARGIN, *RUNS, "method", "free")) | other)


def case(controller=None):
    value = {} if controller is None else {"controller": SimpleNamespace(value=controller)}
    return SimpleNamespace(controller=None, root=SimpleNamespace(value=value))


@pytest.fixture
def way(monkeypatch):
    def asked(given, tunings=True, F_c=0.0, controller=None):
        law = SimpleNamespace(tunings=lambda: tunings, model=(CoulombViscous(F_c=F_c),))
        monkeypatch.setattr(tuning_method, "innermost", lambda controller: law)
        return tuning_method.by_runs(given, case(controller))

    return asked


@pytest.mark.parametrize("tunings", [True, False])
@pytest.mark.parametrize("method, runs", [("runs", True), ("relay", False), ("disk-margin", False)])
def test_a_method_that_is_named_is_taken(way, method, runs, tunings):
    assert way(options(method=method, trade="error", at=["q=1"]), tunings, 5.0) is runs


def test_every_law_but_pid_is_searched_by_runs(way):
    assert way(options(disk_margin=0.5), tunings=False) is True


@pytest.mark.parametrize("name", RUNS)
def test_what_belongs_to_runs_asks_for_them(way, name):
    assert way(options(**{name: "so"}, disk_margin=0.5)) is True


@pytest.mark.parametrize(
    "F_c, controller, runs",
    [
        (0.5, None, True),
        (0.0, None, False),
        (5.0, "PID", True),
        (5.0, {"law": "PID"}, True),
        (5.0, {"tuning": None}, False),
        (0.0, {"tuning": None}, False),
    ],
)
def test_a_machine_with_dry_friction_is_searched_by_runs_where_nothing_is_said(
    way, F_c, controller, runs
):
    assert way(options(), F_c=F_c, controller=controller) is runs
    for name in MARGIN:
        assert way(options(**{name: "so"}), F_c=F_c, controller=controller) is False


def test_what_belongs_to_the_other_way_is_refused():
    tuning_method.check_options(options(bears="2 ms", free=["K_p"]), True)
    tuning_method.check_options(options(disk_margin=0.5, free=["K_p"]), False)
    tuning_method.check_options(options(), True)
    with pytest.raises(InputError, match="--most|--runs") as why:
        tuning_method.check_options(options(most=9), False)
    assert (
        str(why.value).startswith("--runs is for --method runs")
        and "add --method runs" in why.value.mend
    )
    with pytest.raises(
        InputError, match="--disk-margin is for --method disk-margin or relay"
    ) as why:
        tuning_method.check_options(options(disk_margin=0.5, rule="P"), True)
    assert "add --method disk-margin," in why.value.mend


# ---- the file --------------------------------------------------------------------------------------------------------
def test_a_file_to_write_is_looked_at_before_long_work(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(tuned_file, "check_writable", asked.append)
    one = SimpleNamespace(path=str(tmp_path / "case.yaml"))
    tuned_file.check_output(SimpleNamespace(write=""), one)
    assert asked == []
    tuned_file.check_output(SimpleNamespace(write=str(tmp_path / "other.yaml")), one)
    assert asked == [str(tmp_path / "other.yaml")]
    with pytest.raises(InputError, match="would overwrite the case file"):
        tuned_file.check_output(SimpleNamespace(write=str(tmp_path / "." / "case.yaml")), one)


@pytest.fixture
def said(monkeypatch):
    log = []
    terminal = SimpleNamespace(
        say=lambda text: log.append(f"said {text}"), complain=lambda text: log.append(f"complained {text}"),
        clean=lambda text: text, columns=lambda: 80, coloured=lambda: False,
        table=lambda verdicts, *how: [v.key for v in verdicts], tally=lambda verdicts, more, code: f"tally {len(verdicts)} {code}",
        progress=lambda shown: nullcontext(log.append(f"shown {shown}")),
    )  # fmt: skip
    monkeypatch.setattr(tuned_file, "terminal", terminal)
    return log


@pytest.mark.parametrize("quiet, told", [(False, ["said written: a.yaml"]), (True, [])])
def test_a_file_is_written_whole(monkeypatch, said, quiet, told):
    wrote = []

    def atomic(path, make):
        make(SimpleNamespace(write=lambda data: wrote.append((path, data))))

    monkeypatch.setattr(tuned_file, "write_atomic", atomic)
    tuned_file.write(SimpleNamespace(write="a.yaml", quiet=quiet), "K_p: 3 µm")
    assert wrote == [("a.yaml", "K_p: 3 µm".encode())] and said == told


def verdict(key, holds, counted=True):
    return SimpleNamespace(key=key, holds=holds, counted=counted)


VERDICTS = [
    verdict("good", True),
    verdict("bad", False),
    verdict("beside", False, counted=False),
    verdict("open", None),
]


def test_what_does_not_hold_of_a_written_file_is_told(said):
    """What counts and does not hold, undecided or not; of a file that passes the tally alone; nothing where it is quiet."""
    given = SimpleNamespace(write="a.yaml", quiet=False)
    tuned_file.say_verified(given, 1, VERDICTS, "another way")
    assert said == [
        "said ['bad', 'open']",
        "said tally 4 1",
        "complained a.yaml does not pass its own verification: bad, open\n  mend: another way",
    ]
    said.clear()
    tuned_file.say_verified(given, 0, VERDICTS, "another way")
    assert said == ["said tally 4 0"]
    said.clear()
    tuned_file.say_verified(SimpleNamespace(write="a.yaml", quiet=True), 1, VERDICTS, "another way")
    assert said == []


@pytest.mark.parametrize("quiet", [True, False])
def test_a_file_is_verified_by_its_own_claims(monkeypatch, said, quiet):
    one = SimpleNamespace(loop="loop", scenario="scenario", claims="claims", located=nullcontext)
    monkeypatch.setattr(tuned_file, "loads", lambda text, path: one)
    asked = []

    def examine(*given):
        asked.append(given[:3])
        return SimpleNamespace(verdicts=VERDICTS)

    monkeypatch.setattr("workbench.verification.judge.examine", examine)
    monkeypatch.setattr("workbench.verification.verdict.exit_code", lambda verdicts: len(verdicts))
    found = tuned_file.verified(SimpleNamespace(write="a.yaml", quiet=quiet), "text")
    assert found == (4, VERDICTS) and asked == [("loop", "scenario", "claims")]
    assert said == [f"shown {not quiet}"]


# ---- what the command line asks of a search by runs ------------------------------------------------------------------
def wished(monkeypatch, **given):
    monkeypatch.setattr(by_runs, "error_unit", lambda loop: "m")
    names = ("trade", "margin", "bears", "error", "free", "each", "most")
    asked = SimpleNamespace(**dict.fromkeys(names) | given)
    return by_runs._wish(asked, SimpleNamespace(loop="loop"))


def test_numbers_of_the_command_line_have_units(monkeypatch):
    assert wished(monkeypatch) == ByRuns()
    found = wished(monkeypatch, bears="3 ms", error="2 mm", free=["K_p", "K_i"], each=True, most=7)
    assert found == ByRuns("error", "delay", 3e-3, 2e-3, ("K_p", "K_i"), True, 7)
    assert wished(monkeypatch, trade="balanced", margin="sample-time").what == "sample time"
    for name, value in (("bears", "3 mm"), ("error", "2 s")):
        with pytest.raises(InputError, match=f"--{name}: ") as why:
            wished(monkeypatch, **{name: value})
        assert why.value.mend


def test_columns_of_the_gains_before_and_after(monkeypatch):
    rows = [("K_p", "12.5 V/m", "9"), ("largest after settling", "2 mm", "1.5 mm")]
    monkeypatch.setattr(by_runs, "headed", lambda found: ("", "before", "chosen"))
    monkeypatch.setattr(by_runs, "gain_rows", lambda found: rows)
    monkeypatch.setattr(by_runs, "in_words", lambda found: ["asked: so", "not kept"])
    assert by_runs.shown(None).splitlines() == [
        "                        before    chosen",
        "K_p                     12.5 V/m  9",
        "largest after settling  2 mm      1.5 mm",
        "asked: so",
        "not kept",
    ]


# ---- what the command line asks of a tuning by the margin --------------------------------------------------------------
def margin_wish(monkeypatch, controller=None, at=(), **given):
    names = (
        "method",
        "disk_margin",
        "free",
        "noise_gain",
        "rule",
        "structure",
        "amplitude",
        "hysteresis",
    )
    monkeypatch.setattr(by_margin, "innermost", lambda controller: None)
    monkeypatch.setattr(by_margin, "read_tuning", lambda kind, node: node.value)
    asked = SimpleNamespace(**dict.fromkeys(names) | given, at=list(at))
    return by_margin._wish(asked, case(controller))


def test_the_command_line_is_asked_before_the_file(monkeypatch):
    """What the file says stays but for what is named; another method takes over where alone."""
    usual = by_margin.ByDiskMargin()
    assert margin_wish(monkeypatch) == usual == margin_wish(monkeypatch, "PID")
    assert margin_wish(monkeypatch, {"tuning": SimpleNamespace(value=None)}) == usual
    own = by_margin.ByDiskMargin(0.5, ("K_d", "K_p"), 7.0, 90.0, {"E": "1 mm", "X": 2.0})
    file = {"tuning": SimpleNamespace(value=own)}
    assert margin_wish(monkeypatch, file) == own
    found = margin_wish(monkeypatch, file, ["E=3 mm"], disk_margin=0.6, free=["K_i"])
    assert found == by_margin.ByDiskMargin(0.6, ("K_i",), 7.0, 90.0, {"E": "3 mm", "X": 2.0})
    found = margin_wish(monkeypatch, file, method="relay", amplitude="2 V")
    assert type(found) is by_margin.METHODS["relay"]
    assert (found.amplitude, found.at, found.N) == ("2 V", {"E": "1 mm", "X": 2.0}, 10.0)


def test_options_and_numbers_of_another_method_are_refused(monkeypatch):
    with pytest.raises(InputError, match="--noise-gain is for --method disk-margin") as why:
        margin_wish(monkeypatch, method="relay", noise_gain=3.0)
    assert "add --method disk-margin," in why.value.mend
    with pytest.raises(InputError, match="--amplitude is for --method relay"):
        margin_wish(monkeypatch, amplitude=1.0)
    with pytest.raises(InputError, match="disk_margin"):
        margin_wish(monkeypatch, disk_margin=2.5)
    with pytest.raises(InputError, match="each once"):
        margin_wish(monkeypatch, free=["K_p", "K_p"])
    with pytest.raises(InputError, match="expected NAME=VALUE"):
        margin_wish(monkeypatch, at=["E"])
