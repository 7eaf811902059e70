"""Faults planted in exported code whose hashes are made to fit: each is refused before the code is any loop's law."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from exported import exported_axis
from forging import planted, rewritten

from workbench import InputError
from workbench.interop.export.building import built
from workbench.interop.export.checking import against_run, like_the_run
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import Replay


@pytest.fixture(scope="module")
def axis(tmp_path_factory):
    """(folder of the exported law, its run)."""
    _, graph, run = exported_axis("0.1 s")
    return export_law(tmp_path_factory.mktemp("faults") / "law", graph, run), run


def commanded(scale):
    """The command times this, in the source."""
    return lambda text: re.sub(r"(  u->\w+ = )([^;]+);", rf"\g<1>{scale} * (\2);", text)


def hidden(text):
    """A counter that no memory of the caller holds, added to the command."""
    step = text.index("void law_step(")
    head, body = text[:step], text[step:]
    body = re.sub(r"(  u->\w+ = )([^;]+);", r"\1\2 + (++calls > 101 ? 1e-5 : 0.0);", body)
    return head + "static long calls;\n" + body


def swapped(text):
    """Position and its reference in each other's place."""
    step = text.index("void law_step(")
    here, there = re.findall(r"in->(\w+)", text[step:])[:2]
    words = {here: there, there: here}
    return text[:step] + re.sub(r"(?<=in->)\w+", lambda m: words.get(m[0], m[0]), text[step:])


FAULTS = {
    "sign": ("law.c", commanded("-1.0"), "does not do what the verified law did"),
    "gain": ("law.c", commanded("1.001"), "does not do what the verified law did"),
    "unit": ("law.c", commanded("1000.0"), "does not do what the verified law did"),
    "swapped inputs": ("law.c", swapped, "does not do what the verified law did"),
    "memory that outlives a start": ("law.c", hidden, "memory of its own"),
    "not a number": ("law.c", commanded("(0.0 / 0.0)"), "is not a number"),
    "begun elsewhere": (
        "law.c",
        lambda text: re.sub(r"(initial_memory = \{)[^,}]+", r"\g<1>0.25", text),
        "numbers in the library are not those",
    ),
    "inputs of the header": (
        "law.h",
        lambda text: re.sub(
            r"(  double )(\w+)(;.*\n  double )(\w+)(;.*\n)(?=(?:  .*\n)*\} law_inputs)",
            r"\1\4\3\2\5",
            text,
            count=1,
        ),
        "law_inputs has other members, or in another order",
    ),
    "sample time of the header": (
        "law.h",
        lambda text: re.sub(r"(SAMPLE_TIME) \S+", r"\1 2e-3", text),
        "samples of 0.002 s",
    ),
    "sample time of the manifest": (
        "law.json",
        lambda text: re.sub(r'("sample_time"): [^,]+', r"\1: 0.002", text),
        "samples of 0.001 s",
    ),
    "unit of a signal": (
        "law.json",
        lambda text: text.replace('"unit": "m"', '"unit": "mm"', 1),
        "has other signals",
    ),
    "the run that it is held against": (
        "run.csv",
        lambda text: "\n".join(text.splitlines()[:1]) + "\n1 2\n",
        "numbers each",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_refused(axis, tmp_path, fault):
    name, change, words = FAULTS[fault]
    with pytest.raises(InputError, match=words):
        Compiled(planted(axis[0], tmp_path, name, change))


def as_if_by(folder, to, **changes):
    """A copy whose manifest has these entries; None takes one out."""
    copy = Path(shutil.copytree(folder, to / "law"))
    data = {**json.loads((copy / "law.json").read_text()), **changes}
    kept = {key: value for key, value in data.items() if value is not None}
    (copy / "law.json").write_text(json.dumps(kept))
    return copy


def with_digest(folder, to, **changes):
    """A copy whose digest is another one, in code and manifest alike."""
    copy = as_if_by(folder, to, digest="0" * 32, **changes)
    for name in ("law.h", "law.c"):
        text = (copy / name).read_text().replace(read_manifest(folder)["digest"], "0" * 32)
        rewritten(copy, name, text)
    return copy


def test_a_law_of_an_older_version_is_refused_as_such(axis, tmp_path):
    """Its digest was worked out otherwise: that is no word on its numbers."""
    form = {"format": "fluidproof exported law 1", "version": None}
    older = {
        "another version of the workbench": as_if_by(axis[0], tmp_path / "form", **form),
        "version 0.0.9 of fluidproof": with_digest(axis[0], tmp_path / "digest", version="0.0.9"),
    }
    for words, folder in older.items():
        with pytest.raises(InputError, match=words) as caught:
            Compiled(folder)
        assert "digest" not in caught.value.message
    with pytest.raises(InputError, match="digest .*, not 0000"):
        Compiled(with_digest(axis[0], tmp_path / "same"))


def test_a_folder_without_its_run_is_refused(axis, tmp_path):
    """Whoever takes the run away, and its hash, has nothing that the code is held against."""
    copy = shutil.copytree(axis[0], tmp_path / "law")
    (copy / "run.csv").unlink()
    data = json.loads((copy / "law.json").read_text())
    del data["sha256"]["run.csv"]
    (copy / "law.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="no run.csv"):
        Compiled(copy)


@pytest.mark.parametrize(
    "units, small, factor, well",
    [
        (("V", "V"), 0.5, 1.0, True),
        (("V", "V"), 0.5, -1.0, False),
        (("V", "V"), 0.009, 1.0, None),
        (("V", "V"), 0.009, 0.0, None),
        (("kN", "V"), 0.009, 1.0, True),
        (("kN", "V"), 0.009, 0.0, False),
        (("kN", "V"), 0.0, 1.0, None),
    ],
)
def test_a_small_command_is_not_hidden_behind_a_large_one(units, small, factor, well):
    """Two commands of a law with floats: the second is right, turned or dropped, and as large as told."""
    wave = np.sin(np.arange(50.0))
    commands = np.stack([wave, small * wave], axis=1)
    run = Replay(np.arange(50.0), *[np.empty((50, 0))] * 3, commands)
    signals = [{"name": name, "unit": unit} for name, unit in zip("ab", units)]
    found = like_the_run("replay", commands * [1.0, factor], run, 1e-2, signals)
    assert found.well is well and (well is not None or found.words.startswith("b:"))
    exact = like_the_run("replay", commands * [1.0, factor], run, 0.0, signals)
    right = factor == 1.0
    assert exact.well is (None if right and small == 0.0 else right)


def test_what_is_sound_is_taken_and_a_digest_tells_another_law(axis):
    law = Compiled(axis[0])
    assert against_run(law, axis[1]).well and Compiled(axis[0], law.digest).T_s == 1e-3


def test_the_check_of_an_export_starts_twice(axis, tmp_path):
    """A library whose first run is right, and its second is not, fails the check."""
    folder = planted(axis[0], tmp_path, "law.c", hidden)
    library = built(folder, read_manifest(folder))
    law = Compiled(axis[0])
    vars(law)["library"] = library
    found = against_run(law, axis[1])
    assert found.well is False and "memory of its own" in found.words
