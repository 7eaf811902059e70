"""Mappings become objects, or the refusal names the line, the key, what was expected and how to mend it."""

import math
from dataclasses import fields
from typing import Annotated

import pytest
from rig import FULL, HIAB, Accumulator, Idle, Pipe, Pump, Rig, refused, rig

from plants.components.friction import CoulombViscous, Friction, Frictionless, Stribeck
from plants.components.spatial import Body, Frame
from plants.components.valve import Nominal, Valve
from plants.crane.manipulator import Manipulator
from workbench.cases import shape
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.yaml_input import parse, read
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, leaves


def test_everything_a_hint_can_say():
    assert rig(FULL) == Rig(
        185e5,
        (Pipe("main", 2.5, 0.02, (0.08, -0.3)), Pipe("tank", 1.0)),
        Pump(40 / 60e3, 50 * math.pi),
        "closed",
        3,
        True,
        "12",
        Pipe("s", 0.3),
        ((130e5, 3e6), (1e6, 2e6)),
        {"x": 5.0, "y": 120.0},
        {"a": [1, "two", None]},
    )


def test_lists_may_be_written_by_name():
    by_name = rig("p: 1 bar\npipes:\n  main: {length: 2 m}\n  tank:\n    length: 70 cm\n")
    assert by_name.pipes == (Pipe("main", 2.0), Pipe("tank", 0.7))
    refused(
        "p: 1\npipes: {main: {name: other, length: 1}}",
        "'main' already",
        line=2,
        key="rig.pipes.main.name",
    )
    refused("p: 1\npipes: {main: 3}", "expected a mapping", line=2, key="rig.pipes.main")
    refused(
        "p: 1\npipes:\n- {name: a, length: 1}\n- {name: a, length: 2}",
        "two entries are called 'a'",
        line=4,
        key="rig.pipes",
    )


def test_optional_values():
    assert rig("p: 1\nspare: null\nsupply: {type: Accumulator, sigma_0: null}") == Rig(
        1.0, supply=Accumulator()
    )
    refused("p:", "nothing is given here; expected a quantity in Pa", line=1, key="rig.p")


def test_where_values_come_from():
    found = {}
    made = rig(
        "p: {value: 9 bar, tag: A}\npipes: [{name: m, length: {value: 2, tag: I, source: s, note: n},\n"
        "  ends: {value: [1, 2], tag: D}}]\nsupply: {value: {type: Pump, Q: 1}, source: whole}\n"
        "stages: {value: 4}\n",
        found,
    )
    assert made == Rig(9e5, (Pipe("m", 2.0, ends=(1.0, 2.0)),), Pump(1.0), stages=4)
    assert found == {
        "rig.p": Provenance("A", line=1),
        "rig.pipes.m.length": Provenance("I", "s", "n", 2),
        "rig.pipes.m.ends": Provenance("D", line=3),
        "rig.supply": Provenance(source="whole", line=4),
        "rig.stages": Provenance(line=5),
    }
    refused("p: {value: 1, tga: V}", "no key 'tga'", "did you mean tag?", line=1, key="rig.p.tga")
    refused("p: {value: 1, tag: Q}", "no tag 'Q'", "V, D, I, A", line=1, key="rig.p.tag")
    refused("p: {value: 1, source: 7}", "expected text", line=1, key="rig.p.source")
    refused("p: {tag: V, source: x}", "got a mapping", line=1, key="rig.p")


# ---- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, words, line, key",
    [
        (
            "p: 1\npipes:\n- name: m\n  lenght: 2",
            ("no key 'lenght'", "did you mean length?", "known: name, length"),
            4,
            "rig.pipes.m.lenght",
        ),
        ("p: 1\nP: 2", ("no key 'P'", "did you mean p?"), 2, "rig.P"),
        ("{p: 1, 5 mm}", ("no key '5 mm'", "a decimal point, as in 1.5 mm"), 1, "rig.5 mm"),
        ("p: 1\nzzz: 2", ("no key 'zzz'", "choose from those known: p, pipes"), 2, "rig.zzz"),
        (
            "mode: open",
            ("p or depth is missing: supply pressure", "add 'p: …', a quantity in Pa"),
            1,
            "rig",
        ),
        ("p: 1\npipes:\n- name: m\n", ("length is missing",), 3, "rig.pipes.m"),
        (
            "p: 80 mm",
            ("a pressure was expected, in Pa (like 185 bar); got a length: 80 mm",),
            1,
            "rig.p",
        ),
        (
            "p: 1\nspare: {name: s, length: 80 bar}",
            ("a length was expected", "got a pressure"),
            2,
            "rig.spare.length",
        ),
        ("p: lots", ("got 'lots'",), 1, "rig.p"),
        ("p: true", ("got True",), 1, "rig.p"),
        ("p: [1]", ("expected a quantity in Pa, got a list",), 1, "rig.p"),
        ("p: -2 bar", ("supply pressure must be greater than zero, got -2 bar",), 1, "rig.p"),
        (
            "p: 1\nspare: {name: s, length: 1, bore: 1 mm}",
            ("must be between 0.002 and 0.2",),
            2,
            "rig.spare.bore",
        ),
        (
            "p: 1\nspare: {name: s, length: 1, ends: [1,\n 2 kg]}",
            ("got a mass",),
            3,
            "rig.spare.ends.1",
        ),
        (
            "p: 1\nspare: {name: s, length: 1, ends: 3}",
            ("expected a list, each a quantity in m, got the number 3",),
            2,
            "rig.spare.ends",
        ),
        (
            "p: 1\nspare:\n  name: s\n  length: 10 mm\n  bore: 12 mm",
            ("0.012 m is not less than the length",),
            5,
            "rig.spare.bore",
        ),
        (
            "p: 1\nspare:\n  name: s\n  length: 10 mm",
            ("0.012 m is not less than the length",),
            2,
            "rig.spare.bore",
        ),
        ("p: 1\nmode: opne", ("expected one of open, closed", "did you mean open?"), 2, "rig.mode"),
        ("p: 1\nstages: 2.5", ("a whole number",), 2, "rig.stages"),
        ("p: 1\nstages: true", ("a whole number",), 2, "rig.stages"),
        ("p: 1\nwarm: yes", ("true or false, got the text 'yes'",), 2, "rig.warm"),
        ("p: 1\ntitle: 12", ("expected text, got the number 12", "quotes"), 2, "rig.title"),
        ("p: 1\npressures: [[1], 2]", ("got the number 2",), 2, "rig.pressures.1"),
        ("p: 1\ngains: {x: 0}", ("gain must be greater than zero",), 2, "rig.gains.x"),
        ("[1]", ("got a list",), 1, "rig"),
        ("word", ("no rig 'word'",), 1, "rig"),
    ],
)
def test_refusals_name_their_place(text, words, line, key):
    refused(text, *words, line=line, key=key)


def test_fixed_lengths():
    pair = tuple[Annotated[float, Unit("Pa")], int]
    assert build(pair, parse("[2 bar, 3]")) == (2e5, 3)
    refused("[1]", "a list of 2, got 1", line=1, key="rig", declared=pair)


def test_unions_by_name_by_keys_or_bare():
    assert (
        rig("p: 1\nsupply: {law: Pump, Q: 2}").supply
        == rig("p: 1\nsupply: {Q: 2}").supply
        == Pump(2.0)
    )
    assert rig("p: 1\nsupply: Idle").supply == Idle()
    assert rig("p: 1\nsupply: {kind: Accumulator}").supply == Accumulator()
    refused(
        "p: 1\nsupply: {}",
        "does not say which",
        "add a line 'type: Pump'",
        line=2,
        key="rig.supply",
    )
    refused(
        "p: 1\nsupply: {presure: 2}",
        "no key 'presure'",
        "Q, ω, V",
        line=2,
        key="rig.supply.presure",
    )
    refused(
        "p: 1\nsupply:\n  type: Pmup\n  Q: 1",
        "no type 'Pmup'",
        "did you mean Pump?",
        line=3,
        key="rig.supply.type",
    )
    refused(
        "p: 1\nsupply: {type: Pump, law: Pump}",
        "both say which one it is",
        line=2,
        key="rig.supply",
    )
    refused("p: 1\nsupply: Pump", "Q is missing", line=2, key="rig.supply")
    refused("p: 1\nsupply: {type: [1]}", "no type", line=2, key="rig.supply.type")
    refused("p: 1\nsupply: {type: Pump, Q: 1, V: 2}", "no key 'V'", line=2, key="rig.supply.V")


def test_scalars_of_several_kinds():
    either = Annotated[float | str | None, Unit("s")]
    assert [build(either, parse(t)) for t in ("5 ms", "3", "auto", "[]")[:3]] == [
        0.005,
        3.0,
        "auto",
    ]
    assert build(int | tuple[int, ...], parse("[1, 2]")) == (1, 2)
    assert isinstance(build(Node, parse("a: 1")), Node)


def test_greek_keys_may_be_spelled_out():
    assert rig("p: 1\nsupply: {Q: 1, ω: 3}") == rig("p: 1\nsupply: {Q: 1, omega: 3}")
    refused("p: 1\nsupply: {Q: 1, ω: 3, omega: 3}", "given already", line=2, key="rig.supply.omega")
    for key, word in {
        "λ_x": "lambda_x",
        "σ_0": "sigma_0",
        "Δp": "Delta_p",
        "p_a": "p_a",
        "Ω": "Omega",
    }.items():
        assert shape.spelled(key) == word


# ---- shorthands ----------------------------------------------------------------------------------------


def test_shorthands_see_the_other_fields():
    found = {}
    assert rig("depth: {value: 3 m, tag: V, source: gauge}\nstages: 5", found).p == pytest.approx(
        9806.65 * 15
    )
    assert (
        found["rig.p"] == Provenance("D", "gauge", "from depth", 1)
        and found["rig.depth"].tag == "V"
    )
    assert rig("depth: 3").p == pytest.approx(9806.65 * 6)
    refused("p: 1\ndepth: 3", "p is given by depth already", line=1, key="rig.p")
    refused("depth: -3", "water column must be greater than zero", line=1, key="rig.depth")


def test_a_frame_turned_about_z():
    φ = math.radians(37)
    frame = build(Frame, parse("r: [10 cm, 0, -2 mm]\nabout_z: 37 deg"))
    assert frame.r == (0.1, 0.0, -0.002)
    assert frame.R == pytest.approx(
        (math.cos(φ), -math.sin(φ), 0, math.sin(φ), math.cos(φ), 0, 0, 0, 1), abs=1e-15
    )
    refused(
        "about_z: 1\nR: [1, 0, 0, 0, 1, 0, 0, 0, 1]",
        "R is given by about_z",
        line=2,
        key="rig.R",
        declared=Frame,
    )
    refused(
        "r: [1, 2, 3]\nR: [1, 0, 0, 0, 1, 0, 0, 0, 2]",
        "not a rotation matrix",
        line=2,
        key="rig.R",
        declared=Frame,
    )


def test_a_valve_by_its_rating():
    text = "nominal: {flow: 40 l/min, drop: 35 bar, ratios: [1, 0.5, 2, 1]}\nu_max: 8 V\ndead_band: 0.5 V"
    # Fully open, the notch from the supply to a passes its rating; width 0: the plain root.
    valve = build(Valve, parse(text + "\nwidth: 0"))
    Q_a, Q_b = valve.flows(8.0, 100e5, 35e5, 135e5, 0.0)
    assert Q_a == pytest.approx(40e-3 / 60) and Q_b == pytest.approx(-40e-3 / 60)
    assert (valve.c_n1, valve.c_p2) == pytest.approx((valve.c_p1 / 2, valve.c_p1 * 2))
    refused(
        "nominal: {flow: 1, drop: 1}\nu_max: 1 V\ndead_band: 2 V",
        "must be positive",
        line=1,
        key="rig.nominal",
        declared=Valve,
    )
    refused("nominal: {flow: 1}", "drop is missing", line=1, key="rig.nominal", declared=Valve)
    refused(
        "nominal: {flow: 1, drop: 1, ratios: [1]}",
        "expected four",
        line=1,
        key="rig.nominal.ratios",
        declared=Valve,
    )


def test_every_shorthand_gives_fields_of_its_class():
    for cls in (Frame, Valve, Rig):
        for short in cls.shorthand:
            assert set(short.gives) <= {f.name for f in fields(cls)} and short.key not in {
                f.name for f in fields(cls)
            }


def test_friction_laws_by_name():
    assert build(Friction, parse("{law: CoulombViscous, F_c: 4 kN}")) == CoulombViscous(F_c=4000.0)
    assert build(Friction, parse("Frictionless")) == Frictionless()
    assert build(Friction, parse("{law: Stribeck, v_s: 20 mm/s}")) == Stribeck(v_s=0.02)


# ---- a shipped machine ---------------------------------------------------------------------------------


def test_the_shipped_crane():
    found = {}
    node = read(HIAB).value["plant"]
    crane = build(Manipulator, node, "plant", found)
    paths = {f"plant.{leaf.path}" for leaf in leaves(crane)}
    assert crane.p_s == 185e5 and crane.structures[1].prismatic.cylinder.bore == 0.05
    assert all(p.tag for p in found.values())
    written = [
        at for at in found if ".nominal." not in at and not at.endswith((".about_z", ".pose"))
    ]
    assert [at for at in written if at not in paths and at + ".0" not in paths] == []
    assert found["plant.structures.lift.revolute.cylinder.bore"].line == next(
        i for i, row in enumerate(HIAB.read_text().splitlines(), 1) if "bore:" in row
    )


def test_a_slip_in_the_shipped_crane():
    text = HIAB.read_text()
    for old, new, words in (
        ("rod: {value: 45 mm", "rod: {value: 95 mm", "not thinner than the bore"),
        ("bore: {value: 80 mm", "bore: {value: 80 bar", "a length was expected"),
        ("law: CoulombViscous", "law: CoulombViscose", "did you mean CoulombViscous"),
        ("mass: {value: 25", "mass: {value: -25", "must be zero or greater"),
    ):
        line = text[: text.index(old)].count("\n") + 1
        with pytest.raises(InputError, match=words) as caught:
            build(Manipulator, parse(text.replace(old, new, 1), "hiab").value["plant"], "plant")
        assert (caught.value.file, caught.value.line) == ("hiab", line)
        assert "structures.lift.revolute" in caught.value.key


def test_bodies_and_ratings_check_themselves():
    refused(
        "mass: 2 t\ninertia: [1, 1, 9, 0, 0, 0]",
        "belong to no body",
        line=2,
        key="rig.inertia",
        declared=Body,
    )
    refused(
        "flow: 40 l/min\ndrop: 0 bar",
        "must be greater than zero",
        line=2,
        key="rig.drop",
        declared=Nominal,
    )
