"""The controller section of a case file whose law is compiled code: `controller: {law: Compiled, library: boom-law}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.cases import form
from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.contract.errors import InputError
from workbench.contract.trust import trusted

# What a loop section may put around a law → the class of it, by which an export says that its code has it.
AROUND = {
    "filter": "Filtered",
    "quantise": "Quantised",
    "noise": "Noisy",
    "limit": "Saturated",
    "delay": "Delayed",
}


def is_compiled(node: Node | None) -> bool:
    """Whether a controller section names the law Compiled."""
    inside = node.value if node is not None else None
    if isinstance(inside, dict):
        word = next((inside[key].value for key in ("law", "type", "kind") if key in inside), None)
        return word == form.Compiled.__name__
    return inside == form.Compiled.__name__


def read_compiled(node: Node, loop: Node | None, folder: Path) -> Any:
    """The exported law that the section names, held against the loop section.

    folder: of the case file, from which the library is looked for.

    Raises InputError for code that is not trusted, a library that is none or of another version, another sample time, and what
    the code does already.
    """
    from workbench.interop.export.compiled import Compiled

    spec = build(form.Compiled, node, "controller")
    place = node.value["library"]
    with located(place, "controller.library"):
        trusted(spec.library, "a compiled law", "controller.library")
    with located(node, "controller"):
        law = _opened(Compiled, folder / spec.library, spec.digest)
    inside = loop.value if loop is not None and isinstance(loop.value, dict) else {}
    _check_sample_time(law, inside.get("sample_time"), loop)
    for key, name in AROUND.items():
        if key in inside and name in law.manifest["wrappers"]:
            raise inside[key].error(
                f"the code of {spec.library} has this in it already ({name})",
                key=f"loop.{key}",
                mend=f"leave {key} out, or export the law without it",
            )
    return law


def _opened(cls: type, path: Path, digest: str) -> Any:
    """The law; a refusal that names no key is one of the library."""
    try:
        return cls(path, digest)
    except InputError as why:
        if why.message.startswith("digest:"):
            raise
        raise InputError(
            f"library: {why.file}: {why.message}" if why.file else f"library: {why.message}",
            mend=why.mend,
        ) from None


def _check_sample_time(law: Any, given: Node | None, loop: Node | None) -> None:
    """InputError where the loop has another sample time than the code was exported for."""
    if given is None or given.value is None:
        return
    wanted = build(form.Loop, loop, "loop").sample_time
    if wanted != law.T_s:
        said = wanted if isinstance(wanted, str) else f"{wanted * 1e3:g} ms"
        raise given.error(
            f"the code was exported for a sample time of {law.T_s * 1e3:g} ms, this is {said}",
            key="loop.sample_time",
            mend="leave sample_time out, or export the law for this one",
        )
