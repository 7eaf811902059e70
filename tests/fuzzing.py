"""Hostile input for every reader: shipped examples changed by their grammar and byte by byte; the same seed gives the same inputs.

    for k in range(1000):
        target, data = hostile(seed, k)
        trouble = attempt(target, data, folder)     # of `fuzz_readers`: None where the reader says what is wrong,
            or takes it

`benchmarks/fuzz.py` runs thousands of them, `tests/test_fuzz.py` some hundred.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzz_words import CERTIFICATES, COMMANDS, FORMULAS, NUMBERS, PIECES, UNITS, WORDS, Raw

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PLANS = ("hiab-triangle-cp", "hiab-triangle-driven", "hiab-triangle-fastest", "hiab-triangle-ls")
SWEEPS = ("sweep-crane", "sweep-triangles")


def nested(depth: int, inner: Any = 1) -> Any:
    for k in range(depth):
        inner = [inner] if k % 2 else {"value": inner}
    return inner


STRUCTURES: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: [],
    lambda r: {},
    lambda r: [[]],
    lambda r: [None],
    lambda r: {"": 1},
    lambda r: [1],
    lambda r: True,
    lambda r: None,
    lambda r: nested(r.randrange(2, 60)),
    lambda r: [r.choice(NUMBERS) for _ in range(r.randrange(1, 8))],
    lambda r: [[r.choice(NUMBERS)] * r.randrange(1, 4)] * r.randrange(1, 4),
    lambda r: {"value": scalar(r), "tag": scalar(r)},
    lambda r: {r.choice(("type", "law", "kind")): scalar(r)},
    lambda r: {scalar(r) if r.random() < 0.5 else "name": scalar(r)},
    lambda r: {"from": scalar(r), "to": scalar(r), "count": r.choice(NUMBERS)},
    lambda r: [0.0] * r.randrange(1, 3000),
    lambda r: [scalar(r) for _ in range(r.randrange(1, 6))],
    lambda r: {f"k{i}": i for i in range(r.randrange(1, 200))},
)


def scalar(r: random.Random) -> Any:
    return r.choice(NUMBERS) if r.random() < 0.5 else r.choice(WORDS)


def nasty(r: random.Random) -> Any:
    return scalar(r) if r.random() < 0.7 else r.choice(STRUCTURES)(r)


# ---- trees -----------------------------------------------------------------------------------------------------------
@cache
def seeds(kind: str) -> tuple[Any, ...]:
    """Trees of the shipped examples of a kind: case, plan, sweep."""
    from ruamel.yaml import YAML

    names = {"plan": PLANS, "sweep": SWEEPS}.get(kind)
    files = (
        [EXAMPLES / f"{name}.yaml" for name in names]
        if names
        else [f for f in sorted(EXAMPLES.glob("*.yaml")) if f.stem not in PLANS + SWEEPS]
    )
    files += sorted((ROOT / "plants" / "parameters").glob("*.yaml")) if kind == "case" else []
    return tuple(
        _plain(YAML(typ="safe", pure=True).load(file.read_text("utf-8"))) for file in files
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def places(tree: Any, path: tuple = ()) -> list[tuple]:
    """Ways to every value of a tree."""
    inside = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [path, *(way for key, child in inside for way in places(child, (*path, key)))]


def at(tree: Any, path: tuple) -> Any:
    for key in path:
        tree = tree[key]
    return tree


@cache
def pool() -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """(keys, values) of all examples."""
    keys, values = {}, []
    for kind in ("case", "plan", "sweep"):
        for tree in seeds(kind):
            for path in places(tree)[1:]:
                values.append(at(tree, path))
                keys |= {path[-1]: None} if isinstance(path[-1], str) else {}
    return tuple(keys), tuple(values)


def changed(r: random.Random, tree: Any) -> Any:
    """A copy of the tree with one to four changes."""
    tree = json.loads(json.dumps(tree))
    for _ in range(r.choice((1, 1, 1, 2, 2, 3, 4))):
        ways = places(tree)[1:]
        if not ways:
            return nasty(r)
        path = r.choice(ways)
        parent, key = at(tree, path[:-1]), path[-1]
        keys, values = pool()
        act = r.randrange(9)
        if act <= 2:
            parent[key] = nasty(r)
        elif act == 3:
            del parent[key]
        elif act == 4:
            parent[key] = json.loads(json.dumps(r.choice(values)))
        elif act == 5 and isinstance(parent, dict):
            parent[r.choice(keys)] = parent.pop(key) if r.random() < 0.5 else nasty(r)
        elif act == 6:
            other = r.choice(ways)
            with contextlib.suppress(KeyError, IndexError, TypeError):
                parent[key] = json.loads(json.dumps(at(tree, other)))
        elif act == 7 and isinstance(parent[key], list):
            parent[key] = (parent[key] * r.choice((0, 2, 3, 50)))[:5000]
        else:
            parent[key] = _scaled(r, parent[key])
    return tree


def _scaled(r: random.Random, value: Any) -> Any:
    factor = 10.0 ** r.choice((-300, -30, -9, -3, -1, 1, 3, 6, 9, 30, 150, 300)) * r.choice((1, -1))
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return Raw(repr(value * factor)) if math.isfinite(value * factor) else Raw("1e308")
    if isinstance(value, str):
        number, _, unit = value.partition(" ")
        try:
            return f"{float(number) * factor:.6g} {unit}"
        except ValueError:
            return value + r.choice((" ", "x", "_1", "é"))
    return [value]


def written(tree: Any) -> str:
    """A tree as YAML in brackets."""
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{_key(k)}: {written(v)}" for k, v in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(written, tree)) + "]"
    return json.dumps(tree, ensure_ascii=True)


def _key(key: Any) -> str:
    return str(key) if isinstance(key, Raw) else json.dumps(str(key))


def sections(tree: Any) -> str:
    """A tree as YAML with a line for each section."""
    if not isinstance(tree, dict) or not tree:
        return written(tree)
    return "\n".join(f"{_key(key)}: {written(value)}" for key, value in tree.items()) + "\n"


# ---- bytes -----------------------------------------------------------------------------------------------------------
def damaged(r: random.Random, data: bytes) -> bytes:
    """The data with bits turned, pieces missing, doubled or exchanged."""
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 4, 8))):
        if not data:
            break
        i, j = sorted((r.randrange(len(data)), r.randrange(len(data))))
        act = r.randrange(8)
        if act == 0:
            data[i] ^= 1 << r.randrange(8)
        elif act == 1:
            data = data[:i]
        elif act == 2:
            del data[i : min(j, i + 40)]
        elif act == 3:
            data[i:i] = data[i : min(j, i + 60)] * r.choice((1, 2, 20))
        elif act == 4:
            data[i:i] = str(r.choice(NUMBERS)).encode()
        elif act == 5:
            data[i:i] = r.choice(WORDS).encode("utf-8", "replace")
        elif act == 6:
            data[i] = r.randrange(256)
        else:
            data[i:i] = r.choice(
                (
                    b"\n",
                    b"\t",
                    b"\r",
                    b"\0",
                    b"\xff",
                    b",",
                    b";",
                    b'"',
                    b"'",
                    b"[",
                    b"{",
                    b": ",
                    b"#",
                    b"-",
                    b" " * 50,
                )
            )
    return bytes(data[:200_000])


# ---- what each reader gets -------------------------------------------------------------------------------------------
def yaml_of(r: random.Random, kind: str) -> bytes:
    tree = r.choice(seeds(kind))
    text = sections(changed(r, tree)) if r.random() < 0.85 else sections(tree)
    data = text.encode("utf-8", "replace")
    return damaged(r, data) if r.random() < 0.15 else data


def table_of(r: random.Random) -> bytes:
    names = r.choice(
        (
            "time [s],X [mm],Y [bar]",
            "t,X,Y",
            "Zeit (s);X;Y [m]",
            "0,1,2",
            "time\tX\tY",
            "",
            "# c\nt,X,Y",
            "t,X,X",
        )
    )
    mark = ";" if ";" in names else "\t" if "\t" in names else ","
    rows = [
        [f"{0.01 * k:.4g}", f"{math.sin(k):.6g}", f"{math.cos(k):.6g}"]
        for k in range(r.choice((0, 1, 3, 20, 40)))
    ]
    for _ in range(r.randrange(4)):
        if rows:
            r.choice(rows)[r.randrange(3)] = str(scalar(r))
    data = "\n".join([names, *(mark.join(row) for row in rows)]).encode("utf-8", "replace")
    return damaged(r, data) if r.random() < 0.6 else data


@cache
def packed_seed(kind: str) -> bytes:
    """A small log, or MAT file."""
    import numpy as np
    from scipy.io import savemat

    from workbench.contract.system import Signal
    from workbench.run.log import Log, Status
    from workbench.run.log_file import _to_netcdf

    t = np.arange(40) * 0.01
    if kind == "mat":
        out = io.BytesIO()
        savemat(out, {"t": t, "X": np.sin(t), "Y": np.cos(t)})
        return out.getvalue()
    out = io.BytesIO()
    log = Log(
        t,
        np.column_stack([np.sin(t), t]),
        (Signal("X", "m"), Signal("Y", "Pa")),
        {"a": 1},
        Status(True, "", 1.0),
    )
    _to_netcdf(log, out)
    return out.getvalue()


def json_of(r: random.Random, tree: Any) -> bytes:
    data = written(changed(r, tree)).encode("utf-8", "replace")
    if r.random() < 0.1:
        data = data.replace(b"1", b"[" * r.choice((500, 50_000)), 1)
    return damaged(r, data) if r.random() < 0.2 else data


def journal_of(r: random.Random) -> bytes:
    from workbench.sweep.journal import HEAD

    line = {
        "key": "a",
        "results": [["x", 1.5, "m"], ["y", None, ""], ["z", "holds", ""]],
        "error": "",
    }
    lines = [HEAD.encode(), *(json_of(r, line) + b"\n" for _ in range(r.randrange(4)))]
    return damaged(r, b"".join(lines)) if r.random() < 0.4 else b"".join(lines)


def formula_of(r: random.Random) -> bytes:
    text = r.choice(FORMULAS)
    for _ in range(r.randrange(1, 6)):
        i = r.randrange(len(text) + 1)
        text = text[:i] + r.choice(PIECES) * r.choice((1, 1, 1, 2, 90)) + text[i + r.randrange(2) :]
    return text.encode("utf-8", "replace")


def unit_of(r: random.Random) -> bytes:
    text = f"{r.choice(('1', '-2.5', '1e300', '1e-300', '7e5', '', '9' * 60))} {r.choice(UNITS)}"
    for _ in range(r.randrange(4)):
        i = r.randrange(len(text) + 1)
        extra = r.choice(
            (
                "^",
                "/",
                "*",
                " ",
                "(",
                ")",
                "9",
                "-",
                "µ",
                "°",
                "·",
                "√",
                "²",
                "dB",
                "deg",
                "k",
                "l/min",
                "Hz",
                "1",
                ".",
                "e",
            )
        )
        text = text[:i] + extra + text[i + r.randrange(2) :]
    return text.encode("utf-8", "replace")


def command_of(r: random.Random) -> bytes:
    words = list(r.choice(COMMANDS))
    for _ in range(r.randrange(4)):
        i = r.randrange(len(words) + 1)
        act = r.randrange(4)
        if act == 0:
            words[i : i + 1] = [str(scalar(r))]
        elif act == 1:
            words[i:i] = [str(scalar(r))]
        elif act == 2:
            del words[i : i + 1]
        else:
            words[i:i] = [r.choice(r.choice(COMMANDS))]
    return json.dumps(words).encode()


MAKERS: dict[
    str, tuple[int, Callable[[random.Random], bytes]]
] = {  # target → (how often, its input)
    "case": (40, lambda r: yaml_of(r, "case")),
    "plan": (10, lambda r: yaml_of(r, "plan")),
    "sweep": (6, lambda r: yaml_of(r, "sweep")),
    "reference": (6, table_of),
    "table": (6, table_of),
    "formula": (8, formula_of),
    "unit": (8, unit_of),
    "command": (5, command_of),
    "certificate": (5, lambda r: json_of(r, r.choice(CERTIFICATES))),
    "journal": (4, journal_of),
    "log": (1, lambda r: damaged(r, packed_seed("log"))),
    "mat": (1, lambda r: damaged(r, packed_seed("mat"))),
    "run": (0, lambda r: yaml_of(r, "case")),
}


def hostile(seed: int, k: int, only: str = "") -> tuple[str, bytes]:
    """(target, input) number k of a seed."""
    r = random.Random(struct.pack("qq", seed, k))
    target = only or r.choices(list(MAKERS), [weight for weight, _ in MAKERS.values()])[0]
    return target, MAKERS[target][1](r)
