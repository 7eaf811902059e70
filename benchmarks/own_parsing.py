"""Why command line and case files are parsed by our own code: start-up time, and what a wrong file is told.

    python benchmarks/own_parsing.py [PYTHON]

PYTHON: an interpreter that has typer and pydantic; by default this one. Processor times are the least of seven fresh processes,
less those of one that imports nothing. Each is asked for the same: a verb with options, a class with a bound.
"""

import resource
import subprocess
import sys

SAME = {
    "argparse, as here": "from workbench.commands.parser import _parser; p = _parser('x', 'y'); p.add_argument('--report')",
    "whole grammar of workbench": "from workbench.commands.cli import ACTS, workbench_parser; workbench_parser(ACTS)",
    "typer": "import typer; app = typer.Typer(); app.command()(lambda report='': None); typer.main.get_command(app)",
    "a machine's classes alone": "from plants.components.valve import Valve",
    "the same with our reader": "from plants.components.valve import Valve; from workbench.cases.build import build",
    "pydantic": "from pydantic import BaseModel, Field\nclass Valve(BaseModel):\n    frequency: float = Field(gt=0)",
}
PYDANTIC = """
from typing import Literal
from pydantic import BaseModel, ConfigDict, Field, ValidationError
class Valve(BaseModel):
    model_config = ConfigDict(extra='forbid')
    frequency: float = Field(30.0, gt=0)
    lag: Literal['ideal', 'first', 'second'] = 'second'
try:
    Valve(frequenzy='30 Hz', lag='secund')
except ValidationError as why:
    print(why)
"""
OURS = """
from workbench.cases.file import loads
try:
    loads('plant:\\n  machine: hiab-xs031\\n  change:\\n    lift.valve.frequenzy: 30 Hz\\n', 'crane.yaml')
except ValueError as why:
    print(why)
"""


def seconds(python: str, code: str) -> float | None:
    """Least processor time of seven processes; None where the code fails."""
    times = []
    for _ in range(7):
        begin = _used()
        done = subprocess.run([python, "-c", code], capture_output=True, check=False)
        times.append(_used() - begin)
        if done.returncode:
            return None
    return min(times)


def _used() -> float:
    """Processor time of all processes that have ended, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(python: str, code: str) -> str:
    """What the code prints."""
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout


def main(other: str) -> None:
    """Print times, then the two refusals."""
    for name, code in SAME.items():
        python = other if name in ("typer", "pydantic") else sys.executable
        nothing, all_of_it = seconds(python, ""), seconds(python, code)
        shown = "not installed" if all_of_it is None else f"{1e3 * (all_of_it - nothing):.0f} ms"
        print(f"{name:32} {shown}")
    print("\nA misspelt key, by pydantic:\n" + told(other, PYDANTIC))
    print("The same in a case file, as here:\n" + told(sys.executable, OURS))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
