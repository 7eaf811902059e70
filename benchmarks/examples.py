"""Every shipped example by its command, and the exit code that the comment at its head states.

    python benchmarks/examples.py [NAME ...]

Cases are verified, plans planned, sweeps swept into a folder that is thrown away. Ends with 1 where an example says another code.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, machine_in_words

VERBS = {"\ncrane:": "plan", "\ncase:": "sweep", "\nplan:": "sweep"}


def stated(text: str) -> int:
    """The exit code that the head of a file names."""
    head = re.match(r"(?:#.*\n)*", text)[0]
    return int(re.search(r"Expected: exit ([0-3])\b", head)[1])


def command(path: Path, text: str, folder: str) -> list[str]:
    """The workbench's arguments for this file."""
    verb = next((verb for key, verb in VERBS.items() if key in text), "verify")
    written = ["--out", str(Path(folder) / "out.nc")] if verb == "sweep" else []
    return [verb, str(path), *written]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="examples, without .yaml (default: all)")
    wanted = parser.parse_args().names
    call = "import sys; from workbench.commands.cli import {}; sys.exit({}())"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    wrong = 0
    print(machine_in_words())
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        if wanted and path.stem not in wanted:
            continue
        text = path.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            verb, *rest = command(path, text, folder)
            own = (
                call.format(*["verify_stability"] * 2)
                if verb == "verify"
                else call.format(*["main"] * 2)
            )
            arguments = rest if verb == "verify" else [verb, *rest]
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", own, *arguments],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        right = done.returncode == stated(text)
        wrong += not right
        print(
            f"{path.stem:24}  exit {done.returncode}, stated {stated(text)}  {time.perf_counter() - begin:7.1f} s  "
            f"{'' if right else 'DIFFERS'}".rstrip(),
            flush=True,
        )
        if not right:
            print(done.stdout[-2000:] + done.stderr[-500:])
    print(machine_in_words())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
