"""The case file that `workbench tune` writes: the given file with the gains that were found; it is verified as written."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from workbench.cases import shape
from workbench.cases.controller import ALIKE
from workbench.cases.file import loads
from workbench.cases.form import law_form
from workbench.commands import terminal
from workbench.contract.errors import InputError
from workbench.contract.parameters import described
from workbench.contract.system import innermost
from workbench.files.atomic import check_writable, write_atomic
from workbench.verification.verdict import Verdict


def check_output(options: Any, case: Any) -> None:
    """Refuse, before long work, a file that cannot be written or would overwrite the case."""
    if not options.write:
        return
    check_writable(options.write)
    if os.path.realpath(options.write) == os.path.realpath(case.path):
        raise InputError(
            "--write would overwrite the case file",
            file=options.write,
            mend="give it a name of its own",
        )


def written(case: Any, law: Any, found: Sequence[str]) -> str:
    """The case file with the fields `found` of a law in it and without `tuning:`, comments kept; read back to see that it is so."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 10_000
    data = yaml.load(case.text)
    section = data.get("controller")
    if not isinstance(section, dict):
        section = data["controller"] = CommentedMap({"law": section or type(law).__name__})
    place = list(section).index("tuning") if "tuning" in section else len(section)
    section.pop("tuning", None)
    units = units_of(law)
    form = law_form(type(law))
    for k, name in enumerate(found):
        called = ALIKE.get(name, name)
        own = next((k for k in section if shape.canonical(form, ALIKE.get(k, k)) == called), called)
        value = _yaml(getattr(law, name), units.get(name, "1"))
        if own in section:
            section[own] = value
        else:
            section.insert(min(place + k, len(section)), own, value)
    stream = io.StringIO()
    yaml.dump(data, stream)
    text = stream.getvalue()
    _check_read_back(case, text, law, found)
    return text


def _check_read_back(case: Any, text: str, law: Any, found: Sequence[str]) -> None:
    new = innermost(loads(text, case.path).controller)
    if any(getattr(new, name) != getattr(law, name) for name in found):
        raise InputError(
            "the file with the gains in it would not mean the same",
            file=case.path,
            mend="write the gains by hand, or simplify the controller section",
        )


def units_of(law: Any) -> dict[str, str]:
    """Field → unit of a law's numbers."""
    return {name: info.unit for name, info in described(law).items() if info is not None}


def _yaml(value: Any, unit: str) -> Any:
    if isinstance(value, tuple):
        each = [_yaml(v, unit) for v in value]
        return each[0] if len(each) == 1 else each
    if isinstance(value, int):
        return value
    return float(value) if unit == "1" or value == 0 else f"{float(value)!r} {unit}"


def verified(options: Any, text: str) -> tuple[int, list[Verdict]]:
    """(exit code, verdicts) of the verification of a written file, by its own claims."""
    from workbench.verification.judge import examine
    from workbench.verification.verdict import exit_code

    case = loads(text, options.write)
    with terminal.progress(not options.quiet) as tell, case.located():
        verdicts = examine(case.loop, case.scenario, case.claims, tell).verdicts
    return exit_code(verdicts), verdicts


def write(options: Any, text: str) -> None:
    """Write the file, and say so."""
    write_atomic(options.write, lambda stream: stream.write(text.encode()))
    if not options.quiet:
        terminal.say(terminal.clean(f"written: {options.write}"))


def say_verified(options: Any, code: int, verdicts: Sequence[Verdict], mend: str) -> None:
    """What does not hold of a written file, and the tally."""
    if options.quiet:
        return
    failed = [v for v in verdicts if v.counted and not v.holds]
    if code:
        terminal.say(terminal.table(failed, terminal.columns(), terminal.coloured()))
    terminal.say(terminal.tally(verdicts, (), code))
    if code:
        terminal.complain(
            f"{options.write} does not pass its own verification: {', '.join(v.key for v in failed)}\n"
            f"  mend: {mend}"
        )
