"""Files come in as plain data with places, or not at all."""

import contextlib
import os
import random
import subprocess
import sys

import pytest

from workbench.cases.node import Node
from workbench.cases.yaml_events import MAX_ALIASES, MAX_DEPTH, MAX_NODES
from workbench.cases.yaml_input import MAX_BYTES, parse, read
from workbench.contract.errors import InputError


def refused(text, *words, line=None, key=None):
    """The InputError that `parse` raises, checked for its words, line and key."""
    with pytest.raises(InputError) as caught:
        parse(text, "plant.yaml")
    error = caught.value
    for word in words:
        assert word in str(error), f"{word!r} is not in: {error}"
    assert error.file == "plant.yaml" and error.mend
    assert line is None or error.line == line, str(error)
    assert key is None or error.key == key, str(error)
    return error


@contextlib.contextmanager
def nobody():
    """Without the rights of root, who may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


# ---- what is data --------------------------------------------------------------------------------


def test_plain_yaml_1_2_with_decimal_numbers():
    tree = parse(
        "a: 1e-3\nb: 5e6\nc: [-.5, +7, 010, 1., 12]\nd: {x: true, y: null, z: ~, w: }\n"
        "e: [yes, on, 0x1F, 1_000, 80 mm, '5', 'true', nan]\nλ: |\n  text\n"
    )
    assert tree.plain() == {
        "a": 0.001,
        "b": 5e6,
        "c": [-0.5, 7, 10, 1.0, 12],
        "d": {"x": True, "y": None, "z": None, "w": None},
        "e": ["yes", "on", "0x1F", "1_000", "80 mm", "5", "true", "nan"],
        "λ": "text\n",
    }
    assert [type(n.value) for n in tree.value["c"].value] == [float, int, int, float, int]


def test_every_value_knows_its_place():
    tree = parse(
        "# a plant\nlift:\n  bore: 80 mm\n  valves:\n    - 3\n    - {x: 4,\n       y: 5}\n",
        "f.yaml",
    )
    lift = tree.value["lift"]
    assert (lift.line, lift.value["bore"].line, lift.value["bore"].column) == (2, 3, 9)
    first, second = lift.value["valves"].value
    assert (first.line, first.column, second.line, second.value["y"].line) == (5, 7, 6, 7)
    assert (
        str(first.error("too small", key="x", mend="more"))
        == "f.yaml, line 5, x: too small\n  mend: more"
    )


def test_a_few_aliases_are_followed():
    x = {"b": [1, 2]}
    assert parse("a: &x {b: [1, 2]}\nc: *x\nd: [*x]").plain() == {"a": x, "c": x, "d": [x]}


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "f.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert read(tmp_path / "f.yaml").plain() == {"a": 1, "b": 2}


# ---- what is not ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['echo x']",
        "!!python/name:os.system",
        "!foo 1",
        "!!str 1",
        "! 1",
        "!!binary aGk=",
        "!!set {b}",
    ],
)
def test_tags_are_refused(text):
    refused(f"a: 1\nb: {text}\n", "tag", "is not allowed", line=2, key="b")


def test_a_tag_of_a_key_and_a_declared_tag_are_refused():
    refused("!!str a: 1", line=1)
    refused("%TAG !e! tag:example.org,2020:\n---\n!e!x {a: 1}", "tag", line=3)


def test_billion_laughs():
    bomb = (
        "a0: &a0 ["
        + "lol, " * 9
        + "lol]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 3)}]\n" for i in range(1, 11))
    )
    refused(bomb, f"more than {MAX_NODES} values")
    refused(
        "a: &a 1\nb: [" + "*a, " * (MAX_ALIASES + 1) + "]",
        f"more than {MAX_ALIASES} aliases",
        line=2,
    )
    assert len(parse("a: &a 1\nb: [" + "*a, " * MAX_ALIASES + "]").value["b"].value) == MAX_ALIASES


def test_aliases_do_not_hide_depth():
    rows = ["a0: &a0 " + "[" * 38 + "]" * 38]
    rows += [f"a{i}: &a{i} " + "[" * 38 + f"*a{i - 1}" + "]" * 38 for i in range(1, 30)]
    refused("\n".join(rows), f"nested deeper than {MAX_DEPTH}", line=2)


def test_an_alias_into_itself_or_into_nothing():
    refused("a: &a [1, *a]", "names nothing finished above", line=1)
    refused("a: *b", "names nothing finished above", line=1, key="a")


def test_duplicate_keys():
    refused(
        "lift:\n  bore: 1\n  rod: 2\n  bore: 3\n",
        "'bore' appears twice",
        "line 2",
        line=4,
        key="lift.bore",
    )


def test_depth_and_count():
    assert parse("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH)
    refused("[" * (MAX_DEPTH + 1) + "1" + "]" * (MAX_DEPTH + 1), f"deeper than {MAX_DEPTH}")
    refused("[" * 400_000, f"deeper than {MAX_DEPTH}")
    refused(
        "".join("  " * i + "a:\n" for i in range(MAX_DEPTH + 2)) + "  " * 50 + "b: 1",
        f"deeper than {MAX_DEPTH}",
    )
    assert len(parse("- 1\n" * (MAX_NODES - 1)).value) == MAX_NODES - 1
    refused("- 1\n" * MAX_NODES, f"more than {MAX_NODES} values", line=MAX_NODES)


@pytest.mark.parametrize(
    "text", [".nan", ".NaN", ".inf", "-.inf", "+.INF", "1e999", "-1e400", "9" * 400]
)
def test_numbers_are_finite(text):
    refused(f"b:\n  c: {text}", line=2, key="b.c")


@pytest.mark.parametrize(
    "text",
    ["1: a", "true: a", "null: a", "1.5: a", "? [a]\n: b", "? {a: b}\n: c", "'': a", "? \n: a"],
)
def test_keys_are_words(text):
    refused(text, "key", line=1)


def test_merge_keys_and_several_documents():
    refused("a: &a {x: 1}\nb:\n  <<: *a", "merge keys", line=3)
    refused("a: 1\n---\nb: 2", "second document", line=2)
    refused("a: 1\n...\nb: 2", "second document", line=3)


@pytest.mark.parametrize(
    "text, line, mend",
    [
        ("a:\n\tb: 1", 2, "spaces, not tabs"),
        ("a:\n  b: 1\n \tc: 2", 3, "spaces, not tabs"),
        ("a: b: c", 1, "quote text"),
        ("a: [1, 2", None, "bracket"),
        ("a: 'x\nb: 1", None, "close the quote"),
        ("a:\n  b: 1\n c: 2", 3, "line this entry up"),
        ("a: @x", 1, "quotes"),
    ],
)
def test_grammar_slips_get_their_mend(text, line, mend):
    refused(text, "not YAML", mend, line=line)


@pytest.mark.parametrize("text", ["", "  \n\n", "# only a remark\n", "---\n", "null", "~"])
def test_nothing_in_the_file(text):
    refused(text)


# ---- files ---------------------------------------------------------------------------------------


def test_no_such_file(tmp_path):
    (tmp_path / "plant.yaml").write_text("a: 1")
    with pytest.raises(InputError, match="there is no such file\n.*did you mean plant.yaml"):
        read(tmp_path / "plnat.yaml")
    for path in (
        tmp_path / "plant.yaml" / "x.yaml",
        tmp_path / "none" / "x.yaml",
        "a\0b.yaml",
        "x" * 5000,
        "",
    ):
        with pytest.raises(InputError):
            read(path)


def test_directory_device_and_pipe(tmp_path):
    with pytest.raises(InputError, match="this is a directory"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(InputError, match="a device or a pipe"):
            read(path)


def test_unreadable(tmp_path):
    path = tmp_path / "plant.yaml"
    path.write_text("a: 1")
    path.chmod(0)
    with nobody(), pytest.raises(InputError, match="may not be read"):
        read(path)


def test_not_utf_8(tmp_path):
    path = tmp_path / "plant.yaml"
    path.write_bytes("a: 1\nname: Öl\n".encode("latin-1"))
    with pytest.raises(InputError, match="0xd6 is not UTF-8") as caught:
        read(path)
    assert caught.value.line == 2 and caught.value.file == str(path)


def test_a_gigabyte_is_never_opened(tmp_path, monkeypatch):
    path = tmp_path / "plant.yaml"
    path.touch()
    os.truncate(path, 2**30)
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(InputError, match=r"1.07e\+03 MB; expected at most 1 MB"):
        read(path)


def test_the_size_limit_is_where_it_says(tmp_path):
    path = tmp_path / "plant.yaml"
    path.write_text("a: 1 #" + "x" * (MAX_BYTES - 6))
    assert read(path).plain() == {"a": 1}
    path.write_text("a: 1 #" + "x" * (MAX_BYTES - 5))
    with pytest.raises(InputError, match="at most 1 MB"):
        read(path)


GOOD = """\
plant:
  name: crane  # a remark
  p_s: {value: 185 bar, tag: V, source: "P1"}
  r: [0.1, -2e-3, 80 mm]
  base: &b {r: [1, 2], about_z: 45 deg}
  tip: *b
  note: >-
    folded
    text
"""


def test_whatever_the_bytes_only_input_errors(tmp_path):
    path, rng, kept = tmp_path / "f.yaml", random.Random(7), 0
    pieces = [
        b"&",
        b"*b",
        b"!",
        b"!!x",
        b"<<",
        b"? ",
        b": ",
        b"- ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\t",
        b"\n",
        b"'",
        b'"',
        b"|",
        b">",
        b"%",
        b"@",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"---\n",
        b"...",
        b".nan",
        b"1e999",
        b"\\U99999999",
        b"\r",
        b"\xe2\x80\xa8",
        b"#",
        b",",
        b"\x85",
        b"~",
        b"0x",
        b"9" * 30,
    ]
    for trial in range(600):
        data = bytearray(rng.randbytes(rng.randrange(80)) if trial % 4 == 0 else GOOD.encode())
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.randrange(4)] = rng.choice(pieces)
        path.write_bytes(data)
        try:
            assert isinstance(read(path), Node)
            kept += 1
        except InputError as error:
            assert error.file == str(path) and error.mend and error.message
    assert 20 < kept < 400  # the trials reach both sides


def test_reading_and_units_load_no_library_until_needed():
    code = (
        "import sys, workbench.cases.build, workbench.cases.schema\n"
        "from workbench.contract.units import quantity\n"
        "quantity('185 bar', 'Pa')\n"
        "print([m for m in ('ruamel.yaml', 'pint', 'numpy', 'casadi') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


# ---- places in messages -------------------------------------------------------------------------
SERVO = """plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [6 mm], frequency: 1 Hz}
  duration: 1 s
claims:
"""
DRAWN = "{of: always (tool_error < 1 mm), over: {K: {uniform: [112, 118]}}"


@pytest.mark.parametrize(
    "claim, key",
    [
        (f"  probability: {DRAWN}, confidence: 5 %}}\n", "claims.probability.confidence"),
        (f"  probability: {DRAWN}, at_most: 1e-7}}\n", "claims.probability.at_most"),
        ("  falsify: {over: {path: [-1 mm, 1 mm]}, speed: 1 mm/s}\n", "claims.falsify.speed"),
        ("  sector: {low: 2, high: 0.5}\n", "claims.sector.high"),
    ],
)
def test_a_key_is_said_once_with_its_whole_path(claim, key):
    from workbench.cases.file import loads

    with pytest.raises(InputError) as caught:
        loads(SERVO + claim, "case.yaml")
    error, name = caught.value, key.rpartition(".")[2]
    assert (error.key, error.line) == (key, 7)
    assert f"{name}: " in str(error) and f"{name}: {name}:" not in str(error)


def test_a_message_that_names_something_else_keeps_its_name():
    assert (
        str(InputError("over: K has no width", key="claims.K")) == "claims.K: over: K has no width"
    )
    assert str(InputError("speed: it is too low", key="speed")) == "speed: it is too low"
    assert str(InputError("speed: it is too low")) == "speed: it is too low"
