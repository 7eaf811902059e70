"""Case files: what they mean, section by section, and that nothing in them is lost or invented."""

import dataclasses
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import plants
from controllers import PID, VDC
from plants import machine, machines
from plants.shipped import PLANTS
from workbench import (
    Delayed,
    Filtered,
    Noisy,
    Quantised,
    Sampled,
    Saturated,
    Sine,
    Spline,
    Waypoints,
)
from workbench.cases.default_path import DEMO
from workbench.cases.edit import edited, find, places
from workbench.cases.file import laws, load, loads
from workbench.cases.file_schema import case_schema
from workbench.cases.form import claim_names, kebab
from workbench.cases.yaml_input import parse, read
from workbench.commands.starter import starter
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest, leaves
from workbench.contract.system import innermost
from workbench.verification.claims import Claim, DelayLimit, Hypotheses, PracticalStability
from workbench.verification.run_claims import Tracking

ROOT = Path(__file__).parents[1]
OTHERS = ("\ncrane:", "\ncase:", "\nplan:")  # plans, sweeps
EXAMPLES = sorted(
    p
    for p in (ROOT / "examples").glob("*.yaml")
    if not any(key in p.read_text("utf-8") for key in OTHERS)
)
SHIPPED = Path(plants.__file__).parent / "parameters" / "hiab-xs031.yaml"
P = "plant: hiab-xs031\n"


@pytest.fixture(scope="module")
def crane():
    return machine("hiab-xs031").plant


def refused(text, *words, line, key):
    with pytest.raises(InputError) as caught:
        loads(text, "case.yaml")
    error = caught.value
    for word in words:
        assert word in str(error), f"{word!r} is not in: {error}"
    assert (error.file, error.line, error.key) == ("case.yaml", line, key) and error.mend, str(
        error
    )


# ---- shipped machines, defaults -----------------------------------------------------------------------------------
def test_shipped_machines_name_their_sources_and_tag_what_their_classes_have():
    for name in machines():
        plant, provenance, sources = machine(name)
        assert {p.source for p in provenance.values() if p.source} <= set(sources) and provenance
        known = {".".join(p.path) for p in places(plant)}
        assert {path for path in provenance if ".nominal." not in path} <= known


def test_a_plant_alone_gets_its_defaults(crane):
    case = loads(P)
    assert digest(case.plant) == digest(crane)
    assert (
        type(case.controller) is Sampled
        and case.controller.T_s == 1e-3
        and innermost(case.controller) == VDC(crane)
    )
    assert case.scenario.reference == DEMO and case.scenario.length() == 30.0
    assert (
        PracticalStability() in case.claims
        and not next(c for c in case.claims if type(c) is Hypotheses).counted
    )


def test_a_machine_written_out_is_the_shipped_one(crane):
    case = load(SHIPPED)
    assert digest(case.plant) == digest(crane) and case.sources["P1"].startswith("G. Petrović")
    assert (
        case.provenance["plant.p_s"].tag == "V"
        and case.provenance["plant.p_s"].source == "Petrovic22"
    )
    named = loads(P)
    assert {k: (v.tag, v.source) for k, v in case.provenance.items()} == {
        k: (v.tag, v.source) for k, v in named.provenance.items()
    }


def test_a_machine_in_its_own_file(tmp_path, crane):
    text = SHIPPED.read_text("utf-8").replace("p_s: {value: 185 bar", "p_s: {value: 201 bar")
    (tmp_path / "mine.yaml").write_text(text)
    (tmp_path / "case.yaml").write_text("plant: {machine: mine.yaml, lock: {extension: 300 mm}}\n")
    case = load(tmp_path / "case.yaml")
    assert case.plant.p_s == 201e5 and case.plant.n == 2 and crane.p_s == 185e5


def test_without_a_reachable_demo_path_the_default_is_a_small_motion():
    case = loads("plant: {machine: hiab-xs031, lock: {extension: 0.02 m}}\n")
    low, high = np.array(case.plant.joint_range()).T
    assert isinstance(case.scenario.reference, Sine)
    assert (np.array(case.scenario.reference.amplitude) < 0.1 * (high - low)).all()


# ---- plant: change, friction, lock --------------------------------------------------------------------------------
def test_changes_by_path_by_name_by_part_and_all_at_once(crane):
    case = loads(
        P.replace("hiab", "{machine: hiab").rstrip()
        + """, change: {
        payload.mass: 175 kg, structures.tilt.revolute.cylinder.stroke: 560 mm, extension.stroke: 0.9 m,
        oil.beta: 7.5e8, all.valve.lag: ideal, base.about_z: 100 deg, base.r.0: 20 cm,
        lift.arm: {mass: 31 kg, com: [0.2, 0.1, 0]}}}\n"""
    )
    new, lift, tilt = case.plant, *case.plant.structures
    assert (new.payload.mass, new.oil.β) == (175, 7.5e8)
    assert (tilt.revolute.cylinder.stroke, tilt.prismatic.cylinder.stroke) == (0.56, 0.9)
    assert {c.valve.lag for c in new.cylinders} == {"ideal"} and {
        c.valve.lag for c in crane.cylinders
    } == {"second"}
    assert new.base.R[0] == pytest.approx(np.cos(np.radians(100))) and new.base.r == (
        0.2,
        *crane.base.r[1:],
    )
    assert lift.revolute.arm.mass == 31 and lift.revolute.arm.inertia == (0.0,) * 6
    assert lift.revolute.link == crane.structures[0].revolute.link and new.p_s == crane.p_s
    assert case.provenance["plant.payload.mass"].note == "plant.change.payload.mass"
    assert case.provenance["plant.p_s"].tag == "V"


def test_changes_that_only_fit_together_are_made_together(crane):
    text = P.replace("hiab-xs031", "{machine: hiab-xs031, change: {p_r: 190 bar, p_s: 420 bar}}")
    assert (loads(text).plant.p_r, loads(text).plant.p_s) == (190e5, 420e5)
    refused(text.replace("420", "180"), "below the supply pressure", line=1, key="plant.change.p_r")


def test_a_tag_on_a_change_is_kept():
    case = loads(
        "plant:\n  machine: hiab-xs031\n  change:\n    p_s: {value: 19 MPa, tag: A, note: our pump}\n"
    )
    assert case.plant.p_s == 19e6
    assert (case.provenance["plant.p_s"].tag, case.provenance["plant.p_s"].note) == (
        "A",
        "our pump",
    )


@pytest.mark.parametrize(
    "change, words, key",
    [
        ("stroke: 1 m", ("can be 3 things", "all.stroke"), "stroke"),
        ("payload.mas: 1 kg", ("did you mean payload.mass",), "payload.mas"),
        ("lift.stroke: 0.6 m", ("beyond the linkage",), "lift.stroke"),
        ("payload.mass: 3 bar", ("a mass was expected",), "payload.mass"),
        ("{payload.mass: 1 kg, payload: {mass: 2 kg}}", ("changed twice",), "payload"),
        ("{lift.stroke: 0.4 m, all.stroke: 0.3 m}", ("changed twice",), "all.stroke"),
    ],
)
def test_changes_that_cannot_be_made(change, words, key):
    inside = change if change.startswith("{") else f"{{{change}}}"
    refused(
        f"plant:\n  machine: hiab-xs031\n  change: {inside}\n",
        *words,
        line=3,
        key=f"plant.change.{key}",
    )


def test_every_name_that_find_offers_is_accepted(crane):
    node = parse("x: 1").value["x"]
    for leaf in leaves(crane):
        assert [p.text for p in find(crane, leaf.path, node, "k")] == [leaf.path]


def test_edits_do_what_replace_does(crane):
    new, _ = edited(crane, parse("extension.valve.u_max: 9 V").value, str)
    tilt = crane.structures[1]
    old = tilt.prismatic.cylinder
    cylinder = dataclasses.replace(old, valve=dataclasses.replace(old.valve, u_max=9.0))
    by_hand = dataclasses.replace(
        tilt, prismatic=dataclasses.replace(tilt.prismatic, cylinder=cylinder)
    )
    assert new == dataclasses.replace(crane, structures=(crane.structures[0], by_hand))


def test_friction_for_all_and_by_name():
    case = loads("plant: {machine: hiab-xs031, friction: {law: Stribeck, F_s: 5 kN}}")
    assert [(type(c.friction).__name__, c.friction.F_s) for c in case.plant.cylinders] == [
        ("Stribeck", 5000.0)
    ] * 3
    case = loads(
        "plant: {machine: hiab-xs031, friction: {extension: LuGre, lift: {law: CoulombViscous, b: 2500}}}"
    )
    assert [type(c.friction).__name__ for c in case.plant.cylinders] == [
        "CoulombViscous",
        "CoulombViscous",
        "LuGre",
    ]
    assert [c.friction.b for c in case.plant.cylinders] == [2500.0, 3000.0, 2000.0]


def test_lock_says_which_numbers_are_derived(crane):
    case = loads("plant: {machine: hiab-xs031, lock: {extension: 0.45 m}}")
    assert case.plant == crane.locked(extension=0.45)
    arm = "plant.structures.tilt.revolute.arm.mass"
    assert case.provenance[arm].tag == "D" and "0.45 m" in case.provenance[arm].note
    assert case.provenance["plant.structures.lift.revolute.arm.mass"].tag == "V"
    assert not [k for k in case.provenance if "prismatic" in k]


# ---- controller ---------------------------------------------------------------------------------------------------
def test_gains_one_number_or_a_list_greek_or_spelled_out(crane):
    law = innermost(
        loads(
            P + "controller: {law: VDC, lambda: [7, 8.5, 9 1/s], kappa: 12, k_x: 5 mm}"
        ).controller
    )
    assert (law.λ, law.κ, law.k_x, law.βk_f) == ((7.0, 8.5, 9.0), 12.0, (5e-3,), VDC(crane).βk_f)
    law = innermost(
        loads(P + "controller:\n  law: PID\n  K_p: 90 V/m\n  K_i: [1, 2, 3]").controller
    )
    assert (type(law), law.K_p, law.K_i) == (PID, (90.0,), (1.0, 2.0, 3.0))


def test_what_the_controller_believes_is_another_object(crane):
    case = loads(
        P + "controller: {model: {change: {payload.mass: 175 kg}, friction: Frictionless}}"
    )
    law = innermost(case.controller)
    assert law.model.payload.mass == 175 and case.plant == crane
    assert {type(c.friction).__name__ for c in law.model.cylinders} == {"Frictionless"}
    assert case.provenance["controller.model.payload.mass"].source == ""


@pytest.mark.parametrize(
    "text, words, key",
    [
        ("{law: VDC, derivativ: zero}", ("did you mean derivative",), "controller.derivativ"),
        ("{law: VDK}", ("did you mean VDC",), "controller.law"),
        ("{law: VDC, λ: [8, 8]}", ("expected 1 or 3",), "controller.λ"),
        ("{law: VDC, κ: 0}", ("not positive definite",), "controller.κ"),
        ("{law: VDC, κ: 80 mm}", ("a rate was expected",), "controller.κ"),
        (
            "{law: VDC, model: {change: {payload.mas: 1}}}",
            ("payload.mass",),
            "controller.model.change.payload.mas",
        ),
        ("{law: VDC, space: polar}", ("joint",), "controller.space"),
        ("3", ("write 'law: VDC'",), "controller"),
    ],
)
def test_controllers_that_cannot_be_built(text, words, key):
    refused(P + f"controller: {text}", *words, line=2, key=key)


# ---- loop ---------------------------------------------------------------------------------------------------------
def test_wrappers_stand_in_their_order_with_units_of_their_signals():
    case = loads(
        P
        + """loop:
  sample_time: 2 ms
  delay: 3 ms
  limit: 8 V
  filter: {frequency: 55 Hz, damping: 0.8, signals: [p]}
  noise: [{sigma: 0.1 bar, signals: [p]}, {σ: 0.002 deg, signals: [q]}]
  quantise: {resolution: 0.02 bar, signals: [p_a1]}
"""
    )
    found, c = [], case.controller
    while c.inner is not None:
        found.append(type(c))
        c = c.inner
    assert found == [Delayed, Sampled, Saturated, Noisy, Noisy, Quantised, Filtered]
    delayed = case.controller
    noises = (delayed.inner.inner.inner, delayed.inner.inner.inner.inner)
    assert (delayed.delay, delayed.inner.T_s, delayed.inner.inner.high) == (3e-3, 2e-3, 8.0)
    assert [n.σ for n in noises] == pytest.approx([np.radians(0.002), 1e4])
    assert noises[1].inner.resolution == pytest.approx(2e3) and noises[1].inner.inner.damping == 0.8


def test_continuous_is_not_sampled():
    assert loads(P + "loop: {sample_time: continuous}").loop.period is None


@pytest.mark.parametrize(
    "text, words, key",
    [
        ("{sample_time: contnuous}", ("did you mean continuous",), "loop.sample_time"),
        ("{sample_time: 0 ms}", ("greater than zero",), "loop.sample_time"),
        ("{sample_time: continuous, delay: 1 ms}", ("needs a sampled law",), "loop.delay"),
        ("{noise: {sigma: 1 bar}}", ("different units",), "loop.noise.sigma"),
        ("{noise: {sigma: 1 deg, signals: [p]}}", ("a pressure was expected",), "loop.noise.sigma"),
        (
            "{filter: {frequency: 9 Hz, signals: [pressure]}}",
            ("no signal 'pressure'",),
            "loop.filter.signals",
        ),
        ("{quantize: {resolution: 1}}", ("did you mean quantise",), "loop.quantize"),
    ],
)
def test_loops_that_cannot_be_closed(text, words, key):
    refused(P + f"loop: {text}", *words, line=2, key=key)


# ---- scenario -----------------------------------------------------------------------------------------------------
def test_points_take_the_units_of_their_space():
    case = loads(
        P
        + """scenario:
  reference: {type: Waypoints, space: cartesian, points: [start, [2500 mm, 1], [3 m, 120 cm], start], leg: [4 s, 4, 4]}
  offset: {q_1: 1 deg, p_a1: 2 bar}
  disturbances: {f_Dy: 0.5 kN, m_Dz: {type: Waypoints, points: [[0], [30 N m]], leg: 2 s}}
  seed: 5
"""
    )
    s = case.scenario
    assert s.reference == Waypoints(
        "cartesian", ("start", (2.5, 1.0), (3.0, 1.2), "start"), (4.0, 4.0, 4.0)
    )
    assert s.offset == pytest.approx({"q_1": np.radians(1), "p_a1": 2e5}) and s.seed == 5
    assert s.disturbances["f_Dy"] == 500.0 and s.disturbances["m_Dz"].points == ((0.0,), (30.0,))
    case = loads(
        P
        + """scenario:
  reference:
    {type: Sine, space: joint, centre: start, amplitude: [5 deg, 6 deg, 100 mm], frequency: 0.2 Hz, phase: 90 deg}
  start: [-70 deg, -110 deg, 0.4 m]
  duration: 12 s
"""
    )
    assert case.scenario.reference.amplitude == pytest.approx((np.radians(5), np.radians(6), 0.1))
    assert case.scenario.start == pytest.approx((np.radians(-70), np.radians(-110), 0.4))


def test_a_recorded_path_is_found_beside_the_file(tmp_path):
    t = np.linspace(0, 4, 30)
    x = 2.6 + 0.2 * np.sin(t / 4 * np.pi) ** 2
    np.savetxt(
        tmp_path / "path.csv",
        np.column_stack([t, x, np.ones(30)]),
        "%.6f",
        ",",
        header="time [s],x [m],y [m]",
    )
    text = P + (
        "scenario:\n  reference: {file: path.csv, space: cartesian}\n"
        "  start: [-75 deg, -114 deg, 0.5 m]\n"
    )
    (tmp_path / "case.yaml").write_text(text)
    case = load(tmp_path / "case.yaml")
    assert isinstance(case.scenario.reference, Spline) and case.scenario.length() == 4.0
    (tmp_path / "case.yaml").write_text(text.replace("path.csv", "pth.csv"))
    with pytest.raises(InputError, match="line 3") as caught:
        load(tmp_path / "case.yaml")
    assert caught.value.key is None or "file" in caught.value.key


PATH = "reference: {space: cartesian, points: [start, %s], leg: 4 s}"


@pytest.mark.parametrize(
    "text, words, line, key",
    [
        (PATH % "[9 m, 1 m]", ("no pose", "reaches"), 3, "scenario.reference"),
        (PATH % "[9 bar, 1]", ("a length",), 3, "scenario.reference.points.1.0"),
        (
            PATH.replace("4 s", "-4 s") % "[2.5, 1]",
            ("greater than zero",),
            3,
            "scenario.reference.leg",
        ),
        (
            "reference: {type: Sin, space: joint}",
            ("did you mean Sine",),
            3,
            "scenario.reference.type",
        ),
        ("start: [-7 deg, -110 deg, 0.4 m]", ("outside its stroke",), 3, "scenario.start"),
        ("start: [-70 deg, -110 deg]", ("expected 3 joint positions",), 3, "scenario.start"),
        ("offset:\n    q_9: 1 deg", ("q_1",), 4, "scenario.offset"),
        ("offset:\n    q_1: 1 bar", ("an angle was expected",), 4, "scenario.offset.q_1"),
        ("disturbances:\n    f_D: 1 N", ("f_Dx",), 4, "scenario.disturbances.f_D"),
        (
            "disturbances:\n    f_Dy: 1 m",
            ("a force was expected",),
            4,
            "scenario.disturbances.f_Dy",
        ),
        ("duration: 0 s", ("greater than zero",), 3, "scenario.duration"),
        ("duration: 1e9 s", ("more than a run can hold",), 2, "scenario"),
    ],
)
def test_scenarios_that_cannot_be_run(text, words, line, key):
    refused(P + f"scenario:\n  {text}\n", *words, line=line, key=key)


# ---- claims -------------------------------------------------------------------------------------------------------
def test_claims_edit_the_default_set():
    default = loads(P).claims
    case = loads(
        P + "claims: {practical-stability: {bound: 4.5 mJ, runs: 8}, DelayLimit: false, "
        "hypotheses: {counted: true}}"
    )
    assert [type(c) for c in case.claims] == [type(c) for c in default if type(c) is not DelayLimit]
    assert PracticalStability(bound=4.5e-3, runs=8) in case.claims and Tracking() in case.claims
    assert next(c for c in case.claims if type(c) is Hypotheses).counted


def test_claim_names_are_those_of_the_classes():
    assert claim_names(Claim)["practical-stability"] is PracticalStability
    assert kebab("SampleTimeLimit") == "sample-time-limit"


@pytest.mark.parametrize(
    "text, words, key",
    [
        ("claims: {trackin: true}", ("did you mean tracking",), "claims"),
        ("claims: {tracking: {erro: 3 mm}}", ("did you mean error",), "claims.tracking.erro"),
        ("claims: {tracking: {error: 3 bar}}", ("a length",), "claims.tracking.error"),
        (
            "controller: PID\nclaims: {identity: true}",
            ("accompanying function",),
            "claims.identity",
        ),
    ],
)
def test_claims_that_cannot_be_asked(text, words, key):
    refused(P + text, *words, line=1 + len(text.splitlines()), key=key)


def test_taking_every_claim_out_is_refused():
    out = ", ".join(f"{name}: false" for name in claim_names(Claim))
    refused(P + f"claims: {{{out}}}", "nothing is left", line=2, key="claims")


# ---- examples, starter, schema ------------------------------------------------------------------------------------
def schema():
    return json.loads(json.dumps(case_schema(PLANTS, laws(), Claim)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_load_and_fit_the_schema(path):
    case = load(path)
    assert case.text == path.read_text("utf-8") and case.claims
    jsonschema.Draft202012Validator(schema()).validate(read(path).plain())


def test_the_schema_finds_misspelt_keys_and_knows_the_whole_file():
    made = schema()
    jsonschema.Draft202012Validator.check_schema(made)
    valid = jsonschema.Draft202012Validator(made).is_valid
    assert valid(read(SHIPPED).plain())
    for text in (
        "plnt: x",
        "{}",
        P + "loop: {sample_tim: 1 ms}",
        P + "claims: {trackin: true}",
        P + "controller: {law: VDK}",
        P + "scenario: {reference: {type: Sine, space: polar}}",
        "plant: {machine: hiab-xs031, lok: {}}",
    ):
        assert not valid(parse(text).plain()), text


def test_the_starter_means_what_an_empty_file_means():
    bare, law = loads(P), VDC
    text = starter("hiab-xs031", bare.plant, law, bare.claims, "hiab-xs031.yaml")
    full = loads(text)
    assert digest(full.loop) == digest(bare.loop) and full.claims == bare.claims
    assert vars(full.scenario) == vars(bare.scenario)
    shipped = (ROOT / "examples" / "hiab-xs031.yaml").read_text("utf-8")
    own = "".join(
        line
        for line in shipped.splitlines(keepends=True)
        if not line.startswith("# Expected: exit")
    )
    assert text == own, "write it again: workbench init hiab-xs031"


def test_every_comment_in_the_starter_can_be_switched_on():
    """The commented lines are examples a newcomer will use: with '# ' removed they must load."""
    text = (ROOT / "examples" / "hiab-xs031.yaml").read_text("utf-8")
    lines = [
        line.replace("# ", "", 1) if line.startswith("  # ") else line for line in text.splitlines()
    ]
    lines = [line for line in lines if "lock:" not in line]
    case = loads("\n".join(lines) + "\n")
    assert (
        case.plant.payload.mass == 50
        and type(case.controller) is Delayed
        and case.scenario.duration == 10.0
    )
