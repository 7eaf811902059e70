"""What `workbench tune` says, writes and returns, by the margin or by runs, out of a search whose end is written down."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from controllers.gain_search import command as by_runs
from controllers.pid_tuning import command as by_margin


@pytest.fixture
def said(monkeypatch):
    """Everything that is said, complained, written, in order."""
    log = []
    terminal = SimpleNamespace(
        progress=lambda shown: nullcontext(lambda *given: None), say=lambda text: log.append(f"said {text}"),
        complain=lambda text: log.append(f"complained {text}"), headline=lambda *given: "head", title=lambda case: "title",
        columns=lambda: 80, clean=lambda text: text,
    )  # fmt: skip
    for module in (by_margin, by_runs):
        monkeypatch.setattr(module, "terminal", terminal)
        monkeypatch.setattr(
            module, "located", lambda section, key: nullcontext(log.append(f"in {key}"))
        )
        monkeypatch.setattr(module, "write", lambda options, text: log.append(f"wrote {text}"))
        monkeypatch.setattr(
            module,
            "say_verified",
            lambda options, code, verdicts, mend: log.append(f"verified {code}"),
        )
        monkeypatch.setattr(module, "shown", lambda found: "table")
    return log


def options(**other):
    return SimpleNamespace(**{"write": "", "quiet": False, "verify": True, "report": ""} | other)


def case(**sections):
    return SimpleNamespace(
        root=SimpleNamespace(value=sections), loop=None, path="p", name="n", located=nullcontext
    )


# ---- by the margin -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def margin(monkeypatch, said):
    def asked(given, asked=2.0, met=True, **sections):
        found = SimpleNamespace(asked=asked, met=met, law="law", found="found")
        monkeypatch.setattr(by_margin, "checked", lambda loop: None)
        monkeypatch.setattr(by_margin, "check_output", lambda options, case: None)
        monkeypatch.setattr(
            by_margin, "_wish", lambda options, case: SimpleNamespace(tune=lambda loop, tell: found)
        )
        smooth = SimpleNamespace(controller=SimpleNamespace(model="model"))
        monkeypatch.setattr(by_margin, "_without_friction", lambda case, read: smooth)
        monkeypatch.setattr(by_margin, "innermost", lambda law: law)
        monkeypatch.setattr(by_margin, "ClosedLoop", lambda *given: given)
        monkeypatch.setattr(by_margin, "written", lambda case, law, gains: "text")
        monkeypatch.setattr(by_margin, "verified", lambda options, text: (7, []))
        said.clear()
        return by_margin.tune(given, case(**sections), None), said

    return asked


def test_gains_that_are_found_are_told_and_their_file_is_verified(margin):
    code, said = margin(options(write="file"), controller=1)
    assert code == 7 and said == [
        "in controller",
        "said head",
        "said table",
        "wrote text",
        "verified 7",
    ]
    code, said = margin(options(write="file", verify=False), plant=1)
    assert code == 0 and said == ["in plant", "said head", "said table", "wrote text"]
    assert margin(options(), plant=1) == (0, ["in plant", "said head", "said table"])
    assert margin(options(write="file", quiet=True), plant=1) == (
        7,
        ["in plant", "wrote text", "verified 7"],
    )


@pytest.mark.parametrize("quiet", [False, True])
def test_a_margin_that_is_not_reached_writes_nothing(margin, quiet):
    code, said = margin(options(write="file", quiet=quiet), met=False, plant=1)
    words = ["complained not written: file (the margin asked for is not reached)"]
    assert code == 1 and said == [
        "in plant",
        *([] if quiet else ["said head", "said table", *words]),
    ]
    assert margin(options(quiet=True), met=False, plant=1)[0] == 1
    assert margin(options(quiet=True), asked=None, met=False, plant=1)[0] == 0


class Node(SimpleNamespace):
    """A place of a file."""


@pytest.mark.parametrize(
    "F_c, sections, smooth",
    [
        ((0.0, 0.5), {}, True),
        ((0.0, 0.0), {}, False),
        ((), {}, False),
        ((5.0,), {"controller": Node(value={"model": Node(value={"friction": 1})})}, False),
        ((5.0,), {"controller": Node(value={"model": Node(value={"mass": 1})})}, True),
        ((5.0,), {"controller": Node(value={"model": Node(value="same")})}, True),
        ((5.0,), {"controller": Node(value="PID")}, True),
    ],
)
def test_gains_are_found_without_dry_friction_that_the_file_does_not_state(
    monkeypatch, F_c, sections, smooth
):
    cylinders = [SimpleNamespace(friction=SimpleNamespace(F_c=f)) for f in F_c]
    monkeypatch.setattr(
        by_margin,
        "innermost",
        lambda law: SimpleNamespace(model=SimpleNamespace(cylinders=cylinders)),
    )
    own = SimpleNamespace(controller=None, root=SimpleNamespace(value=sections))
    found = by_margin._without_friction(own, lambda settings: ("read", settings))
    assert found == (("read", [by_margin.FRICTIONLESS]) if smooth else own)


# ---- by runs ---------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def runs(monkeypatch, said):
    def asked(given, met=True, text="text", code=5, **sections):
        found = SimpleNamespace(met=met)
        wish = SimpleNamespace(tune=lambda *given: found, free="free", each="each")
        monkeypatch.setattr(by_runs, "_wish", lambda options, case: wish)
        monkeypatch.setattr(by_runs, "innermost", lambda law: law)
        monkeypatch.setattr(by_runs, "knobs", lambda *given: None)
        monkeypatch.setattr(
            by_runs, "_passing", lambda options, case, wish, found: (found, text, code, [])
        )
        monkeypatch.setattr(by_runs, "gain_rows", lambda found: [])
        monkeypatch.setattr(by_runs, "in_words", lambda found: [])
        one = case(**sections)
        one.controller = one.scenario = one.claims = None
        said.clear()
        report = lambda path, *given: said.append(f"reported {path}")
        return by_runs.tune_by_runs(given, one, report), said

    return asked


def test_gains_found_by_runs_are_told_and_their_file_is_verified(runs):
    code, said = runs(options(write="file", report="pdf"), controller=1)
    assert code == 5 and said == [
        "in controller", "said head", "said table", "wrote text", "verified 5", "reported pdf", "said written: pdf",
    ]  # fmt: skip
    code, said = runs(options(write="file", verify=False, quiet=True, report="pdf"), plant=1)
    assert code == 5 and said == ["in plant", "wrote text", "reported pdf"]
    assert runs(options(), plant=1) == (0, ["in plant", "said head", "said table"])


def test_gains_that_do_not_keep_what_was_asked_write_nothing(runs):
    code, said = runs(options(write="file"), met=False, plant=1)
    assert code == 1 and said[-1] == f"complained not written: file ({by_runs.UNMET})"
    assert runs(options(write="file", quiet=True), met=False, plant=1) == (1, ["in plant"])
    assert runs(options(), met=False, plant=1)[0] == 1


@pytest.mark.parametrize(
    "verify, codes, chosen",
    [
        (False, {}, ("b", 0)),
        (True, {"b": 0}, ("b", 0)),
        (True, {"b": 1, "d": 0}, ("d", 0)),
        (True, {"b": 2, "d": 1, "start": 0}, ("start", 0)),
        (True, {"b": 2, "d": 1, "start": 1}, ("b", 2)),
    ],
)
def test_the_first_choice_whose_file_passes_is_taken(monkeypatch, verify, codes, chosen):
    """Those that keep what was asked, the best first, the gains of the file last; the best of all where none passes."""

    class Point(SimpleNamespace):
        __hash__ = object.__hash__

    a, b, c, d = (
        Point(name=n, kept=kept)
        for n, kept in (("a", False), ("b", True), ("c", False), ("d", True))
    )
    found = SimpleNamespace(ranked=(a, b, c, d), start=Point(name="start", kept=False))
    made = lambda case, wish, found, point: SimpleNamespace(law=point.name, found=None, point=point)
    monkeypatch.setattr(by_runs, "_with", made)
    monkeypatch.setattr(by_runs, "written", lambda case, law, gains: law)
    monkeypatch.setattr(by_runs, "verified", lambda options, text: (codes[text], [text]))
    one, text, code, verdicts = by_runs._passing(options(verify=verify), None, None, found)
    assert (one.point.name, code) == chosen and text == chosen[0]
    assert verdicts == ([chosen[0]] if verify else [])


@pytest.mark.parametrize("quiet", [False, True])
def test_how_far_a_search_is_is_shown_unless_it_is_quiet(margin, runs, monkeypatch, quiet):
    shown = []
    progress = lambda on: nullcontext(shown.append(on) or (lambda *given: None))
    monkeypatch.setattr(by_margin.terminal, "progress", progress)
    margin(options(quiet=quiet), plant=1)
    runs(options(quiet=quiet), plant=1)
    assert shown == [not quiet, not quiet]
