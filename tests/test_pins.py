"""A machine by the pins of its drawing: the same machine as by coordinates, and wrong pins refused with the numbers."""

import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from plants.multibody import Actuator, Body, Force, Loop, Mechanism, Pin, Place
from plants.multibody.strokes import strokes
from workbench import InputError, changed
from workbench.cases.file import loads
from workbench.cases.schema import json_schema

TEXT = """
plant:
  type: Mechanism
  pins: {foot: [0.1 m, 0.6 m], lift: [0.5, 0.2]}
  bodies:
    boom:
      at: ground.foot
      pins: {rod: [1.1, -0.05], crank: [1.5, 0.25], tip: [2.3, 0], case: [0.55, 0.35]}
      mass: 180 kg
      com: [1.1, 0.12]
      I_zz: 64 kg m^2
      start: 25 deg
      hold: true
    crank:
      at: boom.crank
      pins: {end: [0.15, 0.35]}
      mass: 14 kg
      com: [0.1, 0.15]
      I_zz: 0.8
      start: 10 deg
      hold: true
    link: {at: crank.end, pins: {far: [0.7, 0]}, mass: 9 kg, com: [0.35, 0], I_zz: 0.4, start: -37 deg}
    bucket:
      at: boom.tip
      pins: {eye: [0.1, 0.3], teeth: [0.6, -0.3], heel: [-0.1, -0.3]}
      mass: 95 kg
      com: [0.25, -0.2]
      I_zz: 8
      start: 35 deg
  loops:
    eye: {between: [link.far, bucket.eye]}
  actuators:
    lift: {between: [ground.lift, boom.rod], drive: Force, shortest: 0.8 m, longest: 1.3 m}
    tilt: {between: [boom.case, crank.end], drive: Force, shortest: 1.02, longest: 1.2}
  tcp: bucket.teeth
scenario: {duration: 1 s}
"""


def read(*exchanged):
    text = TEXT
    for old, new in exchanged:
        assert old in text
        text = text.replace(old, new, 1)
    return loads(text, "drawn.yaml").plant


def by_coordinates():
    """The same machine without a name."""

    def solid(mass, com, I_zz):
        return {"mass": mass, "com": com, "inertia": (I_zz, I_zz, I_zz, 0.0, 0.0, 0.0)}

    bodies = (
        Body(
            "boom", point=(0.1, 0.6), start="25 deg", hold=True, **solid(180.0, (1.1, 0.12), 64.0)
        ),
        Body(
            "crank",
            "boom",
            point=(1.5, 0.25),
            start="10 deg",
            hold=True,
            **solid(14.0, (0.1, 0.15), 0.8),
        ),
        Body("link", "crank", point=(0.15, 0.35), start="-37 deg", **solid(9.0, (0.35, 0.0), 0.4)),
        Body("bucket", "boom", point=(2.3, 0.0), start="35 deg", **solid(95.0, (0.25, -0.2), 8.0)),
    )
    lift = (Pin("ground", (0.5, 0.2)), Pin("boom", (1.1, -0.05)))
    tilt = (Pin("boom", (0.55, 0.35)), Pin("crank", (0.15, 0.35)))
    return Mechanism(
        bodies,
        (Loop("eye", Place("link", (0.7, 0.0)), Place("bucket", (0.1, 0.3))),),
        (
            Actuator("lift", Force(), *lift, shortest=0.8, longest=1.3),
            Actuator("tilt", Force(), *tilt, shortest=1.02, longest=1.2),
        ),
    )


def test_pins_by_name_are_the_machine_by_coordinates():
    drawn, plain = read(), by_coordinates()
    assert drawn.states == plain.states and drawn.initial() == plain.initial()
    x = [v + 0.01 for v in drawn.initial()]
    u = [3000.0, -700.0]
    assert drawn.rhs(0.0, x, u) == plain.rhs(0.0, x, u)
    assert drawn.stored(0.0, x, u) == plain.stored(0.0, x, u)
    assert [b.joint_name for b in drawn.bodies] == ["foot", "crank", "end", "tip"]
    assert drawn.tcp == Pin("bucket", (0.6, -0.3), "teeth")


def test_the_keys_of_a_drawing_are_in_the_schema_with_their_units():
    """Editors complete them; the machine of the documentation and that of this file are valid."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema(Mechanism)
    page = Path(__file__).parents[1] / "docs" / "case-files.md"
    block = page.read_text("utf-8").split("## A machine of your own")[1].split("\n\n    ")[1]
    documented = textwrap.dedent("    " + block.split("\n\nA linkage")[0])
    reader = jsonschema.Draft202012Validator(schema)
    for text in (TEXT, documented):
        plant = YAML(typ="safe").load(text)["plant"]
        assert reader.is_valid(plant)
        assert loads(text, "page.yaml").plant.tcp is not None
    plant["actuators"]["lift"]["betwen"] = plant["actuators"]["lift"].pop("between")
    assert not reader.is_valid(plant)
    bodies = [
        d["properties"] for d in schema["$defs"].values() if "I_zz" in d.get("properties", {})
    ]
    body = bodies[0]
    assert "kg m^2" in body["I_zz"]["description"] and "ground.foot" in body["at"]["description"]
    assert "in m" in str(schema["$defs"]["Pin (named)"]["properties"]["point"]["description"])


def test_a_coordinate_stands_where_it_acts_and_nowhere_else():
    """No second copy that a change could miss: a pin in use is no longer on its body."""
    drawn = read()
    left = {b.name: [p.name for p in b.pins] for b in drawn.bodies}
    assert left == {"boom": [], "crank": [], "link": [], "bucket": ["heel"]} and not drawn.pins
    moved = changed(drawn, {"loops.eye.b.point": [0.11, 0.3]})
    assert moved == read(("eye: [0.1, 0.3]", "eye: [0.11, 0.3]"))
    assert changed(drawn, {"all.rod.point": [1.2, 0.0]}).actuators[0].b.point == (1.2, 0.0, 0.0)


@pytest.mark.parametrize(
    "change, acts",
    [
        ({"pins": {"lift": [0.45, "150 mm"]}}, {"a": (0.45, 0.15, 0.0)}),
        ({"pins.lift": [0.45, 0.15]}, {"a": (0.45, 0.15, 0.0)}),
        ({"bodies.boom.pins": {"rod": [1.0, 0]}}, {"b": (1.0, 0.0, 0.0)}),
    ],
)
def test_a_pin_is_changed_where_it_acts_by_the_name_it_was_written_with(change, acts):
    """What it says in a table of pins must not be without effect: the coordinates stand elsewhere by then."""
    old = read()
    new = changed(old, change)
    assert new.pins == old.pins and new.bodies == old.bodies
    for end in "ab":
        wanted = acts.get(end, getattr(old.actuators[0], end).point)
        assert getattr(new.actuators[0], end).point == pytest.approx(wanted)


def test_a_pin_that_nothing_refers_to_is_changed_where_it_is_drawn():
    new = changed(read(), {"bodies.bucket.pins": {"heel": [-0.2, -0.25]}})
    assert new.bodies[3].pins[0].point == pytest.approx((-0.2, -0.25, 0.0))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"pins": {"lifft": [0.4, 0.2]}}, "there is no pins.lifft to change"),
        ({"pins.lift": [0.4, 0.2], "actuators.lift.a.point": [0.4, 0.3, 0]}, "changed twice"),
    ],
)
def test_a_change_of_pins_that_cannot_be_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        changed(read(), change)


def test_python_takes_the_same_names():
    body = Body("boom", at="ground.foot", pins={"rod": (0.5, 0.1)}, mass=3.0, com=(0.4, 0.0))
    lift = Actuator("lift", Force(), between=("ground.base", "boom.rod"))
    made = Mechanism((body,), actuators=(lift,), pins={"foot": (0.0, 1.0), "base": (0.3, 0.2)})
    assert made.bodies[0].point == (0.0, 1.0, 0.0)
    assert made.actuators[0].a == Pin("ground", (0.3, 0.2), "base")
    assert replace(made, name="again").bodies == made.bodies


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "[ground.lift, boom.rod]",
            "[ground.lift, boom.rodd]",
            "actuators.lift.between",
            "boom has no pin 'rodd'; its pins are rod, crank, tip, case\n  mend: did you mean boom.rod",
        ),
        (
            "[link.far, bucket.eye]",
            "[link.far, buckt.eye]",
            "loops.eye.between",
            "there is no body 'buckt'\n  mend: did you mean bucket?",
        ),
        ("at: boom.tip", "at: tip", "bodies.bucket.at", "'tip' names no pin"),
        ("tcp: bucket.teeth", "tcp: bucket.tooth", "tcp", "did you mean bucket.teeth"),
        ("tcp: bucket.teeth", "tcp: bucket", "tcp", "'bucket' names no pin"),
        (
            "[boom.case, crank.end]",
            "[crank.end, crank.end]",
            "actuators.tilt.between",
            "both pins are on 'crank'",
        ),
        ("[ground.lift, boom.rod]", "[ground.lift]", "lift", "expected two pins, got 1"),
        ("far: [0.7, 0]", "far: [0.7, 0, 0, 0]", "bodies.link.pins.far", "three numbers"),
        (
            "at: boom.tip",
            "at: boom.tip\n      parent: crank",
            "bodies.bucket.at",
            "leave those two",
        ),
        (
            "between: [link.far, bucket.eye]",
            "a: {body: link}",
            "loops.eye",
            "give their two pins by name, or a and b",
        ),
        (
            "shortest: 0.8 m",
            "shortest: 1.2 m",
            "actuators.lift",
            "m less than retracted",
        ),
        (
            "longest: 1.3 m",
            "longest: 0.9 m",
            "actuators.lift",
            "m more than extended",
        ),
        (
            "far: [0.7, 0]",
            "far: [0.07, 0]",
            "loops.eye",
            "m stay open between link.far and bucket.eye at the best position found",
        ),
    ],
)
def test_wrong_pins_are_refused_at_their_line_with_the_numbers(old, new, line, words):
    with pytest.raises(InputError) as caught:
        read((old, new))
    assert words in str(caught.value) and caught.value.line
    assert line in f"{caught.value.key} {caught.value}"


def test_the_gap_of_a_loop_is_the_distance_of_its_pins():
    """Reach of link and bucket from the held crank's end to the boom's tip, by Pythagoras."""
    with pytest.raises(InputError, match=r"loops\.eye: cannot be closed; (\S+) m stay open") as why:
        read(("far: [0.7, 0]", "far: [0.07, 0]"))
    end = np.array([0.15, 0.35])
    turn = np.radians(10.0)
    at = [1.5 + np.cos(turn) * end[0] - np.sin(turn) * end[1]]
    at.append(0.25 + np.sin(turn) * end[0] + np.cos(turn) * end[1])
    room = np.hypot(at[0] - 2.3, at[1]) - np.hypot(0.1, 0.3) - 0.07
    assert float(str(why.value).split("closed; ")[1].split(" m")[0]) == pytest.approx(
        room, rel=5e-3
    )


def test_strokes_move_what_they_should():
    """The lift alone turns the boom: its angle at both ends of the stroke by the cosine rule."""
    lift, tilt = strokes(read())
    assert lift.lengths[0] == pytest.approx(0.8, abs=1e-6)
    assert lift.lengths[-1] == pytest.approx(1.3, abs=1e-6)
    assert np.all(np.diff(lift.lengths) > 0) and np.all(np.diff(tilt.lengths) > 0)
    base = np.array([0.5, 0.2]) - [0.1, 0.6]
    rod = np.array([1.1, -0.05])
    a, b = np.hypot(*base), np.hypot(*rod)
    offset = np.arctan2(base[1], base[0]) - np.arctan2(rod[1], rod[0])
    for s, z in zip(lift.lengths, lift.positions):
        inner = np.arccos((a * a + b * b - s * s) / (2 * a * b))
        assert z[0] == pytest.approx(offset + inner, abs=1e-9)
        assert z[1] == pytest.approx(lift.positions[0][1], abs=1e-9)


def test_a_stroke_beyond_a_dead_point_is_refused_where_it_is():
    """The lift ends where base pin, foot and rod pin are in line: at the sum of their distances."""
    farthest = np.hypot(0.4, 0.4) + np.hypot(1.1, 0.05)
    with pytest.raises(InputError) as caught:
        read(("longest: 1.3 m", "longest: 1.9 m"))
    said = str(caught.value)
    assert "actuators.lift: its stroke, 0.8 … 1.9 m, passes a dead point at " in said
    at = float(said.split("dead point at ")[1].split(" m")[0])
    assert at == pytest.approx(farthest, rel=2e-3)
    stop = said.split("write 'longest: ")[1].split("'")[0]
    assert read(("longest: 1.3 m", f"longest: {stop}")).actuators[0].longest < farthest


def test_a_stroke_between_two_dead_points_is_told_both_stops():
    """The lift is shortest where its pins are in line on one side of the foot: at the difference of their distances."""
    base, rod = np.hypot(0.4, 0.4), np.hypot(1.1, 0.05)
    with pytest.raises(InputError) as caught:
        read(("shortest: 0.8 m", "shortest: 0.5 m"), ("longest: 1.3 m", "longest: 1.9 m"))
    said = str(caught.value)
    points = said.split("passes dead points at ")[1].split(", where")[0]
    nearest, farthest = (float(word.removesuffix(" m")) for word in points.split(" and "))
    assert nearest == pytest.approx(rod - base, rel=2e-2)
    assert farthest == pytest.approx(rod + base, rel=2e-3)
    short, long = (said.split(f"'{side}: ")[1].split("'")[0] for side in ("shortest", "longest"))
    lift = read(("shortest: 0.8 m", f"shortest: {short}"), ("longest: 1.3 m", f"longest: {long}"))
    assert lift.actuators[0].shortest > nearest and lift.actuators[0].longest < farthest


def test_a_joint_at_coordinates_is_told_that_it_sits_at_a_pin():
    with pytest.raises(InputError) as caught:
        read(("at: ground.foot", "at: [0.1, 0.6]"))
    assert "bodies.boom.at: expected text, got a list" in str(caught.value)
    assert "such as ground.foot" in caught.value.mend
