"""The list of planted faults and sound loops against the verifier: no fault may end in "holds".

    python benchmarks/faults.py                          # all of tests/faults, one process
    python benchmarks/faults.py --family gains --faults
    python benchmarks/faults.py --only 'leak*' --verbose
    python benchmarks/faults.py --sample 60 --seed 3
    python benchmarks/faults.py --json out.json          # goes on where out.json stops; remove it to begin anew
    python benchmarks/faults.py --evidence               # is every fault one? runs that are longer or start elsewhere, no claims

The table has one line a family: faults that are refused (exit 1, or 3 where the file is not accepted), undecided (exit 2), WRONG
YES (exit 0), and how many of the refused ones name their cause in a counted verdict; sound loops that hold, are undecided, are
violated. The exit code is 1 if a fault ends in "holds" or the workbench itself fails, else 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Most of what is compiled runs for seconds only.
os.environ.setdefault("FLUIDPROOF_OPTIMISE", "-Og")
os.environ.setdefault("FLUIDPROOF_OPTIMISE_LONG", "-O0")

from faults_worker import Worker, wait  # noqa: E402

from tests.faults.entries import FAMILIES, Entry, entries, make  # noqa: E402
from tests.faults.judging import FAULT, HOLDS, KILLED, UNDECIDED, VIOLATED, Outcome, digest  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    chosen = select(entries(), options)
    if options.list:
        for entry in chosen:
            print(
                f"{entry.family:10} {'sound' if entry.sound else 'fault'}  {entry.name}: {entry.why}"
            )
        return 0
    if options.evidence:
        return show_evidence(chosen)
    begun = perf_counter()
    found = run(chosen, options)
    print_table(found)
    print_lists(found)
    print(
        f"{len(found)} loops, median {median(o.seconds for o in found):.2f} s, {perf_counter() - begun:.0f} s in all"
    )
    bad = [o for o in found if o.wrong_yes or o.exit == FAULT]
    return 1 if bad else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--family", action="append", choices=FAMILIES, help="only this family; may be repeated"
    )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="only entries of this name, * and ? allowed"
    )
    parser.add_argument("--sound", action="store_true", help="only sound loops")
    parser.add_argument("--faults", action="store_true", help="only faults")
    parser.add_argument("--quick", action="store_true", help="only those that the tests draw from")
    parser.add_argument("--sample", type=int, metavar="N", help="that many, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--json", metavar="FILE", help="write the outcomes there, one by one, and go on from it"
    )
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    parser.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="most processor time for one entry"
    )
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="check that faults are faults, and sound loops sound",
    )
    parser.add_argument("--list", action="store_true", help="print names and reasons")
    parser.add_argument("--verbose", action="store_true", help="print what is said of every entry")
    return parser


def select(everything: Iterable[Entry], options) -> list[Entry]:
    """The entries that the options ask for."""
    chosen = [e for e in everything if not options.family or e.family in options.family]
    if options.only:
        chosen = [e for e in chosen if any(fnmatch(e.name, pattern) for pattern in options.only)]
    if options.sound != options.faults:
        chosen = [e for e in chosen if e.sound == options.sound]
    if options.quick:
        chosen = [e for e in chosen if e.quick]
    if options.sample and options.sample < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    return chosen


# ---- running ----------------------------------------------------------------------------------------------------------
def run(chosen: list[Entry], options) -> list[Outcome]:
    """Outcomes in the order of the entries; those a file has already are not computed again."""
    known = _known(options.json)
    found = {
        e.name: known[e.name]
        for e in chosen
        if e.name in known and known[e.name].digest == digest(e)
    }
    left = [e for e in chosen if e.name not in found]
    workers = [Worker() for _ in range(options.processes)]
    waiting = list(reversed(left))
    try:
        while waiting or any(w.busy for w in workers):
            for worker in workers:
                if not worker.busy and waiting:
                    worker.give(waiting.pop())
            wait(workers)
            for worker in workers:
                outcome = worker.take(options.limit)
                if outcome is not None:
                    found[outcome.name] = outcome
                    _tell(outcome, len(found), len(chosen), options.verbose)
                    _keep(options.json, outcome)
    finally:
        for worker in workers:
            worker.stop()
    return [found[e.name] for e in chosen]


def _known(path: str | None) -> dict[str, Outcome]:
    if path is None or not Path(path).exists():
        return {}
    lines = Path(path).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {
        row["name"]: Outcome(
            **{**row, "text": tuple(row["text"]), "holding": tuple(row["holding"])}
        )
        for row in rows
    }


def _keep(path: str | None, outcome: Outcome) -> None:
    if path is None:
        return
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")


def _tell(outcome: Outcome, done: int, total: int, verbose: bool) -> None:
    said = outcome.text or outcome.holding
    mark = "WRONG YES " if outcome.wrong_yes else ""
    line = f"{done}/{total} {outcome.family} {outcome.name}: {mark}exit {outcome.exit}, {outcome.seconds:.1f} s"
    print(line, file=sys.stderr, flush=True)
    if verbose:
        for part in said:
            print("      " + part[:400], file=sys.stderr, flush=True)


# ---- what is printed --------------------------------------------------------------------------------------------------
def print_table(found: list[Outcome]) -> None:
    """One line a family."""
    head = (
        "family",
        "faults",
        "refused",
        "undecided",
        "WRONG YES",
        "cause named",
        "sound",
        "hold",
        "undecided",
        "violated",
        "s",
    )
    rows = [head]
    for family in (*FAMILIES, "all"):
        own = [o for o in found if family in (o.family, "all")]
        if own:
            rows.append((family, *_counts(own)))
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(head))]
    for first, *rest in rows:
        print(
            "  ".join(
                [
                    str(first).ljust(widths[0]),
                    *(str(cell).rjust(width) for cell, width in zip(rest, widths[1:])),
                ]
            )
        )


def _counts(own: list[Outcome]) -> tuple:
    faults = [o for o in own if not o.sound]
    sound = [o for o in own if o.sound]
    asked = [o for o in faults if o.named is not None]
    named = f"{sum(o.named for o in asked)}/{len(asked)}"
    refused = sum(o.refused for o in faults)
    undecided = sum(o.exit == UNDECIDED for o in faults)
    other = [sum(o.exit == code for o in sound) for code in (HOLDS, UNDECIDED)]
    violated = len(sound) - sum(other)
    return (
        len(faults),
        refused,
        undecided,
        sum(o.wrong_yes for o in faults),
        named,
        len(sound),
        *other,
        violated,
        f"{sum(o.seconds for o in own):.0f}",
    )


def print_lists(found: list[Outcome]) -> None:
    """Every wrong yes, every sound loop that does not hold, every failure of the workbench, every cause that is not named."""
    lists = (
        ("WRONG YES", [o for o in found if o.wrong_yes]),
        ("sound, violated", [o for o in found if o.sound and o.exit not in (HOLDS, UNDECIDED)]),
        ("sound, undecided", [o for o in found if o.sound and o.exit == UNDECIDED]),
        (
            "fault of the workbench, or killed",
            [o for o in found if not o.sound and o.exit in (FAULT, KILLED)],
        ),
        ("cause not named", [o for o in found if o.exit == VIOLATED and o.named is False]),
    )
    for title, some in lists:
        if some:
            print(f"\n{title}: {len(some)}")
        for outcome in some:
            print(f"  {outcome.family}: {outcome.name}")
            for line in (outcome.text or outcome.holding)[:6]:
                print("      " + line[:300])


def show_evidence(chosen: list[Entry]) -> int:
    """Entries whose evidence is missing: faults that show nothing, sound loops that do not come back."""
    from tests.faults.evidence import evidence
    from workbench.contract.errors import InputError

    missing = 0
    for entry in chosen:
        try:
            shown = evidence(entry, make(entry))
            holds, text = shown.holds, shown.text
        except InputError as why:
            holds, text = not entry.sound, f"refused when read: {why}"
        except Exception as why:  # noqa: BLE001 - the list goes on
            holds, text = False, f"{type(why).__name__}: {why}"
        missing += not holds
        kind = "sound" if entry.sound else "fault"
        print(
            f"{'      ' if holds else 'MISSING'} {entry.family} {kind} {entry.name}: {text[:200]}",
            flush=True,
        )
    print(f"{len(chosen)} entries, {missing} without evidence")
    return 1 if missing else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
