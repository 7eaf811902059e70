"""What becomes of one case, as plain data; the same in this process, in another, and on another machine."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.source_text import source_text
from workbench.run.log import plain

_ONE = threading.Lock()  # a worker with several threads runs one case at a time: linear algebra and tracing are not all thread-safe


@dataclass(frozen=True)
class Outcome:
    """results: (name, value, unit) each; value a number, text or None.  error: why there are none.  kept: worth remembering."""

    results: tuple = ()
    error: str = ""
    kept: bool = True


def outcome(study: Callable[[Mapping[str, Any]], Mapping], point: Mapping[str, Any]) -> Outcome:
    """`study(point)`; whatever it raises becomes the error of its row."""
    try:
        with _ONE, warnings.catch_warnings():
            # a diverging run overflows; its verdict says so.
            warnings.simplefilter("ignore", RuntimeWarning)
            return Outcome(
                tuple(_result(name, value) for name, value in dict(study(dict(point))).items())
            )
    except InputError as why:
        return Outcome(error=str(why))
    except MemoryError:
        return Outcome(error="MemoryError: there is not enough memory for this", kept=False)
    except Exception as why:
        return Outcome(error=re.sub(r" at 0x[0-9a-f]+", "", f"{type(why).__name__}: {why}"))


def outcomes(study: Any, points: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """`outcome` of every point, of a study that makes several at once (`study.beside`); what it cannot make so runs alone."""
    with _ONE, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            found = study.several([dict(point) for point in points])
        except Exception:  # told by the runs alone, in their own words
            found = [None] * len(points)
    return [
        outcome(study, point) if one is None else outcome(lambda _, one=one: one, point)
        for point, one in zip(points, found)
    ]


def _result(name: str, value: Any) -> tuple[str, Any, str]:
    number, unit = value if isinstance(value, tuple) and len(value) == 2 else (value, "")
    number = plain(number, str(name))
    if isinstance(number, (list, dict)):
        raise InputError(
            f"the study's {name} is a {type(number).__name__}; expected a number or text",
            mend="return its entries one by one, each under its own name",
        )
    return str(name), number, str(unit)


def digest(study: Callable, point: Mapping[str, Any]) -> str:
    """Hash of everything a case's result depends on: `study.content(point)` where it has one, else its code and the point."""
    content = study.content(point) if hasattr(study, "content") else [identity(study), dict(point)]
    text = json.dumps(plain(content, "case"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def identity(study: Callable) -> list:
    """Name and text of a function, with what was bound to it; class and fields of an object."""
    if isinstance(study, functools.partial):
        return [identity(study.func), repr(study.args), repr(sorted(study.keywords.items()))]
    named = study if inspect.isroutine(study) else type(study)
    own = "" if named is study else re.sub(r" at 0x[0-9a-f]+", "", repr(study))
    bound = [repr(c.cell_contents) for c in getattr(study, "__closure__", None) or ()]
    return [
        f"{named.__module__}.{named.__qualname__}",
        source_text(named),
        own,
        [re.sub(r" at 0x[0-9a-f]+", "", b) for b in bound],
    ]
