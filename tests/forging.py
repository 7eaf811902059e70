"""Exported code changed by somebody who makes everything beside it fit: what the tests of planted faults share."""

import hashlib
import json
import re
import shutil
from dataclasses import replace

import numpy as np

from workbench.interop.export.again import read_run
from workbench.interop.export.building import built
from workbench.interop.export.library import replayed
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import manifest_digest, table


def planted(folder, to, name, change):
    """A copy with a changed file; the manifest says that it was written so."""
    copy = shutil.copytree(folder, to / "law")
    before = (copy / name).read_text()
    after = change(before)
    assert after != before
    rewritten(copy, name, after)
    return copy


def rewritten(folder, name, text):
    """The file with this text; its hash in the manifest, where it has one, is that of the text."""
    (folder / name).write_text(text)
    data = json.loads((folder / "law.json").read_text())
    if name in data["sha256"]:
        data["sha256"][name] = hashlib.sha256(text.encode()).hexdigest()
        (folder / "law.json").write_text(json.dumps(data))


def forged(folder, to, change):
    """A copy with a changed source, in which hashes, digest and run fit what the changed code does."""
    was = read_manifest(folder)
    source = f"{was['name']}.c"
    copy = planted(folder, to, source, change)
    digest = digest_in(copy, was)
    for name in (source, f"{was['name']}.h"):
        rewritten(copy, name, (copy / name).read_text().replace(was["digest"], digest))
    text = (copy / "law.json").read_text().replace(was["digest"], digest)
    (copy / "law.json").write_text(text)
    data = read_manifest(copy)
    rows = read_run(
        copy / "run.csv", *(len(data[k]) for k in ("measured", "references", "commands"))
    )
    _, commands = replayed(built(copy, data, ("-O0",)), rows, np.array(data["initial"]))
    rewritten(copy, "run.csv", table(replace(rows, commands=commands)))
    return copy


def digest_in(folder, data):
    """The digest that the numbers in a folder's code have; the code itself says still the old one."""
    library = built(folder, data, ("-O0",))
    return manifest_digest(data, library.parameters, library.constants, library.initial)


def of_step(change):
    """A change of the step alone, not of what goes before it."""

    def changed(code):
        head, name, step = re.split(r"(void \w+_step\()", code, maxsplit=1)
        return head + name + change(step)

    return changed


def in_step(pattern, instead):
    """A change of the first place in the step that fits."""
    return of_step(lambda step: re.sub(pattern, instead, step, count=1))


def exchanged(one, other):
    """Two inputs of the step in each other's place."""
    words = {one: other, other: one}
    return of_step(lambda step: re.sub(r"(?<=in->)\w+", lambda m: words.get(m[0], m[0]), step))


def constant(value, other):
    """The first of the constants that is this, another one."""
    pattern = r"(default_constants = \{\{[^;]*?(?<![\w.]))" + re.escape(value) + r"(?=[,}])"
    return lambda code: re.sub(pattern, rf"\g<1>{other}", code, count=1)
