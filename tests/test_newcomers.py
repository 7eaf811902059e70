"""What a newcomer writes: machines on machines, points of the wrong length, names with dots; each mistake is told with its mend."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import LQR
from plants import machine
from workbench import ClosedLoop, Controller, Sampled, Signal, verify
from workbench.cases.file import load, loads
from workbench.contract.errors import InputError
from workbench.contract.numbers import nearest
from workbench.verification.claims import PracticalStability
from workbench.verification.observed import settled_picture
from workbench.verification.observed.settled_picture import courses

SLIDE = """
plant:
  type: Mechanism
  method: minimal
  supply: {p_s: 140 bar, p_r: 3 bar}
  pins: {case: [0, 0]}
  bodies:
    slide: {joint: prismatic, axis: [1, 0, 0], pins: {rod: [0, 0]}, mass: 85 kg, start: 0.75 m}
  actuators:
    push:
      between: [ground.case, slide.rod]
      drive: {type: ServoCylinder, closed: 0.55 m, cylinder: {bore: 40 mm, rod: 22 mm, stroke: 0.4 m}}
controller: {law: PID}
scenario:
  reference: {type: Waypoints, space: joint, points: [start, [0.85 m], start], leg: 2 s}
"""


def written(*exchanged, then=""):
    """The slide's case with words exchanged."""
    text = SLIDE
    for old, new in exchanged:
        assert old in text
        text = text.replace(old, new)
    return text + then


# ---- machines on machines ---------------------------------------------------------------------------------------------
def test_a_machine_of_a_file_may_change_the_one_of_another(tmp_path):
    """Each file changes what the one below it says; sources of all of them are known, and origins of numbers by their path."""
    (tmp_path / "loaded.yaml").write_text(
        "plant: {machine: hiab-xs031, change: {payload.mass: {value: 40 kg, tag: A, note: weighed}, p_s: 190 bar}}\n"
        "sources: {Scale: the scale in the yard}\n"
    )
    (tmp_path / "short.yaml").write_text(
        "plant: {machine: loaded.yaml, change: {p_s: 170 bar}, lock: {extension: 0.3 m}}\n"
    )
    (tmp_path / "case.yaml").write_text("plant: short.yaml\n")
    case = load(tmp_path / "case.yaml")
    assert case.plant.payload.mass == 40.0 and case.plant.p_s == pytest.approx(170e5)
    assert case.plant.n == machine("hiab-xs031").plant.n - 1
    assert case.sources["Scale"] == "the scale in the yard" and "Petrovic22" in case.sources
    assert case.provenance["plant.payload.mass"].note == "weighed"


@pytest.mark.parametrize("names", (["one"], ["one", "two"], ["one", "two", "three"]))
def test_a_machine_that_is_its_own_is_refused(tmp_path, names):
    for name, other in zip(names, [*names[1:], names[0]]):
        (tmp_path / f"{name}.yaml").write_text(f"plant: {other}.yaml\n")
    with pytest.raises(InputError, match="takes its machine from itself") as why:
        load(tmp_path / "one.yaml")
    assert "shipped machine" in why.value.mend


def test_one_file_may_serve_plant_and_model(tmp_path):
    """A file that is named twice, but not by itself, is no circle."""
    (tmp_path / "base.yaml").write_text("plant: hiab-xs031\n")
    (tmp_path / "heavy.yaml").write_text(
        "plant: {machine: base.yaml, change: {payload.mass: 90 kg}}\n"
    )
    (tmp_path / "case.yaml").write_text(
        "plant: heavy.yaml\ncontroller: {law: VDC, model: {machine: base.yaml}}\n"
    )
    case = load(tmp_path / "case.yaml")
    assert case.plant.payload.mass == 90.0
    assert case.controller.inner.model.payload.mass == 0.0


# ---- points -----------------------------------------------------------------------------------------------------------
POINTS = "points: [start, [0.85 m], start]"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            "points: [start, [0.85 m, 0.2 m], start]",
            "expected a single component in this space, got 2",
        ),
        ("points: [start, [0.85, 0.2], start]", "expected a single component in this space, got 2"),
    ],
)
def test_a_point_of_too_many_components_is_told_so(points, said):
    with pytest.raises(InputError, match=said) as why:
        loads(written((POINTS, points)))
    assert why.value.key.startswith("scenario.reference.points") and why.value.mend


def test_a_space_that_the_machine_has_not_is_told_before_its_points():
    """A slide without a tool has no cartesian space; that its points have units is no fault."""
    with pytest.raises(InputError, match="no cartesian space") as why:
        loads(written(("space: joint", "space: cartesian")))
    assert why.value.key == "scenario.reference.space" and "joint" in why.value.mend
    assert loads(written(("space: joint", "space: piston"))).scenario.reference.space == "piston"


# ---- names and numbers ------------------------------------------------------------------------------------------------
def test_a_body_is_not_called_as_the_ground():
    with pytest.raises(InputError, match="'ground' is the world") as why:
        loads(written(("    slide: {", "    ground: {"), ("slide.rod", "ground.rod")))
    assert "name of its own" in why.value.mend


def test_a_dot_in_a_body_s_name_is_part_of_it():
    plain = loads(SLIDE).plant
    dotted = loads(written(("    slide: {", "    sli.de: {"), ("slide.rod", "sli.de.rod"))).plant
    assert dotted.bodies[0].name == "sli.de"
    assert dotted.out(0.0, dotted.initial())[0] == plain.out(0.0, plain.initial())[0]


def test_a_point_of_four_numbers_is_told_how_many():
    with pytest.raises(InputError, match="three numbers") as why:
        loads(written(("pins: {rod: [0, 0]}", "pins: {rod: [0, 0, 0, 0]}")))
    assert why.value.mend == "write [x, y] or [x, y, z]"


@pytest.mark.parametrize(
    ("claim", "key", "mend"),
    [
        ("falsify: {over: {}}", "claims.falsify.over", "bodies.slide.mass: [42.5 kg, 127.5 kg]"),
        (
            'probability: {of: "always (x_slide < 1 m)", over: {}}',
            "claims.probability.over",
            "and its law",
        ),
        (
            "probability: {of: [], over: {slide.mass: {uniform: [80 kg, 90 kg]}}}",
            "claims.probability.of",
            "always",
        ),
    ],
)
def test_claims_that_vary_nothing_are_told_at_their_line(claim, key, mend):
    with pytest.raises(InputError) as why:
        loads(written(then=f"claims: {{{claim}}}\n"))
    assert why.value.key == key and why.value.line == 16 and mend in why.value.mend


def test_where_nothing_can_be_named_no_example_is_promised():
    assert nearest("k", []) == "take it out: there is none to choose from"
    assert nearest("k", ["a.b", "c"]) == "for example a.b, c"
    assert nearest("slide.mas", ["slide.mass"]) == "did you mean slide.mass?"
    paths = ["bodies.slide.point.0", "actuators.spring.drive.k", "actuators.other.drive.k"]
    assert "actuators.spring" not in nearest("drive.spring.k", paths)
    assert nearest("spring.k", paths) == "did you mean actuators.spring.drive.k?"


LINEAR = "plant: {machine: ieha-published-linear, change: {measured: states}}\n"


@pytest.mark.parametrize(
    ("text", "key", "said", "mend"),
    [
        (
            LINEAR + "controller: {law: LQR, Q: [1, 2], R: 1}\n",
            "controller.Q",
            "1 or 5 numbers, got 2",
            "one for each",
        ),
        (
            LINEAR + "controller: {law: LQR, Q: 1, R: [1, 2]}\n",
            "controller.R",
            "one number, got 2",
            "write one number",
        ),
        (
            LINEAR + "controller: {law: MPC, Q: [1, 2]}\n",
            "controller.Q",
            "one number, got 2",
            "write one number",
        ),
        ("plant: {type: Mechanism, bodies: {}}\n", "plant.bodies", "at least one", "boom: {"),
        (
            "plant: {machine: hiab-xs031, change: [p_s]}\n",
            "plant.change",
            "a mapping, got a list",
            "name: value",
        ),
        (
            written(then="  disturbances: {f: 1 N}\n"),
            "scenario.disturbances.f",
            "no key 'f'",
            "take it out",
        ),
    ],
)
def test_what_is_of_the_wrong_size_is_told_what_would_do(text, key, said, mend):
    with pytest.raises(InputError, match=said) as why:
        loads(text)
    assert why.value.key == key and mend in why.value.mend


def test_weights_may_be_one_number_one_for_each_or_a_matrix():
    plant = machine("ieha-published-linear").plant
    plant = replace(plant, measured="states")
    gains = [LQR.design(plant, Q=Q, R=1e6).K for Q in (2.0, [2.0] * 5, 2.0 * np.eye(5))]
    assert gains[0] == gains[1] == gains[2]


@pytest.mark.parametrize("space", (" ", "\u00a0", "\u202f", ""))
def test_a_number_and_its_unit_may_be_apart_as_a_page_sets_them(space):
    """A number that was copied from a data sheet has a space that does not break."""
    assert loads(written(("85 kg", f"85{space}kg"))).plant.bodies[0].mass == 85.0


def test_a_machine_that_nothing_moves_is_judged_and_never_said_to_hold_stably():
    """Without inputs and outputs there is nothing to balance its states by."""
    text = "plant: {type: Mechanism, bodies: {wheel: {mass: 3 kg, I_zz: 1, damping: 2}}}\nscenario: {duration: 2 s}\n"
    case = loads(text)
    verdicts = verify(case.loop, case.scenario, case.claims)
    assert not any(v.holds and v.counted and "stab" in v.key for v in verdicts)


# ---- a law of one's own, started as far off as the stroke goes -------------------------------------------------------
@dataclass(frozen=True)
class Own(Controller):
    """u = K e (1 − (e/e_t)²): it turns at e_t."""

    K: float = 50.0
    e_t: float = 5.0
    measured = (Signal("x_slide", "m"),)
    references = (Signal("x_slide_d", "m", kind="reference"),)
    commands = (Signal("u_push", "V"),)

    def step_at(self, T_s, t, z, y, r):
        e = r[0] - y[0]
        return [], [self.K * e * (1.0 - (e / self.e_t) ** 2)]


@pytest.mark.parametrize(("turns_at", "holds"), ((5.0, True), (0.12, False)))
def test_a_start_on_the_end_of_a_stroke_says_nothing_of_a_law(turns_at, holds):
    """The slide begins in the middle of 0.4 m, and other starts are ten times 20 mm off: that is the very end of its stroke."""
    plant = loads(SLIDE).plant
    scenario = loads(SLIDE).scenario
    loop = ClosedLoop(plant, Sampled(Own(e_t=turns_at), T_s=1e-3))
    (verdict,) = verify(loop, scenario, [PracticalStability()])
    assert (verdict.holds is True) == holds, verdict.worst


# ---- a run that is one sample ----------------------------------------------------------------------------------------
def test_a_sample_that_is_longer_than_the_run_is_refused_and_one_that_just_fits_is_not():
    with pytest.raises(InputError, match="longer than the run, 4 s") as why:
        loads(written(then="loop: {sample_time: 5 s}\n"))
    assert "shorter sample time" in why.value.mend
    assert loads(written(then="loop: {sample_time: 4 s}\n")).loop.period == 4.0


def run_of(time, error):
    """A run whose one position has this error; nothing is desired."""
    log = SimpleNamespace(
        time=time, array=lambda name: error, signal=lambda name: SimpleNamespace(unit="m")
    )
    plant = SimpleNamespace(joint_names=["x"], has_tool=True)
    loop = SimpleNamespace(plant=plant)
    return SimpleNamespace(log=log, loop=loop, demand=SimpleNamespace(reference=None))


def test_what_is_drawn_of_a_short_log_begins_at_its_last_row(monkeypatch):
    """No row lies in the settled half of a run of one sample; a longer run begins at its half."""
    monkeypatch.setattr(settled_picture, "signal_floor", lambda plant, name: 0.0)
    error = np.array([3.0, 2.0, 1.0])
    (short,) = courses(run_of(np.array([0.0]), error[:1]), 4.0, None, 1e-3)
    assert list(short["t"]) == [0.0] and list(short["error"]) == [3.0]
    (long,) = courses(run_of(np.array([0.0, 4.0, 8.0]), error), 4.0, None, 1e-3)
    assert list(long["t"]) == [4.0, 8.0] and list(long["error"]) == [2.0, 1.0]
