"""Options of `workbench plan`; imports nothing, so that --help of every verb is immediate."""

from __future__ import annotations


def plan_options(p) -> None:
    """Add them to the verb's parser."""
    p.add_argument(
        "file",
        help="plan file (YAML): crane, path, supply, limits; see examples/hiab-triangle-ls.yaml",
    )
    p.add_argument("--report", metavar="PDF", help="write the plan and its comparison as pages")
    p.add_argument("--csv", metavar="CSV", help="write the motion as a reference: time, x, y, x_t")
    p.add_argument("--json", metavar="FILE", help="write the comparison as JSON")
    p.add_argument(
        "--drive",
        choices=("VDC", "PID"),
        action="append",
        default=[],
        help="drive every motion on the machine, meter its energy and explain it; given twice, one law beside another",
    )
    p.add_argument(
        "--starts",
        type=int,
        metavar="N",
        help="starts of a direct transcription beside it (default: the file's, or 0)",
    )
    p.add_argument(
        "--shortest",
        action="store_true",
        help="only say how fast the path can be followed within the limits",
    )
    p.add_argument("--quiet", action="store_true", help="print nothing")
