"""The schema and `build` agree: what builds is valid, and nearly everything that is refused is invalid."""

import copy
import json
import random
from dataclasses import dataclass
from typing import Annotated, get_args

import jsonschema
from rig import FULL, HIAB, Rig

from plants.components.friction import Friction
from plants.crane.manipulator import Manipulator
from plants.shipped import PLANTS
from workbench.cases.build import build
from workbench.cases.file import laws
from workbench.cases.file_schema import case_schema
from workbench.cases.meanings import ALIKE, meaning
from workbench.cases.node import Node
from workbench.cases.schema import json_schema, written
from workbench.cases.yaml_input import parse, read
from workbench.contract.errors import InputError
from workbench.verification.claims import Claim

WORDS = [
    None,
    True,
    0,
    -1,
    2.5,
    1e300,
    "",
    "x",
    "3 bar",
    "80 mm",
    "Idle",
    "Pump",
    [],
    {},
    [1],
    {"value": 1},
    {"value": {"value": 2}, "tag": "V"},
    {"type": "Pump"},
    {"name": "m", "length": 1},
    {"main": {"length": 3}},
    [[1, 2]],
]
KEYS = [
    "p",
    "pipes",
    "supply",
    "mode",
    "name",
    "length",
    "Q",
    "ω",
    "omega",
    "depth",
    "value",
    "tag",
    "type",
    "law",
    "zz",
    "ends",
]


def mutated(tree, rng):
    """A copy of plain data with one value, entry or key changed somewhere."""
    tree = copy.deepcopy(tree)
    places = []

    def walk(item):
        for k in (
            list(item)
            if isinstance(item, dict)
            else range(len(item))
            if isinstance(item, list)
            else ()
        ):
            places.append((item, k))
            walk(item[k])

    walk(tree)
    for _ in range(rng.randrange(1, 3)):
        item, k = rng.choice(places)
        action = rng.randrange(4)
        if action == 0 and isinstance(item, dict):
            item.pop(k, None)
        elif action == 1 and isinstance(item, dict):
            item[rng.choice(KEYS)] = copy.deepcopy(rng.choice(WORDS))
        elif isinstance(item, dict) or k < len(item):
            item[k] = copy.deepcopy(rng.choice(WORDS))
    return tree


def as_node(value):
    if isinstance(value, dict):
        return Node({k: as_node(v) for k, v in value.items()}, 1)
    return Node([as_node(v) for v in value] if isinstance(value, list) else value, 1)


def test_mutations_raise_input_errors_only_and_the_schema_agrees():
    """What builds is valid by the schema; most of what does not is not (units and cross-checks are the program's)."""
    schema = json_schema(Rig, "rig")
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    rng, seeds = (
        random.Random(11),
        [parse(FULL).plain(), {"depth": 2, "supply": {"V": 1}}, {"p": 1, "supply": "Idle"}],
    )
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for _ in range(1500):
        tree = mutated(rng.choice(seeds), rng)
        try:
            build(Rig, as_node(tree), "rig")
            built = True
        except InputError as error:
            assert error.mend and error.message
            built = False
        counts[built, valid(tree)] += 1
    assert counts[True, False] == 0
    assert (
        counts[True, True] > 200
        and counts[False, False] > 500
        and counts[False, True] < counts[False, False] / 5
    )


def test_schema_of_the_shipped_crane():
    schema = json_schema(Manipulator)
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    plant = read(HIAB).value["plant"].plain()
    assert valid(plant) and json.loads(json.dumps(schema)) == schema and "$id" not in schema
    for change in (
        {"p_s": -1},
        {"p_s": "lots"},
        {"ps": 1},
        {"oil": {"beta": 1e9, "β": 1e9}},
        {"base": {"about_z": 1, "R": []}},
        {"structures": [{"name": "lift"}]},
        {"type": "Crane"},
    ):
        assert not valid(plant | change), change
    assert valid(plant | {"oil": {"beta": "1.2 GPa"}, "type": "Manipulator"})


def plain(defs, key):
    """What may stand at a key, without tag and source."""
    either = defs[key["$ref"].rsplit("/")[-1]]["anyOf"]
    return either[0]["anyOf"]


def test_every_key_of_a_case_file_is_described_in_little_room():
    schema = case_schema(PLANTS, laws(), Claim)
    defs = schema["$defs"]
    values = {
        (name, key): value
        for name, definition in defs.items()
        for key, value in definition.get("properties", {}).items()
        if name != "tagged" and "/properties/" not in str(value)
    }
    shared = {
        place: defs.get(value.get("$ref", "").rsplit("/")[-1]) for place, value in values.items()
    }
    assert not [
        place
        for place, value in values.items()
        if "description" not in value and "description" not in (shared[place] or {})
    ]
    assert ("Identity", "counted") in values and len(values) > 700
    assert sum("description" in (found or {}) for found in shared.values()) > 150
    text = written(schema)
    assert json.loads(text) == json.loads(json.dumps(schema))
    assert len(text.encode()) <= 150_000


def test_a_meaning_is_said_once_by_the_annotation_or_the_docstring():
    @dataclass(frozen=True)
    class Oven:
        """An oven that bakes.

        heat     watts it takes,
                 at most
        door, lid  how it is shut. inner: a second door; outer: the first.

        It is hot. grill: whether it has one.
        """

        heat: float = 1.0
        door: str = ""
        lid: str = ""
        inner: str = ""
        outer: str = ""
        grill: bool = False
        depth: Annotated[float, "how deep"] = 0.0
        name: str = ""

    assert {
        key: meaning(Oven, key) for key in ("heat", "lid", "inner", "outer", "grill", "depth")
    } == {
        "heat": "watts it takes, at most",
        "lid": "how it is shut",
        "inner": "a second door",
        "outer": "the first",
        "grill": "whether it has one",
        "depth": "how deep",
    }
    assert meaning(Oven, "name") == ALIKE["name"]


def test_schema_helps_while_typing():
    defs = json_schema(Manipulator)["$defs"]
    bore = defs["Cylinder"]["properties"]["bore"]
    assert bore["description"] == "piston diameter, in m, > 0"
    assert {"type": "number", "exclusiveMinimum": 0.0, "exclusiveMaximum": 15.0} in plain(
        defs, bore
    )
    assert {"$ref": "#/$defs/quantity"} in plain(defs, bore)
    assert defs["Valve"]["properties"]["lag"]["default"] == "ideal"
    assert {"enum": ["ideal", "first", "second"]} in plain(defs, defs["Valve"]["properties"]["lag"])
    friction = defs[defs["Cylinder"]["properties"]["friction"]["$ref"].rpartition("/")[2]]
    assert friction["properties"]["type"]["enum"] == [law.__name__ for law in get_args(Friction)]
    assert defs["Frame"]["additionalProperties"] is False
    assert "instead of R" in defs["Frame"]["properties"]["about_z"]["description"]
