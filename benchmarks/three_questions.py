"""What every shipped example would have said if nothing had moved, if its run had been ten times longer, if less had been logged.

    python benchmarks/three_questions.py [NAME ...] [--json FILE] [--times 10]

A case is judged as it is, then with one thing of its scenario changed, under the claims of its file:

    logged less      a fiftieth of the rows: every verdict must be the same word, since the log's resolution changes none
    ten times longer the path walked again, or held at its end: no counted claim that held may be violated
    nothing moves    the reference held where the run starts, nothing pushed: what holds then is listed, to be read; a claim that
                     is about motion and holds on a run at rest would be a fault

Plans, sweeps and proofs by a tube are no runs that could be changed so, and are left out. Ends with 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from common import ROOT, machine_in_words

from examples import VERBS

FEWER = 50
LEFT_OUT = ("tube",)


def cases(names: list[str]) -> list[Path]:
    """Shipped cases: neither plans nor sweeps, and no tube."""
    found = []
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        text = path.read_text("utf-8")
        left_out = any(key in text for key in VERBS) or path.stem.startswith(LEFT_OUT)
        if not left_out and (not names or path.stem in names):
            found.append(path)
    return found


def at_rest(scenario):
    """Nothing that moves: neither path nor push nor a start away from the path."""
    return replace(scenario, reference=None, disturbances={}, offset={}, duration=scenario.length())


def questions(scenario, loop, times: float) -> dict:
    """What is asked → scenario."""
    from workbench.verification.practical.disturbed import longer

    row = scenario.log_period or loop.period or scenario.max_step
    return {
        "as it is": scenario,
        "logged less": replace(scenario, log_period=FEWER * row),
        "longer": longer(scenario, times * scenario.length()),
        "at rest": at_rest(scenario),
    }


def words(case, scenario) -> dict[str, tuple[str, bool]]:
    """Claim → (word of its verdict, whether it counts)."""
    from workbench.verification.judge import verify

    found: dict[str, tuple[str, bool]] = {}
    for v in verify(case.loop, scenario, case.claims):
        again = sum(name.split(" ")[0] == v.key for name in found)
        found[f"{v.key} {again + 1}" if again else v.key] = (v.word, v.counted)
    return found


def differences(answers: dict[str, dict]) -> list[str]:
    """What an answer says that it must not."""
    own = answers["as it is"]
    found = []
    for claim, (word, _) in answers.get("logged less", {}).items():
        if claim in own and word != own[claim][0]:
            found.append(f"{claim}: {own[claim][0]}, with fewer rows {word}")
    for claim, (word, counted) in answers.get("longer", {}).items():
        if counted and word == "violated" and own.get(claim, ("",))[0] == "holds":
            found.append(f"{claim}: holds, in the longer run violated")
    return found


def asked(path: Path, times: float) -> tuple[dict[str, dict], list[str]]:
    """(answer by question, what went wrong) of one example."""
    from workbench.cases.file import load
    from workbench.contract.errors import InputError

    case = load(path)
    answers: dict[str, dict] = {}
    failed = []
    for name, scenario in questions(case.scenario, case.loop, times).items():
        try:
            answers[name] = words(case, scenario)
        except (
            InputError
        ) as why:  # a sentence: a window beyond the run, a scenario that the case cannot have
            failed.append(f"{name}: {why}")
    return answers, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="examples, without .yaml (default: all)")
    parser.add_argument("--json", type=Path, help="write the answers here")
    parser.add_argument("--times", type=float, default=10.0, help="how much longer (default 10)")
    options = parser.parse_args()
    print(machine_in_words())
    kept = {}
    wrong = 0
    for path in cases(options.names):
        begin = time.perf_counter()
        answers, failed = asked(path, options.times)
        found = differences(answers) if "as it is" in answers else ["not judged as it is"]
        wrong += bool(found)
        kept[path.stem] = {"answers": answers, "refused": failed, "differs": found}
        resting = [c for c, (w, _) in answers.get("at rest", {}).items() if w == "holds"]
        print(f"{path.stem:24} {time.perf_counter() - begin:7.1f} s  {'DIFFERS' * bool(found)}")
        for line in (*found, *failed):
            print(f"    {line}")
        print(f"    at rest holds: {', '.join(resting) or 'nothing'}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1))
    print(f"{len(kept)} examples, {wrong} of them with an answer that differs")
    print(machine_in_words())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
