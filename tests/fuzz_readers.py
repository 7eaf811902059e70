"""The readers that hostile input (`fuzzing`) is given to, and what counts as trouble.

A reader may return, or raise InputError. Everything else is trouble: another exception, too much time, too much memory.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from fuzzing import EXAMPLES, ROOT

from workbench.contract.errors import InputError


class Reached(Exception):
    """A command came as far as its work, which is not done here."""


def prepared(folder: Path) -> Path:
    """The folder with what inputs may name beside them."""
    for file in EXAMPLES.glob("*.yaml"):
        shutil.copy(file, folder / file.name)
    (folder / "case.yaml").write_text("plant: ieha-published-linear\n")
    (folder / "x.csv").write_text("".join(f"{0.1 * k:.3g},{0.01 * k},0.02\n" for k in range(30)))
    (folder / "table.csv").write_text(
        "time [s],X [mm],Y [bar]\n"
        + "".join(f"{0.01 * k:.4g},{k % 7},{k % 5}\n" for k in range(60))
    )
    shutil.copy(EXAMPLES / "sweep-crane.yaml", folder / "sweep.yaml")
    shutil.copy(EXAMPLES / "hiab-triangle-ls.yaml", folder / "plan.yaml")
    return folder


def read_case(data: bytes, folder: Path) -> Any:
    from workbench.cases.file import load

    (folder / "fuzzed.yaml").write_bytes(data)
    return load(folder / "fuzzed.yaml")


def run_case(data: bytes, folder: Path) -> None:
    """As `read_case`, and the first few steps of the run."""
    from dataclasses import replace

    from workbench.run.simulate import simulate

    case = read_case(data, folder)
    with case.located():
        step = float(case.loop.period or case.scenario.max_step)
        simulate(
            case.loop,
            replace(case.scenario, duration=min(case.scenario.length(), 3 * step)),
            compiled=False,
        )


def read_plan(data: bytes, folder: Path) -> None:
    from workbench.cases.file import plan_of
    from workbench.cases.yaml_input import read

    (folder / "fuzzed.yaml").write_bytes(data)
    plan_of(read(folder / "fuzzed.yaml"), str(folder / "fuzzed.yaml"))


def read_a_sweep(data: bytes, folder: Path) -> None:
    from workbench.sweep.form import read_sweep

    (folder / "fuzzed.yaml").write_bytes(data)
    read_sweep(folder / "fuzzed.yaml")


def read_reference(data: bytes, folder: Path) -> None:
    import numpy as np

    from workbench.run.spline import Spline

    (folder / "fuzzed.csv").write_bytes(data)
    path = Spline.from_csv(folder / "fuzzed.csv", "joint")
    path.sample(np.linspace(path.times[0] - 1, path.times[-1] + 1, 20), 3)


def read_a_table(data: bytes, folder: Path, name: str = "fuzzed.csv") -> None:
    from workbench.identification import read_table

    (folder / name).write_bytes(data)
    table = read_table(folder / name)
    if "X" in table.columns and "Y" in table.columns:
        table.record(["X"], ["Y"]).hints()


def read_log(data: bytes, folder: Path) -> None:
    from workbench.run.log import Log

    (folder / "fuzzed.nc").write_bytes(data)
    Log.load(folder / "fuzzed.nc")


def read_formula(data: bytes, folder: Path) -> None:
    import casadi as ca
    import numpy as np

    from workbench.verification.observed.expression import formula, used

    text = data.decode("utf-8", "replace")
    function = formula(text, ("x", "v"))
    used(text, ("x", "v"))
    with np.errstate(all="ignore"):
        for values in (
            (0.0, 0.0),
            (1e300, -1e300),
            (np.array([0.0, 1.0]), np.array([1.0, 0.0])),
            (ca.SX.sym("x"), ca.SX.sym("v")),
        ):
            function(values)


def read_unit(data: bytes, folder: Path) -> None:
    from workbench.contract.units import format_quantity, measured, quantity

    text = data.decode("utf-8", "replace")
    measured(text)
    for unit in ("m", "Pa", "rad/s", "1", "m/(s V)"):
        with contextlib.suppress(InputError):
            format_quantity(quantity(text, unit), unit)


def read_certificate(data: bytes, folder: Path) -> None:
    from workbench.verification.rigorous.recheck import main

    (folder / "fuzzed.json").write_bytes(data)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main([str(folder / "fuzzed.json")]) in (0, 1)


def read_journal(data: bytes, folder: Path) -> None:
    from workbench.sweep.journal import Journal
    from workbench.sweep.table import tabulated

    (folder / "t.nc.journal").write_bytes(data)
    with Journal(folder / "t.nc", resume=True) as journal:
        known = list(journal.known.values())
    if known:
        tabulated([{"a": 1.0}] * len(known), known, {}, {})


WORK = (
    "workbench.verification.judge.examine",
    "workbench.run.simulate.simulate",
    "workbench.commands.compare.compare",
    "workbench.identification.command.fit",
    "workbench.identification.command.compare",
    "workbench.planning.command.plan",
    "workbench.sweep.command.run_sweep",
    "controllers.pid_tuning.command.tune",
    "workbench.identification.friction_command.fit_friction",
)


def run_command(data: bytes, folder: Path) -> None:
    """The command line up to its work."""
    from workbench.commands import cli

    words = [str(word).replace("\0", "") for word in json.loads(data)]
    act = cli.verify_stability if words[:1] == ["verify"] else cli.main
    words = words[1:] if words[:1] == ["verify"] else words
    reached = mock.Mock(side_effect=Reached)
    here = os.getcwd()
    with contextlib.ExitStack() as stack:
        for name in WORK:
            with contextlib.suppress(AttributeError, ImportError):
                stack.enter_context(mock.patch(name, reached))
        stack.enter_context(mock.patch.dict(os.environ, {"FLUIDPROOF_DEBUG": "1"}))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        os.chdir(folder)
        try:
            act(words)
        except (SystemExit, Reached):
            pass
        finally:
            os.chdir(here)
            (folder / "o.yaml").unlink(missing_ok=True)


READERS: dict[str, Callable[[bytes, Path], Any]] = {
    "case": read_case,
    "run": run_case,
    "plan": read_plan,
    "sweep": read_a_sweep,
    "reference": read_reference,
    "table": read_a_table,
    "mat": lambda data, folder: read_a_table(data, folder, "fuzzed.mat"),
    "log": read_log,
    "formula": read_formula,
    "unit": read_unit,
    "certificate": read_certificate,
    "journal": read_journal,
    "command": run_command,
}


def attempt(target: str, data: bytes, folder: Path) -> str | None:
    """None where the reader takes the input or says what is wrong with it; else the trouble and its place, in one line."""
    try:
        READERS[target](data, folder)
    except InputError as why:
        if len(str(why)) > 8000:
            return f"a message of {len(str(why))} characters"
    except MemoryError:
        return "over memory at " + place_of()
    except Exception as why:
        return f"{type(why).__name__} at {place_of()}: {str(why)[:120]}".replace("\n", " ")
    return None


def place_of() -> str:
    """Where the exception that is being handled came from: the innermost line of ours."""
    import sys

    frames = traceback.extract_tb(sys.exc_info()[2])
    ours = [
        f
        for f in frames
        if f.filename.startswith(str(ROOT))
        and "/.venv/" not in f.filename
        and "fuzz" not in f.filename
    ]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).relative_to(ROOT) if ours else last.filename}:{last.lineno} {last.name}"
