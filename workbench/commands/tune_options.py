"""Options of `workbench tune`; imports nothing, so that --help of every verb is immediate."""

from __future__ import annotations

from workbench.commands.parser import typed


def tune_options(p) -> None:
    """Add them to the verb's parser."""
    p.add_argument(
        "--method",
        choices=("disk-margin", "relay", "runs"),
        help="how to find the gains (default: as the file says, else disk-margin for PID without dry friction, else runs)",
    )
    p.add_argument(
        "--free",
        nargs="+",
        type=typed,
        metavar="GAIN",
        help="gains to find (default: K_p K_i of a PID by its margin; by runs all that the law offers)",
    )
    _by_margin(p.add_argument_group("PID by disk margin or relay"))
    _by_runs(p.add_argument_group("by runs (VDC, MPC, PID)"))
    p.add_argument(
        "--write", metavar="FILE", help="write the case file with the gains in it, and verify it"
    )
    what = "do not verify what --write writes"
    p.add_argument("--no-verify", action="store_false", dest="verify", help=what)
    p.add_argument("--quiet", action="store_true", help="print nothing")


def _by_margin(p) -> None:
    p.add_argument(
        "--disk-margin",
        type=float,
        metavar="M",
        dest="disk_margin",
        help="disk margin every loop keeps, below 2 (default 0.75)",
    )
    p.add_argument(
        "--noise-gain",
        type=float,
        metavar="G",
        dest="noise_gain",
        help="largest K_p + 2 K_d/(2τ + T_s), SI",
    )
    p.add_argument(
        "--rule",
        choices=("ziegler-nichols", "tyreus-luyben", "astrom-hagglund"),
        help="with --method relay",
    )
    p.add_argument(
        "--structure", choices=("P", "PI", "PID"), help="with --method relay (default PI)"
    )
    p.add_argument(
        "--amplitude",
        metavar="D",
        help="of the relay, like '0.5 V' (default: a tenth of the limit)",
    )
    p.add_argument("--hysteresis", metavar="E", help="of the relay, like '0.1 mm'")
    p.add_argument(
        "--at",
        type=typed,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="state or input where to linearise, like E=0.1mm",
    )


def _by_runs(p) -> None:
    p.add_argument(
        "--trade",
        choices=("error", "reserve", "balanced"),
        help="least error bearing no less delay (default); most delay borne at no more error; least error per delay",
    )
    p.add_argument(
        "--margin",
        choices=("delay", "sample-time"),
        help="which of the two the loop has to bear (default delay)",
    )
    p.add_argument(
        "--bears", metavar="T", help="delay or sample time to bear, like '2 ms' (default: as now)"
    )
    p.add_argument(
        "--error", metavar="E", help="largest rms error, like '1 mm' (with --trade reserve: as now)"
    )
    p.add_argument(
        "--each", action="store_true", help="turn every entry of a gain, not all of them alike"
    )
    p.add_argument(
        "--runs", type=int, metavar="N", dest="most", help="runs at most (default 600; MPC 40)"
    )
    p.add_argument(
        "--report", metavar="FILE", help="write what was traded as a page, PDF or HTML by its name"
    )
