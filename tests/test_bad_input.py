"""Bad input: one clear message with file, line and key, exit code 3, nothing half-written, nothing lost."""

import importlib
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plants
from workbench.commands.cli import main, verify_stability
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.judge import Examination
from workbench.verification.verdict import Verdict

SHIPPED = (Path(plants.__file__).parent / "parameters" / "hiab-xs031.yaml").read_text("utf-8")
P = "plant: hiab-xs031\n"
HELD = {
    "out.pdf": b"an earlier report",
    "out.json": b"earlier verdicts",
    "out.nc": b"an earlier log",
}


def made_up_examination(holds=True):
    """An examination nobody ran, for what comes after it."""
    log = Log(
        np.arange(3.0),
        np.arange(6.0).reshape(3, 2),
        (Signal("q_1", "rad"), Signal("p_a1", "Pa")),
        {"seed": 3},
        Status(True, "completed", 2.0),
    )
    return Examination(
        [
            Verdict(
                "tracking", "tool error ≤ 5 mm", holds, "sampled", 2.4e-3, "m", 5e-3, "t = 12.5 s"
            )
        ],
        log,
        {},
    )


@pytest.fixture
def never(monkeypatch):
    """Verification that must not be reached."""

    def examine(*_):
        pytest.fail("verification was started on bad input")

    monkeypatch.setattr(importlib.import_module("workbench.verification.judge"), "examine", examine)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with earlier outputs, which is where the user stands."""
    for name, data in HELD.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


OUTPUTS = ["--report", "out.pdf", "--json", "out.json", "--log", "out.nc"]


def refused(capsys, folder, text, *words, line, key, arguments=OUTPUTS):
    """Write `text`, verify it, and check what the user sees and finds afterwards."""
    (folder / "bad.yaml").write_text(text, "utf-8")
    assert verify_stability(["bad.yaml", *arguments]) == 3
    shown = capsys.readouterr()
    assert not shown.out and "Traceback" not in shown.err
    place = ", ".join(p for p in ("bad.yaml", line and f"line {line}", key) if p)
    assert shown.err.startswith(place + ": "), shown.err
    for word in (*words, "\n  mend: "):
        assert word in shown.err, f"{word!r} is not in: {shown.err}"
    assert shown.err.count("\n") == 2
    unharmed(folder, "bad.yaml")


def unharmed(folder, *others):
    """Earlier outputs are as they were, and there is nothing new."""
    assert {p.name for p in folder.iterdir()} == {*HELD, *others}
    assert {name: (folder / name).read_bytes() for name in HELD} == HELD


def without(change):
    """The shipped machine with one thing wrong, and the line where it is."""
    old, new = change
    assert SHIPPED.count(old) >= 1
    return SHIPPED.replace(old, new, 1), SHIPPED[: SHIPPED.index(old)].count("\n") + 1


# ---- content ------------------------------------------------------------------------------------------------------
CONTENT = {
    "misspelt key": (P + "controler: {law: VDC}\n", ("did you mean controller?",), 2, "controler"),
    "misspelt key below": (
        P + "loop:\n  sample_tme: 1 ms\n",
        ("did you mean sample_time?",),
        3,
        "loop.sample_tme",
    ),
    "unknown key": (P + "zebra: 1\n", ("known: title, sources, plant",), 2, "zebra"),
    "unknown machine": ("plant: hiab-xs032\n", ("did you mean hiab-xs031?",), 1, "plant.machine"),
    "no plant": ("controller: VDC\n", ("add 'plant:",), 1, "plant"),
    "wrong unit": (
        P + "claims:\n  tracking: {error: 80 bar}\n",
        ("a length was expected", "a pressure"),
        3,
        "claims.tracking.error",
    ),
    "unknown unit": (P + "loop:\n  delay: 3 parsnips\n", ("not known", "5 ms"), 3, "loop.delay"),
    "not positive definite": (
        P + "controller:\n  law: VDC\n  κ: 0\n",
        ("not positive definite",),
        4,
        "controller.κ",
    ),
    "one body's K_A not positive definite": (
        P
        + "controller:\n  law: VDC\n  gains:\n    tilt.B1:\n      K: ["
        + ", ".join(
            "-1" if i == j == 5 else "1" if i == j else "0" for i in range(6) for j in range(6)
        )
        + "]\n",
        ("not positive definite",),
        6,
        "controller.gains.tilt.B1.K",
    ),
    "NaN": (P + "controller:\n  law: VDC\n  κ: .nan\n", ("finite number",), 4, "controller.κ"),
    "infinity": (P + "loop: {sample_time: .inf}\n", ("finite number",), 2, "loop.sample_time"),
    "too large for a number": (
        P + "loop: {sample_time: 1e999}\n",
        ("too large",),
        2,
        "loop.sample_time",
    ),
    "out of reach": (
        P
        + "scenario:\n  reference:\n    space: cartesian\n    points: [start, [7 m, 1 m]]\n    leg: 5 s\n",
        ("no pose of HIAB XS 031 reaches",),
        3,
        "scenario.reference",
    ),
    "beyond the stroke on the way": (
        P
        + "scenario:\n  reference:\n    space: joint\n    leg: 5 s\n    points: [start, [-10 deg, -115 deg, 0.5]]\n",
        ("outside its stroke", "lift"),
        3,
        "scenario.reference",
    ),
    "empty": ("", ("empty",), None, None),
    "only comments": ("# nothing\n", ("no data",), None, None),
    "a list": ("- 1\n- 2\n", ("got a list",), 1, None),
    "a tag": (P + "title: !!python/object:os.system {}\n", ("not allowed",), 2, "title"),
    "an alias bomb": (
        "a: &a [x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
            for a, b in zip("abcdefg", "bcdefgh")
        ),
        ("aliases",),
        5,
        None,
    ),
    "deep": (P + "title: " + "[" * 60 + "]" * 60 + "\n", ("nested deeper",), 2, None),
    "tabs": (P + "loop:\n\tdelay: 1 ms\n", ("spaces, not tabs",), 3, None),
    "twice": (P + P, ("appears twice",), 2, "plant"),
    "code": (P + 'controller: {law: "lambda t, y, r: 0"}\n', ("VDC",), 2, "controller.law"),
    "control characters": (P + '"lo\\eop": 1\n', ("there is no key",), 2, None),
}


@pytest.mark.parametrize("name", CONTENT)
def test_content(name, capsys, folder, never):
    text, words, line, key = CONTENT[name]
    if name == "control characters":
        (folder / "bad.yaml").write_text(text)
        assert verify_stability(["bad.yaml"]) == 3 and "\033" not in capsys.readouterr().err
        return
    if name == "an alias bomb" or key is None and line is not None:
        (folder / "bad.yaml").write_text(text)
        assert verify_stability(["bad.yaml", *OUTPUTS]) == 3
        shown = capsys.readouterr().err
        assert (
            shown.startswith(f"bad.yaml, line {line}")
            and all(w in shown for w in words)
            and "mend" in shown
        )
        unharmed(folder, "bad.yaml")
        return
    refused(capsys, folder, text, *words, line=line, key=key)


MACHINE = {
    "negative mass": (
        ("mass: {value: 25.52660174 kg", "mass: {value: -25.5 kg"),
        ("zero or greater",),
        "plant.structures.lift.revolute.arm.mass",
    ),
    "inertia of no body": (
        (
            "inertia: {value: [0.28426000, 0.54237481, 0.67891020, -0.06487287, 0, 0]",
            "inertia: {value: [0.28, 0.54, 6.8, -0.06, 0, 0]",
        ),
        ("belong to no body",),
        "plant.structures.lift.revolute.arm.inertia",
    ),
    "linkage that cannot close": (
        ("L: {value: 1.0071227324212 m", "L: {value: 2.0071227324212 m"),
        ("cannot close",),
        "plant.structures.lift.revolute.x0",
    ),
    "wrong unit": (
        ("L: {value: 1.0071227324212 m", "L: {value: 80 bar"),
        ("a length was expected", "a pressure"),
        "plant.structures.lift.revolute.L",
    ),
    "supply below return": (
        ("p_s: {value: 185 bar", "p_s: {value: 5 bar"),
        ("below the supply",),
        "plant.p_r",
    ),
    "rod as thick as the bore": (
        ("rod: {value: 45 mm", "rod: {value: 80 mm"),
        ("not thinner",),
        "plant.structures.lift.revolute.cylinder.rod",
    ),
    "unknown tag": (
        ("{value: 185 bar, tag: V", "{value: 185 bar, tag: Z"),
        ("known: V, D, I, A",),
        "plant.p_s.tag",
    ),
}


@pytest.mark.parametrize("name", MACHINE)
def test_a_machine_written_out_in_full(name, capsys, folder, never):
    change, words, key = MACHINE[name]
    text, line = without(change)
    if key.endswith("x0"):
        line = next(i for i, row in enumerate(text.splitlines(), 1) if i > line and "x0:" in row)
    elif key.endswith("p_r"):
        line = next(i for i, row in enumerate(text.splitlines(), 1) if "p_r:" in row)
    refused(capsys, folder, text, *words, line=line, key=key)


def test_stroke_beyond_the_linkage(capsys, folder, never):
    text = SHIPPED.replace("value: 0.545 m", "value: 0.59 m")
    line = next(i for i, row in enumerate(text.splitlines(), 1) if row.strip() == "stroke:")
    refused(
        capsys,
        folder,
        text,
        "beyond the linkage",
        "0.5532",
        line=line,
        key="plant.structures.lift.revolute.cylinder.stroke",
    )


def test_pressure_above_the_supply(capsys, folder, never):
    given = "  pressures: [[130 bar, 31 bar], [90 bar, 186 bar], [95 bar, 95 bar]]\n"
    text = SHIPPED.replace("  pose:\n", given + "  pose:\n", 1)
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "pressures:" in row)
    refused(capsys, folder, text, "186 bar", "185 bar", line=line, key="plant.pressures")


def test_pose_with_a_wrong_unit(capsys, folder, never):
    text = SHIPPED.replace("[-1.288106894530745,", "[-74 bar,")
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "pose:" in row)
    refused(capsys, folder, text, "q_1", "an angle was expected", line=line, key="plant.pose")


# ---- files that are none ------------------------------------------------------------------------------------------
def test_a_file_that_is_not_there(capsys, folder, never):
    (folder / "crane.yaml").write_text(P)
    assert verify_stability(["crain.yaml", *OUTPUTS]) == 3
    assert (
        "crain.yaml: there is no such file\n  mend: did you mean crane.yaml?"
        in capsys.readouterr().err
    )
    unharmed(folder, "crane.yaml")


def test_a_directory_a_device_and_binary(capsys, folder, never):
    (folder / "binary.yaml").write_bytes(b"\x89HDF\r\n\xff\xfe\x00")
    for given, words in (
        (str(folder), "this is a directory"),
        ("/dev/zero", "a device"),
        ("binary.yaml", "not UTF-8"),
    ):
        assert verify_stability([given, *OUTPUTS]) == 3
        shown = capsys.readouterr().err
        assert words in shown and "mend" in shown and "Traceback" not in shown
    unharmed(folder, "binary.yaml")


def test_a_gigabyte(capsys, folder, never):
    with open(folder / "big.yaml", "wb") as file:
        file.truncate(10**9)  # sparse: takes no room
    assert verify_stability(["big.yaml"]) == 3
    assert "big.yaml: 1e+03 MB; expected at most 1 MB" in capsys.readouterr().err


# ---- outputs ------------------------------------------------------------------------------------------------------
def test_outputs_that_cannot_be_written_are_found_before_the_work(capsys, folder, never):
    (folder / "good.yaml").write_text(P)
    cases = [
        ("no/such/out.pdf", "there is no such directory"),
        (str(folder), "this is a directory"),
        ("/dev/full", "a device"),
        ("good.yaml/out.pdf", "a file, not a directory"),
        ("", "empty"),
        ("out.doc", "reports are PDF or HTML"),
        ("good.yaml", "would overwrite the case file"),
        ("./out.json", "would overwrite --json"),
    ]
    for path, words in cases:
        assert verify_stability(["good.yaml", "--json", "out.json", "--report", path]) == 3
        shown = capsys.readouterr()
        assert words in shown.err and "mend" in shown.err and not shown.out, shown.err
        unharmed(folder, "good.yaml")
    assert (folder / "good.yaml").read_text() == P


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_the_right_to_write(capsys, folder, never):
    (folder / "good.yaml").write_text(P)
    (folder / "shut").mkdir(mode=0o500)
    assert verify_stability(["good.yaml", "--report", "shut/out.pdf"]) == 3
    assert "may not be written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option, name", [("--json", "out.json"), ("--log", "out.nc"), ("--report", "out.pdf")]
)
def test_a_full_disk_keeps_the_earlier_file_and_the_answer(
    option, name, capsys, folder, monkeypatch
):
    monkeypatch.setattr(
        importlib.import_module("workbench.verification.judge"),
        "examine",
        lambda *_: made_up_examination(),
    )
    monkeypatch.setattr("reports.document.rendered", lambda *_, **__: b"%PDF" * 4000)
    (folder / "good.yaml").write_text(P)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would cut its own files short
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        code = verify_stability(["good.yaml", option, name])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    shown = capsys.readouterr()
    assert (
        code == 3
        and f"{name}: cannot be written: the file would become larger than allowed" in shown.err
    )
    assert "tool error ≤ 5 mm" in shown.out, "the verdicts are shown before files are written"
    unharmed(folder, "good.yaml")


def test_init_never_overwrites(capsys, folder):
    (folder / "hiab-xs031.yaml").write_text("mine")
    assert main(["init", "hiab-xs031"]) == 3
    assert (
        "such a file already" in capsys.readouterr().err
        and (folder / "hiab-xs031.yaml").read_text() == "mine"
    )


def test_simulate_and_report_refuse_as_verify_does(capsys, folder, never):
    (folder / "bad.yaml").write_text(P + "zebra: 1\n")
    for arguments in (
        ["simulate", "bad.yaml", "--log", "out.nc"],
        ["report", "bad.yaml", "-o", "out.pdf"],
    ):
        assert main(arguments) == 3
        assert capsys.readouterr().err.startswith("bad.yaml, line 2, zebra: ")
        unharmed(folder, "bad.yaml")


# ---- wrong usage, interruption ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "required: file"),
        (["a.yaml", "--reprot", "x"], "did you mean --report?"),
        (["a.yaml", "b.yaml"], "b.yaml"),
        (["a.yaml", "--json"], "expected one argument"),
        (["a.yaml", "--rep", "x"], "did you mean --report?"),
    ],
)
def test_wrong_usage_is_3_not_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        verify_stability(arguments)
    assert ended.value.code == 3 and words in capsys.readouterr().err


INTERRUPTED = """
import sys, importlib, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
module = importlib.import_module("workbench.verification.judge")
from workbench.run.simulate import simulate
def examine(loop, scenario, *_):
    print("begun", file=sys.stderr, flush=True)
    while True:
        simulate(loop, scenario)
module.examine = examine
from workbench.commands.cli import verify_stability
sys.exit(verify_stability(["good.yaml", "--report", "out.pdf", "--json", "out.json", "--log", "out.nc"]))
"""


def test_ctrl_c_in_the_middle(folder):
    (folder / "good.yaml").write_text(P)
    root = Path(plants.__file__).parents[1]
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        assert run.stderr.readline() == "begun\n"
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert (
        run.returncode == 130
        and out == ""
        and err.startswith("interrupted")
        and err.count("\n") == 1
    )
    unharmed(folder, "good.yaml")


def test_a_fault_of_ours_is_no_verdict(capsys, folder, monkeypatch):
    def examine(*_):
        raise TypeError("slip")

    monkeypatch.setattr(importlib.import_module("workbench.verification.judge"), "examine", examine)
    (folder / "good.yaml").write_text(P)
    assert verify_stability(["good.yaml", *OUTPUTS]) == 70
    shown = capsys.readouterr().err
    assert "a fault of the workbench" in shown and "Traceback" not in shown
    unharmed(folder, "good.yaml")


def test_refusals_while_running_name_the_file_and_the_scenario(capsys, folder, monkeypatch):
    from workbench.contract.errors import InputError

    def examine(*_):
        raise InputError("out of reach at t = 3 s", mend="move it")

    monkeypatch.setattr(importlib.import_module("workbench.verification.judge"), "examine", examine)
    (folder / "good.yaml").write_text(P + "scenario:\n  duration: 2 s\n")
    assert verify_stability(["good.yaml", *OUTPUTS]) == 3
    assert capsys.readouterr().err.startswith("good.yaml, line 2, scenario: out of reach")
