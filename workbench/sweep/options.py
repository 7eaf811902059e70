"""Arguments of the verbs that make many runs: sweep, falsify, sensitivity, probability; light, so that --help is immediate."""

from workbench.commands.parser import typed


def sweep_options(parser) -> None:
    """The verb's arguments."""
    parser.add_argument(
        "file", help="sweep file (YAML): a case or a plan, what to vary, what to collect"
    )
    parser.add_argument(
        "--out",
        metavar="TABLE",
        help="where to write the table, .nc or .parquet (default: FILE's name with .nc)",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes on this machine (default: one a core)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster instead, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="take the finished cases of an earlier sweep from TABLE.journal",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def falsify_options(parser) -> None:
    """Arguments of `workbench falsify`."""
    parser.add_argument(
        "--over",
        type=typed,
        metavar="NAME=LOW..HIGH",
        action="append",
        default=[],
        help="what may vary, such as payload.mass=0kg..80kg; those of the file's claim where left out",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="how many runs, at most (200)")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the draws of the search (1)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="YAML",
        help="where to write a counter-example (FILE-violates.yaml)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="take the runs of an interrupted search from YAML.journal",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def sensitivity_options(parser) -> None:
    """Arguments of `workbench sensitivity`."""
    parser.add_argument(
        "--of",
        type=typed,
        metavar="NAME",
        action="append",
        default=[],
        help="a number of the plant, such as payload.mass; all where left out",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    _resumed(parser, "sensitivity")
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def probability_options(parser) -> None:
    """Arguments of `workbench probability`."""
    _resumed(parser, "probability")
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def _resumed(parser, what: str) -> None:
    parser.add_argument(
        "--resume",
        action="store_true",
        help=f"take the runs of an interrupted study from FILE-{what}.journal",
    )
