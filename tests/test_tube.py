"""The claim tube on the smallest loops: what is proved is so on runs, and faults of loop and certificate are refused."""

import subprocess
import sys
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Annotated

import numpy as np
import pytest

import fluidproof as fp
from workbench import (
    ClosedLoop,
    Controller,
    Delayed,
    InputError,
    Sampled,
    Scenario,
    Signal,
    System,
    simulate,
)
from workbench.contract.parameters import Unit
from workbench.run.reference import Sine
from workbench.verification import claims as C
from workbench.verification.run import run
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker.data import PROGRAMS
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.run_itself import leaves

NODES = 320


@dataclass(frozen=True)
class Throttled(System):
    """A chamber behind a valve with different roots to either side: ṗ = u₊ √(3 − p) + u₋ √(p + 2) − k p, ẏ = p − b y."""

    k: Annotated[float, Unit("1/s")] = 4.0
    b: Annotated[float, Unit("1/s")] = 3.0
    states = (Signal("p"), Signal("y"))
    inputs = (Signal("u"),)
    outputs = (Signal("y"), Signal("p"))

    def initial(self):
        return [0.05, -0.02]

    def rhs(self, t, x, u):
        p, y = x
        opened = np.maximum(u[0], 0.0) * np.sqrt(3.0 - p) + np.minimum(u[0], 0.0) * np.sqrt(p + 2.0)
        return [opened - self.k * p, p - self.b * y]

    def out(self, t, x):
        return [x[1], x[0]]


@dataclass(frozen=True)
class Integral(Controller):
    """u = K (y_d − y) + I, İ = K_i (y_d − y), sampled."""

    K: Annotated[float, Unit("1")] = 4.0
    K_i: Annotated[float, Unit("1/s")] = 14.0
    T: Annotated[float, Unit("s")] = 0.01
    states = (Signal("I"),)
    measured = (Signal("y"),)
    commands = (Signal("u"),)
    references = (Signal("y_d", kind="reference"),)

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        return [z[0] + self.T * self.K_i * e], [self.K * e + z[0]]


SINE = Scenario(
    reference=Sine("output", (0.0,), amplitude=(0.1,), frequency=1.0, ramp=0.2), duration=3.2
)
ASKED = C.Tube(starts={"p": 0.004, "y": 0.004}, substeps=1)


def loop(law=None, T=0.01, **plant):
    return ClosedLoop(Throttled(**plant), Sampled(law or Integral(T=T), T))


def asked(system, claim=ASKED, scenario=SINE):
    return check_tube(claim, run(system, scenario))


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """(verdict, certificate's path) of the sound loop."""
    path = str(tmp_path_factory.mktemp("tube") / "tube.npz")
    return asked(loop(), replace(ASKED, certificate=path)), path


def test_a_sound_loop_has_a_tube_for_all_times(proved):
    verdict, _ = proved
    assert verdict.holds and verdict.strength == "proof" and verdict.data["ends"] == "period"
    assert any("repeat" in a.text for a in verdict.assumptions)


def test_runs_from_the_starts_never_leave_the_tube_and_fill_most_of_it(proved):
    """Corners of the box and other starts: inside at every sample; the tube is little wider than their hull."""
    c = files.load(proved[1])
    rng = np.random.default_rng(3)
    signs = [(i, j) for i in (-1, 1) for j in (-1, 1)] + list(rng.uniform(-1, 1, (6, 2)))
    centre = simulate(loop(), SINE).values[:, :2]
    reach = c.reach[:, 0, c.section]
    hull = np.zeros((len(c.z), 2))
    for a, b in signs:
        offset = {"p": 0.004 * a, "y": 0.004 * b}
        log = simulate(loop(), replace(SINE, offset=offset))
        z = np.column_stack([log.values[:, 0], log.values[:, 1], [0, *log.values[:-1, 2]]])
        e = np.abs(z[: len(c.z)] - c.z)
        assert (e <= reach * (1 + 1e-9) + 1e-9).all()
        hull = np.maximum(hull, np.abs(log.values[:, :2] - centre))
    early = slice(0, 150)
    assert np.median(reach[early, :2] / hull[early]) < 2


FAULTS = {
    "slow sample": loop(T=0.45),
    "wrong sign": loop(Integral(K=-6.0)),
    "far too much gain": loop(Integral(K=120.0)),
    "no leak": loop(k=-6.0),
    "late": ClosedLoop(
        Throttled(), Delayed(Sampled(Integral(T=0.05), 0.05), delay=0.28, capacity=6)
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_never_proved(fault):
    try:
        verdict = asked(FAULTS[fault], scenario=replace(SINE, duration=2.7))
    except InputError:
        return
    assert verdict.holds is None and verdict.worst


@pytest.mark.parametrize("more", [{"error": 0.132}, {"within": {"p": (-0.11, 1.0)}}])
def test_a_bound_that_the_run_keeps_and_the_tube_does_not_is_undecided(more):
    """The run's own error is 0.1317 at most, and its p is −0.1085 at least."""
    verdict = asked(loop(), replace(ASKED, **more))
    assert verdict.holds is None and "only known" in verdict.worst
    assert "furthest beyond at t = " in verdict.worst


@pytest.mark.parametrize(
    "more, told",
    [
        ({"error": 0.13}, "e_y = -0.1317 in the run itself, asked to stay above -0.13"),
        (
            {"within": {"p": (-1.0, 0.178)}},
            "p = 0.1782 in the run itself, asked to stay below 0.178",
        ),
    ],
)
def test_a_bound_that_the_run_itself_leaves_is_violated(more, told):
    verdict = asked(loop(), replace(ASKED, **more))
    assert verdict.holds is False and verdict.worst.startswith(told)
    assert 0 < verdict.instant <= SINE.duration


def test_states_are_asked_up_to_the_end_of_the_run_and_errors_at_samples():
    """At samples the error is −0.13166 at least, between them −0.13169; p is 0.0842 up to 0.2 s and 0.0891 just after it."""
    assert leaves(replace(ASKED, within={"e_y": (-0.13168, 1.0)}), run(loop(), SINE)) is None
    assert leaves(replace(ASKED, within={"e_y": (-0.13165, 1.0)}), run(loop(), SINE)) is not None
    short = run(loop(), replace(SINE, duration=0.2))
    assert leaves(replace(ASKED, within={"p": (-1.0, 0.086)}), short) is None
    assert leaves(replace(ASKED, within={"p": (-1.0, 0.084)}), short) is not None


@pytest.mark.parametrize("after", [0.0, 0.5, 2.5, 3.0])
def test_the_run_is_asked_from_the_instant_at_which_the_starts_are(after):
    one = run(loop(), SINE)
    log = one.fine.log
    low = -0.1
    counted = log.time >= after
    expected = log.time[counted][log.array("p")[counted].argmin()]
    found = leaves(replace(ASKED, after=after, within={"p": (low, 1.0)}), one)
    assert (found is not None) == bool((log.array("p")[counted] < low).any())
    assert found is None or found.instant == expected


@pytest.mark.parametrize("law", ("PID", "VDC"))
def test_the_error_of_a_crane_is_that_of_its_tool(law):
    """Or of its pistons, where its law follows these: lengths are taken, angles refused."""
    from workbench.verification.observed.requirements import in_si
    from workbench.verification.tube.claim_settings import error_of

    crane = fp.machine("hiab-xs031").plant
    whole = fp.ClosedLoop(crane, fp.Sampled(getattr(fp, law)(crane), 1e-3))
    right = replace(ASKED, error="9 mm")
    assert in_si(right, whole) is right and error_of(right, whole) == pytest.approx(9e-3)
    with pytest.raises(InputError, match="error"):
        error_of(in_si(replace(ASKED, error="9 deg"), whole), whole)


def test_starts_too_wide_name_the_instant_and_what_does_hold():
    verdict = asked(loop(), replace(ASKED, starts={"p": 1.0, "y": 1.0}))
    assert (
        verdict.holds is None and "t = " in verdict.worst and "times these starts" in verdict.worst
    )


def test_what_cannot_be_asked_is_refused_by_its_key():
    from workbench.verification.named_functions import check_asked

    for claim, key in [
        (replace(ASKED, starts={"q": 1.0}), "starts.q"),
        (replace(ASKED, starts={"p": -1.0}), "starts.p"),
        (replace(ASKED, within={"p": (1.0, 0.0)}), "within.p"),
        (replace(ASKED, error="3 bar"), "error"),
    ]:
        with pytest.raises(InputError, match=key):
            check_asked(claim, loop())


# ---- the certificate ---------------------------------------------------------------------------------------------------
def test_the_checker_needs_numpy_alone(proved):
    code = (
        "import sys; from workbench.verification.tube.checker.file import main; "
        f"code = main({proved[1]!r}); assert not [m for m in ('casadi', 'scipy') if m in sys.modules]; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("proved: every start within p ± 0.004")


def worse(c):
    """Certificates in which one thing claims more than is so, or says something else, by name."""
    one = np.zeros_like(c.reach)
    one[100] = 1.0
    shift = np.zeros_like(c.z)
    shift[150, 0] = 0.05
    turned = c.R.copy()
    turned *= 2
    moved = c.w.copy()
    moved[90] += 0.3
    jumped = c.after.copy()
    jumped[-1] = 0
    half = c.half * np.where(c.half > 0, 50.0, 1.0)
    yield from {
        "reach": replace(c, reach=c.reach * (1 - 0.5 * one)),
        "segments": replace(c, segments=c.segments * (1 - 0.5 * one[:, 0, :1, None])),
        "no segments": replace(c, segments=0 * c.segments),
        "balls": replace(c, balls=0.9 * c.balls),
        "σ": replace(c, σ=0.1 * c.σ),
        "z": replace(c, z=c.z + shift),
        "R": replace(c, R=turned),
        "w": replace(c, w=moved),
        "after": replace(c, after=jumped),
        "half": replace(c, half=half),
        "x0": replace(c, x0=c.x0 + 0.5),
        "low": replace(c, low=c.low + 1e-3),
        "high": replace(c, high=c.high - 1e-3),
        "least": replace(c, least=c.least * 0.9),
        "most": replace(c, most=c.most * 0.9),
        "slack": replace(c, slack=c.slack + 0.05),
        "T": replace(c, T=1.5 * c.T),
        "lag": replace(c, lag=2 * c.T),
        "parameters": replace(c, parameters=np.where(c.parameters == 4.0, -30.0, c.parameters)),
        "section": replace(c, section=c.section[:-1], z=c.z[:, :-1], R=c.R[:-1, :-1]),
        "order": replace(c, order=1),
        "substeps": replace(c, substeps=np.array([0, 0])),
        "finer": replace(c, finer=0 * c.finer),
        "finer steps without reaches": replace(c, finer=2 * c.finer),
        "splits": replace(c, splits=np.array([[5.0, 0.0, 0.0]])),
        "nan": replace(c, reach=np.where(one > 0, np.nan, c.reach)),
    }.items()
    for name in PROGRAMS[1:4]:
        p = getattr(c, name)
        if len(p.codes) > p.inputs:
            codes = np.where(p.codes == 3, 2, p.codes)
            yield name, replace(c, **{name: replace(p, codes=np.where(p.codes == 2, 3, codes))})


def taken(certificates):
    """Names of those, of (name, certificate), that the checker takes."""
    found = []
    for name, wrong in certificates:
        try:
            judge(wrong)
            found.append(name)
        except Refused:
            pass
    return found


def test_a_certificate_changed_for_the_worse_is_refused(proved):
    c = files.load(proved[1])
    assert taken([("as it is", c)])
    acting = [(name, wrong) for name, wrong in worse(c) if name != "release"]  # it has no lag
    assert not taken(acting)


def test_reaches_that_are_just_too_small_are_refused(proved):
    """A reach less one part in 1e9 of what is needed holds no run, and one unit in the last place does not help it."""
    c = files.load(proved[1])
    need = judge(c).need
    reach = c.reach.copy()
    reach[150, 1, 0] = need[150, 1, 0] * (1 - 1e-9)
    tight = replace(c, reach=reach)
    with pytest.raises(Refused):
        judge(tight)
    for toward in (-np.inf, np.inf):
        for name in ("z", "R", "w", "parameters"):
            value = getattr(tight, name)
            with pytest.raises(Refused):
                judge(replace(tight, **{name: np.nextafter(value, toward)}))


def test_a_file_that_is_no_certificate_ends_with_3(tmp_path, capsys, proved):
    other = tmp_path / "other.npz"
    np.savez(other, a=np.zeros(3))
    text = tmp_path / "text.npz"
    text.write_text("hello")
    for path in (other, text, tmp_path / "none.npz"):
        assert files.main(str(path)) == 3
    assert "Traceback" not in capsys.readouterr().err
    wrong = tmp_path / "wrong.npz"
    arrays = {**files.load(proved[1]).arrays()}
    np.savez(wrong, **{**arrays, "reach": 0.1 * arrays["reach"]})
    assert files.main(str(wrong), quiet=True) == 1


# ---- progress, pictures ------------------------------------------------------------------------------------------------
def test_the_bar_is_told_its_whole_share_and_a_tick_may_end_the_claim():
    quick = replace(SINE, duration=0.4)
    told = []
    check_tube(ASKED, run(loop(), quick), lambda: told.append(1))
    assert len(told) == ASKED.work

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_tube(ASKED, run(loop(), quick), interrupted)


def test_what_the_report_draws_is_the_tube_beside_runs_that_stay_in_it():
    made = run(loop(), replace(SINE, duration=2.7))
    assert check_tube(ASKED, made).holds
    seen = made.kept["tube"]
    assert list(seen["width"]) == ["p", "y"] and seen["runs"] == 40
    for name, width in seen["width"].items():
        hull = seen["hull"][name]
        assert len(hull) == len(seen["t"]) and (hull <= width + 1e-9).all()
        assert hull[:5].max() > 0.1 * width[:5].max()
    assert seen["hull"]["p"][0] == pytest.approx(0.004)


def test_the_chapter_prints_widths_and_the_tightest_instant():
    from reports import Content, rendered

    pypdf = pytest.importorskip("pypdf")
    t = np.linspace(0.0, 1.0, 50)
    found = {
        "t": t,
        "width": {"p": 0.02 * np.exp(-t)},
        "hull": {"p": 0.01 * np.exp(-t)},
        "told": {"v": 0.2 * np.exp(-t)},
        "grown": 1e-3 * np.exp(-t),
        "tight": {"t": 0.25, "grown": 1e-3, "by": "p", "edges": 3},
        "size": {"samples": 50, "states": 2, "bytes": 1.5e6},
        "runs": 40,
    }
    pdf = rendered(Content("A case", "Does it?", analysis={"tube": found}))
    text = "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)
    assert "The tube" in text and "0.25 s" in text and "at 3 samples" in " ".join(text.split())


def test_what_starts_nowhere_else_is_told_as_no_width():
    made = run(loop(), replace(SINE, duration=2.7))
    verdict = check_tube(replace(ASKED, starts={"p": 0.004}), made)
    seen = made.kept["tube"]
    assert verdict.holds and verdict.data["width"]["y"][0] == seen["width"]["y"][0] == 0
    assert seen["width"]["y"].max() > 1e-4 and seen["grown"][0] < 1e-3
