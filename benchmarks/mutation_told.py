"""What the tests did with each change, kept in lines of JSON, and what share of the changes they killed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mutants import PATHS
from ruamel.yaml import YAML

EQUIVALENT = Path(__file__).with_name("mutation_equivalent.yaml")
KILLED = ("killed", "timeout")
LEFT = ("survived", "no test", "broken")
TITLES = "tried equivalent nearest wider left killed_by_nearest killed".split()


@dataclass(frozen=True)
class Result:
    """What the tests did with a change: killed, survived, or timeout (which counts as killed).

    `stage` is 1 where the nearest tests said so, 2 where it took the wider set.
    """

    key: str
    file: str
    line: int
    outcome: str
    seconds: float
    before: str
    after: str
    tests: int
    suspect: str
    stage: int = 1


def equivalents() -> dict[str, str]:
    """Why a change makes no difference, by its key."""
    groups = YAML(typ="safe").load(EQUIVALENT.read_text("utf-8")) or []
    return {key: group["why"] for group in groups for key in group["changes"]}


def read_results(path: str | None) -> dict[str, Result]:
    """The last result of each change."""
    if not path or not Path(path).exists():
        return {}
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    return {row["key"]: Result(**row) for row in rows}


def summary(found: list[Result]) -> None:
    """Survivors, and of what is not equivalent the share that is killed, by folder."""
    known = equivalents()
    counted = [r for r in found if r.key not in known]
    for result in counted:
        if result.outcome in LEFT:
            _tell(result)
    print("\nfolder  " + "  ".join(TITLES))
    for folder in (*PATHS, ""):
        inside = [r for r in counted if r.file.startswith(folder)]
        equivalent = sum(r.file.startswith(folder) for r in found) - len(inside)
        print(_row(folder or "all", inside, equivalent), flush=True)


def _tell(result: Result) -> None:
    note = f"   ({result.suspect})" if result.suspect else ""
    print(f"\n{result.outcome.upper()} {result.file}:{result.line}{note}")
    print(f"  - {result.before}\n  + {result.after}")


def _row(folder: str, counted: list[Result], equivalent: int) -> str:
    stages = Counter(r.stage for r in counted if r.outcome in KILLED)
    nearest = stages[1]
    killed = stages.total()
    n = len(counted)
    numbers = (n + equivalent, equivalent, nearest, killed - nearest, n - killed)
    return "  ".join([folder, *map(str, numbers), share(nearest, n), share(killed, n)])


def share(k: int, n: int) -> str:
    """k of n in percent, with the 95 % interval of Clopper and Pearson, as if each change were drawn by itself."""
    if not n:
        return "-"
    from workbench.verification.probability import binomial  # late: Numba reads its switch first

    low, high = binomial.lower(k, n, 0.025), binomial.upper(k, n, 0.025)
    return f"{100 * k / n:.1f} % ({100 * low:.0f} to {100 * high:.0f})"
