"""The commands in a shell: --set, --version, verify, completion, Ctrl-C in the first instant, a locale without Greek."""

import importlib
import linecache
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import plants
from workbench.cases.file import loads
from workbench.commands import grammar, settings
from workbench.commands.cli import ACTS, main
from workbench.commands.completion import commands, script
from workbench.commands.verbs import read_case
from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.contract.trust import trusted, trusting

ROOT = Path(plants.__file__).parents[1]
COMMENTED = "# a crane\nplant: hiab-xs031\ncontroller:\n  law: VDC   # ours\n  λ: 8 1/s\n"


@pytest.fixture
def crane(tmp_path):
    path = tmp_path / "crane.yaml"
    path.write_text(COMMENTED, "utf-8")
    return str(path)


# ---- --set --------------------------------------------------------------------------------------------------------
def test_a_value_is_set_as_if_it_stood_in_the_file(crane):
    pairs = ["controller.lambda=7 1/s", "plant.payload.mass=50kg", "loop.delay=0.5 ms"]
    set_ = read_case(crane, [*pairs, "claims.delay-limit=false"])
    by_hand = loads(
        "plant: {machine: hiab-xs031, change: {payload.mass: 50 kg}}\n"
        "controller: {law: VDC, λ: 7 1/s}\nloop: {delay: 0.5 ms}\nclaims: {delay-limit: false}\n"
    )
    assert innermost(set_.controller).λ == innermost(by_hand.controller).λ == (7.0,)
    assert set_.plant == by_hand.plant and set_.claims == by_hand.claims
    assert set_.loop.states == by_hand.loop.states, "the delay is there"


def test_the_text_says_what_was_set_and_keeps_its_comments(crane):
    text = read_case(crane, ["controller.λ=7 1/s", "plant.payload.mass=50 kg"]).text
    assert text.startswith("# --set controller.λ=7 1/s\n# --set plant.payload.mass=50 kg\n")
    assert "# a crane" in text and "law: VDC   # ours" in text
    again = loads(text)
    assert innermost(again.controller).λ == (7.0,) and again.plant.payload.mass == 50.0
    assert read_case(crane).text == COMMENTED


def test_a_part_that_several_share_is_set_alone():
    """An alias of YAML means the same value; setting one of the two leaves the other, in the text as well."""
    text = "a: {x: &both {k: 1, m: 2}, y: *both}\n"
    tree = settings.parse(text)
    layout = settings.Layout(("a",), {})
    wanted, made = settings.set_in(tree, text, ["a.x.k=3"], layout)
    assert wanted.plain() == {"a": {"x": {"k": 3, "m": 2}, "y": {"k": 1, "m": 2}}}
    assert settings.parse(made).plain() == wanted.plain()


@pytest.mark.parametrize(
    "pair, said",
    [
        ("controller.lamda=9", "did you mean λ?"),
        ("controller.λ=9 bar", "a rate was expected, in 1/s"),
        ("plant.payload.mas=5", "did you mean payload.mass"),
        ("scenaro.duration=5", "did you mean scenario?"),
        ("scenario.duration=", "there is no value"),
        ("scenario.duration", "expected KEY=VALUE"),
        (".=3", "expected KEY=VALUE"),
        ("scenario.duration=[1,", "this is not YAML"),
        ("loop=3", "this is a whole section"),
    ],
)
def test_what_cannot_be_set_is_refused_by_its_key(crane, capsys, pair, said):
    assert main(["simulate", crane, "--set", pair]) == 3
    told = capsys.readouterr().err
    assert f"--set {pair}" in told and said in told and "mend: " in told and "Traceback" not in told


def test_a_key_is_set_once(crane):
    with pytest.raises(InputError, match="are the same key"):
        read_case(crane, ["controller.λ=7", "controller.lambda=9"])


def test_every_command_that_reads_a_file_takes_settings():
    verbs = parser_of("workbench")._subparsers._group_actions[0].choices
    without = {verb for verb, p in verbs.items() if "--set" not in p._option_string_actions}
    assert without == {"init", "import", "identify", "explain", "schema", "completion", "check"}


# ---- --trust --------------------------------------------------------------------------------------------------------
def test_every_command_that_takes_settings_takes_trust():
    verbs = parser_of("workbench")._subparsers._group_actions[0].choices
    for verb, p in verbs.items():
        options = p._option_string_actions
        assert ("--trust" in options) == ("--set" in options), verb
    assert "--trust" in parser_of("verify-stability")._option_string_actions


def test_code_that_a_file_names_runs_only_where_it_is_trusted(monkeypatch):
    monkeypatch.delenv("FLUIDPROOF_TRUST", raising=False)

    def ask(*_):
        trusted("law.so", "a compiled law", "controller.library")
        return 0

    with trusting():
        assert ask() == 0
        with trusting(False):
            assert ask() == 0, "trust is given once for all that is inside"
    for inside in (nullcontext(), trusting(False)):
        with inside, pytest.raises(InputError, match=r"(?s)controller.library: law.so.*--trust"):
            ask()


def test_the_option_lasts_as_long_as_its_command(monkeypatch, capsys):
    monkeypatch.delenv("FLUIDPROOF_TRUST", raising=False)
    monkeypatch.setitem(ACTS, "simulate", lambda *_: trusted("law.so", "a law", "controller") or 0)
    assert main(["simulate", "x.yaml"]) == 3 and "--trust" in capsys.readouterr().err
    assert main(["simulate", "x.yaml", "--trust"]) == 0
    assert main(["simulate", "x.yaml"]) == 3


def parser_of(name):
    return grammar.verify_parser() if name != "workbench" else grammar.workbench_parser(ACTS)


# ---- --version, verify ----------------------------------------------------------------------------------------------
def test_every_command_says_its_version(capsys):
    from workbench import __version__

    for verb in ([], *([v] for v in ACTS)):
        with pytest.raises(SystemExit) as ended:
            parser_of("workbench").parse_args([*verb, "--version"])
        assert ended.value.code == 0 and capsys.readouterr().out == f"fluidproof {__version__}\n"


def test_verify_is_verify_stability():
    given = ["a.yaml", "--report", "r.pdf", "--json", "v.json", "--log", "n.nc", "--set", "a.b=1"]
    one = vars(parser_of("verify-stability").parse_args(given))
    other = vars(parser_of("workbench").parse_args(["verify", *given]))
    assert {**one, "verb": "verify", "act": ACTS["verify"]} == other


# ---- completion -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def known():
    return commands((parser_of("workbench"), parser_of("verify-stability")), ["hiab-xs031"])


ASKED = {
    "workbench ver": "verify",
    "workbench simulate --anim": "--animation",
    "workbench tune x --rule tyr": "tyreus-luyben",
    "workbench init hia": "hiab-xs031",
    "verify-stability --rep": "--report",
}


def shell(name):
    return shutil.which(name) or pytest.skip(f"{name} is not here")


@pytest.mark.parametrize("line, wanted", ASKED.items())
def test_bash_completes(known, line, wanted, tmp_path):
    asking = f'COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}; _fluidproof; echo "${{COMPREPLY[*]}}"'
    text = script("bash", known) + asking
    ran = subprocess.run([shell("bash"), "-c", text], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.split() == [wanted] and ran.stderr == ""


@pytest.mark.parametrize("line, wanted", ASKED.items())
def test_fish_completes(known, line, wanted, tmp_path):
    text = script("fish", known) + f"complete -C '{line}'"
    run = [shell("fish"), "--no-config", "-c", text]
    ran = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert [row.split("\t")[0] for row in ran.stdout.splitlines()] == [wanted]


def test_zsh_reads_its_script(known, tmp_path):
    (tmp_path / "c.zsh").write_text(script("zsh", known), "utf-8")
    ran = subprocess.run([shell("zsh"), "-n", tmp_path / "c.zsh"], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr == ""


# ---- the first instant, other locales -------------------------------------------------------------------------------
def python(code, **env):
    env = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, env=env)


def test_an_interrupt_before_the_libraries_are_there_is_one_line():
    """The entry module is imported first, before anything that takes time."""
    code = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
        "import workbench.commands.entry\n"
        "signal.raise_signal(signal.SIGINT)\n"  # in this thread: answered before the next line
        "import numpy"
    )
    ran = python(code)
    assert ran.returncode == 130 and ran.stderr == b"interrupted; nothing was written\n"


def test_an_interrupt_that_a_library_makes_a_failure_of_is_an_interrupt(monkeypatch, capsys):
    import signal

    from workbench.commands.guard import _guarded

    def importing():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("a library could not be loaded") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert _guarded(importing) == 130 and capsys.readouterr().err.startswith("interrupted")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "machine, rc, said", [("hiab-xs031", 3, "controller.lambda"), ("ieha-published-linear", 0, "|")]
)
def test_a_locale_without_greek(machine, rc, said):
    """Text is read as UTF-8, arguments too; what the terminal cannot show is spelled out, as files may write it."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    key = "controller.\\xce\\xbb=10 bar" if rc else "scenario.duration=0.05"
    code = (
        "import sys; from workbench.commands.entry import main\n"
        f"sys.argv = ['workbench', 'simulate', {machine!r}, '--set',\n"
        f" b'{key}'.decode('ascii', 'surrogateescape')]\n"
        "sys.exit(main())"
    )
    ran = python(code, PYTHONIOENCODING="ascii", **plain)
    told = (ran.stdout + ran.stderr).decode("ascii")
    assert ran.returncode == rc and said in told and "fault of the workbench" not in told


# ---- the last instant -----------------------------------------------------------------------------------------------
def test_the_end_of_a_command_is_not_waited_for_but_what_is_due_then_is_done(tmp_path):
    """What is written arrives, handlers run, and the code is the command's; objects are not freed one by one."""
    code = (
        "import atexit, os, sys\n"
        "from workbench.commands import cli, entry\n"
        "class Held:\n"
        "    def __del__(self): print('freed', flush=True)\n"
        "kept = Held()\n"
        "atexit.register(os.write, 1, b'handled')\n"
        "cli.main = lambda: print('said') or 2\n"
        "sys.exit(entry.main())"
    )
    ran = python(code, PYTHONUNBUFFERED="")
    assert ran.returncode == 2 and ran.stdout.split() == [b"said", b"handled"] and not ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_standard_output_is_no_fault_of_the_program():
    code = (
        "from workbench.commands import cli, entry, guard\n"
        "cli.main = lambda: guard._guarded(lambda: print('x' * 100_000, flush=True))\n"
        "entry.main()"
    )
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert (
        ran.returncode == 3
        and ran.stderr == "standard output: there is no space left to write to\n"
    )


# ---- texts of functions -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("file", ["def law(t):\n    return [(\n", ""])
def test_a_function_whose_file_is_another_by_now_is_no_fault(tmp_path, file):
    from workbench.contract.source_text import source_hash, source_text

    path = tmp_path / "laws.md"
    path.write_text(file, "utf-8")
    space: dict = {}
    exec(compile("\ndef law(t):\n    return 1\n", str(path), "exec"), space)
    assert source_text(space["law"]) == "" and source_hash(space["law"]) == "unknown"
    assert len(source_hash(test_verify_is_verify_stability)) == 16


def test_a_file_that_is_written_again_is_not_the_text_of_what_was_made_before(
    tmp_path, monkeypatch
):
    from workbench.contract.source_text import source_text

    own = tmp_path / "own_law_of_before.py"
    own.write_text("def law(t, y, r):\n    return 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    law = importlib.import_module(own.stem).law
    before = source_text(law)
    own.write_text("def law(t, y, r):\n    return 2.0 * y[0]\n")
    linecache.checkcache()
    assert source_text(law) == before == "def law(t, y, r):\n    return 1.0\n"
