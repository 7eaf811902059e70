"""A ros2_control controller package around an exported law: the C files as they are, and a node that gives them their signals."""

from __future__ import annotations

import math
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf
from workbench.contract.system import Signal
from workbench.interop.export.identifiers import identifier
from workbench.interop.export.laws import Graph, text_of
from workbench.interop.export.package import export_law, free, law_digest
from workbench.interop.export.replay import Replay

TEMPLATES = Path(__file__).with_name("ros2")
FILES = {
    "controller.hpp": "include/{pkg}/controller.hpp",
    "signals.hpp": "include/{pkg}/signals.hpp",
    "controller.cpp": "src/controller.cpp",
    "plugins.cpp": "src/plugins.cpp",
    "CMakeLists.txt": "CMakeLists.txt",
    "package.xml": "package.xml",
    "controller.xml": "controller.xml",
    "controllers.yaml": "config/controllers.yaml",
    "README.md": "README.md",
}
KINDS = {  # unit → interface of ros2_control
    "m": "position",
    "rad": "position",
    "m/s": "velocity",
    "rad/s": "velocity",
    "m/s^2": "acceleration",
    "rad/s^2": "acceleration",
    "Pa": "pressure",
    "N": "effort",
    "N m": "effort",
    "V": "voltage",
    "A": "current",
}
UNBOUNDED = (-math.inf, math.inf)


def export_ros2(
    folder: str | os.PathLike,
    graph: Graph,
    run: Replay,
    *,
    limits: Mapping[str, tuple[float, float]],
    title: str = "",
    **options: Any,
) -> Path:
    """Write a controller package to `folder`, which must not be there yet; all of it or nothing. Its name is the folder's.

    limits: command → (lowest, highest) on the machine. options: those of `export_law`, which writes the folder's `law`.

    Raises InputError for a name that ROS does not take, for a law that is applied between samples, and as `export_law` does.
    """
    free(folder)
    folder = Path(folder)
    pkg = package_name(folder)
    check_samples(graph)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{pkg}-", dir=folder.absolute().parent))
    except OSError as why:
        raise _refused(folder, why) from None
    try:
        export_law(beside / "law", graph, run, **options)
        single = bool(options.get("single"))
        text = text_of(
            graph,
            name=identifier(options.get("name", "law")),
            single=single,
            digest=law_digest(graph, single),
        )
        _write_files(beside, pkg, _words(text, pkg, title or pkg, limits))
        os.chmod(beside, 0o755)
        os.rename(beside, folder)
    except BaseException as why:
        with suppress(OSError):
            shutil.rmtree(beside)
        if isinstance(why, OSError):
            raise _refused(folder, why) from None
        raise
    return folder


def _write_files(folder: Path, pkg: str, words: Mapping[str, str]) -> None:
    """The package's files besides those of the law, their templates filled with these words."""
    for template, target in FILES.items():
        place = folder / target.format(pkg=pkg)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_filled(template, words), "utf-8")


def _refused(folder: Path, why: OSError) -> InputError:
    return InputError(
        f"the package cannot be written: {why.strerror}",
        file=str(folder),
        mend="choose another place",
    )


def check_samples(graph: Graph) -> None:
    """InputError for a law that is applied between samples."""
    if graph.controller.lag:
        raise InputError(
            "the law is applied between samples, and a ros2_control controller runs at samples alone",
            key="loop.delay",
            mend="give a delay of whole samples, or none",
        )


def package_name(folder: Path) -> str:
    """The folder's name, where ROS takes it: small letters, digits and single underscores, a letter first.

    Raises InputError.
    """
    name = folder.absolute().name
    if not re.fullmatch(r"[a-z](_?[a-z0-9])+", name):
        raise InputError(
            f"{name!r} is no name of a ROS package",
            file=str(folder),
            mend="use small letters, digits and single underscores, a letter first: boom_law",
        )
    return name


def _filled(template: str, words: Mapping[str, str]) -> str:
    """A template's text with the words in it; @word@ stands for one."""
    text = (TEMPLATES / f"{template}.in").read_text("utf-8")
    kept = (lambda m: escape(words[m[1]])) if template.endswith("xml") else lambda m: words[m[1]]
    return re.sub(rf"@({'|'.join(words)})@", kept, text)


def interface(signal: Signal) -> str:
    """The interface that a signal has by default: name/position, …, by its unit."""
    return f"{signal.name}/{KINDS.get(signal.unit, 'value')}"


def _words(text: Any, pkg: str, title: str, limits: Mapping[str, tuple[float, float]]) -> dict:
    graph = text.graph
    ranges = [limits.get(s.name, UNBOUNDED) for s in graph.commands]
    own = [_parameter(text, i) for i in own_parameters(graph)]
    period = float(graph.controller.period or 0.0)
    groups = {
        "measured": graph.measured,
        "references": graph.references,
        "commands": graph.commands,
    }
    words = {
        "pkg": pkg,
        "name": text.name,
        "NAME": text.name.upper(),
        "real": text.language.real,
        "title": " ".join(title.split()),
        "digest": text.digest,
        "sample_time": repr(period),
        "rate": f"{1 / period:.9g}",
        "n_parameters": str(len(own)),
        "parameters": _rows(own),
        "lowest": ", ".join(_number(low) for low, _ in ranges),
        "highest": ", ".join(_number(high) for _, high in ranges),
        "yaml": _yaml(text),
    }
    for key, signals in groups.items():
        words[f"n_{key}"] = str(len(signals))
        words[key] = _rows([f"{{{_quoted(s.name)}, {_quoted(interface(s))}}}" for s in signals])
        words[f"{key}_table"] = _table(signals)
    return words


def own_parameters(graph: Graph) -> list[int]:
    """Places of the law's own finite numbers: gains and limits, not what it believes of the machine."""
    return [i for i, leaf in enumerate(graph.parameters) if _is_set(leaf)]


def _is_set(leaf: Leaf) -> bool:
    """Whether a node may set this number: its sample time is not one."""
    path = leaf.path.split(".")
    return "model" not in path and path[-1] != "T_s" and math.isfinite(leaf.value)


def _parameter(text: Any, i: int) -> str:
    leaf = text.graph.parameters[i]
    bound = leaf.info.bound
    low, high = (bound.low, bound.high) if bound else UNBOUNDED
    said = _quoted(" ".join(f"{leaf.info.meaning} ({leaf.info.unit})".split()))
    word = _quoted(f"law.{text.words['parameters'][i]}")
    open_ends = "true" if bound and bound.strict else "false"
    return f"{{{word}, {said}, {i}, {_number(low)}, {_number(high)}, {open_ends}}}"


def _rows(entries: Sequence[str]) -> str:
    return "\n    " + ",\n    ".join(entries) if entries else ""


def _quoted(text: str) -> str:
    """The text as a string of C++."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")
    return f'"{" ".join(plain.split())}"'


def _number(value: float) -> str:
    if math.isinf(value):
        return "NONE" if value > 0 else "-NONE"
    return repr(float(value))


def _yaml(text: Any) -> str:
    """Parameters of the example, at their defaults."""
    graph = text.graph
    entries = {
        "state_interfaces": [interface(s) for s in graph.measured],
        "command_interfaces": [interface(s) for s in graph.commands],
        "reference_interfaces": [],
    }
    lines = [f"    {key}: {_listed(names)}" for key, names in entries.items()]
    lines += [
        f"    safe_commands: {[0.0] * len(graph.commands)}  # SI units",
        "    period_tolerance: 0.5",
        "    misses_allowed: 5",
        "    reference_timeout: 0.1  # s",
        "    unverified_parameters: false  # true: run it with other numbers than the verdicts are of",
    ]
    if own := own_parameters(graph):
        lines.append("    law:")
    for i in own:
        value = float(graph.parameters[i].value)
        lines.append(f"      {text.words['parameters'][i]}: {_yaml_number(value)}")
    return "\n".join(lines)


def _yaml_number(value: float) -> str:
    """Every digit; a number that YAML reads as one of floating point."""
    mantissa, exponent, power = repr(value).partition("e")
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{exponent}{power}"


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"[{quoted}]"


def _table(signals: Sequence[Signal]) -> str:
    rows = [
        f"| {s.name} | {s.unit} | {s.meaning.replace('|', '/')} | {interface(s)} |" for s in signals
    ]
    return "\n".join(
        ["| signal | unit | meaning | default interface |", "|---|---|---|---|", *rows]
    )
