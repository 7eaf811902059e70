"""Which number moves a margin most: slopes of known margins, kinks, Sobol's indices of a known function, a loop by hand."""

from dataclasses import dataclass
from io import BytesIO
from typing import Annotated, final

import numpy as np
import pytest
from pypdf import PdfReader
from small import IDLE, Decaying

from reports import Content, rendered
from reports.chapters.sensitivity import share_rows, slope_rows
from reports.figures.sensitivity import bars
from reports.style import drawing
from workbench import ClosedLoop, InputError, Scenario, Signal, System, Unit, verify
from workbench.cases.file import loads
from workbench.commands.sensitivity_command import lines
from workbench.verification.claims import Requirement, Sensitivity
from workbench.verification.probability.claims import Spread
from workbench.verification.sensitivity.check import strongest
from workbench.verification.sensitivity.morris import effects
from workbench.verification.sensitivity.shares import base, shares
from workbench.verification.sensitivity.slopes import slopes


def margins_of(function, values):
    """(factors of named numbers) → margins of a function of all numbers, as runs give them."""

    def margins(asked):
        return [[function(**{n: v * one.get(n, 1.0) for n, v in values.items()})] for one in asked]

    return margins


@pytest.mark.quick
def test_slopes_of_a_smooth_margin_and_their_errors():
    """m = a² b − c: per 10 % of a, 0.2 a² b; the error estimate is above the true one."""
    a, b, c = 1.7, 0.6, 0.4
    found = slopes(margins_of(lambda a, b, c: a**2 * b - c, dict(a=a, b=b, c=c)), ["a", "b", "c"])
    expected = [0.2 * a**2 * b, 0.1 * a**2 * b, -0.1 * c]
    for slope, tenth in zip(found[0], expected):
        assert slope.smooth and slope.tenth == pytest.approx(tenth, rel=1e-9)
        assert abs(slope.tenth - tenth) <= slope.error + 1e-12
    wave = slopes(margins_of(lambda a: np.sin(3 * a), dict(a=a)), ["a"])[0][0]
    assert abs(wave.tenth - 0.3 * a * np.cos(3 * a)) <= wave.error < 0.01


def test_a_kink_is_told_and_so_are_runs_that_end():
    kink = slopes(margins_of(lambda a: min(a - 1.004, 40 * (1.004 - a)), dict(a=1.0)), ["a"])
    assert not kink[0][0].smooth and kink[0][0].known
    ends = slopes(margins_of(lambda a: np.nan if a > 1 else a, dict(a=1.0)), ["a"])
    assert not ends[0][0].known and not ends[0][0].smooth


def test_effects_over_a_range_are_those_of_known_margins():
    """A line has its slope and no deviation; at |a − 1| effects of both signs cancel, and their deviation tells the kink."""
    line, product, kink = (
        effects(margins_of(f, dict(a=1.0, b=0.5)), ["a", "b"], 3)[0]
        for f in (lambda a, b: 3 * a - b, lambda a, b: a * b, lambda a, b: abs(a - 1) + b)
    )
    assert [s.tenth for s in line] == pytest.approx([0.3, -0.05])
    assert [s.error for s in line] == pytest.approx([0, 0], abs=1e-12)
    assert product[0].tenth == pytest.approx(0.05, rel=0.1) and 0 < product[0].error < 0.01
    assert abs(kink[0].tenth) < 0.05 and kink[0].error > 0.03
    assert kink[1].tenth == pytest.approx(0.05) and not kink[0].smooth


def test_shares_are_those_of_ishigami():
    """sin x_1 + 7 sin² x_2 + 0.1 x_3⁴ sin x_1 on [−π, π]³; its shares are known. Source: [Sobol01] for the indices."""

    def margins(even):
        x = np.pi * (2 * np.asarray(even) - 1)
        y = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
        return np.column_stack([y, -3 * y])

    D = 49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18 + 0.5
    alone = np.array([0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8, 0]) / D
    third = 0.01 * np.pi**8 * (1 / 18 - 1 / 50) / D
    whole = alone + [third, 0, third]
    for row in shares(margins, ["x_1", "x_2", "x_3"], base(12_000, 3), 5):
        assert [s.alone for s in row] == pytest.approx(alone, abs=0.05)
        assert [s.whole for s in row] == pytest.approx(whole, abs=0.05)
        for s, a, w in zip(row, alone, whole):
            assert s.alone_between[0] - 0.02 < a < s.alone_between[1] + 0.02
            assert s.whole_between[0] - 0.02 < w < s.whole_between[1] + 0.02


# ---- a loop -----------------------------------------------------------------------------------------------------------------
LOOP = ClosedLoop(Decaying(), IDLE)
ASKED = (
    Requirement("always (x < 2 m)", "small"),
    Requirement("always[20 ms, end] (x > 1 cm)", "on"),
)


@pytest.fixture(scope="module")
def row():
    over = {"c": Spread(uniform=("0.4 m", "0.6 m")), "k": Spread(uniform=("2 1/s", "4 1/s"))}
    claims = (*ASKED, Sensitivity(over=over, runs=64))
    (found,) = [v for v in verify(LOOP, Scenario(duration=0.02), claims) if v.key == "sensitivity"]
    return found


def test_a_loop_by_hand(row):
    """Margins 2 − c, and c exp(−k 0.02) − 0.01: 5 cm less for 10 % of c; 0.1 k 0.02 c exp(−k 0.02) less for 10 % of k."""
    assert row.holds is None and not row.counted, "it claims nothing"
    small, on = row.data["requirements"]
    first, second = small["slopes"]
    assert first["name"] == "c" and first["tenth"] == pytest.approx(-0.05) and first["smooth"]
    assert second["name"] == "k" and second["tenth"] == pytest.approx(0.0, abs=1e-12)
    decay = 0.5 * np.exp(-0.06)
    known = {s["name"]: s["tenth"] for s in on["slopes"]}
    assert known["c"] == pytest.approx(0.1 * decay, rel=1e-8)
    assert known["k"] == pytest.approx(-0.006 * decay, rel=1e-7)
    assert {s["by"] for s in (*small["slopes"], *on["slopes"])} == {"derivative"}
    assert "c" in row.worst and "per +10 %" in row.worst
    assert first["words"] == "−1 m per m", "of margin, of start"
    assert [s["name"] for s in strongest(small)] == ["c"]


def test_shares_of_a_loop(row):
    """Of 2 − c all is c's."""
    small = row.data["shares"][0]
    alone = {n["name"]: n["whole"] for n in small["numbers"]}
    assert small["failed"] == 0 and small["runs"] <= 64
    assert alone["c"] == pytest.approx(1.0, abs=0.3) and alone["k"] == pytest.approx(0.0, abs=1e-9)


def test_the_terminal_draws_bars(row):
    told = lines(row.data)
    assert told[0].startswith("small: always (x < 2 m): 1.5 m left") and "█" * 12 in told[1]
    assert "−50 mm for +10 %" in told[1]


def test_the_figure_and_the_page(row):
    with drawing():
        fig = bars(row.data)
    assert len(fig.axes) == 2
    assert [b.get_width() for b in fig.axes[0].patches] == pytest.approx([-50.0]), "mm"
    assert [t.get_text() for t in fig.axes[1].get_yticklabels()] == ["c", "k"]
    assert slope_rows(row.data["requirements"][0])[0][1] == "c"
    assert slope_rows(row.data["requirements"][0])[0][2].startswith("−50 mm ± ")
    assert share_rows(row.data["shares"][0])[0][1] == "c"
    lost = {"key": "small", "runs": 64, "failed": 3, "numbers": []}
    assert share_rows(lost)[0][1] == "3 of 64 runs have no margin"
    pdf = rendered(Content("A case", "Does it?", analysis={"moved_margins": row.data}))
    text = "\n".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)
    assert "What moves the margins" in text and "Sobol" in text


def test_a_kink_in_a_requirement_is_told_over_a_range():
    """x from c = 0.5 down to 0.5 exp(−k 0.02), as far above a as below it: both ends decide, with c each in its own way."""
    a = float(0.25 * (1 + np.exp(-0.06)))
    claims = (Requirement(f"always (abs(x - {a!r} m) < 1 m)", "near"), Sensitivity(of=("c",)))
    found = [v for v in verify(LOOP, Scenario(duration=0.02), claims) if v.key == "sensitivity"]
    (one,) = found[0].data["requirements"][0]["slopes"]
    assert one["by"] == "Morris" and not one["smooth"] and one["error"] > 1e-3
    assert "not smooth" in found[0].worst


@final
@dataclass(frozen=True)
class Rounded(System):
    """ẋ = −k x, ẏ = x in stairs, whose derivative says nothing of them."""

    k: Annotated[float, Unit("1/s")] = 3.0
    states = (Signal("x", "m"), Signal("y", "m"))
    inputs = (Signal("u0"),)
    outputs = (Signal("y0", "m"),)

    def initial(self):
        return [0.5, 0.0]

    def rhs(self, t, x, u):
        return [-self.k * x[0] + u[0], np.floor(2000 * x[0]) / 2000]

    def out(self, t, x):
        return [x[1]]


def test_derivatives_of_a_staircase_are_not_taken_for_those_of_its_runs():
    """y(1 s) = ∫ x, about (1 − exp(−k))/(2 k): 10 % more of k take 0.1 k |dy/dk|, which the graph does not know."""
    claims = (Requirement("always (y < 1 m)", "far"), Sensitivity())
    scenario = Scenario(duration=1.0)
    found = [
        v for v in verify(ClosedLoop(Rounded(), IDLE), scenario, claims) if v.key == "sensitivity"
    ]
    (one,) = found[0].data["requirements"][0]["slopes"]
    k = 3.0
    slope = ((1 - np.exp(-k)) / (2 * k**2) - np.exp(-k) / (2 * k)) * 0.1 * k
    assert one["by"] == "differences" and one["tenth"] == pytest.approx(slope, rel=0.02)


HEAD = "plant: ieha-published-linear\ncontroller: PID\nscenario: {duration: 1 s}\nclaims:\n  sensitivity: "


@pytest.mark.parametrize(
    "text, words",
    [
        ("{of: [KK]}", "no number 'KK'"),
        ("{over: {K: {uniform: [2 1/s, 2 1/s]}}}", "empty range"),
        ("{over: {K: {uniform: [100 1/s, 120 1/s]}}, runs: 20}", "at least"),
    ],
)
def test_files_that_ask_amiss(text, words):
    with pytest.raises(InputError) as caught:
        loads(HEAD + text + "\n", "case.yaml")
    assert words in str(caught.value) and caught.value.line
