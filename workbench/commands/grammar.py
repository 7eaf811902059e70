"""The words of `verify-stability` and `workbench`: verbs, options, help. What a verb does is in `verbs` and `cli`.

Nothing heavy is imported, so that --help and completion are immediate.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from workbench.commands.compare_command import compare_options
from workbench.commands.completion import SHELLS
from workbench.commands.parser import _Parser, _parser, case_argument, set_option, typed
from workbench.commands.tune_options import tune_options
from workbench.identification.options import identify_options
from workbench.interop.export.options import export_options
from workbench.planning.options import plan_options
from workbench.sweep.options import (
    falsify_options,
    probability_options,
    sensitivity_options,
    sweep_options,
)

CODES = """\
exit codes:
  0    every counted claim holds
  1    some counted claim is violated
  2    some counted claim is undecided, none is violated
  3    bad input or wrong usage; nothing is written
  130  interrupted (Ctrl-C)"""
VERIFY = "Verify the stability of the control loop described in a file."

Verb = Callable[[str, str], argparse.ArgumentParser]


def verify_parser() -> _Parser:
    """Of `verify-stability FILE`."""
    parser = _parser("verify-stability", VERIFY, CODES)
    _verify_options(parser)
    return parser


def workbench_parser(acts: Mapping[str, Callable] | None = None) -> _Parser:
    """Of `workbench VERB …`; acts: verb → what it does, (options, arguments) → exit code; None for a parser that is only read."""
    parser = _parser(
        "workbench",
        "Controller design and stability verification for hydraulic robots.",
        "To begin: workbench init --machine crane; verify-stability crane.yaml",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)

    def verb(name: str, what: str) -> argparse.ArgumentParser:
        p = verbs.add_parser(
            name, help=what, description=what[0].upper() + what[1:] + ".", allow_abbrev=False
        )
        p.set_defaults(act=acts and acts[name])
        return p

    _machine_verbs(verb)
    _judging_verbs(verb)
    _searching_verbs(verb)
    _design_verbs(verb)
    _reading_verbs(verb)
    return parser


def _verify_options(p: argparse.ArgumentParser) -> None:
    case_argument(p)
    what = "write a report a colleague can check: .pdf, or .html; can be repeated"
    p.add_argument("--report", action="append", default=[], metavar="FILE", help=what)
    p.add_argument("--json", metavar="FILE", help="write the verdicts as JSON")
    p.add_argument("--log", metavar="NC", help="write the run as NetCDF")
    _quiet(p, "print nothing; the exit code is the answer")


def _quiet(p: argparse.ArgumentParser, what: str = "print nothing") -> None:
    p.add_argument("--quiet", action="store_true", help=what)


def _machine_verbs(verb: Verb) -> None:
    """Verbs that begin with a machine: a case file for it, a drawing of it."""
    p = verb(
        "init",
        "write a commented case file here: for a shipped machine, or one to draw your own by its pins",
    )
    what = "name of a shipped machine; left out: list what there is"
    p.add_argument("name", nargs="?", metavar="NAME", help=what)
    what = "a machine of your own to begin with: crane, slewing-crane, excavator, four-bar, leg, actuator"
    p.add_argument("--machine", metavar="KIND", help=what)
    p.add_argument("-o", "--output", metavar="FILE", help="where to write (default: NAME.yaml)")
    p = verb("import", "write a case file for the machine of a URDF, and of what stands beside it")
    p.add_argument("file", metavar="URDF", help="the robot")
    what = "YAML file of what a URDF cannot say: pins, loops, actuators, supply"
    p.add_argument("--beside", metavar="FILE", help=what)
    p.add_argument(
        "--without",
        action="append",
        default=[],
        choices=("friction",),
        help="leave it out, knowingly",
    )
    p.add_argument("-o", "--output", metavar="FILE", help="where to write (default: NAME.yaml)")
    p = verb("draw", "draw a machine: bodies, pins, cylinders, strokes and reach")
    p.add_argument("file", help="machine or case file (YAML), or the name of a shipped machine")
    set_option(p)
    what = "write it, .svg or .png (default: on the screen)"
    p.add_argument("-o", "--output", metavar="FILE", help=what)


def _judging_verbs(verb: Verb) -> None:
    """Verbs that run and judge case files."""
    p = verb("verify", "verify the loop of a case file, as verify-stability does")
    p.formatter_class = argparse.RawDescriptionHelpFormatter
    p.description, p.epilog = VERIFY, CODES
    _verify_options(p)
    p = verb("simulate", "run the scenario of a case file")
    case_argument(p)
    p.add_argument("--log", metavar="NC", help="write the run as NetCDF")
    p.add_argument("--csv", metavar="CSV", help="write the run as comma-separated text")
    what = "write the run as a moving picture, .gif or .svg"
    p.add_argument("--animation", metavar="FILE", help=what)
    _quiet(p)
    p = verb(
        "report",
        "verify a case file and write the report; exit 0 when it is written, whatever it says",
    )
    case_argument(p)
    what = "where to write the report: .pdf, or .html, in which the machine moves"
    p.add_argument("-o", "--output", metavar="FILE", required=True, help=what)
    _quiet(p)
    p = verb("view", "show a case in the browser, verified again whenever its file changes")
    case_argument(p)
    p.add_argument("--port", type=int, default=0, help="of 127.0.0.1 (default: any that is free)")
    p.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    p = verb(
        "compare",
        "verify several case files and show them side by side; exit 0 when compared, whatever it says",
    )
    compare_options(p)
    set_option(p)


def _searching_verbs(verb: Verb) -> None:
    """Verbs that run a case many times."""
    p = verb(
        "sweep",
        "run a case or plan file over grids and draws, on all cores or a cluster; exit 0 unless all fail",
    )
    sweep_options(p)
    set_option(p)
    p = verb(
        "falsify",
        "search for a load, start or seed at which a requirement of a case file is violated",
    )
    case_argument(p)
    falsify_options(p)
    p = verb(
        "sensitivity",
        "tell which numbers of the machine move the margins of a case's requirements most",
    )
    case_argument(p)
    sensitivity_options(p)
    p = verb(
        "probability",
        "bound how often the sentences of a case file are violated over machines drawn at random",
    )
    case_argument(p)
    probability_options(p)
    p = verb("check", "repeat the inequalities of a tube's certificate, with arithmetic of its own")
    p.add_argument(
        "file",
        metavar="FILE",
        nargs="+",
        help="certificate (.npz) that the claim tube wrote; of several, what they prove together",
    )
    _quiet(p, "print nothing; the exit code is the answer: 0 proved, 1 refused, 3 no certificate")


def _design_verbs(verb: Verb) -> None:
    """Verbs that find something: a model, gains, a motion."""
    p = verb("identify", "identify a linear model from test-bench records (CSV, NetCDF, MAT)")
    identify_options(p)
    p = verb(
        "tune",
        "find gains for a case file, by runs (VDC, MPC, PID), or of a PID by its margin or a relay",
    )
    case_argument(p)
    tune_options(p)
    p = verb(
        "plan",
        "plan the motion of a redundant crane that takes least energy from its supply, or least time",
    )
    plan_options(p)
    set_option(p)
    p = verb("export", "write the law of a case file as C, for ROS 2 or a PLC, with its verdict")
    case_argument(p)
    export_options(p)


def _reading_verbs(verb: Verb) -> None:
    """Verbs that help to write files and commands."""
    p = verb("explain", "say what a key of case files means: unit, default, example")
    what = "the key, with what it is in as far as needed: controller.VDC.λ; left out: the sections"
    p.add_argument("path", type=typed, nargs="?", help=what)
    verb("schema", "print the JSON schema of case files, for editors")
    p = verb("completion", "print what a shell needs to complete these commands")
    p.add_argument("shell", choices=SHELLS, help="for bash: source <(workbench completion bash)")
